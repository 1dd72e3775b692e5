"""What the check-up finds: each damage, that one alone, and nothing where nothing is wrong."""

import asyncio
import random
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from lukasa import Memory
from lukasa.errors import LedgerCorrupt
from lukasa.ledger.base import Finding
from lukasa.ledger.sqlite.ledger import SqliteLedger
from lukasa.ledger.sqlite.schema import vector_key
from lukasa.testing import HashEmbedder

WORDS = ["kayak", "beagle", "florist", "bakery", "Ghent", "apple", "苹果", "香蕉", "Brücke", "rain"]


def found(path: Path) -> tuple[Finding, ...]:
    ledger = SqliteLedger(path, model=None)
    try:
        return asyncio.run(ledger.check()).findings
    finally:
        ledger.close()


def run(path: Path, *statements: str) -> None:
    """Change the file behind the ledger's back."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A memory with two texts, one that was deleted, one of somebody else."""
    path = tmp_path / "checked.db"
    with Memory(path, embedder=HashEmbedder(64)) as memory:
        one = memory.add("the first text", user_id="ines", agent_id="guide", infer=False)["results"][0]["id"]
        memory.update(one, "another text")
        two = memory.add("soon gone", user_id="ines", agent_id="guide", idempotency_key="k", infer=False)
        memory.delete(two["results"][0]["id"])
        memory.add("of somebody else", user_id="omar", infer=False)
    return path


# An SQL fragment each.
ACTIVE = "(SELECT min(id) FROM memories WHERE state = 'active')"
OMAR = "(SELECT id FROM scopes WHERE name = 'omar')"

