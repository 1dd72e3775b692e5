"""The contract of every embedder."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lukasa.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lukasa.models.embed.base import Embedder, Matrix, Use

TEXTS = ("Alice moved to Berlin in March.", "我儿子对花生过敏。", "The car is blue.")


class EmbedderContract:
    """Subclass it in a test file, name the class `Test...`, and return your embedder from `embedder`."""

    tolerance = 1e-5  # between a text embedded alone and in a batch, a component

    def embedder(self) -> Embedder:
        """The embedder under test."""
        raise NotImplementedError

    def embed(self, texts: Sequence[str], use: Use = "passage") -> Matrix:
        """The rows of *texts*, from a loop of their own."""

        async def call() -> Matrix:
            embedder = self.embedder()
            try:
                return await embedder.embed(texts, use=use)
            finally:
                await _close(embedder)

        return asyncio.run(call())

    def test_a_row_a_text(self) -> None:
        """Shape and type."""
        rows = self.embed(TEXTS)
        assert rows.dtype == np.float32
        assert rows.ndim == 2
        assert len(rows) == len(TEXTS)
        assert rows.shape[1] > 0

    def test_no_texts_give_no_rows(self) -> None:
        """An empty list is no error."""
        assert len(self.embed([])) == 0
        assert self.embed([]).ndim == 2

    def test_rows_have_unit_length(self) -> None:
        """Cosine is a plain product."""
        for use in ("query", "passage"):
            assert np.allclose(np.linalg.norm(self.embed(TEXTS, use), axis=1), 1, atol=1e-3)

    def test_rows_keep_the_order_of_the_texts(self) -> None:
        """Reversed texts give reversed rows."""
        assert np.allclose(self.embed(TEXTS), self.embed(TEXTS[::-1])[::-1], atol=self.tolerance)

    def test_a_batch_gives_what_single_calls_give(self) -> None:
        """A text's vector does not depend on its neighbours."""
        alone = np.concatenate([self.embed([text]) for text in TEXTS])
        assert np.allclose(self.embed(TEXTS), alone, atol=self.tolerance)

    def test_the_same_text_gives_the_same_vector(self) -> None:
        """Two embedders of one model agree."""
        assert np.allclose(self.embed(TEXTS), self.embed(TEXTS), atol=self.tolerance)

    @pytest.mark.parametrize("text", ["", "   ", "\n\t", "\0"])
    def test_blank_texts_are_refused(self, text: str) -> None:
        """Also among texts that are not blank."""
        with pytest.raises(EmbeddingError) as caught:
            self.embed(["fine", text])
        assert not caught.value.retryable

    def test_the_same_text_scores_the_highest(self) -> None:
        """As query and as passage, on the embedder's own scale."""
        calibration = self.embedder().calibration
        cosines = np.sum(self.embed(TEXTS, "query") * self.embed(TEXTS, "passage"), axis=1)
        assert min(calibration.score(float(cosine)) for cosine in cosines) >= 0.99

    def test_unrelated_texts_score_low(self) -> None:
        """On the embedder's own scale; if not, its `calibration` is not measured."""
        calibration = self.embedder().calibration
        query = self.embed(["When does the flight to Lisbon leave?"], "query")[0]
        cosines = self.embed(["My grandmother collects African stamps.", "I prefer tea over coffee."]) @ query
        assert max(calibration.score(float(cosine)) for cosine in cosines) < 0.5

    def test_broken_characters_are_survived(self) -> None:
        """NUL, lone surrogates, and one character that stands for eighteen."""
        texts = ["nul \0 inside", "half \ud83d a pair", "\udcff leads", "\ufdfa" * 400]
        assert np.isfinite(self.embed(texts)).all()

    def test_long_texts_get_a_vector(self) -> None:
        """5,000 characters, in sentences and in one word."""
        rows = self.embed(["Alice likes the old museum. " * 180, "x" * 5000])
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)

    def test_concurrent_calls_do_not_mix(self) -> None:
        """Every caller gets the rows of its own texts."""

        async def both() -> list[Matrix]:
            embedder = self.embedder()
            try:
                return await asyncio.gather(
                    *(embedder.embed([text], use="passage") for text in TEXTS for _ in range(3))
                )
            finally:
                await _close(embedder)

        expected = np.repeat(self.embed(TEXTS), 3, axis=0)
        assert np.allclose(np.concatenate(asyncio.run(both())), expected, atol=self.tolerance)

    def test_the_model_names_its_provider(self) -> None:
        """The ledger records it."""
        provider, colon, name = self.embedder().model.partition(":")
        assert provider
        assert colon
        assert name


async def _close(embedder: Embedder) -> None:
    close = getattr(embedder, "aclose", None)
    if close is not None:
        await close()
