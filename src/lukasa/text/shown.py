"""A value as an error message shows it."""

from __future__ import annotations

from datetime import date

_DIGITS = 200  # bits of an int that is written out: Python refuses to write those of thousands of digits


def shown(value: object, *, most: int = 60) -> str:
    """What *value* is, on one line of about *most* characters: a caller may have passed anything."""
    match value:
        case str() | bytes():
            return repr(value) if len(value) <= most else f"{value[:most]!r}…"
        case bool() | float() | date() | None:
            return repr(value)
        case int():
            big = value.bit_length() > _DIGITS
            return f"an int of {value.bit_length():,} bits" if big else repr(value)
        case _:
            return f"a value of type {type(value).__name__}"
