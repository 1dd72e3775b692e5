"""`infer=False`: each turn is a memory, word for word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lukasa.types import Episode, Fact, Message, Source, Trust

# Who spoke decides how far a memory is trusted.
TRUST: Final[Mapping[str, Trust]] = {
    "user": "user",
    "assistant": "agent",
    "tool": "tool",
    "function": "tool",
}


def verbatim(episode: Episode) -> tuple[Fact, ...]:
    """One fact a turn; system turns instruct, they are not remembered."""
    return tuple(
        _fact(episode, position, message)
        for position, message in enumerate(episode.messages)
        if message.role in TRUST
    )


def _fact(episode: Episode, position: int, message: Message) -> Fact:
    return Fact(
        text=message.text,
        sources=(Source(position, 0, len(message.text), TRUST[message.role]),),
        scope=episode.scope,
        metadata=episode.metadata,
        kind="episodic",
        role=message.role,
        actor_id=message.name,
        expires_on=episode.expires_on,
        said_at=message.said_at,
    )
