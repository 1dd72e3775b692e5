"""Facts beside what is known: look, decide, apply; again where another writer was faster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

from lukasa.errors import StaleVersion
from lukasa.ledger.base import Applied, Ledger, Plan, Probe, View
from lukasa.reconcile.plan import Decision, decide, dedupe_key
from lukasa.runtime import in_thread
from lukasa.types import Add, Episode, Fact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TRIES = 20
_NEAREST = 10


Receipt: TypeAlias = Callable[[Decision, Applied], Mapping[str, object]]
"""What a call answers, made of what was decided and what was done."""


async def reconcile(
    episode: Episode,
    facts: Sequence[Fact],
    vectors: Sequence[NDArray[np.float32] | None],
    *,
    ledger: Ledger,
    now: datetime,
    receipt: Receipt,
) -> tuple[Decision, Applied]:
    """Store what is new in *facts*, end what they contradict, with the episode, in one transaction.

    What one owner's memories say is compared whatever other ids they carry. Raises what `Ledger.apply` does.
    """
    owner = episode.scope.owner()
    keyed = [replace(fact, dedupe_key=dedupe_key(fact.text, fact.scope)) for fact in facts]
    probes = [Probe(vector, fact.text, _NEAREST) for fact, vector in zip(facts, vectors, strict=True)]
    attributes = sorted({(f.subject, f.attribute) for f in facts if f.subject and f.attribute})
    stored = in_bytes(vectors)
    view = View(owner, now.date())
    for attempt in count(1):
        known = await ledger.neighbours(view, probes, attributes)
        decision = await in_thread(decide, keyed, stored, known)
        plan = Plan(decision.changes, episode, basis=known.basis, index_turns=True)
        try:
            return decision, await ledger.apply(
                plan, scope=owner, now=now, receipt=partial(receipt, decision)
            )
        except StaleVersion:
            if attempt == _TRIES:
                raise
    raise AssertionError


async def keep(
    episode: Episode,
    facts: Sequence[Fact],
    vectors: Sequence[NDArray[np.float32] | None],
    *,
    ledger: Ledger,
    now: datetime,
    receipt: Receipt,
) -> tuple[Decision, Applied]:
    """Store all of *facts*, whatever is known: they are what was said, word for word."""
    decision = Decision(tuple(map(Add, facts, in_bytes(vectors))))
    return decision, await ledger.apply(
        Plan(decision.changes, episode), scope=episode.scope, now=now, receipt=partial(receipt, decision)
    )


def in_bytes(vectors: Sequence[NDArray[np.float32] | None]) -> list[bytes | None]:
    """Vectors as the ledger keeps them."""
    return [None if vector is None else vector.tobytes() for vector in vectors]
