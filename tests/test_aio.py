"""The async face: many tasks, loops and threads on one object, cancellation, and the same signatures."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest

from lukasa import AsyncMemory, Memory
from lukasa.errors import LedgerUnavailable, LukasaError
from lukasa.testing import HashEmbedder

VERBS = [
    "add",
    "update",
    "delete",
    "delete_all",
    "reset",
    "search",
    "get",
    "get_all",
    "count",
    "history",
    "why",
]


async def use(memory: AsyncMemory, user: str) -> list[str]:
    """One user's day: add, search, update, delete, list."""
    one = (await memory.add(f"The key of {user} is red", user_id=user, infer=False))["results"][0]["id"]
    two = (await memory.add(f"The bike of {user} is blue", user_id=user, infer=False))["results"][0]["id"]
    assert len((await memory.search("key bike", user_id=user, threshold=0))["results"]) == 2
    await memory.update(one, f"The key of {user} is lost")
    await memory.delete(two)
    return [item["memory"] for item in (await memory.get_all(user_id=user))["results"]]


def test_many_tasks_share_one_memory(path: Path) -> None:
    async def main() -> None:
        async with AsyncMemory(path, embedder=HashEmbedder()) as memory:
            days = await asyncio.gather(*(use(memory, f"u{n}") for n in range(20)))
            assert days == [[f"The key of u{n} is lost"] for n in range(20)]
            assert await memory.count(all_scopes=True) == 20

    asyncio.run(main())


def test_parallel_updates_of_one_memory_all_take_their_turn(path: Path) -> None:
    async def main() -> None:
        async with AsyncMemory(path, embedder=HashEmbedder()) as memory:
            one = (await memory.add("v", user_id="ines", infer=False))["results"][0]["id"]
            await asyncio.gather(*(memory.update(one, metadata={f"k{n}": n}) for n in range(8)))
            item = await memory.get(one)
            assert item is not None
            assert item["metadata"] == {f"k{n}": n for n in range(8)}
            assert item["version"] == 9

    asyncio.run(main())


def test_one_memory_serves_loops_that_follow_each_other(path: Path) -> None:
    memory = AsyncMemory(path, embedder=HashEmbedder())
    for n in range(3):
        assert asyncio.run(use(memory, f"u{n}")) == [f"The key of u{n} is lost"]
    assert asyncio.run(memory.count(all_scopes=True)) == 3
    asyncio.run(memory.aclose())


def test_one_memory_serves_loops_in_several_threads_at_once(path: Path) -> None:
    memory = AsyncMemory(path, embedder=HashEmbedder())
    with ThreadPoolExecutor(4) as pool:

        def one(n: int) -> list[str]:
            return asyncio.run(use(memory, f"u{n}"))

        days = list(pool.map(one, range(12)))
    assert days == [[f"The key of u{n} is lost"] for n in range(12)]
    asyncio.run(memory.aclose())


def test_sync_and_async_faces_may_be_mixed(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder()) as memory:
        memory.add("The key is red", user_id="ines", infer=False)
        found = asyncio.run(memory.aio.search("key", user_id="ines"))["results"]
        assert [hit["memory"] for hit in found] == ["The key is red"]


def test_the_sync_face_works_inside_a_running_loop(path: Path) -> None:
    async def main() -> int:
        with Memory(path, embedder=HashEmbedder()) as memory:
            memory.add("The key is red", user_id="ines", infer=False)
            return len(memory.search("key", user_id="ines")["results"])

    assert asyncio.run(main()) == 1


