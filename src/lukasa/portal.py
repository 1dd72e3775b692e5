"""The loop thread behind every sync call, and `door`, which turns an async method into a sync one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from lukasa.runtime import Lock, at_fork

P = ParamSpec("P")
R = TypeVar("R")


class _Portal:
    """One event loop in one daemon thread, shared by all sync objects of the process."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, name="lukasa-loop", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()


_portal: _Portal | None = None
_lock = Lock()
_inherited: list[_Portal] = []


def _current() -> _Portal:
    global _portal
    with _lock:
        if _portal is None:
            _portal = _Portal()
        return _portal


def run(coroutine: Coroutine[Any, Any, R]) -> R:  # pyright: ignore[reportExplicitAny]  # what a coroutine yields is asyncio's own affair
    """What *coroutine* returns, run on the library's loop. Ctrl-C cancels it, then raises."""
    portal = _current()
    if threading.current_thread() is portal.thread:
        coroutine.close()
        raise RuntimeError(
            "a sync Lukasa call was made from inside Lukasa's own event loop (a callback or a custom "
            "embedder); use AsyncMemory there, or in_thread"
        )
    future = asyncio.run_coroutine_threadsafe(coroutine, portal.loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


class _HasAsync(Protocol):
    @property
    def aio(self) -> object: ...


class door(Generic[P, R]):  # noqa: N801  # reads as a keyword where it is used
    """`verb = door(AsyncClass.verb)`: the same call with the same signature, without `await`."""

    def __init__(self, method: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]) -> None:
        self._method = method
        self.__doc__ = method.__doc__
        self.__wrapped__ = method

    @overload
    def __get__(self, instance: None, owner: type) -> door[P, R]: ...
    @overload
    def __get__(self, instance: _HasAsync, owner: type) -> Callable[P, R]: ...
    def __get__(self, instance: _HasAsync | None, owner: type) -> door[P, R] | Callable[P, R]:
        if instance is None:
            return self
        target, method = instance.aio, self._method

        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            return run(method(target, *args, **kwargs))

        call.__doc__ = method.__doc__
        call.__name__ = method.__name__
        call.__wrapped__ = method.__get__(target)  # pyright: ignore[reportFunctionMemberAccess]  # inspect.signature reads it
        return call


def _forget_loop() -> None:
    # The loop's thread does not survive a fork: the child starts anew.
    # The old loop is kept, not collected: closing it would touch what the parent still uses.
    global _portal
    if _portal is not None:
        _inherited.append(_portal)
    _portal = None


at_fork(in_child=_forget_loop)
