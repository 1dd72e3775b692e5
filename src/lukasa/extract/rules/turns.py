"""What of a turn is the speaker's own word: without code, pasted documents, and memories that came back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from lukasa.extract.rules.base import Language, Reason, Span

_FENCES: Final = ("```", "~~~", '"""')
_TAG: Final = re.compile(r"<(\w{1,30})>\s*$")
_RULE: Final = re.compile(r"[ \t]{0,8}(?:-{3,}|={3,}|\*{3,}|_{3,}|#{3,})[ \t]*$")
_LETTER: Final = re.compile(
    r"^[ \t]*(?:dear\s+\w+|hi\s+(?:team|all)|to whom it may concern|(?:from|to|subject|sent|cc|date)\s*:\s*\S|尊敬的|亲爱的\S{1,8}[：:，,]?$|发件人|收件人|主题[：:])",
    re.IGNORECASE,
)
_CODE_LINE: Final = re.compile(
    r"^\s*(?:[$>]\s|at \w+[.(]|Traceback|File \"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|(?:import|from|def|class|return|const|let|var|function|public|private|SELECT|INSERT|UPDATE|#include|package|using)\b.*[;:{)(=]|(?:if|for|while|elif|except|else|try)\b.*(?:[{;]|\)\s*:|:)\s*$|</?\w+[^>]*>|[{}\[\]();]+\s*$|\w+\s*[=:]\s*[\[{\"'].*|\S+\s*=\s*\S.*;$|\|.*\|\s*$)"
)
_BULLET: Final = re.compile(r"^\s*(?:(?:[-*•·+]|\d{1,2}[.)])\s+|\d{1,2}[、．]\s*)")
_GOES_ON: Final = re.compile(r"^\s*(?:and|but|plus|except|not|also|和|还有|但|除了)\b", re.IGNORECASE)
_QUOTE_LINE: Final = re.compile(r"^\s*(?:>|》|\||#{1,6}\s|\*\*|- \*\*|\d+\. \*\*)")
_QUOTE: Final = re.compile(
    r"“[^“”\n]{2,600}”|「[^「」\n]{2,600}」|『[^『』\n]{2,600}』|(?<!\w)\"[^\"\n]{2,600}\"(?!\w)"
)


@dataclass(frozen=True, slots=True)
class Own:
    """A stretch of a turn that is the speaker's own: its text (a list joined with its head) and its span."""

    text: str
    start: int
    end: int
    listed: bool = False


@dataclass(frozen=True, slots=True)
class Foreign:
    """A stretch that is not, and why."""

    text: str
    reason: Reason


def own_words(text: str, language: Language) -> tuple[Sequence[Own], Sequence[Foreign]]:
    """The turn's own stretches, line by line, and what was left out."""
    blank, foreign = _without_blocks(text)
    own: list[Own] = []
    lines = list(_lines(blank))
    at = 0
    while at < len(lines):
        start, end = lines[at]
        line = blank[start:end]
        heads = line.rstrip().endswith((":", "："))
        if heads and language.recalled_header.search(line):
            at = _skip(lines, blank, at + 1, foreign, "recalled", until_blank=True)
        elif heads and at + 1 < len(lines) and language.paste_header.search(line):
            own.append(Own(line, start, end))
            blanked = not text[end : lines[at + 1][0]].isspace()  # what was pasted is out already
            at = at + 1 if blanked else _skip_pasted(lines, blank, at + 1, foreign)
        elif at + 3 < len(lines) and _pasted_below(lines, blank, at, language):
            own.append(Own(line, start, end))
            at = _skip_pasted(lines, blank, at + 1, foreign)
        elif _LETTER.search(line) and _is_letter(lines, blank, at):
            at = _skip(lines, blank, at, foreign, "pasted", until_blank=False)
        elif _QUOTE_LINE.match(line) or _CODE_LINE.search(line):
            foreign.append(Foreign(line.strip(), "pasted"))
            at += 1
        elif heads and at + 1 < len(lines) and _BULLET.match(_text(blank, lines[at + 1])):
            at = _join_list(lines, blank, at, own)
        else:
            bullet = _BULLET.match(line)
            begin = 0 if bullet is None else bullet.end()
            own.append(Own(line[begin:], start + begin, end))
            at += 1
    return own, foreign


def _text(text: str, span: Span) -> str:
    return text[span[0] : span[1]]


