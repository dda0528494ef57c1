"""Several steps by a union bound, from exchangeable sequences."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from definetti.baselines.union import UnionBaseline
from definetti.engine.pvalues import Rank, ranks
from definetti.engine.task import PredictionTask
from definetti.models.base import at_states
from definetti.scores import Smoother
from definetti.scores.rounding import round_scores


class UnionMultiStep(UnionBaseline, name="unionmultistep"):
    """A set for each step ahead, by a union bound (CF-RNN, Stankevičiūtė et al. 2021).

    Parameters
    ----------
    score : {"smoother", "filter"}, default "smoother"
        How strange a state is at its step: one minus its probability given all observations of
        the window, or those so far.
    train_size : float or int, default 0.5
        With `lengths`, the share or the number of sequences that train.

    Notes
    -----
    The other parameters are those of `definetti.baselines.base.Baseline`. How `lengths` is
    read, and the level of each step, ``1 − α/h``, are told in
    `definetti.baselines.union.UnionBaseline`. A step is compared with the same step of the other
    sequences, so that each gives one score to each step.

    Guaranteed: coverage of at least the level, if the sequences given with `lengths` and the one
    to be predicted are exchangeable, as independent ones of one law are: ``exact`` is then True.
    A single history is cut into consecutive pieces as long as the horizon; the pieces of a Markov
    chain are not exchangeable, the guarantee is lost, and ``exact`` is False.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> weeks = [weather(7, random_state=seed) for seed in range(200)]
    >>> y = [thing for week in weeks for thing in week.observations]
    >>> x = [sky for week in weeks for sky in week.states]
    >>> cp = UnionMultiStep().fit(y[:-2], x[:-2], lengths=[7] * 199 + [5])
    >>> cp.predict_set(y[-2:], 0.8)
    PredictionSet: 1 of 4 sequences of 2 steps, holding the truth with probability ≥ 0.8
      p = 0.2178  rain  sun
      (union bound over steps, smoother score)
    """

    title = "union bound over steps"

    def __init__(
        self,
        model: Any = "auto",
        score: Any = "smoother",
        confidence_level: float = 0.9,
        train_size: float | None = 0.5,
        states: Iterable[Hashable] | None = None,
        max_candidates: int = 100_000,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            model, score, confidence_level, train_size, states, max_candidates, random_state
        )

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """Whether exchangeable sequences were given."""
        return self._is_fitted() and len(self._begins) > 1

    def _steps(self, task: PredictionTask) -> list[list[Rank]]:
        estimate = task.estimate(task.complete_with(0))
        smooth = isinstance(self.score_, Smoother)
        asked = estimate.smoothing if smooth else estimate.filtering
        new = round_scores(1.0 - asked(task.hide_unseen(task.complete_with(0).window))[0])
        ends = self._ends(task)
        past = np.zeros((0, len(new)))
        if len(ends):
            windows = task.hide_unseen(task.windows_ending(ends))
            past = round_scores(1.0 - at_states(asked(windows), windows.states))
        ones = np.ones(len(past), dtype=np.int64)
        return [ranks(past[:, k], ones, new[k], joins=True) for k in range(len(new))]
