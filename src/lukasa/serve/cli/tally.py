"""What became of the entries of an archive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from lukasa.text.clean import clean

_TOLD: Final = 20  # bad entries and notes are shown up to here, and counted after


@dataclass(slots=True)
class Tally:
    """What became of the entries so far."""

    tell: Callable[[str], None] = lambda _: None
    entries: int = 0  # lines, or conversations
    kept: int = 0  # memories that another system had made
    memories: int = 0
    superseded: int = 0
    known: int = 0  # entries, or parts of long ones, that an earlier run had stored
    revised: int = 0  # known memories that have got a new version
    bad: int = 0
    notes: int = 0
    problems: list[str] = field(default_factory=list[str])
    left: Counter[str] = field(default_factory=Counter[str])

    def refuse(self, where: str, why: object) -> None:
        """Count an entry that cannot be stored, and tell why."""
        self.bad += 1
        if self.bad <= _TOLD:
            problem = clean(f"{where}: {why}")  # names in an archive may hold what steers a terminal
            self.problems.append(problem)
            self.tell(f"error: {problem}")

    def warn(self, where: str, warnings: Sequence[str]) -> None:
        """Count what was masked, skipped or left out, and tell the first few."""
        for warning in warnings:
            self.notes += 1
            if self.notes <= _TOLD:
                self.tell(f"note: {clean(where)}: {warning}")
