"""What every command is told: which ledger, whose memories, in which form to answer."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Concatenate, Final, ParamSpec, cast

import typer

from lukasa.archives.base import Ids
from lukasa.config import Settings, default_user, from_environment
from lukasa.errors import LedgerUnavailable
from lukasa.ledger.filters import parse

if TYPE_CHECKING:
    from lukasa.ledger.sqlite.ledger import SqliteLedger
    from lukasa.memory import Memory

P = ParamSpec("P")

NOBODY: Final = "me"
"""The user of a command that names nobody: one person at one machine needs no id."""


@dataclass(frozen=True, slots=True)
class Call:
    """The options that commands have in common."""

    path: str | None = None
    space: str | None = None
    json: bool = False
    ids: Ids = field(default_factory=Ids)

    def settings(self) -> Settings:
        """What was given, else what the environment says."""
        return from_environment(path=self.path, space=self.space)

    def memory(self, *, new: bool = False) -> Memory:
        """The memory that the command is about; to be closed (`with`). Only with *new* may it be made."""
        from lukasa.memory import Memory

        settings = self.settings()
        if not new:
            must_exist(settings.file())
        return Memory.from_settings(settings)

    def ledger(self) -> AbstractContextManager[SqliteLedger]:
        """The bare ledger, whatever embedder wrote it. Raises where there is none yet."""
        settings = self.settings()
        must_exist(settings.file())
        return bare_ledger(settings.file(), settings.tenant())

    def whose(self, filters: Mapping[str, object] | None = None) -> Ids:
        """The ids given here or in *filters*; without any, the user of LUKASA_USER_ID, else "me"."""
        if self.ids or parse(filters).scope:
            return self.ids
        return {"user_id": default_user() or NOBODY}


def must_exist(file: Path) -> None:
    """Raise where there is no ledger: a mistyped path must not become a new one."""
    if not file.exists():
        raise LedgerUnavailable(f"{file}: no ledger there yet; `lukasa add` makes one")


def bare_ledger(path: Path, space: str) -> AbstractContextManager[SqliteLedger]:
    """A ledger for work that needs no embedder: it opens whichever embedder wrote it."""
    from contextlib import closing

    from lukasa.ledger.sqlite.ledger import SqliteLedger

    return closing(SqliteLedger(path, space=space, model=None))


_Path = Annotated[
    str | None, typer.Option("--path", help="The ledger's file (LUKASA_PATH).", show_default=False)
]
_Space = Annotated[
    str | None, typer.Option("--space", help="The tenant within it (LUKASA_SPACE).", show_default=False)
]
_Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")]
_User = Annotated[
    str | None, typer.Option("--user-id", "-u", help="Whose: a user (LUKASA_USER_ID).", show_default=False)
]
_Agent = Annotated[str | None, typer.Option("--agent-id", help="Whose: an agent.", show_default=False)]
_Run = Annotated[str | None, typer.Option("--run-id", help="Whose: a run or session.", show_default=False)]
_App = Annotated[str | None, typer.Option("--app-id", help="Whose: an app.", show_default=False)]

_PLACE: Final[Mapping[str, object]] = {"path": _Path, "space": _Space, "json": _Json}
_IDS: Final[Mapping[str, object]] = {"user_id": _User, "agent_id": _Agent, "run_id": _Run, "app_id": _App}


def placed(command: Callable[Concatenate[Call, P], None]) -> Callable[..., None]:
    """*command* for typer, with `--path`, `--space` and `--json` in place of its first parameter."""
    return _with_options(command, _PLACE)


def scoped(command: Callable[Concatenate[Call, P], None]) -> Callable[..., None]:
    """The same with the four ids as well."""
    return _with_options(command, {**_IDS, **_PLACE})


def _with_options(
    command: Callable[Concatenate[Call, P], None], options: Mapping[str, object]
) -> Callable[..., None]:
    @functools.wraps(command)
    def told(**given: object) -> None:
        common = {name: given.pop(name) for name in options}
        ids = {name: common.pop(name) for name in _IDS if name in common}
        named = cast("Ids", {name: value for name, value in ids.items() if value is not None})
        call = Call(
            path=cast("str | None", common["path"]),
            space=cast("str | None", common["space"]),
            json=bool(common["json"]),
            ids=named,
        )
        cast("Callable[..., None]", command)(call, **given)

    # typer reads both: the real types, not the texts that `from __future__ import annotations` leaves.
    written = inspect.signature(command, eval_str=True)
    own = [p.replace(kind=p.KEYWORD_ONLY) for p in list(written.parameters.values())[1:]]
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if name == "json" else None,
            annotation=kind,
        )
        for name, kind in options.items()
    ]
    signature = written.replace(parameters=[*own, *added])
    told.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess, reportAttributeAccessIssue]  # inspect.signature reads it
    told.__annotations__ = {name: p.annotation for name, p in signature.parameters.items()} | {"return": None}
    return told
