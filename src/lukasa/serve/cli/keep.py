"""What is read from an archive, into the ledger: nothing twice, and only what is new.

All of an archive's calls to `add` and `update` are here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, TypeAlias, cast

from lukasa.aio import AsyncMemory
from lukasa.archives.base import Ids, Kept, Kind, Time, Version
from lukasa.archives.parts import Part, after
from lukasa.config import utc_now
from lukasa.errors import IdempotencyConflict
from lukasa.extract.rules.rules import extract
from lukasa.house import House
from lukasa.messages.edit import read_edit
from lukasa.messages.normalize import normalize
from lukasa.messages.redact import Redactor
from lukasa.messages.scope import scope_of
from lukasa.reconcile.verbatim import TRUST, verbatim
from lukasa.serve.cli.tally import Tally
from lukasa.types import UNSET, Episode, Fact, JsonValue


@dataclass(frozen=True, slots=True)
class How:
    """How what was said is kept; what another system has found is stored as it is."""

    infer: bool = True  # look for facts; else each message is a memory
    embed: bool = True  # else words alone find it until `lukasa reembed`


HOW: Final = How()


_STANDING: Final = frozenset({"ADD", "UPDATE", "EXPIRE"})
"""What may have happened to a memory that still stands: it was neither deleted nor superseded."""


@dataclass(frozen=True, slots=True)
class Memo:
    """A memory of another system's with the call that adds its first version, and those that came after."""

    part: Part
    later: tuple[Version, ...]
    changed_at: Time | None  # when the other system last changed it


Item: TypeAlias = "Part | Memo"
Ready: TypeAlias = "tuple[Item, Episode]"


def facts_of(episode: Episode, how: How) -> Sequence[Fact]:
    """What `add` keeps of what was said."""
    return extract(episode).facts if how.infer else verbatim(episode)


def texts_of(item: Item, episode: Episode, masks: Redactor, how: How) -> list[str]:
    """The texts that are stored for *item*."""
    if isinstance(item, Memo):
        return [episode.messages[0].text, *(_cleaned(version, masks) for version in item.later)]
    return [fact.text for fact in facts_of(episode, how)]


def memo(kind: Kind, kept: Kept, *, default: Ids, nobody: Ids) -> Memo:
    """*kept* as calls: the first version is added, each later one is an update."""
    ids: Ids = {**default, **kept.ids} or nobody
    first, *later = [*kept.earlier, Version(kept.text, kept.updated_at if kept.earlier else kept.created_at)]
    message: dict[str, object] = {"role": _role(kept), "content": first.text}
    owner = sha256(json.dumps(ids, sort_keys=True).encode()).hexdigest()
    part = Part(
        where=kept.where,
        messages=({**message, "name": kept.name} if kept.name else message,),
        ids=ids,
        key=f"{kind}:kept:{kept.key}:{owner}",
        metadata=_metadata(kind, kept),
        timestamp=first.at,
        expiration_date=kept.expiration_date,
    )
    return Memo(part, tuple(later), kept.updated_at)


def _role(kept: Kept) -> str:
    return next((role for role in (kept.role, kept.attributed_to) if role in TRUST), None) or "user"


def _metadata(kind: Kind, kept: Kept) -> Mapping[str, object]:
    """What `add` has no argument for is metadata; what the other system's user put there comes first."""
    more: dict[str, object] = {"source": kind, "source_id": kept.key}
    if kept.attributed_to is not None:
        more["attributed_to"] = kept.attributed_to
    if kept.categories:
        more["categories"] = list(kept.categories)
    if not kept.earlier and kept.updated_at not in (None, kept.created_at):
        more["source_updated_at"] = kept.updated_at
    return {**more, **kept.metadata}


def episode_of(item: Item, masks: Redactor) -> Episode:
    """The episode that *item* is; raises for what `add` or `update` would refuse."""
    part = item.part if isinstance(item, Memo) else item
    for version in item.later if isinstance(item, Memo) else ():
        _cleaned(version, masks)
    return normalize(
        list(part.messages),
        scope=scope_of(**part.ids),
        now=utc_now(),
        redactor=masks,
        metadata=part.metadata,
        timestamp=part.timestamp,
        expiration_date=part.expiration_date,
        idempotency_key=part.key,
    )


def _cleaned(version: Version, masks: Redactor) -> str:
    edit = read_edit(
        text=version.text, metadata=None, expiration_date=UNSET, timestamp=version.at, redactor=masks
    )
    return edit.text or ""


