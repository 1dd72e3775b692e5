"""The user's own embedder, an object or a plain function, behind the checks that ours make themselves."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from lukasa.errors import ConfigError, EmbeddingError
from lukasa.models.embed.base import Calibration
from lukasa.models.embed.rows import readable, unit_rows
from lukasa.runtime import in_thread
from lukasa.text.shown import shown

if TYPE_CHECKING:
    from lukasa.models.embed.base import Embedder, Matrix, Use

_EXPECTED = (
    "expected an embedder (`model`: str, `calibration`: Calibration, `async embed(texts, *, use)`) "
    "or a function from a list of texts to a list of vectors"
)


def adapt(embedder: object) -> Embedder:
    """*embedder* as one of ours: texts are cleaned, rows are checked and scaled to unit length.

    A plain function gets the texts as a list and is not told whether they are queries or passages. A sync
    one runs in threads of the library's own, several at once. What it raises is raised as it is. The ledger
    records it as "custom:" and its qualified name. Raises `ConfigError` for anything that is neither.
    """
    if _is_embedder(embedder):
        return _Checked(cast("Embedder", embedder))
    if isinstance(embedder, type) or not callable(embedder):
        raise ConfigError(f"{shown(embedder)} is no embedder: {_EXPECTED}")
    return _Checked(_Function(cast("Callable[[list[str]], object]", embedder)))


def _is_embedder(thing: object) -> bool:
    if isinstance(thing, type) or not inspect.iscoroutinefunction(getattr(thing, "embed", None)):
        return False
    return isinstance(getattr(thing, "model", None), str) and isinstance(
        getattr(thing, "calibration", None), Calibration
    )


class _Function:
    """A function from texts to vectors, with the face of an embedder."""

    def __init__(self, function: Callable[[list[str]], object]) -> None:
        self._function = function
        named = cast("object", getattr(function, "__qualname__", type(function).__qualname__))
        self.model = f"custom:{named}"
        self.calibration = Calibration()

    async def embed(self, texts: Sequence[str], *, use: Use) -> Matrix:  # a function has one way
        if _is_async(self._function):
            result = self._function(list(texts))
        else:
            result = await in_thread(self._function, list(texts))
        if inspect.isawaitable(result):
            result = await cast("Awaitable[object]", result)
        return cast("Matrix", result)


def _is_async(function: object) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004  # an object whose __call__ is async
    )


class _Checked:
    """An embedder that may be wrong: `EmbeddingError` says how, before a bad vector reaches the ledger."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._dim: int | None = None

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def calibration(self) -> Calibration:
        return self._inner.calibration

    async def embed(self, texts: Sequence[str], *, use: Use) -> Matrix:
        if not texts:
            return np.zeros((0, self._dim or 0), dtype=np.float32)
        provider = self._inner.model.partition(":")[0]
        rows = unit_rows(
            await self._inner.embed(readable(texts, provider=provider), use=use),
            count=len(texts),
            provider=provider,
        )
        if self._dim is None:
            self._dim = rows.shape[1]
        if rows.shape[1] != self._dim:
            raise EmbeddingError(
                f"{self.model} gave vectors of {rows.shape[1]} components, and before of {self._dim}",
                provider=provider,
                operation="embed",
                retryable=False,
            )
        return rows

    async def aclose(self) -> None:
        close = getattr(self._inner, "aclose", None)
        if close is not None:
            await close()
