"""5. Find it again: embed the question, ask the ledger, rank."""

from __future__ import annotations

from functools import partial

from lukasa.ledger.base import Found, Ledger, Probe, View
from lukasa.models.embed.base import Embedder
from lukasa.runtime import in_thread

# Twice what is shown and never few: words and meaning each bring their own, and both are then weighed.
_CANDIDATES_PER_RESULT, _CANDIDATES_AT_LEAST = 4, 60
# Of a question that is a whole document, the first words: each is a look-up of its own.
_WORDS = 64


async def recall(
    query: str, *, ledger: Ledger, embedder: Embedder, view: View, top_k: int, threshold: float
) -> list[Found]:
    """At most *top_k* memories of the view for *query*, best first."""
    # Imported here: they bring numpy and the stemmers' tables, which `import lukasa` does without.
    from lukasa.recall.rank import rank
    from lukasa.text.tokens import query_words

    vectors = await embedder.embed([query], use="query")
    words = await in_thread(query_words, query)
    probe = Probe(
        vector=vectors[0],
        words=words[:_WORDS],
        limit=max(_CANDIDATES_PER_RESULT * top_k, _CANDIDATES_AT_LEAST),
    )
    chosen = partial(rank, calibration=embedder.calibration, top_k=top_k, threshold=threshold)
    return await ledger.search(view, probe, chosen)
