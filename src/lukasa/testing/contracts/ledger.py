"""What every ledger must do, as tests: subclass `LedgerContract` and say how yours is opened."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from lukasa.errors import IdempotencyConflict, MemoryNotFound, ScopeError, StaleVersion
from lukasa.ledger.base import Ledger, Plan, Probe, View
from lukasa.testing.contracts.clauses import (
    BLUE,
    INES,
    NOW,
    OMAR,
    RED,
    episode,
    everything,
    plan,
    told,
)
from lukasa.testing.contracts.replacing import ReplacingClauses
from lukasa.testing.contracts.turns import TurnClauses
from lukasa.types import Revise, Scope


class LedgerContract(ReplacingClauses, TurnClauses):
    """All clauses, each on a ledger of its own in pytest's `tmp_path`."""

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
