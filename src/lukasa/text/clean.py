"""Text that every database, model and encoder accepts."""

from __future__ import annotations

import re

_SUSPECT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_FAULT = re.compile("\r\n?|[\ud800-\udbff][\udc00-\udfff]|[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# Form feed, vertical tab and NEL end lines: to remove them would glue two words together.
_LINE_ENDS = frozenset("\x0b\x0c\x85")


def clean(text: str) -> str:
    """*text* without control characters and surrogates; nothing else is changed.

    Line ends become `\\n`; `\\t` stays; other control characters go. A surrogate pair (JSON escapes
    may leave one) becomes the character that it stands for, a lone surrogate becomes U+FFFD.
    """
    if text.isprintable() or _SUSPECT.search(text) is None:
        return text
    return _FAULT.sub(_repaired, text)


def _repaired(match: re.Match[str]) -> str:
    fault = match[0]
    if fault[0] == "\r" or fault in _LINE_ENDS:
        return "\n"
    if len(fault) == 2:
        return chr(0x10000 + ((ord(fault[0]) - 0xD800) << 10) + (ord(fault[1]) - 0xDC00))
    return "\ufffd" if "\ud800" <= fault <= "\udfff" else ""
