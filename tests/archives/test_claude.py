"""Claude's export: what was said, and what Claude noted of a person."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.archives.conftest import read, write, zipped

from lukasa.archives.claude import paragraphs, talk

HOLE = "\n```\nThis block is not supported on your current device yet.\n```\n"
ROOT = "00000000-0000-4000-8000-000000000000"


def message(
    sender: str, *parts: str | Mapping[str, object], uuid: str = "", **more: object
) -> dict[str, object]:
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return {
        "uuid": uuid or f"{sender}-{len(parts)}",
        "sender": sender,
        "text": "the same again",
        "content": content,
        "created_at": "2025-06-01T10:00:00.123456Z",
        "attachments": [],
        "files": [],
        **more,
    }


def talked(*messages: object, **more: object) -> dict[str, object]:
    return {
        "uuid": "c-1",
        "name": "Sourdough",
        "created_at": "2025-06-01T09:59:00.000000Z",
        "account": {"uuid": "acct"},
        "chat_messages": list(messages),
        **more,
    }


BREAD = talked(message("human", "My oven is a Neff."), message("assistant", "Then 240 degrees."))


def test_a_conversation_has_its_messages_with_their_times(tmp_path: Path):
    found = read(write(tmp_path / "conversations.json", [BREAD]))
    assert (found.kind, found.taken, found.problems, found.left) == ("claude", found.size, [], {})
    (said,) = found.conversations
    assert (said.key, said.where, said.timestamp) == ("c-1", "conversation 'Sourdough'", BREAD["created_at"])
    assert said.metadata == {"source": "claude", "conversation_id": "c-1", "title": "Sourdough"}
    at = "2025-06-01T10:00:00.123456Z"
    assert said.messages == (
        {"role": "user", "content": "My oven is a Neff.", "timestamp": at},
        {"role": "assistant", "content": "Then 240 degrees.", "timestamp": at},
    )


def test_thoughts_and_tools_are_no_speech_and_documents_are_counted(tmp_path: Path):
    found = read(
        write(
            tmp_path / "a.json",
            [
                talked(
                    message(
                        "human",
                        "Read this",
                        attachments=[{"extracted_content": "long"}],
                        files=[{"file_name": "a"}, {"file_name": "b"}],
                    ),
                    message(
                        "assistant",
                        {"type": "thinking", "thinking": "hm"},
                        "First.",
                        {"type": "tool_use", "name": "search"},
                        {"type": "tool_result", "content": []},
                        "Second." + HOLE + "Third.",
                        {"type": "novelty"},
                    ),
                    message("assistant", {"type": "tool_use"}),
                    message("human", text="Pasted, an old export", content=[]),
                    message("human", text=HOLE, content=None),
                    message("robot", "beep"),
                    "nonsense",
                )
            ],
        )
    )
    assert found.texts() == [
        ("user", "Read this"),
        ("assistant", "First.\n\nSecond.\n\nThird."),
        ("user", "Pasted, an old export"),
    ]
    assert found.left == {
        "attachments": 1,
        "files": 2,
        "thoughts": 1,
        "calls of tools": 2,
        "results of tools": 1,
        "parts of the type 'novelty'": 1,
        "messages of the sender 'robot'": 1,
        "messages of the sender None": 1,
        "empty messages": 1,
    }


def test_a_branch_that_was_edited_away_is_not_what_happened():
    messages = [
        message("human", "a", uuid="1", parent_message_uuid=ROOT),
        message("assistant", "b", uuid="2", parent_message_uuid="1", created_at="2025-06-01T10:01:00Z"),
        message("assistant", "c", uuid="3", parent_message_uuid="1", created_at="2025-06-01T10:02:00Z"),
    ]
    assert [one["uuid"] for one in talk(messages, None)] == ["1", "3"]
    assert [one["uuid"] for one in talk(messages, "2")] == ["1", "2"]
    plain = [{key: value for key, value in one.items() if key != "parent_message_uuid"} for one in messages]
    assert [one["uuid"] for one in talk(plain, None)] == ["1", "2", "3"]
    circle = [message("human", "a", uuid=one, parent_message_uuid=two) for one, two in ("12", "21")]
    assert talk(circle, "1") != []
    assert talk(circle, None) == []


MEMORY = {
    "conversations_memory": "**Work context**\n\nInes bakes in Bergen.\nShe opens at six.\n\n"
    "# Top of mind\n\n- A new oven\n- The festa in June\n",
    "project_memories": {"p-1": "Porto in June."},
    "memory_files": [
        {"path": "/profile.md", "content": "- Metric units", "updated_at": "2026-01-02T03:04:05Z"}
    ],
    "account_uuid": "acct",
}
PROJECT = {
    "uuid": "p-1",
    "name": "Trip",
    "description": "",
    "prompt_template": "Be brief.",
    "docs": [{"filename": "a.md", "content": "…"}, {"filename": "b.md", "content": "…"}],
}


def test_every_way_an_export_comes_is_read(tmp_path: Path):
    old = {
        "conversations.json": [BREAD],
        "memories.json": [MEMORY],
        "projects.json": [PROJECT],
        "users.json": ["x"],
    }
    folder = tmp_path / "folder"
    for name, value in old.items():
        write(folder / name, value)
    new = tmp_path / "zips"
    new.mkdir()
    zipped(new / "conversations-000.zip", {"conversations.json": [BREAD]})
    zipped(new / "memories-000.zip", {"memories/acct.json": MEMORY})
    zipped(new / "projects-000.zip", {"projects/p-1.json": PROJECT})
    write(new / "manifest.json", {"files": []})
    for way in (zipped(tmp_path / "old.zip", old), folder, new):
        found = read(way)
        assert not found.problems, way
        assert [said.key for said in found.conversations] == ["c-1"]
        assert [(one.text, one.metadata, one.created_at) for one in found.kept] == [
            ("Ines bakes in Bergen. She opens at six.", {"section": "Work context"}, None),
            ("A new oven", {"section": "Top of mind"}, None),
            ("The festa in June", {"section": "Top of mind"}, None),
            ("Porto in June.", {"project": "Trip"}, None),
            ("Metric units", {"file": "/profile.md"}, "2026-01-02T03:04:05Z"),
        ]
        assert {one.attributed_to for one in found.kept} == {"assistant"}
        assert found.left == {"documents of projects": 2, "instructions of projects": 1}


def test_one_file_or_one_zip_of_an_export_will_do(tmp_path: Path):
    assert len(read(write(tmp_path / "mine.txt", MEMORY)).kept) == 5
    assert len(read(write(tmp_path / "memories.json", [MEMORY])).kept) == 5
    assert len(read(zipped(tmp_path / "memories-000.zip", {"memories/acct.json": MEMORY})).kept) == 5
    assert read(write(tmp_path / "alone.json", BREAD)).texts() != []


def test_a_note_that_stays_keeps_its_key_and_one_that_changes_does_not(tmp_path: Path):
    later = {
        **MEMORY,
        "conversations_memory": "**Work context**\n\nInes bakes in Bergen.\nShe opens at six.\n\nNew.",
    }
    before = {one.key for one in read(write(tmp_path / "a.json", [MEMORY])).kept}
    after = {one.text: one.key for one in read(write(tmp_path / "b.json", [later])).kept}
    assert after["Ines bakes in Bergen. She opens at six."] in before
    assert after["New."] not in before


def test_bad_entries_are_told_and_the_others_read(tmp_path: Path):
    found = read(
        write(tmp_path / "conversations.json", [BREAD, 3, {"chat_messages": ["x"]}, talked(), BREAD])
    )
    assert [one.where for one in found.problems] == [f"conversations.json, entry {n}" for n in (2, 3)]
    assert found.left == {"conversations without a word": 1}
    assert len(found.conversations) == 2


@given(st.text(alphabet=st.sampled_from("ab -*#1.\n")))
def test_paragraphs_lose_no_word(text: str):
    letters = [one for one in text if one.isalpha()]
    told = [(section, note) for section, note in paragraphs(text)]
    assert all(note.strip() for _, note in told)
    kept = "".join(section + note for section, note in told)
    assert set(kept) & set("ab") <= set(letters)


@given(
    st.recursive(
        st.none() | st.text(max_size=5),
        lambda one: (
            st.lists(one)
            | st.dictionaries(
                st.sampled_from(["uuid", "sender", "text", "content", "type", "parent_message_uuid"]), one
            )
        ),
        max_leaves=20,
    )
)
def test_any_messages_are_a_talk(messages: object):
    from lukasa.archives.values import list_of

    assert isinstance(talk(list_of(messages), None), list)


def test_json_that_is_nested_without_end_is_no_harm(tmp_path: Path):
    deep = json.dumps([BREAD])[:-1] + ', {"chat_messages": ' + "[" * 50_000 + "]" * 50_000 + "}]"
    file = tmp_path / "conversations.json"
    file.write_text(deep, "utf-8")
    found = read(file)
    assert len(found.conversations) == 1
    assert len(found.problems) == 1
