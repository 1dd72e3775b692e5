"""Forks of a process whose threads are in the middle of something: neither side hangs, crashes or loses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def script(body: str, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """What a Python program of its own printed and how it ended."""
    return subprocess.run(
        [sys.executable, "-c", body, *arguments], capture_output=True, text=True, timeout=timeout, check=False
    )


_THREADS_THAT_FORK = """
import os, signal, sys, threading
from lukasa import Memory
memory = Memory(sys.argv[1], embedder="hash")
memory.add("The key is red", user_id="ines", infer=False)
failed, done = [], threading.Event()
def write():
    while not done.is_set():
        memory.add("noise", user_id="noise", infer=False)
        memory.search("noise", user_id="noise", limit=3)
def fork():
    for n in range(12):
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # a child that hangs ends all the same
            try:
                if n % 4 == 0:
                    memory.add("of a child", user_id="ines", infer=False)
                os._exit(0 if memory.count(user_id="ines") >= 1 else 7)
            finally:
                os._exit(8)
        status = os.waitpid(child, 0)[1]
        if status:
            failed.append(status)
writers = [threading.Thread(target=write) for _ in range(3)]
forkers = [threading.Thread(target=fork) for _ in range(4)]
for thread in (*writers, *forkers):
    thread.start()
for thread in forkers:
    thread.join()
done.set()
for thread in writers:
    thread.join()
print(memory.count(user_id="ines"), failed)
memory.close()
"""


def test_threads_fork_at_once_while_others_write(path: Path) -> None:
    done = script(_THREADS_THAT_FORK, str(path))
    assert (done.stdout, done.returncode) == ("13 []\n", 0), done.stderr


_A_LOCK_IS_HELD = """
import os, signal, threading
from lukasa.runtime import Lock
held_elsewhere, held_here = Lock(), Lock()
inside, done = threading.Event(), threading.Event()
def hold():
    with held_elsewhere:
        inside.set()
        done.wait()
thread = threading.Thread(target=hold)
thread.start()
inside.wait()
with held_here:
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        with held_elsewhere:
            pass
with held_here:
    pass
if child == 0:
    os._exit(0)
done.set()
thread.join()
with held_elsewhere:
    print(os.waitpid(child, 0)[1])
"""


def test_a_child_finds_the_locks_of_other_threads_free() -> None:
    done = script(_A_LOCK_IS_HELD)
    assert (done.stdout, done.returncode) == ("0\n", 0), done.stderr


_FORKED_AT_THE_FIRST_USE = """
import os, signal, sys, threading, time
from lukasa import Memory
memory = Memory(sys.argv[1], embedder="hash")
thread = threading.Thread(target=lambda: memory.add("of the parent", user_id="ines", infer=False))
thread.start()
time.sleep(float(sys.argv[2]))
child = os.fork()
if child == 0:
    signal.alarm(20)  # a child that hangs ends all the same
    try:
        memory.add("Of the child. " * 300, user_id="ines", infer=False)
        os._exit(0 if memory.search("child", user_id="ines")["results"] else 7)
    finally:
        os._exit(8)
thread.join()
print(os.waitpid(child, 0)[1], memory.count(user_id="ines"))
memory.close()
"""


@pytest.mark.parametrize("delay", [0, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.13, 0.17, 0.25])
def test_a_child_that_was_forked_during_the_first_use_works(path: Path, delay: float) -> None:
    done = script(_FORKED_AT_THE_FIRST_USE, str(path), str(delay))
    assert (done.stdout, done.returncode) == ("0 2\n", 0), done.stderr


_THE_EMBEDDER_FORKS = """
import os, signal, sys
from lukasa import Memory
def embed(texts):
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    return [[1.0, float(len(text))] for text in texts]
signal.alarm(20)
with Memory(sys.argv[1], embedder=embed) as memory:
    memory.add("x", user_id="ines", infer=False)
    print(len(memory.search("x", user_id="ines")["results"]))
"""


def test_an_embedder_may_fork(path: Path) -> None:
    done = script(_THE_EMBEDDER_FORKS, str(path))
    assert (done.stdout, done.returncode) == ("1\n", 0), done.stderr
