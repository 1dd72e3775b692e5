"""What ends what, and what stays."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lukasa.claims.read import claims
from lukasa.reconcile.conflict import ends, repeats, statement

ENDS = [
    (
        "User left Varnholt in February 2026, now doing backend at Ledgerloom.",
        "User works at Varnholt as an analyst.",
    ),
    ("User moved to Rome.", "User lives in Oslo."),
    ("User's running club moved to Thursdays.", "User's running club meets on Tuesdays."),
    ("User reports to Saoirse.", "User reports to Declan."),
    ("User has gone off dairy completely.", "User drinks cow's milk in coffee."),
    ("Marek is vegan now.", "Marek loves pork ribs."),
    ("User eats meat again.", "User is vegetarian."),
    ("User: we track tickets in Trellix now.", "User's team tracks tickets in Jarrow Board."),
    ("From now on always answer in bullet points.", "User wants answers in full paragraphs."),
    ("User's doc put User on metformin 500mg.", "User takes no medication."),
    ("User uses Zed these days instead of Vim.", "User's editor is Vim."),
    ("User uses 0926 555 0173 from now on, not the 0148 one.", "User's phone number is 0917 555 0148."),
    ("User's favourite colour is now green.", "User's favourite colour is red."),
    ("User hates coriander.", "User likes coriander."),
    ("User got divorced.", "User is married."),
    ("用户把咖啡戒了。", "用户每天喝两杯咖啡。"),
    ("用户2026年2月从武汉搬到佛山了。", "用户住在武汉。"),
    ("家长会定在2025年3月20日（周四）晚上七点。", "家长会在2025年3月18日（周二）晚上七点。"),
    ("以后回答控制在200字以内。", "用户希望回答越详细越好。"),
]
BOTH = [
    ("User also plays the cello, not only the piano.", "User plays the piano."),
    ("User's sister Maren is allergic to cashews.", "User loves cashews."),
    ("User's brother moved to Rome.", "User lives in Oslo."),
    ("User plans to move to Rome.", "User lives in Oslo."),
    ("User works at Ledgerloom.", "User lives in Hamburg."),
    ("User does not like spicy ramen.", "User likes ramen."),
    ("User lives in Oslo, near the harbour.", "User lives in Oslo."),
    ("User drinks tea.", "User drinks coffee."),
    ("User's mother's phone is 0917 555 0199.", "User's phone number is 0917 555 0148."),
    ("用户也喜欢飞盘。", "用户喜欢打羽毛球。"),
    ("用户表弟对芒果过敏。", "用户最喜欢的水果是芒果。"),
]


@pytest.mark.parametrize(("new", "known"), ENDS)
def test_a_changed_fact_ends_the_old_one(new: str, known: str) -> None:
    assert ends(statement(new), statement(known))


@pytest.mark.parametrize(("new", "known"), BOTH)
def test_what_can_both_be_true_stays(new: str, known: str) -> None:
    assert ends(statement(new), statement(known)) is None


def test_an_old_event_does_not_undo_what_came_after_it() -> None:
    told_late = statement("User moved to Bergen in 2015.", happened=datetime(2015, 12, 31, tzinfo=UTC))
    known = statement("User lives in Oslo.", said_at=datetime(2024, 1, 1, tzinfo=UTC))
    assert ends(told_late, known) is None


def test_a_memory_that_says_more_is_not_ended_by_a_part() -> None:
    known = statement("User's name is Ana, she lives in Porto.")
    assert ends(statement("User moved to Rome."), known) is None


def test_a_repetition_is_told_from_its_negation_and_from_other_figures() -> None:
    known = statement("User drinks two cups of coffee and weighs 68 kg.")
    assert repeats(statement("User drinks coffee."), known)
    assert not repeats(statement("User drinks no coffee."), known)
    assert not repeats(statement("User weighs 65 kg."), known)
    assert not repeats(statement("User drinks coffee in Rome."), known)


@given(one=st.text(max_size=200), other=st.text(max_size=200))
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    first, second = statement(one), statement(other)
    ends(first, second)
    repeats(first, second)


@given(text=st.text(max_size=200))
def test_a_text_never_ends_itself(text: str) -> None:
    assert ends(statement(f"User lives in {text}"), statement(f"User lives in {text}")) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("User lives in Leeds.", ("user", "home", "leeds")),
        ("I live in Leeds.", ("user", "home", "leeds")),
        ("User's wife is called Hanneke.", ("user", "wife", "hanneke")),
        ("User is 34.", ("user", "age", "34")),
        ("小棠在启明书店上班。", ("小棠", "employer", "启明书店")),
        ("用户对花生过敏。", ("user", "toward", "花生")),
    ],
)
def test_claims_are_read(text: str, wanted: tuple[str, str, str]) -> None:
    assert wanted in [(one.subject, one.attribute, one.value) for one in claims(text)]
