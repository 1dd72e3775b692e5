"""What a ledger is: the one place where memories are true. `ledger/sqlite` is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Protocol

from lukasa.ledger.filters import EVERYTHING, Expression
from lukasa.types import Change, Episode, Evidence, HistoryEntry, JsonValue, Message, Record, Scope, Written

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class View:
    """Which memories a read may see. Every read names one; nothing outside it can come back.

    `everyone` must be said where `scope` names nobody. `as_of` asks for the versions that held at that
    time; `today` (UTC) decides what has expired.
    """

    scope: Scope
    today: date
    where: Expression = EVERYTHING
    as_of: datetime | None = None
    show_expired: bool = False
    everyone: bool = False


@dataclass(frozen=True, slots=True)
class Probe:
    """What a search looks for: a unit vector, and the question, whose words the ledger's analyzer finds.

    Without a vector words alone decide. `limit` is how many candidates each of the two brings at most.
    """

    vector: NDArray[np.float32] | None
    text: str
    limit: int


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of each candidate, as columns: row i of each array speaks of the same item.

    `cosine` is NaN where an item has no vector yet. `bm25` is a share in [0, 1] of what a text could get
    for this query; `coverage` is the share of the query's words, weighted by inverse document frequency
    within what the read may see, that the item holds. Both are 0 where no word matches.
    """

    item: NDArray[np.int64]
    cosine: NDArray[np.float32]
    bm25: NDArray[np.float32]
    coverage: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A choice among candidates, best first: positions in `Signals`, and the numbers of each by name."""

    order: Sequence[int]
    parts: Mapping[str, Sequence[float]]


Rank = Callable[[Signals], Ranked]


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that a search found, with the numbers that put it there."""

    record: Record
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """A source message that a search found, where it was said, and the numbers that put it there."""

    episode_id: str
    message: Message
    position: int
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Page:
    """Some memories, the last stored first, and the cursor that goes on from there (None: that was all)."""

    records: tuple[Record, ...]
    cursor: str | None


TURN_ROLES = ("user", "assistant", "tool", "function")  # who says something; others instruct


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What is known already of some facts, as of one moment, which `basis` names to `Plan`.

    `near[i]` are the memories nearest to probe i, by turns the next one by meaning and the next by words;
    `alike` are those that speak of the attributes that were asked for, the first stored first.
    """

    basis: int
    near: tuple[tuple[Record, ...], ...]
    alike: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What one call changes: applied whole or not at all. `episode` is journaled with it.

    `basis` is `Neighbours.basis`, where the plan was made on those: it is stale once anything else was
    written to the owner's memories. None: what is not named in a change is not checked. `index_turns` makes
    each message of a role in `TURN_ROLES` something that `Ledger.turns` finds.
    """

    changes: tuple[Change, ...]
    episode: Episode | None = None
    basis: int | None = None
    index_turns: bool = False


@dataclass(frozen=True, slots=True)
class Applied:
    """What `apply` did: `written[i]` tells of the plan's `changes[i]`.

    `replayed` is the receipt of an earlier call under the same idempotency key; then nothing was written.
    """

    written: tuple[Written, ...] = ()
    episode_id: str | None = None
    replayed: Mapping[str, JsonValue] | None = None


