"""A memory's next version."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from os import urandom

from lukasa.errors import InputError, MemoryNotFound, StaleVersion
from lukasa.ledger.sqlite.add import Rows, Terms, md5
from lukasa.ledger.sqlite.rows import Keys, day_of, days, dump, fence, keys_of, micros
from lukasa.ledger.sqlite.writer import Writer
from lukasa.types import SCOPE_KINDS, Revise, Scope, ScopeKind, State, Unset, Written


@dataclass(frozen=True, slots=True)
class Target:
    """A memory that is to change, as it stands."""

    memory: int
    version: int
    number: int
    state: State
    expires_on: int | None
    text: str
    item: int
    role: str | None
    actor_id: str | None
    kept: bool  # pinned or immutable
    keys: Keys


def revise(writer: Writer, scope: Scope, change: Revise, terms: Terms) -> Written:
    """Write the new version; the old one keeps its text and gets its end."""
    target = target_of(writer, scope, change.memory_id, seen=change.seen)
    if target.state == "superseded":
        raise MemoryNotFound(f"memory {change.memory_id!r} was superseded: change the one that replaced it")
    text = target.text if isinstance(change.text, Unset) else change.text
    item = target.item if text == target.text else _new_item(writer, target, change, terms)
    version = writer.number()
    starts = writer.now if change.at is None else micros(change.at)
    connection = writer.connection
    connection.execute("UPDATE versions SET retired_at = ? WHERE id = ?", (writer.now, target.version))
    connection.execute(  # from then on no other text holds, whenever it was to end
        "UPDATE versions SET valid_to = ? WHERE memory = ? AND text IS NOT NULL"
        " AND (valid_to IS NULL OR valid_to > ?)",
        (starts, target.memory, starts),
    )
    connection.execute(
        "INSERT INTO versions (id, memory, number, event, text, hash, metadata, categories, role, actor_id,"
        " attributed_to, subject, attribute, importance, confidence, event_from, event_to, valid_from,"
        " recorded_at, reason, extractor, model, item, partition)"
        " SELECT ?, memory, (SELECT max(number) + 1 FROM versions WHERE memory = ?), 'UPDATE', ?, ?,"
        " coalesce(?, metadata), categories, role, actor_id, attributed_to, subject, attribute, importance,"
        " confidence, event_from, event_to, ?, ?, ?, 'edit', NULL, ?, partition FROM versions WHERE id = ?",
        (version, target.memory, text, md5(text))
        + (None if isinstance(change.metadata, Unset) else dump(change.metadata),)
        + (starts, writer.now, change.reason, item, target.version),
    )
    _update_memory(writer, target, change, version, new_text=text != target.text)
    connection.execute("UPDATE items SET changed = ? WHERE memory = ?", (writer.change, target.memory))
    writer.touch(target.keys.ids.values())
    return Written(
        change.memory_id, "UPDATE", text, previous=target.text, role=target.role, actor_id=target.actor_id
    )


def target_of(writer: Writer, scope: Scope, memory_id: str, *, seen: int) -> Target:
    """The memory of that id inside *scope*, at the version *seen*.

    Raises `MemoryNotFound`, the same for absent, foreign and deleted, and `StaleVersion`.
    """
    keys, row = keys_of(writer.connection, writer.space, scope), None
    if keys is not None:
        predicate, values = fence(keys)
        row = writer.connection.execute(
            "SELECT m.id, m.version, v.number, m.state, m.expires_on, v.text, v.item, v.role, v.actor_id,"
            " m.pinned OR m.immutable, m.user_key, m.agent_key, m.run_key, m.app_key"
            " FROM memories m JOIN versions v ON v.id = m.version"
            f" WHERE m.uid = ? AND m.state <> 'retracted' AND {predicate}",
            (memory_id, *values),
        ).fetchone()
    if row is None:
        raise MemoryNotFound(f"memory {memory_id!r} not found in this scope")
    if row[2] != seen:
        raise StaleVersion(f"memory {memory_id!r} is at version {row[2]}, not {seen}")
    ids: dict[ScopeKind, int] = {
        kind: key for kind, key in zip(SCOPE_KINDS, row[10:], strict=True) if key is not None
    }
    return Target(*row[:9], kept=bool(row[9]), keys=Keys(writer.space, ids))


def _new_item(writer: Writer, target: Target, change: Revise, terms: Terms) -> int:
    if change.vector is None:
        raise ValueError("a Revise that changes the text needs the new text's vector")
    item, rows = writer.number(), Rows()
    writer.connection.execute("UPDATE items SET state = 0 WHERE id = ?", (target.item,))
    rows.index(writer, item, target.memory, target.keys, terms, change.vector)
    rows.insert(writer.connection)
    return item


def _update_memory(writer: Writer, target: Target, change: Revise, version: int, *, new_text: bool) -> None:
    expires = target.expires_on
    if not isinstance(change.expires_on, Unset):
        expires = None if change.expires_on is None else days(change.expires_on)
    current = expires is None or expires >= day_of(writer.now)
    state = "active" if target.state == "archived" and current else target.state
    try:
        writer.connection.execute(
            "UPDATE memories SET version = ?, state = ?, expires_on = ?, updated_at = ?,"
            " dedupe_key = CASE WHEN ? THEN ? ELSE dedupe_key END WHERE id = ?",
            (version, state, expires, writer.now, new_text, urandom(16), target.memory),
        )
    except sqlite3.IntegrityError as error:
        raise InputError(
            f"memory {change.memory_id!r} expired and the same fact was stored again since; "
            "update the newer one"
        ) from error
