"""How a candidate stands among the windows it is compared with, weighed or not."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.engine.pvalues import ranks

# Weights that are not whole numbers are added up in floating point; what is on the boundary but
# for rounding is left out of the set, as it is where weights are whole.
ROUNDING = 1e-12


class Standing(Protocol):
    """A p-value, and whether it is above a level; `definetti.engine.pvalues.Rank` is one."""

    def p_value(self) -> float:
        """Return the p-value."""
        ...

    def exceeds(self, alpha: Fraction) -> bool:
        """Tell whether the p-value is above ``alpha``: the candidate is in the set."""
        ...


class Weighed(NamedTuple):
    """A rank among windows whose weights are not whole numbers.

    Attributes
    ----------
    strange : the weight of windows at least as strange as the candidate, itself included
    total : the weight of all windows, the candidate's included

    Examples
    --------
    >>> Weighed(0.25, 1.0).p_value(), Weighed(0.25, 1.0).exceeds(Fraction(1, 5))
    (0.25, True)
    """

    strange: float
    total: float

    def p_value(self) -> float:
        """Return the p-value, a float; one where nothing has any weight."""
        return self.strange / self.total if self.total > 0 else 1.0

    def exceeds(self, alpha: Fraction) -> bool:
        return self.p_value() > float(alpha) + ROUNDING


def weighed_ranks(
    reference: FloatArray, weights: FloatArray, candidates: FloatArray, own: float
) -> list[Weighed]:
    """Rank candidates among scores that have weights; ties are those of `ranks`.

    Parameters
    ----------
    reference : (R,) scores of the windows compared with
    weights : (R,) their weights, at least zero
    candidates : (C,) scores of the candidates, each ranked by itself
    own : the weight with which a candidate joins

    Examples
    --------
    >>> weighed_ranks(np.array([0.1, 0.2]), np.array([0.5, 0.25]), np.array([0.2]), own=1.0)
    [Weighed(strange=1.25, total=1.75)]
    """
    places = ranks(reference, np.ones(len(reference), dtype=np.int64), candidates, joins=True)
    descending = np.argsort(reference, kind="stable")[::-1]
    above = np.concatenate([[0.0], np.cumsum(weights[descending])])  # of the k strangest
    total = float(above[-1]) + own
    return [Weighed(float(above[place.greater + place.equal - 1]) + own, total) for place in places]
