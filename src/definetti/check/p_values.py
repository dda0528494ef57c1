"""P-values by rank among rearrangements, in whole numbers, for one test and for all together.

Row 0 of all values is the sample, the others are draws; all are treated alike, which is what the
proof needs. A test of several parts, or all tests together, go by their smallest p-value, ranked
among the smallest p-values of the draws (Westfall & Young 1993): ties are exact, dependence between
the parts is taken as it is, and nothing is approximated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.engine.pvalues import Rank

LARGE = 1e150
TIE = 1e-9  # relative gap up to which values of a statistic are tied
GRID = 30  # bits of a number that count where each is rounded by itself: as many as TIE has


def count_as_large(values: FloatArray) -> IntArray:
    """Return, for each value, how many are as large, itself included.

    Values are tied when a chain of gaps joins them that are no larger than rounding, relative to
    how large values are: a statistic may have any unit.
    """
    order = np.argsort(values)
    lower, upper = values[order][:-1], values[order][1:]
    with np.errstate(invalid="ignore"):
        near = upper - lower <= TIE * np.maximum(find_unit(values), np.abs(lower))
    tied = np.where(np.isfinite(lower), near, lower == upper)
    first = np.where(np.append(False, tied), 0, np.arange(len(values)))
    counts = np.empty(len(values), dtype=np.int64)
    counts[order] = len(values) - np.maximum.accumulate(first)
    return counts


def find_unit(values: FloatArray) -> float:
    """Return how large values are: the median of their sizes, infinite ones left out."""
    sizes = np.sort(np.abs(values[np.isfinite(values)]))
    return float(sizes[len(sizes) // 2]) if len(sizes) else 0.0


class Extremeness(NamedTuple):
    """How extreme each row of values is: by the smallest count, then by the largest distance.

    `counts` are how many rows are as extreme, in the part in which the row is the most extreme.
    Where many parts are looked at, many rows are the largest of all in one of them: `off`, the
    distance from the mean in units of that of rows above it, tells these apart.
    """

    counts: IntArray
    off: FloatArray

    def rank(self, counts: int, off: float) -> Rank:
        """Return the rank of one among all."""
        same = self.counts == counts
        greater = (self.counts < counts) | (same & (self.off > off))
        equal = same & (self.off == off)
        return Rank(int(greater.sum()), int(equal.sum()), len(self.counts))

    @property
    def places(self) -> IntArray:
        """How many rows are as extreme as each, itself included."""
        order = np.lexsort((-self.off, self.counts))
        changed = (np.diff(self.counts[order]) != 0) | (np.diff(self.off[order]) != 0)
        last = np.append(np.flatnonzero(changed), len(order) - 1)  # of each run of equals
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.repeat(last + 1, np.diff([-1, *last]))
        return places


def most_extreme(each: Sequence[Extremeness]) -> Extremeness:
    """Return for each row the most extreme of several."""
    counts, off = each[0]
    for one in each[1:]:
        more = (one.counts < counts) | ((one.counts == counts) & (one.off > off))
        counts, off = np.where(more, one.counts, counts), np.where(more, one.off, off)
    return Extremeness(counts, off)


def rank_rows(values: FloatArray) -> Extremeness:
    """Return how extreme each row of values, one for each part, is in its most extreme part."""
    parts = most_extreme([_rank_part(part) for part in values.T])
    return Extremeness(parts.places, parts.off)


def find_part(values: FloatArray) -> int:
    """Return the part in which the first row is the most extreme, as in `rank_rows`."""
    each = [_rank_part(part) for part in values.T]
    return min(range(len(each)), key=lambda k: (each[k].counts[0], -each[k].off[0]))


def are_alike(values: FloatArray) -> bool:
    """Tell whether all rows are tied in every part, so that the test cannot reject."""
    return all((count_as_large(part) == len(part)).all() for part in values.T)


def _rank_part(part: FloatArray) -> Extremeness:
    """Return how extreme each value of one part is."""
    finite = part[np.isfinite(part)]
    largest = float(np.abs(finite).max()) if len(finite) else 0.0
    if largest and not 1 / LARGE < largest < LARGE:  # squares would be beyond all numbers
        part, finite = part / largest, finite / largest
    middle = finite.mean() if len(finite) else 0.0
    # By how large values vary: small ones may vary otherwise, and are another part's affair.
    above = finite[finite > middle] - middle
    spread = np.sqrt((above**2).mean()) if len(above) else 0.0
    off = np.zeros(len(part))
    if spread > TIE * max(find_unit(part), abs(middle)):
        off = np.round((part - middle) / spread, 9)  # a grid: what is equal is equal
    return Extremeness(count_as_large(part), off)


def stop_early(values: FloatArray, enough: int) -> tuple[float, bool]:
    """Return a p-value, and whether it is decided by the `enough`-th draw that is as large.

    It is ``enough`` over the number of draws up to there, or where there are not so many, that of
    all draws: exact all the same, since what comes later plays no part (Besag & Clifford 1991).
    """
    # Each by itself, so that later draws do not change what is tied.
    part, power = np.frexp(values)
    grid = np.ldexp(np.round(np.ldexp(part, GRID)), power - GRID)
    large = np.flatnonzero(grid[1:] >= grid[0])
    if len(large) >= enough:
        return enough / (int(large[enough - 1]) + 1), True
    return (1 + len(large)) / len(values), False


class Tested(NamedTuple):
    """P-values of a test, by itself and among all; and its most extreme part."""

    p_value: float
    adjusted: float
    part: int


def combine_tests(
    families: list[dict[str, FloatArray]], uniform: float | None
) -> tuple[float, dict[str, Tested]]:
    """Return the p-value of all tests together, and those of each; `uniform` breaks ties.

    Tests on the same draws are a family, and the smallest p-value of a family is ranked among
    those of its draws. Of several families the smallest counts as often as there are families.
    """
    tested, verdicts = {}, []
    for family in families:
        each = {name: rank_rows(values) for name, values in family.items()}
        together = most_extreme(list(each.values()))
        for name, one in each.items():
            own = int(one.counts[0]), float(one.off[0])
            adjusted = min(1.0, len(families) * together.rank(*own).p_value(uniform))
            part = find_part(family[name])
            tested[name] = Tested(one.rank(*own).p_value(uniform), adjusted, part)
        first = int(together.counts[0]), float(together.off[0])
        verdicts.append(together.rank(*first).p_value(uniform))
    return min(1.0, len(families) * min(verdicts)), tested


def combine_tests_early(
    values: Mapping[str, FloatArray], enough: int
) -> tuple[float, dict[str, Tested]]:
    """Return what `combine_tests` does where draws were stopped early, without ranks among draws.

    Of a test's parts, and of all tests, the smallest p-value counts as often as there are any
    (Bonferroni); the others are adjusted step by step (Holm).
    """
    alone = {}
    for name, each in values.items():
        parts = [stop_early(part, enough)[0] for part in each.T]
        alone[name] = min(1.0, len(parts) * min(parts))
    tested, so_far = {}, 0.0
    for k, name in enumerate(sorted(alone, key=lambda name: alone[name])):
        so_far = max(so_far, min(1.0, (len(alone) - k) * alone[name]))
        tested[name] = Tested(alone[name], so_far, find_part(values[name]))
    return min(one.adjusted for one in tested.values()), tested
