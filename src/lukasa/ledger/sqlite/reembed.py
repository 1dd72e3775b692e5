"""Another embedder: its vectors are made beside the old ones, then one transaction switches to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import cast

from lukasa.errors import ConfigError, EmbedderMismatch
from lukasa.ledger.sqlite.schema import ITEM_BITS, vector_key
from lukasa.ledger.sqlite.stats import slot_range

Text = tuple[int, int, str]  # item, partition, text

_MISSING = (
    " FROM items i WHERE i.state >= 0 AND NOT EXISTS (SELECT 1 FROM vectors x"
    f" WHERE x.key = (? | (i.partition << {ITEM_BITS}) | i.id))"
)


def slot_of(connection: sqlite3.Connection, model: str, dim: int) -> int:
    """Where *model*'s vectors go: its own slot, or a free one beside the active model's.

    What another model had begun and not finished is dropped.
    """
    known = dict(connection.execute("SELECT name, slot FROM models").fetchall())
    if model not in known:
        for name, slot in connection.execute(
            "SELECT name, slot FROM models WHERE state = 'building'"
        ).fetchall():
            _drop(connection, name, slot)
        used = {row[0] for row in connection.execute("SELECT slot FROM models")}
        state = "building" if used else "active"
        known[model] = min(set(range(32)) - used)
        connection.execute("INSERT INTO models VALUES (?, ?, ?, ?)", (known[model], model, dim, state))
    held = connection.execute("SELECT dim FROM models WHERE name = ?", (model,)).fetchone()[0]
    if held != dim:
        raise ConfigError(f"{model!r} gives vectors of {dim} numbers, its vectors here have {held}")
    return known[model]


def missing(connection: sqlite3.Connection, slot: int, limit: int) -> list[Text]:
    """Some items that have no vector in the slot, with their texts."""
    rows = connection.execute(
        "SELECT i.id, i.partition, (SELECT text FROM versions WHERE memory = i.memory AND item = i.id)"
        f"{_MISSING} ORDER BY i.id LIMIT ?",
        (vector_key(slot, 0, 0), limit),
    )
    return cast("list[Text]", rows.fetchall())


def some_text(connection: sqlite3.Connection) -> str | None:
    """Any text of the ledger: to learn a model's dimension by."""
    row = connection.execute(
        "SELECT v.text FROM items i JOIN versions v ON v.memory = i.memory AND v.item = i.id"
        " WHERE i.state >= 0 LIMIT 1"
    ).fetchone()
    return None if row is None else row[0]


def left(connection: sqlite3.Connection, slot: int) -> tuple[int, int]:
    """How many items have no vector in the slot, and how many there are."""
    without = connection.execute(f"SELECT count(*) {_MISSING}", (vector_key(slot, 0, 0),)).fetchone()[0]
    return without, connection.execute("SELECT count(*) FROM items WHERE state >= 0").fetchone()[0]


def store(connection: sqlite3.Connection, slot: int, made: Sequence[tuple[Text, bytes]]) -> None:
    """Keep vectors, but for items that were deleted since; caches of their scopes must look again."""
    change = next_change(connection)
    for (item, partition, _), vector in made:
        alive = connection.execute(
            "UPDATE items SET changed = ? WHERE id = ? AND state >= 0 RETURNING user_key, agent_key, run_key,"
            " app_key",
            (change, item),
        ).fetchone()
        if alive is not None:
            connection.execute(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)", (vector_key(slot, partition, item), vector)
            )
            connection.executemany(
                "UPDATE scopes SET change = ? WHERE id = ?",
                [(change, key) for key in alive if key is not None],
            )


def switch(connection: sqlite3.Connection, model: str, slot: int) -> int:
    """Make *model* the active one, unless items still lack its vectors: how many do."""
    without, _ = left(connection, slot)
    if without:
        return without
    old = connection.execute("SELECT name, slot FROM models WHERE state = 'active' AND name <> ?", (model,))
    for name, other in old.fetchall():
        _drop(connection, name, other)
    connection.execute("UPDATE models SET state = 'active' WHERE name = ?", (model,))
    connection.execute("UPDATE scopes SET change = ?, epoch = epoch + 1", (next_change(connection),))
    return 0


def _drop(connection: sqlite3.Connection, model: str, slot: int) -> None:
    connection.execute("DELETE FROM vectors WHERE key >= ? AND key < ?", slot_range(slot))
    connection.execute("DELETE FROM models WHERE name = ?", (model,))


def next_change(connection: sqlite3.Connection) -> int:
    """A number of the ledger's sequence for this transaction."""
    row = connection.execute("UPDATE ledger SET sequence = sequence + 1 RETURNING sequence").fetchone()
    return cast("int", row[0])


def refuse_mismatch(connection: sqlite3.Connection, model: str) -> None:
    """Raise where another model's vectors are the active ones."""
    row = connection.execute("SELECT name FROM models WHERE state = 'active'").fetchone()
    if row is not None and row[0] != model:
        raise EmbedderMismatch(
            f"the copy's vectors were made by {model!r}, this ledger's by {row[0]!r}: "
            "restore without vectors, then run `lukasa reembed`"
        )
