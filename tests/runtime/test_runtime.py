"""The ground floor: threads for blocking calls, bounded gathers, one value a loop."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref

import pytest

from lukasa.runtime import PerLoop, gather_bounded, in_thread


class Client:
    """Something bound to the loop that made it, as HTTP clients and locks are."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()


def test_in_thread_runs_elsewhere_and_returns_or_raises() -> None:
    async def main() -> None:
        assert await in_thread(threading.get_ident) != threading.get_ident()
        assert await in_thread(int, "12", base=8) == 10
        with pytest.raises(ValueError, match="invalid literal"):
            await in_thread(int, "x")

    asyncio.run(main())


def test_in_thread_leaves_the_loop_free() -> None:
    async def main() -> int:
        gate, turns = threading.Event(), 0
        task = asyncio.create_task(in_thread(gate.wait, 5))
        for _ in range(50):
            await asyncio.sleep(0)
            turns += 1
        gate.set()
        assert await task
        return turns

    assert asyncio.run(main()) == 50


def test_gather_bounded_keeps_the_order_and_the_limit() -> None:
    running, most = 0, 0

    async def one(n: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001 * (5 - n % 5))
        running -= 1
        return n

    async def main() -> list[int]:
        return await gather_bounded(3, [lambda n=n: one(n) for n in range(12)])

    assert asyncio.run(main()) == list(range(12))
    assert most == 3


def test_gather_bounded_cancels_the_rest_at_the_first_error() -> None:
    ended: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("slow")

    async def fail() -> None:
        await asyncio.sleep(0)
        raise LookupError("mine")

    async def main() -> None:
        with pytest.raises(LookupError, match="mine"):
            await gather_bounded(2, [slow, fail, slow])

    asyncio.run(main())
    assert set(ended) == {"slow"}


def test_a_loop_keeps_its_value_and_another_gets_its_own() -> None:
    clients = PerLoop(Client)

    async def twice() -> Client:
        assert clients.get() is clients.get()
        return clients.get()

    first, second = asyncio.run(twice()), asyncio.run(twice())
    assert first is not second
    assert first.loop is not second.loop


def test_loops_in_threads_at_once_get_values_of_their_own() -> None:
    clients, found = PerLoop(Client), list[Client]()

    async def take() -> None:
        found.append(clients.get())
        await asyncio.sleep(0.05)
        assert clients.get().loop is asyncio.get_running_loop()

    threads = [threading.Thread(target=lambda: asyncio.run(take())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, found))) == 4


def test_a_closed_loop_goes_with_its_value() -> None:
    clients = PerLoop(Client)

    async def take() -> weakref.ref[Client]:
        return weakref.ref(clients.get())

    kept = [asyncio.run(take()) for _ in range(5)]
    asyncio.run(take())  # a new loop is the time to drop what is closed
    gc.collect()
    assert sum(ref() is not None for ref in kept) <= 1


def test_a_value_needs_a_running_loop() -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        PerLoop(Client).get()
