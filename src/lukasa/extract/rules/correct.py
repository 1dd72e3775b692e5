"""A correction put into what it corrects: a date for a date, a number for a number, a name for a name."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from lukasa.text.days import Mention, mentions

_WEEKDAY: Final = {
    "en": re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", re.IGNORECASE),
    "zh": re.compile(r"(?<=[周週期拜])[一二三四五六日天]"),
}
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:[.:]\d+)?(?:\s?[ap]m)?(?![\w.]*\d)")
_CLOCK: Final = {
    "en": re.compile(
        r"\b(?:\d{1,2}[:.]\d\d(?:\s?[ap]m)?|\d{1,2}\s?[ap]m|(?:half|quarter) (?:past |to )?\w+)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"(?:\d{1,2}|[一二两三四五六七八九十]{1,3})点(?:半|一刻|三刻|\d{1,2}分?)?|\d{1,2}:\d\d"),
}
# One word of a set for another: "it's the right shoulder".
_EXCLUSIVE: Final = tuple(
    frozenset(words.split())
    for words in (
        "left right",
        "morning afternoon evening night",
        "north south east west",
        "red blue green yellow black white grey pink purple orange brown",
        "small medium large",
        "左 右",
        "上午 下午 晚上 早上",
        "男 女",
    )
)
_NOT: Final = re.compile(
    r"\bnot\s+(?P<old>[\w'-]+)(?:[,;:]|\s+but|\s+it'?s|\s+-)*\s+(?P<new>[\w'-]+)", re.IGNORECASE
)
_MEANT: Final = re.compile(
    r"\b(?:i meant?|should be|make that|it's|actually|correction:?|typo:?)\s+(?P<new>[A-Z][\w'-]+)\b"
)
_NAME: Final = re.compile(r"(?<!^)\b[A-Z][a-z][\w'-]*\b")


def corrected(earlier: str, correction: str, said_at: datetime, language: str) -> str | None:
    """*earlier* as *correction* would have it; None where nothing of the same sort stands in both."""
    new, old = mentions(correction, said_at, language), mentions(earlier, said_at, language)
    clock = _clocks(earlier, correction, language)
    if new and old:
        dated = _dates(earlier, old[-1], correction, new[0], language)
        return _clocks(dated, correction, language) or dated
    if clock is not None:
        return clock
    if swapped := _swapped(earlier, correction):
        return swapped
    if new or (old and _NUMBER.search(correction) is None):
        return None
    if negated := _NOT.search(correction):
        pattern = re.compile(rf"\b{re.escape(negated['old'])}\b", re.IGNORECASE)
        if pattern.search(earlier):
            return pattern.sub(negated["new"], earlier, count=1)
    if _NUMBER.search(correction):
        return _numbers(earlier, correction)
    return _names(earlier, correction)


def _dates(earlier: str, old: Mention, correction: str, new: Mention, language: str) -> str:
    was, now = earlier[old.start : old.end], correction[new.start : new.end]
    weekday = _WEEKDAY[language]
    alone = now.strip().lower().removeprefix("on ")
    short = weekday.search(now)
    if (
        short is not None
        and weekday.search(was)
        and len(alone) <= len(short.group()) + (1 if language == "zh" else 0)
    ):
        now = weekday.sub(short.group(), was, count=1)
    return f"{earlier[: old.start]}{now}{earlier[old.end :]}"


def _clocks(earlier: str, correction: str, language: str) -> str | None:
    """A time of day for a time of day."""
    pattern = _CLOCK[language]
    old, new = pattern.search(earlier), pattern.search(correction)
    return None if old is None or new is None else f"{earlier[: old.start()]}{new[0]}{earlier[old.end() :]}"


def _swapped(earlier: str, correction: str) -> str | None:
    for words in _EXCLUSIVE:
        said = _first_of(words, correction)
        was = _first_of(words, earlier)
        if said is not None and was is not None and was[0].lower() != said[0].lower():
            return f"{earlier[: was.start()]}{said[0].lower()}{earlier[was.end() :]}"
    return None


def _first_of(words: frozenset[str], text: str) -> re.Match[str] | None:
    edge = r"\b" if min(words).isascii() else ""
    return re.search(
        rf"{edge}(?:{'|'.join(sorted(words, key=len, reverse=True))}){edge}", text, re.IGNORECASE
    )


def _numbers(earlier: str, correction: str) -> str | None:
    numbers = list(_NUMBER.finditer(earlier))
    wanted = _NUMBER.search(correction)
    if len(numbers) != 1 or wanted is None:
        return None
    return f"{earlier[: numbers[0].start()]}{wanted.group()}{earlier[numbers[0].end() :]}"


def _names(earlier: str, correction: str) -> str | None:
    meant = _MEANT.search(correction)
    names = list(_NAME.finditer(earlier))
    if meant is None or len(names) != 1:
        return None
    return f"{earlier[: names[0].start()]}{meant['new']}{earlier[names[0].end() :]}"
