"""The windows of the history that a candidate is compared with."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.history import Completion
from definetti.engine.task import PredictionTask
from definetti.symmetry.base import Chains, Generator, Reference, Symmetry


@dataclass(frozen=True)
class Past(Symmetry):
    """Compare with every window of the past, or every so many-th, whatever states it has.

    Not valid for a Markov chain: these windows are neither independent nor exchangeable.

    Parameters
    ----------
    stride : int, default 1
        How many steps lie between the ends of two windows, counted back from the new one.
    """

    stride: int = 1

    exact = False
    reads_observations = False

    def orbit(self, completion: Completion) -> tuple[int, ...]:
        return ()

    def reference(
        self, completion: Completion, n_resamples: int, generator: Generator
    ) -> Reference:
        return Reference.past(
            strided_ends(len(completion.history), completion.horizon, self.stride)
        )

    def chains(self, tokens: IntArray, horizon: int) -> Chains | None:
        if self.stride > 1:
            return None  # which windows they are is another matter at every time
        ends = np.arange(len(tokens))
        counted = ends >= horizon
        parents = np.where(ends > horizon, ends - 1, -1)
        return Chains(np.where(counted, 0, -1), parents, counted, shared=True)


def strided_ends(length: int, horizon: int, stride: int) -> IntArray:
    """Return where windows of the past end, latest first.

    Parameters
    ----------
    length : T, the length of the history; the new window ends at ``T + horizon − 1``

    Examples
    --------
    >>> strided_ends(6, 2, 1), strided_ends(9, 2, 3)
    (array([5, 4, 3, 2]), array([7, 4]))
    """
    last = length + horizon - 1 - stride
    beyond = max(last - length + 1, 0)  # by how much it ends too late
    return np.arange(last - -(-beyond // stride) * stride, horizon - 1, -stride)


def all_scores(
    task: PredictionTask, name: Hashable, scored: Callable[[IntArray], FloatArray]
) -> FloatArray:
    """Score all windows of the past, the oldest first, each once and for all if that is possible.

    Parameters
    ----------
    name : a name for the way of scoring, under which scores are found again
    scored : from ends of windows to their scores
    """
    history = task.history
    ends = np.arange(len(task.observations), len(history))
    if not len(ends):
        return np.zeros(0)
    if not task.model.fixed:
        return scored(ends)
    key = "in order", name
    known = history.lasting.recall(task.setting, key, lambda: np.zeros(0))
    if len(known) < len(ends):  # in rolling prediction, what is new alone
        known = np.concatenate([known, scored(ends[len(known) :])])
        history.lasting.note(task.setting, key, known)
    return known
