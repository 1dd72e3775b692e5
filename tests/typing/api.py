"""Every public name and verb once, as users write them. basedpyright reads this file; nothing runs it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from lukasa import AsyncMemory, Memory
from lukasa.config import Settings
from lukasa.errors import EmbeddingError, LukasaError
from lukasa.models.embed.base import Calibration, Embedder, Use
from lukasa.results import (
    AddResult,
    DeleteAllResult,
    HistoryItem,
    ListResult,
    MemoryItem,
    MessageResult,
    SearchResult,
    SourceItem,
    WhyResult,
)
from lukasa.testing import FrozenClock, HashEmbedder, ScriptedLLM
from lukasa.types import UNSET


def sync_verbs(path: Path) -> None:
    clock = FrozenClock()
    with Memory(path, space="one", embedder="hash", redact=[r"\d+"], cache_mb=64, clock=clock) as memory:
        assert_type(memory, Memory)
        added = memory.add(
            [{"role": "user", "content": "tea"}, "and cake"],
            user_id="ines",
            metadata={"topic": "food", "n": 1, "tags": ["a"]},
            timestamp=datetime.now(UTC),
            expiration_date=date(2030, 1, 1),
            infer=False,
            idempotency_key="one",
        )
        assert_type(added, AddResult)
        assert_type(added["results"][0]["id"], str)
        assert_type(memory.search("tea", user_id="ines", top_k=3, threshold=0.2, explain=True), SearchResult)
        assert_type(memory.get("id", user_id=7, as_of="2025-01-01"), MemoryItem | None)
        page = memory.get_all(filters={"user_id": "ines", "n": {"gte": 1}}, limit=5, cursor=None)
        assert_type(page, ListResult)
        assert_type(page["cursor"], str | None)
        assert_type(memory.count(all_scopes=True), int)
        assert_type(memory.update("id", "coffee", {"n": 2}, UNSET, timestamp=1.7e9), MessageResult)
        assert_type(memory.history("id"), list[HistoryItem])
        why = memory.why("id")
        assert_type(why, WhyResult)
        assert_type(why["sources"], list[SourceItem])
        assert_type(memory.delete("id", erase=True), MessageResult)
        assert_type(memory.delete_all("ines", app_id="shop", erase=True)["deleted"], int)
        memory.reset()
        assert_type(memory.close(), None)
    assert_type(Memory.from_config({"path": "memory.db"}), Memory)
    assert_type(Memory.from_settings(Settings(path=path)), Memory)


async def async_verbs(path: str) -> None:
    async with AsyncMemory(path, embedder=Mine()) as memory:
        assert_type(memory, AsyncMemory)
        assert_type(await memory.add("tea", user_id="ines", infer=False), AddResult)
        assert_type(await memory.search("tea", user_id="ines"), SearchResult)
        assert_type(await memory.get("id"), MemoryItem | None)
        assert_type(await memory.get_all(user_id="ines"), ListResult)
        assert_type(await memory.count(user_id="ines"), int)
        assert_type(await memory.update("id", data="coffee", expiration_date=None), MessageResult)
        assert_type(await memory.history("id"), list[HistoryItem])
        assert_type(await memory.why("id"), WhyResult)
        assert_type(await memory.delete("id"), MessageResult)
        assert_type(await memory.delete_all(run_id="r"), DeleteAllResult)
        assert_type(await memory.reset(), None)
        assert_type(await memory.aclose(), None)
    assert_type(AsyncMemory.from_config({}), AsyncMemory)
    assert_type(AsyncMemory.from_settings(Settings()), AsyncMemory)


class Mine:
    """An embedder of a user's own."""

    model = "mine:1"
    calibration = Calibration(mean=0.1, spread=0.1, same=1.0)

    async def embed(self, texts: Sequence[str], *, use: Use) -> NDArray[np.float32]:
        return np.ones((len(texts), 1 if use == "query" else 2), np.float32)


def a_function(texts: list[str]) -> list[list[float]]:
    return [[1.0, 0.0] for _ in texts]


def embedders() -> None:
    protocol: Embedder = HashEmbedder(8, vectors={"a": [1.0] * 8}, fail_on={"b"})
    for embedder in (protocol, Mine(), a_function, "openai:text-embedding-3-small"):
        Memory(embedder=embedder)


async def doubles() -> None:
    down = EmbeddingError("no", provider="p", operation="o", retryable=True)
    assert_type(await ScriptedLLM(["yes", down])([]), str)
    assert_type(FrozenClock("2025-01-01").advance(timedelta(days=1), hours=2), datetime)


def misuse(memory: Memory) -> None:
    memory.search("tea", user_id="ines", topk=3)  # pyright: ignore[reportCallIssue]  # a misspelt keyword is seen
    memory.add("tea", "ines")  # pyright: ignore[reportCallIssue]  # ids are keywords
    try:
        memory.get("id")
    except LukasaError as error:
        assert_type(error, LukasaError)
