"""What a filter is once it is read: a tree, and in `evaluate` the meaning of each of its parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, TypeAlias, assert_never, cast

from lukasa.ledger.filter_times import (
    Order,
    Span,
    plainly_ordered,
    span_of_time,
    spans_ordered,
    texts_ordered,
)
from lukasa.types import JsonValue, Metadata, Record

Holds = Literal["text", "number", "list", "time", "day", "metadata"]
Test = Literal["eq", "in", "contains", "icontains"] | Order
Scalar: TypeAlias = str | int | float | bool | Span | None
Stored: TypeAlias = "JsonValue | datetime | date"

FIELDS: Mapping[str, Holds] = {
    "id": "text",
    "memory": "text",
    "hash": "text",
    "kind": "text",
    "state": "text",
    "role": "text",
    "actor_id": "text",
    "attributed_to": "text",
    "user_id": "text",
    "agent_id": "text",
    "run_id": "text",
    "app_id": "text",
    "categories": "list",
    "importance": "number",
    "confidence": "number",
    "version": "number",
    "created_at": "time",
    "updated_at": "time",
    "expiration_date": "day",
}
_MAX_PARTS = 8  # names in a dotted key; each is one more join in SQL


@dataclass(frozen=True, slots=True)
class Key:
    """What is compared: a field that every memory has, or (`holds="metadata"`) a key of its metadata."""

    name: str
    holds: Holds

    def path(self) -> list[str]:
        """The names of a dotted metadata key, outermost object first; empty where it is not dotted."""
        names = self.name.split(".")
        return names if 1 < len(names) <= _MAX_PARTS else []


@dataclass(frozen=True, slots=True)
class Compare:
    """One test of one key. `values` holds one value, or those of `in`.

    Do not cache by it: to Python 1 and True are equal, and here they are not.
    """

    key: Key
    test: Test
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds; without parts, always."""

    parts: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds; without parts, never."""

    parts: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Expression


Expression: TypeAlias = All | AnyOf | Not | Compare

EVERYTHING = All()


def evaluate(expression: Expression, fields: Mapping[str, Stored], metadata: Metadata) -> bool:
    """Whether a memory passes. This is what a filter means; every ledger's SQL is compared with it."""
    match expression:
        case All(parts):
            return all(evaluate(part, fields, metadata) for part in parts)
        case AnyOf(parts):
            return any(evaluate(part, fields, metadata) for part in parts)
        case Not(part):
            return not evaluate(part, fields, metadata)
        case Compare(key, test, values):
            stored = _member(metadata, key) if key.holds == "metadata" else fields.get(key.name)
            return any(_holds(stored, test, value) for value in values)
        case _:
            assert_never(expression)


def fields_of(record: Record) -> dict[str, Stored]:
    """The fields of a record under the names that filters use; None where it has none."""
    return {
        **record.scope.ids(),
        "id": record.id,
        "memory": record.text,
        "hash": record.hash,
        "kind": record.kind,
        "state": record.state,
        "role": record.role,
        "actor_id": record.actor_id,
        "attributed_to": record.attributed_to,
        "categories": record.categories or None,
        "importance": record.importance,
        "confidence": record.confidence,
        "version": record.version,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
        "expiration_date": record.expires_on,
    }


def _member(metadata: Metadata, key: Key) -> JsonValue:
    """The value under the very name, else the one that the dotted name leads to."""
    path = key.path()
    if key.name in metadata or not path:
        return metadata.get(key.name)
    value: JsonValue = metadata
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _holds(stored: Stored, test: Test, value: Scalar) -> bool:
    if value is None:
        return stored is None
    match test:
        case "eq" | "in":
            items = items_of(stored)
            return any(_same(cast("Stored", item), value) for item in ((stored,) if items is None else items))
        case "contains":
            return _contains(stored, value, str)
        case "icontains":
            return _contains(stored, value, str.casefold)
        case "gt" | "gte" | "lt" | "lte":
            return _in_order(stored, test, value)
        case _:
            assert_never(test)


def _same(stored: Stored, value: Scalar) -> bool:
    if isinstance(value, Span):
        return isinstance(stored, date) and value.covers(span_of_time(stored))
    if isinstance(value, bool) or isinstance(stored, bool):
        return stored is value
    if isinstance(value, int | float):
        return isinstance(stored, int | float) and number(stored) == value
    return isinstance(stored, str) and stored == value


def _contains(stored: Stored, value: Scalar, fold: Callable[[str], str]) -> bool:
    if isinstance(value, str) and isinstance(stored, str):
        return fold(value) in fold(stored)
    wanted = fold(value) if isinstance(value, str) else value
    items = cast("Sequence[JsonValue]", items_of(stored) or ())
    return any(_same(fold(item) if isinstance(item, str) else item, wanted) for item in items)


def _in_order(stored: Stored, test: Order, value: Scalar) -> bool:
    if isinstance(value, Span):
        return isinstance(stored, date) and spans_ordered(span_of_time(stored), test, value)
    if isinstance(value, str):
        return isinstance(stored, str) and texts_ordered(stored, test, value)
    if value is None or isinstance(stored, bool) or not isinstance(stored, int | float):
        return False
    return plainly_ordered(number(stored), test, value)


def number(value: float) -> int | float:
    """A number as filters compare it: whole numbers beyond 64 bits as floats, as SQL has them."""
    if isinstance(value, float) or -(2**63) <= value < 2**63:
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def items_of(value: object) -> Sequence[object] | None:
    """The items of a list, a tuple or a set; None for anything else."""
    if isinstance(value, list | tuple | Set):
        return tuple(cast("Sequence[object]", value))
    return None
