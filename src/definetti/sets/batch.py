"""Listed prediction sets, of one window or of many in one batch."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.engine.algorithm import rank
from definetti.engine.pvalues import Ranked, membership, p_values_of
from definetti.engine.task import PredictionTask, all_candidates, check_listing
from definetti.levels import ConfidenceLevel, Levels
from definetti.sets.base import Backend, BoolArray, column_labels, make_frame
from definetti.sets.listed import PredictionSet
from definetti.sets.wording import InsufficientCalibration, join_notes, note_recent, promise
from definetti.symmetry.base import LAST, PRESENT


@dataclass(frozen=True, eq=False)
class PredictionSets:
    """A set for each of ``B`` windows, with the p-values of all ``C`` candidates.

    Attributes
    ----------
    p_values : (B, C) of all sequences of states, in the order of `candidates`; one step ahead a
        column for each state
    inside : (B, C) which of them are in the set
    states, horizon, confidence_level, method, exact, given : as in `PredictionSet`
    scores : (B, C) nonconformity scores
    filled : (B,) whether nothing was plausible, so that the most plausible was let in alone

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> cp = ConformalHMM(train_size=0.5, random_state=0).fit(*weather(400, random_state=0))
    >>> sets = cp.predict_sets([["hat"], ["umbrella"]], confidence_level=0.7)
    >>> sets.p_values.shape, sets.sizes
    ((2, 2), array([1, 1]))
    >>> sets[1].sequences
    [('rain',)]
    >>> sets.to_frame("polars").rows()[0][:2]
    (0, 'sun')
    """

    p_values: FloatArray
    inside: BoolArray
    states: tuple[Hashable, ...]
    horizon: int
    confidence_level: ConfidenceLevel | None
    method: str
    exact: bool
    scores: FloatArray
    filled: BoolArray
    given: str = LAST

    @classmethod
    def of_ranks(
        cls,
        ranked: Ranked,
        uniforms: FloatArray | None,
        alphas: npt.NDArray[np.object_] | None,
        fill: bool,
        states: tuple[Hashable, ...],
        horizon: int,
        confidence_level: ConfidenceLevel | None,
        method: str,
        exact: bool,
        given: str = LAST,
    ) -> PredictionSets:
        """Keep candidates whose p-value exceeds their alpha, all if None.

        A set that would be empty gets its most plausible candidate, if it is to be filled.
        """
        p_values = p_values_of(ranked, uniforms)
        if alphas is None:
            inside, filled = np.ones(p_values.shape, dtype=bool), np.zeros(len(p_values), bool)
        else:
            inside, filled = membership(ranked, p_values, alphas, uniforms, fill=fill)
        return cls(
            p_values, inside, states, horizon, confidence_level, method, exact, ranked.scores,
            filled, given,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.p_values)

    def __iter__(self) -> Iterator[PredictionSet]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, window: int) -> PredictionSet:
        """Return the set of one window by itself."""
        p, inside = self.p_values[window], self.inside[window]
        order = np.lexsort((self.scores[window], -p))
        kept = order[inside[order]]
        return PredictionSet(
            [tuple(self.states[code] for code in row) for row in self.candidates[kept].tolist()],
            p[kept],
            self.states,
            self.horizon,
            self.confidence_level,
            self.method,
            self.exact,
            p,
            self.given,
            filled=bool(self.filled[window]),
        )

    @cached_property
    def candidates(self) -> IntArray:
        """All sequences of states, as codes: ``(C, horizon)``."""
        return all_candidates(len(self.states), self.horizon)

    @property
    def sizes(self) -> IntArray:
        """How many sequences each set has: (B,)."""
        return np.asarray(self.inside.sum(axis=1))

    @property
    def offsets(self) -> IntArray:
        """Where each set begins in `members`, and where the last one ends: (B + 1,)."""
        return np.concatenate([[0], self.sizes.cumsum()])

    @property
    def members(self) -> IntArray:
        """The members of all sets in succession, as codes: ``(M, horizon)``."""
        return self.candidates[self.inside.nonzero()[1]]

    @property
    def nodes(self) -> BoolArray:
        """Which states some member has at each step: ``(B, horizon, number of states)``."""
        n, number = len(self.states), len(self)
        steps = [self.inside.reshape(number, n**k, n, -1) for k in range(self.horizon)]
        return np.stack([step.any(axis=(1, 3)) for step in steps], axis=1)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a data frame, a row for each member: ``window``, its steps and ``p_value``.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame; the first of these that is installed if left out.
        """
        windows, which = self.inside.nonzero()
        names = column_labels(self.states, backend)
        columns: dict[str, Any] = {"window": windows}
        for step in range(self.horizon):
            codes = self.candidates[which, step].tolist()
            columns[f"step_{step + 1}"] = [names[code] for code in codes]
        columns["p_value"] = self.p_values[windows, which]
        return make_frame(columns, backend)

    def __repr__(self) -> str:
        mean = self.inside.sum() / max(len(self), 1)
        return (
            f"PredictionSets: {len(self):,} windows of {self.horizon:,} "
            f"step{'s' * (self.horizon > 1)}, {mean:.2f} sequences each on average, each "
            f"{promise(self.confidence_level, self.exact, self.given)}\n  ({self.method})"
        )


