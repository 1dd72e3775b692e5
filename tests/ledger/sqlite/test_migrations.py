"""Files of older versions: opened by this one, they hold what they held, and can do what is new."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from lukasa import Memory
from lukasa.ledger.base import Plan, Probe, View
from lukasa.ledger.sqlite.ledger import SqliteLedger
from lukasa.ledger.sqlite.schema import MIGRATIONS, VERSION, migrate
from lukasa.testing import HashEmbedder
from lukasa.testing.contracts.clauses import everything
from lukasa.types import Add, Episode, Fact, Message, Scope, Supersede

INES = Scope(user_id="ines")
NOW = datetime(2026, 1, 2, tzinfo=UTC)
ALL = View(Scope(), date(2026, 1, 1), everyone=True)


def lived(path: Path) -> None:
    """A ledger with a past: changed, expired, deleted and erased memories of two users and an agent."""
    with Memory(path, embedder=HashEmbedder(64)) as memory:
        turns = [{"role": "user", "content": f"note {n} about the kayak"} for n in range(20)]
        memory.add(
            [{"role": "system", "content": "be kind"}, *turns], user_id="ines", agent_id="guide", infer=False
        )
        one = memory.add(
            "I live in Ghent", user_id="ines", idempotency_key="k", metadata={"a": [1]}, infer=False
        )
        memory.update(one["results"][0]["id"], "I live in Bruges")
        memory.add("long over", user_id="ines", expiration_date="2020-01-01", infer=False)
        for erase in (False, True):
            gone = memory.add("soon gone", user_id="omar", run_id="r", infer=False)["results"][0]["id"]
            memory.delete(gone, erase=erase)


def as_of_version(path: Path, number: int, old: Path) -> None:
    """The same rows in a file of an older schema."""
    connection = sqlite3.connect(old, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN")
    migrate(connection, uid="", now=0, to=number)
    connection.execute("COMMIT")
    connection.execute("DELETE FROM ledger")
    connection.execute("ATTACH ? AS newer", (str(path),))
    tables = connection.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'").fetchall()
    for (table,) in tables:
        columns = ", ".join(f'"{row[1]}"' for row in connection.execute(f"PRAGMA main.table_info({table})"))
        if table != "sqlite_sequence":
            connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM newer.{table}")
    connection.close()


def exported(path: Path) -> list[bytes]:
    lines: list[bytes] = []
    ledger = SqliteLedger(path, model=None)
    asyncio.run(ledger.export(ALL, lines.append))
    ledger.close()
    return lines


def schema(path: Path) -> set[tuple[str, ...]]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT type, name, tbl_name FROM sqlite_schema").fetchall()
    version = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return {*rows, ("version", str(version[0]))}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A new file, and the same as version 1 wrote it."""
    path, old = tmp_path / "new.db", tmp_path / "old.db"
    lived(path)
    as_of_version(path, 1, old)
    return path, old


def test_an_old_file_becomes_what_a_new_one_is(files: tuple[Path, Path]) -> None:
    path, old = files
    assert ("version", "1") in schema(old)
    assert exported(old) == exported(path)
    assert schema(old) == schema(path)
    ledger = SqliteLedger(old, model=None)
    checkup = asyncio.run(ledger.check())
    ledger.close()
    assert (checkup.findings, checkup.unembedded) == ((), 0)


def test_an_old_file_answers_as_the_new_one_does(files: tuple[Path, Path]) -> None:
    answers: list[object] = []
    for path in files:
        with Memory(path, embedder=HashEmbedder(64)) as memory:
            found = [
                memory.search(query, user_id="ines", explain=True) for query in ("kayak", "where I live")
            ]
            page = memory.get_all(all_scopes=True, limit=100, show_expired=True)
            answers.append((found, page, [memory.history(item["id"]) for item in page["results"]]))
    assert answers[0] == answers[1]


def test_an_old_file_takes_what_is_new(files: tuple[Path, Path]) -> None:
    async def work(ledger: SqliteLedger) -> None:
        home = Fact("lives in Porto", (), INES, {}, subject="user", attribute="home")
        (known,) = [one for one in (await ledger.page(view, limit=99)).records if "Bruges" in one.text]
        said = Episode(INES, (Message("user", "I moved to Porto"),))
        plan = Plan((Add(home, None), Supersede(known.id, known.version, by=0)), said, index_turns=True)
        await ledger.apply(plan, scope=INES, now=NOW, receipt=lambda _: {})
        assert [one.text for one in (await ledger.neighbours(view, [], [("user", "home")])).alike] == [
            "lives in Porto"
        ]
        turns = await ledger.turns(view, Probe(None, "Porto", 9), everything)
        assert [turn.message.text for turn in turns] == ["I moved to Porto"]
        assert (await ledger.check()).findings == ()

    view, ledger = View(INES, NOW.date()), SqliteLedger(files[1], model="hash:64")
    asyncio.run(work(ledger))
    ledger.close()


def test_a_migration_that_fails_leaves_the_file_as_it_was(files: tuple[Path, Path]) -> None:
    old = files[1]
    connection = sqlite3.connect(old)
    connection.execute("CREATE TABLE turn_postings (x)")  # in the way of the migration
    connection.commit()
    connection.close()
    before = schema(old)
    ledger = SqliteLedger(old, model=None)
    with pytest.raises(sqlite3.OperationalError, match="turn_postings"):
        asyncio.run(ledger.stats())
    ledger.close()
    assert schema(old) == before


def test_released_migrations_stay_as_they_are() -> None:
    digests = [hashlib.sha256(script.encode()).hexdigest()[:16] for script in MIGRATIONS]
    assert digests[:1] == ["83697593fad7f00c"]
    assert len(MIGRATIONS) == VERSION
