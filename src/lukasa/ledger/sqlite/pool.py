"""Vectors of a scope in memory: one contiguous matrix, brought up to date by what changed since.

A pool holds every searchable item of one *anchor* (one id: a user's, an agent's, ...). It is only ever
a way to candidates: what a search returns is read again from the ledger under the caller's scope.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar, cast

import numpy as np

from lukasa.ledger.sqlite.items import of_kind
from lukasa.ledger.sqlite.rows import KEY_COLUMNS
from lukasa.ledger.sqlite.schema import VECTOR_KEY, vector_key
from lukasa.runtime import Lock
from lukasa.types import SCOPE_KINDS, ScopeKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Scalar = TypeVar("_Scalar", bound=np.generic)
_NEVER: Final = 1 << 40  # the day on which an item expires that does not
_GONE: Final = -1
_COLUMNS = ("item", "partition", "user", "agent", "run", "app", "current", "expires", "length")
_CURRENT: Final = _COLUMNS.index("current")
_FETCH: Final = 4096  # rows at a time: what a fill takes beside the matrix


@dataclass(frozen=True, slots=True)
class Anchor:
    """The one id by which a pool is kept, and what it holds: memories, or turns."""

    kind: ScopeKind
    key: int
    slot: int
    turns: bool = False


@dataclass(slots=True)
class Pool:
    """Columns and vectors of an anchor's items, in order of item number; only the first `size` rows count."""

    anchor: Anchor
    dim: int
    change: int = 0
    epoch: int = 0
    size: int = 0
    matrix: NDArray[np.float32] = field(init=False)
    columns: NDArray[np.int64] = field(default_factory=lambda: np.empty((len(_COLUMNS), 0), np.int64))
    embedded: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))
    lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.matrix = np.empty((0, self.dim), np.float32)

    @property
    def nbytes(self) -> int:
        """What it takes in memory."""
        return self.matrix.nbytes + self.columns.nbytes + self.embedded.nbytes

    def snapshot(self) -> Snapshot:
        """The rows of this moment; later appends go behind them."""
        n = self.size
        named = {name: self.columns[row, :n] for row, name in enumerate(_COLUMNS)}
        return Snapshot(self.matrix[:n], self.embedded[:n], named, self.change, turns=self.anchor.turns)

    def refresh(self, connection: sqlite3.Connection, change: int, epoch: int) -> None:
        """Fetch what changed since the last look; everything, where rows were purged since."""
        if self.epoch < epoch:
            self._start_anew()
        elif self.change >= change:  # another reader, with a newer snapshot, was here
            return
        since = self.change if self.size else -1
        kind = of_kind(turns=self.anchor.turns)
        where = f"i.{KEY_COLUMNS[self.anchor.kind]} = ? AND i.changed > ? AND {kind}"
        self._merge(_changed(connection, where, (self.anchor.key, since)))
        self._fetch_vectors(connection, where, (self.anchor.key, since))
        self.change, self.epoch = change, epoch

    def _start_anew(self) -> None:
        # Fresh arrays, not the old ones overwritten: another reader may still look at those.
        blank = Pool(self.anchor, self.dim)
        self.matrix, self.columns, self.embedded = blank.matrix, blank.columns, blank.embedded
        self.size, self.change = 0, -1

    def _merge(self, rows: NDArray[np.int64]) -> None:
        newest = self.columns[0, self.size - 1] if self.size else -1
        old = rows[:, rows[0] <= newest]
        at = cast("NDArray[np.intp]", np.searchsorted(self.columns[0, : self.size], old[0]))
        known = self.columns[0, at] == old[0] if len(at) else np.empty(0, np.bool_)
        if known.any():  # a copy: snapshots that were handed out go on seeing what they saw
            self.columns = self.columns.copy()
            self.columns[:, at[known]] = old[:, known]
        new = rows[:, (rows[0] > newest) & (rows[_CURRENT] != _GONE)]
        end = self.size + new.shape[1]
        self._reserve(end)
        self.columns[:, self.size : end] = new
        self.embedded[self.size : end] = False
        self.size = end

    def _fetch_vectors(self, connection: sqlite3.Connection, where: str, values: tuple[int, int]) -> None:
        cursor = connection.execute(
            "SELECT i.id, x.vector FROM items i CROSS JOIN vectors x"
            f" ON x.key = {VECTOR_KEY} WHERE {where} AND i.state >= 0",
            (vector_key(self.anchor.slot, 0, 0), *values),
        )
        while rows := cast("list[tuple[int, bytes]]", cursor.fetchmany(_FETCH)):
            items = np.fromiter((row[0] for row in rows), np.int64, len(rows))
            at = np.searchsorted(self.columns[0, : self.size], items)
            joined = np.frombuffer(b"".join([row[1] for row in rows]), np.float32)
            self.matrix[at] = joined.reshape(len(rows), self.dim)
            self.embedded[at] = True

    def _reserve(self, rows: int) -> None:
        held = len(self.embedded)
        if rows <= held:
            return
        room = rows if held == 0 else max(rows, held + held // 8 + 16)
        self.matrix = _grown(self.matrix, (room, self.dim), self.size)
        self.embedded = _grown(self.embedded, (room,), self.size)
        columns = np.empty((len(_COLUMNS), room), np.int64)
        columns[:, : self.size] = self.columns[:, : self.size]
        self.columns = columns


def _changed(connection: sqlite3.Connection, where: str, values: tuple[int, int]) -> NDArray[np.int64]:
    """The columns of changed items, in order of item number; shape (columns, items)."""
    cursor = connection.execute(
        "SELECT i.id, i.partition, coalesce(i.user_key, 0), coalesce(i.agent_key, 0), coalesce(i.run_key, 0),"
        " coalesce(i.app_key, 0),"
        " CASE WHEN i.state = 1 AND i.memory IS NOT NULL THEN m.state = 'active' ELSE i.state END,"
        " coalesce(m.expires_on, ?), i.length FROM items i LEFT JOIN memories m ON m.id = i.memory"
        f" WHERE {where}",
        (_NEVER, *values),
    )
    parts = [np.empty((0, len(_COLUMNS)), np.int64)]
    while rows := cursor.fetchmany(_FETCH):
        parts.append(np.array(rows, np.int64))
    found = np.concatenate(parts)
    return found[np.argsort(found[:, 0], kind="stable")].T


def _grown(array: NDArray[_Scalar], shape: tuple[int, ...], kept: int) -> NDArray[_Scalar]:
    grown = np.empty(shape, array.dtype)
    if kept:
        grown[:kept] = array[:kept]
    return grown


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One consistent look at a pool."""

    matrix: NDArray[np.float32]
    embedded: NDArray[np.bool_]
    columns: Mapping[str, NDArray[np.int64]]
    change: int
    turns: bool = False

    @property
    def items(self) -> NDArray[np.int64]:
        """Item numbers, ascending."""
        return self.columns["item"]

    def positions(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where these items are; -1 for one that is not here."""
        if not len(self.items):
            return np.full(len(items), -1, np.int64)
        at = np.minimum(np.searchsorted(self.items, items), len(self.items) - 1)
        return np.where(self.items[at] == items, at, -1)

    def partitions(self) -> list[int]:
        """Under which partitions the words of these items stand."""
        column = self.columns["partition"]
        if not len(column) or (column == column[0]).all():  # a user's own memories: no need to sort
            return column[:1].tolist()
        return np.unique(column).tolist()

    def current(self, keys: Mapping[ScopeKind, int], today: int) -> NDArray[np.bool_]:
        """Which rows are active, unexpired, and equal on every id that the read names."""
        mask = (self.columns["current"] == 1) & (self.columns["expires"] >= today)
        for kind in SCOPE_KINDS:
            if kind in keys:
                mask &= self.columns[kind.removesuffix("_id")] == keys[kind]
        return mask


class Pools:
    """The pools of the anchors that were read last, at most `limit` bytes of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pools: OrderedDict[Anchor, Pool] = OrderedDict()
        self._lock = Lock()

    def fresh(
        self, connection: sqlite3.Connection, anchor: Anchor, dim: int, change: int, epoch: int
    ) -> Snapshot:
        """The anchor's rows, at least as new as the caller's snapshot of the file."""
        with self._lock:
            pool = self._pools.pop(anchor, None) or Pool(anchor, dim)
            self._pools[anchor] = pool
        with pool.lock:
            pool.refresh(connection, change, epoch)
            snapshot = pool.snapshot()
        self._evict()
        return snapshot

    def _evict(self) -> None:
        with self._lock:
            total = sum(pool.nbytes for pool in self._pools.values())
            while total > self._limit and self._pools:
                _, dropped = self._pools.popitem(last=False)
                total -= dropped.nbytes

    def clear(self) -> None:
        """Give all memory back."""
        with self._lock:
            self._pools.clear()
