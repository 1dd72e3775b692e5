"""Memories that others replace, in the file: caches, copies, erasure, what has no vector yet."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from lukasa import Memory
from lukasa.errors import MemoryNotFound
from lukasa.ledger.base import Applied, Plan, View
from lukasa.ledger.sqlite.ledger import SqliteLedger
from lukasa.testing import HashEmbedder
from lukasa.types import Add, Episode, Fact, Message, Scope, Source, Supersede, Written

T = TypeVar("T")
INES = Scope(user_id="ines")
NOW = datetime(2026, 1, 2, tzinfo=UTC)
LATER = NOW + timedelta(days=9)
VIEW = View(INES, NOW.date())
ALL = View(Scope(), NOW.date(), everyone=True)


def on(path: Path, work: Callable[[SqliteLedger], Awaitable[T]]) -> T:
    """*work* on a ledger that is closed afterwards."""

    async def opened() -> T:
        ledger = SqliteLedger(path, model="hash:64")
        try:
            return await work(ledger)
        finally:
            await ledger.aclose()

    return asyncio.run(opened())


def told(applied: Applied) -> Mapping[str, object]:
    """A receipt as a caller's may be: ids and texts."""
    return {"results": [{"id": one.memory_id, "memory": one.text, "by": one.by} for one in applied.written]}


async def say(ledger: SqliteLedger, *texts: str, end: str | None = None, **more: Any) -> tuple[Written, ...]:
    """Extract each text from what was said; the first one ends the memory *end*."""
    said = Episode(INES, tuple(Message("user", text) for text in texts), idempotency_key=texts[0].encode())
    facts = [Fact(text, (Source(n, 0, len(text), "user"),), INES, {}, **more) for n, text in enumerate(texts)]
    ends = () if end is None else (Supersede(end, 1, by=0, reason=f"now {texts[0]}"),)
    vectors = await HashEmbedder(64).embed(texts, use="passage")
    adds = tuple(Add(fact, row.tobytes()) for fact, row in zip(facts, vectors, strict=True))
    plan = Plan((*adds, *ends), said)
    return (await ledger.apply(plan, scope=INES, now=LATER, receipt=told)).written


async def moved(ledger: SqliteLedger) -> tuple[str, str]:
    """An old memory and the one that replaced it: their ids."""
    old = (await say(ledger, "lives in Ghent"))[0].memory_id
    return old, (await say(ledger, "lives in Porto", end=old))[0].memory_id


