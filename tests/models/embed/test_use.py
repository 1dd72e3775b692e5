from __future__ import annotations

import asyncio
import os
import time

import numpy as np
import pytest

from lukasa.errors import EmbeddingError
from lukasa.models.embed.use import UseEmbedder

from .scripts import COLD, FORK, IDLE, run

HERE = {"module": "lukasa.models.embed.use", "name": "UseEmbedder"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_a_forked_child_embeds_after_its_parent() -> None:
    assert run(FORK.format(**HERE), timeout=60) == "0 True"


def test_loading_and_embedding_do_not_block_the_loop() -> None:
    assert run(COLD.format(**HERE))


def test_making_one_does_no_io_and_loads_nothing() -> None:
    assert run(IDLE.format(**HERE)) == "[]"


def test_a_query_and_a_passage_are_one_vector() -> None:
    embedder = UseEmbedder()
    query, passage = (asyncio.run(embedder.embed(["tea"], use=use)) for use in ("query", "passage"))
    assert np.array_equal(query, passage)


def test_a_batch_nearly_equals_single_calls() -> None:
    # Not bit for bit: BLAS sums in another order for another number of rows.
    texts = [f"Text number {n} is about {'tea ' * n}" for n in range(100)]
    embedder = UseEmbedder()
    batch = asyncio.run(embedder.embed(texts, use="passage"))
    alone = np.concatenate([asyncio.run(embedder.embed([text], use="passage")) for text in texts])
    assert np.abs(batch - alone).max() < 1e-6


def test_a_word_of_100_000_characters_takes_less_than_uncut() -> None:
    asyncio.run(UseEmbedder().embed(["warm"], use="passage"))
    start = time.process_time()
    asyncio.run(UseEmbedder().embed(["x" * 100_000], use="passage"))
    assert time.process_time() - start < 2


def test_what_the_tokenizer_takes_for_unknown_is_blank() -> None:
    with pytest.raises(EmbeddingError, match="blank"):
        asyncio.run(UseEmbedder().embed(["\u200b"], use="passage"))
