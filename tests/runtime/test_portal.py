"""The door between sync callers and the library's loop: results, errors, Ctrl-C, fork, and the way out."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from lukasa import Memory
from lukasa.portal import door, run
from lukasa.testing import HashEmbedder


class Greeter:
    def __init__(self) -> None:
        self.aio = self

    async def greet(self, name: str, *, loudly: bool = False) -> str:
        """A greeting."""
        await asyncio.sleep(0)
        return name.upper() if loudly else name


class SyncGreeter:
    def __init__(self) -> None:
        self.aio = Greeter()

    greet = door(Greeter.greet)


def script(body: str, *arguments: str, timeout: float = 30) -> subprocess.CompletedProcess[str]:
    """What a Python program of its own printed and how it ended."""
    return subprocess.run(
        [sys.executable, "-c", body, *arguments], capture_output=True, text=True, timeout=timeout, check=False
    )


def test_a_door_calls_with_the_same_arguments() -> None:
    assert SyncGreeter().greet("ines", loudly=True) == "INES"
    assert SyncGreeter().greet.__doc__ == "A greeting."


def test_run_returns_and_raises_what_the_coroutine_does() -> None:
    async def fail() -> None:
        raise LookupError("mine")

    assert run(asyncio.sleep(0, "done")) == "done"
    with pytest.raises(LookupError, match="mine"):
        run(fail())


def test_every_call_runs_on_one_background_loop() -> None:
    async def where() -> tuple[asyncio.AbstractEventLoop, str]:
        return asyncio.get_running_loop(), threading.current_thread().name

    first, name = run(where())
    assert run(where()) == (first, name)
    assert name == "lukasa-loop"


def test_calls_from_many_threads_overlap() -> None:
    begun = time.monotonic()
    threads = [threading.Thread(target=lambda: run(asyncio.sleep(0.1))) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.monotonic() - begun < 0.9


def test_a_call_from_inside_the_loop_raises_and_does_not_hang(path: Path) -> None:
    async def embed(texts: Sequence[str]) -> list[list[float]]:
        memory.count(user_id="ines")
        return [[1.0] for _ in texts]

    memory = Memory(path, embedder=embed)
    with pytest.raises(RuntimeError, match="AsyncMemory"):
        memory.add("x", user_id="ines", infer=False)
    memory.close()


def test_a_sync_embedder_may_use_another_memory(tmp_path: Path) -> None:
    other = Memory(tmp_path / "other.db", embedder=HashEmbedder())

    def embed(texts: list[str]) -> list[list[float]]:
        return [[1.0, float(other.count(user_id="ines"))] for _ in texts]

    with Memory(tmp_path / "one.db", embedder=embed) as memory:
        memory.add("x", user_id="ines", infer=False)
    other.close()


def test_an_interrupted_wait_cancels_the_coroutine() -> None:
    ended = threading.Event()

    async def forever() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            run(forever())
    finally:
        signal.signal(signal.SIGALRM, before)
    assert ended.wait(5)


_INTERRUPTED = """
import sys, time
from lukasa import Memory
def embed(texts):
    return [[1.0] for _ in texts]
async def slow(texts):
    import asyncio
    print("waiting", flush=True)
    try:
        await asyncio.sleep(60)
    finally:
        print("cancelled", flush=True)
    return embed(texts)
memory = Memory(sys.argv[1], embedder=slow)
try:
    memory.add("x", user_id="ines", infer=False)
except KeyboardInterrupt:
    print("interrupted", memory.count(user_id="ines"), flush=True)
