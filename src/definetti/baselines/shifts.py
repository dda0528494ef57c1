"""Cyclic shifts of the whole sequence, in blocks: a group of permutations for time series."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from definetti._system.checks import checked_number
from definetti.baselines.base import Baseline
from definetti.data.history import Completion, Windows
from definetti.engine.task import PredictionTask
from definetti.symmetry.base import Generator, Reference, Symmetry


class ShiftPermutations(Baseline, name="shiftpermutations"):
    """Shifts of the completed sequence (Chernozhukov, Wüthrich & Zhu 2018).

    Parameters
    ----------
    block : int, default 1
        By how many steps to shift at a time: 1 for all shifts, ``h`` for blocks that do not
        overlap. The oldest steps are left out where it does not divide the length.

    Notes
    -----
    The other parameters are those of `definetti.baselines.base.Baseline`.

    The history and the candidate make a ring, whose every rotation, by a multiple of `block`, is
    compared with the sequence itself; the last ``h`` steps of a rotation are its window. The
    authors fit the model again with each candidate; here it is fixed, as for all baselines.

    Guaranteed: coverage of at least the level if rotations do not change the law of the sequence,
    as for independent and identically distributed steps. For a stationary sequence that mixes, and
    a good model, the coverage tends to the level as the sequence grows; for a Markov chain no
    length guarantees it.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> ShiftPermutations(block=2).fit(y[:298], x[:298]).predict_set(y[298:]).sequences
    [('rain', 'rain')]
    """

    title = "shift permutations"
    each_candidate = True

    def __init__(
        self,
        model: Any = "auto",
        score: Any = "path",
        confidence_level: float = 0.9,
        train_size: float | None = 0.5,
        states: Iterable[Hashable] | None = None,
        max_candidates: int = 100_000,
        random_state: Any = None,
        block: int = 1,
    ) -> None:
        super().__init__(
            model, score, confidence_level, train_size, states, max_candidates, random_state
        )
        self.block = block

    def _check(self) -> None:
        checked_number(self.block, "block")

    def _compare_with(self, task: PredictionTask) -> Symmetry:
        if task.unseen.any() and not task.unseen.all():
            raise ValueError(
                f"horizon={len(task.unseen)} reaches beyond the "
                f"{int((~task.unseen).sum())} new_observations, and a shift would move the gap "
                "to other steps; leave horizon out, or give no new_observations"
            )
        return Rotations(self.block)


@dataclass(frozen=True)
class Rotations(Symmetry):
    """Compare with the windows at the end of every rotation; **only approximately valid**."""

    block: int

    exact = False
    reads_observations = False

    def reference(
        self, completion: Completion, n_resamples: int, generator: Generator
    ) -> Reference:
        past, horizon = completion.history, completion.horizon
        length = len(past) + horizon
        left_out = length % self.block
        if length - left_out <= horizon:
            return Reference.alone(completion)
        states = np.concatenate([past.states, completion.states])[left_out:]
        observations = np.concatenate([past.observations, completion.observations])[left_out:]
        ends = np.arange(len(states) - 1, -1, -self.block)
        times = (ends[:, None] + np.arange(-horizon, 1)) % len(states)
        windows = Windows(states[times[:, 0]], states[times[:, 1:]], observations[times[:, 1:]])
        return Reference(windows, np.ones(len(ends), dtype=np.int64), joins=False)
