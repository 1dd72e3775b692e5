"""Erasure: canaries go in by every verb; after `erase=True` no byte of them is left in any file or log."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any  # keyword arguments from a dictionary

import pytest

from lukasa import Memory
from lukasa.errors import LukasaError, MemoryNotFound
from lukasa.ledger.base import Removed, View
from lukasa.ledger.sqlite.ledger import SqliteLedger
from lukasa.testing import FrozenClock, HashEmbedder
from lukasa.types import Scope


def canary(name: str) -> str:
    """A word that stands nowhere else. Letters alone: the tokenizer keeps it whole."""
    return name + "".join(secrets.choice("bcdfghjklmnpqrstvwxz") for _ in range(14))


class Log(logging.Handler):
    """Every record of every logger, formatted."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture
def log() -> Iterator[Log]:
    root, handler = logging.getLogger(), Log()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield handler
    root.removeHandler(handler)
    root.setLevel(before)


def traces(path: Path, words: Iterable[str], *, of: int = 8) -> dict[str, list[str]]:
    """Which canaries are still there, and in which file; `of` letters of a word are a trace of it."""
    files = {file.name: file.read_bytes().lower() for file in path.parent.iterdir() if file.is_file()}
    spellings = {word: (word.lower().encode(), word.lower()[-of:].encode()) for word in words}
    found = {
        word: [name for name, held in files.items() if any(spelling in held for spelling in spelled)]
        for word, spelled in spellings.items()
    }
    return {word: names for word, names in found.items() if names}


def opened(path: Path) -> Memory:
    return Memory(path, embedder=HashEmbedder(32), clock=FrozenClock())


def use_every_verb(memory: Memory, words: dict[str, str]) -> str:
    """Put each canary where a caller might; the id of the memory that carries them."""
    ids: dict[str, Any] = {"user_id": words["user"], "agent_id": words["agent"], "run_id": words["run"]}
    chat: list[dict[str, object]] = [
        {"role": "system", "content": words["system"]},
        {"role": "user", "content": f"I am {words['text']}", "name": words["name"]},
    ]
    metadata = {words["key"]: words["value"], "deep": {"list": [words["nested"]]}}
    one = memory.add(chat, metadata=metadata, idempotency_key=words["idempotency"], **ids, infer=False)
    memory.add(chat, metadata=metadata, idempotency_key=words["idempotency"], **ids, infer=False)
    memory_id = one["results"][0]["id"]
    memory.update(memory_id, f"now {words['update']}", metadata={words["key2"]: words["value2"]}, **ids)
    memory.search(words["query"], filters={words["filter"]: words["filter2"]}, threshold=0, **ids)
    memory.search(words["text"], **ids)
    memory.get_all(filters={"memory": {"contains": words["filter2"]}}, **ids)
    memory.why(memory_id)
    memory.history(memory_id)
    for call in (
        lambda: memory.add([{"role": words["failed"], "content": words["failed"]}], **ids, infer=False),
        lambda: memory.add(words["failed"], metadata={"x": {words["failed"]}}, **ids, infer=False),
        lambda: memory.add(words["failed"], idempotency_key=words["idempotency"], **ids, infer=False),
        lambda: memory.update(memory_id, words["failed"], user_id=words["failed"]),
        lambda: memory.search(words["failed"], filters={words["failed"]: {"near": 1}}, **ids),
        lambda: memory.get(words["failed"], user_id=words["failed"]),
        lambda: memory.delete(words["failed"]),
    ):
        with contextlib.suppress(LukasaError):
            call()
    return memory_id


PLACES = (
    "user agent run system text name key value nested idempotency "
    "update key2 value2 query filter filter2 failed"
)


