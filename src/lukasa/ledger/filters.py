"""Filters: which memories a read may return. `docs/filters.md` is the language in a page.

`parse` makes a tree of what a caller wrote, `evaluate` says what the tree means, and each ledger compiles
it to SQL that must agree with `evaluate`.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, NoReturn, assert_never, cast, get_args

from lukasa.errors import FilterError, ScopeError
from lukasa.ledger.filter_times import Order, Span, span_of_text, span_of_time, span_of_unix
from lukasa.ledger.filter_tree import (
    EVERYTHING,
    FIELDS,
    All,
    AnyOf,
    Compare,
    Expression,
    Holds,
    Key,
    Not,
    Scalar,
    Test,
    evaluate,
    fields_of,
    items_of,
    number,
)
from lukasa.text.shown import shown
from lukasa.types import SCOPE_KINDS, Kind, Scope, ScopeKind, State

__all__ = [
    "EVERYTHING",
    "All",
    "AnyOf",
    "Compare",
    "Expression",
    "Key",
    "Not",
    "Parsed",
    "evaluate",
    "fields_of",
    "parse",
]

Logic = Literal["and", "or", "not"]

MAX_DEPTH = 32
MAX_CONDITIONS = 1_000

ALIASES = {"memory_id": "id", "memory_ids": "id", "text": "memory", "data": "memory", "keywords": "memory"}
OPERATORS = ("eq", "ne", "in", "nin", "gt", "gte", "lt", "lte", "contains", "icontains", "exists")

_EQUALITY = ("eq", "ne", "in", "nin", "exists")
_TAKES: Mapping[Holds, tuple[str, ...]] = {
    "text": OPERATORS,
    "metadata": OPERATORS,
    "list": (*_EQUALITY, "contains", "icontains"),
    "number": (*_EQUALITY, *get_args(Order)),
    "time": (*_EQUALITY, *get_args(Order)),
    "day": (*_EQUALITY, *get_args(Order)),
}
_CHOICES: Mapping[str, tuple[str, ...]] = {"kind": get_args(Kind), "state": get_args(State)}
_LOGIC: Mapping[str, Logic] = {
    spelling: word
    for word in get_args(Logic)
    for spelling in (word, word.upper(), f"${word}", f"${word.upper()}")
}


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a filter says: whose memories, and which of those."""

    scope: Scope
    where: Expression


def parse(filters: Mapping[str, object] | None) -> Parsed:
    """The scope that a filter names by plain equality outside `OR` and `NOT`, and the conditions within it.

    Raises `FilterError`, naming the place, for whatever it does not understand, and `ScopeError` for ids
    that are blank or disagree. The scope may come out empty: whether that is allowed is the caller's rule.
    """
    if filters is None:
        return Parsed(Scope(), EVERYTHING)
    conditions = _Reader().conditions(filters, at="", depth=0)
    ids: dict[ScopeKind, str] = {}
    rest = _hoist(conditions, ids)
    return Parsed(Scope(**ids), rest[0] if len(rest) == 1 else All(tuple(rest)))


