"""5. Find it again: embed the question, ask the ledger, rank."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from lukasa.ledger.base import Found, FoundTurn, Ledger, Probe, Rank, View
from lukasa.models.embed.base import Embedder
from lukasa.runtime import unforked

# Several times what is shown, never few: words and meaning each bring their own, and both are then weighed.
_CANDIDATES_PER_RESULT, _CANDIDATES_AT_LEAST = 4, 60


@dataclass(frozen=True, slots=True)
class Asking:
    """A question, where to look, how many answers at most, and the least score of one."""

    query: str
    view: View
    top_k: int
    threshold: float


async def recall(asking: Asking, *, ledger: Ledger, embedder: Embedder) -> list[Found]:
    """The memories that answer, best first."""
    probe, choose = await _prepared(asking, embedder)
    return await ledger.search(asking.view, probe, choose)


async def recall_turns(asking: Asking, *, ledger: Ledger, embedder: Embedder) -> list[FoundTurn]:
    """What was said that answers, whether it became a memory or not, best first."""
    probe, choose = await _prepared(asking, embedder)
    return await ledger.turns(asking.view, probe, choose)


async def _prepared(asking: Asking, embedder: Embedder) -> tuple[Probe, Rank]:
    with unforked():
        from lukasa.recall.rank import rank  # brings numpy, which `import lukasa` does without

    vectors = await embedder.embed([asking.query], use="query")
    most = max(_CANDIDATES_PER_RESULT * asking.top_k, _CANDIDATES_AT_LEAST)
    calibration = embedder.calibration.of(asking.query)
    choose = partial(rank, calibration=calibration, top_k=asking.top_k, threshold=asking.threshold)
    return Probe(vectors[0], asking.query, limit=most), choose
