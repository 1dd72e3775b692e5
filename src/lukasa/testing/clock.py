"""A clock that stands until it is told to go."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class FrozenClock:
    """Called, it returns the same aware UTC time until `advance` or `set` is called."""

    def __init__(self, start: datetime | str = "2025-01-01T12:00:00+00:00") -> None:
        self._now = _utc(start)

    def __call__(self) -> datetime:
        """The time, in UTC."""
        return self._now

    def advance(self, by: timedelta | None = None, **parts: float) -> datetime:
        """Move by *by*, or by the parts of a `timedelta` (`days=1, hours=2`); returns the new time."""
        self._now += (by or timedelta()) + timedelta(**parts)
        return self._now

    def set(self, to: datetime | str) -> datetime:
        """Move to a moment, which may be earlier; returns it in UTC."""
        self._now = _utc(to)
        return self._now


def _utc(moment: datetime | str) -> datetime:
    """*moment* in UTC; without a zone it is taken for UTC."""
    value = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
