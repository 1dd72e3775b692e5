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
