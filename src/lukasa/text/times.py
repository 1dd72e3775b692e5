"""Points in time and calendar days from what callers pass."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from math import isfinite

from lukasa.errors import InputError
from lukasa.text.shown import shown

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# 1e11 seconds is the year 5138; as milliseconds it is 1973. JavaScript clocks give milliseconds.
_MILLISECONDS_FROM = 1e11


def parse_time(value: datetime | date | str | float, *, what: str) -> datetime:
    """The point in time, in UTC. What has no offset is taken as UTC, a day as its midnight.

    Numbers are Unix seconds, or milliseconds above 1e11. *what* names the argument in the error.
    """
    return parse_local_time(value, what=what).astimezone(UTC)


def parse_local_time(value: datetime | date | str | float, *, what: str) -> datetime:
    """The same in the zone that it names: what day it was there decides what "yesterday" is."""
    try:
        match value:
            case bool():
                pass
            case datetime():
                return _aware(value)
            case date():
                return datetime.combine(value, time(), UTC)
            case str():
                return _aware(datetime.fromisoformat(value.strip()))
            case int() | float() if isfinite(value):
                seconds = value / 1000 if abs(value) > _MILLISECONDS_FROM else value
                return _EPOCH + timedelta(seconds=seconds)
            case _:
                pass
    except (ValueError, OverflowError) as error:
        raise _not_a_time(value, what) from error
    raise _not_a_time(value, what)


def parse_day(value: date | str | datetime, *, what: str) -> date:
    """The calendar day; a datetime gives its day in UTC. *what* names the argument in the error."""
    try:
        if isinstance(value, datetime):
            return _utc(value).date()
        if isinstance(value, date):
            return value
        return datetime.strptime(value.strip(), "%Y-%m-%d").replace(tzinfo=UTC).date()
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{what} must be a day as 'YYYY-MM-DD' or datetime.date, not {shown(value)}"
        ) from error


def isoformat(value: datetime) -> str:
    """ISO 8601 in UTC with microseconds and `+00:00`, always of one length: it sorts as text."""
    return _utc(value).isoformat(timespec="microseconds")


def _aware(value: datetime) -> datetime:
    made = value.replace(tzinfo=UTC) if value.tzinfo is None else value
    made.astimezone(UTC)  # raises OverflowError at the ends of the calendar
    return made


def _utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _not_a_time(value: object, what: str) -> InputError:
    return InputError(
        f"{what} must be a datetime, a date, an ISO 8601 text such as '2026-01-31T09:30:00+01:00', or Unix "
        f"seconds or milliseconds, not {shown(value)}"
    )
