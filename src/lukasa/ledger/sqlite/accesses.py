"""How often memories were found since the last write, which takes the counts along."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Final

from lukasa.runtime import Lock

MOST: Final = 10_000  # memories; where nothing is ever written, those found longest ago are forgotten


class Accesses:
    """Counts by memory id, for any number of threads."""

    def __init__(self) -> None:
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._lock = Lock()

    def note(self, found: Iterable[str]) -> None:
        """Each of these ids was found once more."""
        with self._lock:
            for memory_id in found:
                self._counts[memory_id] = self._counts.pop(memory_id, 0) + 1
            while len(self._counts) > MOST:
                self._counts.popitem(last=False)

    def take(self) -> Mapping[str, int]:
        """All counts, which begin anew."""
        with self._lock:
            taken, self._counts = self._counts, OrderedDict()
        return taken