class _Reader:
    """Reads one filter. It counts, so that a huge, shared or endless structure ends in an error."""

    def __init__(self) -> None:
        self.left = MAX_CONDITIONS

    def conditions(self, value: object, *, at: str, depth: int) -> Expression:
        if depth > MAX_DEPTH:
            _refuse(at, f"is nested more than {MAX_DEPTH} deep")
        entries = _mapping(value)
        if entries is None:
            _refuse(at, f"takes a mapping such as {{'category': 'work'}}, not {_kind(value)}")
        return self.every([self.entry(key, entry, at=at, depth=depth) for key, entry in entries.items()], at)

    def entry(self, key: object, value: object, *, at: str, depth: int) -> Expression:
        name = _name(key, at=at)
        at = f"{at}.{name}" if at else name
        if name in _LOGIC:
            return self.logic(_LOGIC[name], value, at=at, depth=depth)
        if name == "metadata":
            return self.metadata(value, at=at)
        if name.startswith("$"):
            _refuse(at, "starts with $; that is for $and, $or and $not")
        field = ALIASES.get(name, name)
        key = Key(field, FIELDS.get(field, "metadata"))
        return self.tests(key, value, at=at, takes=("contains", "icontains") if name == "keywords" else None)

    def logic(self, word: Logic, value: object, *, at: str, depth: int) -> Expression:
        one = _mapping(value)
        items = items_of(value) if one is None else (one,)
        if items is None:
            _refuse(at, f"takes a list of conditions, not {_kind(value)}")
        if word == "or" and (len(items) == 0 or (one is not None and len(one) != 1)):
            _refuse(at, "takes a list of one or more conditions")  # all of one mapping would have to hold
        parts = [self.conditions(item, at=f"{at}[{i}]", depth=depth + 1) for i, item in enumerate(items)]
        if word == "and":
            return self.every(parts, at)
        self.count(at, 0 if parts else 1)
        return AnyOf(tuple(parts)) if word == "or" else Not(AnyOf(tuple(parts)))

    def metadata(self, value: object, *, at: str) -> Expression:
        entries = _mapping(value)
        if entries is None:
            _refuse(at, f"takes a mapping of metadata keys, not {_kind(value)}")
        named = [(_name(key, at=at), entry) for key, entry in entries.items()]
        parts = [self.tests(Key(name, "metadata"), entry, at=f"{at}.{name}") for name, entry in named]
        return self.every(parts, at)

    def tests(self, key: Key, value: object, *, at: str, takes: tuple[str, ...] | None = None) -> Expression:
        tests = _mapping(value)
        if tests is None and isinstance(value, str) and value == "*":
            tests = {"exists": True}
        elif tests is None:
            tests = {"eq" if items_of(value) is None else "in": value}
        elif not tests:
            _refuse(at, "holds no operator")
        takes = takes or _TAKES[key.holds]
        parts = [self.test(key, name, operand, at=at, takes=takes) for name, operand in tests.items()]
        return self.every(parts, at)

    def every(self, parts: Sequence[Expression], at: str) -> Expression:
        self.count(at, 0 if parts else 1)
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def test(self, key: Key, name: object, operand: object, *, at: str, takes: tuple[str, ...]) -> Expression:
        self.count(at, 1)
        name = _name(name, at=at)
        if name not in OPERATORS:
            _refuse_operator(name, at)
        at = f"{at}.{name}"
        if name not in takes:
            _refuse(at, f"cannot be: this key takes {', '.join(takes)}{_escape(key)}")
        match name:
            case "eq" | "ne":
                found = Compare(key, "eq", (_equal_to(key, operand, at=at),))
            case "in" | "nin":
                items = items_of(operand)
                if items is None:
                    _refuse(at, f"takes a list, not {_kind(operand)}")
                found = Compare(key, "in", tuple(_equal_to(key, item, at=at) for item in items))
            case "exists":
                if not isinstance(operand, bool):
                    _refuse(at, f"takes true or false, not {_kind(operand)}")
                absent = Compare(key, "eq", (None,))
                return Not(absent) if operand else absent
            case _:
                found = Compare(key, cast("Test", name), (_bound(key, name, operand, at=at),))
        return Not(found) if name in ("ne", "nin") else found

    def count(self, at: str, leaves: int) -> None:
        self.left -= leaves
        if self.left < 0:
            _refuse(at, f"is one condition too many; a filter holds up to {MAX_CONDITIONS:,}")


def _hoist(expression: Expression, ids: dict[ScopeKind, str]) -> list[Expression]:
    """Move the ids that all memories must have into *ids*; what remains must hold as well."""
    match expression:
        case All(parts):
            return [rest for part in parts for rest in _hoist(part, ids)]
        case Compare(key, "eq", (str() as value,)) if key.name in SCOPE_KINDS and key.holds == "text":
            kind = key.name
            if not value.strip():
                raise ScopeError(f"{kind} in the filters is blank; name an id, or leave {kind} out")
            if ids.setdefault(kind, value) != value:
                raise ScopeError(
                    f"the filters name two values for {kind}, {shown(ids[kind])} and {shown(value)}; "
                    f"use one, and narrow it with 'in' or OR if need be"
                )
            return []
        case _:
            return [expression]


def _equal_to(key: Key, value: object, *, at: str) -> Scalar:
    if value is None:
        return None
    scalar = _scalar(key, value, at=at)
    choices = _CHOICES.get(key.name, ()) if key.holds == "text" else ()
    if choices and scalar not in choices:
        _refuse(at, f"is {shown(scalar)}; {key.name} is one of {', '.join(choices)}{_escape(key)}")
    return scalar


