"""Turns in the file: what is kept of them, when it goes, and that memories do not pay for them."""

from __future__ import annotations

import asyncio
import json
import secrets
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from lukasa import Memory
from lukasa.errors import InputError
from lukasa.ledger.base import TURN_ROLES, Applied, Plan, Probe, View
from lukasa.ledger.sqlite.ledger import SqliteLedger
from lukasa.ledger.sqlite.pool import Anchor, Pool
from lukasa.reconcile.verbatim import TRUST
from lukasa.testing import HashEmbedder
from lukasa.testing.contracts.clauses import everything
from lukasa.types import Add, Episode, Fact, Message, Scope, Source

T = TypeVar("T")
INES, OMAR = Scope(user_id="ines"), Scope(user_id="omar")
NOW = datetime(2026, 1, 2, tzinfo=UTC)
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
    return {"results": [{"id": one.memory_id, "memory": one.text} for one in applied.written]}


async def say(
    ledger: SqliteLedger,
    turns: Sequence[str],
    facts: Sequence[tuple[str, int]] = (),
    *,
    scope: Scope = INES,
    owner: Scope | None = None,
) -> list[str]:
    """Turns of a user, and facts with the turn that each came from: the facts' ids."""
    said = Episode(scope, tuple(Message("user", text, f"name-{text}", NOW) for text in turns))
    made = [Fact(text, (Source(at, 0, 1, "user"),), owner or scope, {}) for text, at in facts]
    plan = Plan(tuple(Add(fact, None) for fact in made), said, index_turns=True)
    done = await ledger.apply(plan, scope=scope, now=NOW, receipt=told)
    return [one.memory_id for one in done.written]


async def found(ledger: SqliteLedger, words: str, scope: Scope = INES) -> list[str]:
    vector = (await HashEmbedder(64).embed([words], use="query"))[0]
    view = View(scope, NOW.date())
    return [turn.message.text for turn in await ledger.turns(view, Probe(vector, words, 20), everything)]


