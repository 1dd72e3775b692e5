"""A writing process is killed at random moments: what it was told is stored is there, whole."""

import asyncio
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lukasa import Memory
from lukasa.ledger.sqlite.ledger import SqliteLedger
from lukasa.testing import HashEmbedder

WRITER = """
import os, sys
from lukasa import Memory
from lukasa.testing import HashEmbedder
memory = Memory(sys.argv[1], embedder=HashEmbedder(32))
log = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
n = 0
while True:
    n += 1
    text = f"round {sys.argv[3]} entry {n} " + "padding " * (n % 40)
    one = memory.add(text, user_id="ines", infer=False)["results"][0]["id"]
    if n % 3 == 0:
        text = "changed " + text
        memory.update(one, text)
    if n % 7 == 0:
        memory.delete(one, erase=n % 2 == 0)
        continue
    os.write(log, f"{one}\\t{text}\\n".encode())
"""


def size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def kill_rounds(folder: Path, rounds: int) -> tuple[dict[str, str], Path]:
    """Writers killed one after the other on the same file; what they were told is stored, text by id."""
    path, log = folder / "killed.db", folder / "acknowledged.log"
    dice = random.Random(rounds)
    for number in range(rounds):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(log), str(number)])
        before, deadline = size(log), time.monotonic() + 60
        while size(log) == before and time.monotonic() < deadline:  # however slow the machine starts it
            time.sleep(0.01)
        time.sleep(dice.uniform(0, 0.6))
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return dict(line.split("\t") for line in lines if line.count("\t") == 1), path


def prove(acknowledged: dict[str, str], path: Path) -> None:
    assert len(acknowledged) > 10, "the writers hardly wrote"
    ledger = SqliteLedger(path, model=None)
    assert asyncio.run(ledger.check()).findings == ()
    ledger.close()
    with Memory(path, embedder=HashEmbedder(32)) as memory:
        for one, text in acknowledged.items():
            found = memory.get(one, user_id="ines")
            assert found is not None, f"{one} was acknowledged and is lost"
            assert found["memory"] == text
        for one, text in random.Random(0).sample(sorted(acknowledged.items()), 10):
            hits = memory.search(text, user_id="ines", top_k=50)["results"]
            assert one in [hit["id"] for hit in hits]


def test_four_kills_lose_nothing(tmp_path: Path) -> None:
    prove(*kill_rounds(tmp_path, 4))


@pytest.mark.slow
def test_fifty_kills_lose_nothing(tmp_path: Path) -> None:
    prove(*kill_rounds(tmp_path, 50))