"""


def test_ctrl_c_cancels_raises_and_the_process_ends(path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _INTERRUPTED, str(path)], stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=10)
    assert sorted(out.split("\n")) == ["", "cancelled", "interrupted 0"]
    assert process.returncode == 0


_UNCLOSED = """
import sys
from lukasa import Memory
memory = Memory(sys.argv[1], embedder="hash")
memory.add("The key is red", user_id="ines", infer=False)
print(len(memory.search("key", user_id="ines")["results"]))
{last}
"""


@pytest.mark.parametrize(
    ("last", "code"), [("", 0), ("sys.exit(3)", 3), ("raise LookupError", 1), ("memory.close()", 0)]
)
def test_a_process_that_forgets_to_close_ends(path: Path, last: str, code: int) -> None:
    done = script(_UNCLOSED.format(last=last), str(path), timeout=10)
    assert (done.stdout, done.returncode) == ("1\n", code)
    assert "Warning" not in done.stderr
    assert done.stderr == "" or "LookupError" in done.stderr


def test_a_program_may_use_memory_in_an_exit_handler_or_is_told(path: Path) -> None:
    body = _UNCLOSED.format(last="import atexit; atexit.register(lambda: print(memory.close()))")
    done = script(body, str(path), timeout=10)
    assert done.stdout == "1\nNone\n", done.stderr


_FORKED = """
import os, signal, sys, threading
from lukasa import Memory
memory = Memory(sys.argv[1], embedder="hash")
memory.add("The key is red", user_id="ines", infer=False)
memory.search("key", user_id="ines")
if sys.argv[2] == "busy":
    def work():
        while True:
            memory.add("noise", user_id="noise", infer=False)
            memory.search("noise", user_id="noise")
    for _ in range(2):
        threading.Thread(target=work, daemon=True).start()
for n in range(int(sys.argv[3])):
    child = os.fork()
    if child == 0:
        signal.alarm(10)  # a child that hangs ends all the same
        memory.add(f"The key of child {n}", user_id="ines", infer=False)
        texts = {hit["memory"] for hit in memory.search("key", user_id="ines")["results"]}
        os._exit(0 if {"The key is red", f"The key of child {n}"} <= texts else 7)
    memory.add(f"The key of parent {n}", user_id="ines", infer=False)
    status = os.waitpid(child, 0)[1]
    assert status == 0, status
found = memory.search("key", user_id="ines", limit=100)["results"]
print(memory.count(user_id="ines"), len(found), flush=True)
if sys.argv[2] == "busy":
    os._exit(0)
memory.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("how", ["quiet", "busy"])
def test_parent_and_child_both_work_after_a_fork(path: Path, how: str) -> None:
    done = script(_FORKED, str(path), how, "5", timeout=15)
    assert (done.stdout, done.returncode) == ("11 11\n", 0), done.stderr


_FORKED_BEFORE_USE = """
import os, sys
from lukasa import Memory
memory = Memory(sys.argv[1], embedder="hash")
child = os.fork()
memory.add("x", user_id="ines", infer=False)
if child == 0:
    sys.exit(0)  # the whole way out: exit handlers, threads, finalizers
assert os.waitpid(child, 0)[1] == 0
grandchild = os.fork()
if grandchild == 0:
    memory.add("y", user_id="ines", infer=False)
    memory.close()
    sys.exit(0)
assert os.waitpid(grandchild, 0)[1] == 0
memory.add("z", user_id="ines", infer=False)
print(memory.count(user_id="ines"))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_that_closes_or_exits_normally_harms_nobody(path: Path) -> None:
    done = script(_FORKED_BEFORE_USE, str(path), timeout=30)
    assert (done.stdout, done.returncode) == ("4\n", 0), done.stderr


_PARENT_CLOSES = """
import os, sys
from lukasa import Memory
memory = Memory(sys.argv[1], embedder="hash")
memory.add("of the parent", user_id="ines", infer=False)
go, written = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    memory.add("of the child", user_id="ines", infer=False)
    os.write(written[1], b"1")
    os.read(go[0], 1)
    memory.add("of the child, later", user_id="ines", infer=False)
    os._exit(0)
os.read(written[0], 1)
memory.close()
os.write(go[1], b"1")
assert os.waitpid(child, 0)[1] == 0
with Memory(sys.argv[1], embedder="hash") as again:
    print(*[item["memory"] for item in again.get_all(user_id="ines")["results"]], sep="|")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_what_a_forked_child_writes_after_its_parent_closed_is_kept(path: Path) -> None:
    done = script(_PARENT_CLOSES, str(path), timeout=30)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "of the child, later|of the child|of the parent\n"
