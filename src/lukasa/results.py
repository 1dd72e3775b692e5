"""What the verbs return: plain dictionaries in mem0's shapes, typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired, TypedDict, cast

from lukasa.ledger.base import Applied, Found, Page, Removed
from lukasa.text.times import isoformat
from lukasa.types import Evidence, HistoryEntry, JsonValue, Record, Written


class MemoryItem(TypedDict):
    """One memory. What is NotRequired is there only where it has a value. Times are ISO 8601, UTC."""

    id: str
    memory: str
    hash: str  # md5 of the text
    metadata: dict[str, JsonValue] | None
    created_at: str
    updated_at: str
    kind: str
    state: str
    version: int
    score: NotRequired[float | None]
    score_details: NotRequired[dict[str, float]]
    user_id: NotRequired[str]
    agent_id: NotRequired[str]
    run_id: NotRequired[str]
    app_id: NotRequired[str]
    actor_id: NotRequired[str]
    role: NotRequired[str]
    attributed_to: NotRequired[str]
    expiration_date: NotRequired[str]
    categories: NotRequired[list[str]]


class AddedItem(TypedDict):
    """One memory that an `add` stored."""

    id: str
    memory: str
    event: str
    actor_id: str | None
    role: str | None


class AddResult(TypedDict):
    """What an `add` did: `results` holds what was stored, `unchanged` what was known already."""

    results: list[AddedItem]
    unchanged: list[AddedItem]
    status: str  # "ok"; "erased" for a replay of a call whose memories were erased since
    episode_id: str | None
    warnings: list[str]


class SearchResult(TypedDict):
    """Memories, best first."""

    results: list[MemoryItem]


class ListResult(TypedDict):
    """Memories, the last stored first; `cursor` goes on from there, None at the end."""

    results: list[MemoryItem]
    cursor: str | None


class MessageResult(TypedDict):
    """A change that was made."""

    message: str
    warnings: NotRequired[list[str]]


class DeleteAllResult(TypedDict):
    """How many memories were deleted."""

    message: str
    deleted: int
    warnings: NotRequired[list[str]]


class HistoryItem(TypedDict):
    """One event of a memory."""

    id: str
    memory_id: str
    old_memory: str | None
    new_memory: str | None
    event: str
    created_at: str
    updated_at: str
    is_deleted: bool
    actor_id: str | None
    role: str | None


class SourceItem(TypedDict):
    """A message that a memory comes from; `span` is where in it, in characters."""

    episode_id: str
    role: str
    name: str | None
    text: str
    said_at: str | None
    span: tuple[int, int]
    trust: str
    version: int


class WhyResult(TypedDict):
    """Why a memory is what it is: its sources, what extracted it, and what happened to it since."""

    memory: MemoryItem
    extractor: str | None
    sources: list[SourceItem]
    history: list[HistoryItem]


def item(record: Record) -> MemoryItem:
    """A memory in mem0's shape."""
    made: dict[str, object] = {
        "id": record.id,
        "memory": record.text,
        "hash": record.hash,
        "metadata": dict(record.metadata) or None,
        "created_at": isoformat(record.created_at),
        "updated_at": isoformat(record.updated_at),
        "kind": record.kind,
        "state": record.state,
        "version": record.version,
    }
    optional: Mapping[str, object] = {
        **record.scope.ids(),
        "actor_id": record.actor_id,
        "role": record.role,
        "attributed_to": record.attributed_to,
        "expiration_date": record.expires_on.isoformat() if record.expires_on else None,
        "categories": list(record.categories) or None,
    }
    made.update((name, value) for name, value in optional.items() if value is not None)
    return cast("MemoryItem", made)


def found(hits: list[Found], *, explain: bool, threshold: float) -> SearchResult:
    """A search's answer."""
    results: list[MemoryItem] = []
    for hit in hits:
        shown = item(hit.record)
        shown["score"] = hit.parts["final_score"]
        if explain:
            shown["score_details"] = {**hit.parts, "threshold": threshold}
        results.append(shown)
    return {"results": results}


def listed(page: Page) -> ListResult:
    """A page of memories."""
    return {"results": [item(record) for record in page.records], "cursor": page.cursor}


def added(applied: Applied, *, warnings: tuple[str, ...] = ()) -> AddResult:
    """An `add`'s receipt."""
    return {
        "results": [_added(one) for one in applied.written if one.event == "ADD"],
        "unchanged": [_added(one) for one in applied.written if one.event == "NONE"],
        "status": "ok",
        "episode_id": applied.episode_id,
        "warnings": list(warnings),
    }


def replayed(receipt: Mapping[str, JsonValue]) -> AddResult:
    """The receipt that was stored for an idempotency key."""
    empty: AddResult = {"results": [], "unchanged": [], "status": "ok", "episode_id": None, "warnings": []}
    return cast("AddResult", {**empty, **receipt})


def _added(written: Written) -> AddedItem:
    return {
        "id": written.memory_id,
        "memory": written.text,
        "event": written.event,
        "actor_id": written.actor_id,
        "role": written.role,
    }


def removed(done: Removed, message: str) -> MessageResult:
    """A deletion's answer."""
    answer: MessageResult = {"message": message}
    if done.warnings:
        answer["warnings"] = list(done.warnings)
    return answer


def removed_all(done: Removed) -> DeleteAllResult:
    """The answer of `delete_all`."""
    answer: DeleteAllResult = {"message": "Memories deleted successfully!", "deleted": len(done.written)}
    if done.warnings:
        answer["warnings"] = list(done.warnings)
    return answer


def event(entry: HistoryEntry) -> HistoryItem:
    """One event in mem0's shape."""
    return {
        "id": entry.id,
        "memory_id": entry.memory_id,
        "old_memory": entry.old_text,
        "new_memory": entry.new_text,
        "event": entry.event,
        "created_at": isoformat(entry.created_at),
        "updated_at": isoformat(entry.recorded_at),
        "is_deleted": entry.event == "DELETE",
        "actor_id": entry.actor_id,
        "role": entry.role,
    }


def source(evidence: Evidence) -> SourceItem:
    """One source message."""
    said_at = evidence.message.said_at
    return {
        "episode_id": evidence.episode_id,
        "role": evidence.message.role,
        "name": evidence.message.name,
        "text": evidence.message.text,
        "said_at": None if said_at is None else isoformat(said_at),
        "span": (evidence.start, evidence.end),
        "trust": evidence.trust,
        "version": evidence.version,
    }


def why(record: Record, evidence: list[Evidence], entries: list[HistoryEntry]) -> WhyResult:
    """A memory with all that led to it."""
    return {
        "memory": item(record),
        "extractor": evidence[0].extractor if evidence else None,
        "sources": [source(one) for one in evidence],
        "history": [event(entry) for entry in entries],
    }
