"""Relative dates are made absolute against the day and the zone in which they were said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lukasa.text.days import dated

WEDNESDAY = datetime(2025, 3, 12, 9, tzinfo=UTC)

ENGLISH = [
    ("got the keys yesterday", "got the keys on 11 March 2025"),
    ("the day before yesterday I signed", "On 10 March 2025 I signed"),
    ("we were there last week", "we were there in the week of 3 March 2025"),
    ("I quit last month", "I quit in February 2025"),
    ("picked it up last year", "picked it up in 2024"),
    ("we went in last summer", "we went in summer 2024"),
    ("I fly next friday", "I fly on Friday 21 March 2025"),
    ("ran it on sunday", "ran it on Sunday 9 March 2025"),
    ("the party is on sunday", "the party is on Sunday 16 March 2025"),
    ("booked for a week on saturday", "booked for Saturday 22 March 2025"),
    ("they come a fortnight today", "they come on 26 March 2025"),
    ("two weeks from monday we leave", "On Monday 31 March 2025 we leave"),
    ("the last monday of the month is free", "On Monday 31 March 2025 is free"),
    ("it was 3 days ago", "it was on 9 March 2025"),
    ("back in two weeks", "back in the week of 24 March 2025"),
    ("I'm away till the 20th", "I'm away till 20 March 2025"),
    ("due on monday 24th", "due on Monday 24 March 2025"),
    ("she turns 80 on 28 June", "she turns 80 on 28 June 2025"),
    ("we married on 28 June 2019", "we married on 28 June 2019"),
    ("school starts in September", "school starts in September 2025"),
    ("I moved in September", "I moved in September 2024"),
    ("moved to 16 June", "moved to 16 June 2025"),
]
CHINESE = [
    ("昨天刚提的车", "2025年3月11日刚提的车"),
    ("下周五去上牌", "2025年3月21日（周五）去上牌"),
    ("上个月搬了", "2025年2月搬了"),
    ("去年夏天去的", "2024年夏天去的"),
    ("12月6号交房", "2025年12月6日交房"),
    ("三天前到的", "2025年3月9日到的"),
    ("2号到5号出差", "2025年4月2日到2025年4月5日出差"),
    ("六月第一个周六请客", "2025年6月7日（周六）请客"),
]


@pytest.mark.parametrize(("said", "kept"), ENGLISH)
def test_english_dates_count_from_the_day_on_which_they_were_said(said: str, kept: str) -> None:
    assert dated(said, WEDNESDAY, "en").text == kept


@pytest.mark.parametrize(("said", "kept"), CHINESE)
def test_chinese_dates_count_from_the_day_on_which_they_were_said(said: str, kept: str) -> None:
    assert dated(said, WEDNESDAY, "zh").text == kept


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I run on mondays and every friday", "en"),
        ("fog is common in February", "en"),
        ("never friday again", "en"),
        ("I may march on", "en"),
        ("soon, recently, one day", "en"),
        ("每周三上课，周日下午固定场", "zh"),
        ("deadline统一放周五", "zh"),
        ("nächste Woche", "de"),
        ("31 February is no day", "en"),
    ],
)
def test_what_recurs_or_is_no_date_stays(text: str, language: str) -> None:
    assert dated(text, WEDNESDAY, language).text == text


def test_the_day_is_that_of_the_speakers_zone() -> None:
    west = timezone(timedelta(hours=-6))
    late = datetime(2025, 3, 12, 23, 30, tzinfo=west)  # already the 13th in UTC
    assert dated("I leave tomorrow", late, "en").text == "I leave on 13 March 2025"


@given(text=st.text(max_size=300), when=st.datetimes())
def test_any_text_on_any_day_is_read(text: str, when: datetime) -> None:
    for language in ("en", "zh"):
        assert isinstance(dated(text, when.replace(tzinfo=UTC), language).text, str)


WORDS = st.sampled_from(
    [*("last", "next", "this", "monday", "week", "month", "year", "in", "on", "the", "31", "february")]
    + [*("march", "ago", "days", "two", "a", "fortnight", "today", "from", "31号"), *"上下个月周三天前第一"]
)


@given(words=st.lists(WORDS, max_size=12), when=st.datetimes())
def test_any_words_of_time_on_any_day_are_read(words: list[str], when: datetime) -> None:
    said = when.replace(tzinfo=UTC)
    dated(" ".join(words), said, "en")
    dated("".join(words), said, "zh")
