"""Base class of the baselines: interface of `ConformalHMM`, calibration windows, p-values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_number
from definetti._system.mixins import Named
from definetti.conformal.base import BaseHistoryConformal
from definetti.data.encoded import EncodedHistory
from definetti.engine.algorithm import rank
from definetti.engine.pvalues import miscoverage, ranks
from definetti.engine.task import PredictionTask, all_candidates, is_long, powered
from definetti.evaluation.results import Evaluation
from definetti.models.base import Model
from definetti.sets import PredictionSet
from definetti.symmetry.base import Symmetry
from definetti.symmetry.blocks import Past

# Fractional weights are added up in floating point; a p-value within rounding error of alpha is
# left out of the set, as an equal one is where weights are integers.
ROUNDING = 1e-12


class Standing(Protocol):
    """A p-value that is compared with a level; `definetti.engine.pvalues.Rank` is one."""

    def p_value(self) -> float: ...

    def exceeds(
        self, alpha: Fraction
    ) -> bool: ...  # whether the p-value is above alpha: inside the set


@dataclass(eq=False, repr=False)
class Baseline(Named, BaseHistoryConformal):
    """A method of other authors for state sequences, with the interface of `ConformalHMM`.

    A subclass defines the reference of candidates, `_compare_with`, or their p-values, `_judge`. By
    default whole windows of ``h`` steps are ranked.

    Parameters
    ----------
    model, conformity_score, confidence_level, states, max_candidates, random_state
        As for `ConformalHMM`; the model is fixed before anything is calibrated.
    train_size : float or int, default 0.5
        The first segment, a share or a number of steps, that the model is fitted on; the rest
        calibrates. Not used for a model that is fixed already.

    Attributes
    ----------
    title : name of the method in results
    exact : whether the level is guaranteed in finite samples for every hidden Markov model
    splits : whether `train_size` splits the history
    each_candidate : whether each candidate takes separate work that grows with the history
    needs_symbols : whether observations must be symbols
    learns_from_misses : whether `partial_fit` adapts the level to misses, which takes some rounds
    fills : whether an empty set gets its most plausible sequence, as with ``allow_empty=False`` of
        `ConformalHMM`; no method of other authors does so
    """

    exact = False
    title = "baseline"
    splits = True
    each_candidate = False
    needs_symbols = False
    learns_from_misses = False
    fills = False

    model: Any = "auto"
    conformity_score: Any = "path"
    confidence_level: float = 0.9
    train_size: float | None = 0.5
    states: Iterable[Hashable] | None = None
    max_candidates: int = 100_000
    random_state: Any = None

    def predict_set(
        self,
        new_observations: Any = None,
        confidence_level: float | None = None,
        *,
        horizon: int | None = None,
    ) -> PredictionSet:
        """Return the set of state sequences for new observations, as `ConformalHMM` does."""
        self._check_fitted()
        level = self.confidence_level if confidence_level is None else confidence_level
        alpha = self._alpha(miscoverage(level))
        return self._list_members(self._task(new_observations, horizon), alpha, level)

    def predict_p(
        self, new_observations: Any = None, *, horizon: int | None = None
    ) -> PredictionSet:
        """Return every candidate sequence with its p-value."""
        return self._list_members(self._task(new_observations, horizon), None, None)

    def p_value(self, new_observations: Any, states: Any, *, horizon: int | None = None) -> float:
        """Return the p-value of one state sequence, whose labels may be new."""
        return self._judge_one(*self._ask_about(new_observations, states, horizon)).p_value()

    def evaluate(
        self,
        new_observations: Any,
        states: Any,
        confidence_level: float | None = None,
        *,
        horizon: int | None = None,
        verbose: bool = False,
    ) -> Evaluation:
        """Evaluate prediction sets against the true states, as `ConformalHMM.evaluate` does."""
        evaluation: Evaluation = self._judge_windows(
            new_observations, states, confidence_level, horizon, verbose=verbose
        )
        return evaluation

    @property
    def _fills(self) -> bool:
        return self.fills

    def _check_parameters(self) -> None:
        miscoverage(self.confidence_level)
        checked_number(self.max_candidates, "max_candidates")
        self._check()

    def _check(self) -> None:
        """Refuse parameters that the method itself cannot use."""

    def _take_in(
        self, model: Model, observations: Any, states: Any, lengths: Any, entropy: int
    ) -> dict[str, Any]:
        share = self._training_share(model)
        return {"_data": EncodedHistory(model, observations, states, self.states, share, lengths)}

    def _training_share(self, model: Model) -> float | None:
        """Return the share to train on; None for a model that is fixed, and knows its states."""
        if model.fixed and model.knows_states:
            return None
        if self.train_size is None:
            raise ValueError(
                "train_size is None, but the model is not trained; set train_size=0.5, or give a "
                "model that is"
            )
        return self.train_size

    def _compare_with(self, task: PredictionTask) -> Symmetry:
        """Return the symmetry that selects the windows to compare candidates with."""
        return Past()

    def _task(
        self,
        new_observations: Any,
        horizon: int | None,
        lag: int = 0,
        *,
        listing: bool = True,
        **unused: Any,
    ) -> PredictionTask:
        self._check_fitted()
        self._check_parameters()
        data = self._data
        if horizon is not None and listing:  # before any memory is taken
            self._check_budget(len(data.alphabet), checked_number(horizon, "horizon"))
        new = data.read_new(new_observations, horizon)
        task = PredictionTask.about(
            data, new, score=self.conformity_score_, symmetry=Past(), entropy=self._entropy
        )
        return replace(task, symmetry=self._compare_with(task))

    def _check_budget(self, n_states: int, horizon: int) -> None:
        if is_long(n_states, horizon, self.max_candidates):
            raise ValueError(
                f"{n_states} states over a horizon of {horizon} steps make "
                f"{powered(n_states, horizon)} candidate sequences, more than max_candidates="
                f"{self.max_candidates:,}; shorten the horizon, ask p_value for single sequences, "
                "raise max_candidates, or use ConformalHMM, which needs no list"
            )

    def _alpha(self, alpha: Fraction) -> Fraction:
        """Return the alpha that p-values must exceed."""
        return alpha

    def _judge(
        self, task: PredictionTask, candidates: IntArray
    ) -> tuple[Sequence[Standing], FloatArray]:
        """Return the p-values of candidates, ``(C, h)``, as objects, and their scores."""
        ranking = rank(task, candidates)
        return ranking.ranks(), ranking.scores[0]

    def _judge_one(self, task: PredictionTask, codes: IntArray) -> Standing:
        return self._judge(task, codes[None])[0][0]

    def _list_members(
        self, task: PredictionTask, alpha: Fraction | None, level: float | None
    ) -> PredictionSet:
        """List candidates whose p-value exceeds alpha, most plausible first."""
        self._check_budget(len(task.labels), task.steps)
        candidates = all_candidates(len(task.labels), task.steps)
        standings, scores = self._judge(task, candidates)
        p_values = np.array([standing.p_value() for standing in standings])
        order = np.lexsort((scores, -p_values)).tolist()
        kept = [k for k in order if alpha is None or standings[k].exceeds(alpha)]
        filled = self.fills and not kept
        if filled:
            kept = order[:1]
        listed = self._name_members(task, candidates[kept], p_values[kept], level)
        return replace(listed, filled=filled)

    def _name_members(
        self, task: PredictionTask, members: IntArray, p_values: FloatArray, level: float | None
    ) -> PredictionSet:
        """Return the prediction set of members, which are codes."""
        return PredictionSet(
            [tuple(task.labels[code] for code in row) for row in members.tolist()],
            p_values,
            task.labels,
            task.steps,
            None if level is None else float(level),
            f"{self.title}, {self.conformity_score_.name} score",
            self.exact,
        )


class Weighed(NamedTuple):
    """A rank among windows whose weights are not whole numbers."""

    at_least: float  # the weight of windows at least as nonconforming as the candidate, with it
    total: float  # the weight of all windows, the candidate's included

    def p_value(self) -> float:
        """Return the p-value; one where nothing has any weight."""
        return self.at_least / self.total if self.total > 0 else 1.0

    def exceeds(self, alpha: Fraction) -> bool:
        return self.p_value() > float(alpha) + ROUNDING


def weighed_ranks(
    reference: FloatArray, weights: FloatArray, candidates: FloatArray, own: float
) -> list[Weighed]:
    """Rank each candidate among weighted scores, which it joins with the weight `own`."""
    places = ranks(reference, np.ones(len(reference), dtype=np.int64), candidates, joins=True)
    descending = np.argsort(reference, kind="stable")[::-1]
    above = np.concatenate([[0.0], np.cumsum(weights[descending])])  # of the k largest scores
    total = float(above[-1]) + own
    return [Weighed(float(above[place.greater + place.equal - 1]) + own, total) for place in places]
