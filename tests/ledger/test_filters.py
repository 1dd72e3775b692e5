from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lukasa.errors import FilterError, ScopeError
from lukasa.ledger.filter_times import Span, span_of_text, span_of_time, span_of_unix, texts_ordered
from lukasa.ledger.filters import (
    EVERYTHING,
    All,
    AnyOf,
    Compare,
    Key,
    Not,
    Parsed,
    evaluate,
    fields_of,
    parse,
)
from lukasa.types import JsonValue, Metadata, Record, Scope

ROWS: dict[str, Metadata] = {
    "A": {"cat": "work", "n": 1},
    "B": {"cat": "home", "n": 5},
    "C": {"cat": "work", "n": 9},
    "D": {"n": 12},
}


def found(filters: Mapping[str, object], rows: Mapping[str, Metadata] = ROWS, **fields: str) -> str:
    where = parse(filters).where
    return "".join(name for name, metadata in rows.items() if evaluate(where, fields, metadata))


def passes(filters: Mapping[str, object], value: JsonValue) -> bool:
    return evaluate(parse(filters).where, {}, {"k": value})


# The rows of the table of mem0's faults, in order: what each should find, on every store.


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"cat": "work"}, "AC"),
        ({"cat": ["work", "home"]}, "ABC"),
        ({"n": {"eq": 5}}, "B"),
        ({"n": {"ne": 5}}, "ACD"),
        ({"n": {"in": [1, 12]}}, "AD"),
        ({"n": {"nin": [1, 12]}}, "BC"),
        ({"n": {"gt": 5}}, "CD"),
        ({"n": {"gte": 5}}, "BCD"),
        ({"n": {"lt": 5}}, "A"),
        ({"n": {"lte": 5}}, "AB"),
        ({"n": {"gte": 2, "lte": 9}}, "BC"),
        ({"cat": {"ne": "work"}}, "BD"),
        ({"cat": {"nin": ["work"]}}, "BD"),
        ({"cat": {"contains": "or"}}, "AC"),
        ({"cat": {"contains": "OR"}}, ""),
        ({"cat": {"icontains": "OR"}}, "AC"),
        ({"cat": "*"}, "ABC"),
        ({"AND": [{"n": {"gte": 2}}, {"n": {"lte": 5}}]}, "B"),
        ({"AND": [{"cat": "work"}, {"cat": "home"}]}, ""),
        ({"OR": [{"cat": "home"}, {"n": 1}]}, "AB"),
        ({"NOT": [{"cat": "home"}, {"n": 1}]}, "CD"),
        ({"AND": [{"OR": [{"cat": "work"}, {"cat": "home"}]}, {"n": {"gt": 1}}]}, "BC"),
        ({"OR": [{"AND": [{"cat": "work"}, {"n": 1}]}, {"n": 12}]}, "AD"),
        ({"n": {"gte": 2, "ne": 9}}, "BD"),
        ({"cat": None}, "D"),
    ],
)
def test_filters_find_what_they_say(filters: dict[str, object], expected: str) -> None:
    assert found(filters) == expected


def test_dates_have_an_order() -> None:
    rows: dict[str, Metadata] = {"A": {"due": "2025-01-31"}, "B": {"due": "2025-03-01T10:00:00Z"}}
    assert found({"due": {"gt": "2025-01-31"}}, rows) == "B"
    assert found({"due": {"lt": datetime(2025, 3, 1, 10, 30, tzinfo=UTC)}}, rows) == "AB"


def test_a_star_for_an_id_is_a_condition_and_no_scope() -> None:
    parsed = parse({"user_id": "*"})
    assert parsed.scope == Scope()
    assert parsed.where == Not(Compare(Key("user_id", "text"), "eq", (None,)))


