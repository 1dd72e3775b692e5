"""Copies, check-ups, another embedder: on a ledger with a past."""

import asyncio
import dataclasses
import sqlite3
from collections.abc import Coroutine
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest

from lukasa import Memory
from lukasa.errors import EmbedderMismatch, InputError
from lukasa.ledger.base import View
from lukasa.ledger.sqlite.ledger import SqliteLedger
from lukasa.testing import HashEmbedder
from lukasa.types import Scope

T = TypeVar("T")
ALL = View(Scope(), date(2026, 1, 1), everyone=True)
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def on(path: Path, work: "Coroutine[Any, Any, T]") -> T:
    return asyncio.run(work)


@pytest.fixture
def lived(tmp_path: Path) -> Path:
    """A ledger in which everything has happened once: to two users, an agent and a second space."""
    path = tmp_path / "lived.db"
    with Memory(path, embedder=HashEmbedder(64)) as memory:
        many = [{"role": "user", "content": f"note {n} about the blue kayak"} for n in range(30)]
        memory.add(
            [{"role": "system", "content": "be kind"}, *many], user_id="ines", agent_id="guide", infer=False
        )
        one = memory.add(
            "I live in Ghent", user_id="ines", idempotency_key="k", metadata={"a": [1, "二"]}, infer=False
        )
        two = memory.add("Bruno is a beagle", user_id="ines", expiration_date="2020-01-01", infer=False)
        three = memory.add("我喜欢吃苹果", user_id="omar", run_id="r1", infer=False)
        memory.update(one["results"][0]["id"], "I live in Bruges", metadata={"b": None})
        memory.update(one["results"][0]["id"], metadata={"c": 1.5})
        memory.delete(two["results"][0]["id"])
        memory.add("kept", user_id="omar", infer=False)
        memory.delete(three["results"][0]["id"], erase=True)
    with Memory(path, embedder=HashEmbedder(64), space="other") as memory:
        memory.add("of another tenant", user_id="ines", infer=False)
    return path


def exported(path: Path, view: View = ALL, space: str = "default") -> bytes:
    lines: list[bytes] = []
    ledger = SqliteLedger(path, space=space, model=None)
    asyncio.run(ledger.export(view, lines.append))
    ledger.close()
    return b"".join(lines)


def restored(path: Path, copy: bytes, **options: bool) -> dict[str, int]:
    ledger = SqliteLedger(path, model=None)
    try:
        return dataclasses.asdict(
            asyncio.run(ledger.restore(copy.splitlines(keepends=True), now=NOW, **options))
        )
    finally:
        ledger.close()


def findings(path: Path) -> list[str]:
    ledger = SqliteLedger(path, model=None)
    try:
        return [finding.check for finding in asyncio.run(ledger.check()).findings]
    finally:
        ledger.close()


def test_a_ledger_with_a_past_is_whole(lived: Path) -> None:
    assert findings(lived) == []


def test_a_copy_of_a_copy_is_the_copy(lived: Path, tmp_path: Path) -> None:
    copy = exported(lived)
    assert restored(tmp_path / "b.db", copy) == {"episodes": 4, "memories": 33, "links": 0, "skipped": 0}
    assert exported(tmp_path / "b.db") == copy
    assert findings(tmp_path / "b.db") == []


def test_a_copy_answers_as_the_original_does(lived: Path, tmp_path: Path) -> None:
    restored(tmp_path / "b.db", exported(lived))
    answers: list[object] = []
    for path in (lived, tmp_path / "b.db"):
        with Memory(path, embedder=HashEmbedder(64)) as memory:
            hits = memory.search("where do I live, and the kayak", user_id="ines", explain=True)["results"]
            answers.append((hits, [memory.history(hit["id"]) for hit in hits], memory.why(hits[0]["id"])))
    assert answers[0] == answers[1]


def test_a_copy_of_one_scope_holds_nothing_of_another(lived: Path) -> None:
    copy = exported(lived, View(Scope(user_id="omar"), date(2026, 1, 1)))
    assert b"kept" in copy
    assert b"kayak" not in copy
    assert b"ines" not in copy
    assert b"of another tenant" not in exported(lived)


def test_a_copy_that_is_restored_twice_adds_nothing(lived: Path, tmp_path: Path) -> None:
    copy = exported(lived)
    restored(tmp_path / "b.db", copy)
    assert restored(tmp_path / "b.db", copy) == {"episodes": 0, "memories": 0, "links": 0, "skipped": 37}
    assert exported(tmp_path / "b.db") == copy


def test_a_copy_that_was_cut_off_says_so_and_can_be_completed(lived: Path, tmp_path: Path) -> None:
    copy = exported(lived)
    lines = copy.splitlines(keepends=True)
    for part in (b"".join(lines[:-1]), b"".join(lines[:-3]) + lines[-3][:40]):
        with pytest.raises(InputError, match="cut off"):
            restored(tmp_path / "b.db", part)
    restored(tmp_path / "b.db", copy)
    assert findings(tmp_path / "b.db") == []
    assert sorted(exported(tmp_path / "b.db").splitlines()) == sorted(copy.splitlines())


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"[]",
        b"{}",
        b'{"memory": 3}',
        b'{"memory": {"uid": "x"}}',
        b'{"lukasa_export": 2}',
        b"\xff",
    ],
)
def test_a_bad_line_is_named_and_nothing_of_it_is_kept(lived: Path, tmp_path: Path, line: bytes) -> None:
    head = exported(lived).splitlines(keepends=True)[0]
    with pytest.raises(InputError, match="line 2 of the copy"):
        restored(tmp_path / "b.db", head + line + b"\n")
    assert findings(tmp_path / "b.db") == []


