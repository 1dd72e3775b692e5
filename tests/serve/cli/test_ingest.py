"""Files of messages: read once, never stored twice, bad lines told apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest
from tests.serve.cli.conftest import Shell

from lukasa.archives.parts import MOST


def line(content: str, **more: object) -> str:
    return json.dumps({"role": "user", "content": content, **more}, ensure_ascii=False)


def write(file: Path, *lines: str) -> str:
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(file)


def test_messages_and_conversations_are_stored_with_ids_and_metadata(shell: Shell, tmp_path: Path):
    chat = {
        "agent_id": "guide",
        "metadata": {"topic": "pets"},
        "messages": [
            {"role": "user", "content": "Bruno is a beagle"},
            {"role": "assistant", "content": "Noted"},
        ],
    }
    file = write(
        tmp_path / "a.jsonl",
        line("我喜欢喝龙井", timestamp="2026-03-02T09:30:00Z", user_id="liwei"),
        "",
        json.dumps(chat),
        line("no id here"),
    )
    done = shell.json("ingest", "--verbatim", file)
    assert done["lines"] == 3
    assert done["memories"] == 4
    assert shell.memories("-u", "liwei") == ["我喜欢喝龙井"]
    assert shell.memories("--agent-id", "guide", "--filter", '{"topic": "pets"}') == [
        "Noted",
        "Bruno is a beagle",
    ]
    assert shell.memories() == ["no id here"]


def test_the_ids_of_the_command_stand_in_for_missing_ones(shell: Shell, tmp_path: Path):
    file = write(tmp_path / "a.jsonl", line("hers", user_id="ines"), line("his"))
    shell.run("ingest", "--verbatim", file, "-u", "bo", "--app-id", "web")
    assert shell.memories("-u", "ines", "--app-id", "web") == ["hers"]
    assert shell.memories("-u", "bo", "--app-id", "web") == ["his"]


def test_a_second_run_stores_nothing_and_the_same_text_twice_is_two(shell: Shell, tmp_path: Path):
    file = write(tmp_path / "a.jsonl", line("tea at four"), line("tea at four"))
    assert shell.json("ingest", "--verbatim", file)["memories"] == 2
    again = shell.json("ingest", "--verbatim", file)
    assert (again["memories"], again["known"]) == (0, 2)


def test_lines_may_be_appended_and_mended_between_runs(shell: Shell, tmp_path: Path):
    good = [line(f"note {number}") for number in range(5)]
    file = write(tmp_path / "a.jsonl", *good[:2], "{broken", good[3])
    first = shell.run("ingest", "--verbatim", file, code=1)
    assert "line 3: not JSON" in first.stderr
    assert "3 memories stored, 1 bad" in first.stdout
    write(tmp_path / "a.jsonl", *good)
    again = shell.json("ingest", "--verbatim", file)
    assert (again["memories"], again["known"], again["bad"]) == (2, 3, 0)
    assert sorted(shell.memories()) == [f"note {number}" for number in range(5)]


@pytest.mark.parametrize(
    "bad",
    [
        "[]",
        "\x00",
        '{"content": "x", "role": "wizard"}',
        '{"role": "user"}',
        '{"messages": []}',
        '{"messages": "x"}',
        '{"messages": [{"role": "user", "content": "x"}], "colour": "red"}',
        '{"role": "user", "content": "x", "user_id": "a b"}',
        '{"role": "user", "content": "x", "user_id": ["a"]}',
        '{"role": "user", "content": "x", "timestamp": "soon"}',
        '{"role": "user", "content": "x", "metadata": 3}',
        '{"role": "user", "content": "x", "expiration_date": 3}',
        '{"role": "user", "content": [{"type": "image_url", "image_url": "http://x"}]}',
    ],
)
def test_a_bad_line_is_told_and_the_others_are_stored(shell: Shell, tmp_path: Path, bad: str):
    file = write(tmp_path / "a.jsonl", line("before"), bad, line("after"))
    done = shell.run("ingest", "--verbatim", file, code=1)
    assert done.stderr.startswith("error: line 2: ")
    assert sorted(shell.memories()) == ["after", "before"]
    told = shell.json("ingest", "--verbatim", file, "--skip-bad")
    assert told["bad"] == 1
    assert cast("list[str]", told["problems"])[0].startswith("line 2: ")


def test_dry_run_counts_and_makes_no_file(shell: Shell, tmp_path: Path):
    file = write(tmp_path / "a.jsonl", line("one"), "bad", line("two"))
    done = shell.json("ingest", "--verbatim", file, "--dry-run", code=1)
    assert (done["memories"], done["bad"], done["dry_run"]) == (2, 1, True)
    assert not shell.ledger.exists()


def test_stdin_is_a_file_too(shell: Shell):
    shell.run(
        "ingest",
        "--verbatim",
        "-",
        stdin="\ufeff" + line("with a byte order mark") + "\r\n" + line("no newline"),
    )
    assert shell.memories() == ["no newline", "with a byte order mark"]


def test_masked_secrets_are_noted_with_their_line(shell: Shell, tmp_path: Path):
    file = write(tmp_path / "a.jsonl", line("x"), line("my api key = 'abcd1234efgh'"))
    assert "note: line 2: masked" in shell.run("ingest", "--verbatim", file).stderr


def test_a_long_conversation_is_stored_in_parts_that_know_each_other(shell: Shell, tmp_path: Path):
    messages = [{"role": "user", "content": f"note {number}"} for number in range(MOST * 2 + 1)]
    file = write(tmp_path / "a.jsonl", json.dumps({"messages": messages}))
    assert shell.json("ingest", "--verbatim", file)["memories"] == MOST * 2 + 1
    again = shell.json("ingest", "--verbatim", file)
    assert (again["memories"], again["known"]) == (0, 3)
