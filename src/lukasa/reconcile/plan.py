"""What becomes of new facts beside what is known: added, known already, or ending what they contradict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from lukasa.ledger.base import Neighbours
from lukasa.reconcile.conflict import Statement, ends, older, repeats, statement
from lukasa.types import Add, Change, Fact, Record, Scope, Supersede

_LOOK_BACK = 100  # facts of one call: what was said that long ago in it was not meant
OUTDATED = "a later statement says otherwise"
TAKEN_BACK = "taken back later in the conversation"
REPEATED = "said before in the conversation"


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A fact that a known memory says already."""

    fact: Fact
    record: Record


@dataclass(frozen=True, slots=True)
class Decision:
    """The changes to apply, and what needs none: each fact is in one of the three."""

    changes: tuple[Change, ...]
    unchanged: tuple[Unchanged, ...] = ()
    dropped: tuple[tuple[Fact, str], ...] = ()


def decide(facts: Sequence[Fact], vectors: Sequence[bytes | None], known: Neighbours) -> Decision:
    """What to do with *facts*, whose nearest memories are `known.near`, one list a fact.

    A memory ends where a new fact of the same owner contradicts it. A fact is known where a memory that its
    own scope can see says as much.
    """
    changes: list[Change] = []
    ended: list[Supersede] = []
    unchanged: list[Unchanged] = []
    settled = _among_themselves(facts)
    dropped = [(fact, reason) for fact, reason in zip(facts, settled, strict=True) if reason is not None]
    for at, (fact, vector) in enumerate(zip(facts, vectors, strict=True)):
        if settled[at] is not None:
            continue
        said = of_fact(fact)
        records = {record.id: record for record in (*known.near[at], *known.alike)}
        others = [(record, of_record(record)) for record in records.values()]
        twin = next(
            (record for record, was in others if _sees(fact.scope, record) and repeats(said, was)), None
        )
        if twin is not None:
            unchanged.append(Unchanged(fact, twin))
            continue
        if any(older(said, was) and ends(was, said) for _, was in others):
            dropped.append((fact, OUTDATED))
            continue
        for record, was in others:
            reason = None if record.id in {one.memory_id for one in ended} else ends(said, was)
            if reason is not None:
                ended.append(Supersede(record.id, record.version, by=len(changes), reason=reason))
        changes.append(Add(fact, vector))
    return Decision((*changes, *ended), tuple(unchanged), tuple(dropped))


def _among_themselves(facts: Sequence[Fact]) -> list[str | None]:
    """Why a fact is not kept beside the others of its conversation; None where it is."""
    said = [of_fact(fact) for fact in facts]
    reasons: list[str | None] = [None] * len(facts)
    for later in range(len(facts)):
        for earlier in range(max(0, later - _LOOK_BACK), later):
            if reasons[earlier] is not None or facts[earlier].scope != facts[later].scope:
                continue
            if repeats(said[later], said[earlier]):
                reasons[later] = REPEATED
            elif repeats(said[earlier], said[later]):
                reasons[earlier] = REPEATED
            elif not older(said[later], said[earlier]) and ends(said[later], said[earlier]):
                reasons[earlier] = TAKEN_BACK
    return reasons


def of_fact(fact: Fact) -> Statement:
    """What a fact states."""
    return statement(fact.text, speaker=fact.actor_id, said_at=fact.said_at, happened=fact.event_to)


def of_record(record: Record) -> Statement:
    """What a memory states."""
    return statement(record.text, speaker=record.actor_id, said_at=record.updated_at)


def _sees(scope: Scope, record: Record) -> bool:
    """Whether a read by these ids finds the memory."""
    held = record.scope.ids()
    return all(held.get(kind) == value for kind, value in scope.ids().items())


def dedupe_key(text: str, scope: Scope) -> bytes:
    """The same for texts of one scope that differ in case, spaces and punctuation alone."""
    plain = "".join(char for char in text.casefold() if char.isalnum())
    return sha256(repr((plain, *scope.ids().items())).encode("utf-8", "surrogatepass")).digest()[:16]
