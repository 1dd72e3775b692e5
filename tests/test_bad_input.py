"""What should not come, and comes: a typed error that says what to do, nothing lost, the next call works."""

import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from lukasa import Memory
from lukasa.errors import (
    ConfigError,
    InputError,
    LedgerCorrupt,
    LedgerError,
    LedgerTooNew,
    LedgerUnavailable,
    LukasaError,
    MessageError,
    UnknownOption,
)
from lukasa.testing import HashEmbedder


def opened(path: Path) -> Memory:
    return Memory(path, embedder=HashEmbedder(32))


MESSAGES: list[Any] = [
    None,
    7,
    b"bytes",
    [],
    "",
    "  \n",
    [None],
    [dict[str, object]()],
    [{"role": "user"}],
    [{"role": "boss", "content": "x"}],
] + [[{"role": "user", "content": 3}], {"role": "user", "content": [{"type": "hologram"}]}, "\x00\x01"]


@pytest.mark.parametrize("messages", MESSAGES)
def test_messages_that_are_none_raise_and_store_nothing(tmp_path: Path, messages: Any) -> None:
    with opened(tmp_path / "a.db") as memory:
        with pytest.raises(MessageError):
            memory.add(messages, user_id="ines", infer=False)
        assert memory.count(all_scopes=True, show_expired=True) == 0
        memory.add("works after all", user_id="ines", infer=False)


CALLS: list[Callable[[Any], object]] = [  # Any: what a caller without a type checker may pass
    lambda m: m.search("", user_id="u"),
    lambda m: m.search(None, user_id="u"),
    lambda m: m.search("x", user_id="u", limit=-1),
    lambda m: m.search("x", user_id="u", limit=10**9),
    lambda m: m.search("x", user_id="u", limit=True),
    lambda m: m.search("x", user_id="u", threshold="high"),
    lambda m: m.search("x", user_id="u", as_of="yesterday-ish"),
    lambda m: m.search("x", user_id="u", filters={"a": {"like": 1}}),
    lambda m: m.search("x", user_id=" u"),
    lambda m: m.search("x"),
    lambda m: m.get(""),
    lambda m: m.get(3),
    lambda m: m.get_all(),
    lambda m: m.get_all(user_id="u", cursor="zzz"),
    lambda m: m.get_all(user_id="u", all_scopes=True),
    lambda m: m.add("x", user_id="u", metadata={"a": float("nan")}, infer=False),
    lambda m: m.add("x", user_id="u", metadata={1: 2}, infer=False),
    lambda m: m.add("x", user_id="u", metadata={"a": {1, 2}}, infer=False),
    lambda m: m.add("x", user_id="u", timestamp="soon", infer=False),
    lambda m: m.add("x", user_id="u", timestamp=10**30, infer=False),
    lambda m: m.add("x", user_id="u", expiration_date="2020-13-01", infer=False),
    lambda m: m.add("x", user_id="u", idempotency_key=" ", infer=False),
    lambda m: m.update("x"),
    lambda m: m.update("x", " "),
    lambda m: m.update("x", "a", data="b"),
    lambda m: m.update("x", "a"),
    lambda m: m.delete("x"),
    lambda m: m.why("x"),
    lambda m: m.delete_all(),
]


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_call_raises_an_input_error_and_changes_nothing(
    tmp_path: Path, call: Callable[[Any], object]
) -> None:
    with opened(tmp_path / "a.db") as memory:
        memory.add("here", user_id="u", infer=False)
        with pytest.raises(InputError):
            call(memory)
        assert memory.count(all_scopes=True) == 1


