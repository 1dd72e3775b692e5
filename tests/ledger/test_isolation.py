"""Scopes and spaces: any sequence of verbs, compared with a plain dictionary of what each may see."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lukasa import Memory
from lukasa.errors import MemoryNotFound, StaleVersion
from lukasa.ledger.base import Applied, Plan, Probe, View
from lukasa.testing import FrozenClock, HashEmbedder
from lukasa.testing.contracts.clauses import everything
from lukasa.types import Add, Episode, Fact, Message, Scope, Source, Supersede

KINDS = ("user_id", "agent_id", "run_id", "app_id")
SPACES = ("default", "other")
# The same strings name users, agents and runs: nothing but the kind tells them apart.
NAMES = ("a", "b", "A")
WORDS = ("key", "bike", "dog")
TOPICS = ("tea", "work")

scopes = st.dictionaries(st.sampled_from(KINDS), st.sampled_from(NAMES), min_size=1, max_size=3)
fences = st.one_of(st.just(dict[str, str]()), scopes)
filters = st.one_of(
    st.none(),
    st.sampled_from(TOPICS).map(lambda topic: {"topic": topic}),
    st.sampled_from(TOPICS).map(lambda topic: {"NOT": [{"topic": topic}]}),
)
spaces = st.sampled_from(SPACES)
words = st.sampled_from(WORDS)


@dataclass
class Row:
    space: str
    scope: Mapping[str, str]
    text: str
    topic: str | None
    events: list[tuple[str, str | None]] = field(default_factory=list[tuple[str, str | None]])
    held: list[tuple[str, datetime]] = field(default_factory=list[tuple[str, datetime]])  # since when
    ended: datetime | None = None  # superseded then
    deleted: bool = False
    turn: bool = False  # what was said can be found too

    def inside(self, space: str, scope: Mapping[str, str]) -> bool:
        return space == self.space and all(self.scope.get(kind) == name for kind, name in scope.items())

    def text_at(self, moment: datetime) -> str | None:
        if self.ended is not None and self.ended <= moment:
            return None
        return next((text for text, since in reversed(self.held) if since <= moment), None)

    def passes(self, where: Mapping[str, object] | None) -> bool:
        if where is None:
            return True
        return self.topic == where["topic"] if "topic" in where else where != {"NOT": [{"topic": self.topic}]}


class Isolation(RuleBasedStateMachine):
    """The model holds every row; a verb may see and change those that are equal on the ids it names."""

    @initialize()
    def start(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.clock = FrozenClock()
        self.memories = {
            space: Memory(self.folder / "lukasa.db", embedder=HashEmbedder(64), space=space, clock=self.clock)
            for space in SPACES
        }
        self.rows: dict[str, Row] = {}
        self.serial = 0

    def teardown(self) -> None:
        for memory in self.memories.values():
            memory.close()
        shutil.rmtree(self.folder)

    def seen(
        self, space: str, scope: Mapping[str, str], where: Mapping[str, object] | None = None
    ) -> list[str]:
        """What a list may show, newest first."""
        return [
            one
            for one, row in reversed(self.rows.items())
            if row.inside(space, scope) and row.passes(where) and not row.deleted and row.ended is None
        ]

    def pick(self, number: int) -> str:
        return list(self.rows)[number % len(self.rows)]

    # --- writing

    @rule(space=spaces, scope=scopes, word=words, topic=st.sampled_from((None, *TOPICS)))
    def add(self, space: str, scope: dict[str, Any], word: str, topic: str | None) -> None:
        self.serial += 1
        self.clock.advance(seconds=1)
        text = f"the {word} number{self.serial}"
        metadata = None if topic is None else {"topic": topic}
        found = self.memories[space].add(text, metadata=metadata, **scope, infer=False)["results"]
        self.rows[found[0]["id"]] = Row(
            space, dict(scope), text, topic, [("ADD", text)], [(text, self.clock())]
        )

    @precondition(lambda self: self.rows)
    @rule(space=spaces, fence=fences, number=st.integers(0, 99), word=words)
    def update(self, space: str, fence: dict[str, Any], number: int, word: str) -> None:
        one = self.pick(number)
        row = self.rows[one]
        self.serial += 1
        text = f"the {word} number{self.serial}"
        if row.deleted or row.ended is not None or not row.inside(space, fence):
            with pytest.raises(MemoryNotFound):
                self.memories[space].update(one, text, metadata={"topic": "stolen"}, **fence)
        else:
            self.memories[space].update(one, text, metadata={"topic": "work"}, **fence)
            row.text, row.topic = text, "work"
            row.events.append(("UPDATE", text))
            row.held.append((text, self.clock()))

    @precondition(lambda self: self.rows)
    @rule(space=spaces, fence=fences, scope=scopes, number=st.integers(0, 99), word=words)
    def supersede(
        self, space: str, fence: dict[str, Any], scope: dict[str, Any], number: int, word: str
    ) -> None:
        one = self.pick(number)
        row = self.rows[one]
        self.serial += 1
        self.clock.advance(seconds=1)
        text, place = f"the {word} number{self.serial}", Scope(**scope)
        fact = Fact(text, (Source(0, 0, len(text), "user"),), place, {}, said_at=self.clock())
        seen = len([event for event, _ in row.events if event in ("ADD", "UPDATE")])
        plan = Plan(
            (Supersede(one, seen, by=1), Add(fact, self.vector(text))),
            Episode(place, (Message("user", text, said_at=self.clock()),)),
            index_turns=True,
        )
        if row.deleted or not row.inside(space, fence):
            with pytest.raises(MemoryNotFound):
                self.apply(space, Scope(**fence), plan)
        elif row.ended is not None:
            with pytest.raises(StaleVersion):
                self.apply(space, Scope(**fence), plan)
        else:
            ended, new = self.apply(space, Scope(**fence), plan).written
            assert (ended.event, ended.memory_id, ended.by) == ("SUPERSEDE", one, new.memory_id)
            row.ended = self.clock()
            row.events.append(("SUPERSEDE", None))
            self.rows[new.memory_id] = Row(
                space, dict(scope), text, None, [("ADD", text)], [(text, self.clock())], turn=True
            )

    def apply(self, space: str, scope: Scope, plan: Plan) -> Applied:
        ledger = self.memories[space].aio.house.ledger
        return asyncio.run(ledger.apply(plan, scope=scope, now=self.clock(), receipt=lambda _: {}))

    def vector(self, text: str) -> bytes:
        return asyncio.run(HashEmbedder(64).embed([text], use="passage"))[0].tobytes()

    @precondition(lambda self: self.rows)
    @rule(space=spaces, fence=fences, number=st.integers(0, 99), erase=st.booleans())
    def delete(self, space: str, fence: dict[str, Any], number: int, erase: bool) -> None:
        one = self.pick(number)
        row = self.rows[one]
        if not row.inside(space, fence) or (row.deleted and not erase):
            with pytest.raises(MemoryNotFound):
                self.memories[space].delete(one, erase=erase, **fence)
        else:
            self.memories[space].delete(one, erase=erase, **fence)
            self.take(one, erase=erase)

    @rule(space=spaces, scope=scopes, where=filters, erase=st.booleans())
    def delete_all(
        self, space: str, scope: dict[str, Any], where: dict[str, object] | None, erase: bool
    ) -> None:
        gone = [
            one
            for one, row in self.rows.items()
            if row.inside(space, scope) and row.passes(where) and (erase or not row.deleted)
        ]
        app = scope.get("app_id")
        found = self.memories[space].delete_all(
            scope.get("user_id"),
            scope.get("agent_id"),
            scope.get("run_id"),
            app_id=app,
            filters=where,
            erase=erase,
        )
        assert found["deleted"] == len(gone)
        for one in gone:
            self.take(one, erase=erase)

    @rule(space=spaces)
    def reset(self, space: str) -> None:
        self.memories[space].reset()
        self.rows = {one: row for one, row in self.rows.items() if row.space != space}

    def take(self, one: str, *, erase: bool) -> None:
        if erase:
            del self.rows[one]
        else:
            self.rows[one].deleted = True
            self.rows[one].events.append(("DELETE", None))

    # --- reading

    @rule(space=spaces, scope=scopes, where=filters, limit=st.sampled_from((3, 1000)))
    def list_and_count(
        self, space: str, scope: dict[str, Any], where: dict[str, object] | None, limit: int
    ) -> None:
        memory, wanted = self.memories[space], self.seen(space, scope, where)
        found = memory.get_all(filters=where, limit=limit, **scope)["results"]
        assert [item["id"] for item in found] == wanted[:limit]
        assert [item["memory"] for item in found] == [self.rows[one].text for one in wanted[:limit]]
        for item in found:
            shown = dict(item)
            assert {kind: shown[kind] for kind in KINDS if kind in shown} == self.rows[item["id"]].scope
        assert memory.count(filters=where, **scope) == len(wanted)

    @precondition(lambda self: self.rows)
    @rule(space=spaces, fence=fences, number=st.integers(0, 99))
    def get_and_history(self, space: str, fence: dict[str, Any], number: int) -> None:
        one, memory = self.pick(number), self.memories[space]
        row = self.rows[one]
        item = memory.get(one, **fence)
        if row.deleted or not row.inside(space, fence):
            assert item is None
            with pytest.raises(MemoryNotFound):
                memory.why(one, **fence)
        else:
            assert item is not None
            assert (item["memory"], (item["metadata"] or {}).get("topic")) == (row.text, row.topic)
            assert item["state"] == ("active" if row.ended is None else "superseded")
            assert memory.why(one, **fence)["sources"][0]["text"] == row.events[0][1]
        events = [(entry["event"], entry["new_memory"]) for entry in memory.history(one, **fence)]
        assert events == (row.events if row.inside(space, fence) else [])

    @rule(space=spaces, scope=scopes, where=filters, word=words, top_k=st.sampled_from((2, 1000)))
    def search(
        self, space: str, scope: dict[str, Any], where: dict[str, object] | None, word: str, top_k: int
    ) -> None:
        results = self.memories[space].search(word, filters=where, top_k=top_k, threshold=0, **scope)[
            "results"
        ]
        visible = self.seen(space, scope, where)
        found = [hit["id"] for hit in results]
        assert set(found) <= set(visible)
        assert len(found) == len(set(found)) == min(top_k, len(visible))
        assert all(hit["memory"] == self.rows[hit["id"]].text for hit in results)
        holding = [f" {word} " in self.rows[one].text for one in found]
        assert holding == sorted(holding, reverse=True)  # those that hold the word stand first

    @rule(space=spaces, scope=scopes, ago=st.integers(0, 9), word=words)
    def search_the_past(self, space: str, scope: dict[str, Any], ago: int, word: str) -> None:
        moment = self.clock() - timedelta(seconds=ago)
        held = {
            one: row.text_at(moment)
            for one, row in self.rows.items()
            if row.inside(space, scope) and not row.deleted
        }
        wanted = {one: text for one, text in held.items() if text is not None}
        memory = self.memories[space]
        page = memory.get_all(as_of=moment, limit=1000, **scope)["results"]
        assert {item["id"]: item["memory"] for item in page} == wanted
        assert memory.count(as_of=moment, **scope) == len(wanted)
        hits = memory.search(word, as_of=moment, top_k=1000, threshold=0, **scope)["results"]
        assert {hit["id"]: hit["memory"] for hit in hits} == wanted

    @rule(space=spaces, scope=scopes, word=words)
    def search_turns(self, space: str, scope: dict[str, Any], word: str) -> None:
        ledger, view = self.memories[space].aio.house.ledger, View(Scope(**scope), self.clock().date())
        found = asyncio.run(ledger.turns(view, Probe(None, word, 1000), everything))
        wanted = [
            row.held[0][0]
            for row in self.rows.values()
            if row.turn and not row.deleted and row.inside(space, scope)
        ]
        assert sorted(turn.message.text for turn in found) == sorted(
            text for text in wanted if f" {word} " in text
        )

    @rule(space=spaces)
    def open_again(self, space: str) -> None:
        self.memories[space].close()
        self.memories[space] = Memory(
            self.folder / "lukasa.db", embedder=HashEmbedder(64), space=space, clock=self.clock
        )

    @invariant()
    def everybodys_are_all_there(self) -> None:
        for space in SPACES:
            assert self.memories[space].count(all_scopes=True) == len(self.seen(space, {}))


IsolationTest = Isolation.TestCase
IsolationTest.settings = settings(
    max_examples=25,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
