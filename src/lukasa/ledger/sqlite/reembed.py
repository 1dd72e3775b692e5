"""Another embedder: its vectors are made beside the old ones, then one transaction switches to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import cast

from lukasa.errors import ConfigError, EmbedderMismatch, InputError, LedgerBusy
from lukasa.ledger.base import Reembedded
from lukasa.ledger.sqlite.check import unsound
from lukasa.ledger.sqlite.connect import Connections
from lukasa.ledger.sqlite.items import NO_VECTOR, TEXT
from lukasa.ledger.sqlite.schema import vector_key
from lukasa.ledger.sqlite.stats import slot_range
from lukasa.ledger.sqlite.writer import model_in_use
from lukasa.models.embed.base import Embedder

Text = tuple[int, int, str]  # item, partition, text

_DROPPED_AT_ONCE = 1000  # vectors, in one transaction: others are not kept waiting

_MISSING = f" FROM items i WHERE i.state >= 0 AND {NO_VECTOR}"


async def reembed(
    connections: Connections,
    embedder: Embedder,
    *,
    batch: int,
    progress: Callable[[int, int], None] | None,
) -> Reembedded:
    """Make what is missing of *embedder*'s vectors, batch by batch, then switch to them."""
    if batch < 1:
        raise InputError(f"batch is how many texts are embedded at once, 1 or more, not {batch}")
    keys = await connections.read(_unsound_keys)
    for start in range(0, len(keys), _DROPPED_AT_ONCE):
        await connections.write(_drop_unsound, keys[start : start + _DROPPED_AT_ONCE])
    while (text := await connections.read(some_text)) is None:
        if await connections.write(_free):
            return Reembedded(embedder.model, 0)
    dim = (await embedder.embed([text], use="passage")).shape[1]
    slot = await connections.write(slot_of, embedder.model, dim)
    embedded = 0
    while True:  # again and again, for others go on writing with the old model
        without, total = await connections.read(left, slot)
        done, last = total - without, -1
        while texts := await connections.read(missing, slot, last, batch):
            rows = await embedder.embed([text for _, _, text in texts], use="passage")
            made = [(one, row.tobytes()) for one, row in zip(texts, rows, strict=True)]
            await connections.write(store, embedder.model, slot, made)
            embedded, done, last = embedded + len(made), done + len(made), texts[-1][0]
            if progress is not None:
                progress(done, max(done, total))
        if await connections.write(switch, embedder.model, slot) == 0:
            return Reembedded(embedder.model, embedded)


def _unsound_keys(connection: sqlite3.Connection) -> list[int]:
    return [key for key, _ in unsound(connection)]


def _drop_unsound(connection: sqlite3.Connection, keys: Sequence[int]) -> None:
    """Take vectors away that belong to nothing or are damaged, unless they were put right meanwhile."""
    still = [found for key in keys for found, _ in unsound(connection, key)]
    connection.executemany("DELETE FROM vectors WHERE key = ?", [(key,) for key in still])


def _free(connection: sqlite3.Connection) -> bool:
    """Where nothing can be searched, no model counts: the next vector decides. False: there is something."""
    if some_text(connection) is not None:
        return False
    connection.execute("DELETE FROM vectors")
    connection.execute("DELETE FROM models")
    connection.execute("UPDATE scopes SET change = ?, epoch = epoch + 1", (next_change(connection),))
    return True


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


def missing(connection: sqlite3.Connection, slot: int, last: int, limit: int) -> list[Text]:
    """The next items behind *last* that have no vector in the slot, with their texts."""
    rows = connection.execute(
        f"SELECT i.id, i.partition, {TEXT} {_MISSING} AND i.id > ? ORDER BY i.id LIMIT ?",
        (vector_key(slot, 0, 0), last, limit),
    )
    return cast("list[Text]", rows.fetchall())


def some_text(connection: sqlite3.Connection) -> str | None:
    """Any text of the ledger: to learn a model's dimension by."""
    row = connection.execute(f"SELECT {TEXT} FROM items i WHERE i.state >= 0 LIMIT 1").fetchone()
    return None if row is None else row[0]


def left(connection: sqlite3.Connection, slot: int) -> tuple[int, int]:
    """How many items have no vector in the slot, and how many there are."""
    without = connection.execute(f"SELECT count(*) {_MISSING}", (vector_key(slot, 0, 0),)).fetchone()[0]
    return without, connection.execute("SELECT count(*) FROM items WHERE state >= 0").fetchone()[0]


def store(connection: sqlite3.Connection, model: str, slot: int, made: Sequence[tuple[Text, bytes]]) -> None:
    """Keep vectors, but for items that were deleted since."""
    state, change = _state(connection, model, slot), next_change(connection)
    for (item, partition, _), vector in made:
        alive = connection.execute(
            "SELECT user_key, agent_key, run_key, app_key FROM items WHERE id = ? AND state >= 0", (item,)
        ).fetchone()
        if alive is None:
            continue
        connection.execute(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?)", (vector_key(slot, partition, item), vector)
        )
        if state == "active":  # caches of a model that is searched by must look again
            connection.execute("UPDATE items SET changed = ? WHERE id = ?", (change, item))
            connection.executemany(
                "UPDATE scopes SET change = ? WHERE id = ?",
                [(change, key) for key in alive if key is not None],
            )


def switch(connection: sqlite3.Connection, model: str, slot: int) -> int:
    """Make *model* the active one, unless items still lack its vectors: how many do."""
    state = _state(connection, model, slot)
    without, _ = left(connection, slot)
    if without or state == "active":
        return without
    old = model_in_use(connection)
    if old is not None:
        _drop(connection, old.name, old.slot)
    connection.execute("UPDATE models SET state = 'active' WHERE name = ?", (model,))
    connection.execute("UPDATE scopes SET change = ?, epoch = epoch + 1", (next_change(connection),))
    return 0


def _state(connection: sqlite3.Connection, model: str, slot: int) -> str:
    """Whether *model* is active or being built; raises where its slot was given to another one since."""
    row = connection.execute("SELECT state FROM models WHERE name = ? AND slot = ?", (model, slot)).fetchone()
    if row is None:
        raise LedgerBusy(
            f"another `lukasa reembed` took over while {model!r} was being made: nothing of the active model "
            "was lost; run one at a time"
        )
    return cast("str", row[0])


def _drop(connection: sqlite3.Connection, model: str, slot: int) -> None:
    connection.execute("DELETE FROM vectors WHERE key >= ? AND key < ?", slot_range(slot))
    connection.execute("DELETE FROM models WHERE name = ?", (model,))


def next_change(connection: sqlite3.Connection) -> int:
    """A number of the ledger's sequence for this transaction."""
    row = connection.execute("UPDATE ledger SET sequence = sequence + 1 RETURNING sequence").fetchone()
    return cast("int", row[0])


def refuse_mismatch(connection: sqlite3.Connection, model: str) -> None:
    """Raise where another model's vectors are the active ones."""
    used = model_in_use(connection)
    if used is not None and used.name != model:
        raise EmbedderMismatch(
            f"the copy's vectors were made by {model!r}, this ledger's by {used.name!r}: "
            "restore without vectors (`lukasa import --no-vectors`), then run `lukasa reembed`"
        )
