"""What a reader of archives yields, one entry at a time.

A reader is a function of what is to be read and of `advance`, which it tells how many bytes it has taken from
the disk. It never gives up for one bad entry: that is a `Problem`, and the rest goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypedDict

Kind = Literal["jsonl", "chatgpt", "claude", "mem0"]
Advance: TypeAlias = Callable[[int], None]
Time: TypeAlias = "str | float"

MOST_BYTES = 64_000_000
"""The longest entry that is read. More is no conversation: it would fill the memory."""


class Ids(TypedDict, total=False):
    """Whose something is, as the verbs take it."""

    user_id: str
    agent_id: str
    run_id: str
    app_id: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages that were said together, as `add` takes them."""

    key: str  # the same in a later export of the same archive
    messages: tuple[Mapping[str, object], ...]
    where: str  # for what is told about it: "line 3", "conversation 'Trip to Porto'"
    title: str | None = None
    ids: Ids = field(default_factory=lambda: Ids())
    metadata: Mapping[str, object] | None = None
    timestamp: Time | None = None  # of messages that have none
    expiration_date: str | None = None
    content: bytes | None = None  # what it was read from, where that (and not each message) tells it apart


@dataclass(frozen=True, slots=True)
class Version:
    """What a memory said from a time on."""

    text: str
    at: Time | None


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory that another system had made; `earlier` is what it said before, oldest first."""

    key: str  # its id there; the same in a later export
    text: str
    where: str
    ids: Ids = field(default_factory=lambda: Ids())
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])
    created_at: Time | None = None
    updated_at: Time | None = None
    earlier: tuple[Version, ...] = ()
    attributed_to: str | None = None
    categories: tuple[str, ...] = ()
    role: str | None = None
    name: str | None = None  # of the one who said it
    expiration_date: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """An entry that cannot be read."""

    where: str
    why: str


@dataclass(frozen=True, slots=True)
class Left:
    """What is in the archive and is left out on purpose."""

    what: str  # in the plural: "images"
    count: int = 1


Entry: TypeAlias = Conversation | Kept | Problem | Left
Entries: TypeAlias = Iterator[Entry]
