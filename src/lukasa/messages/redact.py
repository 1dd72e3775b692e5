"""Secrets are masked before anything is stored, embedded or sent to a model.

A mask is `[redacted: KIND]`. What is known as a secret, and by which rule, stands in `secrets.py`. Masking a
masked text changes nothing, as long as the caller's own function leaves masks alone.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from re import Pattern
from typing import TypeAlias, cast

from lukasa.errors import ConfigError
from lukasa.messages.fields import is_secret, is_secret_number
from lukasa.messages.secrets import CUSTOM, MASK, mask_known, mask_of

RedactOption: TypeAlias = (
    "bool | str | Pattern[str] | Callable[[str], str] | Sequence[str | Pattern[str] | Callable[[str], str]]"
)


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets, and the kind of each secret that was there."""

    text: str
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Redactor:
    """Masks secrets: the built-in kinds, *patterns* (kind "custom"), and *call*, a function of the text."""

    patterns: Sequence[Pattern[str] | str] = ()
    call: Callable[[str], str] | None = None
    builtin: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "patterns", tuple(map(_compiled, self.patterns)))

    def mask(self, text: str) -> Masked:
        """*text* with each secret replaced by `[redacted: KIND]`."""
        kinds: list[str] = []
        before = None
        # A mask may bare the border of another secret. Every round leaves less text outside masks.
        while before != text:
            before = text
            if self.builtin:
                text = mask_known(text, kinds)
            for pattern in self.patterns:
                text = _mask_custom(cast("Pattern[str]", pattern), text, kinds)
        if self.call is not None:
            text = _called(self.call, text, kinds)
        return Masked(text, tuple(kinds))

    def mask_field(self, name: str, text: str) -> Masked:
        """*text* as a field's value: all of it is a secret where *name* says so (`api_key`, `password`)."""
        if text and self.is_secret(name) and MASK.fullmatch(text) is None:
            return Masked(mask_of("secret"), ("secret",))
        return self.mask(text)

    def mask_number(self, name: str, digits: str) -> Masked:
        """The same of a number, as its digits; counts of `tokens` are none."""
        if self.builtin and is_secret_number(name):
            return Masked(mask_of("secret"), ("secret",))
        return self.mask(digits)

    def is_secret(self, name: str) -> bool:
        """Whether what stands in a field of this name is a secret, whatever it is."""
        return self.builtin and is_secret(name)


def redactor(option: RedactOption) -> Redactor:
    """The redactor that the option `redact=` asks for.

    True: the built-in kinds. False: nothing is masked. A regular expression, a function, or a list of them:
    these in addition to the built-in kinds.
    """
    if isinstance(option, bool):
        return Redactor(builtin=option)
    given = cast(Sequence[object], option) if isinstance(option, list | tuple) else (option,)
    patterns: list[Pattern[str] | str] = []
    calls: list[Callable[[str], str]] = []
    for item in given:
        if isinstance(item, str | Pattern):
            patterns.append(cast("Pattern[str] | str", item))
        elif callable(item):
            calls.append(cast("Callable[[str], str]", item))
        else:
            raise ConfigError(
                "redact= takes True, False, a regular expression, a function of the text, or a list of "
                f"these, not {type(item).__name__}"
            )
    return Redactor(tuple(patterns), _chained(calls))


def _chained(calls: Sequence[Callable[[str], str]]) -> Callable[[str], str] | None:
    if len(calls) < 2:
        return calls[0] if calls else None

    def chain(text: str) -> str:
        for call in calls:
            text = _called(call, text, [])
        return text

    return chain


def _compiled(pattern: Pattern[str] | str) -> Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except (re.error, TypeError, OverflowError) as error:
        raise ConfigError(f"redact= holds a faulty regular expression {pattern!r}: {error}") from error
    if not isinstance(cast(object, compiled.pattern), str):
        raise ConfigError(f"redact= holds a pattern of bytes {compiled.pattern!r}; give one of text")
    return compiled


def _mask_custom(pattern: Pattern[str], text: str, kinds: list[str]) -> str:
    """Every match outside the masks is replaced; one that touches a mask takes it along."""
    masks = deque(match.span() for match in MASK.finditer(text))
    done: list[str] = []
    at = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        while masks and masks[0][1] <= start:
            masks.popleft()
        touched = list(takewhile(lambda mask, end=end: mask[0] < end, masks))
        if start == end or end <= at or (touched and touched[0][0] <= start and end <= touched[0][1]):
            continue
        if touched:
            start, end = min(start, touched[0][0]), max(end, touched[-1][1])
        done += text[at : max(at, start)], mask_of(CUSTOM)
        kinds.append(CUSTOM)
        at = end
    return "".join((*done, text[at:]))


def _called(call: Callable[[str], str], text: str, kinds: list[str]) -> str:
    found = cast(object, call(text))
    if not isinstance(found, str):
        raise ConfigError(
            f"the function given as redact= returned {type(found).__name__}; it must return the masked text"
        )
    if found != text:
        kinds.append(CUSTOM)
    return found
