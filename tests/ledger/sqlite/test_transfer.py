"""Copies as JSON lines: what is in them, what is not, and what a ledger does with them."""

import asyncio
import base64
import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, cast

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
V, M, E = "memory.versions.0.", "memory.", "episode."
MADE_UP: list[tuple[str, object]] = [
    (V + "metadata", "[]"),
    (V + "metadata", "{"),
    (V + "metadata", "null"),
    (V + "metadata", '{"a": NaN}'),
    (V + "metadata", '{"a": 1e999}'),
    (V + "metadata", '{"a": "\\ud800"}'),
    (V + "metadata", '{"a": ' * 100 + "1" + "}" * 100),
    (V + "metadata", '{"a": ' * 100_000),
    (V + "categories", "{}"),
    (V + "categories", "[1]"),
    (V + "categories", '"work"'),
    (V + "valid_from", 10**18),
    (V + "recorded_at", -(10**18)),
    (V + "recorded_at", None),
    (V + "number", 10**30),
    (V + "number", 2),
    (V + "item", None),
    (V + "item", -1),
    (V + "item", 99),
    (V + "item", True),
    (V + "text", None),
    (V + "text", "another one"),
    (V + "text", "a lone \ud800"),
    (V + "event", "NONSENSE"),
    (V + "importance", float("nan")),
    (V + "sources", [["x"]]),
    (V + "sources", None),
    (V + "sources.0.2", -1),
    (V + "sources.0.3", 10_000),
    (V + "sources.0.4", "god"),
    (V + "nonesuch", 1),
    (M + "items.0.state", 0),
    (M + "items.0.state", 10**30),
    (M + "items.0.vector", NAN),
    (M + "items.0.vector", "!"),
    (M + "items.0.vector", "AAAA"),
    (M + "items", []),
    (M + "versions", []),
    (M + "current", 2),
    (M + "ids", {}),
    (M + "ids", {"user_id": ""}),
    (M + "ids", {"user_id": "a b"}),
    (M + "ids", {"user_id": "a\x00"}),
    (M + "ids", {"user_id": "x" * 513}),
    (M + "ids", {"user_id": "\ud800"}),
    (M + "ids", {"user_id": 5}),
    (M + "ids", {"somebody": "ines"}),
    (M + "uid", {}),
    (M + "uid", "mine"),
    (M + "created_at", 10**30),
    (M + "created_at", 253_402_300_800_000_000),
    (M + "created_at", -62_135_596_800_000_001),
    (M + "created_at", 1.5),
    (M + "expires_on", 3_000_000),
    (M + "expires_on", -719_163),
    (M + "accesses", 10**30),
    (M + "accesses", "many"),
    (M + "dedupe_key", "not base64"),
    (M + "pinned", 2),
    (M + "stability", float("inf")),
    (M + "state", "asleep"),
    (M + "nonesuch", 1),
    (E + "receipt", "[]"),
    (E + "receipt", "{"),
    (E + "request", None),
    (E + "idempotency_key", "AAAA"),
    (E + "status", "done"),
    (E + "attempts", 10**30),
    (E + "messages.0.said_at", 10**18),
    (E + "messages.0.position", 10**30),
    (E + "messages.0.text", None),
    (E + "messages.0.name", "\x00"),
    (E + "messages.0.erased", 2),
    (E + "ids", {"user_id": "a b"}),
]


def put(value: Any, at: str, new: object) -> None:  # pyright: ignore[reportExplicitAny, reportAny]  # JSON
    """Write *new* at a dotted place; None takes away what is there."""
    *outer, last = at.split(".")
    for name in outer:
        value = value[int(name) if isinstance(value, list) else name]
    if new is None:
        del value[last]
    elif isinstance(value, list):
        value[int(last)] = new
    else:
        value[last] = new