AllRanked = tuple[IntArray, Ranked]


def sets_of(
    task: PredictionTask,
    ranked: Ranked,
    uniforms: FloatArray | None,
    candidates: IntArray,
    levels: Levels | None,
    allow_empty: bool,
) -> PredictionSets:
    """Return the sets of all windows at a level; without levels, all candidates."""
    alphas, promised = None, task.promise()
    if levels is not None:
        if task.symmetry.given == PRESENT:
            levels = levels.at(task.labels[task.history.last])
        alphas = np.array(levels.alphas(task.labels), dtype=object)[candidates[:, -1]][None]
    return PredictionSets.of_ranks(
        ranked,
        uniforms,
        alphas,
        not allow_empty,
        task.labels,
        task.steps,
        None if levels is None else levels.written,
        task.describe(),
        promised.exact,
        promised.holds_given,
    )


def listed_set(
    task: PredictionTask,
    levels: Levels | None,
    max_candidates: Any,
    verbose: bool,
    allow_empty: bool = True,
    ranked: AllRanked | None = None,
) -> PredictionSet:
    """Rank all candidates and keep those whose p-value exceeds alpha, most plausible first.

    Each is held to the alpha of its own last state. If there are none and the set may not be
    empty, the most plausible is kept. The ranks of `all_ranked` serve all levels.
    """
    ranked = all_ranked(task, max_candidates, verbose) if ranked is None else ranked
    candidates, ranks = ranked
    listed = sets_of(
        task, ranks, task.tie_breakers(ranks), candidates, levels, levels is None or allow_empty
    )[0]
    if levels is None:
        return listed
    alphas, note = levels.alphas(task.labels), ""
    if task.by_last_state:
        # The first candidates differ only in their last states.
        numbers = (ranks.total[0, : len(alphas)] - 1).tolist()
        few = InsufficientCalibration.of(task, numbers, alphas)
        everything = len(listed) == len(candidates)
        if everything:
            few.warn()
        if everything or not task.smoothing:  # smoothing may exclude these at random
            note = few.note(everything)
    bounded = note_recent(task.symmetry, alphas, int(ranks.total.max()) - 1)
    return replace(listed, note=join_notes(note, bounded))


def all_ranked(task: PredictionTask, max_candidates: Any, verbose: bool = False) -> AllRanked:
    """Return all candidates with their ranks."""
    n, steps = len(task.labels), task.steps
    check_listing(n, steps, max_candidates, task.way_to_limits)
    candidates = all_candidates(n, steps)
    return candidates, rank(task, candidates, verbose)
