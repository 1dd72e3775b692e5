"""What an archive is, is told by what is in it; where nothing tells, by what was looked for."""

from __future__ import annotations

import json
import os
import pickle
import struct
import threading
import zipfile
from pathlib import Path

import pytest
from tests.archives.conftest import DATA, read, write, zipped
from tests.archives.test_chatgpt import PORTO
from tests.archives.test_claude import BREAD

from lukasa.archives import files
from lukasa.archives.detect import archive, kind_of
from lukasa.errors import InputError

LINE = json.dumps({"role": "user", "content": "x"})


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("", "jsonl"),
        ("\n\n", "jsonl"),
        (LINE, "jsonl"),
        ("\ufeff" + LINE, "jsonl"),
        ("# a remark\n[]\nbroken\n" + LINE, "jsonl"),
        (json.dumps({"metadata": {"a": "x" * 2_000_000}, "messages": []}), "jsonl"),
        (json.dumps([PORTO]), "chatgpt"),
        (json.dumps(PORTO), "chatgpt"),
        (json.dumps([BREAD], indent=1), "claude"),
        (json.dumps({"id": "1", "memory": "x", "role": "user"}), "mem0"),
    ],
)
def test_a_file_is_what_is_in_it_whatever_its_name(tmp_path: Path, content: str, kind: str):
    for name in ("conversations.json", "history.db", "x"):
        file = tmp_path / name
        file.write_text(content, "utf-8")
        assert kind_of(file) == kind


@pytest.mark.parametrize("content", [b"words", b"\x00\x01", b"[]", b'{"a": 1}', b"\x89PNG\r\n", b"[3]"])
def test_what_cannot_be_told_says_what_was_looked_for(tmp_path: Path, content: bytes):
    file = tmp_path / "a"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"conversations\.json.*mem0.*--format"):
        kind_of(file)


def test_a_folder_or_a_zip_of_something_else_says_what_was_looked_for(tmp_path: Path):
    write(tmp_path / "folder" / "conversations.json", [{"title": "x"}])
    for path in (tmp_path / "folder", zipped(tmp_path / "a.zip", {"a.txt": b"x"}), tmp_path):
        with pytest.raises(InputError, match="looked for"):
            kind_of(path)


def test_two_archives_in_one_folder_are_not_mixed(tmp_path: Path):
    write(tmp_path / "one" / "conversations.json", [PORTO])
    write(tmp_path / "two" / "conversations.json", [BREAD])
    with pytest.raises(InputError, match="several archives \\(chatgpt, claude\\)"):
        kind_of(tmp_path)


def test_a_list_of_messages_says_how_to_write_it(tmp_path: Path):
    with pytest.raises(InputError, match="one of them a line"):
        kind_of(write(tmp_path / "a.json", [{"role": "user", "content": "x"}]))


def test_the_format_may_be_said(tmp_path: Path):
    file = write(tmp_path / "a.json", [])
    assert archive(file, "chatgpt").kind == "chatgpt"
    assert read(file, "claude").problems == []
    with pytest.raises(InputError, match="nothing of mem0's"):
        archive(file, "mem0")
    with pytest.raises(InputError, match="one file"):
        archive(tmp_path, "jsonl")
    with pytest.raises(InputError, match=r"no conversations\.json"):
        archive(zipped(tmp_path / "a.zip", {"a": b""}), "claude")
    assert kind_of(DATA / "mem0" / "2.2.1-qdrant") == "mem0"


def test_another_pickle_is_not_mem0s(tmp_path: Path):
    file = tmp_path / "a.pkl"
    file.write_bytes(pickle.dumps({"a": 1}))
    found = read(file)
    assert (found.kind, found.kept, found.problems) == ("mem0", [], [])


# --- ZIPs that mean harm


def test_a_zip_that_would_fill_the_memory_is_refused(tmp_path: Path):
    bomb = zipped(tmp_path / "a.zip", {"conversations.json": b"[" + b" " * 50_000_000 + b"]"})
    assert bomb.stat().st_size < 100_000
    with pytest.raises(InputError, match="would unpack to"):
        kind_of(bomb)
    assert "would unpack to" in read(bomb, "chatgpt").problems[0].why


def test_names_that_lead_out_of_a_zip_lead_nowhere(tmp_path: Path):
    folder = tmp_path / "deep" / "er"
    folder.mkdir(parents=True)
    names = ["../../conversations.json", "/tmp/conversations-001.json", "a/../../conversations-002.json"]
    found = read(zipped(folder / "a.zip", {name: [PORTO] for name in names}))
    assert len(found.conversations) == 3
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.zip", "deep", "er"]


def test_a_zip_that_is_cut_off_or_under_a_password_is_told(tmp_path: Path):
    whole = zipped(tmp_path / "a.zip", {"conversations.json": [PORTO] * 50}).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[:-30])
    with pytest.raises(InputError, match="download it again"):
        kind_of(tmp_path / "cut.zip")
    locked = bytearray(whole)
    entry = whole.index(b"PK\x01\x02")
    for at in (6, entry + 8):  # the flags in the local header and in the directory
        locked[at : at + 2] = struct.pack("<H", 1)
    (tmp_path / "locked.zip").write_bytes(bytes(locked))
    (problem,) = read(tmp_path / "locked.zip", "chatgpt").problems
    assert "encrypted" in problem.why


def test_a_damaged_member_gives_what_is_before_the_damage(tmp_path: Path):
    file = tmp_path / "a.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as made:
        made.writestr("conversations.json", json.dumps([PORTO] * 3000))
        made.writestr("conversations-001.json", json.dumps([{**PORTO, "conversation_id": "c-9"}]))
    content = bytearray(file.read_bytes())
    content[1_000_000] ^= 0xFF
    file.write_bytes(content)
    found = read(file)
    assert {one.key for one in found.conversations} == {"c-1", "c-9"}
    assert len(found.problems) == 1


def test_names_of_windows_and_of_no_screen_do_no_harm(tmp_path: Path):
    evil = "\x1b[2J"
    found = read(
        zipped(tmp_path / "a.zip", {"export\\conversations.json": [PORTO], f"{evil}/conversations.json": [3]})
    )
    assert len(found.conversations) == 1
    assert len(found.problems) == 1


def test_what_comes_through_a_named_pipe_is_lines(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(LINE + "\n" + LINE,))
    writer.start()
    found = read(pipe)
    writer.join()
    assert (found.kind, found.size, len(found.conversations)) == ("jsonl", None, 2)
    with pytest.raises(InputError, match="not through a pipe"):
        archive(pipe, "chatgpt")
    with pytest.raises(FileNotFoundError):
        archive(tmp_path / "none")


def test_an_entry_that_tells_nothing_does_not_hide_the_others(tmp_path: Path):
    found = read(write(tmp_path / "a.json", [{"title": "x"}, 3, PORTO]))
    assert (found.kind, len(found.conversations), len(found.problems)) == ("chatgpt", 1, 2)


def test_a_name_that_is_no_file_is_passed_over(tmp_path: Path):
    (tmp_path / "a" / "conversations.json").mkdir(parents=True)
    write(tmp_path / "conversations-000.json", [PORTO])
    assert len(read(tmp_path).conversations) == 1
    assert [one.name for one in files.members(tmp_path)] == ["conversations-000.json"]
