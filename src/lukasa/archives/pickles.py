"""Pickles of others, read without running anything in them.

A pickle is a program: it may name any function and call it. Here it may name classes of plain values, and two
of qdrant's, in whose place stands a class that only keeps what it is given.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from io import BytesIO
from typing import Final, cast
from uuid import UUID

from lukasa.archives.values import mapping_of
from lukasa.errors import InputError

_BROKEN: Final = (
    *(pickle.UnpicklingError, AttributeError, EOFError, ImportError, IndexError, KeyError, TypeError),
    *(ValueError, OverflowError, MemoryError, RecursionError),
)


class Shell:
    """What stands in for a class of qdrant's: its attributes, and nothing that it could do."""

    def __init__(self) -> None:
        self.state: Mapping[str, object] = {}

    def __setstate__(self, state: object) -> None:
        given = mapping_of(state)
        self.state = mapping_of(given.get("__dict__")) or given


_ADMITTED: Final[Mapping[tuple[str, str], type]] = {
    ("qdrant_client.http.models.models", "PointStruct"): Shell,
    ("qdrant_client.http.models.models", "SparseVector"): Shell,
    ("datetime", "date"): date,
    ("datetime", "datetime"): datetime,
    ("datetime", "timedelta"): timedelta,
    ("datetime", "timezone"): timezone,
    ("uuid", "UUID"): UUID,
}


class _Restricted(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> type:
        try:
            return _ADMITTED[module_name, global_name]
        except KeyError:
            raise pickle.UnpicklingError(
                f"names {module_name}.{global_name}, which a store of mem0 never holds"
            ) from None


def unpickled(content: bytes) -> object:
    """The value of a pickle of plain values. Raises `InputError` where it is broken or names more."""
    try:
        return cast("object", _Restricted(BytesIO(content)).load())
    except _BROKEN as error:
        raise InputError(f"a pickle that is not read: it {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    return str(error) if str(error).startswith("names ") else f"is broken ({error or type(error).__name__})"