def test_a_copy_of_another_model_is_refused_or_taken_without_vectors(lived: Path, tmp_path: Path) -> None:
    path = tmp_path / "b.db"
    with Memory(path, embedder=HashEmbedder(32)) as memory:
        memory.add("mine", user_id="omar", infer=False)
    copy = exported(lived)
    with pytest.raises(EmbedderMismatch, match="reembed"):
        restored(path, copy)
    restored(path, copy, vectors=False)
    assert findings(path) == []
    with Memory(path, embedder=HashEmbedder(32)) as memory:
        assert memory.search("kayak", user_id="ines")["results"], "words alone find it"
    ledger = SqliteLedger(path, model=None)
    assert asyncio.run(ledger.reembed(HashEmbedder(32))).embedded == 33
    ledger.close()
    assert findings(path) == []


def test_reembedding_switches_and_whoever_used_the_old_model_is_told(lived: Path) -> None:
    with Memory(lived, embedder=HashEmbedder(64)) as old:
        before = [hit["id"] for hit in old.search("blue kayak", user_id="ines")["results"]]
        ledger = SqliteLedger(lived, model=None)
        steps: list[tuple[int, int]] = []
        done = asyncio.run(
            ledger.reembed(HashEmbedder(32), batch=10, progress=lambda n, m: steps.append((n, m)))
        )
        ledger.close()
        assert (done.model, steps[-1][0]) == ("hash:32", steps[-1][1])
        with pytest.raises(EmbedderMismatch, match="lukasa reembed"):
            old.search("blue kayak", user_id="ines")
        with pytest.raises(EmbedderMismatch):
            old.add("more", user_id="ines", infer=False)
    with Memory(lived, embedder=HashEmbedder(32)) as new:
        assert {hit["id"] for hit in new.search("blue kayak", user_id="ines")["results"]} & set(before)
    with pytest.raises(EmbedderMismatch), Memory(lived, embedder=HashEmbedder(64)) as wrong:
        wrong.count(user_id="ines")
    assert findings(lived) == []


def test_reembedding_goes_on_where_it_was_broken_off_and_the_old_model_answers_meanwhile(lived: Path) -> None:
    class Failing(HashEmbedder):
        pass

    texts = {"note 25 about the blue kayak"}
    ledger = SqliteLedger(lived, model=None)
    with pytest.raises(Exception, match="note 25"):
        asyncio.run(ledger.reembed(Failing(32, fail_on=texts), batch=5))
    with Memory(lived, embedder=HashEmbedder(64)) as old:
        assert old.search("blue kayak", user_id="ines")["results"]
        old.add("said in between", user_id="ines", infer=False)
    done = asyncio.run(ledger.reembed(HashEmbedder(32), batch=5))
    ledger.close()
    assert 0 < done.embedded < 35
    assert findings(lived) == []


CORRUPTIONS = {
    "hash": "UPDATE versions SET text = 'forged' WHERE id = (SELECT min(id) FROM versions)",
    "vectors": "UPDATE vectors SET key = key + 999 WHERE key = (SELECT min(key) FROM vectors)",
    "postings": "DELETE FROM postings WHERE term = 'kayak'",
    "items": "UPDATE items SET state = 0 WHERE id = (SELECT max(id) FROM items WHERE state = 1)",
    "current version": "UPDATE memories SET version = 999999 WHERE id = (SELECT max(id) FROM memories)",
    "version numbers": "UPDATE versions SET number = 9 WHERE number = 2",
    "retirement": "UPDATE versions SET retired_at = NULL",
    "scopes": "UPDATE memories SET user_key = 77 WHERE id = (SELECT max(id) FROM memories)",
    "counters": "UPDATE scopes SET change = 0",
    "sequence": "UPDATE ledger SET sequence = 1",
    "sources": 'UPDATE sources SET "end" = 10000',
}


@pytest.mark.parametrize("check", CORRUPTIONS)
def test_the_check_up_finds_what_is_broken(lived: Path, check: str) -> None:
    connection = sqlite3.connect(lived)
    connection.execute(CORRUPTIONS[check])
    connection.commit()
    connection.close()
    assert check in findings(lived)


def test_a_damaged_vector_is_found(lived: Path) -> None:
    connection = sqlite3.connect(lived)
    connection.execute("UPDATE vectors SET vector = zeroblob(256) WHERE key = (SELECT min(key) FROM vectors)")
    connection.commit()
    connection.close()
    assert findings(lived) == ["vectors"]


def test_stats_count_what_is_there(lived: Path) -> None:
    ledger = SqliteLedger(lived, model=None)
    stats = asyncio.run(ledger.stats())
    ledger.close()
    assert (stats.memories, dict(stats.states)) == (32, {"active": 32, "retracted": 1})
    assert stats.episodes == 4
    assert stats.models == {"hash:64": "active, 34 vectors of 64"}
    assert stats.file_bytes > 0


def test_postings_of_another_analyzer_are_made_anew_at_the_first_verb(lived: Path) -> None:
    connection = sqlite3.connect(lived)
    connection.execute("UPDATE ledger SET analyzer = 'of old'")
    connection.execute("UPDATE postings SET term = 'x' || term")
    connection.execute("UPDATE items SET length = 0")
    connection.commit()
    connection.close()
    with Memory(lived, embedder=HashEmbedder(64)) as memory:
        assert memory.search("kayak", user_id="ines")["results"]
    assert findings(lived) == []


def test_a_copy_into_another_space_of_the_same_file_is_refused_not_skipped(lived: Path) -> None:
    copy = exported(lived).splitlines(keepends=True)
    ledger = SqliteLedger(lived, space="third", model=None)
    with pytest.raises(InputError, match="another space of this file"):
        asyncio.run(ledger.restore(copy, now=NOW))
    ledger.close()
    assert findings(lived) == []
