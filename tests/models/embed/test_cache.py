from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lukasa.errors import ConfigError, EmbeddingError
from lukasa.models.embed.cache import CachedEmbedder
from lukasa.testing import HashEmbedder

if TYPE_CHECKING:
    from lukasa.models.embed.base import Matrix, Use


def embed(embedder: CachedEmbedder, *texts: str, use: Use = "passage") -> Matrix:
    return asyncio.run(embedder.embed(texts, use=use))


def test_nothing_is_embedded_twice() -> None:
    inner = HashEmbedder()
    cached = CachedEmbedder(inner)
    rows = embed(cached, "tea", "coffee", "tea")
    again = embed(cached, "water", "tea")
    assert inner.calls == [("passage", ("tea", "coffee")), ("passage", ("water",))]
    expected = asyncio.run(HashEmbedder().embed(["tea", "coffee", "tea", "water"], use="passage"))
    assert np.array_equal(rows, expected[:3])
    assert np.array_equal(again, expected[[3, 0]])


def test_what_is_all_known_makes_no_call() -> None:
    inner = HashEmbedder()
    cached = CachedEmbedder(inner)
    embed(cached, "tea")
    embed(cached, "tea", "tea")
    assert len(inner.calls) == 1


def test_a_query_and_a_passage_are_two_things() -> None:
    inner = HashEmbedder()
    cached = CachedEmbedder(inner)
    embed(cached, "tea", use="passage")
    embed(cached, "tea", use="query")
    assert [use for use, _ in inner.calls] == ["passage", "query"]


def test_the_least_recently_used_goes_first() -> None:
    inner = HashEmbedder()
    cached = CachedEmbedder(inner, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        embed(cached, text)
    assert [texts for _, texts in inner.calls] == [("a",), ("b",), ("c",), ("b",)]


def test_one_call_may_hold_more_than_the_cache() -> None:
    cached = CachedEmbedder(HashEmbedder(), size=2)
    assert len(embed(cached, *"abcdef")) == 6


def test_callers_may_write_into_what_they_get() -> None:
    cached = CachedEmbedder(HashEmbedder())
    embed(cached, "tea")[:] = 0
    assert np.linalg.norm(embed(cached, "tea")) == pytest.approx(1)


def test_a_failed_call_leaves_nothing_behind() -> None:
    inner = HashEmbedder(fail_on=["bad"])
    cached = CachedEmbedder(inner)
    for _ in range(2):
        with pytest.raises(EmbeddingError):
            embed(cached, "good", "bad")
    assert len(inner.calls) == 2


def test_lone_surrogates_are_told_apart() -> None:
    inner = HashEmbedder()
    cached = CachedEmbedder(inner)
    embed(cached, "a\ud800", "a\ud801", "a")
    assert len(inner.calls[0][1]) == 3


def test_threads_with_loops_of_their_own_get_their_own_rows() -> None:
    cached = CachedEmbedder(HashEmbedder(), size=5)
    expected = asyncio.run(HashEmbedder().embed([str(n) for n in range(20)], use="query"))
    wrong: list[int] = []

    def work() -> None:
        for n in range(200):
            if not np.array_equal(embed(cached, str(n % 20), use="query")[0], expected[n % 20]):
                wrong.append(n)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_model_calibration_and_closing_are_the_inner_ones() -> None:
    class Closing(HashEmbedder):
        closed = False

        async def aclose(self) -> None:
            self.closed = True

    inner = Closing()
    cached = CachedEmbedder(inner)
    assert (cached.model, cached.calibration) == (inner.model, inner.calibration)
    asyncio.run(cached.aclose())
    asyncio.run(CachedEmbedder(HashEmbedder()).aclose())  # nothing to close
    assert inner.closed


def test_a_cache_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="1 or more"):
        CachedEmbedder(HashEmbedder(), size=0)