@pytest.mark.parametrize(
    "filters",
    [
        {"OR": [{"user_id": "a"}, {"user_id": "b"}]},
        {"user_id": {"in": ["a", "b"]}},
        {"user_id": ["a", "b"]},
    ],
)
def test_alternatives_of_users_are_conditions_within_the_scope(filters: dict[str, object]) -> None:
    assert parse(filters).scope == Scope()
    assert found(filters, user_id="a") == found(filters, user_id="b") == "ABCD"
    assert found(filters, user_id="c") == ""
    assert parse({"user_id": "a", "AND": [filters]}).scope == Scope("a")


def test_in_with_a_text_says_that_it_takes_a_list() -> None:
    with pytest.raises(FilterError, match=r"^cat\.in takes a list, not 'work'$"):
        parse({"cat": {"in": "work"}})


def test_an_unknown_operator_is_named_with_its_key_and_the_nearest() -> None:
    with pytest.raises(FilterError, match=r"'greater_than' on 'AND\[1\]\.prio' is no operator; the nearest"):
        parse({"AND": [{"a": 1}, {"prio": {"greater_than": 3}}]})
    with pytest.raises(FilterError, match="nearest is 'gte'"):
        parse({"prio": {"$gte": 3}})
    with pytest.raises(FilterError, match="nearest is 'contains'"):
        parse({"prio": {"contain": 3}})


@pytest.mark.parametrize(
    ("spelt", "ours"),
    [(">", "gt"), (">=", "gte"), ("<", "lt"), ("<=", "lte"), ("!=", "ne"), ("<>", "ne"), ("==", "eq")]
    + [("=", "eq"), ("$neq", "ne"), ("not in", "nin"), ("LIKE", "icontains")],
)
def test_an_operator_of_another_language_is_translated(spelt: str, ours: str) -> None:
    with pytest.raises(FilterError, match=f"the nearest is '{ours}'"):
        parse({"prio": {spelt: 3}})


def test_case_029() -> None:
    folder = os.environ.get("LUKASA_SHARED")
    if folder is None:
        pytest.skip("LUKASA_SHARED does not name the folder with the cases")
    case = json.loads(next(Path(folder).glob("cases/029*.json")).read_text("utf-8"))
    rows = {str(row["ref"]): cast("Metadata", row["metadata"]) for row in case["given"]["existing_memories"]}
    for call in case["when"]:
        expected = case["expect"][call["label"]]
        if "raises" in expected:
            with pytest.raises(FilterError, match=expected["raises"]["message_matches"]):
                parse(call["filters"])
        else:
            where = parse(call["filters"]).where
            assert [ref for ref, data in rows.items() if evaluate(where, {}, data)] == expected[
                "refs_exactly"
            ]


# The scope


def test_ids_at_the_top_and_in_conjunctions_there_are_the_scope() -> None:
    parsed = parse(
        {"user_id": "u", "AND": [{"agent_id": {"eq": "a"}}, {"AND": [{"run_id": 7}]}], "and": {"app_id": "x"}}
    )
    assert parsed == Parsed(Scope("u", "a", "7", "x"), EVERYTHING)


def test_other_conditions_remain_beside_the_scope() -> None:
    parsed = parse({"user_id": {"eq": "u", "ne": "v"}, "n": 1})
    assert parsed.scope == Scope("u")
    assert parsed.where == All(
        (Not(Compare(Key("user_id", "text"), "eq", ("v",))), Compare(Key("n", "metadata"), "eq", (1,)))
    )


@pytest.mark.parametrize(
    "filters",
    [
        {"NOT": [{"user_id": "u"}]},
        {"NOT": [{"NOT": {"user_id": "u"}}]},
        {"OR": [{"user_id": "u"}]},
        {"user_id": {"ne": "u"}},
        {"user_id": {"contains": "u"}},
        {"user_id": ["u"]},
        {"user_id": None},
        {"metadata": {"user_id": "u"}},
    ],
)
def test_every_other_use_of_an_id_names_no_scope(filters: dict[str, object]) -> None:
    parsed = parse(filters)
    assert parsed.scope == Scope()
    assert parsed.where != EVERYTHING


