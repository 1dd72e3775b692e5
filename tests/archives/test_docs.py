"""docs/ingest.md says of archives what the readers do."""

from __future__ import annotations

import re
from pathlib import Path

from tests.archives.conftest import DATA

from lukasa.archives import base, files, parts
from lukasa.serve.cli.ingest import Format

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "ingest.md").read_text("utf-8")
READERS = ROOT / "src" / "lukasa" / "archives"


def test_docs_list_the_formats_that_there_are():
    table = DOCS.partition("## How far it is verified")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [form.value for form in Format]


def test_docs_list_what_each_reader_leaves_out():
    sections = {name: part for name, _, part in (one.partition("\n") for one in DOCS.split("\n## "))}
    for reader, section in (("chatgpt*", "ChatGPT"), ("claude", "Claude"), ("mem0*", "mem0")):
        source = "".join(path.read_text("utf-8") for path in READERS.glob(f"{reader}.py"))
        named = set(
            re.findall(r"""(?:left\[|Left\(|^    "\w+": )"([a-z][a-z A-Z.0-9]+)\"""", source, re.MULTILINE)
        )
        named |= set(re.findall(r'"(attachments|files)": len', source))
        listed = {
            name
            for row in re.findall(r"^\| (`[a-z].+?`) \|", sections[section], re.MULTILINE)
            for name in re.findall(r"`([^`]+)`", row)
        }
        assert len(named) > 2
        assert named <= listed, reader


def test_docs_name_the_stores_that_are_tested():
    row = re.search(r"^\| mem0 \| real stores: (.+?) wrote", DOCS, re.MULTILINE)
    assert row
    told = {
        f"{version}-{store.lower()}"
        for version, stores in re.findall(r"(\d+\.\d+\.\d+) \(([^)]+)\)", row[1])
        for store in stores.split(", ")
    }
    assert told == {path.name for path in (DATA / "mem0").iterdir() if path.is_dir()}


def test_numbers_in_docs_are_those_of_the_code():
    assert f"parts of {parts.MOST} messages" in DOCS
    assert f"{base.MOST_BYTES // 1_000_000} million characters" in DOCS
    assert f"{files.RATIO} times its size" in DOCS
