"""Values of JSON that others wrote, as what they should be; never an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from lukasa.archives.base import Time


def text_of(value: object) -> str:
    """*value* where it is a text that is not blank, else an empty one."""
    return value if isinstance(value, str) and value.strip() else ""


def mapping_of(value: object) -> Mapping[str, object]:
    """*value* where it is an object, else an empty one."""
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def list_of(value: object) -> Sequence[object]:
    """*value* where it is a list, else an empty one."""
    return cast("Sequence[object]", value) if isinstance(value, list) else []


def time_of(value: object) -> Time | None:
    """*value* where it is a number or a text, which may be a time."""
    if isinstance(value, bool):
        return None
    return value if isinstance(value, int | float) else text_of(value) or None
