"""README and docs are read as code: their blocks run, and what they state is compared with what is there."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from bench.readme import BLOCK, PAGES, fill, stored

from lukasa import AsyncMemory, errors, results
from lukasa.config import DEFAULT_CACHE_MB
from lukasa.ledger.base import Signals
from lukasa.ledger.sqlite.connect import BUSY_SECONDS
from lukasa.ledger.sqlite.schema import MIGRATIONS
from lukasa.ledger.sqlite.search import K1, B
from lukasa.messages.normalize import ROLES
from lukasa.messages.secrets import MASK
from lukasa.models.embed.base import Calibration
from lukasa.options import DEFAULT_LIMIT, MOST
from lukasa.recall.rank import WEIGHTS, rank
from lukasa.registry import EMBEDDERS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TEXTS = sorted(
    [*ROOT.glob("*.md"), *DOCS.glob("*.md")],
    key=lambda path: path.relative_to(ROOT).as_posix(),
)
NAMES = [path.relative_to(ROOT).as_posix() for path in TEXTS]
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)


def blocks(path: Path, *languages: str) -> list[str]:
    return [code for language, code in FENCE.findall(path.read_text("utf-8")) if language in languages]


def with_blocks(*languages: str) -> list[str]:
    return [name for name in NAMES if blocks(ROOT / name, *languages)]


def prose(name: str) -> str:
    return FENCE.sub("", (ROOT / name).read_text("utf-8"))


def section(name: str, heading: str) -> str:
    """What stands under a heading, up to the next one of the same level or above."""
    text = (ROOT / name).read_text("utf-8")
    found = re.search(rf"^(#+) {re.escape(heading)}$", text, re.MULTILINE)
    assert found, f"{name} has no heading {heading!r}"
    rest = text[found.end() :]
    end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def first_cells(text: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


# --- blocks run


@pytest.mark.parametrize("name", with_blocks("python"))
def test_python_blocks_run_and_print_what_they_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "docs"}
    for number, code in enumerate(blocks(ROOT / name, "python"), 1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"{name}, block {number}", "exec"), namespace)
        assert printed.getvalue().splitlines() == SHOWN.findall(code), f"{name}, block {number}"


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    beside = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{beside}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder / "data"),
        "LUKASA_PATH": str(folder / "lukasa.db"),
    }
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        input="y\n",  # to those that ask
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def commands(code: str) -> list[tuple[str, list[str]]]:
    """The commands of a console block that call lukasa, each with the lines that are shown under it."""
    found: list[tuple[str, list[str]]] = []
    for part in re.split(r"^\$ ", code.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, *shown = part.rstrip("\n").splitlines()
        if re.search(r"\blukasa\b", command) and not command.startswith(("pip ", "make ")):
            found.append((command, [line for line in shown if line.strip()]))
    return found


@pytest.mark.parametrize("name", with_blocks("console"))
def test_console_blocks_run_and_answer_what_they_say(name: str, tmp_path: Path) -> None:
    for code in blocks(ROOT / name, "console"):
        for command, shown in commands(code):
            done = shell(command, tmp_path)
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            if shown:
                given = [" ".join(line.split()) for line in done.stdout.splitlines()]
                wanted = [re.escape(" ".join(line.split())).replace("…", ".*") for line in shown]
                assert len(given) == len(wanted), done.stdout
                for line, pattern in zip(given, wanted, strict=True):
                    assert re.fullmatch(pattern, line), f"{command}\n{line}\n{pattern}"


# --- links and names


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
        found.add(plain.strip().replace(" ", "-"))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    missing: list[str] = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(name)):
        if re.match(r"https?://|mailto:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (ROOT / name).parent / file if file else ROOT / name
        if not target.exists() or (anchor and anchor not in anchors(target.read_text("utf-8"))):
            missing.append(link)
    assert not missing


@pytest.mark.parametrize("name", NAMES)
def test_make_targets_exist(name: str) -> None:
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"[`$] ?make ([a-z][a-z0-9-]*)", (ROOT / name).read_text("utf-8")))
    assert named <= targets


@pytest.mark.parametrize("name", NAMES)
def test_options_of_pip_exist(name: str) -> None:
    extras = set(
        re.findall(r"^(\w+) = \[", section_of_pyproject("project.optional-dependencies"), re.MULTILINE)
    )
    named = re.findall(r"lukasa\[([\w,]+)\]", (ROOT / name).read_text("utf-8"))
    assert {extra for one in named for extra in one.split(",")} <= extras


def section_of_pyproject(name: str) -> str:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    return text.partition(f"[{name}]\n")[2].partition("\n[")[0]


def test_the_index_leads_to_every_page() -> None:
    linked = set(re.findall(r"\]\(([\w-]+\.md)", (DOCS / "index.md").read_text("utf-8")))
    assert {path.name for path in DOCS.glob("*.md")} - {"index.md"} <= linked


# --- verbs


def verbs() -> Mapping[str, inspect.Signature]:
    return {
        name: inspect.signature(member)
        for name, member in [*vars(AsyncMemory).items(), ("aclose", AsyncMemory.aclose)]
        if inspect.iscoroutinefunction(member) and not name.startswith("_")
    }


def written(name: str, signature: inspect.Signature) -> str:
    """A verb's signature without its types."""
    plain = signature.replace(
        parameters=[
            parameter.replace(annotation=inspect.Parameter.empty)
            for parameter in list(signature.parameters.values())[1:]
        ],
        return_annotation=inspect.Signature.empty,
    )
    return f"{name}{plain}".replace("Unset()", "UNSET")


