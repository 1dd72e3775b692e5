"""What goes into every embedder and what comes out: clean, non-blank texts; finite rows of unit length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lukasa.errors import EmbeddingError
from lukasa.text.clean import clean

if TYPE_CHECKING:
    from lukasa.models.embed.base import Matrix

# Rows this near to unit length are left as they are: scaling would change their last bits.
UNIT = 1e-3


def readable(texts: Sequence[str], *, provider: str) -> list[str]:
    """*texts*, cleaned of NULs and lone surrogates. Raises `EmbeddingError` where nothing is left to read.

    Models answer a blank text too, with a vector that is close to everything.
    """
    cleaned = [clean(text) for text in texts]
    for place, text in enumerate(cleaned):
        if blank(text):
            raise EmbeddingError(
                f"text {place} is blank: there is nothing to embed; leave it out",
                provider=provider,
                operation="embed",
                retryable=False,
            )
    return cleaned


def blank(text: str) -> bool:
    """Whether *text* has no visible character; spaces, controls, zero-width marks and U+FFFD are none."""
    return not any(char.isprintable() and not char.isspace() and char != "\ufffd" for char in text)


def unit_rows(values: object, *, count: int, provider: str) -> Matrix:
    """*values* as a float32 matrix of *count* unit rows. Raises `EmbeddingError` naming what is wrong."""

    def fault(what: str) -> EmbeddingError:
        return EmbeddingError(f"{provider}: {what}", provider=provider, operation="embed", retryable=False)

    try:
        rows = np.array(values, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise fault(f"expected {count} vectors of equal length, all numbers: {error}") from error
    if count == 0:
        return np.zeros((0, rows.shape[1] if rows.ndim == 2 else 0), dtype=np.float32)
    if rows.ndim != 2:
        raise fault(f"expected {count} vectors, got an array of shape {rows.shape}")
    if len(rows) != count:
        raise fault(f"expected {count} vectors, got {len(rows)}")
    if not np.isfinite(rows).all():
        raise fault("a vector holds NaN or infinity")
    # float64: the squares of large components would overflow float32.
    norms = np.linalg.norm(rows.astype(np.float64), axis=1)
    if not norms.all():  # also for vectors of no components
        raise fault("a vector is zero: it has no direction")
    off = np.abs(norms - 1) > UNIT
    if off.any():
        rows[off] = (rows[off] / norms[off, None]).astype(np.float32)
    return rows
