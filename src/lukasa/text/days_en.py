"""English phrases of time, and what they mean on a given day."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Final

from lukasa.text.days import (
    Mention,
    Tense,
    When,
    day,
    month_of,
    season_of,
    week_of,
    weekday_near,
    year_of,
)
from lukasa.text.verbs_en import UNCHANGED, is_past

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_SEASONS: Final = ("spring", "summer", "autumn", "winter")
_NUMBERS: Final = {
    name: number
    for number, name in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
} | {"a": 1, "an": 1, "a couple of": 2, "couple of": 2}

_WEEKDAY = (
    r"mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
)
_WHOLE_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?"
)
_COUNT = r"\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:a )?couple of"
_PART = r"(?: (?:morning|afternoon|evening|night|noon))?"
_ORDINAL = r"(?:st|nd|rd|th)"
_BEFORE = r"(?P<prep>\b(?:on|in|since|by|until|till|til|from|before|after|for|around|about|during|over|at|to|of)\s+(?:the\s+)?)?"
_YEAR = r"(?:19|20)\d\d"

_PATTERN: Final = re.compile(
    rf"""(?<![\w/-]){_BEFORE}(?:
      (?P<ago>(?P<ago_n>{_COUNT})\s(?P<ago_unit>day|week|month|year)s?\s(?:ago|back)\b)
    | (?P<ahead>in\s(?P<ahead_n>{_COUNT})\s(?P<ahead_unit>day|week|month|year)s?(?:'\stime)?\b(?!\s(?:of|a)\b))
    | (?P<around>the\sday\s(?:before\syesterday|after\stomorrow))
    | (?P<named>yesterday|today|tonight|tomorrow|last\snight|tmrw|tmr){_PART}\b(?!'s)
    | (?P<this>this\s(?:morning|afternoon|evening))\b
    | (?P<from>(?P<from_n>{_COUNT})\s(?P<from_unit>day|week|fortnight)s?\sfrom\s(?P<from_day>now|today|tomorrow|{_WHOLE_WEEKDAY})\b)
    | (?P<nth>(?:the\s)?(?P<nth_n>first|second|third|fourth|last)\s(?P<nth_day>{_WHOLE_WEEKDAY})\s(?:of|in)\s(?:(?P<nth_this>the|this|next)\s(?:\w+\s)?month|(?P<nth_month>{_MONTH}))\b)
    | (?P<hence>(?:a\s)?(?P<hence_n>week|fortnight)\s(?P<hence_from>today|tomorrow|(?:on\s)?{_WHOLE_WEEKDAY})\b)
    | (?P<week_on>(?:a\sweek\s(?:on\s)?(?P<on_day>{_WHOLE_WEEKDAY})|(?P<day_week>{_WHOLE_WEEKDAY})\sweek)\b)
    | (?P<rel>(?:(?P<which>last|this|next|past|coming|this\scoming|this\spast)\s
        (?:(?P<unit>week(?!end)|weekend|month|year)|(?P<rel_day>{_WEEKDAY})|(?P<rel_month>{_MONTH})
          |(?P<rel_season>spring|summer|autumn|fall|winter)))\b{_PART})
    | (?P<full>(?:(?:{_WEEKDAY}),?\s(?:the\s)?)?(?:
          (?P<d1>\d{{1,2}}){_ORDINAL}?(?:\sof)?\s(?P<m1>{_MONTH})\b
        | (?P<m2>{_MONTH})\s(?:the\s)?(?P<d2>\d{{1,2}}){_ORDINAL}?\b(?!:|\s?(?:am|pm|%))
        )(?:(?P<y>,?\s{_YEAR})\b)?)
    | (?P<wd_dom>(?P<wd>{_WEEKDAY}),?\s(?:the\s)?(?P<dom>\d{{1,2}}){_ORDINAL}\b)
    | (?P<bare_dom>(?<=the\s)(?P<dom2>\d{{1,2}}){_ORDINAL}\b(?!\s(?:floor|century|grade|year|birthday|anniversary|time|of|and|place|edition|\w+ (?:floor|grade))))
    | (?P<bare_day>(?P<bd>{_WHOLE_WEEKDAY})\b{_PART})
    | (?P<bare_month>(?P<bm>(?:January|February|March|April|May|June|July|August|September|October|November|December))\b(?!\s{_YEAR}|\s\d))
    | (?P<bare_season>(?P<bs>spring|summer|autumn|winter)\b)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_TRIGGER: Final = re.compile(
    r"ago\b|fortnight|today|tomorrow|back\b|day\b|tonight|tmrw?\b|last\b|this\b|next\b|past\b|coming\b|\bin\b|"
    r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|\d(?:st|nd|rd|th)\b|spring|summer|autumn|winter|"
    r"\b(?:mon|tue|wed|thu|fri|sat|sun)",
    re.IGNORECASE,
)
_RECURRING: Final = re.compile(
    r"(?:\b(?:every|each|most|all|any|(?:bi-?)?weekly|alternate|other|and|or|never|not) (?:other )?)$", re.I
)
_HABIT: Final = re.compile(
    r"\b(?:often|usually|always|every|each|never|typically|generally|rarely|common)\b", re.IGNORECASE
)
_FUTURE: Final = re.compile(
    r"\b(?:will|won't|'ll|ll|going to|gonna|planning|plan|plans|moving|starts?|starting|due|booked|hoping|hope|"
    r"want|wants|need|needs|aim|aiming|goal|deadline|until|till|by|turns?|turning|get to|upcoming|"
    r"coming|flying|visiting|expecting|expected|moved to|rescheduled|postponed|brought forward|appointment)\b|'ll\b",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[a-z']+", re.IGNORECASE)
_MARKS: Final = ("-", "–", "—", ":", "(", "/", "*", "[")
_YEAR_WRITTEN: Final = re.compile(rf"\b{_YEAR}\b")
_KEPT: Final = frozenset(
    "since by until till til from before after around about during over for to of".split()
)


def find(text: str, said_at: datetime) -> Iterator[Mention]:
    """The English phrases of time in *text*, in order."""
    if _TRIGGER.search(text) is None:
        return
    for match in _PATTERN.finditer(text):
        when = _meaning(match, said_at.date(), text)
        if when is not None:
            words = _with_preposition(match, when, at_start=not text[: match.start()].strip())
            yield Mention(match.start(), match.end(), When(when.start, when.end, when.grain, words))


def _with_preposition(match: re.Match[str], when: When, *, at_start: bool) -> str:
    """The date after the preposition that stood there, or after the one that it asks for."""
    before = (match["prep"] or "").split()
    if before and before[0].lower() in _KEPT:
        return f"{before[0]} {when.words}"
    if match.string[: match.start()].rstrip()[-1:] in _MARKS:
        return when.words
    if when.words.startswith("the "):
        return f"{'In' if at_start else 'in'} {when.words}"
    word = "on" if when.grain == "day" else "in"
    return f"{word.capitalize() if at_start else word} {when.words}"


def _meaning(match: re.Match[str], said: date, text: str) -> When | None:
    given = {name: value.lower() for name, value in match.groupdict().items() if value is not None}
    tense = _tense(text, match.start())
    if "ago" in given:
        return _shifted(said, given["ago_n"], given["ago_unit"], -1)
    if "ahead" in given:
        return _shifted(said, given["ahead_n"], given["ahead_unit"], 1)
    if "around" in given:
        return _written(said + timedelta(days=-2 if "before" in given["around"] else 2))
    if "named" in given:
        back = {"yesterday": -1, "last night": -1, "tomorrow": 1, "tmrw": 1, "tmr": 1}
        return _written(said + timedelta(days=back.get(given["named"], 0)))
    if "this" in given:
        return _written(said)
    if "from" in given:
        return _from(given, said)
    if "nth" in given:
        return _nth(given, said)
    if "hence" in given:
        return _hence(given, said)
    if "week_on" in given:
        wanted = _weekday(given.get("on_day") or given["day_week"])
        return _written(weekday_near(said, wanted, "future") + timedelta(days=7), named=True)
    if "rel" in given:
        return _relative(given, said)
    if "full" in given:
        return _full(given, said, tense, set(_YEAR_WRITTEN.findall(text)))
    if "wd_dom" in given or "bare_dom" in given:
        return _day_of_month(given, said, tense)
    if _RECURRING.search(text[: match.start()]) or re.match(r"s\b|'s\b", text[match.end() :]):
        return None
    return _bare(match, given, said, tense)


def _tense(text: str, at: int) -> Tense:
    if _FUTURE.search(text):
        return "future"
    words = (word.lower() for word in _WORD.findall(text))
    return "past" if any(is_past(word) or word in UNCHANGED for word in words) else "future"


def _written(when: date, *, named: bool = False) -> When:
    name = f"{_DAYS[when.weekday()]} " if named else ""
    return day(when, f"{name}{when.day} {_MONTHS[when.month - 1]} {when.year}")


def _shifted(said: date, count: str, unit: str, sign: int) -> When | None:
    number = sign * (int(count) if count.isdigit() else _NUMBERS[count.removeprefix("the ")])
    try:
        if unit == "day":
            return _written(said + timedelta(days=number))
        if unit == "week":
            return _week(said + timedelta(days=7 * number))
        if unit == "month":
            return _month(said.year, said.month + number)
        return _year(said.year + number)
    except (OverflowError, ValueError):
        return None


def _nth(given: Mapping[str, str], said: date) -> When | None:
    """ "The last Monday of the month"."""
    month = said.month + (given.get("nth_this") == "next")
    year = said.year
    if "nth_month" in given:
        month = _month_number(given["nth_month"])
        year += month < said.month
    first, last = month_of(year, month)
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    fitting = [one for one in days if one.weekday() == _weekday(given["nth_day"])]
    at = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1}[given["nth_n"]]
    return _written(fitting[at], named=True)


def _from(given: Mapping[str, str], said: date) -> When:
    """ "Two weeks from Monday"."""
    count = int(given["from_n"]) if given["from_n"].isdigit() else _NUMBERS[given["from_n"]]
    later = timedelta(days=count * {"day": 1, "week": 7, "fortnight": 14}[given["from_unit"]])
    begin = given["from_day"]
    if begin in ("now", "today"):
        return _written(said + later)
    first = said + timedelta(days=1) if begin == "tomorrow" else weekday_near(said, _weekday(begin), "future")
    return _written(first + later, named=begin != "tomorrow")


def _hence(given: Mapping[str, str], said: date) -> When:
    """ "A fortnight today", "a week on Saturday"."""
    later = timedelta(days=14 if given["hence_n"] == "fortnight" else 7)
    begin = given["hence_from"].removeprefix("on ")
    if begin == "today":
        return _written(said + later)
    if begin == "tomorrow":
        return _written(said + timedelta(days=1) + later)
    return _written(weekday_near(said, _weekday(begin), "future") + later, named=True)


def _week(inside: date) -> When:
    first, last = week_of(inside)
    return When(first, last, "week", f"the week of {first.day} {_MONTHS[first.month - 1]} {first.year}")


def _month(year: int, month: int) -> When:
    first, last = month_of(year, month)
    return When(first, last, "month", f"{_MONTHS[first.month - 1]} {first.year}")


def _season(year: int, season: int, word: str) -> When:
    first, last = season_of(year, season)
    return When(first, last, "season", f"{word} {year}")


def _year(year: int) -> When:
    return When(date(year, 1, 1), date(year, 12, 31), "year", str(year))


def _weekday(name: str) -> int:
    return next(at for at, full in enumerate(_DAYS) if full[:3].lower() == name[:3])


def _month_number(name: str) -> int:
    return next(at for at, full in enumerate(_MONTHS, 1) if full[:3].lower() == name[:3])


def _relative(given: Mapping[str, str], said: date) -> When | None:
    which = given["which"].split()[-1]
    step = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1}[which]
    unit = given.get("unit")
    if unit == "week":
        return _week(said + timedelta(days=7 * step))
    if unit == "weekend":
        saturday = week_of(said)[0] + timedelta(days=5 + 7 * (0 if which == "coming" else step))
        end = saturday + timedelta(days=1)
        return When(
            saturday,
            end,
            "week",
            f"the weekend of {saturday.day} {_MONTHS[saturday.month - 1]} {saturday.year}",
        )
    if unit == "month":
        return (
            _month(said.year, said.month + (0 if which == "coming" else step)) if which != "coming" else None
        )
    if unit == "year":
        return _year(said.year + step) if which != "coming" else None
    if "rel_day" in given:
        return _relative_weekday(given["rel_day"], which, said)
    if "rel_month" in given:
        return _relative_month(_month_number(given["rel_month"]), which, said)
    return _relative_season(given["rel_season"], which, said)


def _relative_weekday(name: str, which: str, said: date) -> When:
    wanted = _weekday(name)
    if which in ("last", "past"):
        return _written(weekday_near(said, wanted, "past"), named=True)
    ahead = weekday_near(said, wanted, "future")
    if which == "next" and ahead <= week_of(said)[1]:  # "next friday" is that of the next week
        ahead += timedelta(days=7)
    return _written(ahead, named=True)


def _relative_month(month: int, which: str, said: date) -> When:
    if which in ("last", "past"):
        return _month(said.year - (month >= said.month), month)
    return _month(said.year + (month <= said.month if which == "next" else month < said.month), month)


def _relative_season(word: str, which: str, said: date) -> When:
    season = _SEASONS.index("autumn" if word == "fall" else word)
    if which in ("last", "past"):
        year = next(y for y in (said.year, said.year - 1, said.year - 2) if season_of(y, season)[1] < said)
    else:
        year = next(y for y in (said.year - 1, said.year, said.year + 1) if season_of(y, season)[1] >= said)
        if which == "next" and season_of(year, season)[0] <= said:
            year += 1
    return _season(year, season, word)


def _full(given: Mapping[str, str], said: date, tense: Tense, years: set[str]) -> When | None:
    number, month = int(given.get("d1") or given["d2"]), _month_number(given.get("m1") or given["m2"])
    if "y" in given:
        year = int(given["y"].strip(", "))
    else:  # "1 to 15 March 2024": the year that stands elsewhere
        year = int(years.pop()) if len(years) == 1 else year_of(said, month, number, tense)
    try:
        when = date(year or said.year, month, number)
    except ValueError:
        return None
    return _written(when, named=any(given["full"].startswith(name[:3].lower()) for name in _DAYS))


def _day_of_month(given: Mapping[str, str], said: date, tense: Tense) -> When | None:
    number = int(given.get("dom") or given["dom2"])
    for step in (0, 1, 2, -1) if tense == "future" else (0, -1, -2, 1):
        first, last = month_of(said.year, said.month + step)
        if not 1 <= number <= last.day:
            continue
        when = first.replace(day=number)
        if "wd" in given and when.weekday() != _weekday(given["wd"]):
            continue
        if "wd" in given or ((when >= said) if tense == "future" else (when <= said)):
            return _written(when, named="wd" in given)
    return None


def _bare(match: re.Match[str], given: Mapping[str, str], said: date, tense: Tense) -> When | None:
    before = given.get("prep", "").split()
    if "bare_day" not in given and _HABIT.search(match.string):
        return None  # "fog is common in February"
    if "bare_day" in given:
        return _written(weekday_near(said, _weekday(given["bd"]), tense), named=True)
    if "bare_month" in given:
        if not before or (
            given["bm"] in ("may", "march") and before[0] not in ("in", "since", "by", "until")
        ):
            return None
        month = _month_number(given["bm"])
        if tense == "future" and before[0] != "since":
            return _month(said.year + (month < said.month), month)
        return _month(said.year - (month > said.month), month)
    if not before or before[0] not in ("in", "since", "by", "until", "during", "over"):
        return None
    past = tense == "past" or before[0] == "since"
    season = _SEASONS.index(given["bs"])
    if past:
        year = next(y for y in (said.year, said.year - 1) if season_of(y, season)[0] <= said)
    else:
        year = next(y for y in (said.year - 1, said.year, said.year + 1) if season_of(y, season)[1] >= said)
    return _season(year, season, match["bs"])
