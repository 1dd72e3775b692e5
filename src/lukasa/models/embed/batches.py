"""Many texts in several calls: how they are divided."""

from __future__ import annotations

from collections.abc import Sequence


def batches(texts: Sequence[str], *, most: int, most_bytes: int | None = None) -> list[list[str]]:
    """*texts* in order, at most *most* a batch, and *most_bytes* of UTF-8 (a longer text goes alone)."""
    made: list[list[str]] = []
    size = 0
    for text in texts:
        length = len(text.encode()) if most_bytes is not None else 0
        full = not made or len(made[-1]) == most
        if full or (most_bytes is not None and size + length > most_bytes):
            made.append([])
            size = 0
        made[-1].append(text)
        size += length
    return made