@pytest.mark.parametrize("how", ["delete", "delete then erase", "delete_all", "delete_all by run", "reset"])
def test_nothing_of_a_conversation_is_left(path: Path, log: Log, how: str) -> None:
    words = {place: canary(place) for place in PLACES.split()}
    with opened(path) as memory:
        memory.add("kept by somebody else", user_id="bo", infer=False)
        one = use_every_verb(memory, words)
        assert traces(path, [words["text"], words["user"]]) != {}  # the search itself works
        match how:
            case "delete":
                answer = memory.delete(one, erase=True)
            case "delete then erase":
                memory.delete(one)
                answer = memory.delete(one, erase=True)
            case "delete_all":
                answer = memory.delete_all(user_id=words["user"], erase=True)
            case "delete_all by run":
                answer = memory.delete_all(run_id=words["run"], erase=True)
            case _:
                answer = memory.reset()
        assert "warnings" not in (answer or {})
        assert traces(path, words.values()) == {}
    assert traces(path, words.values()) == {}
    assert not [line for line in log.lines if any(word in line for word in words.values())]
    with opened(path) as memory:
        expected = 0 if how == "reset" else 1
        assert memory.count(all_scopes=True) == expected


def test_failed_calls_leave_nothing_behind(path: Path, log: Log) -> None:
    words = [canary(place) for place in ("text", "user", "key")]
    text, user, key = words
    with Memory(path, embedder=HashEmbedder(32, fail_on=[text])) as memory:
        with pytest.raises(LukasaError):
            memory.add(text, user_id=user, metadata={key: key}, idempotency_key=key, infer=False)
        with pytest.raises(LukasaError):
            memory.add([{"role": "user", "content": text}, {"role": "user"}, 5], user_id=user, infer=False)  # type: ignore[list-item] # pyright: ignore[reportArgumentType]
    assert traces(path, words) == {}
    assert not [line for line in log.lines if any(word in line for word in words)]


def test_large_texts_leave_no_overflow_pages(path: Path) -> None:
    words = [canary("page") for _ in range(200)]
    text = " ".join(f"{word} filler{n} " * 20 for n, word in enumerate(words))
    with opened(path) as memory:
        memory.add("small", user_id="ines", infer=False)
        one = memory.add(text, user_id="ines", infer=False)["results"][0]["id"]
        memory.update(one, text[::2] + text)
        memory.delete(one, erase=True)
        assert traces(path, words) == {}
    assert traces(path, words) == {}


def test_many_rows_leave_nothing_in_pages_that_were_split_or_merged(path: Path) -> None:
    kept = [canary("kept") for _ in range(300)]
    gone = [canary("gone") for _ in range(600)]
    with opened(path) as memory:
        for n in range(300):  # interleaved, so that both stand on the same pages
            memory.add([f"{kept[n]} stays"], user_id="bo", infer=False)
            memory.add(
                [f"{gone[2 * n]} goes", f"{gone[2 * n + 1]} too"],
                user_id="ines",
                run_id=f"r{n % 7}",
                infer=False,
            )
        ids = [item["id"] for item in memory.get_all(user_id="ines", limit=600)["results"]]
        for one in ids[::3]:
            memory.update(one, metadata={"seen": True})
        for one in ids[::5]:
            memory.delete(one)
        memory.delete_all(user_id="ines", erase=True)
        assert traces(path, gone) == {}
        assert memory.count(user_id="bo") == 300
        assert memory.search(kept[7], user_id="bo")["results"][0]["memory"] == f"{kept[7]} stays"
    assert traces(path, gone) == {}
    assert len(traces(path, kept)) == 300


def test_rows_erased_one_by_one_leave_nothing(path: Path) -> None:
    gone = [canary("gone") for _ in range(60)]
    with opened(path) as memory:
        memory.add(["kept", *gone[:30]], user_id="ines", infer=False)
        for word in gone[30:]:
            memory.add(word, user_id="ines", infer=False)
        for item in memory.get_all(user_id="ines", limit=100)["results"]:
            if item["memory"] != "kept":
                memory.delete(item["id"], erase=True)
        assert [item["memory"] for item in memory.get_all(user_id="ines")["results"]] == ["kept"]
    assert traces(path, gone) == {}


def test_erasing_one_half_of_a_call_keeps_the_other_and_blanks_its_receipt(path: Path) -> None:
    secret, kept = canary("secret"), canary("kept")
    with opened(path) as memory:
        results = memory.add([secret, kept], user_id="ines", idempotency_key="k", infer=False)["results"]
        memory.delete(results[0]["id"], erase=True)
        assert memory.why(results[1]["id"])["sources"][0]["text"] == kept
    assert traces(path, [secret]) == {}
    assert traces(path, [kept]) != {}


