"""Sets of many windows that might follow one history, as arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.candidates import all_candidates
from definetti.levels import ConfidenceLevel
from definetti.promises import LAST
from definetti.sets._wording import promise
from definetti.sets.listed import Backend, PredictionSet, installed, one_type

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PredictionSets:
    """A set for each of ``B`` windows, with the p-values of all ``C`` candidates.

    Attributes
    ----------
    p_values : (B, C) of all sequences of states, in the order of `candidates`; one step ahead a
        column for each state
    inside : (B, C) which of them are in the set
    states, horizon, confidence_level, method, exact, given : as in `PredictionSet`
    scores : (B, C) how strange each is
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
    confidence_level: ConfidenceLevel
    method: str
    exact: bool
    scores: FloatArray
    filled: BoolArray
    given: str = LAST

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
        """Where the members of each set begin among `members`, and where the last end: (B + 1,)."""
        return np.concatenate([[0], self.sizes.cumsum()])

    @property
    def members(self) -> IntArray:
        """The members of all sets, one set after the other, as codes: ``(M, horizon)``."""
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
        backend = backend or installed()
        windows, which = self.inside.nonzero()
        names: list[Any] = list(self.states)
        if backend != "pandas" and not one_type(self.states):
            names = [repr(label) for label in names]  # as `PredictionSet.to_frame` has it
        columns: dict[str, Any] = {"window": windows}
        for step in range(self.horizon):
            codes = self.candidates[which, step].tolist()
            columns[f"step_{step + 1}"] = [names[code] for code in codes]
        columns["p_value"] = self.p_values[windows, which]
        return nw.from_dict(columns, backend=backend).to_native()

    def __repr__(self) -> str:
        mean = self.inside.sum() / max(len(self), 1)
        return (
            f"PredictionSets: {len(self):,} windows of {self.horizon:,} "
            f"step{'s' * (self.horizon > 1)}, {mean:.2f} sequences each on average, each "
            f"{promise(self.confidence_level, self.exact, self.given)}\n  ({self.method})"
        )