@dataclass(frozen=True, slots=True)
class Removed:
    """What `remove` took away, and what an erasure could not do yet."""

    written: tuple[Written, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `check` found wrong, and what mends it."""

    check: str
    problem: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Checkup:
    """What `check` looked at (name, how many) and what it found wrong.

    `unembedded` counts the texts that have no vector yet: nothing is wrong with them, words find them.
    """

    checked: Mapping[str, int]
    findings: tuple[Finding, ...] = field(default=())
    unembedded: int = 0


@dataclass(frozen=True, slots=True)
class Provenance:
    """A memory, where it comes from, and what happened to it.

    `replaces` and `replaced_by` are ids: what it superseded and what superseded it, inside the view's scope
    and not deleted.
    """

    record: Record
    evidence: tuple[Evidence, ...]
    history: tuple[HistoryEntry, ...]
    replaces: tuple[str, ...] = ()
    replaced_by: tuple[str, ...] = ()


Receipt = Callable[[Applied], Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Stats:
    """How much one space holds, and its file. `memories` and `turns` count what a search can find."""

    space: str
    memories: int
    states: Mapping[str, int]
    episodes: int
    messages: int
    turns: int
    scopes: Mapping[str, int]
    models: Mapping[str, str]
    schema: int
    path: str
    file_bytes: int
    log_bytes: int


@dataclass(frozen=True, slots=True)
class Exported:
    """How much a copy holds."""

    episodes: int
    memories: int
    links: int


@dataclass(frozen=True, slots=True)
class Restored:
    """How much a copy brought; `skipped` was there already."""

    episodes: int
    memories: int
    links: int
    skipped: int


@dataclass(frozen=True, slots=True)
class Reembedded:
    """The model whose vectors count now, and how many were made."""

    model: str
    embedded: int


class Ledger(Protocol):
    """One transactional store of episodes, memories, versions, vectors and postings.

    Every method belongs to one space and does all it does in one transaction or one snapshot. Errors are
    `LedgerError`s; a memory outside the given scope is treated as one that does not exist.
    """

    async def apply(self, plan: Plan, *, scope: Scope, now: datetime, receipt: Receipt) -> Applied:
        """Carry out *plan*, whole or not at all; `scope` fences what it may revise.

        Where the episode's idempotency key was used before, nothing is written and the receipt of that
        time comes back; what *receipt* makes of this call is kept for the next. Raises `StaleVersion`
        where a memory (or the plan's basis) moved on since the plan was made, `MemoryNotFound`,
        `IdempotencyConflict`, `EmbedderMismatch`, `InputError` where a `Supersede` names no `Add` of it.
        """
        ...

    async def replay(self, episode: Episode) -> Mapping[str, JsonValue] | None:
        """The receipt of an earlier call under this idempotency key: asked before anything is embedded."""
        ...

    async def remove(
        self, view: View, *, now: datetime, memory_id: str | None = None, erase: bool = False
    ) -> Removed:
        """Take the memories of *view* (or the one that is named) out of every recall.

        `erase` also purges texts, sources, history and the messages that supported nothing else, from the
        file and its log.
        """
        ...

    async def get(self, view: View, memory_id: str) -> Record | None:
        """The memory of that id inside the view's scope, expired or not."""
        ...

    async def page(self, view: View, *, limit: int, cursor: str | None = None) -> Page:
        """At most *limit* memories of the view, the last stored first."""
        ...

    async def count(self, view: View) -> int:
        """How many memories the view shows."""
        ...

    async def history(self, view: View, memory_id: str) -> list[HistoryEntry]:
        """Every event of a memory, deleted ones too, oldest first."""
        ...

    async def evidence(self, view: View, memory_id: str) -> list[Evidence]:
        """The messages that a memory's versions come from."""
        ...

    async def why(self, view: View, memory_id: str) -> Provenance | None:
        """What `get`, `evidence` and `history` tell, all of one moment; None where `get` has none."""
        ...

    async def search(self, view: View, probe: Probe, rank: Rank) -> list[Found]:
        """The memories that *rank* chose among the candidates for *probe*, best first."""
        ...

    async def turns(self, view: View, probe: Probe, rank: Rank) -> list[FoundTurn]:
        """The source messages under the view's scope that *rank* chose, best first.

        Found are those of plans with `index_turns`, until all memories that came from one are deleted.
        Raises `Unsupported` for filters and `as_of`: they are about memories.
        """
        ...

    async def neighbours(
        self, view: View, probes: Sequence[Probe], attributes: Sequence[tuple[str, str]]
    ) -> Neighbours:
        """What the view shows near each probe, and all of these attributes (subject, attribute).

        One snapshot answers it all. It is no access: a memory that nobody asked for was not used.
        """
        ...

    async def aclose(self) -> None:
        """Finish what was begun and let go of the file. Safe to call twice."""
        ...
