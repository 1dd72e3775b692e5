"""Plain reads: by id, in pages, counted; a memory's history and its sources."""

from __future__ import annotations

import base64
import binascii
import re
import sqlite3
from typing import cast

from lukasa.errors import InputError
from lukasa.ledger.base import Page, Provenance, View
from lukasa.ledger.sqlite.rows import (
    RECORD,
    fence,
    holding,
    keys_of,
    keys_of_view,
    moment,
    record,
    space_key,
    visible,
)
from lukasa.text.shown import shown
from lukasa.types import Event, Evidence, HistoryEntry, Message, Record, Trust

_FROM = " FROM memories m JOIN versions v ON v.memory = m.id"


def get(connection: sqlite3.Connection, space: str, view: View, memory_id: str) -> Record | None:
    """The memory of that id inside the view's scope, expired or not; None for absent, foreign, deleted."""
    keys = keys_of(connection, space_key(connection, space), view.scope)
    if keys is None:
        return None
    predicate, values = fence(keys)
    version, more = holding(view.as_of)
    row = connection.execute(
        f"SELECT {RECORD} {_FROM} WHERE m.uid = ? AND {predicate} AND m.state <> 'retracted' AND {version}",
        (memory_id, *values, *more),
    ).fetchone()
    return None if row is None else record(row)


def page(connection: sqlite3.Connection, space: str, view: View, limit: int, cursor: str | None) -> Page:
    """At most *limit* memories, the last stored first, from *cursor* on."""
    keys = keys_of_view(connection, space, view)
    if keys is None or limit == 0:
        return Page((), None)
    predicate, values = fence(keys)
    seen, more = visible(view)
    before = "" if cursor is None else " AND m.id < ?"
    start = [] if cursor is None else [_from_cursor(cursor)]
    rows = connection.execute(
        f"SELECT {RECORD}, m.id {_FROM} WHERE {predicate} AND {seen}{before} ORDER BY m.id DESC LIMIT ?",
        (*values, *more, *start, limit + 1),
    ).fetchall()
    going_on = _to_cursor(cast("int", rows[limit - 1][-1])) if len(rows) > limit else None
    return Page(tuple(record(row[:-1]) for row in rows[:limit]), going_on)


def _to_cursor(number: int) -> str:
    return base64.urlsafe_b64encode(f"m{number}".encode()).decode()


def _from_cursor(cursor: str) -> int:
    try:
        text = base64.urlsafe_b64decode(cursor.encode()).decode("ascii")
    except (binascii.Error, UnicodeError, AttributeError):  # the last: it is no text at all
        text = ""
    if re.fullmatch("m[0-9]{1,18}", text) is None:
        raise InputError(f"{shown(cursor)} is not a cursor that get_all gave")
    return int(text[1:])


def count(connection: sqlite3.Connection, space: str, view: View) -> int:
    """How many memories the view shows."""
    keys = keys_of_view(connection, space, view)
    if keys is None:
        return 0
    predicate, values = fence(keys)
    seen, more = visible(view)
    row = connection.execute(f"SELECT count(*) {_FROM} WHERE {predicate} AND {seen}", (*values, *more))
    return cast("int", row.fetchone()[0])


def history(connection: sqlite3.Connection, space: str, view: View, memory_id: str) -> list[HistoryEntry]:
    """Every event of the memory, deleted ones too, oldest first; empty where there is none in this scope."""
    keys = keys_of(connection, space_key(connection, space), view.scope)
    if keys is None:
        return []
    predicate, values = fence(keys)
    rows = connection.execute(
        "SELECT v.id, v.event, v.text, m.created_at, v.recorded_at, v.actor_id, v.role, v.reason, v.number,"
        " (SELECT o.text FROM versions o WHERE o.memory = m.id AND o.number < v.number AND o.text IS NOT NULL"
        f"  ORDER BY o.number DESC LIMIT 1) {_FROM} WHERE m.uid = ? AND {predicate} ORDER BY v.number",
        (memory_id, *values),
    )
    return [
        HistoryEntry(
            id=f"{memory_id}#{row[8]}",
            memory_id=memory_id,
            event=cast("Event", row[1]),
            old_text=row[9],
            new_text=row[2],
            created_at=moment(row[3]),
            recorded_at=moment(row[4]),
            actor_id=row[5],
            role=row[6],
            reason=row[7],
            version=row[8],
        )
        for row in rows
    ]


def evidence(connection: sqlite3.Connection, space: str, view: View, memory_id: str) -> list[Evidence]:
    """The messages that the memory's versions come from, oldest version first."""
    keys = keys_of(connection, space_key(connection, space), view.scope)
    if keys is None:
        return []
    predicate, values = fence(keys)
    rows = connection.execute(
        'SELECT e.uid, g.role, g.text, g.name, g.said_at, g.position, s.start, s."end", s.trust, v.number,'
        f" v.extractor {_FROM} JOIN sources s ON s.version = v.id JOIN messages g ON g.id = s.message"
        f" JOIN episodes e ON e.id = g.episode WHERE m.uid = ? AND m.state <> 'retracted' AND {predicate}"
        " ORDER BY v.number, g.id, s.start",
        (memory_id, *values),
    )
    return [
        Evidence(
            episode_id=row[0],
            message=Message(row[1], row[2], row[3], moment(row[4])),
            position=row[5],
            start=row[6],
            end=row[7],
            trust=cast("Trust", row[8]),
            version=row[9],
            extractor=row[10],
        )
        for row in rows
    ]


def why(connection: sqlite3.Connection, space: str, view: View, memory_id: str) -> Provenance | None:
    """All of the above of one memory, and which memories stand before and behind it."""
    known = get(connection, space, view, memory_id)
    if known is None:
        return None
    return Provenance(
        known,
        tuple(evidence(connection, space, view, memory_id)),
        tuple(history(connection, space, view, memory_id)),
        replaces=_linked(connection, space, view, memory_id, at="origin", other="target"),
        replaced_by=_linked(connection, space, view, memory_id, at="target", other="origin"),
    )


def _linked(
    connection: sqlite3.Connection, space: str, view: View, memory_id: str, *, at: str, other: str
) -> tuple[str, ...]:
    """The memories at the *other* end of links that have this one at the end *at*."""
    keys = keys_of(connection, space_key(connection, space), view.scope)
    if keys is None:
        return ()
    predicate, values = fence(keys)
    rows = connection.execute(
        f"SELECT m.uid FROM memories o JOIN links l ON l.{at} = o.id JOIN memories m ON m.id = l.{other}"
        " WHERE o.uid = ? AND l.kind = 'supersedes' AND m.state <> 'retracted'"
        f" AND {predicate} ORDER BY m.id",
        (memory_id, *values),
    )
    return tuple(row[0] for row in rows)