FLAGS: list[Callable[[Any, Any], object]] = [
    lambda m, flag: m.get_all(all_scopes=flag),
    lambda m, flag: m.count(all_scopes=flag),
    lambda m, flag: m.delete_all(all_scopes=flag),
    lambda m, flag: m.delete_all(user_id="u", erase=flag),
    lambda m, flag: m.delete(m.get_all(user_id="u")["results"][0]["id"], erase=flag),
    lambda m, flag: m.search("x", user_id="u", show_expired=flag),
    lambda m, flag: m.get_all(user_id="u", show_expired=flag),
    lambda m, flag: m.count(user_id="u", show_expired=flag),
    lambda m, flag: m.search("x", user_id="u", explain=flag),
    lambda m, flag: m.add("x", user_id="u", infer=flag),
]


@pytest.mark.parametrize("flag", ["False", "no", 1, 0, None, [0], "", object()], ids=str)
@pytest.mark.parametrize("call", FLAGS)
def test_what_is_neither_true_nor_false_is_not_taken_for_either(
    tmp_path: Path, call: Callable[[Any, Any], object], flag: Any
) -> None:
    with opened(tmp_path / "a.db") as memory:
        memory.add("here", user_id="u", infer=False)
        with pytest.raises(InputError, match="is True or False, not"):
            call(memory, flag)
        assert memory.count(all_scopes=True) == 1


HUGE = 10**5000
LATEST = datetime.max.replace(tzinfo=timezone(timedelta(hours=-14)))
TEN_THOUSAND = "x" * 10_000
ODD: list[Callable[[Any], object]] = [
    *(lambda m, name=name: m.count(**{name: HUGE}) for name in ("user_id", "agent_id", "run_id", "app_id")),
    *(
        lambda m, value=value, name=name: m.get_all(**{"user_id": "u", name: value})
        for name in ("limit", "top_k", "cursor", "as_of", "filters")
        for value in (HUGE, -HUGE, [HUGE], {HUGE: 1}, TEN_THOUSAND, {TEN_THOUSAND: {"like": 1}})
    ),
    *(lambda m, value=value: m.get(value) for value in (HUGE, TEN_THOUSAND, [TEN_THOUSAND])),
    *(
        lambda m, value=value: m.search("x", user_id="u", threshold=value)
        for value in (HUGE, [HUGE], TEN_THOUSAND)
    ),
    lambda m: m.search(HUGE, user_id="u"),
    lambda m: m.search("x", user_id="u", limit=HUGE, top_k=1),
    *(
        lambda m, value=value: m.add("x", user_id="u", metadata=value, infer=False)
        for value in ({"a": HUGE}, {"a": [{"b": -HUGE}]}, {HUGE: 1}, {"a": LATEST}, {TEN_THOUSAND: object()})
    ),
    lambda m: m.add({"role": HUGE, "content": "x"}, user_id="u", infer=False),
    lambda m: m.add({"content": [{"type": HUGE}]}, user_id="u", infer=False),
    lambda m: m.add({"content": "x", "timestamp": HUGE}, user_id="u", infer=False),
    lambda m: m.add("x", user_id="u", timestamp=HUGE, infer=False),
    lambda m: m.add("x", user_id="u", timestamp=LATEST, infer=False),
    lambda m: m.add("x", user_id="u", expiration_date=HUGE, infer=False),
    lambda m: m.add("x", user_id="u", idempotency_key=HUGE, infer=False),
]


ARGUMENTS: list[tuple[Callable[[Any], object], str]] = [
    (
        lambda m: m.add("x", "ines"),
        "add takes messages without a name; 'ines' needs one. By name it takes: mess",
    ),
    (lambda m: m.search("x", "ines"), "search takes query without a name; 'ines' needs one"),
    (lambda m: m.get_all("ines"), "get_all takes nothing without a name; 'ines' needs one"),
    (lambda m: m.delete_all("u", "a", "r", "x"), "'x' needs one"),
    (lambda m: m.search(user_id="ines"), "search needs query"),
    (lambda m: m.add(), "add needs messages"),
    (lambda m: m.update(), "update needs memory_id"),
    (lambda m: m.add("x", messages="y", user_id="u", infer=False), "add got messages twice"),
    (lambda m: m.add("x", usr_id="u"), "add has no option 'usr_id'; did you mean 'user_id'?"),
    (lambda m: type(m)("a.db", spcae="x"), "Memory has no option 'spcae'; did you mean 'space'?"),
    (lambda m: type(m)("a.db", "x"), "Memory takes path without a name; 'x' needs one"),
    (lambda m: type(m)("a.db", path="x"), "Memory got path twice"),
    (
        lambda m: type(m.aio)("a.db", embeder="x"),
        "AsyncMemory has no option 'embeder'; did you mean 'embedder",
    ),
]


