"""Clauses on facts that replace others: what is known of them, what they end, what a plan is made on."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from lukasa.errors import InputError, MemoryNotFound, ScopeError, StaleVersion
from lukasa.ledger.base import Ledger, Plan, Probe, View
from lukasa.testing.contracts.clauses import (
    BLUE,
    INES,
    LATER,
    NOW,
    OMAR,
    RED,
    LedgerClauses,
    episode,
    everything,
    fact,
    plan,
    told,
)
from lukasa.types import Add, Revise, Scope, Supersede


class ReplacingClauses(LedgerClauses):
    """See `LedgerContract`."""

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

    def test_neighbours_are_near_by_meaning_or_words_or_of_the_same_attribute(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            view = View(INES, NOW.date())
            probe = Probe(np.array([1, 0], np.float32), "a key", 1)
            nothing = await ledger.neighbours(view, [probe], [("user", "home")])
            assert (nothing.basis, nothing.near, nothing.alike) == (0, ((),), ())
            home = fact("lives in Ghent", subject="user", attribute="home")
            facts = (fact("blue key"), home, fact("red door"), replace(home, subject="Bo"))
            adds = tuple(Add(one, row) for one, row in zip(facts, (BLUE, BLUE, RED, BLUE), strict=True))
            await ledger.apply(Plan(adds), scope=INES, now=NOW, receipt=told)
            by_words = Probe(None, "door", 9)
            known = await ledger.neighbours(view, [probe, by_words], [("user", "home"), ("user", "x")] * 2)
            texts = [[record.text for record in records] for records in known.near]
            assert texts == [["red door", "blue key"], ["red door"]]
            assert [(record.subject, record.text) for record in known.alike] == [("user", "lives in Ghent")]
            only = await ledger.neighbours(view, [], [("Bo", "home")])
            assert (only.basis, only.near, len(only.alike)) == (known.basis, (), 1)

        self.run(tmp_path, work)

    def test_neighbours_stay_in_scope_and_are_what_holds_now(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            guide = Scope(user_id="ines", agent_id="guide")
            places: tuple[tuple[Scope, str], ...] = ((INES, "mine"), (guide, "guide's"), (OMAR, "omar's"))
            for scope, text in places:
                home = fact(f"{text} home", scope=scope, subject="user", attribute="home")
                gone = replace(home, text=f"{text} past home")
                done = await ledger.apply(
                    Plan((Add(gone, RED), Add(home, RED))), scope=scope, now=NOW, receipt=told
                )
                end = Plan((Add(home, RED), Supersede(done.written[0].memory_id, 1, by=0)))
                done = await ledger.apply(end, scope=scope, now=LATER, receipt=told)
                await ledger.remove(View(scope, NOW.date()), now=LATER, memory_id=done.written[0].memory_id)
            probe = Probe(np.array([1, 0], np.float32), "home", 9)
            for scope, texts in (
                (INES, ["mine home", "guide's home"]),
                (guide, ["guide's home"]),
                (Scope(agent_id="guide"), ["guide's home"]),
                (OMAR, ["omar's home"]),
                (Scope(user_id="nobody"), []),
            ):
                known = await ledger.neighbours(View(scope, NOW.date()), [probe], [("user", "home")])
                assert [record.text for record in known.alike] == texts
                assert sorted(record.text for record in known.near[0]) == sorted(texts)
            with pytest.raises(ScopeError):
                await ledger.neighbours(View(Scope(), NOW.date(), everyone=True), [probe], [])

        self.run(tmp_path, work)

    def test_a_plan_is_stale_where_its_basis_moved_and_only_there(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            view = View(INES, NOW.date())
            before = (await ledger.neighbours(view, [], [])).basis
            first = Plan((Add(fact("a"), RED),), basis=before)
            await ledger.apply(first, scope=INES, now=NOW, receipt=told)
            with pytest.raises(StaleVersion, match="replan"):
                await ledger.apply(first, scope=INES, now=NOW, receipt=told)
            seen = (await ledger.neighbours(view, [], [])).basis
            await ledger.apply(plan(episode("b", scope=OMAR)), scope=OMAR, now=NOW, receipt=told)
            again = replace(first, basis=seen)
            await ledger.apply(again, scope=INES, now=NOW, receipt=told)
            assert await ledger.count(view) == 2
            agents = Scope(user_id="ines", agent_id="guide")
            within = (await ledger.neighbours(replace(view, scope=agents), [], [])).basis
            await ledger.remove(view, now=NOW)
            with pytest.raises(StaleVersion, match="replan"):
                await ledger.apply(replace(first, basis=within), scope=agents, now=NOW, receipt=told)
            assert await ledger.count(view) == 0

        self.run(tmp_path, work)

    def test_a_replay_needs_no_basis(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            said = replace(plan(episode("a", idempotency_key=b"k" * 32)), basis=0)
            first = await ledger.apply(said, scope=INES, now=NOW, receipt=told)
            assert (await ledger.apply(said, scope=INES, now=NOW, receipt=told)).replayed == told(first)

        self.run(tmp_path, work)

    def test_why_tells_of_one_moment_what_the_other_reads_tell(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            view = View(INES, NOW.date())
            first = await ledger.apply(plan(episode("lives in Ghent")), scope=INES, now=NOW, receipt=told)
            old = first.written[0].memory_id
            end = Plan((Add(fact("lives in Porto"), BLUE), Supersede(old, 1, by=0)))
            new = (await ledger.apply(end, scope=INES, now=LATER, receipt=told)).written[0].memory_id
            for one, replaces, replaced_by in ((old, (), (new,)), (new, (old,), ())):
                told_of = await ledger.why(view, one)
                assert told_of is not None
                assert told_of.record == await ledger.get(view, one)
                assert list(told_of.evidence) == await ledger.evidence(view, one)
                assert list(told_of.history) == await ledger.history(view, one)
                assert (told_of.replaces, told_of.replaced_by) == (replaces, replaced_by)
            assert await ledger.why(replace(view, scope=OMAR), old) is None
            await ledger.remove(view, now=LATER, memory_id=new)
            assert await ledger.why(view, new) is None
            ended = await ledger.why(view, old)
            assert ended is not None
            assert (ended.record.state, ended.replaced_by) == ("superseded", ())

        self.run(tmp_path, work)
