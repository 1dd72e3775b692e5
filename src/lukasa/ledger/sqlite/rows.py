"""Rows to values and back, and the predicates of a `View`: whose memories, which, at what time."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any, Final, cast

from lukasa.errors import ScopeError
from lukasa.ledger.base import View
from lukasa.ledger.filter_times import DAY
from lukasa.ledger.sqlite.filter_sql import compile_where
from lukasa.types import SCOPE_KINDS, Record, Scope, ScopeKind

KEY_COLUMNS: Final[Mapping[ScopeKind, str]] = {
    "user_id": "user_key",
    "agent_id": "agent_key",
    "run_id": "run_key",
    "app_id": "app_key",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = _EPOCH.date().toordinal()
_MICROSECOND = timedelta(microseconds=1)

RECORD = """
  m.uid, v.text, v.hash, m.kind, m.state, v.number, v.metadata, v.categories, v.role, v.actor_id,
  v.attributed_to, v.importance, v.confidence, m.expires_on, m.created_at, v.recorded_at, m.updated_at,
  m.version = v.id, v.subject, v.attribute,
  (SELECT name FROM scopes WHERE id = m.user_key), (SELECT name FROM scopes WHERE id = m.agent_key),
  (SELECT name FROM scopes WHERE id = m.run_key), (SELECT name FROM scopes WHERE id = m.app_key)"""


def micros(moment: datetime) -> int:
    """Microseconds since 1970, UTC."""
    return (moment - _EPOCH) // _MICROSECOND


def some_micros(moment: datetime | None) -> int | None:
    """The same of a time that may be unknown."""
    return None if moment is None else micros(moment)


def moment(value: int) -> datetime:
    """The inverse of `micros`."""
    return _EPOCH + timedelta(microseconds=value)


def days(day: date) -> int:
    """Days since 1970-01-01."""
    return day.toordinal() - _EPOCH_DAY


def day(value: int) -> date:
    """The inverse of `days`."""
    return date.fromordinal(value + _EPOCH_DAY)


def day_of(value: int) -> int:
    """The day of a time, both as the ledger has them."""
    return value // DAY


def dump(value: object) -> str:
    """Compact JSON, other scripts kept as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def uuid7(now: int) -> str:
    """A UUIDv7 (RFC 9562) of the time *now* in microseconds: time-ordered, else random."""
    random = int.from_bytes(os.urandom(10), "big")
    value = max(now // 1000, 0) << 80 | 0x7 << 76 | (random >> 68) << 64 | 0b10 << 62 | random & (1 << 62) - 1
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def record(row: Sequence[Any]) -> Record:  # pyright: ignore[reportExplicitAny]  # the columns' types are the schema's
    """A row of `RECORD` as the value that leaves the ledger."""
    (uid, text, digest, kind, state, number, metadata, categories, role, actor, attributed) = row[:11]
    (importance, confidence, expires, created, recorded, updated, current) = row[11:18]
    subject, attribute, *names = row[18:24]
    return Record(
        id=uid,
        scope=Scope(*names),
        text=text,
        hash=digest,
        kind=kind,
        state=state,
        version=number,
        metadata={} if metadata == "{}" else json.loads(metadata),
        categories=() if categories == "[]" else tuple(json.loads(categories)),
        role=role,
        actor_id=actor,
        attributed_to=attributed,
        importance=importance,
        confidence=confidence,
        expires_on=None if expires is None else day(expires),
        created_at=moment(created),
        updated_at=moment(updated if current else recorded),
        subject=subject,
        attribute=attribute,
    )


@dataclass(frozen=True)
class Keys:
    """A scope as the ledger's integers."""

    space: int
    ids: Mapping[ScopeKind, int]

    @cached_property
    def partition(self) -> int:
        """The owner: the user if one is named, else the agent, the run, the app."""
        return next(self.ids[kind] for kind in SCOPE_KINDS if kind in self.ids)

    @cached_property
    def columns(self) -> tuple[int | None, ...]:
        """The four key columns, in the order in which every table has them."""
        return tuple(self.ids.get(kind) for kind in SCOPE_KINDS)


def space_key(connection: sqlite3.Connection, name: str) -> int | None:
    """The integer of a space; None where nothing was ever written to it."""
    row = connection.execute("SELECT id FROM spaces WHERE name = ?", (name,)).fetchone()
    return None if row is None else row[0]


def scope_key(connection: sqlite3.Connection, space: int, kind: ScopeKind, name: str) -> int | None:
    """The integer of one id; None where it was never seen."""
    row = connection.execute(
        "SELECT id FROM scopes WHERE space = ? AND kind = ? AND name = ?", (space, kind, name)
    ).fetchone()
    return None if row is None else row[0]


def change_of(connection: sqlite3.Connection, space: str, scope: Scope) -> int:
    """The number of the last write to the scope's owner; 0 where there was none."""
    if not scope:
        raise ScopeError("name whose memories a plan is about: a user, an agent, a run or an app")
    kind, name = next(iter(scope.ids().items()))
    row = connection.execute(
        "SELECT s.change FROM scopes s JOIN spaces p ON p.id = s.space"
        " WHERE p.name = ? AND s.kind = ? AND s.name = ?",
        (space, kind, name),
    ).fetchone()
    return 0 if row is None else row[0]


def keys_of(connection: sqlite3.Connection, space: int | None, scope: Scope) -> Keys | None:
    """The integers of *scope*; None where one of its ids was never seen: then nothing can be in it."""
    if space is None:
        return None
    found: dict[ScopeKind, int] = {}
    for kind, name in scope.ids().items():
        key = scope_key(connection, space, kind, name)
        if key is None:
            return None
        found[kind] = key
    return Keys(space, found)


def refuse_nobody(view: View) -> None:
    """Raise `ScopeError` where a view names no id and does not say that everybody is meant."""
    if not view.scope and not view.everyone:
        raise ScopeError("a view that names nobody must say everyone=True")


def keys_of_view(connection: sqlite3.Connection, space: str, view: View) -> Keys | None:
    """The integers of the view's scope; a view of everybody that does not say so is refused here too."""
    refuse_nobody(view)
    return keys_of(connection, space_key(connection, space), view.scope)


def fence(keys: Keys) -> tuple[str, list[object]]:
    """The predicate on `m` that keeps a statement inside *keys*."""
    clauses, values = ["m.space = ?"], cast("list[object]", [keys.space])
    for kind, key in keys.ids.items():
        clauses.append(f"m.{KEY_COLUMNS[kind]} = ?")
        values.append(key)
    return " AND ".join(clauses), values


def holding(as_of: datetime | None) -> tuple[str, list[object]]:
    """The predicate on `m` and `v` that picks the version which holds now, or held at *as_of*."""
    if as_of is None:
        return "v.id = m.version", []
    at = micros(as_of)
    return "v.text IS NOT NULL AND v.valid_from <= ? AND (v.valid_to IS NULL OR v.valid_to > ?)", [at, at]


def visible(view: View) -> tuple[str, list[object]]:
    """The predicate on `m` and `v` that a view adds to its scope: state, time, expiry, filters."""
    version, values = holding(view.as_of)
    clauses = [version]
    states = ["active"] if view.as_of is None else ["active", "superseded", "archived"]
    if view.show_expired:
        states = [*{*states, "archived"}]
    else:
        clauses.append("(m.expires_on IS NULL OR m.expires_on >= ?)")
        values.append(days(view.today if view.as_of is None else view.as_of.date()))
    clauses.append(f"m.state IN ({', '.join(repr(state) for state in states)})")
    where, more = compile_where(view.where)
    return " AND ".join([*clauses, where]), [*values, *more]
