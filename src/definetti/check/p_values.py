"""P-values by integer ranks among rearrangements, for one test and for all together.

Row 0 of all values is the sample, the others are draws; the proof requires that all are treated
alike. For a test of several parts, or for all tests together, the smallest p-value is ranked among
the smallest p-values of the draws (Westfall & Young 1993): ties are exact, and the dependence
between parts is accounted for without approximation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.engine.pvalues import Rank

LARGE = 1e150
TIE = 1e-9  # relative gap up to which values of a statistic are tied
GRID = 30  # significant bits of a value that is rounded separately: as many as TIE has


def count_as_large(values: FloatArray) -> IntArray:
    """Return, for each value, how many are at least as large, itself included.

    Values are tied if a chain of gaps within rounding error joins them, relative to the size of the
    values: a statistic may have any unit.
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
    """Return the median of the absolute values, infinite ones left out."""
    sizes = np.sort(np.abs(values[np.isfinite(values)]))
    return float(sizes[len(sizes) // 2]) if len(sizes) else 0.0


class Extremeness(NamedTuple):
    """Extremeness of each row of values: by the smallest count, then by the largest distance.

    `counts` are the numbers of rows that are as extreme, in the part in which a row is the most
    extreme. With many parts, many rows are the largest of all in one part: `off`, the distance from
    the mean in units of the spread above the mean, orders these.
    """

    counts: IntArray
    off: FloatArray

    def rank(self, counts: int, off: float) -> Rank:
        """Return the rank of a row with this count and distance among all rows."""
        same = self.counts == counts
        greater = (self.counts < counts) | (same & (self.off > off))
        equal = same & (self.off == off)
        return Rank(int(greater.sum()), int(equal.sum()), len(self.counts))

    @property
    def places(self) -> IntArray:
        """Number of rows that are at least as extreme as each, itself included."""
        order = np.lexsort((-self.off, self.counts))
        changed = (np.diff(self.counts[order]) != 0) | (np.diff(self.off[order]) != 0)
        last = np.append(np.flatnonzero(changed), len(order) - 1)  # of each run of equals
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.repeat(last + 1, np.diff([-1, *last]))
        return places


def most_extreme(rankings: Sequence[Extremeness]) -> Extremeness:
    """Return for each row the most extreme of several rankings."""
    counts, off = rankings[0]
    for ranking in rankings[1:]:
        more = (ranking.counts < counts) | ((ranking.counts == counts) & (ranking.off > off))
        counts, off = np.where(more, ranking.counts, counts), np.where(more, ranking.off, off)
    return Extremeness(counts, off)


def rank_rows(values: FloatArray) -> Extremeness:
    """Rank rows of values, one value for each part, by the most extreme part of each row."""
    parts = most_extreme([_rank_part(part) for part in values.T])
    return Extremeness(parts.places, parts.off)


def find_part(values: FloatArray) -> int:
    """Return the part in which the first row is the most extreme, as in `rank_rows`."""
    parts = [_rank_part(part) for part in values.T]
    return min(range(len(parts)), key=lambda k: (parts[k].counts[0], -parts[k].off[0]))


def are_alike(values: FloatArray) -> bool:
    """Tell whether all rows are tied in every part, so that the test cannot reject."""
    return all((count_as_large(part) == len(part)).all() for part in values.T)


def _rank_part(part: FloatArray) -> Extremeness:
    """Rank the values of one part."""
    finite = part[np.isfinite(part)]
    largest = float(np.abs(finite).max()) if len(finite) else 0.0
    if largest and not 1 / LARGE < largest < LARGE:  # squares would overflow or underflow
        part, finite = part / largest, finite / largest
    middle = finite.mean() if len(finite) else 0.0
    # The spread of large values: small ones may vary differently, and belong to another part.
    above = finite[finite > middle] - middle
    spread = np.sqrt((above**2).mean()) if len(above) else 0.0
    off = np.zeros(len(part))
    if spread > TIE * max(find_unit(part), abs(middle)):
        off = np.round((part - middle) / spread, 9)  # rounded, so that equal values stay equal
    return Extremeness(count_as_large(part), off)


def stop_early(values: FloatArray, enough: int) -> tuple[float, bool]:
    """Return a p-value, and whether the `enough`-th draw that is as large decides it.

    The p-value is ``enough`` over the number of draws up to that one or, if there are fewer, the
    p-value from all draws. It is exact, as later draws have no influence (Besag & Clifford 1991).
    """
    # Each value is rounded separately, so that later draws do not change ties.
    part, power = np.frexp(values)
    grid = np.ldexp(np.round(np.ldexp(part, GRID)), power - GRID)
    large = np.flatnonzero(grid[1:] >= grid[0])
    if len(large) >= enough:
        return enough / (int(large[enough - 1]) + 1), True
    return (1 + len(large)) / len(values), False


class Tested(NamedTuple):
    """P-value of a test alone, p-value adjusted for all tests, and the most extreme part."""

    p_value: float
    adjusted: float
    part: int


def combine_tests(
    families: list[dict[str, FloatArray]], uniform: float | None
) -> tuple[float, dict[str, Tested]]:
    """Return the p-value of all tests together, and those of each; `uniform` breaks ties.

    Tests on the same draws are a family, and the smallest p-value of a family is ranked among
    those of its draws. The smallest of several families is multiplied by their number.
    """
    tested, verdicts = {}, []
    for family in families:
        rankings = {name: rank_rows(values) for name, values in family.items()}
        together = most_extreme(list(rankings.values()))
        for name, ranking in rankings.items():
            own = int(ranking.counts[0]), float(ranking.off[0])
            adjusted = min(1.0, len(families) * together.rank(*own).p_value(uniform))
            part = find_part(family[name])
            tested[name] = Tested(ranking.rank(*own).p_value(uniform), adjusted, part)
        first = int(together.counts[0]), float(together.off[0])
        verdicts.append(together.rank(*first).p_value(uniform))
    return min(1.0, len(families) * min(verdicts)), tested


def combine_tests_early(
    values: Mapping[str, FloatArray], enough: int
) -> tuple[float, dict[str, Tested]]:
    """Return what `combine_tests` returns, without ranks among draws, as draws were stopped early.

    The smallest p-value of a test's parts, and of all tests, is multiplied by their number
    (Bonferroni); the others are adjusted step by step (Holm).
    """
    alone = {}
    for name, array in values.items():
        parts = [stop_early(part, enough)[0] for part in array.T]
        alone[name] = min(1.0, len(parts) * min(parts))
    tested, so_far = {}, 0.0
    for k, name in enumerate(sorted(alone, key=lambda name: alone[name])):
        so_far = max(so_far, min(1.0, (len(alone) - k) * alone[name]))
        tested[name] = Tested(alone[name], so_far, find_part(values[name]))
    return min(result.adjusted for result in tested.values()), tested
