"""Many patterns in one pass: alternatives are looked up by the two letters that they begin with.

A search for `\\b(?:never|always|...)` tries every alternative at every letter. Here each word of a text
costs one look-up, and only alternatives that can begin there are tried.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

_WORD: Final = re.compile(r"(?<![a-z0-9_'])[a-z0-9]")
_FOLLOWERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789' .,:-%/!?;)"
_SPECIAL: Final = frozenset("\\[](){}.*+?^$|")


class Phrases:
    """Patterns by name, each an alternation whose alternatives begin at a word of lower-case text."""

    def __init__(self, named: Mapping[str, str]) -> None:
        grouped: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for name, pattern in named.items():
            for alternative in alternatives(pattern):
                for key, whole in beginnings(alternative):
                    grouped[key][name].append(whole)
        for letter in [key for key in grouped if len(key) == 1]:  # tried wherever a word begins with it
            for follower in _FOLLOWERS:
                for name, some in grouped[letter].items():
                    grouped[letter + follower][name].extend(some)
        self._table: dict[str, Sequence[tuple[str, re.Pattern[str]]]] = {
            key: [(name, re.compile(rf"(?:{'|'.join(some)})")) for name, some in names.items()]
            for key, names in grouped.items()
        }

    def found(self, text: str) -> frozenset[str]:
        """The names of the patterns that stand in *text* (lower case)."""
        names: set[str] = set()
        table = self._table
        for match in _WORD.finditer(text):
            at = match.start()
            for name, pattern in table.get(text[at : at + 2], ()):
                if name not in names and pattern.match(text, at):
                    names.add(name)
        return frozenset(names)


def alternatives(pattern: str) -> list[str]:
    """The pattern's alternatives at its outermost level."""
    parts, depth, start, at = list[str](), 0, 0, 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "[":
            at = pattern.index("]", at + 2)
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        elif char == "|" and depth == 0:
            parts.append(pattern[start:at])
            start = at + 1
        at += 1
    return [*parts, pattern[start:]]


def beginnings(alternative: str) -> Iterator[tuple[str, str]]:
    """The alternative, once for each way in which it can begin: (its first letters, at most two, and itself)."""
    if alternative.startswith("(?:"):
        end = _closing(alternative)
        inner, rest = alternative[3:end], alternative[end + 1 :]
        if rest[:1] in ("?", "*", "+", "{"):
            if rest[:1] != "?":
                raise ValueError(f"an alternative begins with a repetition: {alternative!r}")
            rest = rest[1:].removeprefix("?")
            yield from beginnings(rest)
        for part in alternatives(inner):
            if part:
                yield from beginnings(f"{part}{rest}")
            else:
                yield from beginnings(rest)
        return
    if alternative.startswith("\\d"):
        yield from ((digit, alternative) for digit in "0123456789")
        return
    literal = 0
    while literal < min(2, len(alternative)) and alternative[literal] not in _SPECIAL:
        literal += 1
    if literal == 2 and alternative[2:3] in ("?", "*", "{"):
        literal = 1
    if literal == 0 or alternative[literal : literal + 1] in ("?", "*", "{"):
        raise ValueError(f"an alternative does not begin with a letter: {alternative!r}")
    yield alternative[:literal], alternative


def _closing(pattern: str) -> int:
    depth, at = 0, 0
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 1
        elif pattern[at] == "[":
            at = pattern.index("]", at + 2)
        elif pattern[at] == "(":
            depth += 1
        elif pattern[at] == ")":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    raise ValueError(f"unbalanced: {pattern!r}")
