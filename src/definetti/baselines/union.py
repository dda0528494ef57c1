"""Sets for each step, put together by a union bound; several exchangeable sequences."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.baselines.base import Baseline
from definetti.baselines.past import strided_ends
from definetti.baselines.standing import Standing
from definetti.data.candidates import all_candidates
from definetti.data.encoded import EncodedHistory
from definetti.data.labels import checked_states
from definetti.data.splitting import read_lengths, training_length
from definetti.engine.pvalues import Rank
from definetti.engine.task import PredictionTask
from definetti.models.base import Model
from definetti.scores import Path, Score
from definetti.sets import PredictionSet


class UnionBaseline(Baseline, ABC):
    """A baseline whose set is a product: a state is in if its rank at its step is good enough.

    Notes
    -----
    With `lengths` the last sequence is the beginning of the one to be predicted. Of those before
    it the first ones, a share or a number `train_size` of them, train the model, and the others
    calibrate.

    At each step the level is ``1 − α/h``, so that all ``h`` steps are right together with
    probability ``1 − α`` if each p-value is valid. The p-value of a sequence is ``h`` times the
    smallest of its steps.
    """

    @abstractmethod
    def _steps(self, task: PredictionTask) -> list[list[Rank]]:
        """Return the rank of each state at each step, ``(h, n)``."""

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """Whether the level is guaranteed, under the assumption on the sequences."""
        return False

    def _resolve_score(self) -> Score:
        if self.score not in ("smoother", "filter"):
            raise ValueError(f"score must be 'smoother' or 'filter', got {self.score!r}")
        return super()._resolve_score()

    def _take_in(
        self, model: Model, observations: Any, states: Any, lengths: Any, entropy: int
    ) -> dict[str, Any]:
        if lengths is None:
            taken = super()._take_in(model, observations, states, None, entropy)
            return {**taken, "_begins": [0]}
        total = len(checked_states(states))
        each = read_lengths(lengths, total, "states")
        if len(each) < 2:
            raise ValueError(
                "lengths names one sequence, the one to be predicted; give those before it too, "
                "or leave lengths out"
            )
        begins = each.cumsum() - each
        share, first, cut, parts = self._training_share(model), 0, None, None
        if share is not None:
            first = training_length(share, len(each) - 1, "sequences before the last")
            cut = int(begins[first])
            # What calibrates is one segment to the model, which learns nothing from it.
            parts = [*each[:first].tolist(), total - cut]
        data = EncodedHistory(model, observations, states, self.states, cut, parts)
        return {"_data": data, "_begins": (begins[first:] - begins[first]).tolist()}

    def _ends(self, task: PredictionTask) -> IntArray:
        """Return where the windows end that calibrate: one in each sequence, at the same place.

        One sequence alone is cut, backwards, into pieces as long as the horizon.
        """
        length, horizon = len(task.history), len(task.observations)
        if len(self._begins) == 1:
            return strided_ends(length, horizon, horizon)
        begins = np.array(self._begins)
        known = length - begins[-1]  # steps of the last sequence that have labels
        long_enough = np.diff(begins) >= known + horizon
        return np.asarray(begins[:-1][long_enough] + known + horizon - 1)

    def _judge_one(self, task: PredictionTask, codes: IntArray) -> Standing:
        found = [ranks[code] for ranks, code in zip(self._steps(task), codes, strict=True)]
        least = min(Fraction(one.greater + one.equal, one.total) for one in found)
        whole = min(len(found) * least, Fraction(1))
        return Rank(0, whole.numerator, whole.denominator)

    def _list_members(
        self, task: PredictionTask, alpha: Fraction | None, level: float | None
    ) -> PredictionSet:
        n, horizon = len(task.labels), task.steps
        table = self._steps(task)
        if alpha is None:
            self._check_budget(n, horizon)
            members = all_candidates(n, horizon)
        else:
            kept = [[k for k in range(n) if ranks[k].exceeds(alpha / horizon)] for ranks in table]
            if prod(map(len, kept)) > self.max_candidates:
                self._check_budget(n, horizon)
            members = np.array(list(product(*kept)), dtype=np.int64).reshape(-1, horizon)
        p_values = np.array(
            [
                [min(horizon * (r.greater + r.equal) / r.total, 1.0) for r in ranks]
                for ranks in table
            ]
        )
        found = p_values[np.arange(horizon), members].min(axis=1)
        order = self._order(task, members, found)
        return self._name_members(task, members[order], found[order], level)

    def _order(self, task: PredictionTask, members: IntArray, p_values: FloatArray) -> IntArray:
        """Return members most plausible first."""
        return np.lexsort((chain_scores(task, members), -p_values))


def chain_scores(task: PredictionTask, members: IntArray) -> FloatArray:
    """Return how improbable each path is by the chain."""
    if not len(members):
        return np.zeros(0)
    asked = replace(task, score=Path())
    return asked.score_windows(asked.estimate(asked.complete_with(0)), asked.windows(members))
