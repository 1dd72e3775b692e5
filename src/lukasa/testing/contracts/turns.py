"""Clauses on turns: source messages that are found beside the memories that came from them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lukasa.errors import ScopeError, Unsupported
from lukasa.ledger.base import Ledger, Plan, Probe, View
from lukasa.ledger.filters import parse
from lukasa.testing.contracts.clauses import (
    INES,
    LATER,
    NOW,
    OMAR,
    RED,
    LedgerClauses,
    episode,
    everything,
    fact,
    told,
)
from lukasa.types import Add, Episode, Message, Scope, Source

KEY = Probe(np.array([1, 0], np.float32), "key", 9)


def extracted(said: Episode, *facts: tuple[str, int]) -> Plan:
    """A plan that indexes its turns: each fact with the position of the message that it came from."""
    made = [replace(fact(text, scope=said.scope), sources=(Source(at, 0, 1, "user"),)) for text, at in facts]
    return Plan(tuple(Add(one, RED) for one in made), said, index_turns=True)


class TurnClauses(LedgerClauses):
    """See `LedgerContract`."""

    def test_turns_are_found_apart_from_memories(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            said = Episode(
                INES,
                (
                    Message("system", "mind the key", said_at=NOW),
                    Message("user", "my key is under the mat", "Ines", NOW),
                    Message("assistant", "noted, the key", None, LATER),
                    Message("tool", "weather: rain", None, LATER),
                ),
            )
            view = View(INES, NOW.date())
            assert await ledger.turns(view, KEY, everything) == []
            done = await ledger.apply(
                extracted(said, ("The key is there", 1)), scope=INES, now=NOW, receipt=told
            )
            found = await ledger.turns(view, KEY, everything)
            assert {turn.position: turn.message for turn in found} == {
                1: said.messages[1],
                2: said.messages[2],
            }
            assert {turn.episode_id for turn in found} == {done.episode_id}
            assert all(turn.parts["bm25"] > 0 for turn in found)
            rain = await ledger.turns(view, Probe(None, "rain", 1), everything)
            assert [turn.message.role for turn in rain] == ["tool"]
            assert [hit.record.text for hit in await ledger.search(view, KEY, everything)] == [
                "The key is there"
            ]

        self.run(tmp_path, work)

    def test_the_words_of_turns_count_for_nothing_among_memories(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            async def bm25() -> list[float]:
                hits = await ledger.search(View(INES, NOW.date()), KEY, everything)
                return [hit.parts["bm25"] for hit in hits]

            facts = Plan(tuple(Add(fact(text), RED) for text in ("a key", "a door of it", "rain")))
            await ledger.apply(facts, scope=INES, now=NOW, receipt=told)
            before = await bm25()
            many = extracted(episode(*(f"key number {n} " * n for n in range(1, 9))))
            await ledger.apply(many, scope=INES, now=NOW, receipt=told)
            assert await bm25() == before
            assert len(await ledger.turns(View(INES, NOW.date()), KEY, everything)) == 8

        self.run(tmp_path, work)

    def test_turns_stay_in_scope(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            guide = Scope(user_id="ines", agent_id="guide")
            for scope in (INES, guide, OMAR):
                said = extracted(episode(f"the key of {scope.user_id} {scope.agent_id}", scope=scope))
                await ledger.apply(said, scope=scope, now=NOW, receipt=told)
            for scope, texts in (
                (INES, {"the key of ines None", "the key of ines guide"}),
                (guide, {"the key of ines guide"}),
                (Scope(agent_id="guide"), {"the key of ines guide"}),
                (OMAR, {"the key of omar None"}),
                (Scope(user_id="nobody"), set[str]()),
            ):
                found = await ledger.turns(View(scope, NOW.date()), KEY, everything)
                assert {turn.message.text for turn in found} == texts
            with pytest.raises(ScopeError):
                await ledger.turns(View(Scope(), NOW.date()), KEY, everything)

        self.run(tmp_path, work)

    def test_turns_of_filters_or_of_the_past_are_refused(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            view = View(INES, NOW.date())
            for wrong in (replace(view, where=parse({"topic": "x"}).where), replace(view, as_of=NOW)):
                with pytest.raises(Unsupported):
                    await ledger.turns(wrong, KEY, everything)

        self.run(tmp_path, work)

    def test_a_turn_is_found_until_all_that_came_from_it_is_deleted(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            view = View(INES, NOW.date())

            async def found() -> set[str]:
                return {turn.message.text for turn in await ledger.turns(view, KEY, everything)}

            said = extracted(episode("key a", "key b", "key c"), ("one", 0), ("two", 0), ("three", 1))
            done = await ledger.apply(said, scope=INES, now=NOW, receipt=told)
            one, two, three = (written.memory_id for written in done.written)
            await ledger.remove(view, now=NOW, memory_id=one)
            assert await found() == {"key a", "key b", "key c"}
            await ledger.remove(view, now=NOW, memory_id=two)
            assert await found() == {"key b", "key c"}
            await ledger.remove(view, now=NOW, memory_id=three, erase=True)
            assert await found() == {"key c"}, "nothing came from it: it stays"
            await ledger.apply(extracted(episode("key d", scope=OMAR)), scope=OMAR, now=NOW, receipt=told)
            assert (await ledger.remove(view, now=NOW)).written == ()
            assert await found() == set()
            assert len(await ledger.turns(View(OMAR, NOW.date()), KEY, everything)) == 1

        self.run(tmp_path, work)

    def test_a_deletion_by_filter_leaves_what_supported_nothing(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            view = View(INES, NOW.date())
            said = extracted(episode("key a", "key b"), ("one", 0))
            await ledger.apply(said, scope=INES, now=NOW, receipt=told)
            await ledger.remove(replace(view, where=parse({"memory": "one"}).where), now=NOW)
            found = await ledger.turns(view, KEY, everything)
            assert [turn.message.text for turn in found] == ["key b"]

        self.run(tmp_path, work)

    def test_an_erasure_of_a_scope_erases_its_turns(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            for scope in (INES, OMAR):
                said = extracted(episode("key a", "key b", scope=scope), ("one", 0))
                done = await ledger.apply(said, scope=scope, now=NOW, receipt=told)
            await ledger.remove(View(INES, NOW.date()), now=NOW, erase=True)
            assert await ledger.turns(View(INES, NOW.date()), KEY, everything) == []
            kept = View(OMAR, NOW.date())
            assert len(await ledger.turns(kept, KEY, everything)) == 2
            (source,) = await ledger.evidence(kept, done.written[0].memory_id)
            assert source.message.text == "key a"

        self.run(tmp_path, work)