def rows(path: Path, statement: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def assert_whole(path: Path) -> None:
    assert on(path, lambda ledger: ledger.check()).findings == ()


def canary(name: str) -> str:
    return name + "".join(secrets.choice("bcdfghjklmnpqrstvwxz") for _ in range(14))


def traces(path: Path, words: Sequence[str]) -> list[str]:
    held = [file.read_bytes().lower() for file in path.parent.iterdir() if file.is_file()]
    return [word for word in words if any(word.lower()[-8:].encode() in one for one in held)]


def test_who_has_turns_are_those_who_have_memories_word_for_word() -> None:
    assert set(TURN_ROLES) == set(TRUST)


def test_a_blank_turn_is_no_item(path: Path) -> None:
    on(path, lambda ledger: say(ledger, ["a key", " \n"]))
    assert rows(path, "SELECT count(*) FROM items") == [(1,)]


def test_reembedding_makes_turns_found_by_their_meaning(path: Path) -> None:
    async def work(ledger: SqliteLedger) -> None:
        await say(ledger, ["the blue kayak", "a florist"], [("has a kayak", 0)])
        assert await found(ledger, "kayak") == ["the blue kayak"]
        assert (await ledger.reembed(HashEmbedder(64))).embedded == 3
        assert await found(ledger, "kayak") == ["the blue kayak", "a florist"]
        assert rows(path, "SELECT slot, state FROM models") == [(0, "active")]
        probe = Probe((await HashEmbedder(64).embed(["a florist"], use="query"))[0], "nothing", 1)
        (nearest,) = await ledger.turns(View(INES, NOW.date()), probe, everything)
        assert nearest.message.text == "a florist"

    on(path, work)
    assert_whole(path)


def test_a_switch_of_models_takes_the_turns_along(path: Path) -> None:
    async def work(ledger: SqliteLedger) -> None:
        await say(ledger, [f"note {n}" for n in range(9)], [("a fact", 0)])
        await ledger.reembed(HashEmbedder(64))
        assert (await ledger.reembed(HashEmbedder(32), batch=2)).embedded == 10

    on(path, work)
    new = SqliteLedger(path, model="hash:32")
    vector = asyncio.run(HashEmbedder(32).embed(["note 4"], use="query"))[0]
    view = View(INES, NOW.date())
    turns = asyncio.run(new.turns(view, Probe(vector, "x", 1), everything))
    new.close()
    assert [turn.message.text for turn in turns] == ["note 4"]


def test_the_pool_of_memories_holds_no_turn_and_the_other_way_round(path: Path) -> None:
    async def work(ledger: SqliteLedger) -> None:
        await say(ledger, [f"turn {n}" for n in range(30)], [("a fact", 0)])

        def sizes(connection: sqlite3.Connection) -> list[int]:
            key, change = connection.execute("SELECT id, change FROM scopes").fetchone()
            pools = [Pool(Anchor("user_id", key, 0, turns), 64) for turns in (False, True)]
            for pool in pools:
                pool.refresh(connection, change, 0)
            return [pool.size for pool in pools]

        assert await ledger.connections.read(sizes) == [1, 30]

    on(path, work)


def test_indexes_serve_the_pools(path: Path) -> None:
    on(path, lambda ledger: say(ledger, ["a"]))
    for what, index in (("NULL", "items_user"), ("NOT NULL", "turns_user")):
        plan = rows(
            path,
            "EXPLAIN QUERY PLAN SELECT i.id FROM items i"
            f" WHERE i.user_key = 1 AND i.changed > 1 AND i.message IS {what}",
        )
        assert index in str(plan)


def test_what_leaves_the_index_leaves_no_posting_and_no_vector(path: Path) -> None:
    async def work(ledger: SqliteLedger) -> None:
        (one,) = await say(ledger, ["the blue kayak", "a florist"], [("has a kayak", 0)])
        await ledger.reembed(HashEmbedder(64))
        assert "the blue kayak" in await found(ledger, "kayak")  # its pool is warm
        await ledger.remove(View(INES, NOW.date()), now=NOW, memory_id=one)
        assert await found(ledger, "kayak") == ["a florist"]
        vector = (await HashEmbedder(64).embed(["the blue kayak"], use="query"))[0]
        # A cache that still held the turn would choose it, and have nothing to show.
        (nearest,) = await ledger.turns(View(INES, NOW.date()), Probe(vector, "x", 1), everything)
        assert nearest.message.text == "a florist"

    on(path, work)
    assert rows(path, "SELECT state FROM items ORDER BY id") == [(-1,), (1,), (-1,)]
    assert rows(path, "SELECT count(*) FROM vectors") == [(1,)]
    assert rows(path, "SELECT DISTINCT term FROM turn_postings ORDER BY term") == [("a",), ("florist",)]
    assert_whole(path)


def test_an_erasure_keeps_a_message_of_a_deleted_memory_but_not_its_turn(path: Path) -> None:
    async def work(ledger: SqliteLedger) -> None:
        one, two = await say(ledger, ["the blue kayak"], [("has a kayak", 0), ("it is blue", 0)])
        view = View(INES, NOW.date())
        await ledger.remove(view, now=NOW, memory_id=two)
        assert await found(ledger, "kayak") == ["the blue kayak"]
        await ledger.remove(view, now=NOW, memory_id=one, erase=True)
        assert await found(ledger, "kayak") == []

    on(path, work)
    assert rows(path, "SELECT text, erased FROM messages") == [("the blue kayak", 0)]
    assert rows(path, "SELECT count(*) FROM turn_postings") == [(0,)]
    assert_whole(path)


def test_the_turns_of_an_agent_leave_though_a_fact_of_its_user_stays(path: Path) -> None:
    async def work(ledger: SqliteLedger) -> None:
        guide = Scope(user_id="ines", agent_id="guide")
        await say(ledger, ["the blue kayak"], [("has a kayak", 0)], scope=guide, owner=INES)
        await say(ledger, ["another kayak"])
        await ledger.remove(View(Scope(agent_id="guide"), NOW.date()), now=NOW)
        assert await found(ledger, "kayak") == ["another kayak"]
        assert await ledger.count(View(INES, NOW.date())) == 1

    on(path, work)
    assert_whole(path)


@pytest.mark.parametrize("how", ["delete", "delete_all", "by agent", "reset", "deleted before"])
@pytest.mark.parametrize("embedded", [False, True])
def test_erased_turns_leave_no_trace(path: Path, how: str, embedded: bool) -> None:
    gone = [canary(f"gone{n}") for n in range(40)]
    kept = canary("kept")
    names = {"user_id": canary("user"), "agent_id": canary("agent")}
    scope = Scope(**names)

    async def work(ledger: SqliteLedger) -> None:
        await say(ledger, [kept], [(kept, 0)], scope=OMAR)
        facts = [(f"fact {word}", n) for n, word in enumerate(gone)]
        ids = await say(ledger, gone, facts if how == "delete" else facts[::3], scope=scope)
        if embedded:
            await ledger.reembed(HashEmbedder(64))
        await found(ledger, gone[0], scope)
        view = View(scope, NOW.date())
        match how:
            case "delete":
                for one in ids:
                    await ledger.remove(view, now=NOW, memory_id=one, erase=True)
            case "by agent":
                await ledger.remove(View(Scope(agent_id=scope.agent_id), NOW.date()), now=NOW, erase=True)
            case "reset":
                await ledger.remove(ALL, now=NOW, erase=True)
            case _:
                if how == "deleted before":
                    await ledger.remove(view, now=NOW)
                await ledger.remove(view, now=NOW, erase=True)
        assert traces(path, [*gone, *names.values()]) == []
        assert await found(ledger, gone[0], scope) == []
        assert await found(ledger, kept, OMAR) == ([] if how == "reset" else [kept])

    on(path, work)
    assert traces(path, [*gone, *names.values()]) == []
    assert_whole(path)


def test_erasing_one_memory_keeps_the_turns_of_others(path: Path) -> None:
    secret, kept, beside = canary("secret"), canary("kept"), canary("beside")

    async def work(ledger: SqliteLedger) -> None:
        one, _ = await say(ledger, [secret, kept, beside], [("one", 0), ("two", 1)])
        await ledger.remove(View(INES, NOW.date()), now=NOW, memory_id=one, erase=True)
        assert await found(ledger, f"{kept} {beside}") == [kept, beside]

    on(path, work)
    assert traces(path, [secret, kept, beside]) == [kept, beside]
    assert_whole(path)


def copied(path: Path) -> list[bytes]:
    lines: list[bytes] = []
    on(path, lambda ledger: ledger.export(ALL, lines.append))
    return lines


def test_a_copy_indexes_the_same_turns(path: Path, tmp_path: Path) -> None:
    async def work(ledger: SqliteLedger) -> None:
        one, _ = await say(ledger, ["the blue kayak", "a kayak", "kayak, kayak"], [("one", 0), ("two", 1)])
        await ledger.remove(View(INES, NOW.date()), now=NOW, memory_id=one)
        await ledger.reembed(HashEmbedder(64))

    on(path, work)
    with Memory(path, embedder=HashEmbedder(64)) as memory:
        memory.add("a kayak word for word", user_id="ines", infer=False)
    lines, copy = copied(path), tmp_path / "copy.db"
    on(copy, lambda ledger: ledger.restore(lines, now=NOW))
    assert copied(copy) == lines
    assert_whole(copy)
    assert sorted(on(copy, lambda ledger: found(ledger, "kayak"))) == ["a kayak", "kayak, kayak"]
    assert on(copy, lambda ledger: ledger.check()).unembedded == 2
    assert on(copy, lambda ledger: ledger.reembed(HashEmbedder(64))).embedded == 2


@pytest.mark.parametrize("wrong", [{"turn": 0}, {"turn": "x"}, {"turn": 1, "text": " "}, {"erased": 1}])
def test_a_turn_that_was_made_up_is_named(path: Path, tmp_path: Path, wrong: dict[str, object]) -> None:
    on(path, lambda ledger: say(ledger, ["a kayak"]))
    lines, copy = copied(path), tmp_path / "copy.db"
    value = json.loads(lines[1])
    value["episode"]["messages"][0].update(wrong)
    lines[1] = json.dumps(value).encode()
    with pytest.raises(InputError, match="line 2 of the copy"):
        on(copy, lambda ledger: ledger.restore(lines, now=NOW))
    assert_whole(copy)


def test_another_analyzer_makes_the_words_of_turns_anew(path: Path) -> None:
    on(path, lambda ledger: say(ledger, ["the blue kayak"], [("has a kayak", 0)]))
    for statement in (
        "UPDATE ledger SET analyzer = 'of old'",
        "UPDATE turn_postings SET term = 'x' || term",
        "UPDATE items SET length = 0",
    ):
        rows(path, statement)
    assert on(path, lambda ledger: found(ledger, "kayak")) == ["the blue kayak"]
    assert_whole(path)


def test_stats_count_the_turns_that_can_be_found(path: Path) -> None:
    async def work(ledger: SqliteLedger) -> int:
        (one,) = await say(ledger, ["a", "b", "c"], [("one", 0)])
        await ledger.remove(View(INES, NOW.date()), now=NOW, memory_id=one)
        return (await ledger.stats()).turns

    assert on(path, work) == 2
    other = SqliteLedger(path, space="other", model=None)
    assert asyncio.run(other.stats()).turns == 0
    other.close()


DAMAGE = {
    "of two kinds": ("items", "both", "UPDATE items SET memory = (SELECT max(id) FROM memories)"),
    "of nothing": ("items", "no memory", "UPDATE items SET message = NULL WHERE message IS NOT NULL"),
    "of an erased message": ("items", "erased", "UPDATE messages SET erased = 1"),
    "past": ("items", "neither", "UPDATE items SET state = 0 WHERE message IS NOT NULL"),
    "of somebody else": ("scopes", "episode", "UPDATE items SET agent_key = 1 WHERE message IS NOT NULL"),
    "a posting too few": ("postings", "other words", "DELETE FROM turn_postings WHERE term = 'kayak'"),
    "a posting of nothing": ("postings", "not there", "INSERT INTO turn_postings VALUES (1, 'x', 12345, 1)"),
    "a cache that is not told": ("counters", "caches", "UPDATE scopes SET change = 0"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_the_check_up_looks_at_turns(path: Path, damage: str) -> None:
    on(path, lambda ledger: say(ledger, ["the blue kayak"], [("has a boat", 0)]))
    assert_whole(path)
    check, problem, statement = DAMAGE[damage]
    rows(path, statement)
    findings = on(path, lambda ledger: ledger.check()).findings
    assert [one for one in findings if one.check == check and problem in one.problem]


def test_many_turns_are_found_through_several_statements(path: Path) -> None:
    async def work(ledger: SqliteLedger) -> None:
        await say(ledger, [f"kayak {n}" for n in range(1200)])
        view = View(INES, NOW.date())
        turns = await ledger.turns(view, Probe(None, "kayak", 1100), everything)
        assert len(turns) == len({turn.position for turn in turns}) == 1100
        signs = [turn.parts["bm25"] for turn in turns]
        assert np.isfinite(signs).all()

    on(path, work)
