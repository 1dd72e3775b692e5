from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from lukasa.errors import InputError, MessageError, Unsupported
from lukasa.messages.normalize import normalize
from lukasa.messages.redact import Redactor
from lukasa.types import Episode, Message, Scope

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
ANA = Scope(user_id="ana")
TEXT = {"type": "text", "text": "I like tea"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}


def read(messages: object, **options: Any) -> Episode:  # Any: the options of normalize, wrong ones as well
    given: dict[str, Any] = {"scope": ANA, "now": NOW, "redactor": Redactor(), **options}
    return normalize(messages, **given)


class SdkMessage(BaseModel):
    role: str
    content: str | list[dict[str, str]] | None
    refusal: str | None = None
    tool_calls: list[dict[str, str]] | None = None


@dataclass
class PlainMessage:
    role: str
    content: str


@pytest.mark.parametrize(
    "messages",
    [
        "I like tea",
        {"content": "I like tea"},
        {"role": "user", "content": "I like tea"},
        ["I like tea"],
        ({"role": "user", "content": [TEXT]},),
        [{"role": "user", "content": TEXT}],
        [{"role": "user", "content": [{"type": "input_text", "text": "I like tea"}]}],
        [{"role": "user", "content": ["I like tea"]}],
        SdkMessage(role="user", content="I like tea"),
        [SdkMessage(role="user", content=[{"type": "output_text", "text": "I like tea"}])],
        [PlainMessage("user", "I like tea")],
    ],
)
def test_every_form_of_a_message_is_the_same_episode(messages: object):
    episode = read(messages)
    assert episode.messages == (Message("user", "I like tea", None, NOW),)
    assert episode.request == read("I like tea").request
    assert episode.warnings == ()


def test_parts_are_joined_by_line_ends():
    assert read([{"role": "user", "content": [TEXT, {"type": "text", "text": "and cake"}]}]).messages[
        0
    ].text == ("I like tea\nand cake")


def test_texts_and_names_are_cleaned_and_masked():
    episode = read([{"role": "user", "content": "a\x00b \ud83d password=hunter2", "name": " An\x00a "}])
    assert episode.messages[0].text == "ab \ufffd password=[redacted: password]"
    assert episode.messages[0].name == "Ana"
    assert episode.warnings == ("masked 1 password in messages[0]",)


def test_what_was_masked_is_counted_in_its_place():
    episode = read(
        ["hello", "pin: 4821, pin: 4822"], metadata={"note": "token = abcdef", "login": {"password": "x"}}
    )
    assert episode.warnings == (
        "masked 2 pins in messages[1]",
        "masked 1 token in metadata.note",
        "masked 1 secret in metadata.login.password",
    )
    assert episode.metadata == {
        "note": "token = [redacted: token]",
        "login": {"password": "[redacted: secret]"},
    }


def test_a_message_is_dated_by_itself_then_by_the_call_then_by_now():
    own = {"content": "a", "timestamp": "2020-05-05T00:00:00Z"}
    made = {"content": "b", "created_at": 1588636800}
    both = {"content": "c", "created_at": 0, "said_at": "2020-05-05"}
    dated = read([own, made, both, "d"], timestamp="2021-01-01").messages
    assert [m.said_at and m.said_at.year for m in dated] == [2020, 2020, 2020, 2021]
    assert read("a").messages[0].said_at == NOW


def test_a_turn_without_content_is_skipped_with_a_warning():
    calls = [{"id": "1"}]
    episode = read(
        [
            "hello",
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "assistant", "tool_calls": calls},
            SdkMessage(role="assistant", content=None, tool_calls=calls),
            {"role": "tool", "content": "42", "tool_call_id": "1"},
            {"role": "user", "content": " \x00 "},
            {"role": "user", "content": list[object]()},
        ]
    )
    assert [m.role for m in episode.messages] == ["user", "tool"]
    assert episode.warnings == (
        "messages[1] (assistant) has no content and was skipped",
        "messages[1].tool_calls is not stored",
        "messages[2] (assistant) has no content and was skipped",
        "messages[2].tool_calls is not stored",
        "messages[3] (assistant) has no content and was skipped",
        "messages[3].tool_calls is not stored",
        "messages[5] is empty and was skipped",
        "messages[6] is empty and was skipped",
    )


