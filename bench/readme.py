"""Fills the figures of README.md and docs/ from bench/results/*.json: `python -m bench.readme`.

A block stands between `<!-- figures: bench/results/NAME.json -->` and `<!-- end -->`. Where the file is not
there, the block is left as it is. A file holds `machine`, a mapping, and `figures`, a list of mappings: each
figure is a row, each key a column, `unit` follows the numbers of its row, `bar` and `met` are one column.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/performance.md", "docs/extraction.md")
BLOCK = re.compile(
    r"(?P<begin><!-- figures: (?P<file>\S+\.json) -->\n)(?P<body>.*?)(?P<end><!-- end -->)", re.DOTALL
)

Figure = Mapping[str, object]


def table(machine: Mapping[str, object], figures: Sequence[Figure]) -> str:
    """The figures as a Markdown table, and what they were measured on."""
    rows = [_row(figure) for figure in figures]
    columns = list(dict.fromkeys(name for row in rows for name, cell in row.items() if cell))
    lines = [
        f"| {' | '.join(columns)} |",
        f"|{'|'.join('---' for _ in columns)}|",
        *(f"| {' | '.join(row.get(name, '') for name in columns)} |" for row in rows),
        "",
        f"Measured on: {', '.join(f'{name} {value}' for name, value in machine.items())}.",
    ]
    return "\n".join(lines) + "\n"


def _row(figure: Figure) -> dict[str, str]:
    unit = str(figure.get("unit") or "")
    row: dict[str, str] = {}
    for name, value in figure.items():
        if name in ("unit", "met", "bar") or value is None:
            continue
        # A name that is indented belongs to the one above.
        part = "– " if name == "name" and str(value).startswith(" ") else ""
        row[name] = part + _cell(value, unit)
    bar = figure.get("bar")
    if bar is not None:
        row["bar"] = f"at most {_cell(bar, unit)}: {'met' if figure.get('met') else 'missed'}"
    return row


def _cell(value: object, unit: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value).strip().replace("|", "\\|").replace("\n", " ")
    shown = (
        f"{value:,}" if isinstance(value, int) else f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    )
    return f"{shown} {unit}".strip()


def fill(page: str, read: Callable[[str], str | None]) -> str:
    """*page* with every block whose file *read* has rendered anew."""

    def block(match: re.Match[str]) -> str:
        text = read(match["file"])
        body = match["body"] if text is None else _rendered(text)
        return match["begin"] + body + match["end"]

    return BLOCK.sub(block, page)


def _rendered(text: str) -> str:
    found = cast("dict[str, object]", json.loads(text))
    machine = cast("Mapping[str, object]", found.get("machine") or {})
    return table(machine, cast("Sequence[Figure]", found["figures"]))


def stored(file: str) -> str | None:
    """The text of a file of results; None where it was not made yet."""
    path = ROOT / file
    return path.read_text("utf-8") if path.exists() else None


def main() -> None:
    for name in PAGES:
        page = ROOT / name
        before = page.read_text("utf-8")
        after = fill(before, stored)
        if after != before:
            page.write_text(after, "utf-8")
        print(f"{name}: {'figures written' if after != before else 'nothing new'}")


if __name__ == "__main__":
    main()