def test_the_same_id_twice_is_one_scope() -> None:
    assert parse({"user_id": "u", "AND": [{"user_id": "u"}]}).scope == Scope("u")


def test_two_ids_of_a_kind_disagree() -> None:
    with pytest.raises(ScopeError, match="two values for user_id, 'u' and 'v'"):
        parse({"user_id": "u", "AND": [{"user_id": "v"}]})


@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
def test_a_blank_id_is_no_scope(blank: str) -> None:
    with pytest.raises(ScopeError, match="agent_id in the filters is blank"):
        parse({"agent_id": blank})


def test_no_filter_is_everything() -> None:
    assert parse(None) == parse({}) == Parsed(Scope(), EVERYTHING)


# Shapes


@pytest.mark.parametrize("spelling", ["AND", "and", "$and", "$AND"])
def test_words_of_logic_have_spellings(spelling: str) -> None:
    assert found({spelling: [{"cat": "work"}, {"n": 9}]}) == "C"


def test_empty_lists_of_conditions() -> None:
    assert found({"AND": []}) == found({"NOT": []}) == "ABCD"
    assert found({"cat": []}) == ""
    empties: list[object] = [[], {}]
    for empty in empties:
        with pytest.raises(FilterError, match="OR takes a list of one or more conditions"):
            parse({"OR": empty})


def test_or_does_not_guess_what_one_mapping_means() -> None:
    assert found({"OR": {"n": {"gt": 1, "lt": 9}}}) == "B"
    with pytest.raises(FilterError, match="OR takes a list"):
        parse({"OR": {"cat": "work", "n": 1}})


def test_not_of_a_mapping_denies_it_as_a_whole() -> None:
    assert found({"NOT": {"cat": "work", "n": 1}}) == "BCD"
    assert found({"NOT": [{"cat": "work", "n": 1}, {"n": 12}]}) == "BC"


def test_or_stays_or() -> None:
    assert parse({"OR": [{"n": 1}]}).where == AnyOf((Compare(Key("n", "metadata"), "eq", (1,)),))


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ([{"a": 1}], "the filter takes a mapping such as"),
        ("user", "the filter takes a mapping such as .*, not 'user'"),
        ({1: 2}, "a key takes a text, not int"),
        ({"a": {1: 2}}, "a key in a takes a text, not int"),
        ({"a": {}}, "a holds no operator"),
        ({"a": {"eq": 1, "b": 2}}, "'b' on 'a' is no operator.* dot"),
        ({"a": {"gt": None}}, r"a\.gt takes a value, not None"),
        ({"a": {"contains": None}}, r"a\.contains takes a value, not None"),
        ({"a": {"in": None}}, r"a\.in takes a list, not None"),
        ({"a": {"nin": {"b": 1}}}, r"a\.nin takes a list, not dict"),
        ({"a": {"eq": [1]}}, r"a\.eq takes a text, not list"),
        ({"a": [[1]]}, r"a\.in takes a text, not list"),
        ({"a": {"exists": 1}}, r"a\.exists takes true or false, not int"),
        ({"a": {"exists": None}}, "takes true or false, not None"),
        ({"a": {"gt": True}}, "no order"),
        ({"a": {"icontains": 5}}, r"a\.icontains takes a text, not int"),
        ({"a": {"icontains": True}}, r"a\.icontains"),
        ({"a": float("nan")}, "a.eq takes a finite number"),
        ({"a": {"lt": float("inf")}}, "a.lt takes a finite number"),
        ({"a": 10**400}, "a.eq takes a finite number"),
        ({"a": "\ud800"}, "half a surrogate pair"),
        ({"a\0": 1}, "holds a NUL"),
        ({"a": object()}, "a.eq takes a text, not object"),
        ({"AND": 1}, "AND takes a list of conditions, not int"),
        ({"OR": [1]}, r"OR\[0\] takes a mapping"),
        ({"NOT": ["a"]}, r"NOT\[0\] takes a mapping"),
        ({"$nor": [{"a": 1}]}, r"\$nor starts with \$"),
        ({"metadata": "*"}, r"metadata takes a mapping of metadata keys, not '\*'"),
        ({"metadata": {1: 1}}, "a key in metadata takes a text"),
        (
            {"kind": "receipt"},
            r"kind\.eq is 'receipt'; kind is one of semantic.*\{'metadata': \{'kind': …\}\}",
        ),
        ({"state": ["activ"]}, "state is one of active"),
        ({"importance": "high"}, r"importance\.eq takes a number, not 'high' \(for metadata of that name"),
        ({"version": True}, "takes a number, not bool"),
        (
            {"version": {"contains": 1}},
            "version.contains cannot be: this key takes eq, ne, in, nin, exists, gt",
        ),
        ({"created_at": "yesterday"}, "takes a date or time such as"),
        ({"created_at": True}, "takes a date or time such as"),
        ({"created_at": {"gte": 1_760_000_000_000}}, "or Unix seconds, not int"),
        ({"created_at": {"contains": "2025"}}, "created_at.contains cannot be"),
        ({"categories": {"gt": "a"}}, "categories.gt cannot be"),
        ({"categories": 5}, "categories.eq takes a text, not int"),
        ({"role": 5}, "role.eq takes a text, not int"),
        ({"user_id": True}, "user_id.eq takes a text, not bool"),
        ({"user_id": 1.5}, "user_id.eq takes a text, not float"),
        ({"user_id": 10**5000}, "user_id.eq takes a text, not int"),
        ({"keywords": "tea"}, r"keywords\.eq cannot be: this key takes contains, icontains"),
    ],
)
def test_a_wrong_shape_names_its_place(filters: Mapping[str, object], message: str) -> None:
    with pytest.raises(FilterError, match=message):
        parse(filters)


