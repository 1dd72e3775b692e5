"""Threads and processes on one file: every request once, every reader a consistent view."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from lukasa import Memory
from lukasa.testing import HashEmbedder

TEXTS = 200

_ADD_ALL = f"""
import json, sys, threading
from concurrent.futures import ThreadPoolExecutor
from lukasa import Memory
path, threads, start = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
memory = Memory(path, embedder="hash")
memory.aio.house  # what takes long is done before the start
def add(n):
    n = (n + start) % {TEXTS}
    return n, memory.add(f"text {{n}}", user_id="ines", idempotency_key=f"key {{n}}", infer=False)
print("ready", flush=True)
sys.stdin.readline()
with ThreadPoolExecutor(threads) as pool:
    receipts = dict(pool.map(add, range({TEXTS})))
memory.close()
print(json.dumps(receipts), flush=True)
"""


def processes(path: Path, count: int, threads: int) -> list[dict[str, object]]:
    """The receipts of *count* processes that all start adding at the same moment."""
    with ExitStack() as stack:
        running = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", _ADD_ALL, str(path), str(threads), str(n * 7)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for n in range(count)
        ]
        for process in running:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in running:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        done = [process.communicate(timeout=60) for process in running]
    assert [(process.returncode, err) for process, (_, err) in zip(running, done, strict=True)] == [
        (0, "")
    ] * count
    return [json.loads(out) for out, _ in done]


def holds_each_once(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder()) as memory:
        listed = memory.get_all(user_id="ines", limit=1000)["results"]
        assert sorted(item["memory"] for item in listed) == sorted(f"text {n}" for n in range(TEXTS))
        episodes = {memory.why(item["id"])["sources"][0]["episode_id"] for item in listed}
        assert len(episodes) == TEXTS
        found = memory.search("text 17", user_id="ines", threshold=0, limit=1000)["results"]
        assert {hit["id"] for hit in found} == {item["id"] for item in listed}


def test_four_processes_with_the_same_keys_store_each_text_once(path: Path) -> None:
    receipts = processes(path, 4, 2)
    assert all(one == receipts[0] for one in receipts)
    assert len(receipts[0]) == TEXTS
    holds_each_once(path)


def test_eight_threads_with_the_same_keys_store_each_text_once(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder()) as memory:
        gate = threading.Barrier(8)

        def add_all(start: int) -> dict[int, Mapping[str, object]]:
            gate.wait(10)
            order = [(n + start * 25) % TEXTS for n in range(TEXTS)]
            return {
                n: memory.add(f"text {n}", user_id="ines", idempotency_key=f"key {n}", infer=False)
                for n in order
            }

        with ThreadPoolExecutor(8) as pool:
            receipts = list(pool.map(add_all, range(8)))
    assert all(one == receipts[0] for one in receipts)
    holds_each_once(path)


def test_eight_instances_in_one_process_make_the_file_together(tmp_path: Path) -> None:
    for n in range(5):
        path = tmp_path / f"{n}.db"
        with ExitStack() as stack, ThreadPoolExecutor(8) as pool:
            memories = [stack.enter_context(Memory(path, embedder=HashEmbedder())) for _ in range(8)]

            def add(memory: Memory) -> object:
                return memory.add("x", user_id="ines", infer=False)

            list(pool.map(add, memories))
            assert {memory.count(user_id="ines") for memory in memories} == {8}


def test_a_file_is_made_once_however_many_processes_come_first(tmp_path: Path) -> None:
    for n in range(3):
        receipts = processes(tmp_path / f"{n}.db", 4, 1)
        assert all(one == receipts[0] for one in receipts)


def while_writing(work: threading.Thread) -> Iterator[int]:
    """Counts until the writer is done."""
    work.start()
    n = 0
    while work.is_alive():
        yield n
        n += 1
    work.join()


def test_a_search_finds_a_memory_at_every_moment_while_it_is_updated(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder(32)) as memory, ThreadPoolExecutor(3) as pool:
        one = memory.add("the key 0", user_id="ines", infer=False)["results"][0]["id"]
        for n in range(20):
            memory.add(f"the bike {n}", user_id="ines", infer=False)

        def write() -> None:
            for n in range(150):
                memory.update(one, f"the key {n}")

        writing = threading.Thread(target=write)
        counts: list[list[str]] = []

        def read() -> None:
            while writing.is_alive():
                found = memory.search("key", user_id="ines", threshold=0.2)["results"]
                counts.append([hit["id"] for hit in found if hit["id"] == one])

        writing.start()
        for reader in [pool.submit(read) for _ in range(3)]:
            reader.result(60)
        writing.join()
    missed = sum(ids != [one] for ids in counts)
    assert missed == 0, f"{missed} of {len(counts)} searches did not find it"


def test_readers_see_whole_calls_only_and_never_fewer_than_before(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder(32)) as memory, Memory(path, embedder=HashEmbedder(32)) as other:
        memory.add(["left 0", "right 0"], user_id="ines", infer=False)

        def write() -> None:
            for n in range(1, 100):
                memory.add([f"left {n}", f"right {n}"], user_id="ines", infer=False)

        last = 0
        for n in while_writing(threading.Thread(target=write)):
            reader = (memory, other)[n % 2]
            seen = reader.count(user_id="ines")
            assert seen % 2 == 0
            assert seen >= last
            listed = [item["memory"] for item in reader.get_all(user_id="ines", limit=1000)["results"]]
            assert len(listed) == 2 * sum(text.startswith("left") for text in listed)
            found = reader.search("left right", user_id="ines", threshold=0, limit=1000)["results"]
            assert len(found) >= len(listed)
            last = seen


def test_erasing_while_others_search_never_fails(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder(32)) as memory, Memory(path, embedder=HashEmbedder(32)) as other:

        def write() -> None:
            for n in range(25):
                memory.add([f"the key {n}", f"the bike {n}"], user_id="ines", infer=False)
                memory.add("the key of bo", user_id="bo", infer=False)
                memory.delete_all(user_id=("ines", "bo")[n % 2], erase=True)

        for n in while_writing(threading.Thread(target=write)):
            found = (memory, other)[n % 2].search("key", user_id="ines", threshold=0)["results"]
            assert all(hit.get("user_id") == "ines" for hit in found)
