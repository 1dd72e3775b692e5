import pytest
from hypothesis import given
from hypothesis import strategies as st

from lukasa.errors import ScopeError
from lukasa.messages.scope import scope_of
from lukasa.types import Scope


def test_ids_make_the_scope_and_ints_become_digits():
    found = scope_of(user_id="ana@example.com", agent_id=7, run_id=None, app_id="x")
    assert found == Scope(user_id="ana@example.com", agent_id="7", app_id="x")


def test_no_id_is_an_empty_scope():
    assert not scope_of()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("", "is blank"),
        (" \t", "is blank"),
        (" ana", "begins or ends with white space"),
        ("ana\n", "begins or ends with white space"),
        ("ana maria", "holds white space"),
        ("ana\x00", "control characters"),
        ("ana\ud800", "lone surrogates"),
        ("a" * 513, "513 characters; at most 512"),
        (True, "not bool"),
        (1.5, "not float"),
        ([], "not list"),
        (b"ana", "not bytes"),
    ],
)
@pytest.mark.parametrize("name", ["user_id", "agent_id", "run_id", "app_id"])
def test_a_bad_id_is_refused_by_name_and_reason(name: str, value: object, reason: str):
    with pytest.raises(ScopeError, match=f"^{name} .*{reason}"):
        scope_of(**{name: value})  # pyright: ignore[reportArgumentType]


@given(st.text(st.characters(codec=None)))
def test_an_accepted_id_is_kept_as_it_is(text: str):
    try:
        found = scope_of(user_id=text)
    except ScopeError:
        return
    assert found.user_id == text
    assert text.split() == [text]
