"""A conversation as what several `add`s take, each under a key that a second run finds again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from lukasa.archives.base import Conversation, Ids, Kind, Time

MOST: Final = 64
"""Messages that one `add` takes: a longer conversation is stored in several."""

_CANONICAL: Final = json.JSONEncoder(ensure_ascii=True, sort_keys=True, default=str)


@dataclass(frozen=True, slots=True)
class Part:
    """At most 64 messages of a conversation.

    `key` says that everything of this part up to its last message is stored. `shorter` holds the keys of
    its beginnings, by length, the longest first: what an earlier export, in which the conversation was
    shorter, has left.
    """

    where: str
    messages: tuple[Mapping[str, object], ...]
    ids: Ids
    key: str
    shorter: tuple[tuple[int, str], ...] = ()
    metadata: Mapping[str, object] | None = None
    timestamp: Time | None = None
    expiration_date: str | None = None


def parts(kind: Kind, said: Conversation, *, default: Ids, nobody: Ids) -> Iterator[Part]:
    """*said* in parts. An id that it does not name comes from *default*; without any, *nobody* is meant."""
    ids: Ids = {**default, **said.ids} or nobody
    for number, start in enumerate(range(0, len(said.messages), MOST)):
        messages = said.messages[start : start + MOST]
        keys = _keys(kind, said, number, messages, ids)
        yield Part(
            where=said.where,
            messages=messages,
            ids=ids,
            key=keys[-1],
            shorter=tuple(reversed(list(enumerate(keys[:-1], 1)))),
            metadata=said.metadata,
            timestamp=said.timestamp,
            expiration_date=said.expiration_date,
        )


def _keys(
    kind: Kind, said: Conversation, number: int, messages: tuple[Mapping[str, object], ...], ids: Ids
) -> list[str]:
    """A key for each beginning of a part, the whole part last; one alone where the line is what counts."""
    owner = json.dumps(ids, sort_keys=True).encode()
    if said.content is not None:
        return [f"ingest:{said.key}.{number}:{sha256(said.content + owner).hexdigest()}"]
    digest, keys = sha256(owner), list[str]()
    for message in messages:
        digest.update(b"\n" + _CANONICAL.encode(message).encode())
        keys.append(f"{kind}:{said.key}.{number}:{digest.hexdigest()}")
    return keys


def after(part: Part, stored: int) -> Part:
    """*part* without its first *stored* messages; the key, which speaks of its end, stays."""
    return replace(part, messages=part.messages[stored:]) if stored else part
