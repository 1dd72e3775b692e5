"""How much there is: of one space, and of the file."""

import asyncio
from pathlib import Path

from lukasa import Memory
from lukasa.ledger.base import Stats
from lukasa.ledger.sqlite.ledger import SqliteLedger
from lukasa.ledger.sqlite.schema import VERSION
from lukasa.testing import HashEmbedder


def stats(path: Path, space: str = "default") -> Stats:
    ledger = SqliteLedger(path, space=space, model=None)
    try:
        return asyncio.run(ledger.stats())
    finally:
        ledger.close()


def test_a_space_counts_its_own(tmp_path: Path) -> None:
    path = tmp_path / "counted.db"
    with Memory(path, embedder=HashEmbedder(16)) as memory:
        turns = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
        memory.add(turns, user_id="ines", agent_id="guide", infer=False)
        gone = memory.add("three", user_id="omar", infer=False)["results"][0]["id"]
        memory.delete(gone)
    with Memory(path, embedder=HashEmbedder(16), space="other") as memory:
        memory.add("four", run_id="r", infer=False)
    here, there = stats(path), stats(path, "other")
    assert (here.memories, here.states) == (2, {"active": 2, "retracted": 1})
    assert (here.episodes, here.messages, here.scopes) == (2, 3, {"agent_id": 1, "user_id": 2})
    assert (there.memories, there.episodes, there.messages, there.scopes) == (1, 1, 1, {"run_id": 1})
    assert here.models == there.models == {"hash:16": "active, 3 vectors of 16"}
    assert (here.schema, here.path) == (VERSION, str(path))


def test_the_log_counts_while_it_is_open(tmp_path: Path) -> None:
    path = tmp_path / "open.db"
    with Memory(path, embedder=HashEmbedder(16)) as memory:
        memory.add("one", user_id="ines", infer=False)
        assert stats(path).log_bytes > 0
        assert stats(path).file_bytes == path.stat().st_size


def test_a_space_that_nobody_wrote_to_is_empty(tmp_path: Path) -> None:
    empty = stats(tmp_path / "new.db", "nobody's")
    assert (empty.memories, empty.states, empty.episodes, empty.messages, empty.scopes) == (0, {}, 0, 0, {})
    assert empty.models == {}
