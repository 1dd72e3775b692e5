"""An archive of any length takes the memory of its longest entry."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.archives.test_chatgpt import message, text, tree

from lukasa.archives.detect import archive

MEGABYTE = 1_000_000
READER = """
import resource, sys
from pathlib import Path
from lukasa.archives.detect import archive
for name in sys.argv[1:]:
    count = sum(1 for _ in archive(Path(name)).read(lambda _: None))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(count, peak * (1 if sys.platform == "darwin" else 1024))
"""


def chats(size: int) -> Iterator[str]:
    """A ChatGPT export of about *size* bytes, piece by piece: 10 to 400 messages a conversation."""
    dice = random.Random(7)
    words = ["".join(dice.choices("etaoinshrdlu", k=dice.randint(2, 9))) for _ in range(2000)] + [
        "喝茶",
        "über",
    ]
    written = number = 0
    while written < size:
        said = [
            message(
                "user" if turn % 2 == 0 else "assistant", text(" ".join(dice.choices(words, k=100))), turn
            )
            for turn in range(dice.choice([10, 20, 40, 400]))
        ]
        piece = ("," if number else "[") + json.dumps(tree(*said, conversation_id=f"c-{number}"))
        written, number = written + len(piece), number + 1
        yield piece
    yield "]"


def export(file: Path, size: int) -> Path:
    with file.open("w", encoding="utf-8") as stream:
        stream.writelines(chats(size))
    return file


def peaks(*files: Path) -> list[int]:
    """The most memory that a process had taken after reading each of *files*."""
    done = subprocess.run(
        [sys.executable, "-c", READER, *map(str, files)],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    read = [line.split() for line in done.stdout.splitlines()]
    assert all(int(count) > 0 for count, _ in read)
    return [int(peak) for _, peak in read]


def test_reading_20_megabytes_holds_a_conversation_at_a_time(tmp_path: Path):
    file = export(tmp_path / "conversations.json", 20 * MEGABYTE)
    tracemalloc.start()
    try:
        taken = [0]

        def advance(size: int) -> None:
            taken[0] += size

        count = sum(1 for _ in archive(file).read(advance))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count > 100
    assert taken[0] == file.stat().st_size
    assert peak < 6 * MEGABYTE  # the longest conversation has half a megabyte


def test_ten_times_the_export_takes_no_more_memory(tmp_path: Path):
    small, large = (export(tmp_path / f"{size}.json", size * MEGABYTE) for size in (2, 20))
    packed = tmp_path / "export.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        made.write(large, "conversations.json")
    first, *later = peaks(small, large, packed)
    assert max(later) - first < 8 * MEGABYTE


@pytest.mark.slow
def test_a_hundred_times_the_export_takes_no_more_memory(tmp_path: Path):
    small, large = (export(tmp_path / f"{size}.json", size * MEGABYTE) for size in (2, 200))
    first, last = peaks(small, large)
    assert last - first < 8 * MEGABYTE
