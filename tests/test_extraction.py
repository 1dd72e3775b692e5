"""`add` as its users meet it: what its receipt says is what the ledger holds, also when many write."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lukasa import Memory
from lukasa.errors import Unsupported
from lukasa.testing import HashEmbedder


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "a.db", embedder=HashEmbedder()) as opened:
        yield opened


def texts(memory: Memory, **options: object) -> list[str]:
    found = memory.get_all(**{"user_id": "ines", **options})  # pyright: ignore[reportArgumentType]  # any of its options
    return [one["memory"] for one in found["results"]]


def test_the_receipt_says_what_became_of_all_that_was_said(memory: Memory) -> None:
    memory.add("I live in Oslo", user_id="ines", timestamp="2025-01-01")
    done = memory.add("hi! I moved to Rome. I live in Rome. what's the weather?", user_id="ines")
    assert [one["memory"] for one in done["results"]] == ["User moved to Rome.", "User lives in Rome."]
    assert [(one["memory"], one["reason"]) for one in done["superseded"]] == [
        ("User lives in Oslo.", "home changed")
    ]
    assert done["superseded"][0]["superseded_by"] in {one["id"] for one in done["results"]}
    assert [one["reason"] for one in done["dropped"]] == ["greeting, thanks or filler", "a question"]
    assert done["extractor"] == "rules"
    assert sorted(texts(memory)) == ["User lives in Rome.", "User moved to Rome."]


def test_what_is_known_is_unchanged_and_what_ended_is_found_as_of_its_time(memory: Memory) -> None:
    memory.add("I live in Oslo", user_id="ines", timestamp="2025-01-01T00:00:00+00:00")
    assert memory.add("I live in Oslo!", user_id="ines")["unchanged"][0]["memory"] == "User lives in Oslo."
    old = memory.get_all(user_id="ines")["results"][0]["id"]
    memory.add("I moved to Rome", user_id="ines", timestamp="2025-06-01T00:00:00+00:00")
    assert texts(memory) == ["User moved to Rome."]
    assert texts(memory, as_of="2025-03-01") == ["User lives in Oslo."]
    assert (memory.get(old) or {}).get("state") == "superseded"
    assert [event["event"] for event in memory.history(old)] == ["ADD", "SUPERSEDE"]


def test_an_older_statement_does_not_end_a_newer_one(memory: Memory) -> None:
    memory.add("I live in Rome", user_id="ines", timestamp="2025-06-01")
    done = memory.add("I live in Oslo", user_id="ines", timestamp="2020-06-01")
    assert [one["reason"] for one in done["dropped"]] == ["a later statement says otherwise"]
    assert texts(memory) == ["User lives in Rome."]


def test_nobody_ends_the_memory_of_somebody_else(memory: Memory) -> None:
    memory.add("I live in Oslo", user_id="ines")
    memory.add("I moved to Rome", user_id="bo")
    memory.add("I moved to Rome", agent_id="ines")
    with Memory(memory.aio.settings.file(), space="other", embedder=HashEmbedder()) as other:
        other.add("I moved to Rome", user_id="ines")
    assert texts(memory) == ["User lives in Oslo."]


def test_a_fact_is_known_only_where_its_own_ids_find_it(memory: Memory) -> None:
    memory.add("I live in Oslo", user_id="ines", agent_id="guide")
    done = memory.add("I live in Oslo", user_id="ines", agent_id="coach")
    assert [one["event"] for one in done["results"]] == ["ADD"]
    found = memory.get_all(user_id="ines", agent_id="coach")["results"]
    assert [one["memory"] for one in found] == ["User lives in Oslo."]


def test_infer_false_keeps_every_turn(memory: Memory) -> None:
    done = memory.add(["hi", "thanks"], user_id="ines", infer=False)
    assert [one["memory"] for one in done["results"]] == ["hi", "thanks"]
    assert done["extractor"] == "verbatim"


def test_a_call_in_which_nothing_lasts_is_kept_as_sources(memory: Memory) -> None:
    done = memory.add("can you book KX7Q2M?", user_id="ines")
    assert done["results"] == []
    found = memory.search("KX7Q2M", user_id="ines", include_sources=True)
    assert found["results"] == []
    assert [one["text"] for one in found.get("sources", [])] == ["can you book KX7Q2M?"]
    assert memory.search("KX7Q2M", user_id="bo", include_sources=True).get("sources") == []
    with pytest.raises(Unsupported):
        memory.search("KX7Q2M", user_id="ines", filters={"a": 1}, include_sources=True)


def test_embedding_may_wait(memory: Memory) -> None:
    memory.add("I keep a tortoise called Gideon", user_id="ines", embed=False)
    found = memory.search("Gideon", user_id="ines")["results"]
    assert [one["memory"] for one in found] == ["User keeps a tortoise called Gideon."]


def test_a_repeated_call_answers_the_same(memory: Memory) -> None:
    memory.add("I live in Oslo", user_id="ines", timestamp="2025-01-01")
    first = memory.add("I moved to Rome. ok?", user_id="ines", idempotency_key="k")
    assert memory.add("I moved to Rome. ok?", user_id="ines", idempotency_key="k") == first
    assert first["superseded"]
    assert first["dropped"]


def test_erasing_leaves_no_byte_of_a_fact_or_of_its_turn(memory: Memory) -> None:
    done = memory.add("I keep a zorblax in my flat. ok?", user_id="ines", idempotency_key="k")
    memory.add("I live in Oslo", user_id="ines")
    memory.delete(done["results"][0]["id"], erase=True)
    memory.close()
    file = memory.aio.settings.file()
    for beside in file.parent.glob(f"{file.name}*"):
        assert b"zorblax" not in beside.read_bytes()


CITIES = ("Oslo", "Rome", "Graz", "Lyon", "Bern", "Cork", "Riga", "Turin")


def _move(path: Path, city: str) -> None:
    with Memory(path, embedder=HashEmbedder()) as memory:
        for _ in range(3):
            memory.add(f"I moved to {city}", user_id="ines")
            memory.add("I'm allergic to peanuts", user_id="ines")


def test_writers_at_once_leave_one_home_and_one_of_each_fact(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    threads = [threading.Thread(target=_move, args=(path, city)) for city in CITIES[:4]]
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_move, args=(path, city)) for city in CITIES[4:6]]
    for one in (*processes, *threads):
        one.start()
    for one in (*processes, *threads):
        one.join()
    assert [one.exitcode for one in processes] == [0, 0]
    with Memory(path, embedder=HashEmbedder()) as memory:
        now = texts(memory)
        assert sorted(one[:14] for one in now) == ["User is allerg", "User moved to "]
