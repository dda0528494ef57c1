"""Weights that decay with age: windows of long ago count less."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.baselines.base import Baseline
from definetti.baselines.past import all_scores
from definetti.baselines.standing import Standing, weighed_ranks
from definetti.engine.task import PredictionTask


class NonExchangeable(Baseline, name="nonexchangeable"):
    """Conformal prediction with fixed weights (Barber, Candès, Ramdas & Tibshirani 2022).

    Parameters
    ----------
    decay : float, default 0.99
        The weight of the latest window of the past, of which the one before has ``decay ** 2``,
        and so on; the new one has weight one. 1 weighs all alike, as `Classical` does.

    Notes
    -----
    The other parameters are those of `definetti.baselines.base.Baseline`.

    Guaranteed: coverage of at least the level less ``Σ w_i d_TV(Z, Z^i)``, where ``w_i`` are the
    weights, normalised with that of the new window, and ``Z^i`` is the data ``Z`` with window
    ``i`` and the new one swapped. It vanishes if windows are exchangeable; for the windows of a
    Markov chain it need not, and is not known.

    The p-values are quotients of floats; what is on the boundary but for rounding is left out.
    Over ``h`` steps whole windows are ranked, so that all steps are right together.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> NonExchangeable(decay=0.98).fit(y[:298], x[:298]).predict_set(y[298:]).sequences
    [('rain', 'rain')]
    """

    title = "non-exchangeable conformal prediction"

    def __init__(
        self,
        model: Any = "auto",
        score: Any = "path",
        confidence_level: float = 0.9,
        train_size: float | None = 0.5,
        states: Iterable[Hashable] | None = None,
        max_candidates: int = 100_000,
        random_state: Any = None,
        decay: float = 0.99,
    ) -> None:
        super().__init__(
            model, score, confidence_level, train_size, states, max_candidates, random_state
        )
        self.decay = decay

    def _check(self) -> None:
        number = isinstance(self.decay, Real) and not isinstance(self.decay, bool)
        if not number or not 0 < self.decay <= 1:
            raise ValueError(
                f"decay must be a number above 0 and at most 1, got {self.decay!r}; 0.99 lets a "
                "window count half as much as one 69 steps later"
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
        weights = np.power(float(self.decay), np.arange(len(past), 0, -1, dtype=np.float64))
        scores = task.score_windows(estimate, task.windows(candidates))
        return weighed_ranks(past, weights, scores, own=1.0), scores
