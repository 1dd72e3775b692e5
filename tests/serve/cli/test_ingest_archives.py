"""Archives of others through `lukasa ingest`: what is stored, what a second run adds, what is told."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import cast

import pytest
from tests.archives.conftest import DATA, read, write, zipped
from tests.archives.test_chatgpt import BEGUN, PORTO, message, text, tree
from tests.archives.test_claude import BREAD, MEMORY, PROJECT
from tests.serve.cli.conftest import Shell
from tests.serve.cli.test_process import begun, started, stored

from lukasa import Memory
from lukasa.archives.parts import MOST
from lukasa.serve.cli.keep import memo, missing_from

STORE = DATA / "mem0" / "2.2.1-qdrant"
TEA = ["Drinks tea in the morning", "Drinks coffee in the morning", "Drinks coffee, never after noon"]


def chat(count: int, key: str = "c-1", title: str = "Numbers") -> dict[str, object]:
    said = [message("user", text(f"note {key} {number}"), BEGUN + number) for number in range(count)]
    return tree(*said, conversation_id=key, title=title)


def export(file: Path, *chats: object) -> str:
    return str(write(file, list(chats)))


def item(shell: Shell, words: str, *more: str) -> dict[str, object]:
    found = cast("list[dict[str, object]]", shell.json("list", "--limit", "1000", *more)["results"])
    return next(one for one in found if one["memory"] == words)


def test_an_export_of_chatgpt_is_stored_with_titles_and_times(shell: Shell, tmp_path: Path):
    file = zipped(tmp_path / "export.zip", {"conversations.json": [PORTO], "user.json": {"id": "u"}})
    done = shell.json("ingest", "--verbatim", str(file), "-u", "ines")
    assert (done["format"], done["conversations"], done["memories"], done["bad"]) == ("chatgpt", 1, 2, 0)
    one = item(shell, "On 24 June.", "-u", "ines")
    assert one["metadata"] == {"source": "chatgpt", "conversation_id": "c-1", "title": "Trip to Porto"}
    assert one["created_at"] == "2024-06-03T07:33:29.750000+00:00"
    assert one["role"] == "assistant"
    assert shell.json("ingest", "--verbatim", str(file), "-u", "ines")["known"] == 1


def test_an_export_of_claude_is_stored_with_what_claude_noted(shell: Shell, tmp_path: Path):
    members = {"conversations.json": [BREAD], "memories.json": [MEMORY], "projects.json": [PROJECT]}
    file = str(zipped(tmp_path / "export.zip", members))
    done = shell.json("ingest", "--verbatim", file)
    assert (done["format"], done["conversations"], done["kept"], done["memories"]) == ("claude", 1, 5, 7)
    assert done["left_out"] == {"documents of projects": 2, "instructions of projects": 1}
    noted = item(shell, "The festa in June")
    assert noted["role"] == "assistant"
    metadata = cast("dict[str, object]", noted["metadata"])
    assert {**metadata, "source_id": ""} == {
        "source": "claude",
        "source_id": "",
        "section": "Top of mind",
        "attributed_to": "assistant",
    }
    again = shell.json("ingest", "--verbatim", file)
    assert (again["memories"], again["known"]) == (0, 6)


def test_a_store_of_mem0_is_stored_with_its_history(shell: Shell):
    done = shell.json("ingest", "--verbatim", str(STORE))
    assert (done["format"], done["kept"], done["memories"], done["bad"]) == ("mem0", 4, 4, 0)
    assert done["left_out"] == {"deleted memories": 1}
    tea = item(shell, TEA[2], "-u", "ines")
    assert tea["version"] == 3
    metadata = cast("dict[str, object]", tea["metadata"])
    assert {**metadata, "source_id": ""} == {
        "topic": "drinks",
        "cups": 2,
        "daily": True,
        "source": "mem0",
        "source_id": "",
    }
    history = cast(
        "list[dict[str, object]]", json.loads(shell.run("history", str(tea["id"]), "--json").stdout)
    )
    assert [one["new_memory"] for one in history] == TEA
    assert [one["event"] for one in history] == ["ADD", "UPDATE", "UPDATE"]
    assert shell.memories("-u", "liwei") == ["我喜欢喝龙井茶"]
    train = item(shell, "Suggested the night train to Porto", "--agent-id", "guide")
    assert (train["run_id"], train["actor_id"], train["role"], train["expiration_date"]) == (
        "r1",
        "guide",
        "assistant",
        "2031-12-31",
    )
    cello = item(shell, "Plays the cello", "-u", "ines")
    assert cast("dict[str, object]", cello["metadata"])["attributed_to"] == "user"


def test_what_a_memory_of_mem0_said_at_a_time_is_found_as_of_then(shell: Shell, tmp_path: Path):
    dump = write(
        tmp_path / "a.json", [{"id": "m", "memory": TEA[0], "user_id": "ines", "created_at": "2024-01-01"}]
    )
    shell.run("ingest", "--verbatim", str(dump))
    write(
        tmp_path / "a.json",
        [
            {
                "id": "m",
                "memory": TEA[2],
                "user_id": "ines",
                "created_at": "2024-01-01",
                "updated_at": "2024-06-01",
            }
        ],
    )
    done = shell.json("ingest", "--verbatim", str(dump))
    assert (done["memories"], done["known"], done["revised"]) == (0, 1, 1)
    assert shell.memories("-u", "ines") == [TEA[2]]
    assert shell.memories("-u", "ines", "--as-of", "2024-03-01") == [TEA[0]]
    assert shell.json("ingest", "--verbatim", str(dump))["revised"] == 0


def test_a_second_run_over_a_store_stores_nothing_and_the_dump_of_it_neither(shell: Shell):
    shell.run("ingest", "--verbatim", str(STORE))
    again = shell.json("ingest", "--verbatim", str(STORE))
    assert (again["memories"], again["known"], again["revised"]) == (0, 4, 0)
    dump = shell.json("ingest", "--verbatim", str(DATA / "mem0" / "2.2.1-qdrant.get_all.json"))
    assert (dump["memories"], dump["known"], dump["revised"]) == (0, 3, 0)
    assert shell.json("stats")["memories"] == 4


def test_a_memory_that_was_edited_or_deleted_here_stays_so(shell: Shell, tmp_path: Path):
    shell.run("ingest", "--verbatim", str(STORE))
    tea, cello = item(shell, TEA[2], "-u", "ines"), item(shell, "Plays the cello", "-u", "ines")
    shell.run("update", str(tea["id"]), "Drinks water")
    shell.run("delete", str(cello["id"]))
    dump = [
        {
            "id": cast("dict[str, object]", one["metadata"])["source_id"],
            "memory": "Changed there",
            "user_id": "ines",
        }
        for one in (tea, cello)
    ]
    for archive in (str(STORE), str(write(tmp_path / "a.json", dump))):
        assert shell.json("ingest", "--verbatim", archive)["memories"] == 0
        assert "Drinks water" in shell.memories("-u", "ines")
        assert not {"Plays the cello", "Changed there"} & set(shell.memories("-u", "ines"))


def test_a_stop_between_a_memory_and_its_later_versions_is_made_good(shell: Shell):
    (kept,) = (one for one in read(STORE).kept if one.text == TEA[2])
    part = memo("mem0", kept, default={}, nobody={}).part
    with Memory(shell.ledger, embedder="hash") as memory:
        memory.add(
            list(part.messages),
            metadata=part.metadata,
            timestamp=part.timestamp,
            idempotency_key=part.key,
            **part.ids,
            infer=False,
        )
    done = shell.json("ingest", "--verbatim", str(STORE))
    assert (done["memories"], done["known"], done["revised"]) == (3, 1, 1)
    tea = item(shell, TEA[2], "-u", "ines")
    history = cast(
        "list[dict[str, object]]", json.loads(shell.run("history", str(tea["id"]), "--json").stdout)
    )
    assert [one["new_memory"] for one in history] == TEA


@pytest.mark.parametrize(
    ("here", "wanted", "first"),
    [
        ([], ["a", "b"], 0),
        (["a"], ["a", "b"], 1),
        (["a", "b"], ["a", "b"], 2),
        (["a", "b", "mine"], ["a", "b"], 2),
        (["a", "mine"], ["a", "b"], 2),
        (["a"], ["b"], 0),
        (["a", "b"], ["b"], 1),
        (["a", "b"], ["c"], 1),
    ],
)
def test_versions_are_added_only_to_what_was_not_edited_here(here: list[str], wanted: list[str], first: int):
    assert missing_from(here, wanted) == first


# --- growing


def test_a_conversation_that_has_grown_adds_its_new_messages_only(shell: Shell, tmp_path: Path):
    file = tmp_path / "conversations.json"
    for count in (3, 4, MOST, MOST + 1, MOST + 7, MOST * 2 + 1):
        before = int(cast("int", shell.json("stats")["memories"])) if shell.ledger.exists() else 0
        done = shell.json("ingest", "--verbatim", export(file, chat(count)))
        assert done["memories"] == count - before
        assert shell.json("ingest", "--verbatim", str(file))["memories"] == 0
    told = shell.memories()
    assert sorted(told) == sorted(f"note c-1 {number}" for number in range(MOST * 2 + 1))


def test_a_conversation_under_a_new_title_or_in_a_new_place_is_no_news(shell: Shell, tmp_path: Path):
    shell.run("ingest", "--verbatim", export(tmp_path / "conversations.json", chat(5), chat(3, "c-2")))
    later = export(tmp_path / "a.json", chat(2, "c-3"), chat(3, "c-2"), chat(6, title="Renamed"))
    done = shell.json("ingest", "--verbatim", later)
    assert (done["memories"], done["known"]) == (3, 1)


def test_the_same_words_in_two_conversations_or_of_two_people_are_two(shell: Shell, tmp_path: Path):
    same = {**chat(2), "conversation_id": "c-2", "id": "c-2"}
    file = export(tmp_path / "conversations.json", chat(2), same)
    assert shell.json("ingest", "--verbatim", file, "-u", "ines")["memories"] == 4
    assert shell.json("ingest", "--verbatim", file, "-u", "bo")["memories"] == 4


def test_a_killed_ingest_of_an_archive_goes_on_where_it_was(shell: Shell, tmp_path: Path):
    file = export(tmp_path / "conversations.json", *(chat(90, f"c-{number}") for number in range(30)))
    process = started(shell, "ingest", "--verbatim", file)
    begun(shell, process)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    before = stored(shell)
    assert 100 <= before < 2700
    assert shell.json("ingest", "--verbatim", file)["memories"] == 2700 - before
    told = shell.memories("--limit", "5000")
    assert len(set(told)) == len(told) == 2700


# --- with extraction


def test_of_a_longer_export_only_what_is_new_is_extracted(shell: Shell, tmp_path: Path):
    first = message("user", text("I am allergic to peanuts."), BEGUN)
    second = message("user", text("My sister Ana lives in Porto."), BEGUN + 9)
    assert shell.json("ingest", export(tmp_path / "a.json", tree(first)))["memories"] == 1
    done = shell.json("ingest", export(tmp_path / "b.json", tree(first, second)))
    assert (done["memories"], done["known"]) == (1, 0)
    assert len(shell.memories()) == 2
    again = shell.json("ingest", str(tmp_path / "b.json"))
    assert (again["memories"], again["known"]) == (0, 1)


def test_the_newest_statement_holds_though_exports_begin_with_it(shell: Shell, tmp_path: Path):
    now = tree(message("user", text("I live in Oslo."), BEGUN + 9e7), conversation_id="c-2")
    then = tree(message("user", text("I live in Bergen."), BEGUN), conversation_id="c-1")
    shell.run("ingest", export(tmp_path / "a.json", now, then))
    (memory,) = shell.memories()
    assert "Oslo" in memory


def test_what_another_system_kept_is_stored_as_it_is(shell: Shell):
    shell.run("ingest", str(STORE))
    assert TEA[2] in shell.memories("-u", "ines")


# --- telling


def test_dry_run_prints_what_would_be_kept_and_stores_nothing(shell: Shell, tmp_path: Path):
    said = tree(message("user", text("My password is hunter2x, my dog is Bruno")))
    done = shell.run("ingest", "--verbatim", export(tmp_path / "a.json", PORTO, said), "--dry-run")
    assert done.stdout.splitlines() == [
        "conversation 'Trip to Porto'\tWhen is the festa?",
        "conversation 'Trip to Porto'\tOn 24 June.",
        "conversation 'Trip to Porto'\tMy password is [redacted: password], my dog is Bruno",
        "2 conversations: 3 memories would be stored",
    ]
    assert "masked 1 password" in done.stderr
    kept = shell.run("ingest", "--verbatim", str(STORE), "--dry-run").stdout
    assert TEA[2] in kept
    assert TEA[0] not in kept
    assert kept.splitlines()[-1] == "4 memories of mem0's: 4 memories would be stored"
    assert not shell.ledger.exists()


def test_bad_entries_and_what_is_left_out_are_told(shell: Shell, tmp_path: Path):
    picture = message(
        "user", {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}]}
    )
    bad_time = tree(message("user", text("x"), 1e300), title="Bad time", conversation_id="c-9")
    file = export(tmp_path / "conversations.json", PORTO, 3, bad_time, tree(picture, conversation_id="c-2"))
    done = shell.run("ingest", "--verbatim", file, code=1)
    assert done.stderr.splitlines() == [
        "error: conversations.json, entry 2: int, where an object was expected",
        "error: conversation 'Bad time': messages[0].timestamp must be a datetime, a date, an ISO 8601 text"
        " such as '2026-01-31T09:30:00+01:00', or Unix seconds or milliseconds, not 1e+300",
        "left out: 1 images, 1 conversations without a word",
    ]
    assert done.stdout == "3 conversations: 2 memories stored, 2 bad\n"
    assert shell.json("ingest", "--verbatim", file, "--skip-bad")["bad"] == 2


def test_names_in_an_archive_do_not_steer_the_terminal(shell: Shell, tmp_path: Path):
    file = zipped(tmp_path / "a.zip", {"\x1b[2J/conversations.json": [3, PORTO]})
    done = shell.run("ingest", str(file), code=1)
    assert "\x1b" not in done.stderr + done.stdout
    assert "[2J/conversations.json, entry 1" in done.stderr


def test_a_memory_of_any_role_is_kept(shell: Shell, tmp_path: Path):
    dump = [
        {"id": role, "memory": f"of {role}", "role": role, "user_id": "ines"}
        for role in ("system", "x", "tool")
    ]
    assert shell.json("ingest", str(write(tmp_path / "a.json", dump)))["memories"] == 3


def test_the_format_may_be_said(shell: Shell, tmp_path: Path):
    file = export(tmp_path / "a.json", PORTO)
    assert shell.json("ingest", "--verbatim", file, "--format", "chatgpt")["memories"] == 2
    assert "no 'uuid'" not in shell.run("ingest", "--verbatim", file, "--format", "jsonl", code=1).stderr
    shell.run("ingest", "--verbatim", file, "--format", "gemini", code=2)
    shell.run("ingest", "--verbatim", "-", "--format", "mem0", code=2)


@pytest.mark.parametrize("what", ["a.txt", "folder"])
def test_what_is_no_archive_says_what_was_looked_for(shell: Shell, tmp_path: Path, what: str):
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.txt").write_text("words")
    done = shell.run("ingest", "--verbatim", str(tmp_path / what), code=1)
    assert "cannot tell what this is; looked for: JSON lines; ChatGPT's" in done.stderr


def test_a_file_that_is_not_there_is_a_usage_error(shell: Shell, tmp_path: Path):
    assert "No such file" in shell.run("ingest", "--verbatim", str(tmp_path / "none"), code=2).stderr


def test_secrets_in_an_archive_are_masked_and_noted(shell: Shell, tmp_path: Path):
    said = tree(message("user", text("The key is sk-proj-abcdefghijklmnopqrstuvwx1234.")))
    done = shell.run("ingest", "--verbatim", export(tmp_path / "a.json", said))
    assert "note: conversation 'Trip to Porto': masked 1 api key" in done.stderr
    assert shell.memories() == ["The key is [redacted: api key]."]
