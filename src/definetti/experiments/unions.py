"""Baselines that predict each step by itself and combine steps by a union bound."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_flag
from definetti.data.encoded import EncodedHistory
from definetti.data.history import Windows
from definetti.data.labels import checked_states, read_lengths, training_length
from definetti.engine.pvalues import Rank, ranks
from definetti.engine.task import PredictionTask, all_candidates
from definetti.experiments.baseline import Baseline, Standing
from definetti.models.base import Estimate, Model, at_states
from definetti.models.hmm import Parameters
from definetti.scores import Path, Score, Smoother
from definetti.scores.nonconformity import round_scores
from definetti.sets import PredictionSet
from definetti.symmetry.blocks import strided_ends


class UnionBaseline(Baseline, ABC):
    """A baseline whose set is a product of sets at level ``1 − α/h``, one for each step.

    The p-value of a sequence is ``h`` times the smallest of its steps. With `lengths` the last
    sequence is the beginning of the one to be predicted; `train_size` counts those before it.
    """

    _begins: list[int]

    @abstractmethod
    def _steps(self, task: PredictionTask) -> list[list[Rank]]:
        """Return the rank of each state at each step, ``(h, n)``."""

    def _resolve_score(self) -> Score:
        if self.conformity_score not in ("smoother", "filter"):
            raise ValueError(
                f"conformity_score must be 'smoother' or 'filter', got {self.conformity_score!r}"
            )
        return super()._resolve_score()

    def _take_in(
        self, model: Model, observations: Any, states: Any, lengths: Any, entropy: int
    ) -> dict[str, Any]:
        if lengths is None:
            taken = super()._take_in(model, observations, states, None, entropy)
            return {**taken, "_begins": [0]}
        total = len(checked_states(states))
        sizes = read_lengths(lengths, total, "states")
        if len(sizes) < 2:
            raise ValueError(
                "lengths names one sequence, the one to be predicted; give those before it too, "
                "or leave lengths out"
            )
        begins = sizes.cumsum() - sizes
        share, first, cut, parts = self._training_share(model), 0, None, None
        if share is not None:
            first = training_length(share, len(sizes) - 1, "sequences before the last")
            cut = int(begins[first])
            # The calibration sequences are one segment, which the model is not fitted on.
            parts = [*sizes[:first].tolist(), total - cut]
        data = EncodedHistory(model, observations, states, self.states, cut, parts)
        return {"_data": data, "_begins": (begins[first:] - begins[first]).tolist()}

    def _ends(self, task: PredictionTask) -> IntArray:
        """Return the ends of calibration windows: one in each sequence, at the same place.

        A single sequence is cut, from its end, into pieces as long as the horizon.
        """
        length, horizon = len(task.history), len(task.observations)
        if len(self._begins) == 1:
            return strided_ends(length, horizon, horizon)
        begins = np.array(self._begins)
        known = length - begins[-1]  # steps of the last sequence that have labels
        long_enough = np.diff(begins) >= known + horizon
        return np.asarray(begins[:-1][long_enough] + known + horizon - 1)

    def _judge_one(self, task: PredictionTask, codes: IntArray) -> Standing:
        step_ranks = [ranks[code] for ranks, code in zip(self._steps(task), codes, strict=True)]
        least = min(Fraction(rank.greater + rank.equal, rank.total) for rank in step_ranks)
        whole = min(len(step_ranks) * least, Fraction(1))
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
        bounds = [
            [min(horizon * (r.greater + r.equal) / r.total, 1.0) for r in row] for row in table
        ]
        p_values = np.array(bounds)
        smallest = p_values[np.arange(horizon), members].min(axis=1)
        order = self._order(task, members, smallest)
        return self._name_members(task, members[order], smallest[order], level)

    def _order(self, task: PredictionTask, members: IntArray, p_values: FloatArray) -> IntArray:
        """Return the order of members, most plausible first."""
        return np.lexsort((chain_scores(task, members), -p_values))


def chain_scores(task: PredictionTask, members: IntArray) -> FloatArray:
    """Return the path score of each member under the model."""
    if not len(members):
        return np.zeros(0)
    by_path = replace(task, score=Path())
    estimate = by_path.estimate(by_path.complete_with(0))
    return by_path.score_windows(estimate, by_path.windows(members))


@dataclass(eq=False, repr=False)
class UnionMultiStep(UnionBaseline, name="unionmultistep"):
    """A set for each step ahead, by a union bound (CF-RNN, Stankevičiūtė et al. 2021).

    A set at level ``1 − α/h`` for each of ``h`` steps. With `lengths` a step is compared with the
    same step of the other sequences; `train_size` is their share or number that trains, and the
    last sequence is the one to be predicted.

    Guaranteed: coverage of at least the level, if the sequences given with `lengths` and the one
    to be predicted are exchangeable, as independent ones of one law are: ``exact`` is then True.
    A single history is cut into consecutive pieces as long as the horizon; the pieces of a Markov
    chain are not exchangeable, the guarantee is lost, and ``exact`` is False.

    Parameters
    ----------
    conformity_score : {"smoother", "filter"}, default "smoother"
        The nonconformity of a state at its step: one minus its probability given all observations
        of the window, or those so far.

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

    conformity_score: Any = "smoother"

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """Whether exchangeable sequences were given."""
        return self._is_fitted() and len(self._begins) > 1

    def _steps(self, task: PredictionTask) -> list[list[Rank]]:
        estimate = task.estimate(task.complete_with(0))
        smooth = isinstance(self.conformity_score_, Smoother)
        infer = estimate.smoothing if smooth else estimate.filtering
        new = round_scores(1.0 - infer(task.hide_unseen(task.complete_with(0).window))[0])
        ends = self._ends(task)
        past = np.zeros((0, len(new)))
        if len(ends):
            windows = task.hide_unseen(task.windows_ending(ends))
            past = round_scores(1.0 - at_states(infer(windows), windows.states))
        ones = np.ones(len(past), dtype=np.int64)
        return [ranks(past[:, k], ones, new[k], joins=True) for k in range(len(new))]


