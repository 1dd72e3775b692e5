"""From signals to an order and a score. Pure; the same for every ledger.

Two numbers are made of the same signals. The *rank* decides the order: the cosine in standard deviations
above what unrelated texts get with this embedder, plus weighted BM25. The *score* is what a caller sees and
`threshold` cuts: 0 for the unrelated, 1 for the same text, whatever the embedder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lukasa.ledger.base import Ranked, Signals
from lukasa.models.embed.base import Calibration

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Weights:
    """How much the words count beside the meaning. Fitted by `make bench-recall` on the tuning data."""

    bm25: float = 8.0  # in standard deviations of the cosine, for a text that holds all that was asked
    keyword: float = 0.6  # the score of a text that holds every word of the query and means something else


WEIGHTS = Weights()
_DIGITS = 6  # the last bits of a float32 product depend on where in the matrix a row stands


def rank(
    signals: Signals,
    *,
    calibration: Calibration,
    top_k: int,
    threshold: float,
    weights: Weights = WEIGHTS,
) -> Ranked:
    """The best *top_k* whose score reaches *threshold*, best first; equals in order of item."""
    # An item that has no vector yet is judged by its words alone.
    cosine = np.where(np.isnan(signals.cosine), calibration.floor, signals.cosine)
    similarity = np.clip((cosine - calibration.floor) / (calibration.same - calibration.floor), 0, 1)
    score = np.round(1 - (1 - similarity) * (1 - weights.keyword * signals.coverage), _DIGITS)
    strength = (cosine - calibration.mean) / calibration.spread + weights.bm25 * signals.bm25
    # Rounded: the last bits of a product depend on where in the matrix a row stands, and equals must tie.
    order = np.lexsort((signals.item, -np.round(strength, 4)))
    order = order[score[order] >= threshold][:top_k]
    parts: dict[str, NDArray[np.floating]] = {
        "semantic_score": similarity,
        "bm25_score": signals.bm25,
        "keyword_coverage": signals.coverage,
        "cosine": signals.cosine,
        "rank_score": strength,
        "final_score": score,
    }
    return Ranked(order.tolist(), {name: _column(values[order]) for name, values in parts.items()})


def _column(values: NDArray[np.floating]) -> list[float]:
    return np.round(values.astype(np.float64), _DIGITS).tolist()