def test_numbers_in_metadata_are_masked_like_texts():
    given = {"pin": 1234, "card": 4111111111111111, "n": 5, "x": 1.5, "tokens": 4096, "b": True}
    found = read("hello", metadata={**given, "pin_is_float": 0.5, "password": 12.5, "ok": {"cvv": 123}})
    assert found.metadata == {
        "pin": "[redacted: secret]",
        "card": "[redacted: card number]",
        "n": 5,
        "x": 1.5,
        "tokens": 4096,
        "b": True,
        "pin_is_float": 0.5,
        "password": "[redacted: secret]",
        "ok": {"cvv": "[redacted: secret]"},
    }
    assert read("hello", metadata=given, redactor=Redactor(builtin=False)).metadata == given


def test_what_a_secret_field_holds_is_secret_all_the_way_down():
    held = {"user": "bob", "list": ["a", {"deep": "b", "n": 7, "yes": True, "none": None}], "token": "c"}
    mask = "[redacted: secret]"
    assert read("hello", metadata={"credentials": held, "plain": {"user": "bob"}}).metadata == {
        "credentials": {
            "user": mask,
            "list": [mask, {"deep": mask, "n": mask, "yes": True, "none": None}],
            "token": mask,
        },
        "plain": {"user": "bob"},
    }


def test_a_key_that_nobody_knows_is_masked_where_it_is_told():
    episode = read({"role": "user", "content": "hello", "sk-proj-abcdefghijklmnopqrstuvwx1234": "x"})
    assert episode.warnings == ("messages[0].[redacted: api key] is not stored",)
    (warning,) = read({"role": "user", "content": "hello", "k" * 10_000: "x"}).warnings
    assert len(warning) < 100


def test_a_text_that_the_caller_masks_wholly_is_skipped():
    with pytest.raises(MessageError, match="is empty and was skipped"):
        read("hello", redactor=Redactor(call=lambda _: ""))


@pytest.mark.parametrize(
    "kind", ["image_url", "image", "input_image", "input_audio", "file", "document", "pdf"]
)
def test_media_are_refused_by_name(kind: str):
    with pytest.raises(Unsupported, match=rf"messages\[1\]\.content\[1\] .*'{kind}'.*nothing was stored"):
        read(["hello", {"role": "user", "content": [TEXT, {"type": kind}]}])


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        (None, "messages is None; accepted: a text, a message"),
        (42, "messages is of type int"),
        (b"hello", "messages is of type bytes"),
        ({"hello"}, "messages is of type set"),
        ([], "messages hold no text; give a text"),
        ("  ", r"messages hold no text \(messages\[0\] is empty"),
        ([None], r"messages\[0\] is None"),
        (["a", 5], r"messages\[1\] is of type int"),
        ({}, r"messages\[0\] has no 'content'"),
        ({"role": "user", "text": "a"}, r"messages\[0\] has no 'content'"),
        ({1: "a", "content": "a"}, r"messages\[0\] has no 'content'"),
        ({"role": "robot", "content": "a"}, r"messages\[0\]\.role is 'robot'; accepted: user, assistant"),
        ({"role": None, "content": "a"}, r"messages\[0\]\.role is None"),
        ({"type": "ai", "content": "a"}, r"messages\[0\]\.role is missing"),
        ({"role": "user", "content": 5}, r"messages\[0\]\.content is of type int; accepted: a text"),
        ({"role": "user", "content": "a", "name": 5}, r"messages\[0\]\.name must be a text, not int"),
        ([{"content": [TEXT, {"type": "x"}]}], r"messages\[0\]\.content\[1\] has type 'x'; accepted: text"),
        ([{"content": [{"type": "text"}]}], r"messages\[0\]\.content\[0\] has type 'text'; accepted: text"),
        ([{"content": [5]}], r"messages\[0\]\.content\[0\] is of type int"),
        ([{"content": {"type": ["x"]}}], r"messages\[0\]\.content has type"),
    ],
)
def test_what_cannot_be_understood_is_refused_by_its_place(messages: object, complaint: str):
    with pytest.raises(MessageError, match=f"^{complaint}"):
        read(messages)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"timestamp": "soon"}, "timestamp must be"),
        ({"expiration_date": "soon"}, "expiration_date must be a day"),
        ({"idempotency_key": "  "}, "idempotency_key must be a text that is not blank"),
        ({"idempotency_key": 5}, "idempotency_key must be"),
        ({"metadata": [1]}, "metadata must be a mapping"),
        ({"metadata": {1: 2}}, "metadata has the key 1; keys must be texts"),
        ({"metadata": {"a": {2: 3}}}, r"metadata\.a has the key 2"),
        ({"metadata": {"a": [0, float("nan")]}}, r"metadata\.a\[1\] is nan"),
        ({"metadata": {"a": float("inf")}}, r"metadata\.a is inf"),
        ({"metadata": {"a": {"b": {1}}}}, r"metadata\.a\.b is of type set"),
        ({"metadata": {"a": b"x"}}, r"metadata\.a is of type bytes"),
        ({"metadata": {"a\x00": 1, "a": 2}}, "metadata has the key 'a' twice"),
    ],
)
def test_a_wrong_argument_is_refused_by_its_name(options: dict[str, object], complaint: str):
    with pytest.raises(InputError, match=f"^{complaint}"):
        read("hello", **options)


