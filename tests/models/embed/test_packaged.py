from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from pathlib import Path

import pytest

from lukasa.errors import EmbeddingError, MissingExtra
from lukasa.models.embed.packaged import OncePerProcess, check, folder


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "model.bin"
    path.write_bytes(b"weights")
    return path


DIGEST = hashlib.sha256(b"weights").hexdigest()


def test_a_check_that_passed_is_remembered(weights: Path, tmp_path: Path) -> None:
    store = tmp_path / "cache" / "weights.json"
    check({weights: DIGEST}, distribution="acme==1", passed=store)
    (identity,) = json.loads(store.read_text())
    stat = weights.stat()
    # Same size, time and inode: the file is not read again, or the change would be found.
    weights.write_bytes(b"forged!")
    os.utime(weights, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    check({weights: DIGEST}, distribution="acme==1", passed=store)
    assert str(weights) in identity


def test_a_file_that_changed_is_checked_again(weights: Path, tmp_path: Path) -> None:
    store = tmp_path / "weights.json"
    check({weights: DIGEST}, distribution="acme==1", passed=store)
    weights.write_bytes(b"damaged weights")
    with pytest.raises(EmbeddingError, match=r"--force-reinstall.* acme==1") as caught:
        check({weights: DIGEST}, distribution="acme==1", passed=store)
    assert (caught.value.provider, caught.value.operation) == ("acme", "load")
    assert not caught.value.retryable


def test_another_pinned_digest_is_not_the_one_that_passed(weights: Path, tmp_path: Path) -> None:
    store = tmp_path / "weights.json"
    check({weights: DIGEST}, distribution="acme==1", passed=store)
    with pytest.raises(EmbeddingError):
        check({weights: "0" * 64}, distribution="acme==2", passed=store)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"a": 1}', "\udcff"])
def test_a_broken_memory_only_costs_a_check(weights: Path, tmp_path: Path, content: str) -> None:
    store = tmp_path / "weights.json"
    store.write_bytes(content.encode("utf-8", "surrogateescape"))
    check({weights: DIGEST}, distribution="acme==1", passed=store)
    assert DIGEST in store.read_text()


def test_a_place_that_cannot_be_written_only_costs_a_check(weights: Path) -> None:
    # A file where the folder should be: refused for every user, root included.
    check({weights: DIGEST}, distribution="acme==1", passed=weights / "no" / "weights.json")


def test_a_missing_file_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="pip install --force-reinstall"):
        check({tmp_path / "gone": DIGEST}, distribution="acme==1", passed=tmp_path / "store")


def test_a_missing_package_names_the_alternatives() -> None:
    with pytest.raises(MissingExtra, match=r"acme==1 is not installed.*`use`.*`openai`.*function"):
        folder("lukasa_no_such_package", distribution="acme==1")


def test_threads_that_ask_at_once_share_one_value() -> None:
    made: list[object] = []

    def make() -> object:
        time.sleep(0.05)
        made.append(object())
        return made[-1]

    once = OncePerProcess(make)
    got: list[object] = []
    threads = [threading.Thread(target=lambda: got.append(once.get())) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert set(got) == set(made)


def test_a_failed_try_is_made_again() -> None:
    tries: list[int] = []

    def make() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("busy")
        return "ready"

    once = OncePerProcess(make)
    with pytest.raises(OSError, match="busy"):
        once.get()
    assert once.get() == "ready"
