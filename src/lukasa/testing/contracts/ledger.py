"""What every ledger must do, as tests: subclass `LedgerContract` and say how yours is opened."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from lukasa.errors import IdempotencyConflict, InputError, MemoryNotFound, ScopeError, StaleVersion
from lukasa.ledger.base import Applied, Ledger, Plan, Probe, Ranked, Signals, View
from lukasa.types import Add, Episode, Fact, Message, Revise, Scope, Source, Supersede

T = TypeVar("T")

INES, OMAR = Scope(user_id="ines"), Scope(user_id="omar")
NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=30)
RED, BLUE = (np.array(row, np.float32).tobytes() for row in ((1, 0), (0, 1)))


def episode(*texts: str, scope: Scope = INES, **more: Any) -> Episode:  # Any: the fields of Episode
    """What was said: one user turn a text."""
    return Episode(scope, tuple(Message("user", text, said_at=NOW) for text in texts), **more)


def plan(said: Episode, *, vectors: Sequence[bytes] = (), **more: Any) -> Plan:  # Any: the fields of Fact
    """A memory a turn, word for word."""
    made = [
        Fact(
            m.text, (Source(n, 0, len(m.text), "user"),), said.scope, said.metadata, said_at=m.said_at, **more
        )
        for n, m in enumerate(said.messages)
    ]
    rows = vectors or [RED] * len(made)
    return Plan(tuple(Add(fact, row) for fact, row in zip(made, rows, strict=True)), said)


def fact(text: str, *, scope: Scope = INES, **more: Any) -> Fact:  # Any: the fields of Fact
    """A fact without a source."""
    return Fact(text, (), scope, {}, **more)


def told(applied: Applied) -> Mapping[str, object]:
    """A receipt: the ids that were stored."""
    return {"ids": [one.memory_id for one in applied.written]}


def everything(signals: Signals) -> Ranked:
    """A ranking that keeps every candidate, most words first, then nearest meaning."""
    order = np.lexsort((signals.item, -np.nan_to_num(signals.cosine), -signals.bm25)).tolist()
    return Ranked(order, {"bm25": [float(signals.bm25[at]) for at in order]})


class LedgerContract:
    """Clauses that a ledger's tests inherit; each opens a ledger of its own in pytest's `tmp_path`."""

    def ledger(self, path: Path) -> Ledger:
        """A new ledger under *path*, of a model "contract" with two dimensions. To be overridden."""
        raise NotImplementedError

    def run(self, path: Path, work: Callable[[Ledger], Awaitable[T]]) -> T:
        """*work* on a ledger that is closed afterwards."""

        async def opened() -> T:
            ledger = self.ledger(path)
            try:
                return await work(ledger)
            finally:
                await ledger.aclose()

        return asyncio.run(opened())

    def test_what_was_applied_is_read_back(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            done = await ledger.apply(plan(episode("a", "b")), scope=INES, now=NOW, receipt=told)
            view = View(INES, NOW.date())
            page = await ledger.page(view, limit=1)
            assert [record.text for record in page.records] == ["b"]
            rest = await ledger.page(view, limit=5, cursor=page.cursor)
            assert ([record.text for record in rest.records], rest.cursor) == (["a"], None)
            assert await ledger.count(view) == 2
            one = done.written[0].memory_id
            (source,) = await ledger.evidence(view, one)
            assert (source.message.text, source.start, source.end, source.trust) == ("a", 0, 1, "user")

        self.run(tmp_path, work)

    def test_nothing_is_seen_or_changed_from_another_scope(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            done = await ledger.apply(plan(episode("key")), scope=INES, now=NOW, receipt=told)
            await ledger.apply(plan(episode("key", scope=OMAR)), scope=OMAR, now=NOW, receipt=told)
            one, foreign = done.written[0].memory_id, View(OMAR, NOW.date())
            assert await ledger.get(foreign, one) is None
            assert await ledger.history(foreign, one) == []
            assert (await ledger.remove(foreign, now=NOW, memory_id=one, erase=True)).written == ()
            with_another = Plan((Revise(one, 1, text="mine now", vector=RED),))
            with pytest.raises(MemoryNotFound):
                await ledger.apply(with_another, scope=OMAR, now=NOW, receipt=told)
            found = await ledger.search(foreign, Probe(np.array([1, 0], np.float32), "key", 10), everything)
            assert [hit.record.scope for hit in found] == [OMAR]

        self.run(tmp_path, work)

    def test_a_view_of_everybody_must_say_so(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            await ledger.apply(plan(episode("key")), scope=INES, now=NOW, receipt=told)
            nobody = View(Scope(), NOW.date())
            for call in (ledger.count(nobody), ledger.page(nobody, limit=1), ledger.remove(nobody, now=NOW)):
                with pytest.raises(ScopeError):
                    await call
            assert await ledger.count(replace(nobody, everyone=True)) == 1

        self.run(tmp_path, work)

    def test_a_decision_on_an_old_version_is_stale_and_writes_nothing(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            done = await ledger.apply(plan(episode("a")), scope=INES, now=NOW, receipt=told)
            one = done.written[0].memory_id
            change = Revise(one, 1, text="b", vector=BLUE)
            await ledger.apply(Plan((change,)), scope=INES, now=NOW, receipt=told)
            with pytest.raises(StaleVersion):
                await ledger.apply(
                    Plan((change, replace(change, text="c"))), scope=INES, now=NOW, receipt=told
                )
            history = await ledger.history(View(INES, NOW.date()), one)
            assert [(entry.event, entry.old_text, entry.new_text) for entry in history] == [
                ("ADD", None, "a"),
                ("UPDATE", "a", "b"),
            ]

        self.run(tmp_path, work)

    def test_the_same_fact_is_stored_once_however_many_add_it_at_once(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            adds = [
                ledger.apply(plan(episode("a"), dedupe_key=b"a"), scope=INES, now=NOW, receipt=told)
                for _ in range(8)
            ]
            events = [one.event for done in await asyncio.gather(*adds) for one in done.written]
            assert sorted(events) == ["ADD"] + ["NONE"] * 7
            twice = plan(episode("b", "b"), dedupe_key=b"b")
            done = await ledger.apply(twice, scope=INES, now=NOW, receipt=told)
            assert [one.event for one in done.written] == ["ADD", "NONE"]
            assert len({one.memory_id for one in done.written}) == 1
            await ledger.apply(
                plan(episode("a", scope=OMAR), dedupe_key=b"a"), scope=OMAR, now=NOW, receipt=told
            )
            assert await ledger.count(View(OMAR, NOW.date())) == 1

        self.run(tmp_path, work)

    def test_what_has_expired_makes_room_for_the_same_fact(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            until = plan(episode("a"), dedupe_key=b"a", expires_on=date(2026, 1, 3))
            first = await ledger.apply(until, scope=INES, now=NOW, receipt=told)
            later = NOW + timedelta(days=9)
            view = View(INES, later.date())
            assert await ledger.count(view) == 0
            again = await ledger.apply(
                plan(episode("a"), dedupe_key=b"a"), scope=INES, now=later, receipt=told
            )
            assert [one.event for one in again.written] == ["ADD"]
            assert await ledger.count(view) == 1
            assert await ledger.count(replace(view, show_expired=True)) == 2
            events = [entry.event for entry in await ledger.history(view, first.written[0].memory_id)]
            assert events == ["ADD", "EXPIRE"]

        self.run(tmp_path, work)

    def test_a_repeated_key_answers_as_the_first_time_and_another_request_is_a_conflict(
        self, tmp_path: Path
    ) -> None:
        async def work(ledger: Ledger) -> None:
            said = episode("a", idempotency_key=b"k" * 32, request=b"r")
            first = await ledger.apply(plan(said), scope=INES, now=NOW, receipt=told)
            assert await ledger.replay(said) == told(first)
            again = await ledger.apply(plan(said), scope=INES, now=NOW, receipt=told)
            assert again.replayed == told(first)
            assert await ledger.count(View(INES, NOW.date())) == 1
            with pytest.raises(IdempotencyConflict):
                await ledger.replay(replace(said, request=b"another"))

        self.run(tmp_path, work)

    def test_words_alone_and_meaning_alone_are_each_enough(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            said = plan(episode("red key", "blue door"), vectors=[RED, BLUE])
            await ledger.apply(said, scope=INES, now=NOW, receipt=told)
            view = View(INES, NOW.date())
            probe = Probe(np.array([0, 1], np.float32), "key", 1)
            found = await ledger.search(view, probe, everything)
            assert [hit.record.text for hit in found] == ["red key", "blue door"]

        self.run(tmp_path, work)

    def test_what_was_removed_is_in_no_search_and_what_was_erased_in_no_history(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            done = await ledger.apply(plan(episode("key a", "key b")), scope=INES, now=NOW, receipt=told)
            first, second = (one.memory_id for one in done.written)
            view = View(INES, NOW.date())
            await ledger.remove(view, now=NOW, memory_id=first)
            await ledger.remove(view, now=NOW, memory_id=second, erase=True)
            probe = Probe(np.array([1, 0], np.float32), "key", 9)
            assert await ledger.search(view, probe, everything) == []
            assert [entry.event for entry in await ledger.history(view, first)] == ["ADD", "DELETE"]
            assert await ledger.history(view, second) == []

        self.run(tmp_path, work)

    def test_a_fact_keeps_what_is_known_of_it(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            made = fact("works at Acme", categories=("work", "二"), event_from=NOW, event_to=LATER)
            made = replace(made, subject="user", attribute="employer", importance=0.8, confidence=0.5)
            done = await ledger.apply(Plan((Add(made, RED),)), scope=INES, now=NOW, receipt=told)
            one = done.written[0].memory_id
            await ledger.apply(
                Plan((Revise(one, 1, "works at Bolt", BLUE),)), scope=INES, now=NOW, receipt=told
            )
            record = await ledger.get(View(INES, NOW.date()), one)
            assert record is not None
            assert (record.subject, record.attribute) == ("user", "employer")
            assert (record.importance, record.confidence) == (0.8, 0.5)
            assert (record.text, record.categories) == ("works at Bolt", ("work", "二"))

        self.run(tmp_path, work)

    def test_a_memory_without_a_vector_is_found_by_its_words(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            await ledger.apply(Plan((Add(fact("red key"), None),)), scope=INES, now=NOW, receipt=told)
            view = View(INES, NOW.date())
            probes = [Probe(np.array([1, 0], np.float32), "key", 5), Probe(None, "key", 5)]
            for probe in probes:
                assert [hit.record.text for hit in await ledger.search(view, probe, everything)] == [
                    "red key"
                ]
            await ledger.apply(Plan((Add(fact("red door"), RED),)), scope=INES, now=NOW, receipt=told)
            for probe, found in zip(probes, (["red key", "red door"], ["red key"]), strict=True):
                hits = await ledger.search(view, probe, everything)
                assert [hit.record.text for hit in hits] == found

        self.run(tmp_path, work)

    def test_what_is_superseded_held_until_then_and_is_not_found_since(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            first = await ledger.apply(plan(episode("lives in Ghent")), scope=INES, now=NOW, receipt=told)
            old = first.written[0].memory_id
            moved = Add(fact("lives in Porto", said_at=LATER), BLUE)
            end = Supersede(old, 1, by=1, reason="moved")
            done = await ledger.apply(
                Plan((end, moved, Add(fact("likes tea"), RED))), scope=INES, now=LATER, receipt=told
            )
            ended, new, _ = done.written
            assert (ended.event, ended.memory_id, ended.text) == ("SUPERSEDE", old, "lives in Ghent")
            assert (ended.by, new.event, new.text) == (new.memory_id, "ADD", "lives in Porto")
            now = View(INES, LATER.date())
            probe = Probe(np.array([1, 0], np.float32), "lives in", 9)
            for view, texts in (
                (now, {"lives in Porto", "likes tea"}),
                (replace(now, as_of=LATER), {"lives in Porto", "likes tea"}),
                (replace(now, as_of=LATER - timedelta(days=1)), {"lives in Ghent"}),
            ):
                found = await ledger.search(view, probe, everything)
                assert {hit.record.text for hit in found} == texts
                assert {record.text for record in (await ledger.page(view, limit=9)).records} == texts
                assert await ledger.count(view) == len(texts)
            record = await ledger.get(now, old)
            assert record is not None
            assert (record.state, record.text, record.version) == ("superseded", "lives in Ghent", 1)
            assert await ledger.get(replace(now, as_of=LATER), old) is None
            history = await ledger.history(now, old)
            assert [(entry.event, entry.new_text, entry.reason) for entry in history] == [
                ("ADD", "lives in Ghent", None),
                ("SUPERSEDE", None, "moved"),
            ]

        self.run(tmp_path, work)

    def test_a_memory_ends_when_what_ended_it_happened_but_not_before_it_began(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            said = [Add(fact(text, said_at=NOW), RED) for text in ("lives in Ghent", "works at Acme")]
            first = await ledger.apply(Plan(tuple(said)), scope=INES, now=NOW, receipt=told)
            days = [NOW + timedelta(days=10), NOW - timedelta(days=10)]
            adds = [Add(fact(f"moved {n}", said_at=LATER, event_from=day), RED) for n, day in enumerate(days)]
            ends = [Supersede(one.memory_id, 1, by=n) for n, one in enumerate(first.written)]
            await ledger.apply(Plan((*adds, *ends)), scope=INES, now=LATER, receipt=told)
            for day, texts in (
                (NOW - timedelta(days=5), {"moved 1"}),
                (NOW + timedelta(days=5), {"lives in Ghent", "moved 1"}),
                (NOW + timedelta(days=15), {"moved 0", "moved 1"}),
            ):
                page = await ledger.page(View(INES, NOW.date(), as_of=day), limit=9)
                assert {record.text for record in page.records} == texts

        self.run(tmp_path, work)

    def test_a_fact_that_is_known_already_replaces_as_the_memory_that_says_it(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            twin, old = (Add(fact(text, dedupe_key=text.encode()), RED) for text in ("new", "old"))
            first = await ledger.apply(Plan((twin, old)), scope=INES, now=NOW, receipt=told)
            known, ended = (one.memory_id for one in first.written)
            again = Plan((twin, Supersede(ended, 1, by=0), Supersede(known, 1, by=0)))
            done = await ledger.apply(again, scope=INES, now=LATER, receipt=told)
            assert [(one.memory_id, one.event, one.by) for one in done.written] == [
                (known, "NONE", None),
                (ended, "SUPERSEDE", known),
                (known, "NONE", None),
            ]
            page = await ledger.page(View(INES, NOW.date()), limit=9)
            assert [(record.id, record.state) for record in page.records] == [(known, "active")]

        self.run(tmp_path, work)

    def test_what_is_superseded_is_fenced_and_checked_like_a_revision(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            done = await ledger.apply(plan(episode("a", "gone")), scope=INES, now=NOW, receipt=told)
            one, gone = (written.memory_id for written in done.written)
            await ledger.remove(View(INES, NOW.date()), now=NOW, memory_id=gone)
            for scope, memory_id, seen, error in (
                (OMAR, one, 1, MemoryNotFound),
                (INES, gone, 1, MemoryNotFound),
                (INES, "absent", 1, MemoryNotFound),
                (INES, one, 2, StaleVersion),
            ):
                wrong = Plan((Add(fact("b", scope=scope), BLUE), Supersede(memory_id, seen, by=0)))
                with pytest.raises(error):
                    await ledger.apply(wrong, scope=scope, now=LATER, receipt=told)
                assert await ledger.count(View(scope, NOW.date())) == (1 if scope == INES else 0)
            right = Plan((Add(fact("b"), BLUE), Supersede(one, 1, by=0)))
            await ledger.apply(right, scope=INES, now=LATER, receipt=told)
            with pytest.raises(StaleVersion):
                await ledger.apply(right, scope=INES, now=LATER, receipt=told)
            with pytest.raises(InputError):
                await ledger.apply(Plan((Supersede(one, 1, by=0),)), scope=INES, now=NOW, receipt=told)

        self.run(tmp_path, work)
