"""What every verb stands on: the settings, the parts made from them, whose memories a call is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from lukasa.config import (
    DEFAULT_CACHE_MB,
    Clock,
    EmbedderOption,
    Redact,
    Settings,
    from_dict,
    in_utc,
    utc_now,
)
from lukasa.errors import LedgerUnavailable, ScopeError
from lukasa.house import House, build
from lukasa.ledger.base import View
from lukasa.ledger.filters import parse
from lukasa.messages.scope import scope_of
from lukasa.options import NO_SCOPE, constructor, merged
from lukasa.runtime import Lock, in_thread
from lukasa.text.times import parse_time

Id: TypeAlias = "str | int | None"
When: TypeAlias = "datetime | date | str | float"
Messages: TypeAlias = "str | Mapping[str, object] | Sequence[str | Mapping[str, object]]"
Filters: TypeAlias = Mapping[str, object]


class Core:
    """A Memory without its verbs."""

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
        self.settings = Settings(
            path=path, space=space, embedder=embedder, redact=redact, cache_mb=cache_mb, clock=in_utc(clock)
        )
        self._built: House | None = None
        self._closed = False
        self._building = Lock()

    @classmethod
    def from_config(cls, config: Mapping[str, object]) -> Self:
        """The same from a dictionary; mem0's `embedder` section is understood. Unknown keys raise."""
        return cls.from_settings(from_dict(config))

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """The same from typed settings."""
        memory = cls()
        memory.settings = replace(settings, clock=in_utc(settings.clock))
        return memory

    @property
    def house(self) -> House:
        """Ledger, embedder and redactor, made at first use."""
        with self._building:
            if self._closed and self._built is None:
                raise LedgerUnavailable("this Memory was closed; open a new one")
            if self._built is None:
                self._built = build(self.settings)
            return self._built

    async def parts(self) -> House:
        """The same, made in a thread: the first use imports numpy, longer than a loop should wait."""
        return self._built or await in_thread(lambda: self.house)

    async def aclose(self) -> None:
        """Finish what was begun and let go of the file. Safe to call twice; other verbs then raise."""
        self._closed = True
        if self._built is not None:  # what was never used has nothing to close, and may not even be possible
            try:
                await self._built.ledger.aclose()
            finally:
                await self._built.embedder.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def today(self) -> date:
        """The day, UTC: what expires goes by it."""
        return self.settings.clock().date()

    def view(
        self,
        user_id: Id,
        agent_id: Id,
        run_id: Id,
        app_id: Id,
        filters: Filters | None,
        *,
        show_expired: bool = False,
        as_of: When | None = None,
        all_scopes: bool = False,
    ) -> View:
        """What a read may see. Refuses a view of everybody that was not asked for in so many words."""
        parsed = parse(filters)
        named = scope_of(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id)
        scope = merged(named, parsed.scope)
        if not scope and not all_scopes:
            raise ScopeError(NO_SCOPE)
        if scope and all_scopes:
            raise ScopeError("all_scopes=True means everybody's memories: leave the ids out, or leave it out")
        return View(
            scope,
            self.today(),
            where=parsed.where,
            as_of=moment(as_of),
            show_expired=show_expired,
            everyone=all_scopes,
        )


def moment(value: When | None) -> datetime | None:
    """What `as_of` asks for."""
    return None if value is None else parse_time(value, what="as_of")
