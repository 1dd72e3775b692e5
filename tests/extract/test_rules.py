"""What the rules keep, leave out, write and mark; and that any text at all is read."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lukasa.extract.base import Extracted
from lukasa.extract.rules.rules import extract
from lukasa.types import Episode, Message, Scope

NOON = datetime(2025, 3, 12, 12, tzinfo=UTC)


def read(*turns: str | tuple[str, str] | tuple[str, str, str], scope: Scope | None = None) -> Extracted:
    """Turns as "text", (role, text) or (role, text, name)."""
    messages: list[Message] = []
    for turn in turns:
        role, text, *name = ("user", turn) if isinstance(turn, str) else turn
        messages.append(Message(role, text, name[0] if name else None, NOON))
    return extract(Episode(scope or Scope(user_id="ines"), tuple(messages)))


def kept(*turns: str | tuple[str, str] | tuple[str, str, str]) -> list[str]:
    return [fact.text for fact in read(*turns).facts]


KEPT = [
    ("I live in Leeds", "User lives in Leeds."),
    ("im allergic to peanuts lol", "User is allergic to peanuts."),
    ("I don't drink alcohol", "User does not drink alcohol."),
    ("my sister Maren is vegan", "User's sister Maren is vegan."),
    (
        "ran the Ghent half on sunday in 1:52:08!!",
        "User ran the Ghent half on Sunday 9 March 2025 in 1:52:08.",
    ),
    ("I've passed my B2 exam", "User has passed their B2 exam."),
    ("from now on always answer in bullet points", "From now on always answer in bullet points."),
    ("Please remember: I teach on Fridays", "User teaches on Fridays."),
    ("we don't own a car", "User: we don't own a car."),
    ("我对花生过敏", "用户对花生过敏。"),
    ("昨天刚提的车，新能源的", "用户2025年3月11日刚提的车，新能源的。"),
    ("以后回答控制在200字以内", "以后回答控制在200字以内。"),
    ("我們家養了一隻貓", "用户这边家養了一隻貓。"),
]


@pytest.mark.parametrize(("said", "fact"), KEPT)
def test_what_lasts_is_kept_close_to_what_was_said(said: str, fact: str) -> None:
    assert kept(said) == [fact]


DROPPED = [
    ("how are you this morning", "a question"),
    ("thanks, that helps a lot", "greeting, thanks or filler"),
    ("can you write me a cover letter", "a question"),
    ("write a haiku about rain", "a request"),
    ("if I were rich I would live in Paris", "supposed, not said to be so"),
    ("imagine I'm a pirate with a parrot", "said in a role"),
    ("that trailer looks meh imo", "an opinion of the moment"),
    ("I'm so tired today", "true for the moment only"),
    ("oh great, another 7am meeting. my favourite thing 🙃", "not meant as said"),
    ("my key is [redacted: api key]", "it held a secret"),
    ("Ich wohne seit drei Jahren in Hamburg und arbeite dort", "no rules for its language"),
    ("谢谢啦", "greeting, thanks or filler"),
    ("帮我写一封信", "a request"),
    ("如果我是皇帝", "supposed, not said to be so"),
    ("咱们玩角色扮演，我是捕快", "said in a role"),
]


@pytest.mark.parametrize(("said", "reason"), DROPPED)
def test_what_does_not_last_is_left_out_with_its_reason(said: str, reason: str) -> None:
    found = read(said)
    assert found.facts == ()
    assert found.dropped[0].reason == reason


def test_a_question_may_hold_a_statement() -> None:
    assert kept("I live in Bergen, what should I cook tonight?") == ["User lives in Bergen."]


def test_pasted_texts_code_and_returning_memories_are_nobodys_words() -> None:
    said = "can you fix the grammar:\n---\nMy name is Dagny and I live in Oslo.\n---\nI work in Bergen"
    assert kept(said) == ["User works in Bergen."]
    assert kept("```python\nI = 'I live in Oslo'\n```") == []
    assert kept("> I moved to Madeira\nI stay in Truro") == ["User stays in Truro."]
    assert kept("Relevant memories:\n- User plays badminton\n- User lives in Oslo") == []


def test_role_play_lasts_until_it_ends() -> None:
    turns = ("let's role-play, I'm a knight", "I live in a castle", "ok, out of character: I live in Leeds")
    assert kept(*turns) == ["User lives in Leeds."]


def test_others_words_stay_theirs() -> None:
    said = 'my flatmate Ruaridh goes "I hate mornings and I\'m moving to Berlin"'
    assert kept(said) == ["User's flatmate Ruaridh goes \"I hate mornings and I'm moving to Berlin\"."]


def test_the_assistants_turns_are_not_the_users() -> None:
    assert kept(("assistant", "You live in Oslo, and I suggest the Orchid Spa Hotel."), "ok") == []


def test_system_turns_are_not_read() -> None:
    assert kept(("system", "The user lives in Oslo."), "hi") == []


def test_in_a_group_each_speaks_for_themselves() -> None:
    facts = read(("user", "I'm vegan now btw", "Marek"), ("user", "I live in Graz", "Lena")).facts
    assert [(fact.text, fact.actor_id) for fact in facts] == [
        ("Marek is vegan now.", "Marek"),
        ("Lena lives in Graz.", "Lena"),
    ]


def test_an_agents_notes_are_kept_as_it_wrote_them() -> None:
    found = read(
        ("assistant", "The guest house answers between 10 and 16."), scope=Scope(agent_id="concierge")
    )
    assert [fact.text for fact in found.facts] == ["The guest house answers between 10 and 16."]
    assert found.facts[0].attributed_to == "assistant"


@pytest.mark.parametrize(
    ("turns", "fact"),
    [
        (
            ("parents evening is on monday 24th", "wait sorry I meant tuesday, 25th"),
            "Parents evening is on Tuesday 25 March 2025.",
        ),
        (("need to book physio for my left shoulder", "hang on, its the RIGHT shoulder"), "right shoulder"),
        (("家长会定在下周二晚上七点", "等下看错了，是周四，时间没变"), "2025年3月20日（周四）晚上七点"),
    ],
)
def test_a_correction_wins(turns: tuple[str, str], fact: str) -> None:
    found = read(*turns)
    assert [fact in one.text for one in found.facts] == [True]
    assert "the speaker took it back" in [one.reason for one in found.dropped]
    assert {source.message for source in found.facts[0].sources} == {0, 1}


def test_she_is_the_one_person_that_was_named() -> None:
    assert kept("My sister Maren is vegan. She lives in Graz.") == [
        "User's sister Maren is vegan.",
        "Maren lives in Graz.",
    ]


def test_a_fact_says_where_it_stands_and_what_it_speaks_of() -> None:
    text = "hey! I moved to Leeds yesterday"
    fact = read(text).facts[0]
    source = fact.sources[0]
    assert text[source.start : source.end] == "I moved to Leeds yesterday"
    assert (fact.subject, fact.attribute, fact.kind) == ("user", "home", "episodic")
    assert fact.event_from == fact.event_to == datetime(2025, 3, 11, tzinfo=UTC)
    assert fact.extractor == "rules"
    assert 0 < (fact.importance or 0) <= 1
    assert 0 < (fact.confidence or 0) < 1


WORDS = st.sampled_from(
    [*("I", "my", "we", "live", "in", "Oslo", "moved", "yesterday", "never", "always", "and", "but")]
    + [*",.?!:;()\"“”'’-，。？\n@", "```", "---", ">", "1.", "😀", "cafe\u0301", "\u200b"]
    + [*("我", "住在", "北京", "不", "喜欢")]
)


@given(text=st.text(max_size=400) | st.lists(WORDS, max_size=40).map(" ".join))
def test_any_text_is_read_and_its_spans_lie_within_it(text: str) -> None:
    for fact in read(text or "x").facts:
        assert fact.text.strip()
        for source in fact.sources:
            assert 0 <= source.start <= source.end <= len(text)


LONG = {
    "spaces": "I live in Oslo" + " " * 100_000 + "x",
    "marks": "hi " + "!" * 100_000,
    "fillers": "all good " * 20_000,
    "leads": "well, ... " * 10_000,
    "quotes": '"“' * 50_000,
    "tags": "<a>\n" * 30_000,
    "fences": "```\n" * 30_001,
    "rules": "---\n" * 30_001,
    "list": "list:\n" + "- x\n" * 50_000,
    "clauses": "I live in Oslo, " * 10_000,
    "chinese": "我喜欢喝茶，" * 20_000,
    "commas": "，" * 100_000,
    "dates": "on monday " * 20_000,
    "figures": "1" * 100_000,
}


@pytest.mark.parametrize("name", LONG)
def test_no_text_stalls_the_rules(name: str) -> None:
    began = time.process_time()
    read(LONG[name])
    assert time.process_time() - began < 5
