"""Each observation by itself, a union bound over the steps, and paths ranked by the chain."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.checks import checked_flag
from definetti.baselines.union import UnionBaseline, chain_scores
from definetti.data.history import Windows
from definetti.engine.pvalues import Rank, ranks
from definetti.engine.task import PredictionTask
from definetti.models.base import Estimate, at_states
from definetti.models.hmm import Parameters
from definetti.scores import Score
from definetti.scores.rounding import round_scores


class UnionOverSequences(UnionBaseline, name="unionoversequences"):
    """Hidden Markov models with confidence (Cherubin & Nouretdinov 2016).

    Parameters
    ----------
    train_size : float or int, default 0.5
        With `lengths`, the share or the number of sequences that train.
    conditional : bool, default False
        Compare a state's observation with the observations of that state alone.

    Notes
    -----
    The other parameters are those of `definetti.baselines.base.Baseline`. How `lengths` is
    read, and the level of each step, ``1 − α/h``, are told in
    `definetti.baselines.union.UnionBaseline`.

    How strange a state is at its step is one minus its share of the likelihood of the
    observation there: the chain has no say. It is compared with all labelled steps that
    calibrate, of all sequences. The chain only ranks the paths that are left, the most probable
    first, whatever their p-values.

    Guaranteed: coverage of at least the level, if the pairs of a state and its observation are
    exchangeable, as for independent and identically distributed steps; those of a Markov chain
    are not. With ``conditional=True`` it is guaranteed for every hidden Markov model, from one
    sequence or several, because given the states the observations of one state are independent
    with one law: ``exact`` is then True. That is a remark of ours, not of the authors.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> cp = UnionOverSequences(conditional=True).fit(y[:298], x[:298])
    >>> cp.predict_set(y[298:], 0.8).sequences
    [('rain', 'rain'), ('sun', 'rain')]
    """

    title = "union bound over steps, paths ranked by the chain"

    def __init__(
        self,
        model: Any = "auto",
        confidence_level: float = 0.9,
        train_size: float | None = 0.5,
        states: Iterable[Hashable] | None = None,
        max_candidates: int = 100_000,
        random_state: Any = None,
        conditional: bool = False,
    ) -> None:
        self.model = model
        self.confidence_level = confidence_level
        self.train_size = train_size
        self.states = states
        self.max_candidates = max_candidates
        self.random_state = random_state
        self.conditional = conditional

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
        strange = round_scores(strangeness(estimate, past.observations))
        reference = strange[np.arange(len(states)), states]
        ones = np.ones(len(states), dtype=np.int64)
        new = round_scores(strangeness(estimate, task.observations))
        table = []
        for unseen, row in zip(task.unseen.tolist(), new, strict=True):
            if unseen:  # nothing tells one state from another
                table.append([Rank(0, 1, 1)] * len(row))
            elif self.conditional:
                own = [past.visits(state) for state in range(len(row))]
                table.append(
                    [
                        ranks(reference[times], ones[times], row[[state]], joins=True)[0]
                        for state, times in enumerate(own)
                    ]
                )
            else:
                table.append(ranks(reference, ones, row, joins=True))
        return table

    def _order(self, task: PredictionTask, members: IntArray, p_values: FloatArray) -> IntArray:
        return np.lexsort((-p_values, chain_scores(task, members)))


class EmissionShare(Score):
    """One minus a state's share of the likelihood of its own observation, at the strangest step."""

    name = "emission"

    def __call__(self, estimate: Estimate, windows: Windows) -> FloatArray:
        steps = strangeness(estimate, windows.observations)
        return np.asarray(at_states(steps, windows.states).max(axis=1))


def strangeness(estimate: Estimate, observations: IntArray) -> FloatArray:
    """Return how strange each state is by an observation alone, ``observations.shape + (n,)``."""
    if not isinstance(estimate, Parameters):
        raise TypeError(
            "model gives no likelihood of an observation by itself, which this baseline goes by; "
            "use 'auto', an HMM, given_hmm or a fitted hmmlearn model"
        )
    logs = estimate.log_likelihood(observations)
    best = logs.max(axis=-1, keepdims=True)
    impossible = best == -np.inf  # in every state: no state is stranger than another
    likelihood = np.where(impossible, 1.0, np.exp(logs - np.where(impossible, 0.0, best)))
    return np.asarray(1.0 - likelihood / likelihood.sum(axis=-1, keepdims=True))
