"""5. Find it again: embed the question, ask the ledger, rank."""

from __future__ import annotations

from functools import partial

from lukasa.ledger.base import Found, Ledger, Probe, View
from lukasa.models.embed.base import Embedder
from lukasa.runtime import unforked

# Twice what is shown and never few: words and meaning each bring their own, and both are then weighed.
_CANDIDATES_PER_RESULT, _CANDIDATES_AT_LEAST = 4, 60


async def recall(
    query: str, *, ledger: Ledger, embedder: Embedder, view: View, top_k: int, threshold: float
) -> list[Found]:
    """At most *top_k* memories of the view for *query*, best first."""
    with unforked():
        from lukasa.recall.rank import rank  # brings numpy, which `import lukasa` does without

    vectors = await embedder.embed([query], use="query")
    most = max(_CANDIDATES_PER_RESULT * top_k, _CANDIDATES_AT_LEAST)
    probe = Probe(vectors[0], query, limit=most)
    chosen = partial(rank, calibration=embedder.calibration.of(query), top_k=top_k, threshold=threshold)
    return await ledger.search(view, probe, chosen)
