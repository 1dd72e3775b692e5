"""The ground floor of async code: blocking calls in threads, bounded concurrency, one client a loop."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Generic, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

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


def _forget_threads() -> None:
    # Threads do not survive a fork: the child starts with a pool of its own.
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