# The check that must speak, what it says, and the damage.
DAMAGE = {
    "no text now": (
        "current version",
        "no current version",
        f"UPDATE memories SET version = 9999 WHERE id = {ACTIVE}",
    ),
    "an old version is the current one": (
        "current version",
        "newer text",
        "UPDATE memories SET version = (SELECT min(id) FROM versions WHERE memory = memories.id)"
        f" WHERE id = {ACTIVE}",
    ),
    "a version is missing": (
        "version numbers",
        "gap",
        f"UPDATE versions SET number = 7 WHERE number = 2 AND memory = {ACTIVE}",
    ),
    "two texts at once": (
        "retirement",
        "two texts",
        f"UPDATE versions SET retired_at = NULL WHERE number = 1 AND memory = {ACTIVE}",
    ),
    "another text": ("hash", "another text", f"UPDATE versions SET hash = '0' WHERE memory = {ACTIVE}"),
    "undecodable text": (
        "hash",
        "another text",
        f"UPDATE versions SET text = CAST(x'ff80' AS TEXT) WHERE number = 2 AND memory = {ACTIVE}",
    ),
    "metadata": ("json", "metadata", f"UPDATE versions SET metadata = '[' WHERE memory = {ACTIVE}"),
    "receipt": ("json", "receipt", "UPDATE episodes SET receipt = 'x' WHERE receipt IS NOT NULL"),
    "a past item is current": (
        "items",
        "current, past or gone",
        f"UPDATE items SET state = 1 WHERE memory = {ACTIVE} AND state = 0",
    ),
    "the current item is past": (
        "items",
        "current, past or gone",
        f"UPDATE items SET state = 0 WHERE memory = {ACTIVE} AND state = 1",
    ),
    "no item": ("items", "nothing by which", f"DELETE FROM items WHERE memory = {ACTIVE} AND state = 1"),
    "an item without a text": ("items", "no text", "UPDATE versions SET item = 1 WHERE number = 1"),
    "length": (
        "postings",
        "other words",
        f"UPDATE items SET length = 99 WHERE memory = {ACTIVE} AND state = 1",
    ),
    "a posting too few": ("postings", "other words", "DELETE FROM postings WHERE term LIKE 'anoth%'"),
    "a count": ("postings", "other words", "UPDATE postings SET tf = 5 WHERE term LIKE 'anoth%'"),
    "no postings in a partition": (
        "postings",
        "other words",
        f"DELETE FROM postings WHERE partition = {OMAR}",
    ),
    "a posting of nothing": ("postings", "not there", "INSERT INTO postings VALUES (1, 'x', 12345, 1)"),
    "a posting of a deleted text": (
        "postings",
        "not there",
        "INSERT INTO postings SELECT partition, 'soon', id, 1 FROM items WHERE state = -1",
    ),
    "superseded by nobody": (
        "links",
        "no event",
        f"UPDATE memories SET state = 'superseded' WHERE id = {ACTIVE}",
    ),
    "a vector of nothing": (
        "vectors",
        "belongs to nothing",
        "INSERT INTO vectors SELECT max(key) + 9, vector FROM vectors",
    ),
    "a vector of no model": (
        "vectors",
        "belongs to nothing",
        f"INSERT INTO vectors SELECT max(key) + {vector_key(3, 0, 0)}, vector FROM vectors",
    ),
    "a short vector": ("vectors", "damaged", "UPDATE vectors SET vector = substr(vector, 5)"),
    "a zero vector": ("vectors", "damaged", "UPDATE vectors SET vector = zeroblob(256)"),
    "an infinite vector": (
        "vectors",
        "damaged",
        "UPDATE vectors SET vector = CAST(substr(vector, 1, 252) || x'0000807f' AS BLOB)",
    ),
    "an item of somebody else": (
        "scopes",
        "differ",
        f"UPDATE items SET agent_key = {OMAR} WHERE memory = {ACTIVE}",
    ),
    "an attribute of somebody else": (
        "scopes",
        "speaks of",
        f"UPDATE versions SET partition = {OMAR}, attribute = 'home' WHERE memory = {ACTIVE}",
    ),
    "an unknown scope": ("scopes", "not there", f"UPDATE memories SET run_key = 777 WHERE id = {ACTIVE}"),
    "a partition that is not the owner": (
        "scopes",
        "episode",
        f"UPDATE episodes SET partition = {OMAR} WHERE idempotency_key IS NULL",
    ),
    "a cache that is not told": ("counters", "caches", f"UPDATE scopes SET change = 0 WHERE id = {OMAR}"),
    "a number to come": ("sequence", "never gave out", "UPDATE ledger SET sequence = 1"),
    "a change to come": ("sequence", "never had", f"UPDATE scopes SET change = 99999 WHERE id = {OMAR}"),
    "no sources": (
        "sources",
        "names no source",
        f"DELETE FROM sources WHERE version IN (SELECT id FROM versions WHERE memory = {ACTIVE})",
    ),
    "a span behind the text": ("sources", "outside", 'UPDATE sources SET "end" = 999'),
    "a source of somebody else": (
        "sources",
        "another scope",
        'UPDATE sources SET "end" = 1, message = (SELECT max(id) FROM messages) WHERE version ='
        " (SELECT min(id) FROM versions)",
    ),
    "a reference to nothing": ("references", "messages", "UPDATE sources SET message = 4321"),
}

# What one damage entails by its nature, beside the finding that is asked for.
ENTAILED = {
    "no text now": {"retirement"},
    "an old version is the current one": {"retirement", "items"},
    "undecodable text": {"postings"},
    "a past item is current": {"items"},
    "no item": {"items", "postings", "vectors"},
    "superseded by nobody": {"retirement"},
    "an item without a text": {"items", "postings"},
    "an unknown scope": {"sources"},
    "a number to come": {"sequence"},
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_each_damage_is_found_and_nothing_else(path: Path, damage: str) -> None:
    check, problem, statement = DAMAGE[damage]
    run(path, statement)
    findings = found(path)
    assert [f for f in findings if f.check == check and problem in f.problem]
    assert {f.check for f in findings} <= {check} | ENTAILED.get(damage, set())
    assert all(f.remedy for f in findings)


def test_a_link_to_another_tenants_memory_is_found(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder(64), space="other") as memory:
        memory.add("of another tenant", user_id="ines", infer=False)
    run(path, "INSERT INTO links SELECT min(id), max(id), 'related', 0 FROM memories")
    assert [(finding.check, "another space" in finding.problem) for finding in found(path)] == [
        ("links", True)
    ]


def test_no_finding_holds_a_text(path: Path) -> None:
    run(path, "UPDATE versions SET text = 'very secret', hash = '0', metadata = 'very secret', item = 77")
    findings = found(path)
    assert findings
    assert "secret" not in repr(findings)


def test_a_long_list_is_cut_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "long.db"
    with Memory(path, embedder=HashEmbedder(16)) as memory:
        memory.add([{"role": "user", "content": f"note {n}"} for n in range(25)], user_id="ines", infer=False)
    run(path, "UPDATE versions SET hash = '0'")
    findings = found(path)
    assert len(findings) == 21
    assert findings[-1].problem == "5 more of this kind"


def test_a_file_that_is_damaged_is_all_that_is_told(path: Path) -> None:
    run(path, "UPDATE versions SET hash = '0'")
    with path.open("r+b") as file:
        file.seek(36)
        file.write((7).to_bytes(4, "big"))  # how many pages are free
    assert {finding.check for finding in found(path)} == {"file"}


def test_a_file_that_cannot_even_be_read_is_an_error_that_says_what_to_do(path: Path) -> None:
    run(path)
    connection = sqlite3.connect(path)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'versions'").fetchone()
    connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 200)
    with pytest.raises(LedgerCorrupt, match="restore"):
        found(path)


