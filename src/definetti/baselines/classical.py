"""Classical conformal prediction: all windows of the past, as if they could be exchanged."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from definetti._system.checks import checked_number
from definetti.baselines.base import Baseline
from definetti.baselines.past import Past
from definetti.engine.task import PredictionTask
from definetti.symmetry.base import Symmetry


class Classical(Baseline, name="classical"):
    """Split conformal prediction (Vovk, Gammerman & Shafer 2005), which ignores time.

    Parameters
    ----------
    stride : int, default 1
        How many steps lie between the ends of two windows that calibrate; 1 takes all.

    Notes
    -----
    The other parameters are those of `definetti.baselines.base.Baseline`.

    Guaranteed: coverage of at least the level, if the calibration windows and the new one are
    exchangeable. That is so for independent and identically distributed steps if no two windows
    share a step, the state before a window included: with ``stride=h + 1``, or, with a score that
    does not look at the state before, ``stride=h``. For the windows of a Markov chain nothing is
    guaranteed.

    Over ``h`` steps whole windows are ranked, so that all steps are right together.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> Classical().fit(y[:298], x[:298]).predict_set(y[298:])
    PredictionSet: 1 of 4 sequences of 2 steps, level 0.9 NOT guaranteed
      p = 0.5000  rain  rain
      (classical conformal prediction, path score)
    """

    title = "classical conformal prediction"

    def __init__(
        self,
        model: Any = "auto",
        score: Any = "path",
        confidence_level: float = 0.9,
        train_size: float | None = 0.5,
        states: Iterable[Hashable] | None = None,
        max_candidates: int = 100_000,
        random_state: Any = None,
        stride: int = 1,
    ) -> None:
        super().__init__(
            model, score, confidence_level, train_size, states, max_candidates, random_state
        )
        self.stride = stride

    def _check(self) -> None:
        checked_number(self.stride, "stride")

    def _compare_with(self, task: PredictionTask) -> Symmetry:
        return Past(self.stride)

    @property
    def _ranks_windows(self) -> bool:
        return type(self) is Classical and self.stride == 1