def test_metadata_that_holds_itself_is_refused():
    loop: dict[str, object] = {}
    loop["again"] = loop
    with pytest.raises(InputError, match=r"metadata\.again\.again.*holds itself"):
        read("hello", metadata=loop)


def test_metadata_becomes_plain_json():
    episode = read(
        "hello",
        metadata={"at": NOW, "day": date(2026, 1, 2), "pair": (1, 2.5), "deep": {"yes": True, "no": None}},
        expiration_date="2000-01-01",
    )
    assert episode.metadata == {
        "at": "2026-01-02T12:00:00.000000+00:00",
        "day": "2026-01-02",
        "pair": [1, 2.5],
        "deep": {"yes": True, "no": None},
    }
    assert episode.expires_on == date(2000, 1, 1)


@pytest.mark.parametrize("key", ["user_id", "agent_id", "run_id", "app_id", "actor_id", "role"])
def test_metadata_cannot_name_another_owner(key: str):
    episode = read("hello", metadata={key: "eve", "nested": {key: "kept"}})
    assert episode.metadata == {"nested": {key: "kept"}}
    assert episode.scope == ANA
    assert episode.warnings == (
        f"metadata.{key} was ignored: it names a scope or an author; pass it as an argument",
    )


def test_the_idempotency_key_is_kept_as_its_digest():
    assert read("hello").idempotency_key is None
    assert read("hello", idempotency_key="k-1").idempotency_key == sha256(b"k-1").digest()


def test_a_retry_has_the_same_request_digest():
    first = read("hello", metadata={"a": 1, "b": 2}, idempotency_key="k")
    again = read("hello", metadata={"b": 2, "a": 1}, now=NOW + timedelta(hours=1))
    assert first.request == again.request
    assert len(first.request) == 32


@pytest.mark.parametrize(
    "change",
    [
        lambda: read("bye"),
        lambda: read({"role": "assistant", "content": "hello"}),
        lambda: read({"content": "hello", "name": "Ana"}),
        lambda: read("hello", timestamp="2020-01-01"),
        lambda: read("hello", metadata={"a": 1}),
        lambda: read("hello", expiration_date="2030-01-01"),
        lambda: read("hello", scope=Scope(agent_id="ana")),
    ],
)
def test_another_request_has_another_digest(change: Callable[[], Episode]):
    assert change().request != read("hello").request


def test_a_secret_is_not_part_of_any_digest():
    assert read("password=hunter2").request == read("password=hunter3").request


ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None))
    | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "content", "type", "text"]), inner)
    ),
    max_leaves=8,
)


@given(ANY_JSON, ANY_JSON)
def test_any_input_gives_an_episode_or_a_reasoned_refusal(messages: object, metadata: object):
    try:
        episode = read(messages, metadata=metadata)
    except (InputError, Unsupported) as error:
        assert str(error)
        return
    assert episode.messages
    for message in episode.messages:
        message.text.encode("utf-8")
        assert message.text.strip()
        assert message.said_at is not None


def test_a_call_that_remembers_nothing_says_so() -> None:
    made = read([{"role": "system", "content": "be kind"}])
    assert made.warnings == ("only system turns: they instruct, so no memory is made of them",)


def test_a_memory_that_has_expired_already_is_told_of() -> None:
    assert "2020-01-01 is past" in read("x", expiration_date="2020-01-01").warnings[0]
