"""A writing process is killed at random moments: what it was told is stored is there, whole."""

import asyncio
import random
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import pytest

from lukasa import Memory
from lukasa.ledger.base import View
from lukasa.ledger.sqlite.ledger import SqliteLedger
from lukasa.testing import HashEmbedder
from lukasa.types import Scope

INES = View(Scope(user_id="ines"), date(2026, 1, 1))
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


SUPERSEDER = """
import asyncio, os, sys
from datetime import UTC, datetime
from pathlib import Path
from lukasa.ledger.base import Plan, View
from lukasa.ledger.base import View
from lukasa.ledger.sqlite.ledger import SqliteLedger
from lukasa.types import Add, Episode, Fact, Message, Scope, Source, Supersede

async def main():
    ines, now = Scope(user_id="ines"), datetime.now(UTC)
    ledger, view = SqliteLedger(Path(sys.argv[1]), model=None), View(ines, now.date())
    log = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while True:
        known = (await ledger.page(view, limit=100)).records
        generation = max([int(one.text.split()[1]) for one in known], default=0) + 1
        texts = [f"generation {generation} of fact {n}" for n in range(30)]
        adds = [Add(Fact(text, (Source(n, 0, 9, "user"),), ines, {}), None) for n, text in enumerate(texts)]
        ends = [Supersede(one.id, one.version, by=n % 30) for n, one in enumerate(known)]
        said = Episode(ines, tuple(Message("user", text) for text in texts))
        basis = (await ledger.neighbours(view, [], [])).basis
        plan = Plan((*adds, *ends), said, basis=basis, index_turns=True)
        await ledger.apply(plan, scope=ines, now=now, receipt=lambda _: {})
        os.write(log, f"{generation}\\n".encode())

asyncio.run(main())
"""


def size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def kill_rounds(folder: Path, rounds: int, script: str = WRITER) -> tuple[list[str], Path]:
    """Writers killed one after the other on the same file; the lines of what they were told is stored."""
    path, log = folder / "killed.db", folder / "acknowledged.log"
    dice = random.Random(rounds)
    for number in range(rounds):
        writer = subprocess.Popen([sys.executable, "-c", script, str(path), str(log), str(number)])
        before, deadline = size(log), time.monotonic() + 60
        while size(log) == before and time.monotonic() < deadline:  # however slow the machine starts it
            time.sleep(0.01)
        time.sleep(dice.uniform(0, 0.6))
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    return log.read_text("utf-8").splitlines() if log.exists() else [], path


def prove(lines: list[str], path: Path) -> None:
    acknowledged = dict(line.split("\t") for line in lines if line.count("\t") == 1)
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


def test_a_kill_amid_a_replacement_leaves_all_of_the_old_or_all_of_the_new(tmp_path: Path) -> None:
    lines, path = kill_rounds(tmp_path, 4, SUPERSEDER)
    assert len(lines) > 4, "the writers hardly wrote"
    ledger = SqliteLedger(path, model=None)
    assert asyncio.run(ledger.check()).findings == ()
    stats = asyncio.run(ledger.stats())
    texts = [one.text for one in asyncio.run(ledger.page(INES, limit=99)).records]
    ledger.close()
    generations = {text.split(" of ")[0] for text in texts}
    assert (len(texts), len(generations)) == (30, 1)
    last = int(generations.pop().split()[1])
    assert last >= int(lines[-1])
    assert stats.states == {"active": 30, "superseded": 30 * (last - 1)}
    assert (stats.episodes, stats.turns) == (last, 30 * last)
