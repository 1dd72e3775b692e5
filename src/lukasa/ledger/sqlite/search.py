"""Candidates by meaning and by words, their signals, and the memories that a ranking chose among them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, cast

import numpy as np

from lukasa.errors import Unsupported
from lukasa.ledger.base import Found, Probe, Rank, Signals, View
from lukasa.ledger.filters import EVERYTHING
from lukasa.ledger.sqlite.items import postings_of
from lukasa.ledger.sqlite.pool import Anchor, Pools, Snapshot
from lukasa.ledger.sqlite.rows import RECORD, Keys, days, fence, keys_of_view, record, visible
from lukasa.ledger.sqlite.writer import active_model
from lukasa.text.tokens import query_words
from lukasa.types import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Okapi BM25 with the usual constants: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.
K1, B = 1.2, 0.75
# Of a question that is a whole document, the first words: each is a look-up of its own.
_WORDS = 64
_IN_A_QUERY = 500
_NO_MODEL = 31  # a slot that holds nothing


def search(
    connection: sqlite3.Connection,
    pools: Pools,
    *,
    space: str,
    view: View,
    probe: Probe,
    rank: Rank,
    model: str,
) -> list[Found] | None:
    """The memories that *rank* chose, best first, each read from the ledger under the view.

    None where another reader's newer snapshot has brought the pool further than this one sees: what moved
    between the two could be missed. The caller reads again.
    """
    keys = keys_of_view(connection, space, view)
    active = active_model(connection, model)
    if keys is None:
        return []
    rows = pooled(connection, pools, keys, active)
    if rows is None:
        return None
    mask = visible_rows(connection, rows, keys, view)
    best = chosen(connection, rows, mask, probe, rank)
    records = hydrate(connection, keys, view, [item for item, _ in best])
    return [Found(records[item], parts) for item, parts in best if item in records]


def chosen(
    connection: sqlite3.Connection, rows: Snapshot, mask: NDArray[np.bool_], probe: Probe, rank: Rank
) -> list[tuple[int, dict[str, float]]]:
    """The items that *rank* chose, best first, with their numbers."""
    signals = signals_of(connection, rows, mask, probe)
    ranked = rank(signals)
    items = [int(signals.item[at]) for at in ranked.order]
    parts = [dict(zip(ranked.parts, row, strict=True)) for row in zip(*ranked.parts.values(), strict=True)]
    return list(zip(items, parts, strict=True))


def pooled(
    connection: sqlite3.Connection,
    pools: Pools,
    keys: Keys,
    active: tuple[int, int] | None,
    *,
    turns: bool = False,
) -> Snapshot | None:
    """All that can be found under the scope (memories, or turns), by the *active* model's slot and dimension.

    None where it is newer than the snapshot that the caller reads.
    """
    if not keys.ids:
        raise Unsupported("a search goes through one scope: name a user, an agent, a run or an app")
    kind, key = next(iter(keys.ids.items()))
    change, epoch = connection.execute("SELECT change, epoch FROM scopes WHERE id = ?", (key,)).fetchone()
    slot, dim = active or (_NO_MODEL, 0)  # without vectors words still find
    rows = pools.fresh(connection, Anchor(kind, key, slot, turns), dim, change, epoch)
    return None if rows.change > change else rows


def visible_rows(connection: sqlite3.Connection, rows: Snapshot, keys: Keys, view: View) -> NDArray[np.bool_]:
    """Which rows the view shows."""
    if view.where == EVERYTHING and view.as_of is None and not view.show_expired:
        return rows.current(keys.ids, days(view.today))
    predicate, values = fence(keys)
    seen, more = visible(view)
    found = connection.execute(
        f"SELECT v.item FROM memories m JOIN versions v ON v.memory = m.id WHERE {predicate} AND {seen}",
        (*values, *more),
    )
    items = np.fromiter(chain.from_iterable(cast("Iterable[tuple[int]]", found)), np.int64)
    mask = np.zeros(len(rows.items), np.bool_)
    at = rows.positions(items)
    mask[at[at >= 0]] = True
    return mask


def signals_of(
    connection: sqlite3.Connection, rows: Snapshot, mask: NDArray[np.bool_], probe: Probe
) -> Signals:
    """The best `probe.limit` by meaning and the best by words: a union, so that either is enough."""
    bm25, coverage = _lexical(connection, rows, mask, query_words(probe.text)[:_WORDS])
    usable = rows.embedded & mask & (probe.vector is not None)
    cosine = _cosines(rows, probe.vector)
    cosine[~usable] = -np.inf
    by_meaning = _top(cosine, min(probe.limit, int(usable.sum())))
    by_words = _top(bm25, probe.limit, np.flatnonzero(bm25))
    at = np.unique(np.concatenate([by_meaning, by_words]))
    cosine[~usable] = np.nan
    return Signals(rows.items[at], cosine[at], bm25[at], coverage[at])


def _cosines(rows: Snapshot, vector: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """How near each row is; of no meaning for a row that has no vector."""
    if vector is None or not rows.embedded.any():
        return np.zeros(len(rows.items), np.float32)
    # Not `@`: BLAS would split the product over threads that spin, twice the CPU for the same time.
    return np.einsum("ij,j->i", rows.matrix, vector)


def _top(values: NDArray[np.float32], limit: int, among: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
    """Positions of the *limit* largest, in no order."""
    pool = values if among is None else values[among]
    if limit == 0:
        return np.empty(0, np.intp)
    if limit >= len(pool):
        best = np.arange(len(pool))
    else:
        best = np.argpartition(pool, len(pool) - limit)[len(pool) - limit :]
    return best if among is None else among[best]


def _lexical(
    connection: sqlite3.Connection,
    rows: Snapshot,
    mask: NDArray[np.bool_],
    words: Sequence[tuple[str, ...]],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """BM25 as a share of what a perfect text would get, and the weighted share of the words that are held.

    Document frequencies are those of the visible rows: other scopes neither lend nor lose anything.
    """
    total = int(mask.sum())
    bm25, coverage = np.zeros((2, len(mask)), np.float32)
    if not words or not total:
        return bm25, coverage
    length = rows.columns["length"]
    mean = max(1.0, float(length.mean() if total == len(mask) else length[mask].mean()))
    weight = 0.0
    partitions = rows.partitions()
    for spellings in words:
        at, tf = _occurrences(connection, rows, mask, partitions, spellings)
        idf = float(np.log1p((total - len(at) + 0.5) / (len(at) + 0.5)))
        weight += idf
        bm25[at] += idf * tf / (tf + K1 * (1 - B + B * length[at] / mean))
        coverage[at] += idf
    return bm25 / weight, coverage / weight


def _occurrences(
    connection: sqlite3.Connection,
    rows: Snapshot,
    mask: NDArray[np.bool_],
    partitions: Sequence[int],
    spellings: Sequence[str],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where a word stands, in whichever spelling, and how often: positions and counts."""
    found: list[int] = []
    for some in in_lots(partitions):
        cursor = connection.execute(
            f"SELECT item, tf FROM {postings_of(turns=rows.turns)} WHERE partition IN ({marks(some)})"
            f" AND term IN ({marks(spellings)})",
            (*some, *spellings),
        )
        found.extend(chain.from_iterable(cursor.fetchall()))
    pairs = np.array(found, np.int64).reshape(-1, 2)
    at = rows.positions(pairs[:, 0])
    seen = (at >= 0) & mask[at]
    at, tf = at[seen], pairs[seen, 1]
    if len(spellings) == 1 and len(partitions) == 1:
        return at, tf
    places, inverse = np.unique(at, return_inverse=True)
    most = np.zeros(len(places), np.int64)
    np.maximum.at(most, inverse, tf)
    return places, most


def marks(values: Sequence[object]) -> str:
    """A question mark for each."""
    return ",".join("?" * len(values))


def in_lots(values: Sequence[int]) -> Iterable[Sequence[int]]:
    """As many at once as a statement may have question marks for, others beside them."""
    return (values[start : start + _IN_A_QUERY] for start in range(0, len(values), _IN_A_QUERY))


def hydrate(
    connection: sqlite3.Connection, keys: Keys, view: View, items: Sequence[int]
) -> dict[int, Record]:
    """The memories of these items, as far as the view shows them."""
    predicate, values = fence(keys)
    seen, more = visible(view)
    found: dict[int, Record] = {}
    for some in in_lots(items):
        rows = connection.execute(
            # CROSS JOIN: from these few items outward, whatever the planner thinks of the scope's index.
            f"SELECT {RECORD}, i.id FROM items i CROSS JOIN memories m ON m.id = i.memory"
            " CROSS JOIN versions v ON v.memory = m.id AND v.item = i.id"
            f" WHERE i.id IN ({marks(some)}) AND {predicate} AND {seen}",
            (*some, *values, *more),
        )
        found.update((row[-1], record(row[:-1])) for row in rows)
    return found
