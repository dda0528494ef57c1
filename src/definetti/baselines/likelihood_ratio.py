"""Weights by a likelihood ratio: the past made to look like the present."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.baselines.base import Baseline
from definetti.baselines.past import all_scores
from definetti.baselines.standing import Standing, weighed_ranks
from definetti.data.history import Windows
from definetti.data.labels import MISSING
from definetti.engine.task import PredictionTask
from definetti.models.base import Estimate


class LikelihoodRatio(Baseline, name="likelihoodratio"):
    """Weighted conformal prediction under covariate shift (Tibshirani et al. 2019).

    Parameters
    ----------
    weight : "recent" or callable, default "recent"
        The likelihood ratio of what is known of a window, new over old. A function is called with
        the states before ``B`` windows, ``(B,)`` labels, and their observations, ``(B, h)``;
        it returns ``(B,)`` numbers of at least zero. "recent" estimates it.

    Notes
    -----
    The other parameters are those of `definetti.baselines.base.Baseline`.

    Guaranteed: coverage of at least the level, if windows are independent, those of the past have
    one law, the new one another law of the observations, but the same law of the states given
    these, and `weight` is the true ratio up to a factor. For the windows of a Markov chain
    nothing is guaranteed.

    "recent" counts each symbol in the older and in the newer half of the calibration segment, adds
    1/2 to each count, and multiplies the ratios of frequencies over the steps of a window: an
    estimate, from the data that calibrate, for which nothing is guaranteed. It needs symbols.

    The p-values are quotients of floats; what is on the boundary but for rounding is left out.
    Over ``h`` steps whole windows are ranked, so that all steps are right together.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> rainier = lambda start, things: 1.0 + (things == "umbrella").sum(axis=1)
    >>> LikelihoodRatio(weight=rainier).fit(y[:298], x[:298]).predict_set(y[298:]).sequences
    [('rain', 'rain')]
    """

    title = "conformal prediction weighted by a likelihood ratio"
    needs_symbols = True

    def __init__(
        self,
        model: Any = "auto",
        score: Any = "path",
        confidence_level: float = 0.9,
        train_size: float | None = 0.5,
        states: Iterable[Hashable] | None = None,
        max_candidates: int = 100_000,
        random_state: Any = None,
        weight: str | Callable[[Any, Any], Any] = "recent",
    ) -> None:
        super().__init__(
            model, score, confidence_level, train_size, states, max_candidates, random_state
        )
        self.weight = weight

    def _check(self) -> None:
        if self.weight != "recent" and not callable(self.weight):
            raise ValueError(
                "weight must be 'recent' or a function from start states and observations of "
                f"windows to numbers, got {self.weight!r}"
            )

    def _judge(
        self, task: PredictionTask, candidates: IntArray
    ) -> tuple[Sequence[Standing], FloatArray]:
        estimate = task.estimate(task.complete_with(0))
        past = all_scores(
            task,
            "windows",
            lambda ends: task.score_windows(estimate, task.windows_ending(ends)),
        )
        ends = np.arange(len(task.observations), len(task.history))
        new = task.windows(candidates)
        # All candidates have the same observations, and so the same weight.
        windows = task.hide_unseen(task.windows_ending(ends) + Windows(*(part[:1] for part in new)))
        if callable(self.weight):
            weights = given_weights(self.weight, estimate, windows)
        else:
            weights = recent_weights(task, windows)
        scores = task.score_windows(estimate, new)
        return weighed_ranks(past, weights[:-1], scores, own=float(weights[-1])), scores


def given_weights(
    function: Callable[[Any, Any], Any], estimate: Estimate, windows: Windows
) -> FloatArray:
    """Ask a function of the user's for the weights of windows."""
    labels = np.fromiter(estimate.labels, dtype=object, count=len(estimate.labels))
    found = function(labels[windows.start], estimate.decode(windows.observations))
    try:
        weights = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"weight must return one number per window: {error}") from error
    if weights.shape != windows.start.shape:
        raise ValueError(
            f"weight returned shape {weights.shape} for {len(windows.start)} windows; return one "
            f"number per window, shape {windows.start.shape}"
        )
    wrong = ~((weights >= 0) & np.isfinite(weights))
    if wrong.any():
        k = int(wrong.argmax())
        raise ValueError(
            f"weight returned {weights[k]} for window {k}; a likelihood ratio is a finite number "
            "of at least 0"
        )
    return weights


def recent_weights(task: PredictionTask, windows: Windows) -> FloatArray:
    """Weigh windows by how much more frequent their symbols are in the newer half of the past."""
    if not task.model.emission_.symbols:
        raise ValueError(
            "weight='recent' counts symbols, and the observations are none; give a function of "
            "start states and observations"
        )
    observed, size = task.history.observations, len(task.table)
    half = len(observed) // 2
    older, newer = (
        np.bincount(part[part != MISSING], minlength=size) + 0.5
        for part in (observed[:half], observed[half:])
    )
    ratio = np.ones(size + 1)  # −1, for what is missing, finds the last
    ratio[:size] = newer / newer.sum() / (older / older.sum())
    return np.asarray(ratio[windows.observations].prod(axis=1))
