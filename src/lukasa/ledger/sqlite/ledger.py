"""The SQLite ledger: one file, any number of threads and processes."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from lukasa.errors import LedgerError
from lukasa.ledger.base import (
    Applied,
    Checkup,
    Exported,
    Found,
    FoundTurn,
    Neighbours,
    Page,
    Plan,
    Probe,
    Provenance,
    Rank,
    Receipt,
    Reembedded,
    Removed,
    Restored,
    Stats,
    View,
)
from lukasa.ledger.sqlite import (
    check,
    export,
    filter_sql,
    neighbours,
    read,
    reembed,
    remove,
    restore,
    search,
    stats,
    turns,
    write,
)
from lukasa.ledger.sqlite.accesses import Accesses
from lukasa.ledger.sqlite.connect import Connections
from lukasa.ledger.sqlite.lexicon import renew_postings
from lukasa.ledger.sqlite.pool import Pools
from lukasa.ledger.sqlite.rows import uuid7
from lukasa.ledger.sqlite.schema import migrate
from lukasa.ledger.sqlite.writer import active_model, begin, finish
from lukasa.models.embed.base import Embedder
from lukasa.runtime import in_thread
from lukasa.types import Episode, Evidence, HistoryEntry, JsonValue, Record, Scope

T = TypeVar("T")

_TRIES = 5
_LINES = 200  # of a copy that is restored, in one transaction


def _some(lines: Iterator[bytes]) -> list[bytes]:
    return list(islice(lines, _LINES))


class SqliteLedger:
    """One space of one file. `model` names what makes its vectors; None for work that needs none of it.

    `cache_bytes` bounds the vectors that are kept in memory between searches.
    """

    def __init__(
        self, path: Path, *, space: str = "default", model: str | None, cache_bytes: int = 512 << 20
    ) -> None:
        self.path = path
        self._space = space
        self._model = model
        self._cache_bytes = cache_bytes
        self.connections = Connections(
            path, prepare=filter_sql.register, initialise=self._initialise, on_fork=self._reset_memory
        )
        self._reset_memory()

    def _reset_memory(self) -> None:
        self._pools = Pools(self._cache_bytes)
        self._accesses = Accesses()

    def _initialise(self, connection: sqlite3.Connection) -> None:
        now = time.time_ns() // 1000
        migrate(connection, uid=uuid7(now), now=now)
        renew_postings(connection)
        if self._model is not None:
            active_model(connection, self._model)

    # --- writing ---

    async def apply(self, plan: Plan, *, scope: Scope, now: datetime, receipt: Receipt) -> Applied:
        """See `Ledger.apply`."""
        prepared = await in_thread(write.prepare, plan)

        def work(connection: sqlite3.Connection) -> Applied:
            self._flush_accesses(connection, now)
            return write.apply(
                connection,
                prepared,
                space=self._space,
                scope=scope,
                now=now,
                model=self._model or "",
                receipt=receipt,
            )

        return await self.connections.write(work)

    async def replay(self, episode: Episode) -> Mapping[str, JsonValue] | None:
        """See `Ledger.replay`."""
        return await self.connections.read(write.replay, self._space, episode)

    async def remove(
        self, view: View, *, now: datetime, memory_id: str | None = None, erase: bool = False
    ) -> Removed:
        """See `Ledger.remove`."""

        def work(connection: sqlite3.Connection) -> Removed:
            self._flush_accesses(connection, now)
            writer = begin(connection, self._space, now, self._model or "")
            taken = remove.remove(writer, view, memory_id=memory_id, erase=erase)
            finish(writer)
            return Removed(tuple(taken))

        removed = await self.connections.write(work)
        # An id that is not there leaves nothing to scrub; of a scope more than its memories may have gone.
        left = await self._scrub() if erase and (removed.written or memory_id is None) else None
        return Removed(removed.written, () if left is None else (left,))

    async def _scrub(self) -> str | None:
        """What could not be done, and when it will be: the erasure itself is committed, so nothing raises."""
        try:
            return await self.connections.outside(remove.scrub)
        except (LedgerError, sqlite3.Error) as error:
            return remove.not_scrubbed(error)

    def _flush_accesses(self, connection: sqlite3.Connection, now: datetime) -> None:
        """Write down which memories were found since the last write: never a commit of its own."""
        write.count_accesses(connection, self._accesses.take(), now)

    # --- reading ---

    async def get(self, view: View, memory_id: str) -> Record | None:
        """See `Ledger.get`."""
        return await self.connections.read(read.get, self._space, view, memory_id)

    async def page(self, view: View, *, limit: int, cursor: str | None = None) -> Page:
        """See `Ledger.page`."""
        return await self.connections.read(read.page, self._space, view, limit, cursor)

    async def count(self, view: View) -> int:
        """See `Ledger.count`."""
        return await self.connections.read(read.count, self._space, view)

    async def history(self, view: View, memory_id: str) -> list[HistoryEntry]:
        """See `Ledger.history`."""
        return await self.connections.read(read.history, self._space, view, memory_id)

    async def evidence(self, view: View, memory_id: str) -> list[Evidence]:
        """See `Ledger.evidence`."""
        return await self.connections.read(read.evidence, self._space, view, memory_id)

    async def why(self, view: View, memory_id: str) -> Provenance | None:
        """See `Ledger.why`."""
        return await self.connections.read(read.why, self._space, view, memory_id)

    async def search(self, view: View, probe: Probe, rank: Rank) -> list[Found]:
        """See `Ledger.search`."""

        found = await self._pooled(
            partial(
                search.search,
                space=self._space,
                view=view,
                probe=probe,
                rank=rank,
                model=self._model or "",
            )
        )
        self._accesses.note(hit.record.id for hit in found)
        return found

    async def turns(self, view: View, probe: Probe, rank: Rank) -> list[FoundTurn]:
        """See `Ledger.turns`."""
        return await self._pooled(
            partial(
                turns.turns,
                space=self._space,
                view=view,
                probe=probe,
                rank=rank,
                model=self._model or "",
            )
        )

    async def neighbours(
        self, view: View, probes: Sequence[Probe], attributes: Sequence[tuple[str, str]]
    ) -> Neighbours:
        """See `Ledger.neighbours`."""
        return await self._pooled(
            partial(
                neighbours.neighbours,
                space=self._space,
                view=view,
                probes=probes,
                attributes=attributes,
                model=self._model or "",
            )
        )

    async def _pooled(self, work: Callable[[sqlite3.Connection, Pools], T | None]) -> T:
        """What *work* makes of one snapshot and pools that are not newer than it."""
        for _ in range(_TRIES):
            found = await self.connections.read(work, self._pools)
            if found is not None:
                return found
        # Writers are that busy: a pool of this read's own is as old as its snapshot.
        found = await self.connections.read(work, Pools(0))
        assert found is not None
        return found

    # --- upkeep: whichever model the ledger was opened with ---

    async def stats(self) -> Stats:
        """How much this space holds."""
        return await self.connections.read(stats.stats, self.path, self._space)

    async def check(self, progress: Callable[[str], None] | None = None) -> Checkup:
        """Prove that the file is whole: versions, vectors, postings, counters, model."""
        return await self.connections.read(check.check, progress)

    async def export(self, view: View, write: Callable[[bytes], None]) -> Exported:
        """Hand every line of a lossless copy of the view's scope to *write*, from one snapshot."""
        return await self.connections.read(export.export, self._space, view, write)

    async def restore(
        self, lines: Iterable[bytes], *, now: datetime | None = None, vectors: bool = True
    ) -> Restored:
        """Take in what `export` wrote; what is there already (by id) is left alone.

        `vectors=False` leaves the vectors to `reembed`, for a copy made with another model. Raises
        `InputError`, which names the line; the batches of 200 lines before its own are in the ledger.
        """
        state, moment = restore.Restoring(), now or datetime.now(UTC)
        source = iter(lines)
        while lot := await in_thread(_some, source):
            work = partial(restore.restore_some, space=self._space, now=moment, vectors=vectors)
            await self.connections.write(work, lot, state)
        return restore.restored(state)

    async def reembed(
        self, embedder: Embedder, *, batch: int = 64, progress: Callable[[int, int], None] | None = None
    ) -> Reembedded:
        """Give every item a vector of *embedder*'s, then switch to it; what is there already is kept.

        Others read and write with the old model until the switch. May be broken off and begun again.
        """
        return await reembed.reembed(self.connections, embedder, batch=batch, progress=progress)

    async def aclose(self) -> None:
        """See `Ledger.aclose`."""
        await in_thread(self.close)

    def close(self) -> None:
        """The same, for a caller without a loop."""
        self.connections.close()
        self._pools.clear()
