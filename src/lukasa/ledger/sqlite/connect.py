"""Connections to one SQLite file: one writing thread, a few reading ones, and what a fork does to them."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from lukasa.errors import LedgerBusy, LedgerCorrupt, LedgerError, LedgerUnavailable, LukasaError
from lukasa.runtime import Lock, at_fork, in_executor, unforked

P = ParamSpec("P")
T = TypeVar("T")

READERS = 4
BUSY_SECONDS = 60.0

Prepare = Callable[[sqlite3.Connection], None]


class Connections:
    """Runs functions on connections of its own threads: `read` in a snapshot, `write` in a transaction.

    Writes of one process queue up in one thread, so that they wait for each other in order instead of
    polling SQLite's lock; other processes are waited for up to `BUSY_SECONDS`.
    """

    def __init__(
        self, path: Path, *, prepare: Prepare, initialise: Prepare, on_fork: Callable[[], None]
    ) -> None:
        self.path = path
        self._prepare = prepare
        self._initialise = initialise
        self._on_fork = on_fork
        self._closed = False
        self._start()
        with unforked():  # a fork goes through the set
            _alive.add(self)

    def _start(self) -> None:
        self._ready = False
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._finalizer = weakref.finalize(self, _close_all, self._open)
        self._writer: ThreadPoolExecutor | None = None
        self._readers: ThreadPoolExecutor | None = None
        self._lock = Lock()

    async def read(
        self, function: Callable[Concatenate[sqlite3.Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What *function* makes of one consistent snapshot of the file."""
        if not self._ready:
            await self.write(_nothing)
        return await self._in(self._pool(writing=False), "BEGIN", function, *args, **kwargs)

    async def write(
        self, function: Callable[Concatenate[sqlite3.Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What *function* returns, after its changes were committed; an exception leaves no trace of them."""
        return await self._in(self._pool(writing=True), "BEGIN IMMEDIATE", function, *args, **kwargs)

    async def outside(
        self, function: Callable[Concatenate[sqlite3.Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What *function* returns, run by the writing thread with no transaction open (checkpoints)."""
        if not self._ready:
            await self.write(_nothing)
        return await self._in(self._pool(writing=True), "", function, *args, **kwargs)

    async def _in(
        self,
        pool: ThreadPoolExecutor,
        begin: str,
        function: Callable[Concatenate[sqlite3.Connection, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        try:
            return await in_executor(pool, self._run, begin, function, *args, **kwargs)
        except RuntimeError as error:
            if self._closed and not isinstance(error, LukasaError):  # closed before the work could begin
                raise LedgerUnavailable(f"{self.path} was closed; open a new Memory") from error
            raise

    def _pool(self, *, writing: bool) -> ThreadPoolExecutor:
        with self._lock:
            if self._closed:
                raise LedgerUnavailable(f"{self.path} was closed; open a new Memory")
            if writing:
                self._writer = self._writer or ThreadPoolExecutor(1, "lukasa-write")
                return self._writer
            self._readers = self._readers or ThreadPoolExecutor(READERS, "lukasa-read")
            return self._readers

    def _run(
        self,
        begin: str,
        function: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        with unforked(), translated(self.path):
            if self._closed:
                raise LedgerUnavailable(f"{self.path} was closed; open a new Memory")
            connection = self._connection()
            if not self._ready:  # only the writing thread comes here first
                with transaction(connection, "BEGIN IMMEDIATE"):
                    self._initialise(connection)
                self._ready = True
            if not begin:
                return function(connection, *args, **kwargs)
            with transaction(connection, begin):
                return function(connection, *args, **kwargs)

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = connect(self.path)
            with self._lock:
                self._open.append(connection)
            self._prepare(connection)
        return connection

    def close(self) -> None:
        """End the threads after the work they hold, then close their connections. Safe to call twice."""
        with self._lock:
            self._closed = True
            pools = [pool for pool in (self._writer, self._readers) if pool is not None]
        for pool in pools:
            pool.shutdown(wait=True)
        self._finalizer()

    def before_fork(self) -> None:
        """Close every connection; each thread opens a new one when it is needed again.

        SQLite keeps in memory which locks its process holds. A child that inherited this would believe in
        locks that it does not have, and lose what it writes: https://www.sqlite.org/howtocorrupt.html
        """
        _close_all(self._open)
        self._local = threading.local()

    def after_fork(self) -> None:
        """In a forked child, where the parent's threads do not exist: start anew."""
        self._finalizer.detach()
        _inherited.append((self._writer, self._readers))
        self._start()
        self._on_fork()


_alive: weakref.WeakSet[Connections] = weakref.WeakSet()
_inherited: list[object] = []  # the parent's executors: collecting them would wait for their threads
_creating = Lock()


def _before_fork() -> None:
    for connections in list(_alive):
        connections.before_fork()


def _after_fork() -> None:
    for connections in list(_alive):
        connections.after_fork()


at_fork(before=_before_fork, in_child=_after_fork)


def _nothing(_connection: sqlite3.Connection) -> None:
    return None


def _close_all(connections: list[sqlite3.Connection]) -> None:
    with unforked():
        while connections:
            connections.pop().close()


def connect(path: Path) -> sqlite3.Connection:
    """A connection as every part of the ledger expects it; makes the file (readable by its owner alone)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _create(path)
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    _to_wal(connection)
    for pragma in (
        "synchronous = FULL",
        "foreign_keys = ON",
        "secure_delete = ON",
        "temp_store = MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _create(path: Path) -> None:
    """Make the file where there is none; never open one that is there.

    Closing any descriptor of a file drops every lock that the process holds on it, SQLite's too, and another
    process may then delete the log that is being written: https://www.sqlite.org/howtocorrupt.html, 2.2.
    """
    with _creating:  # nor may a second thread lock the new file before this descriptor is closed
        if not path.exists():
            with suppress(FileExistsError):  # another process was faster
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _to_wal(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log: the one statement for which SQLite does not wait by itself."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


@contextmanager
def transaction(connection: sqlite3.Connection, begin: str) -> Generator[None]:
    """Everything inside, or nothing."""
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


_ERRORS: dict[int, tuple[type[LedgerError], str]] = {
    sqlite3.SQLITE_BUSY: (LedgerBusy, "another process holds the write lock; try again"),
    sqlite3.SQLITE_LOCKED: (LedgerBusy, "another connection holds a lock; try again"),
    sqlite3.SQLITE_FULL: (LedgerUnavailable, "the disk is full; nothing was written: make room, then repeat"),
    sqlite3.SQLITE_READONLY: (LedgerUnavailable, "the file cannot be written; check its permissions"),
    sqlite3.SQLITE_CANTOPEN: (LedgerUnavailable, "the file cannot be opened; check the path"),
    sqlite3.SQLITE_PERM: (LedgerUnavailable, "the file may not be used; check its permissions"),
    sqlite3.SQLITE_IOERR: (LedgerUnavailable, "the disk reports an error; nothing was half-written"),
    sqlite3.SQLITE_NOTADB: (LedgerCorrupt, "not a database; give another path"),
    sqlite3.SQLITE_CORRUPT: (LedgerCorrupt, "the file is damaged; restore it from a copy or an export"),
}


@contextmanager
def translated(path: Path) -> Generator[None]:
    """SQLite's and the system's errors as Lukasa's, with what to do; anything unexpected passes unchanged."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        kind = _ERRORS.get(code & 0xFF) if isinstance(code, int) else None
        if kind is None:
            raise
        raise kind[0](f"{path}: {kind[1]} ({error})") from error
    except LedgerError as error:
        if str(path) in str(error):
            raise
        raise type(error)(f"{path}: {error}") from error
    except OSError as error:
        raise LedgerUnavailable(f"{path}: {error.strerror}; check the path and its permissions") from error
