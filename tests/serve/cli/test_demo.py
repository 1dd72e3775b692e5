"""The tour runs, tells the truth, and can be run again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import cast

from tests.serve.cli.conftest import Shell

from lukasa.archives.jsonl import conversation
from lukasa.serve.cli.demo import example_lines


def test_the_demo_runs_through(shell: Shell, tmp_path: Path):
    path = str(tmp_path / "demo.db")
    shown = shell.run("demo", "--path", path).stdout
    assert "KX7Q2M" in shown
    assert "[redacted: api key]" in shown
    assert f"lukasa list -u liwei --path {path}" in shown
    assert "rm -r" not in shown
    assert "known already" in shell.run("demo", "--path", path).stdout


def test_the_demo_keeps_off_the_ledger_of_the_environment(shell: Shell):
    done = shell.json("demo")
    assert not shell.ledger.exists()
    shutil.rmtree(Path(str(done["path"])).parent)


def test_the_demo_says_what_it_leaves_behind(shell: Shell):
    shown = shell.run("demo").stdout
    folder = shown.splitlines()[-1].removeprefix("It stays until you take it away: rm -r ")
    assert [path.name for path in Path(folder).iterdir()] == ["lukasa.db"]
    shutil.rmtree(folder)


def test_what_the_demo_shows_is_so(shell: Shell, tmp_path: Path):
    done = shell.json("demo", "--path", str(tmp_path / "demo.db"))
    assert list(done) == [
        *(
            "path",
            "ingest",
            "english",
            "chinese",
            "sources",
            "change",
            "history",
            "scopes",
            "secrets",
        )
    ]
    changed, apart = cast("list[dict[str, list[dict[str, str]]]]", [done["change"], done["scopes"]])
    ended, now, then = changed.values()
    assert [one["memory"] for one in ended] == [then[0]["memory"]]
    assert "16 June" in now[0]["memory"]
    assert "9 June" in then[0]["memory"]
    assert "Bergen" in apart["user_id nadia"][0]["memory"]
    assert "fog" in apart["agent_id concierge"][0]["memory"]
    assert apart["user_id liwei"] == []


def test_the_examples_are_good_lines_of_two_people_and_an_agent():
    found = [
        said
        for number, line in enumerate(example_lines(), 1)
        if (said := conversation(number, line)) is not None
    ]
    assert {str(dict(entry.ids)) for entry in found} == {
        "{'user_id': 'nadia'}",
        "{'user_id': 'liwei'}",
        "{'agent_id': 'concierge'}",
    }
    assert 60 <= sum(len(entry.messages) for entry in found) <= 80
    assert all(
        "2026-01" <= str(message["timestamp"]) < "2026-07" for entry in found for message in entry.messages
    )
    assert json.dumps([entry.metadata for entry in found])
