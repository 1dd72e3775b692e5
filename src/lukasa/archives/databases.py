"""SQLite files of others: only read, never changed, whatever they were left in."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from lukasa.errors import InputError

MAGIC = b"SQLite format 3\x00"


@contextmanager
def opened(path: Path) -> Generator[sqlite3.Connection]:
    """A connection that cannot write. Raises `InputError` for what is no database, also while it is read."""
    try:
        with closing(_connect(path)) as connection:
            # Names of views and triggers in a file of others must not call functions with effects.
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.text_factory = _text
            yield connection
    except sqlite3.Error as error:
        raise InputError(
            f"{path}: cannot be read as SQLite: {error}; close what writes it, or copy it"
        ) from error


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with path.open("rb") as file:
        logged = file.read(19)[18:] == b"\x02"
    if logged and not path.with_name(f"{path.name}-wal").exists():
        # Nobody has it open. In WAL mode even a reader makes files beside it, which it then cannot remove.
        uri += "&immutable=1"
    return _checked(sqlite3.connect(uri, uri=True))


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _checked(connection: sqlite3.Connection) -> sqlite3.Connection:
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def is_database(path: Path) -> bool:
    """Whether the file begins as SQLite's do."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def tables(connection: sqlite3.Connection) -> frozenset[str]:
    """The names of its tables."""
    return frozenset(
        str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    )


def columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """The names of a table's columns."""
    return frozenset(
        str(row[0]) for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    )
