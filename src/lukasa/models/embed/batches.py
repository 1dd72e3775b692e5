"""Many texts in several calls: how they are divided, and how the calls are run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from lukasa.runtime import gather_bounded

T = TypeVar("T")


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


async def gather_first_error(limit: int, work: Iterable[Callable[[], Awaitable[T]]]) -> list[T]:
    """`gather_bounded`, raising the first error itself: callers catch `EmbeddingError`, not a group."""
    try:
        return await gather_bounded(limit, work)
    except BaseExceptionGroup as group:
        first = group.exceptions[0]
        raise first from first.__cause__