@dataclass(eq=False, repr=False)
class UnionOverSequences(UnionBaseline, name="unionoversequences"):
    """Hidden Markov models with confidence (Cherubin & Nouretdinov 2016).

    A set at level ``1 − α/h`` for each of ``h`` steps; `lengths` is read as by `UnionMultiStep`.
    The nonconformity of a state at its step is one minus its share of the likelihood of the
    observation there, without the chain. This score is compared with those of all labelled
    calibration steps, of all sequences. The chain only ranks the paths that are left, the most
    probable first, whatever their p-values.

    Guaranteed: coverage of at least the level, if the pairs of a state and its observation are
    exchangeable, as for independent and identically distributed steps; those of a Markov chain
    are not. With ``conditional=True`` it is guaranteed for every hidden Markov model, from one
    sequence or several, because given the states the observations of one state are independent
    with one law: ``exact`` is then True. That is a remark of ours, not of the authors.

    Parameters
    ----------
    conditional : bool, default False
        Compare a state's observation with the observations of that state alone.
        There is no `conformity_score`.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> cp = UnionOverSequences(conditional=True).fit(y[:298], x[:298])
    >>> cp.predict_set(y[298:], 0.8).sequences
    [('rain', 'rain'), ('sun', 'rain')]
    """

    title = "union bound over steps, paths ranked by the chain"

    conformity_score: Any = field(default=None, init=False)  # the share of the likelihood
    conditional: bool = False

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """Whether observations are compared state by state."""
        return bool(self.conditional)

    def _check(self) -> None:
        checked_flag(self.conditional, "conditional")

    def _resolve_score(self) -> Score:
        return EmissionShare()

    def _steps(self, task: PredictionTask) -> list[list[Rank]]:
        estimate = task.estimate(task.complete_with(0))
        past, states = task.history, task.history.states
        scores = round_scores(emission_nonconformity(estimate, past.observations))
        reference = scores[np.arange(len(states)), states]
        ones = np.ones(len(states), dtype=np.int64)
        new = round_scores(emission_nonconformity(estimate, task.observations))

        def rank_states(row: FloatArray) -> list[Rank]:
            if not self.conditional:
                return ranks(reference, ones, row, joins=True)
            state_ranks = []
            for state, score in enumerate(row):
                times = past.visits(state)
                state_ranks += ranks(reference[times], ones[times], np.array([score]), joins=True)
            return state_ranks

        # Without an observation all states are alike.
        return [
            [Rank(0, 1, 1)] * len(row) if unseen else rank_states(row)
            for unseen, row in zip(task.unseen.tolist(), new, strict=True)
        ]

    def _order(self, task: PredictionTask, members: IntArray, p_values: FloatArray) -> IntArray:
        return np.lexsort((-p_values, chain_scores(task, members)))


class EmissionShare(Score):
    """One minus a state's share of the likelihood of its own observation, at the worst step."""

    name = "emission"

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        steps = emission_nonconformity(estimate, windows.observations)
        return np.asarray(at_states(steps, windows.states).max(axis=1))


def emission_nonconformity(estimate: Estimate, observations: IntArray) -> FloatArray:
    """Return the nonconformity of each state by its observation: ``observations.shape + (n,)``."""
    if not isinstance(estimate, Parameters):
        raise TypeError(
            "model gives no likelihood of an observation by itself, which this baseline goes by; "
            "use 'auto', an HMM, given_hmm or a fitted hmmlearn model"
        )
    logs = estimate.log_likelihood(observations)
    best = logs.max(axis=-1, keepdims=True)
    impossible = best == -np.inf  # in every state: all states are alike
    likelihood = np.where(impossible, 1.0, np.exp(logs - np.where(impossible, 0.0, best)))
    return np.asarray(1.0 - likelihood / likelihood.sum(axis=-1, keepdims=True))