def rows(path: Path, statement: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def assert_whole(path: Path) -> None:
    assert on(path, lambda ledger: ledger.check()).findings == ()


def traces(path: Path, word: str) -> list[str]:
    files = (file for file in path.parent.iterdir() if file.is_file())
    return [file.name for file in files if word.lower().encode() in file.read_bytes().lower()]


def test_a_cache_that_is_warm_hears_of_it(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder(64)) as warm:
        old = on(path, lambda ledger: say(ledger, "lives in Ghent"))[0].memory_id
        assert [hit["id"] for hit in warm.search("lives", user_id="ines")["results"]] == [old]
        (new, _) = on(path, lambda ledger: say(ledger, "lives in Porto", end=old))
        assert [hit["id"] for hit in warm.search("lives", user_id="ines")["results"]] == [new.memory_id]
        earlier = warm.search("lives", user_id="ines", as_of=LATER - timedelta(seconds=1))["results"]
        assert earlier == []  # it was not said before LATER
        # A cache that still held the old one would choose it, and have nothing to show.
        (best,) = warm.search("lives in Ghent", user_id="ines", top_k=1, threshold=0)["results"]
        assert best["id"] == new.memory_id
        item = warm.get(old)
        assert item is not None
        assert item["state"] == "superseded"
        with pytest.raises(MemoryNotFound, match="superseded"):
            warm.update(old, "lives in Bruges")
    assert_whole(path)


def test_every_scope_of_what_ends_hears_of_it(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder(64)) as warm:
        turns = [{"role": "user", "content": text} for text in ("lives in Ghent", "likes tea")]
        ids = [one["id"] for one in warm.add(turns, user_id="ines", agent_id="guide", infer=False)["results"]]
        assert warm.search("Ghent", agent_id="guide", top_k=1, threshold=0)["results"][0]["id"] == ids[0]
        on(path, lambda ledger: say(ledger, "lives in Porto", end=ids[0]))
        assert warm.search("Ghent", agent_id="guide", top_k=1, threshold=0)["results"][0]["id"] == ids[1]
    assert_whole(path)


def test_nothing_ends_before_it_began(path: Path) -> None:
    async def work(ledger: SqliteLedger) -> None:
        old = (await say(ledger, "lives in Ghent"))[0].memory_id
        await say(ledger, "moved to Porto long ago", end=old, event_from=NOW - timedelta(days=900))

    on(path, work)
    ((began, ended),) = rows(path, "SELECT valid_from, valid_to FROM versions WHERE valid_to IS NOT NULL")
    assert began == ended


@pytest.mark.parametrize("column", ["pinned", "immutable"])
def test_what_is_pinned_or_immutable_stays(path: Path, column: str) -> None:
    old = on(path, lambda ledger: say(ledger, "lives in Ghent"))[0].memory_id
    rows(path, f"UPDATE memories SET {column} = 1")
    added, kept = on(path, lambda ledger: say(ledger, "lives in Porto", end=old))
    assert (added.event, kept.event, kept.memory_id, kept.by) == ("ADD", "NONE", old, None)
    assert rows(path, "SELECT * FROM links") == []
    assert on(path, lambda ledger: ledger.count(VIEW)) == 2
    assert_whole(path)


def test_several_facts_may_replace_one_memory_which_ends_once(path: Path) -> None:
    async def work(ledger: SqliteLedger) -> None:
        old = (await say(ledger, "lives in Ghent with Bo"))[0].memory_id
        facts = [Fact(text, (), INES, {}) for text in ("lives in Porto", "lives alone")]
        changes = (*(Add(fact, None) for fact in facts), Supersede(old, 1, 0), Supersede(old, 1, 1))
        done = await ledger.apply(Plan(changes), scope=INES, now=LATER, receipt=told)
        assert [one.by for one in done.written[2:]] == [one.memory_id for one in done.written[:2]]
        assert [entry.event for entry in await ledger.history(VIEW, old)] == ["ADD", "SUPERSEDE"]

    on(path, work)
    assert len(rows(path, "SELECT * FROM links WHERE kind = 'supersedes'")) == 2
    assert_whole(path)


def test_two_memories_cannot_end_each_other(path: Path) -> None:
    async def work(ledger: SqliteLedger) -> None:
        first = [Add(Fact(text, (), INES, {}, dedupe_key=text.encode()), None) for text in ("tea", "coffee")]
        known = await ledger.apply(Plan(tuple(first)), scope=INES, now=NOW, receipt=told)
        tea, coffee = (one.memory_id for one in known.written)
        plan = Plan((*first, Supersede(tea, 1, by=1), Supersede(coffee, 1, by=0)))
        done = await ledger.apply(plan, scope=INES, now=LATER, receipt=told)
        assert [one.event for one in done.written] == ["NONE", "NONE", "SUPERSEDE", "NONE"]
        assert [record.id for record in (await ledger.page(VIEW, limit=9)).records] == [coffee]

    on(path, work)
    assert_whole(path)


def test_a_replaced_memory_can_be_deleted_and_so_can_what_replaced_it(path: Path) -> None:
    async def work(ledger: SqliteLedger) -> None:
        old, new = await moved(ledger)
        for one in (old, new):
            await ledger.remove(VIEW, now=LATER + timedelta(days=1), memory_id=one)
        events = [[entry.event for entry in await ledger.history(VIEW, one)] for one in (old, new)]
        assert events == [["ADD", "SUPERSEDE", "DELETE"], ["ADD", "DELETE"]]
        assert await ledger.get(VIEW, old) is None

    on(path, work)
    ends = rows(path, "SELECT retired_at - recorded_at FROM versions WHERE text IS NOT NULL ORDER BY id")
    assert ends == [(0,), (86_400_000_000,)]  # the deletion did not move the moment of the replacement
    assert_whole(path)


@pytest.mark.parametrize("side", ["old", "new"])
def test_erasing_either_side_leaves_no_trace_of_it(path: Path, side: str) -> None:
    async def work(ledger: SqliteLedger) -> None:
        old, new = await moved(ledger)
        await ledger.remove(VIEW, now=LATER, memory_id=old if side == "old" else new, erase=True)
        other = new if side == "old" else old
        record = await ledger.get(VIEW, other)
        assert record is not None
        assert record.state == ("active" if side == "old" else "superseded")

    on(path, work)
    gone, kept = ("ghent", "porto") if side == "old" else ("porto", "ghent")
    assert traces(path, gone) == []
    assert traces(path, kept) == [path.name]
    assert rows(path, "SELECT * FROM links") == []
    assert_whole(path)


def test_a_receipt_that_repeats_an_erased_text_is_blanked(path: Path) -> None:
    async def work(ledger: SqliteLedger) -> None:
        (first,) = await say(ledger, "lives in Ghent", dedupe_key=b"k")
        (again, _) = await say(ledger, "It is Ghent where I live", "likes tea", dedupe_key=b"k")
        assert again.memory_id == first.memory_id
        await ledger.remove(VIEW, now=LATER, memory_id=first.memory_id, erase=True)

    on(path, work)
    assert rows(path, "SELECT receipt FROM episodes") == [('{"results":[],"status":"erased"}',)]


def test_a_copy_holds_states_and_links(path: Path, tmp_path: Path) -> None:
    old, new = on(path, moved)

    def copied(file: Path) -> list[bytes]:
        lines: list[bytes] = []
        on(file, lambda ledger: ledger.export(ALL, lines.append))
        return lines

    copy, lines = tmp_path / "copy.db", copied(path)
    done = on(copy, lambda ledger: ledger.restore(lines, now=NOW))
    assert (done.memories, done.links) == (2, 1)
    assert copied(copy) == lines
    assert_whole(copy)
    pairs = "SELECT o.uid, t.uid FROM links JOIN memories o ON o.id = origin JOIN memories t ON t.id = target"
    assert rows(copy, pairs) == [(new, old)]


def test_reembedding_gives_vectors_to_what_has_none_in_the_slot_that_is_there(path: Path) -> None:
    async def work(ledger: SqliteLedger) -> None:
        await say(ledger, "likes tea")
        facts = [Fact(f"fact {n}", (), INES, {}) for n in range(5)]
        plan = Plan(tuple(Add(fact, None) for fact in facts))
        await ledger.apply(plan, scope=INES, now=NOW, receipt=told)
        checkup = await ledger.check()
        assert (checkup.findings, checkup.unembedded) == ((), 5)
        done = await ledger.reembed(HashEmbedder(64))
        assert (done.model, done.embedded) == ("hash:64", 5)
        assert (await ledger.check()).unembedded == 0

    with Memory(path, embedder=HashEmbedder(64)) as warm:
        on(path, work)
        assert rows(path, "SELECT slot, name, state FROM models") == [(0, "hash:64", "active")]
        hits = warm.search("fact 3", user_id="ines", explain=True)["results"]
        assert [(hit["memory"], hit.get("score")) for hit in hits[:1]] == [("fact 3", 1)]


def test_a_ledger_that_began_without_vectors_takes_the_first_model(path: Path) -> None:
    async def work(ledger: SqliteLedger) -> None:
        await ledger.apply(
            Plan((Add(Fact("likes tea", (), INES, {}), None),)), scope=INES, now=NOW, receipt=told
        )
        assert (await ledger.reembed(HashEmbedder(64))).embedded == 1

    on(path, work)
    assert rows(path, "SELECT slot, name, state FROM models") == [(0, "hash:64", "active")]
    assert_whole(path)
