"""The verbs as commands: what they print, where, and how they end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest
from rich.cells import cell_len
from tests.serve.cli.conftest import Shell

from lukasa.serve.cli.output import SIGNALS

KEY = "The spare key is with Mrs. Okafor"


def test_a_person_alone_needs_no_id(shell: Shell):
    shell.run("add", "--verbatim", KEY)
    assert shell.memories() == shell.memories("-u", "me") == [KEY]
    assert KEY in shell.run("search", "spare key").stdout


def test_the_environment_names_the_user(shell: Shell):
    shell.run("add", "--verbatim", KEY, LUKASA_USER_ID="ines")
    assert shell.memories("-u", "ines") == [KEY]
    assert shell.memories() == []


def test_an_id_in_the_filter_is_enough(shell: Shell):
    shell.run("add", "--verbatim", KEY, "-u", "ines")
    found = shell.run("search", "spare key", "--filter", '{"user_id": "ines"}')
    assert KEY in found.stdout


@pytest.mark.parametrize("words", [(), ("-",)])
def test_add_reads_stdin(shell: Shell, words: tuple[str, ...]):
    shell.run("add", "--verbatim", *words, stdin="我喜欢喝龙井 🍵\n".encode())
    assert shell.memories() == ["我喜欢喝龙井 🍵"]


def test_add_takes_messages_from_a_file_or_stdin(shell: Shell, tmp_path: Path):
    chat = [{"role": "user", "content": "Bruno is a beagle"}, {"role": "assistant", "content": "Noted."}]
    (tmp_path / "chat.json").write_text(json.dumps(chat), encoding="utf-8")
    shell.run("add", "--verbatim", "--messages", str(tmp_path / "chat.json"), "-u", "a")
    shell.run("add", "--verbatim", "--messages", "-", "-u", "b", stdin=json.dumps(chat))
    assert shell.memories("-u", "a") == shell.memories("-u", "b") == ["Noted.", "Bruno is a beagle"]


def test_add_carries_metadata_role_time_expiry_and_key(shell: Shell):
    words = (
        "add",
        "--verbatim",
        KEY,
        "--role",
        "assistant",
        "--timestamp",
        "2026-01-31T09:30:00Z",
        "--expires",
        "2999-12-31",
    )
    meta = ("--metadata", "topic=home", "--metadata", '{"n": 5}', "--idempotency-key", "k1")
    first = shell.json(*words, *meta)
    assert shell.json(*words, *meta) == first
    found = cast("list[dict[str, object]]", shell.json("list")["results"])
    assert len(found) == 1
    assert found[0]["metadata"] == {"topic": "home", "n": 5}
    assert found[0]["role"] == "assistant"
    assert found[0]["expiration_date"] == "2999-12-31"
    source = cast("list[dict[str, object]]", shell.json("why", str(found[0]["id"]))["sources"])[0]
    assert source["said_at"] == "2026-01-31T09:30:00.000000+00:00"


def test_masked_secrets_are_told_on_stderr(shell: Shell):
    result = shell.run("add", "--verbatim", "my api key = 'abcd1234efgh'")
    assert "masked" in result.stderr
    assert "abcd1234efgh" not in result.output


def test_search_explains_every_signal_in_a_column(shell: Shell):
    one = shell.added(KEY)
    plain = shell.run("search", "spare key", "--explain").stdout.strip().split("\t")
    assert plain[0] == one
    assert [len(number) for number in plain[1:7]] == [5, 5, 5, 5, 5, 5]
    assert plain[8] == KEY
    shown = shell.screen("search", "spare key", "--explain")
    assert shown.split("\n")[0].split() == [*SIGNALS, "memory"]
    assert one in shown


def test_tables_keep_their_width_with_chinese_and_emoji(shell: Shell):
    for text in ("我喜欢喝龙井，不喝咖啡，下午三点以后也不喝茶，不然睡不着。" * 3, "tea 🍵 at four", "plain"):
        shell.run("add", "--verbatim", text)
    shown = shell.screen("list")
    assert {cell_len(line) for line in shown.split("\n") if line} == {80}
    assert "我喜欢喝龙井，不喝咖啡" in shown


def test_plain_output_has_a_line_a_memory_and_no_colour(shell: Shell):
    shell.run("add", "--verbatim", "two\nlines\tand a tab")
    result = shell.run("list")
    assert result.stdout.count("\n") == 1
    assert len(result.stdout.split("\t")) == 3
    assert "\x1b" not in result.stdout


def test_markup_in_a_memory_is_shown_as_it_is(shell: Shell):
    shell.run("add", "--verbatim", "[bold]not markup[/bold] [/oops]")
    assert "[bold]not markup[/bold] [/oops]" in shell.screen("list")


def test_list_begins_with_what_was_stored_last(shell: Shell):
    shell.run("add", "--verbatim", "said late", "--timestamp", "2026-06-01")
    shell.run("add", "--verbatim", "said early", "--timestamp", "2020-01-01")
    assert shell.memories() == ["said early", "said late"]


def test_list_pages_with_a_cursor(shell: Shell):
    for number in range(3):
        shell.run("add", "--verbatim", f"note {number}")
    first = shell.run("list", "--limit", "2")
    cursor = first.stderr.split()[-1]
    rest = shell.run("list", "--limit", "2", "--cursor", cursor)
    assert "note 0" in rest.stdout
    assert rest.stdout.count("\n") == 1


def test_list_shows_everybodys_when_asked(shell: Shell):
    shell.added(KEY, "-u", "ines")
    shell.added("Bruno", "--agent-id", "guide")
    assert sorted(shell.memories("--all-scopes")) == ["Bruno", KEY]


def test_by_id_commands_find_it_whoever_owns_it_and_a_given_id_is_a_fence(shell: Shell):
    one = shell.added(KEY, "-u", "ines")
    for verb in ("get", "history", "why"):
        assert KEY in shell.run(verb, one).stdout
        assert shell.run(verb, one, "-u", "bo", code=3).stdout == ""


def test_update_keeps_the_old_text_in_the_history(shell: Shell):
    one = shell.added(KEY)
    shell.run(
        "update",
        one,
        "The spare key is with Mr. Sato",
        "--metadata",
        "checked=yes",
        "--expires",
        "2999-01-01",
    )
    shell.run("update", one, "--expires", "never")
    found = shell.json("get", one)
    assert found["memory"] == "The spare key is with Mr. Sato"
    assert found["metadata"] == {"checked": "yes"}
    assert "expiration_date" not in found
    assert KEY in shell.run("history", one).stdout
    assert KEY in shell.run("why", one).stdout


def test_delete_by_id_then_erase(shell: Shell):
    one = shell.added(KEY)
    shell.run("delete", one)
    assert shell.memories() == []
    assert "DELETE" in shell.run("history", one).stdout
    shell.run("delete", one, "--erase")
    shell.run("history", one, code=3)


def test_delete_all_asks_first(shell: Shell):
    shell.added(KEY, "-u", "ines")
    refused = shell.run("delete", "--all", "-u", "ines", code=1, stdin="n\n")
    assert "Delete 1 memories of user_id ines?" in refused.stderr
    assert shell.memories("-u", "ines") == [KEY]
    shell.run("delete", "--all", "-u", "ines", stdin="y\n")
    assert shell.memories("-u", "ines") == []


def test_delete_all_without_an_answer_deletes_nothing(shell: Shell):
    shell.added(KEY, "-u", "ines")
    shell.run("delete", "--all", "-u", "ines", code=1)
    assert shell.memories("-u", "ines") == [KEY]


def test_delete_all_of_everybody_must_be_said(shell: Shell):
    shell.added(KEY, "-u", "ines")
    assert "whose?" in shell.run("delete", "--all", "--yes", code=2, LUKASA_USER_ID="ines").stderr
    assert shell.json("delete", "--all", "--all-scopes", "--yes")["deleted"] == 1


@pytest.mark.parametrize(
    "words",
    [
        ("nonsense",),
        ("search",),
        ("search", "x", "--nonsense"),
        ("search", "x", "--limit", "many"),
        ("search", "x", "--limit", "0"),
        ("search", "x", "--threshold", "3"),
        ("list", "--limit", "0"),
        ("search", "x", "--filter", "{"),
        ("search", "x", "--filter", "[]"),
        ("add", "--verbatim", "x", "--metadata", "novalue"),
        ("add", "--verbatim", "x", "--messages", "-"),
        ("delete",),
        ("delete", "ID", "--all"),
        ("delete", "ID", "--all-scopes"),
        ("ingest", "--verbatim", "/no/such/file"),
        ("import", "/no/such/file"),
    ],
)
def test_a_wrong_command_line_ends_with_2_and_one_line(shell: Shell, words: tuple[str, ...]):
    result = shell.run(*words, code=2)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.output
    as_json = shell.run(*words, "--json", code=2)
    assert set(json.loads(as_json.stderr)["error"]) == {"type", "message"}


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("search", "x", "--filter", '{"n": {"near": 1}}'), "FilterError"),
        (("list", "-u", "a b"), "ScopeError"),
        (("add", "--verbatim", "x", "--timestamp", "yesterday"), "InputError"),
        (("add", "--verbatim", "x", "--role", "wizard"), "MessageError"),
        (("list", "--all-scopes", "-u", "ines"), "ScopeError"),
    ],
)
def test_what_lukasa_refuses_ends_with_1(shell: Shell, words: tuple[str, ...], kind: str):
    shell.added("there is a ledger")
    result = shell.run(*words, "--json", code=1)
    assert result.stdout == ""
    assert json.loads(result.stderr)["error"]["type"] == kind


@pytest.mark.parametrize(
    "words", [("list",), ("search", "x"), ("get", "x"), ("update", "x", "y"), ("why", "x")]
)
def test_a_mistyped_path_does_not_become_a_ledger(shell: Shell, words: tuple[str, ...]):
    assert "no ledger there yet" in shell.run(*words, code=1).stderr
    assert not shell.ledger.exists()


@pytest.mark.parametrize("option", ["--path", "--space"])
@pytest.mark.parametrize("words", [("add", "x"), ("list",), ("export",), ("stats",), ("demo",)])
def test_a_blank_path_or_space_is_not_taken_for_none(shell: Shell, words: tuple[str, ...], option: str):
    shell.added("there is a ledger")
    assert option[2:] in shell.run(*words, option, "", code=1).stderr


def test_an_unknown_embedder_is_one_line(shell: Shell):
    result = shell.run("add", "--verbatim", "x", code=1, LUKASA_EMBEDDER="nonsuch")
    assert result.stderr.startswith("error: no provider is called 'nonsuch'")


def test_a_memory_that_is_not_there_ends_with_3(shell: Shell):
    shell.added("there is a ledger")
    for words in (("get", "x"), ("update", "x", "y"), ("delete", "x"), ("history", "x"), ("why", "x")):
        assert "not found" in shell.run(*words, code=3).stderr


def test_a_search_that_finds_nothing_has_worked(shell: Shell):
    shell.added("there is a ledger", "-u", "somebody")
    result = shell.run("search", "anything")
    assert result.stdout == ""
    assert "user_id me" in result.stderr
    assert shell.json("search", "anything") == {"results": []}


def test_input_that_is_not_utf8_is_refused(shell: Shell):
    assert "UTF-8" in shell.run("add", "--verbatim", code=2, stdin=b"\xff\xfe").stderr


def test_help_and_version(shell: Shell):
    assert "Commands" in shell.run("--help").stdout
    assert shell.run("--version").stdout.strip().count(".") == 2
    shell.run(code=2)
