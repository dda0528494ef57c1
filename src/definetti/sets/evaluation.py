"""How sets fared when the truth came in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from definetti.arrays import FloatArray


class Evaluation(NamedTuple):
    """Prediction sets judged by the truth, one window after the other.

    Attributes
    ----------
    covered : (windows,) whether the truth was in the set
    sizes : (windows,) how many sequences the set held
    scaled_sizes : (windows,) the share of all sequences that it held
    p_values : (windows,) the p-value of the truth

    Examples
    --------
    >>> e = Evaluation(
    ...     np.array([True, False]), np.array([1, 2]), np.array([0.5, 1.0]), np.array([0.7, 0.05])
    ... )
    >>> e
    Evaluation: covered 1 of 2 (0.500), mean size 1.50, mean scaled size 0.750
    """

    covered: npt.NDArray[np.bool_]
    sizes: npt.NDArray[np.int64]
    scaled_sizes: FloatArray
    p_values: FloatArray

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Evaluation):
            return NotImplemented
        return all(map(np.array_equal, tuple(self), tuple(other)))

    def __ne__(self, other: object) -> bool:
        return not self == other

    @property
    def coverage(self) -> float:
        """The share of windows whose set held the truth."""
        return float(self.covered.mean())

    @property
    def size(self) -> float:
        """The mean number of sequences in a set."""
        return float(self.sizes.mean())

    @property
    def scaled_size(self) -> float:
        """The mean share of all sequences in a set."""
        return float(self.scaled_sizes.mean())

    def __repr__(self) -> str:
        held, number = int(self.covered.sum()), len(self.covered)
        return (
            f"Evaluation: covered {held} of {number} ({self.coverage:.3f}), "
            f"mean size {self.size:.2f}, mean scaled size {self.scaled_size:.3f}"
        )
