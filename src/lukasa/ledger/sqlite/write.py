"""Carrying out a plan, in the one transaction that the caller holds."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from lukasa.errors import IdempotencyConflict, InputError, StaleVersion
from lukasa.ledger.base import TURN_ROLES, Applied, Plan, Receipt
from lukasa.ledger.sqlite import add, revise, supersede, turns
from lukasa.ledger.sqlite.rows import change_of, dump, keys_of, micros, space_key
from lukasa.ledger.sqlite.writer import Writer, begin, finish
from lukasa.text.tokens import terms
from lukasa.types import Add, Change, Episode, JsonValue, Message, Revise, Scope, Supersede, Unset, Written


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan with its texts analysed: done before the write lock is taken."""

    plan: Plan
    terms: tuple[Mapping[str, int], ...]  # one a change; empty where it brings no text
    turns: tuple[Mapping[str, int] | None, ...] = ()  # one a message; None where it is not to be found


def prepare(plan: Plan) -> Prepared:
    """The plan with the index terms of every text that it brings.

    Raises `InputError` where a `Supersede` names no `Add` of it.
    """
    for change in plan.changes:
        if isinstance(change, Supersede) and not _is_add(plan.changes, change.by):
            raise InputError(f"by={change.by} is not the position of an Add among the plan's changes")
    found = tuple(terms(text) if text else {} for text in map(_text_of, plan.changes))
    if plan.episode is None or not plan.index_turns:
        return Prepared(plan, found)
    return Prepared(plan, found, tuple(_turn(message) for message in plan.episode.messages))


def _turn(message: Message) -> Mapping[str, int] | None:
    return terms(message.text) if message.role in TURN_ROLES and message.text.strip() else None


def _is_add(changes: Sequence[Change], position: int) -> bool:
    return 0 <= position < len(changes) and isinstance(changes[position], Add)


def _text_of(change: Change) -> str:
    match change:
        case Add():
            return change.fact.text
        case Revise():
            return "" if isinstance(change.text, Unset) else change.text
        case Supersede():
            return ""


def apply(
    connection: sqlite3.Connection,
    prepared: Prepared,
    *,
    space: str,
    scope: Scope,
    now: datetime,
    model: str,
    receipt: Receipt,
) -> Applied:
    """What was done, or the stored receipt where this idempotency key was used before."""
    episode = prepared.plan.episode
    replayed = None if episode is None else replay(connection, space, episode)
    if replayed is not None:
        return Applied(replayed=replayed)
    basis = prepared.plan.basis
    if basis is not None and basis != change_of(connection, space, scope):
        raise StaleVersion("something else was written to these memories since they were looked at; replan")
    writer = begin(connection, space, now, model)
    journal = None if episode is None else add.journal(writer, episode)
    if journal is not None:
        turns.index(writer, journal, prepared.turns)
    written = _carry_out(writer, journal, prepared, scope)
    applied = Applied(written=written, episode_id=None if journal is None else journal.uid)
    if journal is not None and episode is not None and episode.idempotency_key is not None:
        answer = dump(receipt(applied))
        connection.execute("UPDATE episodes SET receipt = ? WHERE id = ?", (answer, journal.episode))
    finish(writer)
    return applied


def _carry_out(
    writer: Writer, journal: add.Journal | None, prepared: Prepared, scope: Scope
) -> tuple[Written, ...]:
    """What became of each change, in the plan's order."""
    changes = list(enumerate(zip(prepared.plan.changes, prepared.terms, strict=True)))
    written: dict[int, Written] = {}
    for at, (change, found) in changes:
        if isinstance(change, Revise):
            written[at] = revise.revise(writer, scope, change, found)
    adds = {at: (change, found) for at, (change, found) in changes if isinstance(change, Add)}
    written.update(zip(adds, add.add(writer, journal, list(adds.values())), strict=True))
    ends = {at: change for at, (change, _) in changes if isinstance(change, Supersede)}
    replacements = [
        supersede.Replaced(end, adds[end.by][0].fact, written[end.by].memory_id) for end in ends.values()
    ]
    written.update(zip(ends, supersede.supersede(writer, scope, replacements), strict=True))
    return tuple(written[at] for at in range(len(changes)))


def replay(connection: sqlite3.Connection, space: str, episode: Episode) -> Mapping[str, JsonValue] | None:
    """The receipt that was given for this idempotency key, or None.

    Raises `IdempotencyConflict` where the key was used for another request.
    """
    if episode.idempotency_key is None:
        return None
    keys = keys_of(connection, space_key(connection, space), episode.scope.owner())
    if keys is None:
        return None
    row = connection.execute(
        "SELECT request, receipt FROM episodes WHERE space = ? AND partition = ? AND idempotency_key = ?",
        (keys.space, keys.partition, episode.idempotency_key),
    ).fetchone()
    if row is None:
        return None
    if row[0] != episode.request:
        raise IdempotencyConflict(
            "this idempotency_key was used before in this scope for another request; use a new key"
        )
    return cast("Mapping[str, JsonValue]", json.loads(row[1]))


def count_accesses(connection: sqlite3.Connection, found: Mapping[str, int], now: datetime) -> None:
    """Add to the memories' access counts: how often each id was found."""
    connection.executemany(
        "UPDATE memories SET accesses = accesses + ?, accessed_at = ? WHERE uid = ?",
        [(times, micros(now), uid) for uid, times in found.items()],
    )
