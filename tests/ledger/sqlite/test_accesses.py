"""How often memories were found: counted, written down with the next write, and bounded."""

import sqlite3
from pathlib import Path

from lukasa import Memory
from lukasa.ledger.sqlite.accesses import MOST, Accesses
from lukasa.testing import HashEmbedder


def test_a_write_takes_the_counts_along(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder(16)) as memory:
        memory.add("tea", user_id="ines", infer=False)
        for _ in range(3):
            memory.search("tea", user_id="ines")
        memory.add("coffee", user_id="omar", infer=False)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT accesses FROM memories ORDER BY id").fetchall() == [(3,), (0,)]
    connection.close()


def test_counts_begin_anew_once_they_were_taken() -> None:
    accesses = Accesses()
    accesses.note(["a", "b", "a"])
    assert (accesses.take(), accesses.take()) == ({"a": 2, "b": 1}, {})


def test_what_was_found_longest_ago_is_forgotten_where_nothing_is_written() -> None:
    accesses = Accesses()
    accesses.note(["first", "second"])
    accesses.note(["first"])
    accesses.note(str(n) for n in range(MOST - 1))
    taken = accesses.take()
    assert len(taken) == MOST
    assert taken["first"] == 2
    assert "second" not in taken
