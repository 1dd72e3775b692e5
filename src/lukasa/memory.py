"""Memory: AsyncMemory without `await`, one line a verb."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from lukasa.aio import AsyncMemory
from lukasa.config import DEFAULT_CACHE_MB, Clock, EmbedderOption, Redact, Settings, utc_now
from lukasa.options import constructor
from lukasa.portal import door


class Memory:
    """The same as `AsyncMemory`, for code without an event loop (or inside one: calls block)."""

    @constructor
    def __init__(
        self,
        path: str | Path | None = None,
        *,
        space: str = "default",
        embedder: EmbedderOption | None = None,
        redact: Redact = True,
        cache_mb: int = DEFAULT_CACHE_MB,
        clock: Clock = utc_now,
    ) -> None:
        self.aio = AsyncMemory(
            path, space=space, embedder=embedder, redact=redact, cache_mb=cache_mb, clock=clock
        )

    @classmethod
    def from_config(cls, config: Mapping[str, object]) -> Self:
        """The same from a dictionary; mem0's `embedder` section is understood. Unknown keys raise."""
        memory = cls()
        memory.aio = AsyncMemory.from_config(config)
        return memory

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """The same from typed settings."""
        memory = cls()
        memory.aio = AsyncMemory.from_settings(settings)
        return memory

    add = door(AsyncMemory.add)
    update = door(AsyncMemory.update)
    delete = door(AsyncMemory.delete)
    delete_all = door(AsyncMemory.delete_all)
    reset = door(AsyncMemory.reset)
    search = door(AsyncMemory.search)
    get = door(AsyncMemory.get)
    get_all = door(AsyncMemory.get_all)
    count = door(AsyncMemory.count)
    history = door(AsyncMemory.history)
    why = door(AsyncMemory.why)
    close = door(AsyncMemory.aclose)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
