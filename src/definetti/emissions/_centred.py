"""Vectors measured from a point amid them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.emissions._reading import Vectors
from definetti.emissions._rows import Rows


@dataclass(frozen=True, eq=False)
class Centred:
    """Rows, and the point that they are measured from.

    In exact arithmetic the estimate is the same wherever data are measured from: means follow, and
    scatter is taken about means. So the point is no part of the estimate, and no matter to
    validity; it only keeps the squares of data that lie far from zero from drowning in rounding.
    It has to stay the same, for sums to add up. The median of the first data is the same in
    whatever order they came, no single wild value moves it, and a column that does not vary is
    zero as seen from there.
    """

    rows: Rows = field(default_factory=Rows)
    point: FloatArray = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.rows)

    def added(self, vectors: Vectors, used: FloatArray) -> tuple[Centred, IntArray]:
        """Return a table that also holds what was read, given the rows of it that are summed up."""
        rows, codes = self.rows.added(vectors)
        point = self.point if len(self.point) else np.full(rows.width or 0, np.nan)
        unknown = np.isnan(point) & (len(used) > 0)
        for k in np.flatnonzero(unknown):
            known = used[~np.isnan(used[:, k]), k]
            if len(known):
                point = point.copy()
                point[k] = np.median(known)
        return Centred(rows, point), codes

    def take(self, codes: IntArray) -> FloatArray:
        """Return rows as seen from the point."""
        return self.rows.take(codes) - self.point
