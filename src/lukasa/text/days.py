"""Relative dates made absolute: "last friday" said on a day is that day, whoever reads it later.

`dated` rewrites a text against the time at which it was said, in that time's own zone. What is no date in
itself ("soon", "every monday") stays as it is; a date without a year gets the year that its tense asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from importlib import import_module
from typing import Literal

from lukasa.runtime import unforked

Grain = Literal["day", "week", "month", "season", "year"]
Tense = Literal["past", "future"]
Clock = Callable[[datetime, Tense], "When | None"]


@dataclass(frozen=True, slots=True)
class When:
    """What a phrase means: the first and the last day, and how fine it is. `words` is how it is written."""

    start: date
    end: date
    grain: Grain
    words: str


@dataclass(frozen=True, slots=True)
class Dated:
    """A text with its dates made absolute, and the first of them (the day, or a span of days)."""

    text: str
    when: When | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A phrase in a text that means a time: its span, and what it means."""

    start: int
    end: int
    when: When


def dated(text: str, said_at: datetime, language: str | None) -> Dated:
    """*text* with relative dates written out; unchanged in a language that has no table."""
    first: When | None = None
    made: list[str] = []
    at = 0
    for mention in mentions(text, said_at, language):
        made += [text[at : mention.start], mention.when.words]
        at = mention.end
        first = first or mention.when
    return Dated("".join([*made, text[at:]]), first) if made else Dated(text)


def mentions(text: str, said_at: datetime, language: str | None) -> Sequence[Mention]:
    """The phrases of *text* that mean a time, in order, without overlap."""
    if language not in ("en", "zh"):
        return ()
    with unforked():
        table = import_module(f"lukasa.text.days_{language}")
    found: Iterator[Mention] = table.find(text, said_at)
    return tuple(found)


def day(day: date, words: str) -> When:
    """One day."""
    return When(day, day, "day", words)


def month_of(year: int, month: int) -> tuple[date, date]:
    """The first and the last day of a month; months beyond 1 to 12 count on into other years."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    following = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), following - timedelta(days=1)


def week_of(day: date) -> tuple[date, date]:
    """Monday and Sunday of the day's week (ISO 8601)."""
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=6)


def season_of(year: int, season: int) -> tuple[date, date]:
    """Spring (0) to winter (3) as three whole months of the northern year; winter begins in December."""
    return month_of(year, 3 + 3 * season)[0], month_of(year, 5 + 3 * season)[1]


def weekday_near(day: date, weekday: int, tense: Tense) -> date:
    """The nearest such weekday before *day* (past) or after it (future); the day itself never."""
    ahead = (weekday - day.weekday()) % 7 or 7
    return day + timedelta(days=ahead) if tense == "future" else day - timedelta(days=(7 - ahead) or 7)


def year_of(day: date, month: int, in_month: int, tense: Tense) -> int | None:
    """The year in which that day of a month lies nearest before (past) or after (future); None: no such day."""
    for year in (day.year, day.year + 1) if tense == "future" else (day.year, day.year - 1):
        try:
            wanted = date(year, month, in_month)
        except ValueError:
            continue
        if (wanted >= day) if tense == "future" else (wanted <= day):
            return year
    return None
