"""Parts of a conversation under keys that a longer one of the same beginning finds again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lukasa.archives.base import Conversation, Ids
from lukasa.archives.parts import MOST, Part, after, parts


def split(texts: list[str], key: str = "c", ids: Ids | None = None) -> list[Part]:
    messages = tuple({"role": "user", "content": text} for text in texts)
    said = Conversation(key=key, messages=messages, where="here", ids=ids or {})
    return list(parts("chatgpt", said, default={}, nobody={"user_id": "me"}))


def keys(found: list[Part]) -> set[str]:
    return {key for part in found for key in (part.key, *(key for _, key in part.shorter))}


texts = st.lists(st.text(max_size=3), min_size=1, max_size=MOST * 3)


@given(texts)
def test_parts_are_the_whole_in_order_and_no_key_stands_for_two_beginnings(words: list[str]):
    found = split(words)
    assert [message["content"] for part in found for message in part.messages] == words
    assert all(len(part.shorter) == len(part.messages) - 1 for part in found)
    assert len(keys(found)) == len(words)


@given(texts, texts)
def test_a_longer_conversation_knows_where_a_shorter_one_ended(words: list[str], more: list[str]):
    before, longer = split(words), split(words + more)
    *full, last = before
    assert [part.key for part in longer[: len(full)]] == [part.key for part in full]
    grown = longer[len(full)]
    known = {**{key: length for length, key in grown.shorter}, grown.key: len(grown.messages)}
    assert known[last.key] == len(last.messages)
    assert after(grown, len(last.messages)).messages == grown.messages[len(last.messages) :]


@given(texts)
def test_other_words_another_conversation_or_another_owner_share_no_key(words: list[str]):
    mine = keys(split(words))
    assert not mine & keys(split([words[0] + "x", *words[1:]]))
    assert not mine & keys(split(words, key="d"))
    assert not mine & keys(split(words, ids={"user_id": "bo"}))


def test_the_longest_beginning_comes_first():
    (part,) = split(["a", "b", "c"])
    assert [length for length, _ in part.shorter] == [2, 1]
    assert after(part, 0) is part
