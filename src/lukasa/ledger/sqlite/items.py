"""What can be searched: a text of a memory, or a turn. Where its text is, its words, and its vectors."""

from __future__ import annotations

import sqlite3
from typing import Final

from lukasa.ledger.sqlite.schema import VECTOR_KEY, vector_key
from lukasa.text.tokens import terms

# The text of item `i`: of the versions that share it, or of the message that it is.
TEXT: Final = (
    "coalesce((SELECT text FROM versions WHERE memory = i.memory AND item = i.id AND text IS NOT NULL"
    " LIMIT 1), (SELECT text FROM messages WHERE id = i.message))"
)
# The predicate on `i` of what has no vector in the slot that `vector_key(slot, 0, 0)` is bound for.
NO_VECTOR: Final = f"NOT EXISTS (SELECT 1 FROM vectors x WHERE x.key = {VECTOR_KEY})"
KINDS: Final = (False, True)  # whether it is a turn


def of_kind(*, turns: bool) -> str:
    """The predicate on `i` that lets memories' items through, or turns."""
    return "i.message IS NOT NULL" if turns else "i.message IS NULL"


def postings_of(*, turns: bool) -> str:
    """The table that holds the words of memories, or of turns."""
    return "turn_postings" if turns else "postings"


def unindex(connection: sqlite3.Connection, which: str) -> None:
    """Take away vectors and postings of the items that *which*, a predicate on `i`, names."""
    slots = [row[0] for row in connection.execute("SELECT slot FROM models")]
    found = connection.execute(
        f"SELECT i.id, i.partition, {TEXT}, i.message IS NOT NULL FROM items i WHERE i.state >= 0 AND {which}"
    ).fetchall()
    connection.executemany(
        "DELETE FROM vectors WHERE key = ?",
        [(vector_key(slot, partition, item),) for item, partition, _, _ in found for slot in slots],
    )
    for turns in KINDS:
        connection.executemany(
            f"DELETE FROM {postings_of(turns=turns)} WHERE partition = ? AND term = ? AND item = ?",
            [(p, term, item) for item, p, text, kind in found if kind == turns for term in terms(text)],
        )