@pytest.mark.parametrize(("call", "message"), ARGUMENTS, ids=[message[:40] for _, message in ARGUMENTS])
def test_arguments_that_do_not_fit_are_told(
    tmp_path: Path, call: Callable[[Any], object], message: str
) -> None:
    with opened(tmp_path / "a.db") as memory:
        with pytest.raises(UnknownOption) as told:
            call(memory)
        assert isinstance(told.value, TypeError)
        assert message in str(told.value)


@pytest.mark.parametrize("call", ODD)
def test_what_is_huge_raises_an_input_error_of_a_few_lines(
    tmp_path: Path, call: Callable[[Any], object]
) -> None:
    with opened(tmp_path / "a.db") as memory:
        memory.add("here", user_id="u", infer=False)
        with pytest.raises(InputError) as told:
            call(memory)
        assert len(str(told.value)) < 600
        assert memory.count(all_scopes=True) == 1


@pytest.mark.parametrize("now", [LATEST.replace(tzinfo=None), None, 5, LATEST])
def test_a_clock_that_names_no_zone_is_told(tmp_path: Path, now: Any) -> None:
    with (
        Memory(tmp_path / "a.db", embedder=HashEmbedder(32), clock=lambda: now) as memory,
        pytest.raises(ConfigError, match=r"clock gave .* datetime.now\(UTC\)|years 1 to 9999"),
    ):
        memory.add("x", user_id="u", infer=False)


def test_a_clock_of_another_zone_tells_the_same_time(tmp_path: Path) -> None:
    zone = timezone(timedelta(hours=14))
    at = datetime(2026, 1, 2, 1, tzinfo=zone)
    with Memory(tmp_path / "a.db", embedder=HashEmbedder(32), clock=lambda: at) as memory:
        memory.add("x", user_id="u", expiration_date="2026-01-01", infer=False)
        (item,) = memory.get_all(user_id="u")["results"]
        assert item["created_at"] == "2026-01-01T11:00:00.000000+00:00"


def test_ten_megabytes_of_text_are_kept_and_found(tmp_path: Path) -> None:
    text = "The needle is here. " + "hay and more hay in the stack " * 350_000
    with opened(tmp_path / "a.db") as memory:
        one = memory.add(text, user_id="ines", infer=False)["results"][0]["id"]
        assert (memory.get(one) or {}).get("memory") == text
        assert memory.search("needle", user_id="ines")["results"][0]["id"] == one
        assert memory.search(text[:200_000], user_id="ines", threshold=0)["results"]


