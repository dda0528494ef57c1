"""What all baselines share: the front door of `ConformalHMM`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_number
from definetti._system.registry import Named
from definetti.algorithm import rank
from definetti.baselines.fitting import Fitting
from definetti.baselines.standing import Standing
from definetti.data.candidates import all_candidates
from definetti.data.labels import checked_states
from definetti.front_door import check_length
from definetti.question import Question
from definetti.ranks.pvalue import miscoverage
from definetti.sets import Evaluation, PredictionSet


class Baseline(Named, Fitting):
    """A method of others for state sequences, with the same front door as `ConformalHMM`.

    Parameters
    ----------
    model : "auto", HMM, or a predictor trained elsewhere
        What stands behind the score. It is fixed before anything is calibrated.
    score : {"path", "filter", "smoother", "joint", "band"} or callable, default "path"
        How strange a window of states is.
    confidence_level : float, default 0.9
    train_size : float or int, default 0.5
        The first stretch, a share or a number of steps, that the model is fitted on; the rest
        calibrates. Of no account for a model that is fixed already.
    states : list of labels, optional
        The state space, if it is larger than what the history shows.
    max_candidates : int, default 100000
        The most candidate sequences that may be listed.
    random_state : int, numpy Generator or None

    Attributes
    ----------
    title : what the method is called in a result
    exact : whether the level is guaranteed in finite samples for every hidden Markov model
    splits : whether `train_size` splits the history
    each_candidate : whether each candidate takes work of its own, that grows with the history
    needs_symbols : whether observations must be symbols
    learns_from_misses : whether `partial_fit` judges the sets, so that it takes some rounds
    states_, model_, score_ : the labels of the states, and what is used

    Notes
    -----
    A method derives from this class and says what a candidate is compared with, `_compare_with`, or
    how it stands, `_judge`.
    """

    exact: bool = False
    title = "baseline"
    splits: ClassVar[bool] = True
    each_candidate: ClassVar[bool] = False
    needs_symbols: ClassVar[bool] = False
    learns_from_misses: ClassVar[bool] = False

    def predict_set(
        self,
        new_observations: Any = None,
        confidence_level: float | None = None,
        *,
        horizon: int | None = None,
    ) -> PredictionSet:
        """Return the set of state sequences for new observations.

        Parameters
        ----------
        new_observations : (h,) the observations that follow the labelled ones
        confidence_level : float, optional
            Another level than the estimator's.
        horizon : int, optional
            How many steps to predict, where it is more than there are observations.
        """
        self._check_fitted()
        level = self.confidence_level if confidence_level is None else confidence_level
        alpha = self._alpha(miscoverage(level))
        return self._list_members(self._question(new_observations, horizon), alpha, level)

    def predict_p(
        self, new_observations: Any = None, *, horizon: int | None = None
    ) -> PredictionSet:
        """Return every candidate sequence with its p-value."""
        return self._list_members(self._question(new_observations, horizon), None, None)

    def p_value(self, new_observations: Any, states: Any, *, horizon: int | None = None) -> float:
        """Return the p-value of one state sequence; any label will do, also one never seen."""
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
        """Judge prediction sets by the truth, window after window, each from all before it.

        Parameters
        ----------
        new_observations, states : (L,) what follows the labelled sequence, and its true states
        horizon : int, optional
            How many steps a window has; the whole stretch is one window if left out.
        verbose : bool, default False
            Show a progress bar when it takes more than two seconds; on a terminal or in a
            notebook only.
        """
        self._check_fitted()
        truth = checked_states(states)
        step = len(truth) if horizon is None else checked_number(horizon, "horizon")
        if not truth or len(truth) < step:
            raise ValueError(
                f"states has {len(truth)} labels, fewer than one window of {max(step, 1)}; "
                "give more, or shorten the horizon"
            )
        if isinstance(new_observations, Iterator):
            new_observations = list(new_observations)
        if new_observations is not None:
            check_length(truth, len(self._data.read_new(new_observations, None).codes))
        from definetti.judging.rolling import judge_windows

        # All that it asks for is the front door.
        return judge_windows(
            cast(Any, self), new_observations, truth, confidence_level, step, verbose=verbose
        )

    def _alpha(self, alpha: Fraction) -> Fraction:
        """Return the level that a p-value has to be above."""
        return alpha

    def _judge(
        self, question: Question, candidates: IntArray
    ) -> tuple[Sequence[Standing], FloatArray]:
        """Return how candidates, ``(C, h)``, stand, and their scores."""
        return rank(question, candidates)

    def _judge_one(self, question: Question, codes: IntArray) -> Standing:
        return self._judge(question, codes[None])[0][0]

    def _list_members(
        self, question: Question, alpha: Fraction | None, level: float | None
    ) -> PredictionSet:
        """List candidates whose p-value exceeds alpha, most plausible first."""
        self._check_budget(len(question.labels), question.steps)
        candidates = all_candidates(len(question.labels), question.steps)
        found, scores = self._judge(question, candidates)
        p_values = np.array([one.p_value() for one in found])
        order = np.lexsort((scores, -p_values)).tolist()
        kept = [k for k in order if alpha is None or found[k].exceeds(alpha)]
        return self._name_members(question, candidates[kept], p_values[kept], level)

    def _name_members(
        self, question: Question, members: IntArray, p_values: FloatArray, level: float | None
    ) -> PredictionSet:
        """Return members, as codes, with their labels."""
        return PredictionSet(
            [tuple(question.labels[code] for code in row) for row in members.tolist()],
            p_values,
            question.labels,
            question.steps,
            None if level is None else float(level),
            f"{self.title}, {self.score_.name} score",
            self.exact,
        )
