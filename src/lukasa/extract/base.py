"""What an extractor gives: facts worth keeping, and what it left out with the reason."""

from __future__ import annotations

from dataclasses import dataclass

from lukasa.types import Fact


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something said that is not kept: its text, why, and the message's position in the episode."""

    text: str
    reason: str
    message: int


@dataclass(frozen=True, slots=True)
class Extracted:
    """Facts in the order in which they were said, and what was dropped."""

    facts: tuple[Fact, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    extractor: str = "rules"
