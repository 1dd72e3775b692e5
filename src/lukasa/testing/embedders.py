"""An embedder without a model: texts that share words are close. Fast enough for speed benchmarks."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from lukasa.errors import ConfigError, EmbeddingError
from lukasa.models.embed.base import Calibration
from lukasa.models.embed.rows import unit_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lukasa.models.embed.base import Matrix, Use

_LANES = 8  # components a word; with 8 of 384, two words have a cosine of 0 ± .05
_OWN = 0.1  # weight of what is the text's own, beside its words
_CHUNK = 512

_ASCII = re.compile(r"[a-z0-9_]+")
# Runs of scripts that are written without spaces (Han, kana, Hangul), or words.
_ANY = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+|\w+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")


class HashEmbedder:
    """Deterministic vectors from the words of a text (character pairs in Chinese, Japanese and Korean).

    A query and a passage of one text get one vector; distinct texts get distinct ones. *vectors* gives
    chosen texts vectors of your own (whose length is then the dimension). A call that holds one of
    *fail_on* raises `EmbeddingError`, as an outage would. `calls` holds every call, in order.
    """

    def __init__(
        self,
        dim: int = 384,
        *,
        vectors: Mapping[str, Sequence[float]] | None = None,
        fail_on: Collection[str] = (),
    ) -> None:
        lengths = {len(vector) for vector in (vectors or {}).values()} or {dim}
        if len(lengths) > 1 or min(lengths) < 1:
            raise ConfigError(f"vectors must have one length of 1 or more, not {sorted(lengths)}")
        self.dim = lengths.pop()
        self.calls: list[tuple[Use, tuple[str, ...]]] = []
        self.fail_on = frozenset(fail_on)
        self._fixed = {
            text: unit_rows([vector], count=1, provider="hash")[0] for text, vector in (vectors or {}).items()
        }

    @property
    def model(self) -> str:
        """ "hash:" and the dimension."""
        return f"hash:{self.dim}"

    @property
    def calibration(self) -> Calibration:
        """The neutral default, which is true here: unrelated texts get a cosine near 0."""
        return Calibration()

    async def embed(self, texts: Sequence[str], *, use: Use) -> Matrix:
        """One unit row a text. Raises `EmbeddingError` for a blank text, or one that is to fail."""
        self.calls.append((use, tuple(texts)))
        for text in texts:
            if text in self.fail_on:
                raise _failure(f"told to fail on {text!r}", retryable=True)
            if not text.strip().strip("\0"):
                raise _failure("a text is blank: there is nothing to embed", retryable=False)
        rows = np.empty((len(texts), self.dim), dtype=np.float32)
        for start in range(0, len(texts), _CHUNK):
            chunk = texts[start : start + _CHUNK]
            rows[start : start + len(chunk)] = _hashed(chunk, self.dim)
        if self._fixed:
            for place, text in enumerate(texts):
                if text in self._fixed:
                    rows[place] = self._fixed[text]
        return rows


def _hashed(texts: Sequence[str], dim: int) -> Matrix:
    """Feature hashing: each word adds ±1 to `_LANES` components, each text a little to others of its own."""
    seeds: list[int] = []
    counts: list[int] = []
    for text in texts:
        words = [crc32(word) for word in _words(text)]
        seeds += words
        counts.append(len(words))
    own = np.frombuffer(b"".join(_digest(text) for text in texts), dtype="<u8")
    keys = np.concatenate([_mixed(np.array(seeds, dtype=np.uint64)), own])
    owners = np.concatenate([np.repeat(np.arange(len(texts)), counts), np.arange(len(texts))])
    weights = np.ones(len(keys), dtype=np.float64)
    weights[len(seeds) :] = _OWN * np.sqrt(np.maximum(1, counts))
    lanes = np.stack([keys, _mixed(keys)], axis=1).view("<u2")
    places = (owners * dim)[:, None] + (lanes >> 1) % dim
    signed = np.where(lanes & 1, weights[:, None], -weights[:, None])
    rows = np.bincount(places.ravel(), signed.ravel(), minlength=len(texts) * dim).reshape(-1, dim)
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    cancelled = norms < 1e-9  # happens where dim is tiny
    rows[cancelled, own[cancelled] % dim] = norms[cancelled] = 1
    return (rows / norms[:, None]).astype(np.float32)


def _words(text: str) -> list[bytes]:
    if text.isascii():
        return [word.encode() for word in _ASCII.findall(text.lower())]
    found: list[bytes] = []
    for run in _ANY.findall(text.casefold()):
        if _UNSPACED.match(run) and len(run) > 1:
            found += [run[at : at + 2].encode() for at in range(len(run) - 1)]
        else:
            found.append(run.encode("utf-8", "surrogatepass"))
    return found


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's finaliser: every bit of a key changes half the bits of the result."""
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def _failure(what: str, *, retryable: bool) -> EmbeddingError:
    return EmbeddingError(f"hash: {what}", provider="hash", operation="embed", retryable=retryable)
