"""A line of an ingested file as what `add` takes, under a key that names its place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import sha256
from typing import Final, cast

from lukasa.errors import MessageError
from lukasa.serve.cli.call import Ids
from lukasa.types import SCOPE_KINDS

MOST: Final = 64
"""Messages that one `add` takes: a longer conversation is stored in several."""

_BESIDE: Final = ("metadata", "expiration_date", *SCOPE_KINDS)
_MESSAGE: Final = ("role", "content", "name", "timestamp", "created_at", "said_at", *_BESIDE)
_CONVERSATION: Final = ("messages", "timestamp", *_BESIDE)


@dataclass(frozen=True, slots=True)
class Entry:
    """What one line, or one part of a long one, adds."""

    line: int  # from 1
    messages: Sequence[Mapping[str, object]]
    ids: Ids
    key: str  # of the line's number, content and ids: the same line never counts twice
    metadata: Mapping[str, object] | None = None
    timestamp: str | float | None = None
    expiration_date: str | None = None


def entries(number: int, line: bytes, *, default: Ids, nobody: Ids) -> Iterator[Entry]:
    """What *line* adds: one entry, or one for every 64 messages of a conversation; none for a blank line.

    An id that the line does not name comes from *default*; where neither names any, *nobody* is meant.
    Raises `MessageError` for what is neither a message nor a conversation.
    """
    content = line.strip().removeprefix(b"\xef\xbb\xbf")
    if not content:
        return
    given = _mapping(content)
    ids = cast("Ids", {**default, **{k: given[k] for k in SCOPE_KINDS if given.get(k) is not None}}) or nobody
    messages, timestamp = _messages(given)
    digest = sha256(content + json.dumps(ids, sort_keys=True).encode()).hexdigest()
    for part, start in enumerate(range(0, len(messages), MOST)):
        yield Entry(
            line=number,
            messages=messages[start : start + MOST],
            ids=ids,
            key=f"ingest:{number}.{part}:{digest}",
            metadata=cast("Mapping[str, object] | None", given.get("metadata")),
            timestamp=timestamp,
            expiration_date=cast("str | None", given.get("expiration_date")),
        )


def _mapping(content: bytes) -> Mapping[str, object]:
    try:
        found: object = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise MessageError(f"not JSON: {error}") from error
    if not isinstance(found, dict):
        raise MessageError('a line is a message {"role": ..., "content": ...} or {"messages": [...]}')
    return cast("Mapping[str, object]", found)


def _messages(
    given: Mapping[str, object],
) -> tuple[Sequence[Mapping[str, object]], str | float | None]:
    """The messages of a line, and when they were said where the messages themselves do not tell."""
    if "messages" not in given:
        for key in given:
            near = get_close_matches(key, _MESSAGE, n=1, cutoff=0.75) if key not in _MESSAGE else []
            if near:  # a misspelt id would store it for somebody else
                raise MessageError(f"a message has no {key!r}; did you mean {near[0]!r}?")
        return [{key: value for key, value in given.items() if key not in _BESIDE}], None
    unknown = [key for key in given if key not in _CONVERSATION]
    if unknown:
        raise MessageError(f"a conversation has no {unknown[0]!r}; it takes: {', '.join(_CONVERSATION)}")
    messages = given["messages"]
    if not isinstance(messages, list) or not messages:
        raise MessageError("'messages' is a list of one message or more")
    return cast("list[Mapping[str, object]]", messages), cast("str | float | None", given.get("timestamp"))