def test_five_thousand_messages_are_five_thousand_memories(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as memory:
        done = memory.add(
            [{"role": "user", "content": f"note {n}"} for n in range(5000)], user_id="ines", infer=False
        )
        assert len(done["results"]) == memory.count(user_id="ines") == 5000


def test_surrogates_nul_and_control_characters_are_cleaned(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as memory:
        made = memory.add(
            "a\x00b \ud800 c\x07d \U0001f375", user_id="ines", metadata={"k\x00": "v\udfff"}, infer=False
        )
        assert made["results"][0]["memory"] == "ab \ufffd cd \U0001f375"
        assert memory.search("\ud83c\udf75 cd", user_id="ines")["results"]


@pytest.mark.parametrize("where", ["is a folder", "under a file", "not a place"])
def test_a_path_that_cannot_be_used_is_named(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").write_text("x")
    paths = {
        "is a folder": tmp_path,
        "under a file": tmp_path / "file" / "a.db",
        "not a place": Path("/proc/x/a.db"),
    }
    path = paths[where]
    with pytest.raises(LedgerUnavailable) as caught, opened(path) as memory:
        memory.add("x", user_id="ines", infer=False)
    assert str(path) in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(LedgerUnavailable, match="permission"), opened(tmp_path / "a.db") as memory:
        memory.count(user_id="ines")


def test_what_is_no_database_or_not_ours_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("this is not a database, not at all " * 100)
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE theirs (x)")
    other.close()
    for name in ("text.db", "other.db"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(LedgerCorrupt, match="another path"), opened(tmp_path / name) as memory:
            memory.count(user_id="ines")
        after = (tmp_path / name).read_bytes()
        assert after[100:] == before[100:], "at most the journal mode in the header may differ"


def test_a_newer_ledger_says_what_to_upgrade(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as memory:
        memory.add("x", user_id="ines", infer=False)
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with (
        pytest.raises(LedgerTooNew, match="pip install --upgrade lukasa"),
        opened(tmp_path / "a.db") as memory,
    ):
        memory.count(user_id="ines")


FULL = """
import resource, signal, sys
from lukasa import Memory
from lukasa.errors import LedgerError
from lukasa.testing import HashEmbedder
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
memory = Memory(sys.argv[1], embedder=HashEmbedder(32))
memory.add("the first", user_id="ines", infer=False)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
stored = 1
try:
    for n in range(10_000):
        memory.add(f"note {n} " + "filling " * 500, user_id="ines", infer=False)
        stored += 1
except LedgerError as error:
    print(stored, type(error).__name__, flush=True)
assert memory.count(user_id="ines") == stored, (memory.count(user_id="ines"), stored)
assert memory.search("first", user_id="ines")["results"]
"""


def test_a_full_disk_is_told_and_nothing_is_lost_or_half_written(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "a.db")], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    stored, kind = done.stdout.split()
    assert kind == "LedgerUnavailable"
    with opened(tmp_path / "a.db") as memory:
        assert memory.count(user_id="ines") == int(stored)
        memory.add("room again", user_id="ines", infer=False)


@pytest.mark.parametrize("option", [{"path": ":memory:"}, {"path": 3}, {"space": " "}, {"cache_mb": -1}])
@pytest.mark.parametrize("more", [{}, {"embedder": "hash"}])
def test_a_wrong_setting_raises_at_the_first_verb(option: dict[str, Any], more: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Memory(**option, **more).count(user_id="ines")


@pytest.mark.parametrize("embedder", ["nanoe6", "openai:x:y:", 7, object()])
def test_a_wrong_embedder_raises_with_the_known_ones(tmp_path: Path, embedder: Any) -> None:
    with pytest.raises(LukasaError):
        Memory(tmp_path / "a.db", embedder=embedder).add("x", user_id="ines", infer=False)


def test_importing_needs_no_home_and_brings_no_numpy(tmp_path: Path) -> None:
    code = (
        "import sys, lukasa; print([m for m in ('numpy', 'pydantic', 'openai', 'rich') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": os.environ["PATH"], "HOME": "/proc/nowhere"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_errors_of_a_closed_memory_say_so(tmp_path: Path) -> None:
    memory = opened(tmp_path / "a.db")
    memory.close()
    memory.close()
    with pytest.raises(LedgerError, match="was closed"):
        memory.count(user_id="ines")


def test_file_descriptors_do_not_leak(tmp_path: Path) -> None:
    def held() -> int:
        return len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert soft > 0
    for _ in range(3):
        with opened(tmp_path / "a.db") as memory:
            memory.add("x", user_id="ines", infer=False)
    before = held()
    for _ in range(30):
        with opened(tmp_path / "a.db") as memory:
            memory.add("x", user_id="ines", infer=False)
            memory.search("x", user_id="ines")
    assert held() <= before + 2
