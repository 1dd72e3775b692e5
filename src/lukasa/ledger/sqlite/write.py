"""Carrying out a plan, in the one transaction that the caller holds."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from lukasa.errors import IdempotencyConflict
from lukasa.ledger.base import Applied, Plan, Receipt
from lukasa.ledger.sqlite import add, revise
from lukasa.ledger.sqlite.rows import dump, keys_of, micros, space_key
from lukasa.ledger.sqlite.writer import begin, finish
from lukasa.text.tokens import terms
from lukasa.types import Add, Episode, JsonValue, Revise, Scope, Unset, Written


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan with its texts analysed: done before the write lock is taken."""

    plan: Plan
    terms: tuple[Mapping[str, int], ...]  # one a change; empty where it brings no text


def prepare(plan: Plan) -> Prepared:
    """The plan with the index terms of every text that it brings."""
    return Prepared(plan, tuple(terms(text) if text else {} for text in map(_text_of, plan.changes)))


def _text_of(change: Add | Revise) -> str:
    if isinstance(change, Add):
        return change.fact.text
    return "" if isinstance(change.text, Unset) else change.text


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
    writer = begin(connection, space, now, model)
    journal = None if episode is None else add.journal(writer, episode)
    written: list[Written] = []
    adds: list[add.Analysed] = []
    for change, found in zip(prepared.plan.changes, prepared.terms, strict=True):
        if isinstance(change, Add):
            adds.append((change, found))
        else:
            written.append(revise.revise(writer, scope, change, found))
    written.extend(add.add(writer, journal, adds))
    applied = Applied(written=tuple(written), episode_id=None if journal is None else journal.uid)
    if journal is not None and episode is not None and episode.idempotency_key is not None:
        answer = dump(receipt(applied))
        connection.execute("UPDATE episodes SET receipt = ? WHERE id = ?", (answer, journal.episode))
    finish(writer)
    return applied


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
