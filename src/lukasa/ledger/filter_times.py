"""How filters compare times: each is the span it covers, so that a bare date is its whole day (UTC)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Literal, TypeVar, assert_never

Order = Literal["gt", "gte", "lt", "lte"]
T = TypeVar("T", str, float)

DAY = 86_400_000_000  # microseconds
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ISO = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d(:?\d\d(:?\d\d)?)?)?)?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Span:
    """The microseconds since 1970 (UTC) that a time covers, from `start` up to but without `end`."""

    start: int
    end: int

    def days(self) -> Span:
        """The whole days that it touches."""
        return Span(self.start // DAY * DAY, -(-self.end // DAY) * DAY)

    def covers(self, other: Span) -> bool:
        """Whether *other* lies wholly within."""
        return self.start <= other.start and other.end <= self.end


def span_of_time(moment: date) -> Span:
    """The day of a date, or the microsecond of a datetime (UTC where it names no zone)."""
    if isinstance(moment, datetime):
        aware = moment.replace(tzinfo=UTC) if moment.utcoffset() is None else moment
        start = (aware - _EPOCH) // timedelta(microseconds=1)
        return Span(start, start + 1)
    start = (moment.toordinal() - _EPOCH.toordinal()) * DAY
    return Span(start, start + DAY)


@lru_cache(maxsize=4096)
def span_of_text(text: str) -> Span | None:
    """The time that an ISO 8601 date (`2025-01-31`) or date and time names; None for any other text."""
    if not _ISO.fullmatch(text):
        return None
    try:
        return span_of_time(date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text))
    except ValueError:
        return None


def span_of_unix(seconds: float) -> Span | None:
    """The microsecond of a Unix time; None outside the years 1 to 9999 (milliseconds end up there)."""
    if not -62_135_596_800 <= seconds < 253_402_300_800:
        return None
    start = round(seconds * 1_000_000)
    return Span(start, start + 1)


def spans_ordered(left: Span, test: Order, right: Span) -> bool:
    """`gt` is after the whole of it, `gte` from its start on, `lt` before its start, `lte` until its end."""
    match test:
        case "gt":
            return left.start >= right.end
        case "gte":
            return left.start >= right.start
        case "lt":
            return left.end <= right.start
        case "lte":
            return left.end <= right.end
        case _:
            assert_never(test)


def plainly_ordered(left: T, test: Order, right: T) -> bool:
    """Two numbers, or two texts by code point."""
    match test:
        case "gt":
            return left > right
        case "gte":
            return left >= right
        case "lt":
            return left < right
        case "lte":
            return left <= right
        case _:
            assert_never(test)


def texts_ordered(stored: str, test: Order, bound: str) -> bool:
    """How two texts compare: as times where both are ISO 8601, else by code point."""
    left, right = span_of_text(stored), span_of_text(bound)
    if left is None or right is None:
        return plainly_ordered(stored, test, bound)
    return spans_ordered(left, test, right)
