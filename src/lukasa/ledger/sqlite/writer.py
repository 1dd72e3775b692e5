"""One write transaction: its numbers, the scopes that it touches, the vectors' model."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, cast

from lukasa.errors import ConfigError, EmbedderMismatch
from lukasa.ledger.sqlite.rows import Keys, micros, scope_key, space_key
from lukasa.types import Event, Scope, ScopeKind


@dataclass(slots=True)
class Writer:
    """Gives out numbers and remembers what to publish; lives as long as the caller's transaction."""

    connection: sqlite3.Connection
    space: int
    now: int  # microseconds
    sequence: int
    change: int  # this transaction's own number
    model: str
    slot: int = -1
    touched: set[int] = field(default_factory=set[int])
    purged: bool = False

    def number(self) -> int:
        """A number that no other row of this ledger has."""
        self.sequence += 1
        return self.sequence

    def touch(self, keys: Iterable[int | None]) -> None:
        """Caches of these scopes must look again."""
        self.touched.update(key for key in keys if key is not None)

    def slot_for(self, vector: bytes) -> int:
        """Where vectors of this model go. The first vector of a ledger decides its model and dimension."""
        if self.slot < 0:
            active = active_model(self.connection, self.model)
            if active is None:
                active = (0, len(vector) // 4)
                self.connection.execute(
                    "INSERT INTO models VALUES (0, ?, ?, 'active')", (self.model, active[1])
                )
            self.slot, dim = active
            if dim * 4 != len(vector):
                raise ConfigError(
                    f"{self.model!r} gave vectors of {len(vector) // 4} numbers, this ledger holds {dim}: "
                    "use the embedder (and dimensions) that wrote it, or run `lukasa reembed`"
                )
        return self.slot


def begin(connection: sqlite3.Connection, space: str, now: datetime, model: str) -> Writer:
    """A writer for the transaction that the caller has open."""
    sequence = cast("int", connection.execute("SELECT sequence FROM ledger").fetchone()[0])
    writer = Writer(connection, -1, micros(now), sequence + 1, sequence + 1, model)
    known = space_key(connection, space)
    if known is None:
        known = writer.number()
        connection.execute("INSERT INTO spaces VALUES (?, ?)", (known, space))
    writer.space = known
    return writer


def finish(writer: Writer) -> None:
    """Publish: caches compare `scopes.change` with what they hold."""
    writer.connection.executemany(
        "UPDATE scopes SET change = ?, epoch = epoch + ? WHERE id = ?",
        [(writer.change, int(writer.purged), key) for key in writer.touched],
    )
    writer.connection.execute("UPDATE ledger SET sequence = ?", (writer.sequence,))


def make_keys(writer: Writer, scope: Scope) -> Keys:
    """The integers of *scope*; an id that is seen for the first time gets one."""
    found: dict[ScopeKind, int] = {}
    for kind, name in scope.ids().items():
        key = scope_key(writer.connection, writer.space, kind, name)
        if key is None:
            key = cast(
                "int",
                writer.connection.execute(
                    "INSERT INTO scopes (space, kind, name, change) VALUES (?, ?, ?, ?)",
                    (writer.space, kind, name, writer.change),
                ).lastrowid,
            )
        found[kind] = key
    writer.touch(found.values())
    return Keys(writer.space, found)


class Model(NamedTuple):
    """What makes vectors, and where they are."""

    slot: int
    dim: int
    name: str


def model_in_use(connection: sqlite3.Connection) -> Model | None:
    """The model whose vectors count; None before the first vector."""
    row = connection.execute("SELECT slot, dim, name FROM models WHERE state = 'active'").fetchone()
    return None if row is None else Model(*row)


def active_model(connection: sqlite3.Connection, model: str) -> tuple[int, int] | None:
    """Slot and dimension of the model whose vectors count; None before the first vector.

    Raises `EmbedderMismatch` where they were made by another model.
    """
    used = model_in_use(connection)
    if used is None:
        return None
    if used.name != model:
        raise EmbedderMismatch(
            f"this ledger's vectors were made by {used.name!r}, the configured embedder is {model!r}: "
            f"configure {used.name!r}, or run `lukasa reembed` to embed anew and switch"
        )
    return used.slot, used.dim


def record_event(writer: Writer, memory: int, version: int, event: Event, reason: str | None) -> None:
    """Write an event that brings no text; the memory's current version stays what it was."""
    writer.connection.execute(
        "INSERT INTO versions (id, memory, number, event, role, actor_id, recorded_at, reason)"
        " SELECT ?, memory, (SELECT max(number) + 1 FROM versions WHERE memory = ?), ?, role, actor_id, ?, ?"
        " FROM versions WHERE id = ?",
        (writer.number(), memory, event, writer.now, reason, version),
    )
