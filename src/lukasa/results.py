"""What the verbs return: plain dictionaries in mem0's shapes, typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired, TypedDict, cast

from lukasa.extract.base import Extracted
from lukasa.ledger.base import Applied, Found, FoundTurn, Page, Removed
from lukasa.reconcile.plan import Decision, Unchanged
from lukasa.text.times import isoformat
from lukasa.types import Change, Episode, Evidence, HistoryEntry, JsonValue, Record, Supersede, Written


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


class SupersededItem(TypedDict):
    """A memory that an `add` ended, because what was said contradicts it."""

    id: str
    memory: str
    event: str
    superseded_by: str
    reason: str


class DroppedItem(TypedDict):
    """Something that was said and is not kept: the text (shortened), why, in which message."""

    text: str
    reason: str
    message: int


class AddResult(TypedDict):
    """What an `add` did with all that was said.

    `results` holds what was stored, `superseded` what that ended, `unchanged` what was known already (each
    with the memory that says it), `dropped` what is not worth keeping. `extractor` tells who decided: "rules"
    are the built-in ones, which work without a model; "verbatim" is `infer=False`.
    """

    results: list[AddedItem]
    superseded: list[SupersededItem]
    unchanged: list[AddedItem]
    dropped: list[DroppedItem]
    extractor: str
    status: str  # "ok"; "erased" for a replay of a call whose memories were erased since
    episode_id: str | None
    warnings: list[str]


class FoundSource(TypedDict):
    """Something that was said, found by a search. `score` as a memory's."""

    episode_id: str
    position: int  # of the message in its episode
    role: str
    name: str | None
    text: str
    said_at: str | None
    score: float
    score_details: NotRequired[dict[str, float]]


class SearchResult(TypedDict):
    """Memories, best first; with `include_sources` what was said too, best first."""

    results: list[MemoryItem]
    sources: NotRequired[list[FoundSource]]


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


def turns(hits: list[FoundTurn], *, explain: bool) -> list[FoundSource]:
    """What was said, as a search shows it."""
    return [_turn(hit, explain=explain) for hit in hits]


def _turn(hit: FoundTurn, *, explain: bool) -> FoundSource:
    said_at = hit.message.said_at
    made: FoundSource = {
        "episode_id": hit.episode_id,
        "position": hit.position,
        "role": hit.message.role,
        "name": hit.message.name,
        "text": hit.message.text,
        "said_at": None if said_at is None else isoformat(said_at),
        "score": hit.parts["final_score"],
    }
    return {**made, "score_details": dict(hit.parts)} if explain else made


def listed(page: Page) -> ListResult:
    """A page of memories."""
    return {"results": [item(record) for record in page.records], "cursor": page.cursor}


def added(episode: Episode, extracted: Extracted, decision: Decision, applied: Applied) -> AddResult:
    """An `add`'s receipt."""
    pairs = list(zip(decision.changes, applied.written, strict=True))
    known = [_added(one, memory=one.text) for _, one in pairs if one.event == "NONE"]
    known += [_known(one) for one in decision.unchanged]
    dropped = [DroppedItem(text=d.text, reason=d.reason, message=d.message) for d in extracted.dropped]
    dropped += [
        DroppedItem(text=fact.text, reason=reason, message=fact.sources[0].message)
        for fact, reason in decision.dropped
    ]
    return {
        "results": [_added(one, memory=one.text) for _, one in pairs if one.event == "ADD"],
        "superseded": [_superseded(change, one) for change, one in pairs if one.event == "SUPERSEDE"],
        "unchanged": known,
        "dropped": dropped,
        "extractor": extracted.extractor,
        "status": "ok",
        "episode_id": applied.episode_id,
        "warnings": list(episode.warnings),
    }


def changed(applied: Applied) -> Mapping[str, object]:
    """The receipt of a change that has no episode: nobody replays it."""
    return {"changed": [one.memory_id for one in applied.written]}


def replayed(receipt: Mapping[str, JsonValue]) -> AddResult:
    """The receipt that was stored for an idempotency key."""
    empty: AddResult = {
        "results": [],
        "superseded": [],
        "unchanged": [],
        "dropped": [],
        "extractor": "verbatim",
        "status": "ok",
        "episode_id": None,
        "warnings": [],
    }
    return cast("AddResult", {**empty, **receipt})


def _added(written: Written, *, memory: str) -> AddedItem:
    return {
        "id": written.memory_id,
        "memory": memory,
        "event": written.event,
        "actor_id": written.actor_id,
        "role": written.role,
    }


def _known(one: Unchanged) -> AddedItem:
    return {
        "id": one.record.id,
        "memory": one.record.text,
        "event": "NONE",
        "actor_id": one.record.actor_id,
        "role": one.record.role,
    }


def _superseded(change: Change, written: Written) -> SupersededItem:
    reason = change.reason if isinstance(change, Supersede) else None
    return {
        "id": written.memory_id,
        "memory": written.text,
        "event": written.event,
        "superseded_by": written.by or "",
        "reason": reason or "",
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
