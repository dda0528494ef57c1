"""A listed set of state sequences."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.engine.task import powered
from definetti.levels import ConfidenceLevel
from definetti.sets.base import (
    SHOWN,
    Backend,
    BasePredictionSet,
    BoolArray,
    coded,
    column_labels,
    make_frame,
)
from definetti.sets.wording import Size, promise
from definetti.symmetry.base import LAST

Sequence = tuple[Hashable, ...]


@dataclass(frozen=True, eq=False, repr=False)
class PredictionSet(BasePredictionSet):
    """State sequences with their p-values, most plausible first.

    Attributes
    ----------
    sequences : list of tuples of labels
    p_values : (len,) array
    states, horizon, confidence_level, method, exact, given, note : as in `BasePredictionSet`
    all_p_values : those of all sequences, in the order of `all_candidates`, where the
        set was made by ranking all; members alone have one if left out
    filled : whether nothing is plausible at the level, so that the set would be empty, and the
        most plausible sequence was let in alone

    Examples
    --------
    >>> s = PredictionSet(
    ...     [("sun", "sun"), ("sun", "rain")],
    ...     np.array([0.8, 0.3]),
    ...     ("sun", "rain"),
    ...     2,
    ...     0.9,
    ...     "path score, full symmetry",
    ...     True,
    ... )
    >>> len(s), s.scaled_size, ("sun", "rain") in s
    (2, 0.5, True)
    >>> s.steps
    [('sun',), ('sun', 'rain')]
    >>> s
    PredictionSet: 2 of 4 sequences of 2 steps, holding the truth with probability ≥ 0.9
      p = 0.8000  sun  sun
      p = 0.3000  sun  rain
      (path score, full symmetry)
    """

    sequences: list[Sequence]
    p_values: FloatArray
    states: tuple[Hashable, ...]
    horizon: int
    confidence_level: ConfidenceLevel | None
    method: str
    exact: bool
    all_p_values: FloatArray | None = None
    given: str = LAST
    note: str = ""
    filled: bool = False

    @cached_property
    def _places(self) -> dict[Sequence, int]:
        return {s: k for k, s in enumerate(self.sequences)}

    def __len__(self) -> int:
        return len(self.sequences)

    def __iter__(self) -> Iterator[Sequence]:
        return iter(self.sequences)

    def __contains__(self, sequence: Any) -> bool:
        path = coded(sequence, self.states, self.horizon)
        return path is not None and self._labels(path) in self._places

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PredictionSet):
            return NotImplemented
        mine, theirs = (
            (s.sequences, s.states, s.horizon, s.confidence_level) for s in (self, other)
        )
        return mine == theirs and np.array_equal(self.p_values, other.p_values)

    __hash__ = None

    @property
    def scaled_size(self) -> float:
        """The share of all sequences that are in the set."""
        return float(len(self) / len(self.states) ** self.horizon)

    @property
    def best(self) -> Sequence | None:
        """The most plausible member; None where the set is empty."""
        return self.sequences[0] if self.sequences else None

    def size(self) -> Size:
        """Return the number of members as two equal bounds, as `LatticeSet.size` does."""
        return Size(len(self), len(self))

    @property
    def step_p_values(self) -> FloatArray:
        """The largest p-value of a sequence with each state at each step, member or not.

        Of members alone, and 0 where there is none, if the others were not noted.
        """
        n = len(self.states)
        if self.all_p_values is not None:
            # Axes: the steps before, the state of the step, the steps after.
            tables = (self.all_p_values.reshape(n**k, n, -1) for k in range(self.horizon))
            return np.array([table.max(axis=(0, 2)) for table in tables])
        best = np.zeros((self.horizon, n))
        np.maximum.at(best, (np.arange(self.horizon), self._codes), self.p_values[:, None])
        return best

    @property
    def nodes(self) -> BoolArray:
        """Which states some member has at each step: ``(horizon, number of states)``."""
        there = np.zeros((self.horizon, len(self.states)), dtype=np.bool_)
        there[np.arange(self.horizon), self._codes] = True
        return there

    @property
    def edges(self) -> BoolArray:
        """Which two states some member has in succession: ``(horizon − 1, states, states)``."""
        n, codes = len(self.states), self._codes
        there = np.zeros((self.horizon - 1, n, n), dtype=np.bool_)
        there[np.arange(self.horizon - 1), codes[:, :-1], codes[:, 1:]] = True
        return there

    def p_value(self, sequence: Any) -> float:
        """Return the p-value of any sequence of known states, member or not.

        Of a member only, where the p-values of the others were not noted.
        """
        path = self._read(sequence, "; ConformalHMM.p_value takes any labels")
        if self.all_p_values is not None:
            place = 0
            for code in path.tolist():
                place = place * len(self.states) + code
            return float(self.all_p_values[place])
        key = self._labels(path)
        if key not in self._places:
            raise KeyError(
                f"{key} is not in the set, which notes the p-values of its members alone; "
                "ConformalHMM.p_value takes any sequence"
            )
        return float(self.p_values[self._places[key]])

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a data frame, one row a sequence: ``step_1 … step_h`` and ``p_value``.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame; the first of these that is installed if left out.
        """
        labels = dict(zip(self.states, column_labels(self.states, backend), strict=True))
        steps = {
            f"step_{k + 1}": [labels[s[k]] for s in self.sequences] for k in range(self.horizon)
        }
        return make_frame({**steps, "p_value": self.p_values}, backend)

    @property
    def _codes(self) -> IntArray:
        """The members as codes, ``(len, horizon)``."""
        places = {label: code for code, label in enumerate(self.states)}
        codes = [[places[label] for label in sequence] for sequence in self.sequences]
        return np.array(codes, dtype=np.int64).reshape(len(self), self.horizon)

    def _headline(self) -> str:
        line = f"{len(self):,} of {powered(len(self.states), self.horizon)} sequences"
        promised = promise(self.confidence_level, self.exact, self.given)
        return f"{line} of {self._write_steps()}, {promised}"

    def _rows(self) -> list[str]:
        return [f"p = {p}  {'  '.join(labels)}" for *labels, p in self._table()[1]]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        head = [*(f"step {k + 1}" for k in range(self.horizon)), "p-value"]
        shown = zip(self.sequences[:SHOWN], self.p_values, strict=False)
        return head, [[*map(str, labels), f"{p:.4f}"] for labels, p in shown]

    def _more(self) -> str:
        return f"{len(self) - SHOWN:,} more" if len(self) > SHOWN else ""
