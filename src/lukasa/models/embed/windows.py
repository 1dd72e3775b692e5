"""Long texts: cut into windows that a model can read, and the windows' vectors pooled into one.

Every window of a text is embedded by itself; the text's vector is the mean of the windows' unit vectors,
weighted by their length in characters, and scaled back to unit length. A text of one window keeps its
vector bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lukasa.text.sentences import pieces

if TYPE_CHECKING:
    from lukasa.models.embed.base import Matrix


@dataclass(frozen=True, slots=True)
class Cut:
    """The windows of several texts in one list, ready to embed; text *i* owns `starts[i]:starts[i+1]`."""

    windows: list[str]
    starts: list[int]  # one more than there are texts


def cut(texts: Sequence[str], *, limit: int, most: int) -> Cut:
    """The windows of *texts*: at most *limit* characters each, at most *most* a text."""
    found: list[str] = []
    starts = [0]
    for text in texts:
        found += windows(text, limit=limit, most=most)
        starts.append(len(found))
    return Cut(found, starts)


def windows(text: str, *, limit: int, most: int) -> list[str]:
    """*text* in windows of at most *limit* characters, cut at sentence borders where there are any.

    At most *most* windows: a text that needs more is read at *most* places, spread evenly from its beginning
    to its end, and what lies between is not. So the cost of a text is bounded, whatever its length.
    """
    if len(text) <= limit:
        return [text]
    if len(text) > limit * most:
        return _sampled(text, limit, most)
    found = _pieces(text, limit)
    return [found[place] for place in _evenly(len(found), most)]


def pool(rows: Matrix, made: Cut) -> Matrix:
    """One row a text from one row a window."""
    out = rows[made.starts[:-1]]
    for text, (start, end) in enumerate(zip(made.starts, made.starts[1:], strict=False)):
        if end - start > 1:
            weights = np.array([len(window) for window in made.windows[start:end]], dtype=np.float32)
            mean = weights @ rows[start:end]
            norm = float(np.linalg.norm(mean))
            if norm > 0:  # windows that cancel out leave the first one's vector
                out[text] = mean / norm
    return out


def _pieces(text: str, limit: int) -> list[str]:
    return [text[start:end] for start, end in pieces(text, limit)]


def _sampled(text: str, limit: int, most: int) -> list[str]:
    """*most* windows at even distances. Only the neighbourhood of each is searched for sentence borders."""
    text = text.strip()
    width = min(2 * limit, len(text))
    found: list[str] = []
    for place in range(most):
        offset = place * (len(text) - width) // max(1, most - 1)
        near = _pieces(text[offset : offset + width], limit)
        # The first piece begins in the middle of a sentence, unless it begins the text.
        found += near[:1] if place == 0 else near[-1:] if place == most - 1 else near[:2][-1:]
    return found


def _evenly(count: int, most: int) -> list[int]:
    if count <= most:
        return list(range(count))
    return [place * (count - 1) // max(1, most - 1) for place in range(most)]