def _lines(text: str) -> Iterator[Span]:
    start = 0
    for line in text.split("\n"):
        if line.strip():
            yield start, start + len(line)
        start += len(line) + 1


def _without_blocks(text: str) -> tuple[str, list[Foreign]]:
    """The text with fenced and ruled-off blocks blanked (offsets stay), and those blocks."""
    if not any(mark in text for mark in ("```", "~~~", '"""', "---", "===", "***", "___", "###", "\n<", "<")):
        return text, []
    lines = text.split("\n")
    foreign: list[Foreign] = []
    for first, last in _blocks(lines):
        foreign.append(Foreign("\n".join(lines[first : last + 1]).strip(), "pasted"))
        for at in range(first, last + 1):
            lines[at] = " " * len(lines[at])
    return "\n".join(lines), foreign


def _blocks(lines: Sequence[str]) -> Iterator[Span]:
    """First and last line of each block: a fence, a tag or a rule opens it, its like closes it, or the end."""
    at = 0
    while at < len(lines):
        ends = _closing(lines[at])
        if ends is None:
            at += 1
            continue
        last = next((n for n in range(at + 1, len(lines)) if ends(lines[n])), len(lines) - 1)
        yield at, last
        at = last + 1


def _closing(line: str) -> Callable[[str], bool] | None:
    """What closes the block that *line* opens; None where it opens none."""
    bare = line.strip()
    fence = next((one for one in _FENCES if bare.startswith(one)), None)
    if fence is not None:
        return partial(_holds, fence if bare.count(fence) == 1 else "")
    if _RULE.match(line):
        return _is_rule
    tag = _TAG.match(bare)
    return None if tag is None else partial(_holds, f"</{tag[1]}>")


def _holds(mark: str, line: str) -> bool:
    return mark in line


def _is_rule(line: str) -> bool:
    return _RULE.match(line) is not None


def _skip(
    lines: Sequence[Span], text: str, at: int, foreign: list[Foreign], reason: Reason, *, until_blank: bool
) -> int:
    """Leave out the lines from *at*: to the next blank line, or all."""
    first = at
    while at < len(lines):
        if until_blank and at > first and lines[at][0] - lines[at - 1][1] > 1:
            break
        foreign.append(Foreign(_text(text, lines[at]).strip(), reason))
        at += 1
    return at


def _skip_pasted(lines: Sequence[Span], text: str, at: int, foreign: list[Foreign]) -> int:
    """Leave out what was pasted under a request; a last short line that speaks of it is the speaker's again."""
    stop = len(lines)
    first = _text(text, lines[at]).lstrip()
    if first[:1] in '“「『"' and first.rstrip()[-1:] in '”」』"':
        stop = at + 1
    else:
        for later in range(at + 1, len(lines)):
            if (
                lines[later][0] - lines[later - 1][1] > 1
                and later == len(lines) - 1
                and len(_text(text, lines[later])) < 120
            ):
                stop = later
    for span in lines[at:stop]:
        foreign.append(Foreign(_text(text, span).strip(), "pasted"))
    return stop


def _pasted_below(lines: Sequence[Span], text: str, at: int, language: Language) -> bool:
    """Whether a request for a text is followed, after a blank line, by three lines or more."""
    if lines[at + 1][0] - lines[at][1] < 2:
        return False
    return language.paste_noun.search(_text(text, lines[at])) is not None


def _is_letter(lines: Sequence[Span], text: str, at: int) -> bool:
    """Whether a letter follows: a greeting like "Dear Sir" with more than a line behind it."""
    return len(lines) - at >= 2


def _join_list(lines: Sequence[Span], text: str, at: int, own: list[Own]) -> int:
    """A list with the line that introduces it, as one sentence."""
    head = at
    parts: list[str] = []
    at += 1
    while at < len(lines) and _BULLET.match(_text(text, lines[at])):
        parts.append(_BULLET.sub("", _text(text, lines[at])).strip())
        at += 1
    if at < len(lines) and _GOES_ON.match(_text(text, lines[at])):
        parts.append(_text(text, lines[at]).strip())
        at += 1
    said = f"{_text(text, lines[head]).rstrip()} {', '.join(parts)}"
    own.append(Own(said, lines[head][0], lines[at - 1][1], listed=True))
    return at


def masked_quotes(text: str) -> str:
    """The text with what stands in quotation marks blanked, at the same length: others' words."""
    return _QUOTE.sub(lambda match: f"{match[0][0]}{'x' * (len(match[0]) - 2)}{match[0][-1]}", text)
