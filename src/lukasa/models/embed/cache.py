"""An embedder that remembers: no text is embedded twice while it is among the last few hundred."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from lukasa.errors import ConfigError
from lukasa.runtime import Lock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lukasa.models.embed.base import Calibration, Embedder, Matrix, Use


class CachedEmbedder:
    """*inner*, with its last *size* vectors kept. A text that stands twice in one call is embedded once.

    Vectors are kept under a digest of the text: a cache of long texts stays small, and holds no words.
    Safe in several threads and event loops. Calls that overlap each embed what neither has finished.
    """

    def __init__(self, inner: Embedder, *, size: int = 512) -> None:
        if size < 1:
            raise ConfigError(f"the cache's size must be 1 or more, not {size}")
        self._inner = inner
        self._size = size
        self._rows: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()

    @property
    def model(self) -> str:
        """The inner embedder's."""
        return self._inner.model

    @property
    def calibration(self) -> Calibration:
        """The inner embedder's."""
        return self._inner.calibration

    async def embed(self, texts: Sequence[str], *, use: Use) -> Matrix:
        """The inner embedder's rows, in an array of the caller's own. A failed call leaves nothing behind."""
        keys = [_key(text, use) for text in texts]
        rows = self._known(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in rows}
        if missing or not texts:
            made = await self._inner.embed(list(missing.values()), use=use)
            if not texts:
                return made
            fresh = {key: row.copy() for key, row in zip(missing, made, strict=True)}
            self._keep(fresh)
            rows |= fresh
        return np.stack([rows[key] for key in keys])

    async def aclose(self) -> None:
        """Close the inner embedder, where it can be closed. The vectors stay."""
        close = getattr(self._inner, "aclose", None)
        if close is not None:
            await close()

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        found: dict[bytes, NDArray[np.float32]] = {}
        with _lock:
            for key in keys:
                row = self._rows.get(key)
                if row is not None:
                    self._rows.move_to_end(key)
                    found[key] = row
        return found

    def _keep(self, rows: dict[bytes, NDArray[np.float32]]) -> None:
        with _lock:
            self._rows.update(rows)
            while len(self._rows) > self._size:
                self._rows.popitem(last=False)


def _key(text: str, use: Use) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, person=use.encode()).digest()


# One for all caches: it is held for microseconds.
_lock = Lock()
