"""The postings of the whole file, made anew when the analyzer that made them has changed."""

from __future__ import annotations

import sqlite3

from lukasa.ledger.sqlite.items import KINDS, TEXT, of_kind, postings_of
from lukasa.text.tokens import ANALYZER, terms

_BATCH = 1000


def renew_postings(connection: sqlite3.Connection) -> None:
    """Make all postings anew if another analyzer made them, inside the caller's write transaction."""
    (made_by,) = connection.execute("SELECT analyzer FROM ledger").fetchone()
    if made_by == ANALYZER:
        return
    for turns in KINDS:
        _renew(connection, turns=turns)
    connection.execute("UPDATE ledger SET analyzer = ?", (ANALYZER,))


def _renew(connection: sqlite3.Connection, *, turns: bool) -> None:
    connection.execute(f"DELETE FROM {postings_of(turns=turns)}")
    texts = connection.execute(
        f"SELECT i.id, i.partition, {TEXT} FROM items i WHERE i.state >= 0 AND {of_kind(turns=turns)}"
        " ORDER BY i.partition"
    )
    while rows := texts.fetchmany(_BATCH):
        found = [(item, partition, terms(text)) for item, partition, text in rows]
        connection.executemany(
            f"INSERT INTO {postings_of(turns=turns)} VALUES (?, ?, ?, ?)",
            sorted((p, term, item, tf) for item, p, counts in found for term, tf in counts.items()),
        )
        connection.executemany(
            "UPDATE items SET length = ? WHERE id = ?", [(sum(c.values()), item) for item, _, c in found]
        )
