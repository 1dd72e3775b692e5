"""Chinese phrases of time, and what they mean on a given day."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Final

from lukasa.text.days import Mention, Tense, When, day, month_of, week_of, weekday_near, year_of

_DIGITS: Final = {char: number for number, char in enumerate("〇一二三四五六七八九")} | {
    "两": 2,
    "兩": 2,
    "零": 0,
}
_WEEKDAYS: Final = "一二三四五六日"
_NAMED: Final = {
    "大前天": -3,
    "前天": -2,
    "昨天": -1,
    "昨日": -1,
    "今天": 0,
    "今日": 0,
    "明天": 1,
    "明日": 1,
    "后天": 2,
    "後天": 2,
    "大后天": 3,
    "大後天": 3,
    "昨晚": -1,
    "昨夜": -1,
    "今晚": 0,
    "今早": 0,
    "今晨": 0,
    "明晚": 1,
    "明早": 1,
    "前晚": -2,
}
_PART_OF_DAY: Final = {"晚": "晚上", "夜": "夜里", "早": "早上", "晨": "早上"}
_COUNT = r"\d{1,3}|[一二三四五六七八九十两兩]{1,3}|半"
_N = r"\d{1,2}|[一二三四五六七八九十]{1,3}"

_PATTERN: Final = re.compile(
    rf"""(?P<ago>(?P<ago_n>{_COUNT})(?P<ago_unit>天|日|周|週|个星期|個星期|个礼拜|个月|個月|年)(?P<dir>前|之前|以前|后|後|之后|之後|以后))
    | (?P<named>大前天|前天|昨天|昨日|今天|今日|明天|明日|大后天|大後天|后天|後天|昨晚|昨夜|今晚|今早|今晨|明晚|明早|前晚)
    | (?P<year>前年|去年|今年|明年|后年|後年)(?:(?P<y_month>{_N})月(?:(?P<y_day>{_N})[日号號])?)?
    | (?P<which>上上|上|这|這|本|下下|下)(?:个|個)?(?P<unit>月)(?:(?P<m_day>{_N})[日号號])?
    | (?P<w_which>上上|上|这|這|本|下下|下)?(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?P<wd>[一二三四五六日天末])(?![到至个年内])
    | (?P<week>(?P<wk_which>上上|上|这|這|本|下下|下)(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?![一二三四五六日天末]))
    | (?P<nth>(?P<n_month>{_N})月(?:份|的)?第(?P<n_n>[一二三四五])(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?P<n_day>[一二三四五六日天]))
    | (?P<full>(?P<f_month>{_N})月(?P<f_day>{_N})[日号號]?)
    | (?P<bare>(?<![\d月年])(?P<b_day>\d{{1,2}})[号號](?!楼|线|線|店|院|门|桌|位|机))
    | (?P<month>(?<![\d年])(?P<only_month>{_N})月(?:份|初|底|中旬|上旬|下旬)?)""",
    re.VERBOSE,
)
_TRIGGER: Final = re.compile("[天日晚早晨夜周週月年号號前后後星期礼禮]")
_EVERY: Final = re.compile("(?:每个?|每逢|逢|和|、|到|统一放?|統一放?|固定在?|都在?|都是)$")
_FIXED: Final = re.compile("^(?:[上下]午|晚上|早上)?(?:固定|例会|例會|都)")
_PAST: Final = re.compile(
    "了|(?<=[去来吃看做学用见买住玩听说考])[过過]|刚|剛|已经|已經|完(?!全)|[买買提拿领領考拍去]的|昨|去年|上个?月|上周"
)
_FUTURE: Final = re.compile(
    "定了|约了|订了|要|会|會|将|將|打算|准备|準備|计划|計劃|定在|想|去不|出发|出發|交房|开学|開學|到时|預計|预计|开始|截止|之前"
)


def find(text: str, said_at: datetime) -> Iterator[Mention]:
    """The Chinese phrases of time in *text*, in order."""
    if _TRIGGER.search(text) is None:
        return
    last_month: int | None = None
    for match in _PATTERN.finditer(text):
        given = {name: value for name, value in match.groupdict().items() if value is not None}
        if text[max(0, match.start() - 5) : match.start()].endswith("年") and (
            "full" in given or "month" in given
        ):
            continue  # its year stands there
        if _EVERY.search(text[: match.start()]) and given.keys().isdisjoint(("named", "full", "bare")):
            continue
        if "wd" in given and "w_which" not in given and _FIXED.search(text[match.end() :]):
            continue
        when = _meaning(given, said_at.date(), _tense(text), last_month)
        if when is not None:
            last_month = when.start.month if given.keys() & {"full", "month", "bare"} else last_month
            yield Mention(match.start(), match.end(), when)


def _tense(text: str) -> Tense:
    if _FUTURE.search(text):
        return "future"
    return "past" if _PAST.search(text) else "future"


def number(text: str) -> int:
    """A number below a hundred, in digits or in characters."""
    if text.isdigit():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    if not ten:
        return int("".join(str(_DIGITS[char]) for char in text))
    return 10 * (_DIGITS[tens] if tens else 1) + (_DIGITS[ones] if ones else 0)


def _meaning(given: Mapping[str, str], said: date, tense: Tense, last_month: int | None) -> When | None:
    try:
        if "ago" in given:
            return _shifted(given, said)
        if "named" in given:
            name = given["named"]
            part = _PART_OF_DAY.get(name[-1], "")
            return _written(said + timedelta(days=_NAMED[name]), part)
        if "year" in given:
            return _in_year(given, said)
        if "unit" in given:
            return _in_month(given, said)
        if "wd" in given:
            return _weekday(given, said, tense)
        if "week" in given:
            return _week(said + timedelta(days=7 * _step(given["wk_which"])))
        if "nth" in given:
            return _nth(given, said)
        if "full" in given:
            month, in_month = number(given["f_month"]), number(given["f_day"])
            year = year_of(said, month, in_month, tense)
            return None if year is None else _written(date(year, month, in_month))
        if "bare" in given:
            return _day_of_month(int(given["b_day"]), said, tense, last_month)
        return _month_alone(number(given["only_month"]), given["month"], said, tense)
    except (ValueError, OverflowError, LookupError):  # the 31st of February, a year beyond the calendar
        return None


def _written(when: date, part: str = "") -> When:
    return day(when, f"{when.year}年{when.month}月{when.day}日{part}")


def _month(year: int, month: int) -> When:
    first, last = month_of(year, month)
    return When(first, last, "month", f"{first.year}年{first.month}月")


def _week(inside: date) -> When:
    first, last = week_of(inside)
    return When(first, last, "week", f"{first.year}年{first.month}月{first.day}日那一周")


def _step(which: str) -> int:
    return {"上上": -2, "上": -1, "下": 1, "下下": 2}.get(which, 0)


def _shifted(given: Mapping[str, str], said: date) -> When | None:
    if given["ago_n"] == "半":
        if given["ago_unit"] != "年":
            return None
        amount, unit = 6, "月"
    else:
        amount, unit = number(given["ago_n"]), given["ago_unit"]
    amount *= -1 if "前" in given["dir"] else 1
    if unit in "天日":
        return _written(said + timedelta(days=amount))
    if unit.endswith("月"):
        return _month(said.year, said.month + amount)
    if unit == "年":
        year = said.year + amount
        return When(date(year, 1, 1), date(year, 12, 31), "year", f"{year}年")
    return _week(said + timedelta(days=7 * amount))


def _in_year(given: Mapping[str, str], said: date) -> When:
    step = {"前年": -2, "去年": -1, "今年": 0, "明年": 1}.get(given["year"], 2)
    year = said.year + step
    if "y_day" in given:
        return _written(date(year, number(given["y_month"]), number(given["y_day"])))
    if "y_month" in given:
        return _month(year, number(given["y_month"]))
    return When(date(year, 1, 1), date(year, 12, 31), "year", f"{year}年")


def _in_month(given: Mapping[str, str], said: date) -> When:
    month = _month(said.year, said.month + _step(given["which"]))
    if "m_day" not in given:
        return month
    return _written(month.start.replace(day=number(given["m_day"])))


def _nth(given: Mapping[str, str], said: date) -> When:
    """ "The first Saturday of June"."""
    month, wanted = number(given["n_month"]), _WEEKDAYS.index(given["n_day"].replace("天", "日"))
    first, last = month_of(said.year + (month < said.month), month)
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    fitting = [one for one in days if one.weekday() == wanted]
    return _written(fitting[number(given["n_n"]) - 1], f"（周{_WEEKDAYS[wanted]}）")


def _weekday(given: Mapping[str, str], said: date, tense: Tense) -> When:
    name, which = given["wd"], given.get("w_which")
    if name == "末":
        saturday = week_of(said)[0] + timedelta(days=5 + 7 * _step(which or ""))
        words = f"{saturday.year}年{saturday.month}月{saturday.day}日那个周末"
        return When(saturday, saturday + timedelta(days=1), "week", words)
    wanted = _WEEKDAYS.index("日" if name == "天" else name)
    if which is None:
        when = weekday_near(said, wanted, tense)
    else:
        when = week_of(said)[0] + timedelta(days=wanted + 7 * _step(which))
    return _written(when, f"（周{_WEEKDAYS[wanted]}）")


def _day_of_month(in_month: int, said: date, tense: Tense, last_month: int | None) -> When | None:
    if last_month is not None:
        year = year_of(said, last_month, in_month, tense)
        return None if year is None else _written(date(year, last_month, in_month))
    for step in (0, 1) if tense == "future" else (0, -1):
        first, last = month_of(said.year, said.month + step)
        if in_month <= last.day:
            when = first.replace(day=in_month)
            if (when >= said) if tense == "future" else (when <= said):
                return _written(when)
    return None


def _month_alone(month: int, words: str, said: date, tense: Tense) -> When | None:
    if not 1 <= month <= 12:
        return None
    later = month < said.month if tense == "future" else False
    earlier = month > said.month if tense == "past" else False
    found = _month(said.year + later - earlier, month)
    rest = words.partition("月")[2]
    return When(found.start, found.end, "month", found.words + rest)
