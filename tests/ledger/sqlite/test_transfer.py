"""Copies as JSON lines: what is in them, what is not, and what a ledger does with them."""

import asyncio
import base64
import json
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lukasa import Memory
from lukasa.errors import InputError, ScopeError
from lukasa.ledger.base import Restored, View
from lukasa.ledger.sqlite.ledger import SqliteLedger
from lukasa.ledger.sqlite.schema import VERSION
from lukasa.testing import HashEmbedder
from lukasa.types import Scope

TODAY = date(2026, 1, 1)
ALL = View(Scope(), TODAY, everyone=True)


def exported(path: Path, view: View = ALL) -> list[bytes]:
    lines: list[bytes] = []
    ledger = SqliteLedger(path, model=None)
    try:
        asyncio.run(ledger.export(view, lines.append))
    finally:
        ledger.close()
    return lines


def restored(path: Path, lines: Iterable[bytes]) -> Restored:
    ledger = SqliteLedger(path, model=None)
    try:
        return asyncio.run(ledger.restore(lines, now=datetime(2026, 6, 1, tzinfo=UTC)))
    finally:
        ledger.close()


def assert_whole(path: Path) -> None:
    ledger = SqliteLedger(path, model=None)
    try:
        assert asyncio.run(ledger.check()).findings == ()
    finally:
        ledger.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """More lines than one transaction takes; expired, changed, deleted, of a guide that two users share."""
    path = tmp_path / "original.db"
    with Memory(path, embedder=HashEmbedder(64)) as memory:
        turns = [{"role": "user", "content": f"note {n} about the kayak"} for n in range(450)]
        memory.add(turns, user_id="ines", agent_id="guide", infer=False)
        one = memory.add("I live in Ghent", user_id="ines", infer=False)["results"][0]["id"]
        memory.update(one, "I live in Bruges", metadata={"二": [1.5, None]})
        memory.add("long over", user_id="ines", expiration_date="2020-01-01", infer=False)
        gone = memory.add("gone", user_id="omar", agent_id="guide", infer=False)["results"][0]["id"]
        memory.delete(gone)
        memory.add("omar's beagle", user_id="omar", agent_id="guide", infer=False)
    return path


def test_many_transactions_make_the_same_ledger(path: Path, tmp_path: Path) -> None:
    lines = exported(path)
    done = restored(tmp_path / "copy.db", lines)
    assert (done.memories, done.skipped) == (454, 0)
    assert exported(tmp_path / "copy.db") == lines
    assert_whole(tmp_path / "copy.db")


def test_searches_find_the_same_with_the_same_scores(path: Path, tmp_path: Path) -> None:
    restored(tmp_path / "copy.db", exported(path))
    answers: list[list[Any]] = []  # pyright: ignore[reportExplicitAny]  # results as they come
    for file in (path, tmp_path / "copy.db"):
        with Memory(file, embedder=HashEmbedder(64)) as memory:
            answers.append(
                [
                    memory.search(query, user_id=user, explain=True)["results"]
                    for query in ("where do I live", "note 33", "beagle", "kayak Bruges")
                    for user in ("ines", "omar")
                ]
            )
    assert answers[0] == answers[1]
    assert any(answers[0])


