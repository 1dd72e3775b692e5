"""A value as an error message shows it."""

from __future__ import annotations


def shown(value: object, *, most: int = 60) -> str:
    """At most *most* characters of what the value looks like, on one line."""
    try:
        found = repr(value)
    except ValueError:  # an int, maybe within, of more digits than Python writes
        found = f"a huge {type(value).__name__}"
    return found if len(found) <= most else f"{found[: most - 1]}…"