def nested(depth: int) -> dict[str, object]:
    filters: dict[str, object] = {"a": 1}
    for _ in range(depth):
        filters = {"NOT": [filters]}
    return filters


def test_depth_and_number_have_limits() -> None:
    parse(nested(32))
    with pytest.raises(FilterError, match="nested more than 32 deep"):
        parse(nested(33))
    parse({"OR": [{"a": n} for n in range(1000)]})
    with pytest.raises(FilterError, match=r"OR\[1000\].a .*up to 1,000"):
        parse({"OR": [{"a": n} for n in range(1001)]})


@pytest.mark.parametrize("leaf", [{}, {"AND": []}, {"NOT": []}, {"metadata": {}}, {"a": 1}])
def test_a_structure_that_shares_its_parts_ends_in_an_error(leaf: dict[str, object]) -> None:
    shared: dict[str, object] = leaf
    for _ in range(30):
        shared = {"AND": [shared, shared]}
    with pytest.raises(FilterError, match="up to 1,000"):
        parse(shared)


def test_a_structure_that_holds_itself_ends_in_an_error() -> None:
    endless: dict[str, object] = {}
    endless["AND"] = [endless]
    with pytest.raises(FilterError, match="nested more than 32 deep"):
        parse(endless)


words = st.sampled_from(
    ["AND", "OR", "not", "$or", "metadata", "user_id", "created_at", "kind", "eq", "in", "gte"]
)
wild: st.SearchStrategy[object] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.just("*")
    | st.sampled_from(["u", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words | st.text(), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(filters=wild)
def test_whatever_is_given_is_read_or_refused(filters: object) -> None:
    try:
        parsed = parse(cast("Mapping[str, object]", filters))
    except (FilterError, ScopeError):
        return
    assert evaluate(parsed.where, {}, {}) in (True, False)


# Values


@pytest.mark.parametrize(
    ("filters", "value", "expected"),
    [
        ({"k": 1}, 1.0, True),
        ({"k": 1}, True, False),
        ({"k": True}, 1, False),
        ({"k": True}, True, True),
        ({"k": False}, True, False),
        ({"k": 2**63}, 2.0**63, True),
        ({"k": 2**53}, 2**53 + 1, False),
        ({"k": "a"}, "A", False),
        ({"k": "a"}, ["b", "a"], True),
        ({"k": "a"}, [["a"]], False),
        ({"k": "a"}, {"a": 1}, False),
        ({"k": {"ne": "a"}}, ["b", "a"], False),
        ({"k": None}, None, True),
        ({"k": None}, [None], False),
        ({"k": None}, [], False),
        ({"k": "*"}, [], True),
        ({"k": "*"}, None, False),
        ({"k": {"eq": "*"}}, "*", True),
        ({"k": {"eq": "*"}}, "a", False),
        ({"k": {"ne": None}}, 0, True),
        ({"k": [None, 1]}, None, True),
        ({"k": [None, 1]}, 2, False),
        ({"k": {"exists": False}}, None, True),
        ({"k": {"gt": 1}}, "2", False),
        ({"k": {"gt": 1}}, [2], False),
        ({"k": {"gt": 0}}, True, False),
        ({"k": {"gt": 1}}, None, False),
        ({"k": {"gt": "a"}}, "b", True),
        ({"k": {"gt": "a"}}, "B", False),
        ({"k": {"gt": "a"}}, 5, False),
        ({"k": {"gt": 1}}, 10**400, True),
        ({"k": {"lt": 1}}, -(10**400), True),
        ({"k": {"contains": 2}}, [1, 2], True),
        ({"k": {"contains": True}}, [1], False),
        ({"k": {"contains": 2}}, 12, False),
        ({"k": {"contains": "e"}}, ["tea"], False),
        ({"k": {"contains": "Tea"}}, ["tea"], False),
        ({"k": {"icontains": "Tea"}}, ["tEa", 1], True),
        ({"k": {"icontains": "STRASSE"}}, "Hauptstraße", True),
        ({"k": {"contains": "a"}}, None, False),
        ({"k": {"lte": "2025-01-31"}}, "2025-01-31T23:59:59Z", True),
        ({"k": {"lte": "2025-01-31"}}, "2025-01-31T23:59:59-01:00", False),
        ({"k": {"eq": "2025-01-31"}}, "2025-01-31T12:00:00Z", False),
        ({"k": {"gte": date(2025, 1, 31)}}, "2025-01-31", True),
        ({"k.l": 1}, {"l": 1}, True),
        ({"k.l.m": 1}, {"l": {"m": 1}}, True),
        ({"k.l.m": 1}, {"l": [{"m": 1}]}, False),
        ({"k.l": None}, {}, True),
    ],
)
def test_values_compare_strictly(filters: dict[str, object], value: JsonValue, expected: bool) -> None:
    assert passes(filters, value) is expected


def test_a_dotted_key_of_its_own_comes_first() -> None:
    assert evaluate(parse({"a.b": 1}).where, {}, {"a.b": 1, "a": {"b": 2}})
    assert not evaluate(parse({"a.b": 2}).where, {}, {"a.b": 1, "a": {"b": 2}})
    deep = ".".join("abcdefghi")
    assert evaluate(parse({deep: 1}).where, {}, {deep: 1})


RECORD = Record(
    id="m1",
    scope=Scope("u", run_id="r"),
    text="Tea",
    hash="h",
    kind="semantic",
    state="active",
    version=2,
    metadata={"kind": "x"},
    categories=("food",),
    role="user",
    actor_id="ines",
    attributed_to="user",
    importance=0.5,
    confidence=1.0,
    expires_on=date(2026, 1, 31),
    created_at=datetime(2025, 1, 31, 12, tzinfo=UTC),
    updated_at=datetime(2025, 2, 1, tzinfo=UTC),
)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"memory_ids": ["m1", "m2"]}, True),
        ({"memory_id": "m2"}, False),
        ({"id": "m1", "hash": "h", "kind": "semantic", "state": "active", "role": "user"}, True),
        ({"actor_id": "ines", "attributed_to": "user", "version": 2, "importance": {"lt": 0.6}}, True),
        ({"text": "Tea", "data": "Tea", "memory": "Tea", "keywords": {"icontains": "tea"}}, True),
        ({"categories": "food", "confidence": 1}, True),
        ({"categories": None}, False),
        ({"metadata": {"kind": "x"}}, True),
        ({"agent_id": None, "run_id": "*"}, True),
        ({"user_id": {"ne": "u"}}, False),
        ({"created_at": "2025-01-31"}, True),
        ({"created_at": datetime(2025, 1, 31, 13, tzinfo=timezone(timedelta(hours=1)))}, True),
        ({"created_at": datetime(2025, 1, 31, 12)}, True),  # noqa: DTZ001
        ({"created_at": 1738324800}, True),
        ({"created_at": {"gt": 1738324799.5, "lt": 1738324800.5}}, True),
        ({"created_at": {"gt": "2025-01-31"}}, False),
        ({"created_at": {"lt": "2025-01-31"}}, False),
        ({"updated_at": {"gt": "2025-01-31", "lte": "2025-02-01"}}, True),
        ({"updated_at": ["2025-01-31", "2025-02-01"]}, True),
        ({"expiration_date": "2026-01-31"}, True),
        ({"expiration_date": datetime(2026, 1, 31, 15, tzinfo=UTC)}, True),
        ({"expiration_date": {"lt": "2026-01-31"}}, False),
        ({"expiration_date": {"gte": date(2026, 1, 31)}}, True),
    ],
)
def test_fields_of_a_record(filters: dict[str, object], expected: bool) -> None:
    assert evaluate(parse(filters).where, fields_of(RECORD), RECORD.metadata) is expected


