"""mem0: a dump of `get_all`, or a folder with a local store (Qdrant, Chroma, FAISS) and history.db."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, cast

from lukasa.archives.base import Advance, Entries, Ids, Kept, Left, Problem
from lukasa.archives.mem0_history import Event, History, history, versions
from lukasa.archives.mem0_stores import Row, Store, rows, stores, texts_of
from lukasa.archives.values import text_of, time_of
from lukasa.errors import InputError
from lukasa.text.clean import clean
from lukasa.types import SCOPE_KINDS

# What becomes a field of a memory, or can be made anew from its text.
_FIELDS: Final = frozenset(
    {*SCOPE_KINDS, "data", "hash", "text_lemmatized", "created_at", "updated_at", "expiration_date"}
    | {"actor_id", "role", "attributed_to", "categories"}
)


def found(path: Path) -> list[Store]:
    """The files of mem0's at *path*. Raises `InputError` where whose the memories are is not among them."""
    there = stores(path)
    if there and all(store.what == "history" for store in there):
        raise InputError(
            f"{path}: history.db alone does not say whose the memories are; give the folder that holds the "
            "vector store too, or put a dump of get_all beside it"
        )
    return there


def read(there: Sequence[Store], advance: Advance) -> Entries:
    """The memories of all stores with what they said before; deleted ones are counted."""
    with ExitStack() as stack:
        try:
            past = [stack.enter_context(history(one.path)) for one in there if one.what == "history"]
        except InputError as error:
            yield Problem("history.db", f"{error}; memories come without what they said before")
            past = []
        for one in there:
            if one.what == "history":
                advance(one.size)
        met: Counter[bool] = Counter()
        for store in there:
            yield from _store(store, past, advance, met)
        deleted, alive = (sum(column) for column in zip((0, 0), *(one.counts() for one in past), strict=True))
        if deleted:
            yield Left("deleted memories", deleted)
        if alive > met[True]:
            yield Left("memories that history.db alone still knows", alive - met[True])


def _store(store: Store, past: Sequence[History], advance: Advance, met: Counter[bool]) -> Entries:
    for row in rows(store, advance):
        if isinstance(row, Problem | Left):
            yield row
        elif not _empty(row):
            events = [event for one in past for event in one.of(row[0])]
            if not (events and events[-1].deleted):  # FAISS of mem0 0.1 could keep what was deleted
                met[bool(events)] += 1
                yield kept(row, events)


def _empty(row: Row) -> bool:
    """Whether a point is none of a memory's: mem0 leaves some of its own."""
    return not row[1] or row[1].get("type") == "user_identity" or "entity_type" in row[1]


def kept(row: Row, events: Sequence[Event]) -> Kept | Problem:
    """The memory of a row, with what happened to it."""
    key, payload = row
    text = text_of(payload.get("data")) or text_of(payload.get("memory"))
    where = f"memory {clean(key)}" if key else f"memory {text!r:.40}"
    if not text or not key:
        return Problem(where, "not a memory of mem0: it has no text, or no id")
    created, updated = time_of(payload.get("created_at")), time_of(payload.get("updated_at"))
    said = versions(events, text, created_at=created, updated_at=updated)
    return Kept(
        key=key,
        text=text,
        where=where,
        ids=_ids(payload),
        metadata={name: value for name, value in payload.items() if name not in _FIELDS},
        created_at=said[0].at,
        updated_at=said[-1].at if len(said) > 1 else updated,
        earlier=tuple(said[:-1]),
        attributed_to=text_of(payload.get("attributed_to")) or None,
        categories=texts_of(payload.get("categories")),
        role=text_of(payload.get("role")) or None,
        name=text_of(payload.get("actor_id")) or None,
        expiration_date=text_of(payload.get("expiration_date"))[:10] or None,
    )


def _ids(payload: Mapping[str, object]) -> Ids:
    return cast(
        "Ids", {kind: str(payload[kind]) for kind in SCOPE_KINDS if payload.get(kind) not in (None, "")}
    )
