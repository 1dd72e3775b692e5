"""Taking memories away: out of every recall (`retract`), or without a trace of their texts (`erase`).

Both work on sets: the ids are put in the temporary table `gone` once, and each table is changed by one
statement, whether one memory goes or a hundred thousand.
"""

from __future__ import annotations

import re
import sqlite3
from typing import cast

from lukasa.ledger.base import View
from lukasa.ledger.filters import EVERYTHING
from lukasa.ledger.sqlite import turns
from lukasa.ledger.sqlite.filter_sql import compile_where
from lukasa.ledger.sqlite.items import unindex
from lukasa.ledger.sqlite.rows import KEY_COLUMNS, Keys, fence, keys_of, refuse_nobody
from lukasa.ledger.sqlite.writer import Writer
from lukasa.types import Written

_GONE = "(SELECT memory FROM gone)"
_BLANK_RECEIPT = (
    """UPDATE episodes SET receipt = '{"results":[],"status":"erased"}'"""
    " WHERE id = ? AND receipt IS NOT NULL"
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def remove(writer: Writer, view: View, *, memory_id: str | None, erase: bool) -> list[Written]:
    """Take away what the view's scope and filters name (and *memory_id*), whatever its state.

    `erase` also finds what was deleted before.
    """
    if memory_id is None:
        refuse_nobody(view)
    keys = keys_of(writer.connection, writer.space, view.scope)
    if keys is None:
        return []
    _collect(writer.connection, keys, view, memory_id=memory_id, erase=erase)
    taken = [
        Written(*row)
        for row in writer.connection.execute(
            "SELECT m.uid, 'DELETE', v.text, NULL, v.role, v.actor_id FROM gone"
            " JOIN memories m ON m.id = gone.memory JOIN versions v ON v.id = m.version ORDER BY m.id"
        )
    ]
    whole_scope = memory_id is None and view.where == EVERYTHING
    _touch(writer)
    unindex(writer.connection, f"i.memory IN {_GONE}")
    turns.leave(writer, keys, whole_scope=whole_scope)
    if erase:
        _erase(writer, keys, whole_scope=whole_scope)
    else:
        _retract(writer)
    return taken


def _collect(
    connection: sqlite3.Connection, keys: Keys, view: View, *, memory_id: str | None, erase: bool
) -> None:
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS gone (memory INTEGER PRIMARY KEY)")
    connection.execute("DELETE FROM gone")
    predicate, values = fence(keys)
    if memory_id is not None:
        predicate, values = f"{predicate} AND m.uid = ?", [*values, memory_id]
    if not erase:
        predicate = f"{predicate} AND m.state <> 'retracted'"
    where, more = compile_where(view.where)
    connection.execute(
        "INSERT INTO gone SELECT m.id FROM memories m JOIN versions v ON v.id = m.version"
        f" WHERE {predicate} AND {where}",
        (*values, *more),
    )


def _touch(writer: Writer) -> None:
    for column in KEY_COLUMNS.values():
        rows = writer.connection.execute(f"SELECT DISTINCT {column} FROM memories WHERE id IN {_GONE}")
        writer.touch(row[0] for row in rows)


def _retract(writer: Writer) -> None:
    connection, now = writer.connection, writer.now
    connection.execute(
        "UPDATE versions SET retired_at = coalesce(retired_at, ?), valid_to = coalesce(valid_to, ?)"
        f" WHERE id IN (SELECT version FROM memories WHERE id IN {_GONE})",
        (now, now),
    )
    events = [
        (writer.number(), memory, number, actor, role, now)
        for memory, number, actor, role in connection.execute(
            "SELECT m.id, (SELECT max(number) + 1 FROM versions WHERE memory = m.id), v.actor_id, v.role"
            f" FROM memories m JOIN versions v ON v.id = m.version WHERE m.id IN {_GONE}"
        ).fetchall()
    ]
    connection.executemany(
        "INSERT INTO versions (id, memory, number, event, actor_id, role, recorded_at)"
        " VALUES (?, ?, ?, 'DELETE', ?, ?, ?)",
        events,
    )
    connection.execute(f"UPDATE memories SET state = 'retracted', updated_at = ? WHERE id IN {_GONE}", (now,))
    connection.execute(f"UPDATE items SET state = -1, changed = ? WHERE memory IN {_GONE}", (writer.change,))


def _erase(writer: Writer, keys: Keys, *, whole_scope: bool) -> None:
    """Purge texts, sources, history, messages that supported nothing else, ids that nothing names now."""
    connection = writer.connection
    writer.purged = True
    _forget_mentions(writer)
    messages = connection.execute(
        "SELECT DISTINCT s.message FROM sources s JOIN versions v ON v.id = s.version"
        f" WHERE v.memory IN {_GONE}"
    ).fetchall()
    connection.execute(f"DELETE FROM memories WHERE id IN {_GONE}")  # versions, sources, items, links follow
    orphans = [
        row
        for row in messages
        if connection.execute("SELECT 1 FROM sources WHERE message = ?", row).fetchone() is None
    ]
    episodes = _erase_messages(connection, orphans)
    if whole_scope:
        episodes |= _episodes_of(connection, keys)
    _purge_episodes(writer, episodes, whole_scope=whole_scope)
    _forget_scopes(writer)
    if connection.execute("SELECT 1 FROM vectors LIMIT 1").fetchone() is None:
        connection.execute("DELETE FROM models")  # an empty ledger takes any embedder


def _forget_mentions(writer: Writer) -> None:
    """Blank what other rows tell of the memories that go: why they ended another, receipts that name them."""
    connection = writer.connection
    connection.execute(
        "UPDATE versions SET reason = NULL WHERE event = 'SUPERSEDE' AND memory IN"
        f" (SELECT target FROM links WHERE kind = 'supersedes' AND origin IN {_GONE})"
    )
    gone = {row[0] for row in connection.execute(f"SELECT uid FROM memories WHERE id IN {_GONE}")}
    receipts = connection.execute(
        "SELECT id, receipt FROM episodes WHERE space = ? AND idempotency_key IS NOT NULL"
        " AND receipt IS NOT NULL",
        (writer.space,),
    )
    naming = [number for number, receipt in receipts if not gone.isdisjoint(_UUID.findall(receipt))]
    connection.executemany(_BLANK_RECEIPT, [(number,) for number in naming])


def _erase_messages(connection: sqlite3.Connection, messages: list[tuple[int]]) -> set[int]:
    """Blank the messages, which no turn holds any more; the episodes that they belong to."""
    connection.executemany("DELETE FROM items WHERE message = ?", messages)
    touched: set[int] = set()
    for row in messages:
        found = connection.execute(
            "UPDATE messages SET text = '', name = NULL, erased = 1 WHERE id = ? RETURNING episode", row
        ).fetchone()
        touched.add(cast("int", found[0]))
    return touched


def _episodes_of(connection: sqlite3.Connection, keys: Keys) -> set[int]:
    predicate, values = fence(keys)
    rows = connection.execute(f"SELECT m.id FROM episodes m WHERE {predicate}", values)
    return {row[0] for row in rows}


def _purge_episodes(writer: Writer, episodes: set[int], *, whole_scope: bool) -> None:
    """Drop an episode that supports nothing and says nothing; blank what else may hold the texts."""
    connection = writer.connection
    if whole_scope:
        connection.executemany(
            "UPDATE messages SET text = '', name = NULL, erased = 1 WHERE episode = ?"
            " AND NOT EXISTS (SELECT 1 FROM sources WHERE message = messages.id)",
            [(number,) for number in episodes],
        )
        connection.executemany(
            "DELETE FROM items WHERE message IN (SELECT id FROM messages WHERE episode = ? AND erased)",
            [(number,) for number in episodes],
        )
    for number in sorted(episodes):
        writer.touch(
            connection.execute(
                "SELECT user_key, agent_key, run_key, app_key FROM episodes WHERE id = ?", (number,)
            ).fetchone()
        )
        kept = connection.execute(
            "SELECT 1 FROM messages WHERE episode = ? AND NOT erased"
            " AND role NOT IN ('system', 'developer') LIMIT 1",
            (number,),
        ).fetchone()
        if kept is None:
            connection.execute("DELETE FROM episodes WHERE id = ?", (number,))
        else:
            connection.execute(_BLANK_RECEIPT, (number,))


def _forget_scopes(writer: Writer) -> None:
    """An id is personal data too: it goes with the last row that names it."""
    for key in sorted(writer.touched):
        named = " UNION ALL ".join(
            f"SELECT 1 FROM {table} WHERE {column} = :key"
            for table in ("memories", "episodes")
            for column in KEY_COLUMNS.values()
        )
        if writer.connection.execute(f"{named} LIMIT 1", {"key": key}).fetchone() is None:
            writer.connection.execute("DELETE FROM scopes WHERE id = ?", (key,))
            writer.touched.discard(key)


def scrub(connection: sqlite3.Connection) -> str | None:
    """Write the file anew and empty its log, so that no page keeps bytes of what was erased.

    `secure_delete` blanks what is deleted, but not the copies that stay behind when a full page was once
    split. The answer is what could not be done, and when it will be.
    """
    connection.execute("PRAGMA temp_store = FILE")  # a copy of the whole ledger does not fit in memory
    try:
        connection.execute("VACUUM")
        blocked = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    finally:
        connection.execute("PRAGMA temp_store = MEMORY")
    if blocked:
        return "a reader keeps the write-ahead log open: its old pages go when the last reader closes"
    return None


def not_scrubbed(error: Exception) -> str:
    """What to tell whoever erased: it is done, and what is not."""
    return (
        f"erased, but the file could not be written anew ({error.__cause__ or error}); its pages may hold "
        "copies: the next erasure does it, also delete_all(..., erase=True) where nothing is left"
    )