def test_after_many_random_operations_nothing_is_wrong(tmp_path: Path) -> None:
    path, dice = tmp_path / "random.db", random.Random(5)
    for space in ("default", "other"):
        with Memory(path, embedder=HashEmbedder(32), space=space) as memory:
            known: list[str] = []
            for _ in range(150):
                text = " ".join(dice.choices(WORDS, k=dice.randint(1, 6)))
                action = dice.random()
                if action < 0.55 or not known:
                    user, agent = dice.choice("ab"), dice.choice((None, "x", "y"))
                    expires = dice.choice((None, None, "2020-01-01", "2999-01-01"))
                    done = memory.add(
                        text,
                        user_id=user,
                        agent_id=agent,
                        expiration_date=expires,
                        metadata={"n": dice.random()},
                        infer=False,
                    )
                    known += [one["id"] for one in done["results"]]
                elif action < 0.85:
                    memory.update(dice.choice(known), dice.choice((text, WORDS[0])), metadata={"二": [None]})
                else:
                    memory.delete(known.pop(dice.randrange(len(known))), erase=dice.random() < 0.5)
            memory.delete_all(user_id="a", erase=True)
    assert found(path) == ()


def test_what_is_looked_at_is_told_in_order(path: Path) -> None:
    heard: list[str] = []
    ledger = SqliteLedger(path, model=None)
    checkup = asyncio.run(ledger.check(heard.append))
    ledger.close()
    assert heard == ["the file", "versions, items, scopes, sources", "texts", "vectors", "postings"]
    assert {"pages", "memories", "versions", "items", "vectors", "postings"} <= set(checkup.checked)


def test_a_text_without_a_vector_is_counted_and_is_no_damage(path: Path) -> None:
    run(path, "DELETE FROM vectors WHERE key = (SELECT max(key) FROM vectors)")
    ledger = SqliteLedger(path, model=None)
    checkup = asyncio.run(ledger.check())
    asyncio.run(ledger.reembed(HashEmbedder(64)))
    filled = asyncio.run(ledger.check())
    ledger.close()
    assert (checkup.findings, checkup.unembedded) == ((), 1)
    assert (filled.findings, filled.unembedded) == ((), 0)


@pytest.mark.parametrize("damage", ["a vector of nothing", "a vector of no model", "a short vector"])
def test_reembedding_with_the_same_model_mends_vectors_as_the_remedy_says(path: Path, damage: str) -> None:
    run(path, DAMAGE[damage][2])
    assert {f.remedy.split("`")[1] for f in found(path)} == {"lukasa reembed"}
    ledger = SqliteLedger(path, model=None)
    asyncio.run(ledger.reembed(HashEmbedder(64)))
    ledger.close()
    assert found(path) == ()
    connection = sqlite3.connect(path)
    vectors = [np.frombuffer(row[0], np.float32) for row in connection.execute("SELECT vector FROM vectors")]
    connection.close()
    assert np.allclose(np.linalg.norm(np.array(vectors), axis=1), 1)