@pytest.mark.parametrize("verb", verbs())
def test_memory_md_has_every_verb_with_its_arguments(verb: str) -> None:
    text = section("docs/memory.md", f"`{verb}`")
    shown = re.search(r"^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert shown, f"{verb} has no signature"
    assert "".join(shown[1].split()) == "".join(written(verb, verbs()[verb]).split())
    ids = {"user_id", "agent_id", "run_id", "app_id"}  # explained once, for all verbs
    told = set(re.findall(r"`(\w+)(?:=[^`]*)?`", FENCE.sub("", text)))
    assert set(verbs()[verb].parameters) - {"self"} - ids <= told


def test_memory_md_names_the_verbs_in_the_order_of_the_class() -> None:
    headings = re.findall(r"^### `([a-z_]+)`$", (DOCS / "memory.md").read_text("utf-8"), re.MULTILINE)
    assert headings == list(verbs())


def test_memory_md_has_the_arguments_of_the_constructor() -> None:
    parameters = list(inspect.signature(AsyncMemory).parameters)
    assert first_cells(section("docs/memory.md", "Making one")) == parameters


@pytest.mark.parametrize(
    "shape",
    [
        name
        for name, value in vars(results).items()
        if isinstance(value, type) and value.__module__ == results.__name__
    ],
)
def test_memory_md_has_the_keys_of_every_result(shape: str) -> None:
    keys = list(cast("type[object]", getattr(results, shape)).__annotations__)
    cells = first_cells(section("docs/memory.md", f"`{shape}`"))
    assert [key for cell in cells for key in cell.split(", ")] == keys


# --- errors


def drawn(text: str) -> dict[str, tuple[str, str]]:
    """name -> (parent, builtin) of a tree as it is drawn."""
    path: list[str] = []
    found: dict[str, tuple[str, str]] = {}
    for line in text.splitlines():
        match = re.match(r"^([│├└─ ]*)(\w+)(?: \((\w+)\))?", line)
        if match is None or not (match[1] or not found):
            continue
        depth = len(match[1]) // 4
        path[depth:] = [match[2]]
        found[match[2]] = (path[depth - 1] if depth else "", match[3] or "")
    return found


def declared() -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for name, value in vars(errors).items():
        if not (isinstance(value, type) and issubclass(value, errors.LukasaError)):
            continue
        ours = [base.__name__ for base in value.__bases__ if issubclass(base, errors.LukasaError)]
        builtin = [base.__name__ for base in value.__bases__ if not issubclass(base, errors.LukasaError)]
        found[name] = (ours[0], "".join(builtin)) if ours else ("", "")
    return found


def tree_of_docstring() -> str:
    return FENCE_PLAIN.findall(inspect.getdoc(errors) or "")[0]


FENCE_PLAIN = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_tree_in_errors_py_is_the_classes() -> None:
    assert drawn(tree_of_docstring()) == declared()


def test_the_tree_in_errors_md_is_the_one_in_errors_py() -> None:
    assert blocks(DOCS / "errors.md", "text")[0] == tree_of_docstring()


def test_errors_md_explains_every_error() -> None:
    assert set(first_cells((DOCS / "errors.md").read_text("utf-8"))) == set(declared()) - {"LukasaError"}


# --- what is generated or listed


def test_embedders_md_has_every_embedder() -> None:
    text = (DOCS / "embedders.md").read_text("utf-8")
    assert [name for name in EMBEDDERS if f"`{name}`" not in text] == []


@pytest.mark.parametrize("name", PAGES)
def test_figures_are_those_of_the_last_run(name: str) -> None:
    page = (ROOT / name).read_text("utf-8")
    assert BLOCK.search(page)
    empty = {match["file"] for match in BLOCK.finditer(page) if match["body"].startswith("Run `make ")}
    filled = fill(page, lambda file: None if file in empty else stored(file))
    assert filled == page, "run: python -m bench.readme"


def test_messages_md_has_every_kind_of_secret() -> None:
    kinds = re.search(r"\(\?:(.+)\)", MASK.pattern)
    assert kinds
    assert set(first_cells(section("docs/messages.md", "Secrets"))) == set(kinds[1].split("|"))


def test_messages_md_has_every_role() -> None:
    row = re.search(r"^\| `role` \| (.+) \|$", (DOCS / "messages.md").read_text("utf-8"), re.MULTILINE)
    assert row
    assert set(ROLES) <= set(re.findall(r"`(\w+)`", row[1]))


def test_search_md_has_every_number_of_explain() -> None:
    ones = np.ones(1, np.float32)
    parts = rank(
        Signals(np.ones(1, np.int64), ones, ones, ones), calibration=Calibration(), top_k=1, threshold=0
    ).parts
    assert set(first_cells(section("docs/search.md", "Explain"))) == {*parts, "threshold"}


THRESHOLD: object = inspect.signature(AsyncMemory.search).parameters["threshold"].default
NUMBERS: list[tuple[str, str, object]] = [
    ("search.md", r"^score .*= 1 − .* (\S+) × keyword_coverage\)$", WEIGHTS.keyword),
    ("search.md", r"^rank_score .* (\S+) × bm25_score$", WEIGHTS.bm25),
    ("search.md", r"k = (\S+) × \(1 − ", K1),
    ("search.md", r"k = \S+ × \(1 − (\S+) \+ ", B),
    (
        "search.md",
        r"`threshold` \((\S+)\) drops",
        inspect.signature(AsyncMemory.search).parameters["threshold"].default,
    ),
    ("memory.md", r"^\| `cache_mb` \| `(\d+)` \|", DEFAULT_CACHE_MB),
    ("memory.md", r"one thing under two names, 0 to ([\d,]+)", MOST),
    ("memory.md", r"0 to [\d,]+ \(default (\d+)\)", DEFAULT_LIMIT),
    ("memory.md", r"size of a page \(default (\d+)\)", DEFAULT_LIMIT),
    ("ledger.md", r"for up to (\d+) seconds", BUSY_SECONDS),
]


@pytest.mark.parametrize(("page", "pattern", "value"), NUMBERS)
def test_numbers_in_prose_are_those_of_the_code(page: str, pattern: str, value: object) -> None:
    found = re.search(pattern, (DOCS / page).read_text("utf-8"), re.MULTILINE)
    assert found, f"{page} no longer says {pattern}"
    assert float(found[1].replace(",", "")) == value


def test_ledger_md_names_every_table() -> None:
    tables = {
        name for script in MIGRATIONS for name in re.findall(r"^CREATE TABLE (\w+)", script, re.MULTILINE)
    }
    listed = re.findall(r"^- (`\w+`.*?):", section("docs/ledger.md", "Tables"), re.MULTILINE)
    assert {name for line in listed for name in re.findall(r"`(\w+)`", line)} == tables


def test_search_md_has_every_language_with_stems() -> None:
    listed = re.search(r"Stems are known of: (.+?)\.", (DOCS / "search.md").read_text("utf-8"), re.DOTALL)
    assert listed
    names = {name.strip().lower() for name in listed[1].split(",")}
    source = ast.parse((ROOT / "src/lukasa/text/stems.py").read_text("utf-8"))
    table = next(
        node.value
        for node in source.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_STEMMERS"
    )
    assert names == set(cast("dict[str, str]", ast.literal_eval(table)).values())


def test_figures_become_a_table() -> None:
    page = "<!-- figures: a.json -->\nold\n<!-- end -->\n"
    text = (
        '{"machine": {"cpus": 2}, "figures": [{"name": "search", "value": 0.25, "unit": "ms", "bar": 1.0,'
        ' "note": "", "met": true}, {"name": " file", "value": 12345, "unit": "kB", "bar": null,'
        ' "met": null}]}'
    )
    assert fill(page, {"a.json": text}.get) == (
        "<!-- figures: a.json -->\n"
        "| name | value | bar |\n|---|---|---|\n"
        "| search | 0.25 ms | at most 1 ms: met |\n| – file | 12,345 kB |  |\n\n"
        "Measured on: cpus 2.\n<!-- end -->\n"
    )
    assert fill(page, dict[str, str]().get) == page


def test_the_readme_example_has_ten_lines_at_most() -> None:
    code = blocks(ROOT / "README.md", "python")[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 10


def test_the_licence_is_complete() -> None:
    import hashlib

    digest = hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest()
    # https://www.apache.org/licenses/LICENSE-2.0.txt
    assert digest == "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"


def test_the_changelog_has_this_version() -> None:
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert version
    assert f"## [{version[1]}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_python_blocks_are_valid_python() -> None:
    for path in TEXTS:
        for code in blocks(path, "python"):
            ast.parse(code)
