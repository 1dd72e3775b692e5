"""Filters as SQL for SQLite. What each part means is said by `filters.evaluate`; tests compare the two.

The SQL speaks of `m` (a row of `memories`) and `v` (the version of it that is looked at), and of values
only through bound parameters. Every leaf is 0 or 1, never NULL, so that NOT is the complement.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never, cast

from lukasa.ledger.filter_times import DAY, Order, Span, span_of_text, texts_ordered
from lukasa.ledger.filter_tree import Scalar, Test
from lukasa.ledger.filters import All, AnyOf, Compare, Expression, Key, Not

_COLUMNS: Mapping[str, str] = {
    "id": "m.uid",
    "memory": "v.text",
    "hash": "v.hash",
    "kind": "m.kind",
    "state": "m.state",
    "role": "v.role",
    "actor_id": "v.actor_id",
    "attributed_to": "v.attributed_to",
    "user_id": "(SELECT name FROM scopes WHERE id = m.user_key)",
    "agent_id": "(SELECT name FROM scopes WHERE id = m.agent_key)",
    "run_id": "(SELECT name FROM scopes WHERE id = m.run_key)",
    "app_id": "(SELECT name FROM scopes WHERE id = m.app_key)",
    "categories": "v.categories",
    "importance": "v.importance",
    "confidence": "v.confidence",
    "version": "v.number",
    "created_at": "m.created_at",
    "updated_at": "(CASE WHEN v.id = m.version THEN m.updated_at ELSE v.recorded_at END)",
    "expiration_date": "m.expires_on",
}
_NEVER_NULL = {"id", "kind", "state", "version", "created_at", "updated_at"}
_SIGNS: Mapping[Test, str] = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_CHAIN = 30  # operands in a row; SQLite refuses expressions more than 1,000 deep


@dataclass(frozen=True, slots=True)
class _Sql:
    """A piece of SQL and what is bound to its question marks, in order."""

    text: str
    bound: tuple[object, ...] = ()
    depth: int = 0  # of brackets around AND and OR


_TRUE, _FALSE = _Sql("1"), _Sql("0")


def register(connection: sqlite3.Connection) -> None:
    """Give a connection the two functions that compiled filters may call."""
    connection.create_function("lukasa_casefold", 1, _casefold, deterministic=True)
    connection.create_function("lukasa_ordered", 3, _ordered, deterministic=True)


def compile_where(expression: Expression) -> tuple[str, list[object]]:
    """A boolean SQL expression over `m` and `v`, and the values to bind to its question marks."""
    sql = _bracket(_compile(expression, negated=False))
    return sql.text, list(sql.bound)


def _casefold(text: object) -> str | None:
    return text.casefold() if isinstance(text, str) else None


def _ordered(stored: object, test: Order, bound: str) -> bool:
    return isinstance(stored, str) and texts_ordered(stored, test, bound)


def _compile(expression: Expression, *, negated: bool) -> _Sql:
    """Negation moves down to the leaves, which spares brackets.

    The parser of SQLite before 3.46 gives up where about 100 words wait for what follows.
    """
    match expression:
        case All(parts):
            pieces = [_compile(part, negated=negated) for part in parts]
            return _any(pieces) if negated else _all(pieces)
        case AnyOf(parts):
            pieces = [_compile(part, negated=negated) for part in parts]
            return _all(pieces) if negated else _any(pieces)
        case Not(part):
            return _compile(part, negated=not negated)
        case Compare():
            leaf = _leaf(expression)
            return _fill("NOT {}", leaf) if negated else leaf
        case _:
            assert_never(expression)


def _leaf(compare: Compare) -> _Sql:
    key, test, values = compare.key, compare.test, compare.values
    some = [value for value in values if value is not None]
    wanted = [_absent(key)] if len(some) < len(values) else []
    if some:
        wanted.append(_present(key, test, some))
    return _any(wanted)


def _absent(key: Key) -> _Sql:
    if key.holds == "metadata":
        return _fill("NOT {}", _within(key, _Sql("e.type <> 'null'")))
    if key.holds == "list":
        return _Sql("coalesce(json_array_length(v.categories), 0) = 0")
    return _Sql(f"{_COLUMNS[key.name]} IS NULL")


def _present(key: Key, test: Test, values: Sequence[Scalar]) -> _Sql:
    """Whether what is stored under the key passes the test with one of *values*, none of them None."""
    match key.holds:
        case "metadata":
            return _within(key, _fill("CASE e.type {} ELSE 0 END", _arms(test, values)))
        case "list":
            return _element("v.categories", test, values)
        case "time" | "day":
            spans = cast("Sequence[Span]", values)
            unit = DAY if key.holds == "day" else 1
            return _known(key, _in_spans(_COLUMNS[key.name], test, spans, unit))
        case "text":
            return _known(key, _text(_COLUMNS[key.name], test, cast("Sequence[str]", values)))
        case "number":
            return _known(key, _number(_COLUMNS[key.name], test, cast("Sequence[float]", values)))
        case _:
            assert_never(key.holds)


def _known(key: Key, condition: _Sql) -> _Sql:
    """The condition, false where the column is NULL; bare where it never is, so that an index can help."""
    return condition if key.name in _NEVER_NULL else _fill("coalesce({}, 0)", condition)


def _within(key: Key, condition: _Sql) -> _Sql:
    """Whether the metadata has a value under the key, called `e`, that meets the condition.

    `json_each` compares the bare key; a JSON path would have to quote it, which SQLites do differently.
    """
    literal = _fill(
        "EXISTS (SELECT 1 FROM json_each(v.metadata) AS e WHERE e.key = {} AND {})",
        _bind(key.name),
        condition,
    )
    path = key.path()
    if not path:
        return literal
    sources, names = ["json_each(v.metadata) AS e0"], [_fill("e0.key = {}", _bind(path[0]))]
    for i, name in enumerate(path[1:], start=1):
        alias = "e" if i == len(path) - 1 else f"e{i}"
        outer = f"e{i - 1}"
        sources.append(
            f"json_each(CASE {outer}.type WHEN 'object' THEN {outer}.value ELSE '{{}}' END) AS {alias}"
        )
        names.append(_fill(f"{alias}.key = {{}}", _bind(name)))
    nested = _fill(
        f"EXISTS (SELECT 1 FROM {_literally(', '.join(sources))} WHERE {{}})",
        _join(" AND ", [*names, condition]),
    )
    return _fill(
        "CASE WHEN EXISTS (SELECT 1 FROM json_each(v.metadata) WHERE key = {}) THEN {} ELSE {} END",
        _bind(key.name),
        literal,
        nested,
    )


def _arms(test: Test, values: Sequence[Scalar]) -> _Sql:
    """For each JSON type that can pass the test, `WHEN type THEN condition` over `e.value`."""
    arms: list[_Sql] = []
    texts = [value for value in values if isinstance(value, str)]
    if texts:
        arms.append(_fill("WHEN 'text' THEN {}", _text("e.value", test, texts)))
    if test in ("eq", "in", "contains", "icontains"):
        arms.append(_fill("WHEN 'array' THEN {}", _element("e.value", test, values)))
    if test in ("contains", "icontains"):
        return _join(" ", arms)
    return _join(" ", [*arms, *_unquoted_arms(test, values)])


def _unquoted_arms(test: Test, values: Sequence[Scalar], alias: str = "e") -> list[_Sql]:
    """The arms of the JSON types that are written without quotes: numbers, true and false."""
    truths = dict.fromkeys(str(value).lower() for value in values if isinstance(value, bool))
    arms = [_Sql(f"WHEN '{truth}' THEN 1") for truth in truths]
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if numbers:
        condition = _number(f"{alias}.value", test, numbers, from_json=True)
        arms += [_fill(f"WHEN '{kind}' THEN {{}}", condition) for kind in ("integer", "real")]
    return arms


def _element(array: str, test: Test, values: Sequence[Scalar]) -> _Sql:
    """Whether a JSON array holds one of *values*."""
    texts = [value for value in values if isinstance(value, str)]
    arms = _unquoted_arms("in", values, alias="i")
    if texts and test == "icontains":
        folded = [text.casefold() for text in texts]
        arms.append(_fill("WHEN 'text' THEN {}", _text("lukasa_casefold(i.value)", "in", folded)))
    elif texts:
        arms.append(_fill("WHEN 'text' THEN {}", _text("i.value", "in", texts)))
    condition = _fill("CASE i.type {} ELSE 0 END", _join(" ", arms))
    return _fill(f"EXISTS (SELECT 1 FROM json_each({array}) AS i WHERE {{}})", condition)


def _text(column: str, test: Test, values: Sequence[str]) -> _Sql:
    """A test of a column that holds a text or NULL (and then is NULL)."""
    value = values[0] if values else ""
    match test:
        case "eq" | "in":
            return _one_of(column, [_bind(text) for text in values], values)
        case "contains":
            return _fill(f"instr({column}, {{}}) > 0", _bind(value))
        case "icontains":
            return _fill(f"instr(lukasa_casefold({column}), {{}}) > 0", _bind(value.casefold()))
        case "gt" | "gte" | "lt" | "lte" if span_of_text(value):
            return _fill(f"lukasa_ordered({column}, '{test}', {{}})", _bind(value))
        case "gt" | "gte" | "lt" | "lte":
            return _fill(f"{column} {_SIGNS[test]} {{}}", _bind(value))
        case _:
            assert_never(test)


def _number(column: str, test: Test, values: Sequence[float], *, from_json: bool = False) -> _Sql:
    """A test of a column that holds a number or NULL (and then is NULL)."""
    bound = [_bind_number(value, from_json=from_json) for value in values]
    if test not in _SIGNS:
        return _one_of(column, bound, values)
    return _fill(f"{column} {_SIGNS[test]} {{}}", bound[0])


def _in_spans(column: str, test: Test, spans: Sequence[Span], unit: int) -> _Sql:
    """Membership in one of many spans: each is a day or a single unit, and both are looked up in lists."""
    if len(spans) == 1:
        return _in_span(column, test, spans[0], unit)
    moments = sorted({span.start // unit for span in spans if span.end - span.start == unit})
    days = sorted({span.start // DAY for span in spans if span.end - span.start != unit})
    day = f"(({column} - ({column} % {DAY} + {DAY}) % {DAY}) / {DAY})"  # rounded down, before 1970 too
    parts = [_listed(where, values) for where, values in ((column, moments), (day, days)) if values]
    return _any(parts)


def _in_span(column: str, test: Test, span: Span, unit: int) -> _Sql:
    """A test of a column of whole units of time since 1970, each of which lasts until the next."""
    start, end = _bind(span.start // unit), _bind(span.end // unit)
    if test not in _SIGNS:
        return _fill(f"({column} >= {{}} AND {column} < {{}})", start, end)
    sign = ">=" if test in ("gt", "gte") else "<"
    return _fill(f"{column} {sign} {{}}", end if test in ("gt", "lte") else start)


def _one_of(column: str, bound: Sequence[_Sql], values: Sequence[str] | Sequence[float]) -> _Sql:
    """Equality, or membership in a list that is bound as one JSON value: SQLite limits the question marks."""
    if len(bound) == 1:
        return _fill(f"{column} = {{}}", bound[0])
    return _listed(column, values)


def _listed(column: str, values: Sequence[str] | Sequence[float]) -> _Sql:
    listed = _bind(json.dumps(list(values), ensure_ascii=False))
    return _fill(f"{column} IN (SELECT value FROM json_each({{}}))", listed)


def _bind(value: object) -> _Sql:
    return _Sql("?", (value,))


def _bind_number(value: float, *, from_json: bool) -> _Sql:
    """A float that meets JSON is read from its digits by SQLite, as the JSON is, and so rounds the same."""
    if from_json and isinstance(value, float):
        return _Sql("CAST(? AS REAL)", (repr(value),))
    return _bind(value)


def _literally(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _fill(template: str, *pieces: _Sql) -> _Sql:
    """The template with each `{}` replaced by a piece, and everything bound in the order of the text."""
    return _Sql(
        template.format(*(piece.text for piece in pieces)),
        tuple(value for piece in pieces for value in piece.bound),
        max((piece.depth for piece in pieces), default=0),
    )


def _join(word: str, pieces: Sequence[_Sql]) -> _Sql:
    return _fill(word.join(["{}"] * len(pieces)), *pieces)


def _bracket(piece: _Sql) -> _Sql:
    return _Sql(f"({piece.text})", piece.bound, piece.depth + 1)


def _all(pieces: Sequence[_Sql]) -> _Sql:
    """All of the pieces. It needs no brackets within `_any`: AND binds more tightly than OR."""
    return _chain(" AND ", pieces) if pieces else _TRUE


def _any(pieces: Sequence[_Sql]) -> _Sql:
    """Any of the pieces, in brackets."""
    if len(pieces) <= 1:
        return pieces[0] if pieces else _FALSE
    return _bracket(_chain(" OR ", pieces))


def _chain(word: str, pieces: Sequence[_Sql]) -> _Sql:
    """The deepest first: brackets are then open alone, without operands that wait for them to close."""
    if len(pieces) > _CHAIN:
        groups = [pieces[i : i + _CHAIN] for i in range(0, len(pieces), _CHAIN)]
        return _chain(word, [_bracket(_chain(word, group)) for group in groups])
    return _join(word, sorted(pieces, key=lambda piece: -piece.depth))
