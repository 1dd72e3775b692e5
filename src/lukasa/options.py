"""The verbs' arguments: unknown keywords, mem0's two names for one thing, limits and thresholds."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from lukasa.errors import InputError, ScopeError, UnknownOption
from lukasa.messages.scope import scope_of
from lukasa.text.clean import clean
from lukasa.text.shown import shown
from lukasa.types import Scope

P = ParamSpec("P")
R = TypeVar("R")

NO_SCOPE = (
    "whose memories? give user_id, agent_id, run_id or app_id (as arguments, or in filters by equality); "
    "for everybody's say all_scopes=True to get_all, count or delete_all"
)
DEFAULT_LIMIT = 20
MOST = 10_000
_LONGEST_ID = 200


def verb(
    method: Callable[P, Coroutine[Any, Any, R]],  # pyright: ignore[reportExplicitAny]  # what a coroutine yields is asyncio's affair
) -> Callable[P, Coroutine[Any, Any, R]]:  # pyright: ignore[reportExplicitAny]
    """A public method whose unknown keywords raise `UnknownOption`, which names the nearest known one.

    What it declares as `bool` must be one: "False" or 1 would be taken for a yes.
    """
    signature = inspect.signature(method)
    known = list(signature.parameters)[1:]
    flags = {name for name, one in signature.parameters.items() if one.annotation in (bool, "bool")}

    @functools.wraps(method)
    async def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in known:
                raise UnknownOption(unknown_option(method.__name__, name, known))
            if name in flags and not isinstance(kwargs[name], bool):
                raise InputError(f"{name} is True or False, not {shown(kwargs[name])}")
        try:
            running = method(*args, **kwargs)
        except TypeError as error:  # a coroutine has not begun: it is the arguments that do not fit
            raise UnknownOption(_misfit(method.__name__, signature, args, kwargs)) from error
        return await running

    return checked


def constructor(method: Callable[P, None]) -> Callable[P, None]:
    """An `__init__` whose arguments, where they do not fit, raise `UnknownOption` like those of a verb."""
    signature = inspect.signature(method)
    known = list(signature.parameters)[1:]

    @functools.wraps(method)
    def checked(*args: P.args, **kwargs: P.kwargs) -> None:
        name = type(args[0]).__name__
        for key in kwargs:
            if key not in known:
                raise UnknownOption(unknown_option(name, key, known))
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise UnknownOption(_misfit(name, signature, args, kwargs)) from error
        method(*args, **kwargs)

    return checked


def _misfit(
    name: str, signature: inspect.Signature, args: Sequence[object], kwargs: Mapping[str, object]
) -> str:
    """What to tell a caller whose arguments do not fit; the first one is `self`."""
    own = list(signature.parameters.values())[1:]
    plain = [one.name for one in own if one.kind is not one.KEYWORD_ONLY]
    named = [one.name for one in own if one.kind is one.KEYWORD_ONLY]
    surplus = args[1 + len(plain) :]
    if surplus:
        said = f"{name} takes {', '.join(plain) or 'nothing'} without a name; {shown(surplus[0])} needs one"
    else:
        lacking = [one.name for one in own if one.default is one.empty and one.name not in kwargs]
        twice = [one for one in plain[: len(args) - 1] if one in kwargs]
        said = (
            f"{name} got {twice[0]} twice" if twice else f"{name} needs {', '.join(lacking[len(args) - 1 :])}"
        )
    return f"{said}. By name it takes: {', '.join([*plain, *named])}"


def unknown_option(where: str, name: str, known: list[str]) -> str:
    """What to tell a caller who wrote an option that does not exist."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return f"{where} has no option {shown(name)}{hint} It takes: {', '.join(known)}"


def one_limit(top_k: object, limit: object) -> int:
    """`top_k` and `limit` are one thing; 20 where neither is given."""
    if top_k is not None and limit is not None and top_k != limit:
        raise InputError(f"top_k={shown(top_k)} and limit={shown(limit)} are one thing: give one of them")
    value = top_k if top_k is not None else limit
    if value is None:
        return DEFAULT_LIMIT
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
        raise InputError(f"top_k (or limit) is a whole number from 0 to {MOST:,}, not {shown(value)}")
    return value


def one_text(text: str | None, data: str | None) -> str | None:
    """`text` and `data` are one thing."""
    if text is not None and data is not None and text != data:
        raise InputError("text and data are one thing: give one of them")
    return text if text is not None else data


def a_threshold(value: object) -> float:
    """A score in [0, 1]; None cuts nothing, as in mem0 1.x."""
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(f"threshold is a score from 0 to 1, not {shown(value)}")
    return float(value)


def a_memory_id(value: object) -> str:
    """A memory's id as text; raises for anything that cannot be one."""
    if not isinstance(value, str) or not value.strip() or clean(value) != value or len(value) > _LONGEST_ID:
        raise InputError(f"a memory id is a text such as add() returns, not {shown(value)}")
    return value


def merged(named: Scope, filtered: Scope) -> Scope:
    """The scope that keywords and filters name together."""
    ids = named.ids()
    for kind, value in filtered.ids().items():
        if ids.setdefault(kind, value) != value:
            raise ScopeError(f"{kind} is {shown(ids[kind])} as an argument and {shown(value)} in filters")
    return scope_of(**ids)


def a_query(value: object) -> str:
    """A text to search for, fit to be encoded."""
    if not isinstance(value, str) or not clean(value).strip():
        raise InputError(f"query is a text that is not blank, not {shown(value)}")
    return clean(value)
