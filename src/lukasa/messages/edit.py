"""What a caller asks of `update`, cleaned and masked like what came in by `add`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from lukasa.errors import InputError
from lukasa.messages.normalize import Reading, read_metadata
from lukasa.messages.redact import Redactor
from lukasa.text.times import parse_day, parse_time
from lukasa.types import JsonValue, Unset


@dataclass(frozen=True, slots=True)
class Edit:
    """A wanted change of one memory: what is None or UNSET stays. `metadata` is merged, key by key."""

    text: str | None
    metadata: Mapping[str, JsonValue] | None
    expires_on: date | None | Unset
    at: datetime | None
    warnings: tuple[str, ...]


def read_edit(
    *,
    text: object,
    metadata: object,
    expiration_date: date | str | None | Unset,
    timestamp: datetime | date | str | float | None,
    redactor: Redactor,
) -> Edit:
    """The edit that these arguments ask for. Raises `InputError` for a blank text or for no change at all."""
    if text is None and metadata is None and isinstance(expiration_date, Unset):
        raise InputError("update changes nothing: give text, metadata or expiration_date")
    reading = Reading(redactor)
    return Edit(
        text=None if text is None else _text(text, reading),
        metadata=None if metadata is None else read_metadata(metadata, reading),
        expires_on=_day(expiration_date),
        at=None if timestamp is None else parse_time(timestamp, what="timestamp"),
        warnings=tuple(reading.warnings),
    )


def _text(text: object, reading: Reading) -> str:
    if not isinstance(text, str):
        raise InputError(f"text must be a text, not {type(text).__name__}")
    found = reading.text(text, "text")
    if not found.strip():
        raise InputError("text is blank; to take a memory away use delete()")
    return found


def _day(value: date | str | None | Unset) -> date | None | Unset:
    if value is None or isinstance(value, Unset):
        return value
    return parse_day(value, what="expiration_date")
