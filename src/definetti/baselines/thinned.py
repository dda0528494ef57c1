"""A thinned calibration segment: windows far enough apart to be nearly independent."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import ceil, log
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.checks import checked_number
from definetti.baselines.base import Baseline
from definetti.baselines.past import Past
from definetti.engine.task import PredictionTask
from definetti.models.hmm import Parameters
from definetti.symmetry.base import Symmetry

KEPT = 20  # windows that thinning by itself leaves at least


class Thinned(Baseline, name="thinned"):
    """Split conformal prediction on every ``K``-th window (Zheng & Proutière 2024).

    Parameters
    ----------
    thinning : "auto" or int, default "auto"
        ``K``, the steps from the end of a window to the beginning of the next; 1 takes windows
        that follow one another. "auto" goes by the model's transition matrix: as many steps as
        it takes the second largest eigenvalue to fall below one over the number of steps that
        calibrate, but leaving 20 windows.

    Notes
    -----
    The other parameters are those of `definetti.baselines.base.Baseline`. The authors estimate
    how fast the chain mixes from the data; "auto" is a plain version of it.

    Guaranteed: for a stationary Markov chain whose dependence dies out geometrically, with the
    right ``K``, coverage of at least the level less a gap of the order of the mixing time over
    ``n log n``. The gap is not known, and no length makes it zero.

    Over ``h`` steps whole windows are ranked, so that all steps are right together.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(600, random_state=0)
    >>> Thinned(thinning=5).fit(y[:598], x[:598]).predict_set(y[598:]).sequences
    [('rain', 'rain')]
    """

    title = "thinned split conformal prediction"

    def __init__(
        self,
        model: Any = "auto",
        score: Any = "path",
        confidence_level: float = 0.9,
        train_size: float | None = 0.5,
        states: Iterable[Hashable] | None = None,
        max_candidates: int = 100_000,
        random_state: Any = None,
        thinning: int | str = "auto",
    ) -> None:
        super().__init__(
            model, score, confidence_level, train_size, states, max_candidates, random_state
        )
        self.thinning = thinning

    def _check(self) -> None:
        if isinstance(self.thinning, str):
            if self.thinning != "auto":
                raise ValueError(
                    f"thinning must be 'auto' or a whole number ≥ 1, got {self.thinning!r}"
                )
        else:
            checked_number(self.thinning, "thinning")

    def _compare_with(self, task: PredictionTask) -> Symmetry:
        if not isinstance(self.thinning, str):
            return Past(len(task.observations) - 1 + int(self.thinning))
        estimate = task.estimate(task.complete_with(0))
        if not isinstance(estimate, Parameters):
            raise ValueError(
                "thinning='auto' goes by a transition matrix, and the model has none; give a "
                "number, such as thinning=10"
            )
        horizon, length = len(task.observations), len(task.history)
        most = max(length // KEPT - horizon + 1, 1)
        return Past(horizon - 1 + mixing_steps(estimate.transition, length, most))


def mixing_steps(transition: FloatArray, length: int, most: int) -> int:
    """Return after how many steps a chain has forgotten where it was, but for ``1 / length``.

    >>> mixing_steps(np.array([[0.9, 0.1], [0.2, 0.8]]), 1000, most=100)  # 0.7 ** 20 < 0.001
    20
    """
    sizes = np.sort(np.abs(np.linalg.eigvals(transition)))
    second = float(sizes[-2]) if len(sizes) > 1 else 0.0
    if second >= 1.0:
        return most
    if second <= 1.0 / max(length, 2):
        return 1
    return min(ceil(log(length) / -log(second)), most)
