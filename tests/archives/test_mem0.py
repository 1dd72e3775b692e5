"""mem0's stores, as mem0 itself wrote them: see data/README.md."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sqlite3
from pathlib import Path
from typing import cast

import pytest
from tests.archives.conftest import DATA, Read, read, write

from lukasa.archives.base import Kept, Version
from lukasa.archives.databases import MAGIC, opened, tables
from lukasa.archives.mem0_history import Event, versions
from lukasa.errors import InputError

STORES = sorted(path.name for path in (DATA / "mem0").iterdir() if path.is_dir())
NEW = [name for name in STORES if name.startswith("2.")]
TEA = ["Drinks tea in the morning", "Drinks coffee in the morning", "Drinks coffee, never after noon"]


def store(name: str) -> Path:
    return DATA / "mem0" / name


def by_text(found: Read) -> dict[str, Kept]:
    return {one.text: one for one in found.kept}


def dumped(name: str) -> list[dict[str, object]]:
    text = (DATA / "mem0" / f"{name}.get_all.json").read_text("utf-8")
    return cast("dict[str, list[dict[str, object]]]", json.loads(text))["results"]


@pytest.mark.parametrize("name", STORES)
def test_a_store_has_its_memories_with_what_they_said_before(name: str):
    found = read(store(name))
    assert found.kind == "mem0"
    assert not found.problems
    assert found.left == {"deleted memories": 1}
    memories = by_text(found)
    assert set(memories) >= {TEA[2], "我喜欢喝龙井茶"}
    assert "Has a cat called Soot" not in memories  # deleted, though FAISS of mem0 0.1 still holds it
    tea = memories[TEA[2]]
    assert tea.ids == {"user_id": "ines"}
    assert [version.text for version in tea.earlier] == TEA[:2]
    times = [str(version.at) for version in tea.earlier] + [str(tea.updated_at)]
    assert times == sorted(times)
    assert tea.created_at == tea.earlier[0].at
    assert memories["我喜欢喝龙井茶"].ids == {"user_id": "liwei"}
    assert found.size is not None
    assert found.size * 0.9 <= found.taken <= found.size


@pytest.mark.parametrize("name", NEW)
def test_a_store_says_what_mem0_says_of_it(name: str):
    memories = {one.key: one for one in read(store(name)).kept if one.ids.get("user_id") == "ines"}
    told = dumped(name)
    assert {one["id"] for one in told} == set(memories)
    for one in told:
        kept = memories[str(one["id"])]
        assert kept.text == one["memory"]
        assert kept.metadata == (one["metadata"] or {})
        assert kept.created_at == one["created_at"]
        assert kept.updated_at == one["updated_at"]
        for field in ("role", "attributed_to", "expiration_date"):
            assert getattr(kept, field) == one.get(field)
        assert kept.name == one.get("actor_id")
        ids = {kind: one[kind] for kind in ("user_id", "agent_id", "run_id") if kind in one}
        assert kept.ids == ids


@pytest.mark.parametrize("name", NEW)
def test_a_dump_reads_as_its_store_does(name: str):
    found, memories = read(DATA / "mem0" / f"{name}.get_all.json"), read(store(name))
    assert (found.kind, found.problems, found.left) == ("mem0", [], {})
    assert found.taken == found.size
    stored = {one.key: one for one in memories.kept}
    for one in found.kept:
        twin = stored[one.key]
        assert (one.text, one.ids, one.metadata, one.created_at) == (
            twin.text,
            twin.ids,
            twin.metadata,
            twin.created_at,
        )


@pytest.mark.parametrize("lines", [False, True])
def test_a_dump_may_be_a_bare_list_or_lines(tmp_path: Path, lines: bool):
    told = dumped(NEW[0])
    file = tmp_path / "memories.txt"
    file.write_text("\n".join(json.dumps(one) for one in told) if lines else json.dumps(told), "utf-8")
    assert {one.key for one in read(file).kept} == {one["id"] for one in told}


def test_a_dump_beside_a_history_has_what_its_memories_said_before(tmp_path: Path):
    shutil.copy(store(NEW[0]) / "history.db", tmp_path)
    shutil.copy(DATA / "mem0" / f"{NEW[0]}.get_all.json", tmp_path / "dump.json")
    found = read(tmp_path)
    assert [one.text for one in by_text(found)[TEA[2]].earlier] == TEA[:2]
    assert found.left == {"deleted memories": 1, "memories that history.db alone still knows": 1}


def test_what_a_dump_of_the_platform_has_more_is_kept_or_told(tmp_path: Path):
    file = write(
        tmp_path / "a.json",
        [
            {
                "id": "m1",
                "memory": "Allergic to peanuts",
                "user_id": "ines",
                "app_id": "web",
                "categories": ["health", "food"],
                "created_at": "2025-01-05T10:00:00-08:00",
                "updated_at": "2025-02-01T10:00:00-08:00",
                "expiration_date": "2030-01-01T00:00:00Z",
                "structured_attributes": {"day": 5},
                "score": 0.3,
            },
            {"id": "m2"},
            "no memory",
        ],
    )
    found = read(file)
    (kept,) = found.kept
    assert kept.ids == {"user_id": "ines", "app_id": "web"}
    assert kept.categories == ("health", "food")
    assert kept.expiration_date == "2030-01-01"
    assert kept.updated_at == "2025-02-01T10:00:00-08:00"
    assert found.left == {"fields 'structured_attributes'": 1}
    assert [one.where for one in found.problems] == ["a.json, entry 2", "a.json, entry 3"]


def test_a_history_alone_is_refused_since_it_names_no_owner():
    with pytest.raises(InputError, match="does not say whose"):
        read(store(NEW[0]) / "history.db")


def test_one_file_of_a_store_will_do():
    for name in ("chroma/chroma.sqlite3", "qdrant/collection/mem0/storage.sqlite", "faiss/mem0.json"):
        file = store(f"2.2.1-{name.partition('/')[0]}") / name
        assert len(read(file).kept) == 4
    assert len(read(store("0.1.118-faiss") / "faiss" / "mem0.pkl").kept) == 4


def test_what_mem0_keeps_for_itself_is_no_memory(tmp_path: Path):
    source = store("2.2.1-qdrant") / "qdrant" / "collection" / "mem0"
    for name in ("mem0_entities", "mem0migrations", "mem0"):
        shutil.copytree(source, tmp_path / "collection" / name)
    found = read(tmp_path)
    assert len(found.kept) == 4
    assert found.left == {"entities that mem0 found in its memories": 4}


def test_the_folder_of_a_mem0_whose_store_is_elsewhere_says_what_is_missing(tmp_path: Path):
    shutil.copy(store("2.2.1-qdrant") / "history.db", tmp_path)
    source = store("2.2.1-qdrant") / "qdrant" / "collection" / "mem0"
    shutil.copytree(source, tmp_path / "migrations_qdrant" / "collection" / "mem0migrations")
    write(tmp_path / "config.json", {"user_id": "x"})
    with pytest.raises(InputError, match="does not say whose"):
        read(tmp_path)


def test_the_stores_are_only_read(tmp_path: Path):
    for name in STORES:
        folder = tmp_path / name
        shutil.copytree(store(name), folder)
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        read(folder)
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_read(tmp_path: Path):
    folder = tmp_path / "store"
    shutil.copytree(store("2.2.1-qdrant"), folder)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555)
    assert len(read(folder).kept) == 4


def test_a_log_that_is_not_yet_in_the_database_counts(tmp_path: Path):
    folder = tmp_path / "store"
    shutil.copytree(store("2.2.1-qdrant"), folder)
    writer = sqlite3.connect(folder / "history.db")
    writer.execute("PRAGMA journal_mode = WAL")
    memory = by_text(read(folder))["Plays the cello"].key
    with writer:
        writer.execute(
            "INSERT INTO history VALUES ('x', ?, 'Plays the cello', 'Plays the viola', 'UPDATE', NULL,"
            " '2031-01-01', 0, NULL, NULL)",
            (memory,),
        )
    try:
        said = by_text(read(folder))["Plays the cello"].earlier
        assert said[-1] == Version("Plays the viola", "2031-01-01")
    finally:
        writer.close()


def test_the_columns_of_the_first_mem0_are_understood(tmp_path: Path):
    folder = tmp_path / "store"
    shutil.copytree(store("0.1.40-qdrant"), folder)
    with sqlite3.connect(folder / "history.db") as old:
        # What the migration in mem0 0.1's storage.py reads from.
        old.execute(
            "CREATE TABLE older AS SELECT id, memory_id, old_memory AS prev_value, new_memory AS new_value,"
            " event, coalesce(updated_at, created_at) AS timestamp, is_deleted FROM history"
        )
        old.execute("DROP TABLE history")
        old.execute("ALTER TABLE older RENAME TO history")
    old.close()
    found = by_text(read(folder))[TEA[2]]
    assert [one.text for one in found.earlier] == TEA[:2]
    assert found.updated_at is not None


def test_a_point_that_would_run_something_is_refused_and_the_others_come(tmp_path: Path):
    folder = tmp_path / "store"
    shutil.copytree(store("2.2.1-qdrant"), folder)
    mark = tmp_path / "was-run"

    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return exec, (f"import pathlib; pathlib.Path({str(mark)!r}).mkdir()",)

    with sqlite3.connect(folder / "qdrant" / "collection" / "mem0" / "storage.sqlite") as points:
        points.execute("INSERT INTO points VALUES ('evil', ?)", (pickle.dumps(Evil()),))
        points.execute("INSERT INTO points VALUES ('broken', x'80')")
    points.close()
    found = read(folder)
    assert not mark.exists()
    assert len(found.kept) == 4
    assert "never holds" in found.problems[0].why
    assert "broken" in found.problems[1].why


def test_a_database_that_is_damaged_is_a_problem(tmp_path: Path):
    folder = tmp_path / "store"
    shutil.copytree(store("2.2.1-chroma"), folder)
    file = folder / "chroma" / "chroma.sqlite3"
    content = bytearray(file.read_bytes())
    for page in range(40, len(content) // 4096):  # its first pages hold the schema
        content[page * 4096 : page * 4096 + 200] = b"\xff" * 200
    file.write_bytes(content)
    try:
        found = read(folder)
    except InputError as error:
        assert "chroma.sqlite3" in str(error)
    else:
        assert found.kept or found.problems


@pytest.mark.parametrize(
    ("events", "texts"),
    [
        ([], ["c"]),
        ([Event(None, "c", 1, False)], ["c"]),
        ([Event(None, "a", 1, False), Event("a", "c", 2, False)], ["a", "c"]),
        ([Event("a", "b", 2, False)], ["a", "b", "c"]),  # the beginning was lost, and so was the end
        ([Event(None, "a", 1, False), Event("a", "a", 2, False), Event("a", "c", 3, False)], ["a", "c"]),
    ],
)
def test_the_versions_of_a_memory_end_with_what_it_says(events: list[Event], texts: list[str]):
    said = versions(events, "c", created_at=0, updated_at=9)
    assert [one.text for one in said] == texts
    assert said[0].at == 0
    if len(said) > 1:
        assert said[-1] == Version("c", 9 if not events or events[-1].new != "c" else events[-1].at)


def test_metadata_of_every_kind_comes_back_from_chroma():
    found = by_text(read(store("2.2.1-chroma")))[TEA[2]]
    assert found.metadata == {"topic": "drinks", "cups": 2, "daily": True}
    assert found.metadata["daily"] is True


def test_a_database_with_a_log_of_its_own_is_left_as_it_was(tmp_path: Path):
    file = tmp_path / "a.db"
    made = sqlite3.connect(file)
    made.execute("PRAGMA journal_mode = WAL")
    made.execute("CREATE TABLE history (memory_id)")
    made.close()
    with opened(file) as connection:
        assert tables(connection) == {"history"}
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("INSERT INTO history VALUES (1)")
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]
    (tmp_path / "a.db-wal").mkdir()  # a log that cannot be read
    with pytest.raises(InputError, match=r"a\.db: cannot be read as SQLite"), opened(file):
        pass


def test_a_history_that_cannot_be_read_is_told_and_the_memories_come(tmp_path: Path):
    folder = tmp_path / "store"
    shutil.copytree(store("2.2.1-faiss"), folder)
    (folder / "history.db").unlink()
    with sqlite3.connect(folder / "history.db") as other:
        other.execute("CREATE TABLE history (something)")
    other.close()
    found = read(folder)
    assert len(found.kept) == 4
    assert "without what they said before" in found.problems[0].why


def test_a_file_that_only_begins_as_a_database_is_told(tmp_path: Path):
    file = tmp_path / "history.db"
    file.write_bytes(MAGIC + b"\x00" * 100)
    with pytest.raises(InputError, match=r"history\.db: cannot be read as SQLite"):
        read(file)