async def store(memory: AsyncMemory, window: Sequence[Ready], tally: Tally, how: How = HOW) -> None:
    """Add what the ledger does not hold yet: first all vectors at once, then one after the other."""
    house, fresh = memory.house, list[Ready]()
    for item, episode in window:
        if isinstance(item, Memo):
            known = await _known(house, episode)
            if known is None:
                fresh.append((item, episode))
            else:
                tally.known += 1
                tally.revised += await _catch_up(memory, item, episode, known)
        elif (left := await _unknown(house, item, episode)) is not None:
            fresh.append(left)
        else:
            tally.known += 1
    texts = [text for one in fresh for text in texts_of(*one, house.redactor, how)] if how.embed else []
    if texts:
        await house.embedder.embed(texts, use="passage")  # the embedder keeps them for the adds below
    for item, _ in fresh:
        await _add(memory, item, tally, how)


async def _add(memory: AsyncMemory, item: Item, tally: Tally, how: How) -> None:
    part = item.part if isinstance(item, Memo) else item
    done = await memory.add(
        list(part.messages),
        metadata=part.metadata,
        timestamp=part.timestamp,
        expiration_date=part.expiration_date,
        infer=how.infer and not isinstance(item, Memo),
        embed=how.embed,
        idempotency_key=part.key,
        **part.ids,
    )
    tally.memories += len(done["results"])
    tally.superseded += len(done["superseded"])
    tally.warn(part.where, done["warnings"])
    if isinstance(item, Memo) and done["results"]:
        await _update(memory, done["results"][0]["id"], item, item.later)


async def _update(memory: AsyncMemory, memory_id: str, item: Memo, later: Sequence[Version]) -> None:
    for version in later:
        await memory.update(memory_id, version.text, timestamp=version.at, **item.part.ids)


# --- what is known already


async def _known(house: House, episode: Episode) -> Mapping[str, JsonValue] | None:
    """The receipt of what was stored under this key; empty where it was stored in another form."""
    try:
        return await house.ledger.replay(episode)
    except (
        IdempotencyConflict
    ):  # the key is made of what was said: a title or a split that changed is no news
        return {}


async def _unknown(house: House, part: Part, episode: Episode) -> Ready | None:
    """What of *part* is not stored; a beginning of it may be, from when the conversation was shorter."""
    if await _known(house, episode) is not None:
        return None
    for length, key in part.shorter:
        probe = normalize(
            ".", scope=episode.scope, now=utc_now(), redactor=house.redactor, idempotency_key=key
        )
        if await _known(house, probe) is not None:
            rest = after(part, length)
            return rest, episode_of(rest, house.redactor)
    return part, episode


async def _catch_up(
    memory: AsyncMemory, item: Memo, episode: Episode, receipt: Mapping[str, JsonValue]
) -> int:
    """Bring the versions that a memory has got since, or that a stop kept from being stored."""
    if receipt and not item.later:
        return 0
    memory_id = await _id_of(memory, item, receipt)
    if memory_id is None:
        return 0
    events = await memory.history(memory_id)
    if not events or not _STANDING.issuperset(event["event"] for event in events):
        return 0
    here = [event["new_memory"] for event in events if event["event"] in ("ADD", "UPDATE")]
    wanted = texts_of(item, episode, memory.house.redactor, HOW)
    first = Version(wanted[0], item.changed_at)
    missing = [first, *item.later][missing_from(here, wanted) :]
    await _update(memory, memory_id, item, missing)
    return bool(missing)


async def _id_of(memory: AsyncMemory, item: Memo, receipt: Mapping[str, JsonValue]) -> str | None:
    results = receipt.get("results")
    if isinstance(results, list) and results and isinstance(results[0], dict):
        return str(cast("Mapping[str, object]", results[0])["id"])
    if receipt:  # erased
        return None
    found = await memory.get_all(
        filters={"source_id": (item.part.metadata or {})["source_id"]},
        show_expired=True,
        limit=1,
        **item.part.ids,
    )
    return found["results"][0]["id"] if found["results"] else None


def missing_from(here: Sequence[str | None], wanted: Sequence[str]) -> int:
    """From which of the versions *wanted* on a memory lacks them, by the texts that it has had *here*.

    A memory that was edited here since stays as it is.
    """
    if list(here) == list(wanted[: len(here)]):
        return len(here)
    if len(here) == len(wanted) == 1:  # the other system forgot what it said before
        return 0
    return len(wanted)
