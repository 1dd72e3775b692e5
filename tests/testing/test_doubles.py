from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import numpy as np
import pytest

import lukasa.testing
from lukasa.errors import ConfigError, EmbeddingError, LukasaError, ScriptExhausted
from lukasa.testing import FrozenClock, HashEmbedder, ScriptedLLM

if TYPE_CHECKING:
    from lukasa.models.embed.base import Matrix


def embed(*texts: str, dim: int = 384) -> Matrix:
    return asyncio.run(HashEmbedder(dim).embed(texts, use="passage"))


def test_the_public_names_are_sorted_and_need_no_pytest() -> None:
    assert lukasa.testing.__all__ == sorted(lukasa.testing.__all__)
    program = "import sys, lukasa.testing; sys.exit('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(
    "texts",
    [
        ("I love green tea", "green tea is what I love", "My sister plays the violin"),
        ("我喜欢喝绿茶", "绿茶我喜欢喝", "他在上海工作"),
        ("Grüne Äpfel sind süß", "süße grüne Äpfel", "Разговор о погоде"),
    ],
)
def test_texts_that_share_words_are_close_and_others_are_not(texts: tuple[str, str, str]) -> None:
    cosines = embed(*texts) @ embed(*texts).T
    assert cosines[0, 1] > 0.4
    assert abs(cosines[0, 2]) < 0.25


def test_distinct_texts_have_distinct_vectors() -> None:
    texts = [
        "a b",
        "b a",
        "A b",
        "a b.",
        "a  b",
        "!",
        "?",
        "🙂",
        "🙃",
        "a\ud800",
        "a\0",
        *map(str, range(500)),
    ]
    cosines = embed(*texts) @ embed(*texts).T
    np.fill_diagonal(cosines, 0)
    assert cosines.max() < 0.9999


def test_a_query_and_a_passage_of_one_text_are_one_vector() -> None:
    embedder = HashEmbedder()
    query, passage = (asyncio.run(embedder.embed(["tea"], use=use))[0] for use in ("query", "passage"))
    assert np.array_equal(query, passage)


def test_vectors_are_the_same_in_every_process() -> None:
    program = (
        "import asyncio; from lukasa.testing import HashEmbedder as H;"
        "print(asyncio.run(H().embed(['green tea'], use='query')).tobytes().hex())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert bytes.fromhex(done.stdout) == embed("green tea").tobytes()


def test_a_long_text_keeps_the_share_of_its_words() -> None:
    words = " ".join(f"word{n}" for n in range(200))
    cosines = embed(words, words + "!")
    assert float(cosines[0] @ cosines[1]) > 0.97


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_tiny_dimensions_work(dim: int) -> None:
    rows = embed(*(f"text {n}" for n in range(300)), dim=dim)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)


def test_it_is_fast_enough_for_benchmarks() -> None:
    texts = [f"Alice number {n} likes tea and cakes in Berlin" for n in range(2000)]
    embed(*texts)
    start = time.process_time()
    embed(*texts)
    assert (time.process_time() - start) / len(texts) < 40e-6  # 8e-6 when measured, alone


def test_chosen_texts_have_chosen_vectors() -> None:
    embedder = HashEmbedder(vectors={"tea": [3, 4], "coffee": [0, 2]})
    rows = asyncio.run(embedder.embed(["tea", "water", "coffee"], use="query"))
    assert embedder.model == "hash:2"
    assert rows[[0, 2]] == pytest.approx(np.array([[0.6, 0.8], [0, 1]]))
    with pytest.raises(ConfigError, match="one length"):
        HashEmbedder(vectors={"tea": [1], "coffee": [1, 2]})


def test_it_fails_when_told_to_and_records_every_call() -> None:
    embedder = HashEmbedder(fail_on=["bad"])
    with pytest.raises(EmbeddingError) as caught:
        asyncio.run(embedder.embed(["good", "bad"], use="passage"))
    asyncio.run(embedder.embed(["good"], use="query"))
    assert caught.value.retryable
    assert embedder.calls == [("passage", ("good", "bad")), ("query", ("good",))]


def test_the_clock_stands_until_told_to_go() -> None:
    clock = FrozenClock("2026-01-31T23:00:00+00:00")
    assert clock() == clock() == datetime(2026, 1, 31, 23, tzinfo=UTC)
    assert clock.advance(hours=2) == clock() == datetime(2026, 2, 1, 1, tzinfo=UTC)
    clock.advance(timedelta(days=-1), minutes=30)
    assert clock() == datetime(2026, 1, 31, 1, 30, tzinfo=UTC)


def test_the_clock_tells_utc_whatever_it_is_given() -> None:
    east = datetime(2026, 1, 1, 8, tzinfo=timezone(timedelta(hours=8)))
    clock = FrozenClock(east)
    assert clock().isoformat() == "2026-01-01T00:00:00+00:00"
    assert clock.set("2026-01-01T05:00:00").tzinfo is UTC
    assert clock().hour == 5


def test_the_model_answers_in_order_and_records_what_it_was_asked() -> None:
    async def talk() -> None:
        llm = ScriptedLLM(["one", LukasaError("outage"), "two"])
        question = {"role": "user", "content": "?"}
        assert await llm([question]) == "one"
        with pytest.raises(LukasaError, match="outage"):
            await llm([question])
        assert await llm([]) == "two"
        with pytest.raises(ScriptExhausted, match="asked 4 times, but there are 3 replies"):
            await llm([question])
        assert llm.prompts == [(question,), (question,), (), (question,)]

    asyncio.run(talk())
    assert issubclass(ScriptExhausted, AssertionError)
