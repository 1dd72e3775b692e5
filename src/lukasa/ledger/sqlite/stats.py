"""How much a ledger holds."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import cast

from lukasa.ledger.base import Stats
from lukasa.ledger.sqlite.rows import space_key
from lukasa.ledger.sqlite.schema import vector_key


def stats(connection: sqlite3.Connection, path: Path, space: str) -> Stats:
    """The numbers of one space, and of the file that holds it."""
    key = space_key(connection, space)

    def counts(statement: str) -> dict[str, int]:
        return dict(cast("list[tuple[str, int]]", connection.execute(statement, (key,)).fetchall()))

    states = counts("SELECT state, count(*) FROM memories WHERE space = ? GROUP BY state ORDER BY state")
    episodes = counts("SELECT 'episodes', count(*) FROM episodes WHERE space = ?")
    messages = counts(
        "SELECT 'messages', count(*) FROM messages g JOIN episodes e ON e.id = g.episode WHERE e.space = ?"
    )
    turns = counts(
        "SELECT 'turns', count(*) FROM items i JOIN messages g ON g.id = i.message"
        " JOIN episodes e ON e.id = g.episode WHERE i.state = 1 AND e.space = ?"
    )
    scopes = counts("SELECT kind, count(*) FROM scopes WHERE space = ? GROUP BY kind ORDER BY kind")
    return Stats(
        space=space,
        memories=states.get("active", 0),
        states=states,
        episodes=episodes["episodes"],
        messages=messages["messages"],
        turns=turns["turns"],
        scopes=scopes,
        models=_models(connection),
        schema=connection.execute("PRAGMA user_version").fetchone()[0],
        path=str(path),
        file_bytes=path.stat().st_size,
        log_bytes=_size(path.with_name(path.name + "-wal")),
    )


def _models(connection: sqlite3.Connection) -> dict[str, str]:
    shown: dict[str, str] = {}
    for slot, name, dim, state in connection.execute("SELECT slot, name, dim, state FROM models").fetchall():
        vectors = connection.execute(
            "SELECT count(*) FROM vectors WHERE key >= ? AND key < ?", slot_range(slot)
        ).fetchone()[0]
        shown[name] = f"{state}, {vectors} vectors of {dim}"
    return shown


def slot_range(slot: int) -> tuple[int, int]:
    """First key of a slot's vectors, and the first one behind them (the last slot ends with the integers)."""
    return vector_key(slot, 0, 0), min(vector_key(slot, 0, 0) + (1 << 58), (1 << 63) - 1)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
