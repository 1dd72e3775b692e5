"""mem0's history.db: what a memory said before, and which ones were deleted."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lukasa.archives.base import Time, Version
from lukasa.archives.databases import columns, opened
from lukasa.archives.values import time_of


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to a memory."""

    old: str | None
    new: str | None
    at: Time | None
    deleted: bool


@dataclass(frozen=True, slots=True)
class History:
    """The events of memories, of one database or of none."""

    connection: sqlite3.Connection | None = None

    def of(self, memory: str) -> list[Event]:
        """What happened to one memory, in order."""
        if self.connection is None:
            return []
        rows = self.connection.execute(
            "SELECT old, new, at, deleted FROM temp.events WHERE memory = ? ORDER BY number", (memory,)
        )
        return [Event(old, new, time_of(at), bool(deleted)) for old, new, at, deleted in rows]

    def counts(self) -> tuple[int, int]:
        """How many memories were deleted, and how many were not."""
        if self.connection is None:
            return 0, 0
        (every, deleted) = self.connection.execute(
            "SELECT count(*), coalesce(sum(deleted), 0) FROM"
            " (SELECT max(number), deleted FROM temp.events GROUP BY memory)"  # of its last event
        ).fetchone()
        return deleted, every - deleted


@contextmanager
def history(path: Path | None) -> Generator[History]:
    """The history at *path*, in an order in which memories are found; an empty one for None."""
    if path is None:
        yield History()
        return
    with opened(path) as connection:
        there = columns(connection, "history")
        # mem0 0.0 called them prev_value, new_value and timestamp; 0.1 kept new_value beside new_memory.
        old = _first(there, "old_memory", "prev_value")
        new = _first(there, "new_memory", "new_value")
        at = _first(there, "updated_at", "created_at", "timestamp")
        connection.execute(
            f"CREATE TEMP TABLE events AS SELECT memory_id AS memory, {old} AS old, {new} AS new, {at} AS at,"
            " (event = 'DELETE' OR coalesce(is_deleted, 0)) AS deleted, rowid AS number FROM history"
        )
        connection.execute("CREATE INDEX temp.events_by_memory ON events (memory, number)")
        yield History(connection)


def _first(there: frozenset[str], *names: str) -> str:
    """SQL for the first of these columns that holds something."""
    return f"coalesce({', '.join([*(name for name in names if name in there), 'NULL', 'NULL'])})"


def versions(
    events: Sequence[Event], text: str, *, created_at: Time | None, updated_at: Time | None
) -> list[Version]:
    """What a memory said, oldest first, up to *text*, which is what it says now."""
    said: list[Version] = []
    for event in events:
        if not said and event.old:
            said.append(Version(event.old, created_at))
        if event.new and (not said or said[-1].text != event.new):
            said.append(Version(event.new, event.at))
    if not said:
        return [Version(text, created_at)]
    if created_at is not None:
        said[0] = Version(said[0].text, created_at)
    return said if said[-1].text == text else [*said, Version(text, updated_at)]
