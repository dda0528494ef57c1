"""One step ahead with a fixed model: all p-values from a table of counts.

The score of a step takes one value for each previous state, state and symbol. How often the past
has had each is all that a p-value depends on, so the table of all p-values costs the same
whatever the length of the past.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from definetti.compiled import kernel
from definetti.pvalue import TIE

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def step_counts(states: Ints, symbols: Ints, n_states: int, n_symbols: int) -> Ints:
    """Count the steps of a labelled sequence: (n, n, m), previous state, state, symbol."""
    cells = (states[:-1] * n_states + states[1:]) * n_symbols + symbols[1:]
    shape = (n_states, n_states, n_symbols)
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)


@kernel
def step_ranks(counts: Ints, scores: Floats) -> tuple[Ints, Ints, Ints]:
    """Rank each cell among the past steps into the same state, as `definetti.pvalue.ranks` does.

    Parameters
    ----------
    counts, scores : (n, n, m) by previous state, state and symbol

    Returns
    -------
    greater, equal : (n, n, m) past steps that are stranger, and as strange, the new one included
    total : (n,) all steps into a state, the new one included
    """
    n, _, m = counts.shape
    greater, equal = np.empty(counts.shape, np.int64), np.empty(counts.shape, np.int64)
    total = np.empty(n, np.int64)
    for i in range(n):
        score = scores[:, i].copy().ravel()
        count = counts[:, i].copy().ravel()
        total[i] = count.sum() + 1
        order = np.argsort(score)
        # A cell is tied with the nearest one that did occur, on either side, and with all that
        # this one is tied to. Cells that never occurred tie nothing together.
        near, outside, so_far = np.nan, 0, 0
        for cell in order:
            tied = _tied(near, score[cell])
            equal[cell // m, i, cell % m] = total[i] - (outside if tied else so_far)
            if count[cell]:
                outside = outside if tied else so_far
                near = score[cell]
                so_far += count[cell]
        near, outside, so_far = np.nan, 0, 0
        for cell in order[::-1]:
            tied = _tied(score[cell], near)
            greater[cell // m, i, cell % m] = outside if tied else so_far
            equal[cell // m, i, cell % m] -= greater[cell // m, i, cell % m]
            if count[cell]:
                outside = outside if tied else so_far
                near = score[cell]
                so_far += count[cell]
    return greater, equal, total


@kernel
def _tied(lower: float, upper: float) -> bool:
    if math.isfinite(lower):
        return upper - lower <= TIE * max(1.0, abs(lower))
    return lower == upper


def one_step_p_values(counts: Ints, scores: Floats) -> Floats:
    """Return the p-value of each step: (n, n, m), by previous state, state and symbol."""
    greater, equal, total = step_ranks(counts, scores)
    return np.asarray((greater + equal) / total[:, None])
