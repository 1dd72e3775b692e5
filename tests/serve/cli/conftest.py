"""A command line with a ledger of its own, run in-process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from typer.testing import CliRunner, Result

from lukasa.serve.cli.app import app


@dataclass(frozen=True)
class Shell:
    """Runs `lukasa` commands on one ledger."""

    ledger: Path

    @property
    def env(self) -> dict[str, str | None]:
        return {
            "LUKASA_PATH": str(self.ledger),
            "LUKASA_EMBEDDER": "hash",
            "LUKASA_SPACE": None,
            "LUKASA_USER_ID": None,
            "COLUMNS": "100",
            "FORCE_COLOR": None,
            "TTY_COMPATIBLE": None,
        }

    def run(self, *words: str, code: int = 0, stdin: str | bytes | None = None, **env: str) -> Result:
        """The result of a command that ends with *code*."""
        result = CliRunner().invoke(app, list(words), input=stdin, env={**self.env, **env})
        assert result.exit_code == code, (result.output, result.exception)
        return result

    def json(
        self, *words: str, code: int = 0, stdin: str | bytes | None = None, **env: str
    ) -> dict[str, object]:
        """The one JSON document that a command answers with `--json`."""
        result = self.run(*words, "--json", code=code, stdin=stdin, **env)
        assert result.stderr == ""
        return cast("dict[str, object]", json.loads(result.stdout))

    def screen(self, *words: str) -> str:
        """What a command draws on a terminal: no colours, 80 columns."""
        return self.run(*words, TTY_COMPATIBLE="1", TERM="dumb").stdout

    def added(self, text: str, *words: str) -> str:
        """The id of a memory that is added."""
        return self.run("add", "--verbatim", text, *words).stdout.split("\t")[0]

    def memories(self, *words: str) -> list[str]:
        """The texts that `list` shows, the last stored first."""
        found = cast("list[dict[str, str]]", self.json("list", "--limit", "1000", *words)["results"])
        return [one["memory"] for one in found]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "lukasa.db")
