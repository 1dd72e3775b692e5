"""docs/cli.md lists what there is, and nothing else."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.serve.cli.conftest import Shell

from lukasa.serve.cli.app import app
from lukasa.serve.cli.exits import Code

DOCS = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")


def test_docs_list_the_commands_that_exist_with_their_help():
    known = {
        one.name: (one.callback.__doc__ or "").splitlines()[0]
        for one in app.registered_commands
        if one.callback is not None
    }
    listed = re.findall(r"^\| `lukasa (\w+)` \| (.+) \|$", DOCS, re.MULTILINE)
    assert listed == list(known.items())


def test_docs_list_the_exit_codes_that_exist():
    listed = re.findall(r"^\| (\d+) \|", DOCS, re.MULTILINE)
    assert [int(code) for code in listed] == [code.value for code in Code]


def test_docs_name_the_environment_that_is_read():
    config = (Path(__file__).parents[3] / "src" / "lukasa" / "config.py").read_text(encoding="utf-8")
    read = set(re.findall(r"environ\.get\(\"(LUKASA_\w+)\"\)", config))
    assert read == set(re.findall(r"LUKASA_\w+", DOCS))


def test_the_commands_of_the_docs_run(shell: Shell):
    commands = re.findall(r"^\$ (?:echo (\".*\") \| )?lukasa (.+)$", DOCS, re.MULTILINE)
    assert len(commands) == DOCS.count("\n$ ")
    for piped, words in commands:
        shell.run(*shlex.split(words), stdin=piped.strip('"') or "y\n")


def test_the_lines_of_the_docs_can_be_ingested(shell: Shell):
    (lines,) = re.findall(r"```json\n(.*?)```", DOCS, re.DOTALL)
    assert shell.json("ingest", "--verbatim", "-", stdin=lines)["memories"] == 3