def test_no_category_is_none() -> None:
    fields = {**fields_of(RECORD), "categories": None}
    assert evaluate(parse({"categories": None}).where, fields, {})


# Times


def test_a_date_is_its_day_and_a_time_its_microsecond() -> None:
    day = span_of_time(date(1970, 1, 2))
    assert day == Span(86_400_000_000, 172_800_000_000)
    assert day.covers(span_of_time(datetime(1970, 1, 2, 23, 59, 59, 999_999, tzinfo=UTC)))
    assert not day.covers(span_of_time(datetime(1970, 1, 3, tzinfo=UTC)))
    assert Span(1, 2).days() == Span(0, 86_400_000_000)
    assert day.days() == day
    assert span_of_time(date.max).end - span_of_time(date.max).start == 86_400_000_000


@pytest.mark.parametrize(
    "text", ["", "2025", "20250131", "2025-W05-5", "2025-02-30", "2025-01-31T25:00", "2025-01-31 "]
)
def test_texts_that_are_no_times(text: str) -> None:
    assert span_of_text(text) is None


@pytest.mark.parametrize("text", ["2025-01-31T12:00:00Z", "2025-01-31 13:00+01:00", "2025-01-31T12:00"])
def test_texts_that_are_one_time(text: str) -> None:
    assert span_of_text(text) == span_of_time(RECORD.created_at) == span_of_unix(1738324800)


def test_an_hour_is_neither_before_nor_after_its_day() -> None:
    day, noon = "2025-01-31", "2025-01-31T12:00:00Z"
    assert not texts_ordered(day, "lt", noon)
    assert not texts_ordered(day, "gt", noon)
    assert texts_ordered(noon, "gte", day)
    assert texts_ordered(noon, "lte", day)


def test_unix_times_end_with_the_calendar() -> None:
    assert span_of_unix(253_402_300_800) is None
    assert span_of_unix(253_402_300_799) is not None
    assert span_of_unix(-62_135_596_800) is not None
    assert span_of_unix(-62_135_596_801) is None
    assert span_of_unix(float("nan")) is None
