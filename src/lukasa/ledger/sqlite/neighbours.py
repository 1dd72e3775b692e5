"""What is known already of some facts: the memories near them, and those of the same attributes."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lukasa.errors import Unsupported
from lukasa.ledger.base import Neighbours, Probe, Signals, View
from lukasa.ledger.sqlite.pool import Pools
from lukasa.ledger.sqlite.rows import RECORD, Keys, change_of, fence, keys_of_view, record, visible
from lukasa.ledger.sqlite.search import hydrate, in_lots, marks, pooled, signals_of, visible_rows
from lukasa.ledger.sqlite.writer import active_model
from lukasa.types import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray


def neighbours(
    connection: sqlite3.Connection,
    pools: Pools,
    *,
    space: str,
    view: View,
    probes: Sequence[Probe],
    attributes: Sequence[tuple[str, str]],
    model: str,
) -> Neighbours | None:
    """See `Ledger.neighbours`; None where the caller must read again, as in a search."""
    if view.as_of is not None:
        raise Unsupported("a plan is made on what holds now: leave as_of out")
    basis = change_of(connection, space, view.scope)
    keys = keys_of_view(connection, space, view)
    active = active_model(connection, model)
    if keys is None:
        return Neighbours(basis, tuple(() for _ in probes), ())
    rows = pooled(connection, pools, keys, active)
    if rows is None:
        return None
    mask = visible_rows(connection, rows, keys, view)
    near = [_nearest(signals_of(connection, rows, mask, probe)) for probe in probes]
    records = hydrate(connection, keys, view, sorted({item for items in near for item in items}))
    return Neighbours(
        basis,
        tuple(tuple(records[item] for item in items if item in records) for items in near),
        _alike(connection, keys, view, rows.partitions(), attributes),
    )


def _nearest(signals: Signals) -> list[int]:
    """The items, by turns the next one by meaning and the next by words."""
    by_meaning = _places(np.nan_to_num(signals.cosine.astype(np.float64), nan=-np.inf))
    by_words = _places(np.where(signals.bm25 > 0, signals.bm25.astype(np.float64), -np.inf))
    order = np.lexsort((signals.item, by_meaning, np.minimum(by_meaning, by_words)))
    return signals.item[order].tolist()


def _places(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The place of each when the largest comes first; the last of all for what has no value."""
    places = np.full(len(values), np.inf)
    # Rounded: the last bits of a product depend on where in the matrix a row stands, and equals must tie.
    order = np.lexsort((np.arange(len(values)), -np.round(values, 6)))
    places[order] = np.arange(len(values))
    places[~np.isfinite(values)] = np.inf
    return places


def _alike(
    connection: sqlite3.Connection,
    keys: Keys,
    view: View,
    partitions: Sequence[int],
    attributes: Sequence[tuple[str, str]],
) -> tuple[Record, ...]:
    predicate, values = fence(keys)
    seen, more = visible(view)
    found: dict[int, Record] = {}
    for some in in_lots(partitions):
        for pair in dict.fromkeys(attributes):
            rows = connection.execute(
                f"SELECT {RECORD}, m.id FROM versions v CROSS JOIN memories m ON m.id = v.memory"
                f" WHERE v.partition IN ({marks(some)}) AND v.subject = ? AND v.attribute = ?"
                f" AND v.retired_at IS NULL AND {predicate} AND {seen}",
                (*some, *pair, *values, *more),
            )
            found.update((row[-1], record(row[:-1])) for row in rows)
    return tuple(found[number] for number in sorted(found))