def test_erasing_by_filter_leaves_no_trace_of_what_it_took(path: Path) -> None:
    secret, kept = canary("secret"), canary("kept")
    with opened(path) as memory:
        memory.add(secret, user_id="ines", metadata={"topic": "private"}, infer=False)
        memory.add(kept, user_id="ines", metadata={"topic": "public"}, infer=False)
        assert memory.delete_all(user_id="ines", filters={"topic": "private"}, erase=True)["deleted"] == 1
        assert memory.count(user_id="ines") == 1
    assert traces(path, [secret]) == {}


def test_a_plain_delete_keeps_the_text_in_history_alone(path: Path) -> None:
    word = canary("gone")
    with opened(path) as memory:
        one = memory.add(word, user_id="ines", infer=False)["results"][0]["id"]
        memory.delete(one)
        assert memory.history(one)[0]["new_memory"] == word
        assert memory.search(word, user_id="ines", show_expired=True, threshold=0)["results"] == []
    assert traces(path, [word]) == {word: [path.name]}


def test_a_second_instance_that_has_searched_keeps_nothing_open(path: Path) -> None:
    word = canary("gone")
    with opened(path) as one, opened(path) as two:
        one.add(word, user_id="ines", infer=False)
        assert len(two.search(word, user_id="ines")["results"]) == 1
        answer = one.delete_all(user_id="ines", erase=True)
        assert "warnings" not in answer
        assert traces(path, [word]) == {}
        assert two.search(word, user_id="ines")["results"] == []


def schema_version(path: Path) -> int:
    """A number that writing the file anew moves on."""
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA schema_version").fetchone()[0])


def test_an_id_that_is_not_there_does_not_write_the_file_anew(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder(32)) as memory:
        one = memory.add("the key", user_id="ines", infer=False)["results"][0]["id"]
        before = schema_version(path)
        for wrong, user in (("nonesuch", None), (one, "bo")):
            with pytest.raises(MemoryNotFound):
                memory.delete(wrong, user_id=user, erase=True)
        assert schema_version(path) == before
        memory.delete(one, erase=True)
        assert schema_version(path) > before


def test_an_erasure_whose_ledger_is_closed_before_the_file_is_written_anew_says_so(path: Path) -> None:
    with Memory(path, embedder=HashEmbedder(32)) as memory:
        one = memory.add("the key", user_id="ines", infer=False)["results"][0]["id"]

    async def main() -> Removed:
        ledger = SqliteLedger(path, model=None)
        view = View(Scope(user_id="ines"), date(2026, 1, 1))
        now = datetime(2026, 1, 1, tzinfo=UTC)
        task = asyncio.create_task(ledger.remove(view, now=now, memory_id=one, erase=True))
        await asyncio.sleep(0)
        with closing(sqlite3.connect(path)) as connection:
            while connection.execute("SELECT 1 FROM memories").fetchone():
                time.sleep(0.001)  # the loop stands still: what follows the commit cannot begin yet
        closing_it = threading.Thread(target=ledger.close)
        closing_it.start()
        closing_it.join()
        return await task

    done = asyncio.run(main())
    assert [one.memory_id for one in done.written] == [one]
    assert "erased, but" in done.warnings[0]
    assert "the next erasure does it" in done.warnings[0]


_NO_ROOM = """
import resource, signal, sys
from lukasa import Memory
from lukasa.testing import HashEmbedder
with Memory(sys.argv[1], embedder=HashEmbedder(32)) as memory:
    for n in range(100):
        memory.add(f"entry {n} " + "padding " * 2000, user_id="ines", infer=False)
    one = memory.add("the key", user_id="bo", infer=False)["results"][0]["id"]
memory = Memory(sys.argv[1], embedder=HashEmbedder(32))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
print(memory.delete(one, erase=True)["warnings"])
print(memory.get(one))
"""


def test_an_erasure_without_room_for_the_new_file_says_so(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _NO_ROOM, str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    said = done.stdout.splitlines()
    assert "erased, but" in said[0], done.stderr
    assert said[1] == "None"
