"""What is known near some facts: which memories, from which partitions, at which cost to the counts."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lukasa import Memory
from lukasa.errors import EmbedderMismatch, Unsupported
from lukasa.ledger.base import Applied, Neighbours, Plan, Probe, View
from lukasa.ledger.sqlite.ledger import SqliteLedger
from lukasa.testing import HashEmbedder
from lukasa.types import Add, Fact, Scope

NOW = datetime(2026, 1, 2, tzinfo=UTC)
HOME = ("user", "home")


def told(_: Applied) -> Mapping[str, object]:
    return {}


async def say(ledger: SqliteLedger, scope: Scope, *texts: str) -> None:
    facts = [Fact(text, (), scope, {}, subject=HOME[0], attribute=HOME[1]) for text in texts]
    vectors = await HashEmbedder(64).embed(texts, use="passage")
    adds = tuple(Add(fact, row.tobytes()) for fact, row in zip(facts, vectors, strict=True))
    await ledger.apply(Plan(adds), scope=scope, now=NOW, receipt=told)


async def near(
    ledger: SqliteLedger,
    scope: Scope,
    *texts: str,
    limit: int = 3,
    attributes: Sequence[tuple[str, str]] = (),
) -> Neighbours:
    vectors = await HashEmbedder(64).embed(texts, use="query")
    probes = [Probe(row, text, limit) for row, text in zip(vectors, texts, strict=True)]
    return await ledger.neighbours(View(scope, NOW.date()), probes, attributes)


def test_each_probe_has_its_own_neighbours_the_nearest_first(path: Path) -> None:
    async def work() -> None:
        ledger = SqliteLedger(path, model="hash:64")
        await say(ledger, Scope(user_id="ines"), *(f"note {n} about the kayak" for n in range(30)))
        wanted = [f"note {n} about the kayak" for n in (3, 17, 8)]
        known = await near(ledger, Scope(user_id="ines"), *wanted)
        assert [records[0].text for records in known.near] == wanted
        assert all(3 <= len(records) <= 6 for records in known.near)
        await ledger.aclose()

    asyncio.run(work())


def test_an_agents_neighbours_come_from_all_its_users(path: Path) -> None:
    async def work() -> None:
        ledger, guide = SqliteLedger(path, model="hash:64"), Scope(agent_id="guide")
        for n in range(3):
            await say(ledger, Scope(user_id=f"u{n}", agent_id="guide"), f"home of u{n}")
            await say(ledger, Scope(user_id=f"u{n}"), f"other home of u{n}")
        await say(ledger, guide, "home of the guide")
        known = await near(ledger, guide, attributes=[HOME])
        assert [one.text for one in known.alike] == [
            *(f"home of u{n}" for n in range(3)),
            "home of the guide",
        ]
        assert (await ledger.check()).findings == ()
        await ledger.aclose()

    asyncio.run(work())


def test_an_index_finds_what_speaks_of_an_attribute(path: Path) -> None:
    ledger = SqliteLedger(path, model=None)
    asyncio.run(ledger.stats())
    ledger.close()
    connection = sqlite3.connect(path)
    plan = connection.execute(
        "EXPLAIN QUERY PLAN SELECT v.id FROM versions v WHERE v.partition IN (1, 2) AND v.subject = 'user'"
        " AND v.attribute = 'home' AND v.retired_at IS NULL"
    ).fetchall()
    connection.close()
    assert "versions_attribute (partition=? AND subject=? AND attribute=?)" in str(plan)


def test_looking_at_neighbours_is_no_access(path: Path) -> None:
    async def work() -> None:
        ledger, ines = SqliteLedger(path, model="hash:64"), Scope(user_id="ines")
        await say(ledger, ines, "lives in Ghent")
        assert (await near(ledger, ines, "Ghent", attributes=[HOME])).alike
        await say(ledger, ines, "another")
        await ledger.aclose()

    asyncio.run(work())
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT sum(accesses) FROM memories").fetchone() == (0,)
    connection.close()


def test_a_revision_and_a_copy_are_found_by_what_they_speak_of(path: Path, tmp_path: Path) -> None:
    async def work() -> None:
        ledger, ines = SqliteLedger(path, model="hash:64"), Scope(user_id="ines")
        await say(ledger, ines, "lives in Ghent")
        with Memory(path, embedder=HashEmbedder(64)) as memory:
            one = (await memory.aio.get_all(user_id="ines"))["results"][0]["id"]
            await memory.aio.update(one, "lives in Bruges")
        lines: list[bytes] = []
        await ledger.export(View(ines, NOW.date()), lines.append)
        copy = SqliteLedger(tmp_path / "copy.db", model="hash:64")
        await copy.restore(lines, now=NOW)
        for held in (ledger, copy):
            known = await near(held, ines, attributes=[HOME])
            assert [record.text for record in known.alike] == ["lives in Bruges"]
            assert (await held.check()).findings == ()
            await held.aclose()

    asyncio.run(work())


def test_neighbours_of_the_past_or_of_another_model_are_refused(path: Path) -> None:
    async def work() -> None:
        ledger, ines = SqliteLedger(path, model="hash:64"), Scope(user_id="ines")
        await say(ledger, ines, "lives in Ghent")
        with pytest.raises(Unsupported, match="as_of"):
            await ledger.neighbours(View(ines, NOW.date(), as_of=NOW), [], [])
        await ledger.reembed(HashEmbedder(32))
        with pytest.raises(EmbedderMismatch, match="reembed"):
            await near(ledger, ines, "Ghent")
        await ledger.aclose()

    asyncio.run(work())