def test_an_existing_ledger_keeps_its_own_and_a_running_process_sees_the_rest(
    path: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    with Memory(other, embedder=HashEmbedder(64)) as running:
        running.add("a florist of mine", user_id="omar", infer=False)
        assert running.search("florist", user_id="omar")["results"][0]["memory"] == "a florist of mine"
        restored(other, exported(path))
        assert running.search("beagle", user_id="omar")["results"][0]["memory"] == "omar's beagle"
        assert running.count(user_id="omar") == 2
    assert_whole(other)


def test_a_copy_that_broke_off_between_transactions_can_be_completed(path: Path, tmp_path: Path) -> None:
    lines = exported(path)
    with pytest.raises(InputError, match="cut off"):
        restored(tmp_path / "copy.db", lines[:300])
    assert_whole(tmp_path / "copy.db")
    done = restored(tmp_path / "copy.db", lines)
    assert done.skipped > 200
    assert done.memories + done.skipped >= 454
    assert sorted(exported(tmp_path / "copy.db")) == sorted(lines)


@pytest.mark.parametrize(
    ("scope", "absent"),
    [
        (Scope(user_id="omar"), ["ines", "kayak", "Ghent", "long over"]),
        (Scope(user_id="ines"), ["omar", "beagle", "gone"]),
        (Scope(user_id="ines", agent_id="guide"), ["omar", "Ghent", "Bruges"]),
        (Scope(run_id="never"), ["ines", "omar"]),
    ],
)
def test_a_copy_of_a_scope_holds_nothing_of_others_and_stands_alone(
    path: Path, tmp_path: Path, scope: Scope, absent: list[str]
) -> None:
    lines = exported(path, View(scope, TODAY))
    everything = b"".join(lines).decode()
    assert not [word for word in absent if word in everything]
    restored(tmp_path / "part.db", lines)
    assert exported(tmp_path / "part.db") == lines
    assert_whole(tmp_path / "part.db")


def test_a_copy_of_everybody_must_be_asked_for(path: Path) -> None:
    with pytest.raises(ScopeError, match="everyone"):
        exported(path, View(Scope(), TODAY))


def test_the_file_names_its_model_and_none_of_the_ledgers_own_numbers(path: Path) -> None:
    head, *lines, end = [json.loads(line) for line in exported(path)]
    assert head == {"lukasa_export": 1, "schema": VERSION, "model": ["hash:64", 64]}
    assert end == {"end": {"episodes": 5, "memories": 454, "links": 0}}
    for line in lines:
        for value in line.values():
            assert re.fullmatch("[0-9a-f-]{36}", value["uid"])
            assert not {"id", "space", "partition", "user_key", "version", "memory", "episode"} & set(value)


NAN = base64.b64encode(np.full(64, np.nan, np.float32).tobytes()).decode()
MADE_UP = {
    "an item that is not there": '{"versions": [{"number": 1, "item": 99, "sources": []}]}',
    "ids that name nobody": '{"ids": {}}',
    "a number that fits nowhere": '{"created_at": 1000000000000000000000000000000}',
    "an object for an id": '{"uid": {}}',
    "a vector that is none": f'{{"items": [{{"state": 1, "vector": "{NAN}"}}]}}',
}


@pytest.mark.parametrize("case", MADE_UP)
def test_a_line_that_was_made_up_is_named_and_leaves_nothing(path: Path, tmp_path: Path, case: str) -> None:
    lines = exported(path, View(Scope(user_id="omar"), TODAY))
    at = next(n for n, line in enumerate(lines) if line.startswith(b'{"memory"'))
    value = json.loads(lines[at])
    value["memory"].update(json.loads(MADE_UP[case]))
    lines[at] = json.dumps(value).encode()
    with pytest.raises(InputError, match=f"line {at + 1} of the copy"):
        restored(tmp_path / "copy.db", lines)
    assert_whole(tmp_path / "copy.db")


@pytest.mark.parametrize("model", ['["x"]', '["x", "y"]', "5", '["", 64]', '["x", -1]'])
def test_a_head_that_was_made_up_is_named(tmp_path: Path, model: str) -> None:
    with pytest.raises(InputError, match="line 1 of the copy"):
        restored(tmp_path / "copy.db", [f'{{"lukasa_export": 1, "model": {model}}}'.encode()])


def test_a_line_that_is_nested_too_deep_is_named(path: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2 of the copy"):
        restored(tmp_path / "copy.db", [exported(path)[0], b"[" * 200_000])


def test_what_another_space_was_told_cannot_be_made_a_source(tmp_path: Path) -> None:
    path = tmp_path / "tenants.db"
    for space in ("default", "other"):
        with Memory(path, embedder=HashEmbedder(64), space=space) as memory:
            memory.add(f"told to {space}", user_id="ines", infer=False)
    lines = exported(path)
    ledger = SqliteLedger(path, space="other", model=None)
    copy: list[bytes] = []
    asyncio.run(ledger.export(ALL, copy.append))
    ledger.close()
    foreign = json.loads(copy[1])["episode"]["uid"]
    value = json.loads(lines[2])
    value["memory"].update(uid="01a22f32-0000-7000-8000-000000000000", dedupe_key="AAAA")
    value["memory"]["versions"][0]["sources"][0][0] = foreign
    with pytest.raises(InputError, match="its source"):
        restored(path, [lines[0], lines[1], json.dumps(value).encode()])
