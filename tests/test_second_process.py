"""A second process that opens and closes the file takes nothing from the first, which is then killed."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from lukasa import Memory
from lukasa.testing import HashEmbedder

WRITER = """
import os, sys
from lukasa import Memory
from lukasa.testing import HashEmbedder
memory = Memory(sys.argv[1], embedder=HashEmbedder(32))
memory.add("first", user_id="ines", infer=False)
memory.search("first", user_id="ines")  # a second connection of this process
print("ready", flush=True)
sys.stdin.readline()
for n in range(20):
    memory.add(f"after {n}", user_id="ines", infer=False)
print("acknowledged", flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("visitor", ["bare SQLite", "a Memory"])
def test_who_opens_and_closes_the_file_takes_no_acknowledged_write_along(
    tmp_path: Path, visitor: str
) -> None:
    path = tmp_path / "a.db"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdin is not None
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    if visitor == "a Memory":
        code = "import sys; from lukasa import Memory; from lukasa.testing import HashEmbedder as H; "
        code += "m = Memory(sys.argv[1], embedder=H(32)); m.search('first', user_id='ines'); m.close()"
        subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("SELECT count(*) FROM memories").fetchall()
    assert (tmp_path / "a.db-wal").exists(), "the log that the writer writes to was deleted"
    said, _ = writer.communicate("\n", timeout=60)
    assert said == "acknowledged\n"
    assert writer.returncode == -signal.SIGKILL
    with Memory(path, embedder=HashEmbedder(32)) as memory:
        assert memory.count(user_id="ines") == 21
