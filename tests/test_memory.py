"""Every verb of the sync face: shapes, arguments of both of mem0's eras, time, deletion, instances."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from lukasa import Memory
from lukasa.errors import (
    IdempotencyConflict,
    InputError,
    LedgerUnavailable,
    MemoryNotFound,
    ScopeError,
    UnknownOption,
)
from lukasa.results import ListResult
from lukasa.testing import FrozenClock, HashEmbedder

NOON = "2025-01-01T12:00:00.000000+00:00"


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def memory(path: Path, clock: FrozenClock) -> Iterator[Memory]:
    with Memory(path, embedder=HashEmbedder(), clock=clock) as made:
        yield made


def added(memory: Memory, text: str, **ids: str) -> str:
    """The id of one text that is added for Ines, or for *ids*."""
    scope = ids or {"user_id": "ines"}
    return memory.add(text, user_id=scope.get("user_id"), agent_id=scope.get("agent_id"), infer=False)[
        "results"
    ][0]["id"]


def texts(found: ListResult) -> list[str]:
    return [item["memory"] for item in found["results"]]


# --- shapes


def test_add_returns_what_it_stored_with_actor_and_role(memory: Memory) -> None:
    result = memory.add(
        [
            {"role": "system", "content": "Be brief"},
            {"role": "user", "content": "My dog Bruno is a beagle", "name": "ines"},
            {"role": "assistant", "content": "Noted."},
        ],
        user_id="ines",
        infer=False,
    )
    one, two = result["results"]
    assert one == {
        "id": one["id"],
        "memory": "My dog Bruno is a beagle",
        "event": "ADD",
        "actor_id": "ines",
        "role": "user",
    }
    assert (two["memory"], two["actor_id"], two["role"]) == ("Noted.", None, "assistant")
    assert result["status"] == "ok"
    assert result["unchanged"] == result["warnings"] == []
    assert result["episode_id"]


def test_an_item_has_mem0s_keys_and_leaves_out_what_has_no_value(memory: Memory) -> None:
    text = "I work at the bakery"
    item = memory.get(added(memory, text))
    assert item == {
        "id": item["id"] if item else "",
        "memory": text,
        "hash": hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
        "metadata": None,
        "created_at": NOON,
        "updated_at": NOON,
        "kind": "episodic",
        "state": "active",
        "version": 1,
        "score": None,
        "user_id": "ines",
        "role": "user",
    }


def test_ids_name_metadata_and_expiry_are_shown_where_they_are(memory: Memory) -> None:
    memory.add(
        [{"role": "user", "content": "Tea at four", "name": "bo"}],
        user_id="ines",
        agent_id="guide",
        run_id="r1",
        app_id="web",
        metadata={"topic": "tea", "n": 4, "deep": {"list": [1, None, True]}},
        expiration_date="2025-02-01",
        infer=False,
    )
    item = memory.get_all(user_id="ines")["results"][0]
    assert "score" not in item
    assert item["metadata"] == {"topic": "tea", "n": 4, "deep": {"list": [1, None, True]}}
    assert (item.get("user_id"), item.get("agent_id"), item.get("run_id")) == ("ines", "guide", "r1")
    assert (item.get("app_id"), item.get("actor_id")) == ("web", "bo")
    assert item.get("expiration_date") == "2025-02-01"


def test_search_results_are_items_with_scores_best_first(memory: Memory) -> None:
    for text in ("The spare key is under the pot", "Bruno is a beagle", "The key of the song is D minor"):
        added(memory, text)
    results = memory.search("The spare key is under the pot", user_id="ines", threshold=0)["results"]
    scores = [cast("float", item.get("score")) for item in results]
    assert results[0]["memory"] == "The spare key is under the pot"
    assert scores[0] >= 0.99
    assert all(0 <= score <= 1 for score in scores)
    assert "score_details" not in results[0]


def test_explain_adds_every_number(memory: Memory) -> None:
    added(memory, "The spare key is under the pot")
    item = memory.search("spare key", user_id="ines", explain=True, threshold=0.05)["results"][0]
    details = item.get("score_details") or {}
    assert {"semantic_score", "bm25_score", "final_score", "rank_score", "threshold"} <= details.keys()
    assert details["threshold"] == 0.05
    assert details["final_score"] == item.get("score")


def test_update_delete_and_delete_all_answer_in_mem0s_words(memory: Memory) -> None:
    one, _ = added(memory, "one"), added(memory, "two")
    assert memory.update(one, "uno") == {"message": "Memory updated successfully!"}
    assert memory.delete(one) == {"message": "Memory deleted successfully!"}
    assert memory.delete_all(user_id="ines") == {"message": "Memories deleted successfully!", "deleted": 1}


def test_history_tells_add_update_and_delete_in_order(memory: Memory, clock: FrozenClock) -> None:
    one = memory.add([{"role": "user", "content": "old", "name": "bo"}], user_id="ines", infer=False)[
        "results"
    ][0]["id"]
    clock.advance(hours=1)
    memory.update(one, "new")
    clock.advance(hours=1)
    memory.delete(one)
    entries = memory.history(one)
    assert [(e["event"], e["old_memory"], e["new_memory"], e["is_deleted"]) for e in entries] == [
        ("ADD", None, "old", False),
        ("UPDATE", "old", "new", False),
        ("DELETE", "new", None, True),
    ]
    assert set(entries[0]) == {
        "id",
        "memory_id",
        "old_memory",
        "new_memory",
        "event",
        "created_at",
        "updated_at",
        "is_deleted",
        "actor_id",
        "role",
    }
    assert [e["updated_at"][11:16] for e in entries] == ["12:00", "13:00", "14:00"]
    assert {e["memory_id"] for e in entries} == {one}
    assert {e["actor_id"] for e in entries} == {"bo"}
    assert len({e["id"] for e in entries}) == 3


# --- arguments of both eras


def test_ids_may_stand_in_filters_or_as_arguments(memory: Memory) -> None:
    added(memory, "The spare key is under the pot")
    added(memory, "Nobody's key", user_id="bo")
    by_argument = memory.search("key", user_id="ines", limit=5)
    assert by_argument == memory.search("key", filters={"user_id": "ines"}, top_k=5)
    assert memory.get_all(user_id="ines", limit=5) == memory.get_all(filters={"user_id": "ines"}, top_k=5)
    assert memory.count(filters={"user_id": "ines"}) == 1


def test_limit_and_top_k_are_one_thing(memory: Memory) -> None:
    for number in range(25):
        added(memory, f"note {number}")
    assert len(memory.get_all(user_id="ines")["results"]) == 20
    assert len(memory.get_all(user_id="ines", limit=3)["results"]) == 3
    assert len(memory.get_all(user_id="ines", top_k=3)["results"]) == 3
    assert len(memory.search("note", user_id="ines", limit=3)["results"]) == 3
    assert memory.get_all(user_id="ines", top_k=0)["results"] == []
    assert memory.search("note", user_id="ines", top_k=0) == {"results": []}
    with pytest.raises(InputError, match="one thing"):
        memory.get_all(user_id="ines", limit=3, top_k=4)


@pytest.mark.parametrize("wrong", [-1, True, 1.5, "3", 10_001])
def test_a_limit_that_is_none_raises(memory: Memory, wrong: object) -> None:
    limit = cast("int", wrong)
    with pytest.raises(InputError, match="whole number"):
        memory.get_all(user_id="ines", limit=limit)
    with pytest.raises(InputError, match="whole number"):
        memory.search("q", user_id="ines", top_k=limit)


def test_text_and_data_are_one_thing(memory: Memory) -> None:
    one = added(memory, "old")
    memory.update(one, data="newer")
    memory.update(one, text="newest")
    assert [entry["new_memory"] for entry in memory.history(one)] == ["old", "newer", "newest"]
    with pytest.raises(InputError, match="one thing"):
        memory.update(one, text="a", data="b")


def test_update_merges_metadata_key_by_key(memory: Memory) -> None:
    one = memory.add("x", user_id="ines", metadata={"a": 1, "b": 2}, infer=False)["results"][0]["id"]
    memory.update(one, metadata={"b": 3, "c": {"d": 4}})
    item = memory.get(one)
    assert item is not None
    assert item["metadata"] == {"a": 1, "b": 3, "c": {"d": 4}}
    assert (item["memory"], item["version"]) == ("x", 2)


def test_update_keeps_created_at_and_moves_updated_at(memory: Memory, clock: FrozenClock) -> None:
    one = added(memory, "old")
    clock.advance(days=1)
    memory.update(one, "new")
    item = memory.get(one)
    assert item is not None
    assert (item["created_at"], item["updated_at"]) == (NOON, "2025-01-02T12:00:00.000000+00:00")
    assert item["hash"] == hashlib.md5(b"new", usedforsecurity=False).hexdigest()


def test_update_of_nothing_raises(memory: Memory) -> None:
    one = added(memory, "x")
    with pytest.raises(InputError, match="changes nothing"):
        memory.update(one)


def test_expired_memories_are_hidden_but_got_by_id(memory: Memory, clock: FrozenClock) -> None:
    one = memory.add("The pass is valid", user_id="ines", expiration_date="2025-01-02", infer=False)[
        "results"
    ][0]["id"]
    clock.advance(days=1)
    assert memory.count(user_id="ines") == 1  # its last day
    clock.advance(days=1)
    assert memory.search("pass valid", user_id="ines")["results"] == []
    assert texts(memory.get_all(user_id="ines")) == []
    assert memory.count(user_id="ines") == 0
    assert memory.get(one) is not None
    assert len(memory.search("pass valid", user_id="ines", show_expired=True)["results"]) == 1
    assert texts(memory.get_all(user_id="ines", show_expired=True)) == ["The pass is valid"]
    assert memory.count(user_id="ines", show_expired=True) == 1


@pytest.mark.parametrize("met", [False, True])
def test_an_expiry_that_is_cleared_or_moved_brings_the_memory_back(
    memory: Memory, clock: FrozenClock, met: bool
) -> None:
    one = memory.add("The pass is valid", user_id="ines", expiration_date="2025-01-02", infer=False)[
        "results"
    ][0]["id"]
    assert len(memory.search("pass", user_id="ines")["results"]) == 1
    clock.advance(days=5)
    if met:
        added(memory, "another")  # a write meets the expired row
        assert memory.search("pass", user_id="ines")["results"] == []
    memory.update(one, expiration_date=None)
    assert [hit["memory"] for hit in memory.search("pass", user_id="ines")["results"]] == [
        "The pass is valid"
    ]
    assert "expiration_date" not in (memory.get(one) or {})
    memory.update(one, expiration_date="2025-01-03")
    assert memory.search("pass", user_id="ines")["results"] == []
    memory.update(one, expiration_date="2026-01-01")
    assert len(memory.search("pass", user_id="ines")["results"]) == 1


def test_metadata_alone_leaves_the_expiry_as_it_is(memory: Memory) -> None:
    one = memory.add("x", user_id="ines", expiration_date="2025-03-01", infer=False)["results"][0]["id"]
    memory.update(one, metadata={"a": 1})
    assert (memory.get(one) or {}).get("expiration_date") == "2025-03-01"


def test_timestamp_is_when_it_was_said(memory: Memory) -> None:
    one = memory.add("x", user_id="ines", timestamp="2020-05-05T08:00:00+02:00", infer=False)["results"][0][
        "id"
    ]
    item = memory.get(one)
    assert item is not None
    assert item["created_at"] == "2020-05-05T06:00:00.000000+00:00"
    assert memory.why(one)["sources"][0]["said_at"] == "2020-05-05T06:00:00.000000+00:00"
    assert memory.count(user_id="ines", as_of="2020-05-06") == 1
    assert memory.count(user_id="ines", as_of="2020-05-04") == 0


def test_threshold_cuts_the_score(memory: Memory) -> None:
    for text in ("The spare key is under the pot", "Bruno is a beagle", "spare tyre"):
        added(memory, text)
    everything = memory.search("spare key", user_id="ines", threshold=0)["results"]
    scores = [cast("float", item.get("score")) for item in everything]
    least = sorted(scores)[1]
    cut = memory.search("spare key", user_id="ines", threshold=least)["results"]
    assert [item["id"] for item in cut] == [
        item["id"] for item in everything if (item.get("score") or 0) >= least
    ]


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan"), "high", True])
def test_a_threshold_outside_0_to_1_raises(memory: Memory, wrong: object) -> None:
    with pytest.raises(InputError, match="threshold"):
        memory.search("q", user_id="ines", threshold=cast("float", wrong))


@pytest.mark.parametrize(
    ("verb", "arguments", "wrong", "nearest"),
    [
        ("add", ("x",), "user", "user_id"),
        ("search", ("x",), "treshold", "threshold"),
        ("search", ("x",), "topk", "top_k"),
        ("get_all", (), "filter", "filters"),
        ("get", ("x",), "agentid", "agent_id"),
        ("update", ("x",), "metadatas", "metadata"),
        ("delete", ("x",), "erased", "erase"),
        ("delete_all", (), "all_scope", "all_scopes"),
        ("count", (), "run", "run_id"),
        ("history", ("x",), "userid", "user_id"),
        ("why", ("x",), "appid", "app_id"),
        ("reset", (), "everything", "reset"),
    ],
)
def test_an_unknown_keyword_raises_and_names_the_nearest(
    memory: Memory, verb: str, arguments: tuple[str, ...], wrong: str, nearest: str
) -> None:
    call = cast("Callable[..., object]", getattr(memory, verb))
    with pytest.raises(UnknownOption, match=f"{wrong}.*{nearest}|{nearest}.*{wrong}") as caught:
        call(*arguments, **{wrong: 1})
    assert isinstance(caught.value, TypeError)


def test_int_ids_are_their_digits(memory: Memory) -> None:
    memory.add("x", user_id=7, agent_id=8, infer=False)
    assert memory.get_all(user_id="7")["results"][0].get("agent_id") == "8"
    assert memory.count(user_id=7, filters={"agent_id": 8}) == 1
    assert memory.delete_all(7)["deleted"] == 1


def test_a_single_message_and_a_list_of_texts_are_messages(memory: Memory) -> None:
    memory.add({"role": "assistant", "content": "one"}, user_id="ines", infer=False)
    memory.add(["two", {"content": "three"}], user_id="ines", infer=False)
    assert texts(memory.get_all(user_id="ines")) == ["three", "two", "one"]


def test_the_same_text_twice_is_two_memories(memory: Memory) -> None:
    assert added(memory, "twice") != added(memory, "twice")
    assert memory.count(user_id="ines") == 2


# --- what is not there, and what is refused


def test_an_unknown_id_is_none_or_empty_or_not_found(memory: Memory) -> None:
    assert memory.get("nonsense") is None
    assert memory.history("nonsense") == []
    for call in (
        lambda: memory.update("nonsense", "x"),
        lambda: memory.delete("nonsense"),
        lambda: memory.delete("nonsense", erase=True),
        lambda: memory.why("nonsense"),
    ):
        with pytest.raises(MemoryNotFound, match="not found") as caught:
            call()
        assert isinstance(caught.value, ValueError)


def test_a_deleted_memory_cannot_be_deleted_or_updated_again(memory: Memory) -> None:
    one = added(memory, "x")
    memory.delete(one)
    assert memory.get(one) is None
    with pytest.raises(MemoryNotFound):
        memory.delete(one)
    with pytest.raises(MemoryNotFound):
        memory.update(one, "y")


def test_ids_given_to_a_verb_by_id_are_a_fence(memory: Memory) -> None:
    one = added(memory, "x")
    assert memory.get(one, user_id="bo") is None
    assert memory.history(one, user_id="bo") == []
    for call in (
        lambda: memory.update(one, "y", user_id="bo"),
        lambda: memory.delete(one, user_id="bo"),
        lambda: memory.why(one, user_id="bo"),
    ):
        with pytest.raises(MemoryNotFound):
            call()
    assert (memory.get(one, user_id="ines") or {}).get("memory") == "x"


def test_a_verb_for_many_without_an_id_is_refused(memory: Memory) -> None:
    added(memory, "x")
    for call in (
        lambda: memory.add("x"),
        lambda: memory.get_all(),
        lambda: memory.get_all(filters={"topic": "tea"}),
        lambda: memory.search("x"),
        lambda: memory.count(),
        lambda: memory.delete_all(),
        lambda: memory.delete_all(filters={"user_id": {"in": ["ines"]}}),
        lambda: memory.delete_all(user_id="ines", all_scopes=True),
        lambda: memory.get_all(user_id="ines", filters={"user_id": "bo"}),
    ):
        with pytest.raises(ScopeError):
            call()
    assert memory.count(all_scopes=True) == 1


def test_everybodys_must_be_said(memory: Memory) -> None:
    added(memory, "x")
    added(memory, "y", agent_id="guide")
    assert texts(memory.get_all(all_scopes=True)) == ["y", "x"]
    assert memory.delete_all(all_scopes=True)["deleted"] == 2


# --- the same call again


def test_an_idempotency_key_answers_the_same_and_stores_nothing(memory: Memory, clock: FrozenClock) -> None:
    first = memory.add("once", user_id="ines", idempotency_key="k", metadata={"a": 1}, infer=False)
    clock.advance(days=1)
    assert memory.add("once", user_id="ines", idempotency_key="k", metadata={"a": 1}, infer=False) == first
    assert memory.count(user_id="ines") == 1


def test_an_idempotency_key_for_another_request_conflicts(memory: Memory) -> None:
    memory.add("once", user_id="ines", idempotency_key="k", infer=False)
    for call in (
        lambda: memory.add("twice", user_id="ines", idempotency_key="k", infer=False),
        lambda: memory.add("once", user_id="ines", run_id="r", idempotency_key="k", infer=False),
        lambda: memory.add("once", user_id="ines", metadata={"a": 1}, idempotency_key="k", infer=False),
    ):
        with pytest.raises(IdempotencyConflict, match="new key"):
            call()
    assert memory.count(user_id="ines") == 1


def test_an_idempotency_key_belongs_to_its_owner(memory: Memory) -> None:
    one = memory.add("once", user_id="ines", idempotency_key="k", infer=False)
    two = memory.add("once", user_id="bo", idempotency_key="k", infer=False)
    assert one["results"][0]["id"] != two["results"][0]["id"]


def test_a_replay_survives_closing(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder()) as memory:
        first = memory.add("once", user_id="ines", idempotency_key="k", infer=False)
    with Memory(path, embedder=HashEmbedder()) as memory:
        assert memory.add("once", user_id="ines", idempotency_key="k", infer=False) == first


def test_a_replay_embeds_nothing_and_works_while_the_embedder_fails(path: Path) -> None:
    embedder = HashEmbedder()
    with Memory(path, embedder=embedder) as memory:
        first = memory.add("once", user_id="ines", idempotency_key="k", infer=False)
    with Memory(path, embedder=HashEmbedder(fail_on=["once"])) as memory:
        assert memory.add("once", user_id="ines", idempotency_key="k", infer=False) == first


def test_the_key_of_an_erased_call_is_free_again(memory: Memory) -> None:
    first = memory.add("once", user_id="ines", idempotency_key="k", infer=False)["results"][0]["id"]
    memory.delete(first, erase=True)
    again = memory.add("once", user_id="ines", idempotency_key="k", infer=False)
    assert again["results"][0]["id"] != first
    assert again["status"] == "ok"


def test_a_replay_of_a_call_that_was_erased_in_part_says_so(memory: Memory) -> None:
    chat = [{"role": "user", "content": "first half"}, {"role": "user", "content": "second half"}]
    results = memory.add(chat, user_id="ines", idempotency_key="k", infer=False)["results"]
    memory.delete(results[0]["id"], erase=True)
    again = memory.add(chat, user_id="ines", idempotency_key="k", infer=False)
    assert (again["status"], again["results"]) == ("erased", [])
    assert texts(memory.get_all(user_id="ines")) == ["second half"]


# --- time


def test_as_of_answers_with_the_text_that_held(memory: Memory, clock: FrozenClock) -> None:
    one = memory.add("I work at the bakery", user_id="ines", metadata={"v": 1}, infer=False)["results"][0][
        "id"
    ]
    then = clock()
    clock.advance(days=30)
    memory.update(one, "I work at the florist", metadata={"v": 2})
    clock.advance(days=1)
    old = memory.get(one, as_of=then)
    assert old is not None
    assert (old["memory"], old["metadata"], old["version"]) == ("I work at the bakery", {"v": 1}, 1)
    assert texts(memory.get_all(user_id="ines", as_of=then)) == ["I work at the bakery"]
    assert texts(memory.get_all(user_id="ines")) == ["I work at the florist"]
    found = memory.search("bakery", user_id="ines", as_of=then)["results"]
    assert [hit["memory"] for hit in found] == ["I work at the bakery"]
    assert memory.search("florist", user_id="ines", as_of=then, threshold=0.3)["results"] == []
    assert memory.search("bakery", user_id="ines", threshold=0.3)["results"] == []
    assert memory.count(user_id="ines", as_of=then) == 1
    assert memory.count(user_id="ines", filters={"v": 1}, as_of=then) == 1
    assert memory.count(user_id="ines", filters={"v": 2}, as_of=then) == 0
    assert memory.count(user_id="ines", as_of="2024-12-31") == 0
    assert memory.get(one, as_of="2024-12-31") is None


def test_update_with_a_timestamp_moves_when_the_text_became_true(memory: Memory, clock: FrozenClock) -> None:
    one = added(memory, "I live in Ghent")
    clock.advance(days=30)
    memory.update(one, "I live in Bruges", timestamp="2025-01-10")
    assert (memory.get(one, as_of="2025-01-09") or {}).get("memory") == "I live in Ghent"
    assert (memory.get(one, as_of="2025-01-11") or {}).get("memory") == "I live in Bruges"


@pytest.mark.parametrize("announced", ["2025-01-20", "2024-12-20", "2025-01-01T12:00:00Z"])
def test_at_any_time_a_memory_has_at_most_one_text(
    memory: Memory, clock: FrozenClock, announced: str
) -> None:
    one = added(memory, "I live in Ghent")
    memory.update(one, "I live in Bruges", timestamp=announced)
    clock.advance(days=5)
    memory.update(one, "I live in Namur")
    for day in ("2024-12-25", "2025-01-03", "2025-01-08", "2025-01-15", "2025-01-19", "2025-01-25"):
        listed = texts(memory.get_all(user_id="ines", as_of=day))
        assert len(listed) <= 1, (day, listed)
        assert memory.count(user_id="ines", as_of=day) == len(listed)


def test_a_deleted_memory_is_in_no_recall_not_even_of_the_past(memory: Memory, clock: FrozenClock) -> None:
    one = added(memory, "I work at the bakery")
    then = clock()
    clock.advance(days=1)
    memory.delete(one)
    for moment in (None, then):
        assert memory.get(one, as_of=moment) is None
        assert memory.search("bakery", user_id="ines", as_of=moment, show_expired=True)["results"] == []
        assert texts(memory.get_all(user_id="ines", as_of=moment, show_expired=True)) == []
        assert memory.count(user_id="ines", as_of=moment) == 0
    assert memory.history(one)[0]["new_memory"] == "I work at the bakery"


# --- deletion


def test_erase_takes_the_history_too(memory: Memory) -> None:
    one, two = added(memory, "first"), added(memory, "second")
    memory.delete(one, erase=True)
    memory.delete(two)
    memory.delete(two, erase=True)
    assert memory.history(one) == memory.history(two) == []
    assert memory.count(user_id="ines") == 0


def test_delete_all_takes_what_the_filters_name_and_expired_ones(memory: Memory, clock: FrozenClock) -> None:
    memory.add("tea", user_id="ines", metadata={"topic": "tea"}, infer=False)
    memory.add(
        "old tea", user_id="ines", metadata={"topic": "tea"}, expiration_date="2025-01-01", infer=False
    )
    memory.add("dog", user_id="ines", metadata={"topic": "dog"}, infer=False)
    memory.add("tea", user_id="bo", metadata={"topic": "tea"}, infer=False)
    clock.advance(days=3)
    assert memory.delete_all(user_id="ines", filters={"topic": "tea"})["deleted"] == 2
    assert texts(memory.get_all(all_scopes=True)) == ["tea", "dog"]


def test_delete_all_by_a_second_id_leaves_the_rest_of_the_user(memory: Memory) -> None:
    memory.add("in the run", user_id="ines", run_id="r1", infer=False)
    memory.add("not in it", user_id="ines", infer=False)
    assert memory.delete_all(run_id="r1", erase=True)["deleted"] == 1
    assert texts(memory.get_all(user_id="ines")) == ["not in it"]


def test_reset_empties_the_space_and_no_other(path: Path) -> None:
    with (
        Memory(path, embedder=HashEmbedder()) as here,
        Memory(path, embedder=HashEmbedder(), space="other") as there,
    ):
        one = added(here, "here")
        added(there, "there")
        here.reset()
        assert here.count(all_scopes=True) == 0
        assert here.history(one) == []
        assert texts(there.get_all(user_id="ines")) == ["there"]
        added(here, "again")
        assert len(here.search("again", user_id="ines")["results"]) == 1


# --- cursors, sources


def test_cursors_walk_every_memory_once_while_rows_are_added(memory: Memory) -> None:
    ids = [added(memory, f"note {number}") for number in range(23)]
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = memory.get_all(user_id="ines", limit=5, cursor=cursor)
        seen += [item["id"] for item in page["results"]]
        added(memory, "meanwhile")
        cursor = page["cursor"]
        if cursor is None:
            break
    assert seen == ids[::-1]


def test_a_cursor_ends_exactly_where_the_rows_do(memory: Memory) -> None:
    for number in range(4):
        added(memory, f"note {number}")
    first = memory.get_all(user_id="ines", limit=2)
    assert first["cursor"] is not None
    assert memory.get_all(user_id="ines", limit=2, cursor=first["cursor"])["cursor"] is None
    assert memory.get_all(user_id="ines", limit=4)["cursor"] is None


@pytest.mark.parametrize(
    "cursor", ["", "nonsense", "bTE", "bS0x", "eDE=", "🍵", "bTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5"]
)
def test_a_cursor_that_was_never_given_raises(memory: Memory, cursor: str) -> None:
    added(memory, "x")
    with pytest.raises(InputError, match="cursor"):
        memory.get_all(user_id="ines", cursor=cursor)


def test_why_tells_sources_extractor_and_edits(memory: Memory) -> None:
    chat = [{"role": "user", "content": "Bruno is a beagle", "name": "bo"}, {"role": "tool", "content": "42"}]
    one, two = (item["id"] for item in memory.add(chat, user_id="ines", infer=False)["results"])
    memory.update(one, "Bruno is a basset")
    why = memory.why(one)
    assert why["memory"]["memory"] == "Bruno is a basset"
    assert why["extractor"] == "verbatim"
    source = why["sources"][0]
    assert (source["role"], source["name"], source["text"]) == ("user", "bo", "Bruno is a beagle")
    assert (source["span"], source["trust"], source["version"]) == ((0, 17), "user", 1)
    assert [entry["event"] for entry in why["history"]] == ["ADD", "UPDATE"]
    assert memory.why(two)["sources"][0]["trust"] == "tool"


# --- its life, and others on the same file


def test_a_closed_memory_says_so(path: Path) -> None:
    memory = Memory(path, embedder=HashEmbedder())
    one = added(memory, "x")
    memory.close()
    memory.close()
    for call in (
        lambda: memory.add("y", user_id="ines", infer=False),
        lambda: memory.get(one),
        lambda: memory.search("x", user_id="ines"),
        lambda: memory.delete(one, erase=True),
    ):
        with pytest.raises(LedgerUnavailable, match="closed"):
            call()


def test_a_context_manager_closes_and_lets_errors_through(path: Path) -> None:
    with pytest.raises(RuntimeError, match="mine"), Memory(path, embedder=HashEmbedder()) as memory:
        added(memory, "x")
        raise RuntimeError("mine")
    with pytest.raises(LedgerUnavailable):
        memory.count(user_id="ines")


def test_closing_what_was_never_used_makes_no_file(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder()):
        pass
    assert not path.exists()


def test_two_instances_see_each_others_writes_at_once(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder()) as one, Memory(path, embedder=HashEmbedder()) as two:
        mine = added(one, "The spare key is under the pot")
        assert len(two.search("spare key", user_id="ines")["results"]) == 1
        two.update(mine, "The spare key is with Bo")
        found = one.search("spare key", user_id="ines")["results"]
        assert [hit["memory"] for hit in found] == ["The spare key is with Bo"]
        two.add("The spare bike is blue", user_id="ines", infer=False)
        assert len(one.search("spare", user_id="ines")["results"]) == 2
        one.delete(mine)
        assert [hit["memory"] for hit in two.search("spare", user_id="ines")["results"]] == [
            "The spare bike is blue"
        ]
        one.delete_all(user_id="ines", erase=True)
        assert two.search("spare", user_id="ines")["results"] == []
        added(two, "The spare tyre is flat")
        assert len(one.search("spare", user_id="ines")["results"]) == 1


def test_what_was_written_is_there_after_opening_again(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder()) as memory:
        one = added(memory, "The spare key is under the pot")
        before = memory.get(one)
    with Memory(path, embedder=HashEmbedder()) as memory:
        assert memory.get(one) == before
        assert len(memory.search("spare key", user_id="ines")["results"]) == 1


def test_from_config_takes_mem0s_embedder_section(path: Path) -> None:
    config = {"path": str(path), "embedder": {"provider": "hash", "config": {"dim": 64}}}
    with Memory.from_config(config) as memory:
        added(memory, "x")
        assert memory.count(user_id="ines") == 1
    with pytest.raises(UnknownOption, match=re.escape("did you mean 'embedder'")):
        Memory.from_config({"embeder": "hash"})


def test_a_memory_with_many_results_returns_them_in_a_stable_order(memory: Memory) -> None:
    for _ in range(30):
        added(memory, "the very same words")
    first = [hit["id"] for hit in memory.search("same words", user_id="ines", top_k=10)["results"]]
    added(memory, "other words")
    assert first == [hit["id"] for hit in memory.search("same words", user_id="ines", top_k=10)["results"]]
