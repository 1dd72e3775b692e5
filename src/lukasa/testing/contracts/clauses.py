"""What the clauses of the contract of ledgers share: a ledger to work on, and words to say to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lukasa.ledger.base import Applied, Ledger, Plan, Ranked, Signals
from lukasa.types import Add, Episode, Fact, Message, Scope, Source

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


class LedgerClauses:
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