@pytest.mark.parametrize(("at", "new"), MADE_UP, ids=[f"{at} {new!r:.20}" for at, new in MADE_UP])
def test_a_line_that_was_made_up_is_named_and_leaves_nothing(
    path: Path, tmp_path: Path, at: str, new: object
) -> None:
    lines = exported(path, View(Scope(user_id="omar"), TODAY))
    kind = at.split(".")[0]
    number = max(n for n, line in enumerate(lines) if line.startswith(f'{{"{kind}"'.encode()))
    value = json.loads(lines[number])
    put(value, at, new)
    lines[number] = json.dumps(value).encode()
    with pytest.raises(InputError, match=f"line {number + 1} of the copy"):
        restored(tmp_path / "copy.db", lines)
    assert_whole(tmp_path / "copy.db")


def test_texts_and_items_that_were_swapped_are_named(path: Path, tmp_path: Path) -> None:
    lines = exported(path)
    number = next(n for n, line in enumerate(lines) if b"Bruges" in line and line.startswith(b'{"memory"'))
    for places in ((1, 0), (0, 0)):
        value = json.loads(lines[number])
        for version, item in zip(value["memory"]["versions"], places, strict=True):
            version["item"] = item
        with pytest.raises(InputError, match=f"line {number + 1} of the copy"):
            restored(tmp_path / f"{places}.db", [*lines[:number], json.dumps(value).encode()])


STRANGE: list[object] = [None, -1, 0, 2**40, 2**70, 1.5, True, "", "x", "\0", [], {}, [None], '{"a": []}']


def places(value: object, at: str = "") -> Iterator[str]:
    """Every place in a JSON value."""
    named: Iterable[tuple[object, object]] = ()
    if isinstance(value, dict):
        named = cast("dict[object, object]", value).items()
    elif isinstance(value, list):
        named = enumerate(cast("list[object]", value))
    for name, one in named:
        yield f"{at}{name}"
        yield from places(one, f"{at}{name}.")


def test_whatever_a_line_holds_is_refused_or_can_be_read(tmp_path: Path) -> None:
    source = tmp_path / "small.db"
    with Memory(source, embedder=HashEmbedder(8)) as memory:
        one = memory.add(
            "I live in Ghent", user_id="ines", metadata={"a": 1}, idempotency_key="k", infer=False
        )
        memory.update(one["results"][0]["id"], "I live in Bruges", expiration_date="2999-01-01")
    lines = exported(source)
    kept = 0
    for number, line in enumerate(lines[1:3], 1):
        for at in places(json.loads(line)):
            for n, new in enumerate(STRANGE):
                value = json.loads(line)
                try:
                    put(value, at, new)
                except TypeError:
                    continue  # an element of a list is not taken away
                file = tmp_path / f"{number} {at} {n}.db"
                changed = [*lines[:number], json.dumps(value).encode(), *lines[number + 1 :]]
                try:
                    restored(file, changed)
                except InputError:
                    continue
                kept += 1
                assert_can_be_read(file)
    assert kept


def assert_can_be_read(path: Path) -> None:
    ledger = SqliteLedger(path, model=None)
    findings = asyncio.run(ledger.check()).findings
    ledger.close()
    assert {one.check for one in findings} <= {"vectors"}, findings  # `reembed` makes a missing one
    with Memory(path, embedder=HashEmbedder(8)) as memory:
        memory.search("Bruges", user_id="ines", filters={"a": 1})
        for item in memory.get_all(all_scopes=True, show_expired=True)["results"]:
            memory.history(item["id"])
            memory.why(item["id"])
            memory.update(item["id"], metadata={"b": 2})
        memory.add("I live in Ghent", user_id="bo", metadata={"a": 1}, idempotency_key="k", infer=False)
    assert exported(path)


@pytest.mark.parametrize(
    "model", ['["x"]', '["x", "y"]', "5", '["", 64]', '["x", -1]', '["\\ud800", 64]', '["x", true]', "{}"]
)
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
