"""ChatGPT's export: one branch of each tree, what was said in it, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.archives.conftest import read, write, zipped

from lukasa.archives.chatgpt import branch
from lukasa.archives.chatgpt_message import plain, read_message

BEGUN = 1_717_400_000.5


def text(words: str) -> dict[str, object]:
    return {"content_type": "text", "parts": [words]}


def message(role: str, content: Mapping[str, object], at: float | None = None, **more: object) -> object:
    return {
        "id": "m",
        "author": {
            "role": role,
            "name": None,
            "metadata": {},
            **cast("dict[str, object]", more.pop("author", {})),
        },
        "create_time": at,
        "content": content,
        "recipient": "all",
        "metadata": {},
        **more,
    }


def tree(*messages: object, **more: object) -> dict[str, object]:
    """A conversation without branches: each node the parent of the next."""
    mapping: dict[str, dict[str, object]] = {"n0": {"id": "n0", "message": None, "parent": None}}
    for number, one in enumerate(messages, 1):
        mapping[f"n{number}"] = {"id": f"n{number}", "message": one, "parent": f"n{number - 1}"}
    for number in range(len(messages) + 1):
        mapping[f"n{number}"]["children"] = [f"n{number + 1}"] if number < len(messages) else []
    return {
        "title": "Trip to Porto",
        "create_time": BEGUN,
        "mapping": mapping,
        "current_node": f"n{len(messages)}",
        "conversation_id": "c-1",
        "id": "c-1",
        **more,
    }


PORTO = tree(
    message("system", text(""), weight=0),
    message("user", text("When is the festa?"), BEGUN + 1),
    message("assistant", text("On 24 June."), BEGUN + 9.25),
)


def test_a_conversation_has_its_messages_with_their_times(tmp_path: Path):
    found = read(write(tmp_path / "conversations.json", [PORTO]))
    assert (found.kind, found.taken, found.problems, found.left) == ("chatgpt", found.size, [], {})
    (said,) = found.conversations
    assert said.key == "c-1"
    assert said.where == "conversation 'Trip to Porto'"
    assert said.metadata == {"source": "chatgpt", "conversation_id": "c-1", "title": "Trip to Porto"}
    assert said.messages == (
        {"role": "user", "content": "When is the festa?", "timestamp": BEGUN + 1},
        {"role": "assistant", "content": "On 24 June.", "timestamp": BEGUN + 9.25},
    )


def test_every_way_an_export_comes_is_read(tmp_path: Path):
    more = {**PORTO, "conversation_id": "c-2", "title": None}
    write(tmp_path / "folder" / "conversations-000.json", [PORTO])
    write(tmp_path / "folder" / "conversations-001.json", [more])
    write(tmp_path / "folder" / "user.json", {"id": "user-1", "email": "x@example.com"})
    write(
        tmp_path / "folder" / "shared_conversations.json",
        [{"id": "s", "conversation_id": "c-1", "title": "x"}],
    )
    members: dict[str, object] = {
        "conversations.json": [PORTO, more],
        "user.json": {},
        "chat.html": b"<html></html>",
        "a.png": b"\x89PNG",
    }
    ways = [
        tmp_path / "folder",
        zipped(tmp_path / "flat.zip", members),
        zipped(tmp_path / "deep.zip", {f"export/{name}": value for name, value in members.items()}),
        write(tmp_path / "renamed.txt", [PORTO, more]),
        write(tmp_path / "wrapped.json", {"conversations": [PORTO, more]}),
    ]
    for way in ways:
        found = read(way)
        assert [said.key for said in found.conversations] == ["c-1", "c-2"], way
        assert found.conversations[1].where == "conversation 'c-2'"
        assert found.taken == found.size
        assert not found.problems


def test_regenerated_answers_are_not_what_happened():
    mapping = cast("dict[str, dict[str, object]]", json.loads(json.dumps(PORTO["mapping"])))
    mapping["other"] = {
        "id": "other",
        "message": message("assistant", text("In May."), BEGUN + 20),
        "parent": "n2",
    }
    told = branch(mapping, {"current_node": "n3"})
    assert [one["content"] for one in told][-1] == text("On 24 June.")
    for current in (None, "gone", 7):  # then the newest leaf is where it stood
        told = branch(mapping, {"current_node": current})
        assert [one["content"] for one in told][-1] == text("In May.")


def test_a_tree_that_runs_in_a_circle_ends():
    mapping: dict[str, object] = {
        "a": {"message": {"x": 1}, "parent": "b"},
        "b": {"message": {"x": 2}, "parent": "a"},
    }
    assert len(branch(mapping, {"current_node": "a"})) == 2
    assert branch(mapping, {}) == []


def test_what_is_no_speech_is_left_out_and_counted(tmp_path: Path):
    export = tree(
        message("user", text("Hidden"), metadata={"is_visually_hidden_from_conversation": True}),
        message("user", {"content_type": "text", "parts": ["Look at this"]}),
        message("assistant", {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}),
        message("assistant", {"content_type": "reasoning_recap", "content": "Thought for 5s"}),
        message("assistant", {"content_type": "code", "text": "search('x')"}, recipient="web"),
        message("tool", {"content_type": "tether_browsing_display", "result": "…"}, author={"name": "web"}),
        message("assistant", text("analysed"), channel="analysis"),
        message("critic", text("no")),
        message("assistant", {"content_type": "widget"}),
        message("assistant", text("  ")),
        None,
        "nonsense",
        message("assistant", text("Here it is.")),
    )
    found = read(write(tmp_path / "a.json", [export]))
    assert found.texts() == [("user", "Look at this"), ("assistant", "Here it is.")]
    assert found.left == {
        "thoughts": 3,
        "calls of tools": 1,
        "results of tools": 1,
        "messages of the role 'critic'": 1,
        "messages of the type 'widget'": 1,
        "empty messages": 1,
    }


def test_pictures_recordings_and_files_are_counted_and_their_words_kept(tmp_path: Path):
    seen = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_1"}
    voice = {"content_type": "audio_transcription", "text": "I live in Bergen", "direction": "in"}
    sound = {"content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": {"size": 1}}
    export = tree(
        message(
            "user",
            {"content_type": "multimodal_text", "parts": [seen, "My dog", seen]},
            metadata={"attachments": [{"mime_type": "image/png"}, {"mime_type": "application/pdf"}]},
        ),
        message("user", {"content_type": "multimodal_text", "parts": [voice, sound]}),
        message("user", {"content_type": "multimodal_text", "parts": [sound]}),
        message(
            "tool", {"content_type": "multimodal_text", "parts": [seen]}, author={"name": "dalle.text2im"}
        ),
    )
    found = read(write(tmp_path / "a.json", [export]))
    assert found.texts() == [("user", "My dog"), ("user", "I live in Bergen")]
    assert found.left == {"images": 3, "recordings": 2, "files": 1, "results of tools": 1}


def test_code_that_was_said_and_what_running_it_printed_are_kept(tmp_path: Path):
    export = tree(
        message("user", text("Add 40 and 2")),
        message("assistant", {"content_type": "code", "language": "python", "text": "40 + 2"}),
        message("tool", {"content_type": "execution_output", "text": "42"}, author={"name": "python"}),
    )
    assert read(write(tmp_path / "a.json", [export])).texts()[1:] == [("assistant", "40 + 2"), ("tool", "42")]


def test_custom_instructions_come_as_a_system_message(tmp_path: Path):
    hidden = {"is_visually_hidden_from_conversation": True, "is_user_system_message": True}
    wrapped = {
        "content_type": "user_editable_context",
        "user_profile": "The user told this about themselves:\n```I am a baker```",
        "user_instructions": "",
    }
    own = {
        "user_context_message_data": {"about_user_message": "I am a baker", "about_model_message": "Be brief"}
    }
    export = tree(
        message("user", wrapped, metadata={**hidden, **own}),
        message("user", wrapped, metadata=hidden),
        message("user", {"content_type": "user_editable_context"}, metadata=hidden),
        message("user", text("Hello")),
    )
    found = read(write(tmp_path / "a.json", [export])).texts()
    assert found == [
        ("system", "I am a baker\n\nBe brief"),
        ("system", wrapped["user_profile"]),
        ("user", "Hello"),
    ]


def test_what_chatgpt_saved_as_memories_is_kept_once(tmp_path: Path):
    saved = message(
        "assistant", text("Has a dog called Bruno.\nLives in Bergen."), BEGUN + 5, recipient="bio"
    )
    listed = "1. [2024-05-01]. Lives in Bergen.\n\n2. [2024-06-02]. Is a baker.\n"
    context = message(
        "assistant",
        {"content_type": "model_editable_context", "model_set_context": listed},
        metadata={"is_visually_hidden_from_conversation": True},
    )
    export = tree(
        context,
        message("user", text("Remember Bruno")),
        saved,
        message("tool", text("Model set context updated."), author={"name": "bio"}),
        message("assistant", text("Forget that the user likes tea."), recipient="bio"),
    )
    found = read(write(tmp_path / "a.json", [export, {**export, "conversation_id": "c-2"}]))
    assert [(one.text, one.created_at) for one in found.kept] == [
        ("Lives in Bergen.", "2024-05-01"),
        ("Is a baker.", "2024-06-02"),
        ("Has a dog called Bruno.", BEGUN + 5),
    ]
    assert {one.attributed_to for one in found.kept} == {"assistant"}
    assert len({one.key for one in found.kept}) == 3
    assert found.left == {}


def test_a_conversation_that_is_not_to_be_remembered_is_not(tmp_path: Path):
    found = read(
        write(
            tmp_path / "a.json", [{**PORTO, "is_do_not_remember": True}, tree(message("system", text("x")))]
        )
    )
    assert found.conversations == []
    assert found.left == {
        "conversations that were not to be remembered": 1,
        "conversations without a word": 1,
    }


def test_bad_entries_are_told_and_the_others_read(tmp_path: Path):
    found = read(
        write(tmp_path / "conversations.json", [PORTO, 3, {"title": "x"}, {"mapping": {"a": 1}}, PORTO])
    )
    assert [one.where for one in found.problems] == [f"conversations.json, entry {n}" for n in (2, 3, 4)]
    assert len(found.conversations) == 2


def test_an_export_that_is_cut_off_gives_what_is_there(tmp_path: Path):
    whole = json.dumps([PORTO, PORTO])
    file = tmp_path / "conversations.json"
    file.write_text(whole[: len(whole) * 3 // 4], "utf-8")
    found = read(file)
    assert len(found.conversations) == 1
    assert found.problems[0].where == "conversations.json, entry 2"
    assert "breaks off" in found.problems[0].why


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("Prices fell \ue200cite\ue202turn0search1\ue202turn0news2\ue201.", "Prices fell."),
        ('In \ue200entity\ue202["place","Antigo Egito","x"]\ue201, then', "In Antigo Egito, then"),
        ("See \ue200url\ue202the page\ue202https://example.com\ue201!", "See the page!"),
        ('\ue200image_group\ue202{"query":["x"]}\ue201\nA cat', "\nA cat"),
        ("\ue203A fast model.\ue204 \ue202turn0search3 Yes", "A fast model. Yes"),
        ("So it is【12†source】 and【4:0†a.pdf】 so", "So it is and so"),
        ("\ue200entity\ue202Invincible\ue201 wins", "Invincible wins"),
        ("half \ue200cite\ue202turn0", "half citeturn0"),
        ("a dagger† and 【a†b】", "a dagger† and 【a†b】"),
        ("plain 喝茶", "plain 喝茶"),
    ],
)
def test_marks_of_citations_go_and_their_names_stay(written: str, read_as: str):
    assert plain(written) == read_as


@given(st.text(alphabet=st.sampled_from('ab ["]{,}\ue200\ue201\ue202\ue203†【】12entiycu')))
def test_no_mark_is_left(written: str):
    assert not any("\ue200" <= character <= "\ue2ff" for character in plain(written))


json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["author", "role", "content", "content_type", "parts", "text", "metadata", "create_time"]
                + ["recipient", "attachments", "user_context_message_data", "is_user_system_message"]
            ),
            inner | st.sampled_from(["user", "assistant", "tool", "text", "code", "bio", "all"]),
            max_size=6,
        )
    ),
    max_leaves=20,
)


@given(
    st.dictionaries(
        st.sampled_from(["author", "content", "metadata", "recipient", "create_time"]), json_values
    )
)
def test_any_message_is_read_or_passed_over(given_: dict[str, object]):
    from collections import Counter

    said = read_message(given_, Counter())
    assert isinstance(said.text, str)


@given(json_values)
def test_any_mapping_has_a_branch(mapping: object):
    assert isinstance(branch({"a": mapping, "b": {"parent": mapping, "message": mapping}}, {}), list)
