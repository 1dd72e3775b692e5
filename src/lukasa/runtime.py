"""The ground floor: blocking calls in threads, bounded concurrency, one client a loop, locks and forks."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Generic, ParamSpec, TypeVar
from weakref import WeakKeyDictionary, WeakSet

P = ParamSpec("P")
T = TypeVar("T")

_pool: ThreadPoolExecutor | None = None


async def in_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """What *function* returns, run in one of the library's own threads: the event loop never blocks."""
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(max_workers=min(8, (os.cpu_count() or 1) + 4), thread_name_prefix="lukasa")
    return await in_executor(_pool, function, *args, **kwargs)


async def in_executor(pool: Executor, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """What *function* returns, run in *pool*. A cancelled wait does not undo work that has begun."""
    try:
        running = asyncio.get_running_loop().run_in_executor(pool, partial(function, *args, **kwargs))
    except RuntimeError:
        if threading.main_thread().is_alive():
            raise
        # The interpreter is on its way out and starts no more threads; exit handlers may still call.
        return function(*args, **kwargs)
    return await running


async def gather_bounded(limit: int, work: Iterable[Callable[[], Awaitable[T]]]) -> list[T]:
    """All results in order, at most *limit* at a time; the first error cancels the rest and is raised."""
    gate = asyncio.Semaphore(limit)

    async def one(call: Callable[[], Awaitable[T]]) -> T:
        async with gate:
            return await call()

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(call)) for call in work]
    except BaseExceptionGroup as errors:
        first = errors.exceptions[0]  # callers catch EmbeddingError, not a group of them
        raise first from first.__cause__
    return [task.result() for task in tasks]


class PerLoop(Generic[T]):
    """One value an event loop: clients and locks are bound to the loop that made them.

    A value goes when its loop does; a closed loop's value is never handed out again.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._values: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()

    def get(self) -> T:
        """The running loop's value, made at first use."""
        loop = asyncio.get_running_loop()
        try:
            return self._values[loop]
        except KeyError:
            # A value may hold its loop, and then neither would ever go.
            for closed in [known for known in self._values if known.is_closed()]:
                del self._values[closed]
            value = self._values[loop] = self._make()
            return value


class Lock:
    """A lock that a forked child finds free: the thread that held it in the parent is not there to let go.

    What it guards must therefore be whole, or be made anew, wherever the holder was broken off.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner: int | None = None
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.__enter__()
        self._owner = threading.get_ident()

    def __exit__(self, *_: object) -> None:
        self._owner = None
        self._lock.release()

    def renew(self) -> None:
        """In a forked child: be free, unless the thread that forked is the one inside."""
        if self._owner != threading.get_ident():
            self._lock = threading.Lock()


_locks: WeakSet[Lock] = WeakSet()


class _Gate:
    """Holds a fork until no other thread is inside; one fork at a time."""

    def __init__(self) -> None:
        self._state = threading.Condition()
        self._inside: Counter[int] = Counter()  # by thread: who is inside may come in again
        self._forking: int | None = None  # the thread that forks

    @contextmanager
    def passing(self) -> Generator[None]:
        """Be inside; waits while another thread forks."""
        me = threading.get_ident()
        with self._state:
            if me not in self._inside:
                self._state.wait_for(lambda: self._forking in (None, me))
            self._inside[me] += 1
        try:
            yield
        finally:
            with self._state:
                self._inside[me] -= 1
                if not self._inside[me]:
                    del self._inside[me]
                self._state.notify_all()

    def close(self) -> None:
        """Wait until nobody else is inside or forks, and let nobody in."""
        me = threading.get_ident()
        with self._state:
            self._state.wait_for(lambda: self._forking is None)
            self._forking = me
            self._state.wait_for(lambda: self._inside.keys() <= {me})

    def open(self) -> None:
        """Let everybody in again."""
        with self._state:
            self._forking = None
            self._state.notify_all()


_gate = _Gate()
_before: list[Callable[[], None]] = []
_in_child: list[Callable[[], None]] = []


def unforked() -> AbstractContextManager[None]:
    """Inside, no other thread forks: locks of SQLite and of an import would stay locked in the child.

    Come here before taking a `Lock` that others take inside, never after: a fork waits for whoever is here.
    """
    return _gate.passing()


def at_fork(*, before: Callable[[], None] | None = None, in_child: Callable[[], None]) -> None:
    """Have *before* called when a process is about to fork and nobody is inside, *in_child* in the child."""
    if before is not None:
        _before.append(before)
    _in_child.append(in_child)


def _before_fork() -> None:
    _gate.close()
    for call in _before:
        call()


def _after_fork() -> None:
    global _gate, _pool
    _gate = _Gate()
    _pool = None  # threads do not survive a fork
    for lock in list(_locks):
        lock.renew()
    for call in _in_child:
        call()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=lambda: _gate.open(), after_in_child=_after_fork)
