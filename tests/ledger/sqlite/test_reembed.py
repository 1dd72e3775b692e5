"""A new model's vectors are made beside the old ones, while others work, and through kills and rivals."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lukasa import Memory
from lukasa.errors import EmbedderMismatch, InputError, LedgerBusy
from lukasa.ledger.sqlite.ledger import SqliteLedger
from lukasa.testing import HashEmbedder

if TYPE_CHECKING:
    from lukasa.models.embed.base import Embedder, Matrix, Use

SLOW = """
import asyncio, sys, time
from pathlib import Path
from lukasa.ledger.sqlite.ledger import SqliteLedger
from lukasa.testing import HashEmbedder

class Slow(HashEmbedder):
    async def embed(self, texts, *, use):
        await asyncio.sleep(0.02)
        return await super().embed(texts, use=use)

ledger = SqliteLedger(Path(sys.argv[1]), model=None)
asyncio.run(ledger.reembed(Slow(32), batch=1))
"""


class Interrupted(HashEmbedder):
    """Before its *call*th call something else happens."""

    def __init__(self, dim: int, call: int, event: Callable[[], Awaitable[object]]) -> None:
        super().__init__(dim)
        self._call, self._event = call, event

    async def embed(self, texts: Sequence[str], *, use: Use) -> Matrix:
        if len(self.calls) + 1 == self._call:
            await self._event()
        return await super().embed(texts, use=use)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "embedded.db"
    for space in ("default", "other"):
        with Memory(path, embedder=HashEmbedder(64), space=space) as memory:
            memory.add(
                [{"role": "user", "content": f"note {n} about a kayak"} for n in range(20)],
                user_id="ines",
                infer=False,
            )
    return path


def reembed(path: Path, embedder: Embedder, *, batch: int = 64) -> int:
    ledger = SqliteLedger(path, model=None)
    try:
        return asyncio.run(ledger.reembed(embedder, batch=batch)).embedded
    finally:
        ledger.close()


def rows(path: Path, statement: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def models(path: Path) -> list[tuple[object, ...]]:
    return rows(path, "SELECT name, state FROM models ORDER BY slot")


def assert_whole(path: Path) -> None:
    ledger = SqliteLedger(path, model=None)
    try:
        assert asyncio.run(ledger.check()).findings == ()
    finally:
        ledger.close()


def best(memory: Memory, query: str = "note 7") -> str:
    return memory.search(query, user_id="ines")["results"][0]["memory"]


def test_search_answers_before_during_and_after_the_switch(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder(64)) as old:
        during: list[str] = []

        async def look() -> None:
            during.append(await asyncio.to_thread(best, old))
            await asyncio.to_thread(old.add, "said in between, about a florist", user_id="ines", infer=False)

        assert best(old) == "note 7 about a kayak"
        assert reembed(path, Interrupted(32, 4, look), batch=5) == 41
        assert during == ["note 7 about a kayak"]
        with pytest.raises(EmbedderMismatch, match="lukasa reembed"):
            best(old)
        with pytest.raises(EmbedderMismatch, match="lukasa reembed"):
            old.add("too late", user_id="ines", infer=False)
    for space in ("default", "other"):
        with Memory(path, embedder=HashEmbedder(32), space=space) as new:
            assert best(new) == "note 7 about a kayak"
            assert new.count(user_id="ines") == (21 if space == "default" else 20)
    assert_whole(path)


def test_the_wrong_model_is_refused_at_the_first_verb(path: Path) -> None:
    reembed(path, HashEmbedder(32))
    with (
        Memory(path, embedder=HashEmbedder(64)) as wrong,
        pytest.raises(EmbedderMismatch, match="lukasa reembed"),
    ):
        wrong.count(user_id="ines")


def test_a_kill_in_the_middle_loses_nothing_and_the_next_one_goes_on(path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", SLOW, str(path)])
    watching, deadline = sqlite3.connect(path), time.monotonic() + 60
    while len(watching.execute("SELECT key FROM vectors").fetchall()) < 45 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    watching.close()
    assert models(path) == [("hash:64", "active"), ("hash:32", "building")]
    assert_whole(path)
    with Memory(path, embedder=HashEmbedder(64)) as old:
        assert best(old) == "note 7 about a kayak"
    assert 0 < reembed(path, HashEmbedder(32)) < 40
    assert models(path) == [("hash:32", "active")]
    assert_whole(path)


def test_of_two_models_at_once_the_later_one_wins_and_the_other_is_told(path: Path) -> None:
    rival = SqliteLedger(path, model=None)

    async def other() -> None:
        failing = HashEmbedder(16, fail_on={"note 9 about a kayak"})
        with pytest.raises(Exception, match="note 9"):
            await rival.reembed(failing, batch=1)

    with pytest.raises(LedgerBusy, match="another `lukasa reembed`"):
        reembed(path, Interrupted(32, 5, other), batch=1)
    assert models(path) == [("hash:64", "active"), ("hash:16", "building")]
    assert_whole(path)
    asyncio.run(rival.reembed(HashEmbedder(16)))
    rival.close()
    assert models(path) == [("hash:16", "active")]
    assert_whole(path)


def test_another_half_built_model_is_dropped_and_slots_are_used_again(path: Path) -> None:
    with pytest.raises(Exception, match="note 9"):
        reembed(path, HashEmbedder(16, fail_on={"note 9 about a kayak"}), batch=1)
    for dim in (32, 64, 32):
        assert reembed(path, HashEmbedder(dim)) == 40
        assert models(path) == [(f"hash:{dim}", "active")]
        assert len(rows(path, "SELECT key FROM vectors")) == 40
        assert {row[0] for row in rows(path, "SELECT key >> 58 FROM vectors")} <= {0, 1}
    assert_whole(path)


def test_with_the_same_model_only_what_is_missing_is_made(path: Path) -> None:
    before = rows(path, "SELECT id, epoch FROM scopes")
    with Memory(path, embedder=HashEmbedder(64)) as running:
        assert best(running) == "note 7 about a kayak"  # its cache is filled
        connection = sqlite3.connect(path)
        connection.execute("DELETE FROM vectors WHERE key IN (SELECT key FROM vectors LIMIT 3)")
        connection.commit()
        connection.close()
        embedder = HashEmbedder(64)
        assert reembed(path, embedder) == 3
        assert best(running) == "note 7 about a kayak"
    assert reembed(path, HashEmbedder(64)) == 0
    assert rows(path, "SELECT id, epoch FROM scopes") == before
    assert_whole(path)


def test_a_running_process_sees_vectors_that_come_later(path: Path) -> None:
    def cosine(memory: Memory) -> object:
        hits = memory.search("note 7 about a kayak", user_id="ines", explain=True)["results"]
        return next(hit for hit in hits if hit["memory"] == "note 7 about a kayak")

    with Memory(path, embedder=HashEmbedder(64)) as fresh:
        wanted = cosine(fresh)
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM vectors")
    connection.commit()
    connection.close()
    with Memory(path, embedder=HashEmbedder(64)) as running:
        assert cosine(running) != wanted
        reembed(path, HashEmbedder(64), batch=7)
        assert cosine(running) == wanted


def test_what_is_deleted_meanwhile_gets_no_vector(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder(64)) as memory:

        async def forget() -> None:
            await asyncio.to_thread(memory.delete_all, user_id="ines")

        assert reembed(path, Interrupted(32, 3, forget), batch=30) >= 30
    assert len(rows(path, "SELECT key FROM vectors")) == 20
    assert_whole(path)


def test_a_ledger_whose_memories_are_all_deleted_takes_the_new_model(path: Path) -> None:
    for space in ("default", "other"):
        with Memory(path, embedder=HashEmbedder(64), space=space) as memory:
            memory.delete_all(user_id="ines")
    assert reembed(path, HashEmbedder(32)) == 0
    with Memory(path, embedder=HashEmbedder(32)) as memory:
        memory.add("a new start", user_id="ines", infer=False)
        assert best(memory, "start") == "a new start"
    assert_whole(path)


def test_progress_rises_to_the_total(path: Path) -> None:
    heard: list[tuple[int, int]] = []
    ledger = SqliteLedger(path, model=None)
    asyncio.run(ledger.reembed(HashEmbedder(32), batch=15, progress=lambda n, of: heard.append((n, of))))
    ledger.close()
    assert heard == [(15, 40), (30, 40), (40, 40)]


@pytest.mark.parametrize("batch", [0, -1])
def test_a_batch_of_nothing_is_refused(path: Path, batch: int) -> None:
    with pytest.raises(InputError, match="batch"):
        reembed(path, HashEmbedder(32), batch=batch)
