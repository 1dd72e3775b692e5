"""Faults that users of other memory layers reported, as data (`data/`), replayed where no model is asked."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lukasa import Memory
from lukasa.errors import EmbeddingError, FilterError, ScopeError, Unsupported
from lukasa.testing import HashEmbedder

DATA = Path(__file__).parent / "data"
Case = dict[str, Any]  # Any: what the files hold is theirs


def case(number: str) -> Case:
    (file,) = DATA.glob(f"{number}-*.json")
    found: Case = json.loads(file.read_text("utf-8"))
    return found


def stored(memory: Memory, given: Case) -> dict[str, str]:
    """The case's memories; id by reference."""
    user = given["scope"]["user_id"]
    return {
        memory.add(one["text"], user_id=user, metadata=one.get("metadata"), infer=False)["results"][0][
            "id"
        ]: one["ref"]
        for one in given["existing_memories"]
    }


def test_027_delete_all_goes_beyond_one_page_and_leaves_other_users_alone(tmp_path: Path) -> None:
    asked = case("027")
    with Memory(tmp_path / "a.db", embedder=HashEmbedder(32)) as memory:
        for seed in asked["given"]["seed"]:
            texts = [seed["text"].format(i=i) for i in range(seed["count"])]
            memory.add([{"role": "user", "content": text} for text in texts], **seed["scope"], infer=False)
        wanted = asked["expect"]
        done = memory.delete_all(user_id="u-ines")
        assert done["deleted"] == wanted["delete"]["result"]["deleted"]
        assert memory.count(user_id="u-ines") == wanted["left"]["equals"]
        assert memory.count(user_id="u-omar") == wanted["other"]["equals"]
        with pytest.raises(ScopeError):
            memory.delete_all()


def test_029_a_range_on_one_key_and_an_unknown_operator(tmp_path: Path) -> None:
    asked = case("029")
    embedder = HashEmbedder(32)
    with Memory(tmp_path / "a.db", embedder=embedder) as memory:
        refs = stored(memory, asked["given"])
        ranged, listed, unknown = asked["when"]
        found = memory.search(ranged["query"], user_id="u-ines", filters=ranged["filters"], top_k=10)
        assert [refs[hit["id"]] for hit in found["results"]] == asked["expect"]["range"]["refs_exactly"]
        everything = memory.get_all(user_id="u-ines", filters=listed["filters"])
        assert [refs[hit["id"]] for hit in everything["results"]] == asked["expect"]["list"]["refs_exactly"]
        before = len(embedder.calls)
        with pytest.raises(FilterError, match=asked["expect"]["unknown"]["raises"]["message_matches"]):
            memory.search("prio", user_id="u-ines", filters=unknown["filters"])
        assert len(embedder.calls) == before, "a wrong filter is refused before anything is asked"


def test_031_a_score_is_a_similarity(tmp_path: Path) -> None:
    asked = case("031")
    vectors = asked["given"]["embedder"]["map"]
    with Memory(tmp_path / "a.db", embedder=HashEmbedder(vectors=vectors)) as memory:
        refs = stored(memory, asked["given"])
        wanted = asked["expect"]["all"]
        hits = memory.search("q", user_id="u-ines", top_k=4, threshold=0)["results"]
        scores = {refs[hit["id"]]: hit.get("score") or 0.0 for hit in hits}
        assert [refs[hit["id"]] for hit in hits][:2] == wanted["refs_in_order_prefix"]
        assert scores["same"] >= wanted["scores"]["same"]["min"]
        assert scores["near"] > scores["far"]
        assert all(0 <= score <= 1 for score in scores.values())
        cut = memory.search("q", user_id="u-ines", top_k=4, threshold=0.5)["results"]
        assert sorted(refs[hit["id"]] for hit in cut) == sorted(asked["expect"]["cut"]["refs_exactly"])


def test_033_parallel_adds_under_one_key_give_one_memory(tmp_path: Path) -> None:
    asked = case("033")["when"]
    with Memory(tmp_path / "a.db", embedder=HashEmbedder(32)) as memory, ThreadPoolExecutor(10) as pool:

        def add(_: int) -> str:
            done = memory.add(asked["do"]["messages"], user_id="u-ines", idempotency_key="one", infer=False)
            return done["results"][0]["id"]

        assert len(set(pool.map(add, range(asked["n"])))) == 1
        assert memory.count(user_id="u-ines") == 1


def test_035_content_parts_are_read_and_an_image_is_refused_by_name(tmp_path: Path) -> None:
    messages = case("035")["when"]["messages"]
    with Memory(tmp_path / "a.db", embedder=HashEmbedder(32)) as memory:
        with pytest.raises(Unsupported, match=r"messages\[1\].content\[1\].*image_url.*nothing was stored"):
            memory.add(messages, user_id="u-ines", infer=False)
        assert memory.count(user_id="u-ines") == 0
        memory.add(
            [messages[0], {"role": "user", "content": messages[1]["content"][:1]}],
            user_id="u-ines",
            infer=False,
        )
        found = memory.search("kayak", user_id="u-ines")["results"]
        assert [hit["memory"] for hit in found] == ["I bought a blue kayak."]


def test_037_a_failed_embedding_is_an_error_and_nothing_is_half_stored(tmp_path: Path) -> None:
    asked = case("037")
    failing = asked["given"]["embedder"]["fail_on"]
    (_, raising) = asked["expect"]["any_of"]
    texts = ["Likes rowing", *failing, "Has a twin"]
    with Memory(tmp_path / "a.db", embedder=HashEmbedder(32, fail_on=failing)) as memory:
        with pytest.raises(EmbeddingError) as caught:
            memory.add([{"role": "user", "content": text} for text in texts], user_id="u-ines", infer=False)
        assert re.search(raising["raises"]["message_matches"], str(caught.value))
        assert memory.count(user_id="u-ines") == raising["stored"]["count"]
