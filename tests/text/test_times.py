from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lukasa.errors import InputError
from lukasa.text.times import isoformat, parse_day, parse_time

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        NOON,
        datetime(2026, 1, 2, 13, tzinfo=timezone(timedelta(hours=1))),
        datetime(2026, 1, 2, 12),  # noqa: DTZ001 - what callers pass
        "2026-01-02T12:00:00Z",
        " 2026-01-02 12:00 ",
        "2026-01-02T13:00:00+01:00",
        1767355200,
        1767355200.0,
        1767355200000,
    ],
)
def test_every_form_of_a_time_is_the_same_point_in_utc(value: datetime | str | float):
    found = parse_time(value, what="timestamp")
    assert found == NOON
    assert found.tzinfo is UTC


def test_a_day_is_its_midnight():
    midnight = datetime(2026, 1, 2, tzinfo=UTC)
    assert parse_time(date(2026, 1, 2), what="timestamp") == midnight
    assert parse_time("2026-01-02", what="timestamp") == midnight


def test_microseconds_are_kept():
    assert parse_time(1767355200.25, what="timestamp").microsecond == 250_000
    assert parse_time("2026-01-02T12:00:00.000123", what="timestamp").microsecond == 123


@pytest.mark.parametrize(
    "value", [True, float("nan"), float("inf"), 1e300, 10**400, "yesterday", "", None, [], b"2026-01-02"]
)
def test_what_is_no_time_is_refused_by_name(value: object):
    with pytest.raises(InputError, match=r"messages\[0\]\.timestamp must be a datetime.*ISO 8601.*Unix"):
        parse_time(value, what="messages[0].timestamp")  # pyright: ignore[reportArgumentType]


def test_an_offset_beyond_the_calendar_is_refused():
    first = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5)))
    with pytest.raises(InputError):
        parse_time(first, what="timestamp")
    with pytest.raises(InputError):
        parse_day(first, what="expiration_date")


@pytest.mark.parametrize(
    "value",
    [date(2026, 1, 2), "2026-01-02", " 2026-01-02", datetime(2026, 1, 2, 23, 59, tzinfo=UTC)],
)
def test_every_form_of_a_day_is_the_same_day(value: date | str):
    assert parse_day(value, what="expiration_date") == date(2026, 1, 2)
    assert type(parse_day(value, what="expiration_date")) is date


@pytest.mark.parametrize("value", ["2026-02-30", "02/01/2026", "", 20260102, None])
def test_what_is_no_day_is_refused_by_name(value: object):
    with pytest.raises(InputError, match="expiration_date must be a day as 'YYYY-MM-DD'"):
        parse_day(value, what="expiration_date")  # pyright: ignore[reportArgumentType]


def test_a_written_time_has_microseconds_and_an_offset():
    assert isoformat(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) == "2026-01-02T03:04:05.000000+00:00"


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_written_times_are_read_back_and_sort_as_text(one: datetime, other: datetime):
    assert parse_time(isoformat(one), what="time") == one
    assert (isoformat(one) < isoformat(other)) == (one < other)