def test_sync_calls_from_many_threads_are_all_done(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder()) as memory, ThreadPoolExecutor(8) as pool:

        def add(n: int) -> str:
            return memory.add(f"note {n}", user_id="ines", infer=False)["results"][0]["id"]

        ids = list(pool.map(add, range(64)))
        assert len(set(ids)) == memory.count(user_id="ines") == 64


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5, 8])
def test_a_cancelled_add_is_there_whole_or_not_at_all(path: Path, steps: int) -> None:
    chat = [{"role": "user", "content": "first half"}, {"role": "user", "content": "second half"}]

    async def main() -> None:
        async with AsyncMemory(path, embedder=HashEmbedder()) as memory:
            await memory.count(all_scopes=True)
            task = asyncio.create_task(memory.add(chat, user_id="ines", infer=False))
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await memory.add("afterwards", user_id="bo", infer=False)  # the writer's queue is empty again
            ids = [item["id"] for item in (await memory.get_all(user_id="ines"))["results"]]
            assert len(ids) in (0, 2)
            assert len((await memory.search("half", user_id="ines"))["results"]) == len(ids)
            for one in ids:
                assert len((await memory.why(one))["sources"]) == 1

    asyncio.run(main())


def test_a_cancelled_call_lets_the_next_one_pass(path: Path) -> None:
    async def main() -> None:
        async with AsyncMemory(path, embedder=HashEmbedder()) as memory:
            for n in range(20):
                task = asyncio.create_task(memory.add(f"note {n}", user_id="ines", infer=False))
                await asyncio.sleep(n / 4000)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            await memory.add("last", user_id="ines", infer=False)
            listed = (await memory.get_all(user_id="ines", limit=100))["results"]
            found = (await memory.search("note last", user_id="ines", threshold=0, limit=100))["results"]
            assert {item["id"] for item in listed} == {item["id"] for item in found}

    asyncio.run(main())


def test_an_async_function_as_embedder_runs_on_the_callers_loop(path: Path) -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def embed(texts: Sequence[str]) -> list[list[float]]:
        loops.append(asyncio.get_running_loop())
        return [[1.0, float(len(text))] for text in texts]

    async def main() -> None:
        async with AsyncMemory(path, embedder=embed) as memory:
            await memory.add("x", user_id="ines", infer=False)
            assert loops == [asyncio.get_running_loop()]

    asyncio.run(main())


def test_closing_while_others_work_ends_their_calls_with_a_result_or_a_lukasa_error(path: Path) -> None:
    async def main() -> None:
        memory = AsyncMemory(path, embedder=HashEmbedder())
        await memory.add("x", user_id="ines", infer=False)
        work: list[asyncio.Task[object]] = []
        for n in range(10):
            work.append(asyncio.create_task(memory.add(f"note {n}", user_id="ines", infer=False)))
            work.append(asyncio.create_task(memory.search("note", user_id="ines")))
        await asyncio.sleep(0.002)
        await memory.aclose()
        for result in await asyncio.gather(*work, return_exceptions=True):
            assert not isinstance(result, BaseException) or isinstance(result, LukasaError), result
        with pytest.raises(LedgerUnavailable):
            await memory.count(user_id="ines")

    asyncio.run(main())


def test_closing_from_another_thread_gives_a_lukasa_error_and_nothing_else(tmp_path: Path) -> None:
    wrong: list[BaseException] = []

    def work(memory: Memory) -> None:
        try:
            while True:
                memory.count(user_id="ines")
        except LedgerUnavailable:
            return
        except BaseException as error:  # noqa: BLE001  # it is looked at below
            wrong.append(error)

    for n in range(15):
        memory = Memory(tmp_path / f"{n}.db", embedder=HashEmbedder())
        memory.add("x", user_id="ines", infer=False)
        threads = [threading.Thread(target=work, args=(memory,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        memory.close()
        for thread in threads:
            thread.join(10)
    assert wrong == []


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_has_one_signature_in_both_faces(verb: str, path: Path) -> None:
    memory = Memory(path)
    ours = inspect.signature(cast("Callable[..., object]", getattr(memory, verb)))
    theirs = inspect.signature(
        cast("Callable[..., Coroutine[object, object, object]]", getattr(memory.aio, verb))
    )
    assert ours == theirs
    assert getattr(memory, verb).__doc__ == getattr(AsyncMemory, verb).__doc__
    assert getattr(memory, verb).__name__ == verb


def test_the_two_constructors_are_the_same() -> None:
    assert inspect.signature(Memory) == inspect.signature(AsyncMemory)
    assert inspect.signature(Memory.from_config) == inspect.signature(AsyncMemory.from_config)
