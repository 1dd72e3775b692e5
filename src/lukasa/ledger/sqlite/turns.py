"""Source messages as searchable items: indexed with their episode, found, and taken out of the index."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from lukasa.errors import Unsupported
from lukasa.ledger.base import FoundTurn, Probe, Rank, View
from lukasa.ledger.filters import EVERYTHING
from lukasa.ledger.sqlite.add import Journal, Rows, Terms
from lukasa.ledger.sqlite.items import unindex
from lukasa.ledger.sqlite.pool import Pools
from lukasa.ledger.sqlite.rows import KEY_COLUMNS, Keys, days, fence, keys_of_view, moment
from lukasa.ledger.sqlite.search import chosen, in_lots, marks, pooled
from lukasa.ledger.sqlite.writer import Writer, active_model
from lukasa.types import Message

_LEAVING = "(SELECT item FROM leaving)"


def index(writer: Writer, journal: Journal, analysed: Sequence[Terms | None]) -> None:
    """Make the messages of an episode findable, as far as they are to be."""
    rows = Rows()
    for message, terms in zip(journal.messages, analysed, strict=False):  # nothing was analysed for others
        if terms is not None:
            rows.index_turn(writer, message, journal.keys, terms)
    rows.insert(writer.connection)


def turns(
    connection: sqlite3.Connection,
    pools: Pools,
    *,
    space: str,
    view: View,
    probe: Probe,
    rank: Rank,
    model: str,
) -> list[FoundTurn] | None:
    """See `Ledger.turns`; None where the caller must read again, as in a search."""
    if view.where != EVERYTHING:
        raise Unsupported("filters choose among memories; turns are searched by scope alone")
    if view.as_of is not None:
        raise Unsupported("as_of asks what held at a time; what was said has no end: leave it out for turns")
    keys = keys_of_view(connection, space, view)
    active = active_model(connection, model)
    if keys is None:
        return []
    rows = pooled(connection, pools, keys, active, turns=True)
    if rows is None:
        return None
    mask = rows.current(keys.ids, days(view.today))
    best = chosen(connection, rows, mask, probe, rank)
    found = _hydrate(connection, keys, [item for item, _ in best])
    return [FoundTurn(*found[item], parts) for item, parts in best if item in found]


def _hydrate(
    connection: sqlite3.Connection, keys: Keys, items: Sequence[int]
) -> dict[int, tuple[str, Message, int]]:
    """Episode, message and position of each turn, as far as it is still to be found under the scope."""
    predicate, values = fence(keys)
    found: dict[int, tuple[str, Message, int]] = {}
    for some in in_lots(items):
        rows = connection.execute(
            "SELECT i.id, m.uid, g.role, g.text, g.name, g.said_at, g.position FROM items i"
            " CROSS JOIN messages g ON g.id = i.message CROSS JOIN episodes m ON m.id = g.episode"
            f" WHERE i.id IN ({marks(some)}) AND i.state = 1 AND g.erased = 0 AND {predicate}",
            (*some, *values),
        )
        for item, uid, role, text, name, said_at, position in rows:
            found[item] = uid, Message(role, text, name, moment(said_at)), position
    return found


def leave(writer: Writer, keys: Keys, *, whole_scope: bool) -> None:
    """Take turns out of the index: those from which nothing came but what is `gone` now or was retracted.

    With the whole scope all of its turns go.
    """
    connection = writer.connection
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS leaving (item INTEGER PRIMARY KEY)")
    connection.execute("DELETE FROM leaving")
    connection.execute(
        "INSERT INTO leaving SELECT DISTINCT i.id FROM gone CROSS JOIN versions v ON v.memory = gone.memory"
        " CROSS JOIN sources s ON s.version = v.id CROSS JOIN items i ON i.message = s.message"
        " WHERE i.state >= 0 AND NOT EXISTS (SELECT 1 FROM sources o JOIN versions w ON w.id = o.version"
        " JOIN memories m ON m.id = w.memory WHERE o.message = i.message AND m.state <> 'retracted'"
        " AND m.id NOT IN (SELECT memory FROM gone))"
    )
    if whole_scope:
        predicate, values = fence(keys)
        connection.execute(
            "INSERT OR IGNORE INTO leaving SELECT i.id FROM episodes m JOIN messages g ON g.episode = m.id"
            f" JOIN items i ON i.message = g.id WHERE i.state >= 0 AND {predicate}",
            values,
        )
    for column in KEY_COLUMNS.values():
        rows = connection.execute(f"SELECT DISTINCT {column} FROM items WHERE id IN {_LEAVING}")
        writer.touch(row[0] for row in rows)
    unindex(connection, f"i.id IN {_LEAVING}")
    connection.execute(f"UPDATE items SET state = -1, changed = ? WHERE id IN {_LEAVING}", (writer.change,))