def _bound(key: Key, name: str, value: object, *, at: str) -> Scalar:
    """What an ordering or a search within a text is told to look for."""
    if value is None:
        _refuse(at, "takes a value, not None")
    scalar = _scalar(key, value, at=at)
    if isinstance(scalar, bool) and name != "contains":
        _refuse(at, "takes no true or false: they have no order")
    if name == "icontains" and not isinstance(scalar, str):
        _refuse(at, f"takes a text, not {_kind(value)}")
    return scalar


def _scalar(key: Key, value: object, *, at: str) -> Scalar:
    """A value of the type that the key holds."""
    match key.holds:
        case "time" | "day":
            span = _span(value)
            if span is None:
                _refuse(
                    at,
                    f"takes a date or time such as '2025-01-31' or '2025-01-31T08:00:00Z', or Unix seconds, "
                    f"not {_kind(value)}{_escape(key)}",
                )
            return span.days() if key.holds == "day" else span
        case "number":
            if isinstance(value, bool) or not isinstance(value, int | float):
                _refuse(at, f"takes a number, not {_kind(value)}{_escape(key)}")
            return _finite(value, at=at)
        case "text" | "list":
            if key.name in SCOPE_KINDS and isinstance(value, int) and not isinstance(value, bool):
                value = str(value) if value.bit_length() <= 128 else value
            if not isinstance(value, str):
                _refuse(at, f"takes a text, not {_kind(value)}{_escape(key)}")
            return _text(value, at=at)
        case "metadata":
            return _json_scalar(value, at=at)
        case _:
            assert_never(key.holds)


def _json_scalar(value: object, *, at: str) -> Scalar:
    if isinstance(value, date):  # metadata is JSON, so times in it are ISO texts
        return value.isoformat()
    if isinstance(value, bool):
        return value
    return _finite(value, at=at) if isinstance(value, int | float) else _text(value, at=at)


def _span(value: object) -> Span | None:
    if isinstance(value, date):
        return span_of_time(value)
    if isinstance(value, str):
        return span_of_text(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return span_of_unix(value)


def _finite(value: float, *, at: str) -> int | float:
    bounded = number(value)
    if not math.isfinite(bounded):
        _refuse(at, "takes a finite number")
    return bounded


def _text(value: object, *, at: str) -> str:
    if not isinstance(value, str):
        _refuse(at, f"takes a text, not {_kind(value)}")
    if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
        _refuse(at, "holds a NUL or half a surrogate pair, which no memory holds")
    return value


def _name(key: object, *, at: str) -> str:
    return _text(key, at=f"a key in {at}" if at else "a key")


def _mapping(value: object) -> Mapping[object, object] | None:
    return cast("Mapping[object, object]", value) if isinstance(value, Mapping) else None


def _kind(value: object) -> str:
    return shown(value) if value is None or isinstance(value, str) else type(value).__name__


def _escape(key: Key) -> str:
    if key.holds == "metadata" or key.name in SCOPE_KINDS:
        return ""
    return f" (for metadata of that name: {{'metadata': {{'{key.name}': …}}}})"


def _refuse(at: str, problem: str) -> NoReturn:
    raise FilterError(f"{at[:200] or 'the filter'} {problem}")


# How other languages spell them.
_SPELLINGS: Mapping[str, Sequence[str]] = {
    "eq": ("=", "==", "equals"),
    "ne": ("!=", "<>", "neq", "not"),
    "gt": (">",),
    "gte": (">=", "ge"),
    "lt": ("<",),
    "lte": ("<=", "le"),
    "in": ("any", "one_of"),
    "nin": ("not in", "not_in", "notin"),
    "icontains": ("like", "ilike"),
}


def _refuse_operator(name: str, at: str) -> NoReturn:
    spelt = name[:40].strip("$ ").lower()
    same = [ours for ours, spellings in _SPELLINGS.items() if spelt in spellings]
    near = same or difflib.get_close_matches(spelt, OPERATORS, n=1, cutoff=0.0)
    raise FilterError(
        f"{_kind(name)} on {shown(at)} is no operator; the nearest is {near[0]!r} of {', '.join(OPERATORS)}. "
        f"A key within an object is written with a dot: 'outer.inner'"
    )
