"""How sets fared when the truth came in."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray


class Evaluation(NamedTuple):
    """Prediction sets judged by the truth, one window after the other.

    Attributes
    ----------
    covered : (windows,) whether the truth was in the set
    sizes : (windows,) how many sequences the set held, at most where it was not listed
    scaled_sizes : (windows,) the share of all sequences that it held
    p_values : (windows,) the p-value of the truth; NaN for sets of states, which have none
    wrong : (windows,) the share of steps whose true state was not possible there
    widths : (windows,) how many states were possible at a step, on average
    states, truth, nodes : the labels; the true codes of all steps, −1 for a label unknown; and
        which states were possible at each step, ``(steps, number of states)``
    confidence_level : the level asked for
    filled : (windows,) whether nothing was plausible, so that the most plausible was let in; for
        sets of states, at some step; None where nobody counted

    Examples
    --------
    >>> e = Evaluation(
    ...     np.array([True, False]),
    ...     np.array([1, 2]),
    ...     np.array([0.5, 1.0]),
    ...     np.array([0.7, 0.05]),
    ...     np.array([0.0, 1.0]),
    ...     np.array([1.0, 2.0]),
    ... )
    >>> e  # doctest: +NORMALIZE_WHITESPACE
    Evaluation: covered 1 of 2 (0.500), mean size 1.50, mean scaled size 0.750,
    states per step 1.50, steps wrong 0.500
    """

    covered: npt.NDArray[np.bool_]
    sizes: npt.NDArray[Any]
    scaled_sizes: FloatArray
    p_values: FloatArray
    wrong: FloatArray
    widths: FloatArray
    states: tuple[Hashable, ...] = ()
    truth: Any = None
    nodes: Any = None
    confidence_level: float | None = None
    filled: Any = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Evaluation):
            return NotImplemented
        # What follows the first six says the same in more words.
        pairs = zip(self[:6], other[:6], strict=True)
        return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)

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

    @property
    def width(self) -> float:
        """The mean number of states that were possible at a step."""
        return float(self.widths.mean())

    @property
    def wrong_share(self) -> float:
        """The share of steps whose true state was not possible there."""
        return float(self.wrong.mean())

    def plot(self, ax: Any = None) -> Any:
        """Draw truth, sets and misses; see `definetti.plots.plot_backtest`."""
        from definetti.plots import plot_backtest

        return plot_backtest(self, ax)

    def __repr__(self) -> str:
        held, number = int(self.covered.sum()), len(self.covered)
        return (
            f"Evaluation: covered {held} of {number} ({self.coverage:.3f}), "
            f"mean size {self.size:.2f}, mean scaled size {self.scaled_size:.3f}, "
            f"states per step {self.width:.2f}, steps wrong {self.wrong_share:.3f}"
            f"{self._on_filling()}"
        )

    def _on_filling(self) -> str:
        """Say how many sets would be empty, where some would."""
        number = 0 if self.filled is None else int(self.filled.sum())
        return f"; the most plausible let into {number} where nothing was" if number else ""
