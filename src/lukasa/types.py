"""The values that travel between the steps: frozen, slotted, without behaviour that needs I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal, TypeAlias, Union

JsonValue: TypeAlias = Union[  # noqa: UP007  # evaluated at run time, where a quoted name cannot be part of `|`
    str, int, float, bool, None, Sequence["JsonValue"], Mapping[str, "JsonValue"]
]
Metadata: TypeAlias = Mapping[str, JsonValue]

ScopeKind = Literal["user_id", "agent_id", "run_id", "app_id"]
SCOPE_KINDS: tuple[ScopeKind, ...] = ("user_id", "agent_id", "run_id", "app_id")

State = Literal["active", "proposed", "superseded", "retracted", "archived"]
Kind = Literal["semantic", "episodic", "procedural", "summary"]
Event = Literal["ADD", "UPDATE", "SUPERSEDE", "DELETE", "EXPIRE"]
Trust = Literal["user", "agent", "tool", "document"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memories: up to four ids. A read matches the rows that are equal on the ids it names."""

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    app_id: str | None = None

    def ids(self) -> dict[ScopeKind, str]:
        """The ids that are named, in order of ownership; the first one is the owner."""
        values: dict[ScopeKind, str | None] = {
            "user_id": self.user_id,
            "agent_id": self.agent_id,
            "run_id": self.run_id,
            "app_id": self.app_id,
        }
        return {kind: value for kind, value in values.items() if value is not None}

    def owner(self) -> Scope:
        """The first id alone: what partitions, duplicates and idempotency keys go by."""
        return Scope(**dict(list(self.ids().items())[:1]))

    def __bool__(self) -> bool:
        return bool(self.ids())


@dataclass(frozen=True, slots=True)
class Message:
    """One turn as it came in: cleaned and masked. `said_at` is in the zone where it was said."""

    role: str
    text: str
    name: str | None = None
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Episode:
    """What was said in one `add`, before anything is decided about it."""

    scope: Scope
    messages: tuple[Message, ...]
    metadata: Metadata = field(default_factory=dict[str, JsonValue])
    expires_on: date | None = None
    idempotency_key: bytes | None = None  # SHA-256 of the caller's key: the key itself may hold text
    request: bytes = b""  # SHA-256 of the request, to tell a replay from a conflict
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A memory at one of its versions, as the ledger returns it. Times are UTC."""

    id: str
    scope: Scope
    text: str
    hash: str  # md5 of the text, as mem0's
    kind: Kind
    state: State
    version: int  # 1 for the first
    metadata: Metadata
    categories: tuple[str, ...]
    role: str | None
    actor_id: str | None
    attributed_to: str | None
    importance: float | None
    confidence: float | None
    expires_on: date | None
    created_at: datetime
    updated_at: datetime
    subject: str | None = None
    attribute: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Where a version comes from: a message, the span of it in characters, how far it is trusted."""

    message: int  # position in the episode
    start: int
    end: int
    trust: Trust


@dataclass(frozen=True, slots=True)
class Fact:
    """A text worth keeping, and where it was said.

    `subject` and `attribute` tell of whom and of what it speaks ("user", "employer"): facts that agree in
    both may contradict each other. `event_from` and `event_to` are when it happened.
    """

    text: str
    sources: tuple[Source, ...]
    scope: Scope
    metadata: Metadata
    kind: Kind = "semantic"
    role: str | None = None
    actor_id: str | None = None
    attributed_to: str | None = None
    expires_on: date | None = None
    said_at: datetime | None = None
    extractor: str = "verbatim"
    dedupe_key: bytes | None = None  # None: never a duplicate (verbatim twice is two rows)
    subject: str | None = None
    attribute: str | None = None
    importance: float | None = None
    confidence: float | None = None
    categories: tuple[str, ...] = ()
    event_from: datetime | None = None
    event_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Unset:
    """The type of `UNSET`: "leave this as it is", where None means "clear it"."""


UNSET = Unset()


@dataclass(frozen=True, slots=True)
class Add:
    """Store a new memory. Without a vector it is found by its words alone, until `reembed` makes one."""

    fact: Fact
    vector: bytes | None  # float32, little-endian, unit length


@dataclass(frozen=True, slots=True)
class Revise:
    """Give a memory a new version; what is UNSET stays. `seen` is the version the decision was made on."""

    memory_id: str
    seen: int
    text: str | Unset = UNSET
    vector: bytes | None = None  # needed where the text changes
    metadata: Metadata | Unset = UNSET
    expires_on: date | None | Unset = UNSET
    at: datetime | None = None  # when the new text became true; None: now
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Supersede:
    """End a memory that another one replaces: it held until then, and is found no more but by `as_of`.

    `by` is the position in `Plan.changes` of the `Add` that replaces it; `seen` as in `Revise`. What is
    pinned or immutable stays as it is, and so does a memory that the new fact turns out to repeat.
    """

    memory_id: str
    seen: int
    by: int
    reason: str | None = None


Change: TypeAlias = Add | Revise | Supersede


@dataclass(frozen=True, slots=True)
class Written:
    """One memory that `apply` stored, changed, ended or took away."""

    memory_id: str
    event: Event | Literal["NONE"]
    text: str
    previous: str | None = None
    role: str | None = None
    actor_id: str | None = None
    by: str | None = None  # the memory that replaces a superseded one


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One event of one memory, in the order in which they happened."""

    id: str
    memory_id: str
    event: Event
    old_text: str | None
    new_text: str | None
    created_at: datetime  # of the memory
    recorded_at: datetime  # of the event
    actor_id: str | None
    role: str | None
    reason: str | None
    version: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """A source message of a memory, with the span that supports it."""

    episode_id: str
    message: Message
    position: int
    start: int
    end: int
    trust: Trust
    version: int
    extractor: str
