"""Forecast pseudo-residuals: the rank of each step among earlier steps, with bands.

The next state is ranked among the earlier successors of the present state; an observation among the
earlier observations of its state. With ties broken at random, such a rank is uniform, and as a
normal deviate it is the forecast pseudo-residual of Zucchini, MacDonald & Langrock (2016), of a
distribution that is not assumed but learned from the earlier rows.

The bands come from the same curves of rearrangements. The observed curve and those of draws are
exchangeable under the assumption, whatever breaks the ties, so that ranks alone give bands that are
valid at every length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from definetti._system.arrays import CodeArray, FloatArray, IntArray, as_codes, distinct_rows
from definetti._system.compiled import kernel
from definetti.check.columns import rank_labels
from definetti.check.likelihood import deal
from definetti.check.rearrangements import measure_draws
from definetti.check.sample import Draws, Sample

LEVEL = 0.95
DRAWN, FEWEST = 199, 39  # the most and the fewest draws for bands
WORK = 10**8  # steps that are ranked for plots, in all draws together
COLUMNS = 5  # the number of columns that have residuals: the first ones
FINE = 2**10  # the most cells of a group
QUANTILES, BINS, LAGS = 49, 20, 20
NARROW = 2**8  # cells of a bin, in which quantiles are found by interpolation
SMALLEST = 1e-12
NEXT = "next state"


class Curve(NamedTuple):
    """A curve with its bands, low and high.

    Attributes
    ----------
    at : (K,) the points of the curve
    observed : (K,) the curve of the sample
    pointwise : (2, K) holds the curve of a true model with probability ≥ 0.95 at each single point
    simultaneous : (2, K) holds it at all points together with probability ≥ 0.95
    """

    at: FloatArray
    observed: FloatArray
    pointwise: FloatArray
    simultaneous: FloatArray

    @property
    def outside(self) -> npt.NDArray[np.bool_]:
        """(K,) whether the observed curve is outside the simultaneous band."""
        low, high = self.simultaneous
        return np.asarray((self.observed < low) | (self.observed > high))


def draw_bands(at: FloatArray, curves: FloatArray, level: float = LEVEL) -> Curve:
    """Return the observed curve with bands from the curves of the sample and the draws.

    Pointwise: the order statistics with half of ``1 − level`` on each side. Simultaneous: the
    median plus and minus the pointwise widths, scaled by the smallest factor for which at most a
    share ``1 − level`` of the curves leaves the band anywhere (Myllymäki et al. 2017).
    """
    number = len(curves)
    share = 1 - level
    ordered = np.sort(curves, axis=0)
    k = floor(share * number / 2 + 1e-9)
    low, high = ordered[k], ordered[number - 1 - k]
    middle = np.median(ordered, axis=0)
    off = curves - middle
    # Where curves hardly differ to one side, one that does is far beyond all others there.
    below, above = np.maximum(middle - low, 1e-12), np.maximum(high - middle, 1e-12)
    far = np.where(off < 0, -off / below, off / above).max(axis=1)
    times = np.sort(far)[number - 1 - floor(share * number + 1e-9)] * (1 + 1e-12)
    simultaneous = np.stack([middle - times * below, middle + times * above])
    return Curve(at, curves[0], np.stack([low, high]), simultaneous)


class Residuals(NamedTuple):
    """Three curves of one kind of residuals, with bands from the draws.

    Attributes
    ----------
    size : number of residuals
    quantiles : quantiles of the residuals, at those of the normal distribution
    histogram : histogram of the residuals before they become normal deviates: about 1 everywhere
    autocorrelation : autocorrelation of the residuals, by lag
    n_draws : number of rearrangements for the bands
    """

    size: int
    quantiles: Curve
    histogram: Curve
    autocorrelation: Curve
    n_draws: int


def find_residuals(sample: Sample, n_resamples: int, entropy: int) -> dict[str, Residuals]:
    """Return residuals of the next state and of the first columns, by name."""
    series = list(_list_series(sample, np.random.default_rng([entropy, 3])))
    if not series:
        return {}
    most = max(FEWEST, min(DRAWN, WORK // (len(sample) * len(series))))
    number = min(most, n_resamples)
    pieces = measure_draws(sample, series, False, number, entropy, None)
    own = [kind.measure(sample, sample.itself) for kind in series]
    curves = [np.concatenate(rows) for rows in zip(own, *pieces, strict=True)]
    return {
        kind.name: kind.describe(rows, number) for kind, rows in zip(series, curves, strict=True)
    }


@dataclass(frozen=True, eq=False)
class Series:
    """One kind of residuals: the values that are ranked at each step of a draw, and their groups.

    `cells` are ordered codes of the values, group after group: of each transition where `moves`,
    else of the observation at each time; −1 for none, and in the last entry. `begins` are the first
    cells of each cell's group, `coins` a uniform number for each step, `size` the number of
    residuals.
    """

    name: str
    moves: bool
    cells: CodeArray
    begins: CodeArray
    coins: FloatArray
    size: int

    reads_times = True

    @property
    def bins(self) -> int:
        return BINS if self.size >= 10 * BINS else max(2, self.size // 10)

    @property
    def shares(self) -> FloatArray:
        count = min(QUANTILES, self.size)
        return np.asarray((np.arange(count) + 0.5) / count)

    def place(self, sample: Sample, draws: Draws) -> FloatArray:
        """Return the rank of each step, between 0 and 1, NaN where there is none: (B, T)."""
        names = draws.times
        if self.moves:
            names = np.full_like(draws.edges, -1)
            names[:, 1:] = draws.edges[:, :-1]
        return place_among_earlier(deal(self.cells, names), self.begins, self.coins)

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        """Return, for each draw, quantiles, shares of bins and autocorrelations in one row."""
        places = self.place(sample, draws)
        number = self.bins * NARROW
        edges = np.linspace(0, 1, number + 1)
        seen = (row[~np.isnan(row)] for row in places)
        cells = (np.minimum(row * number, number - 1).astype(np.int64) for row in seen)
        counts = [np.bincount(row, minlength=number) for row in cells]
        wanted = self.shares * self.size
        quantiles = [np.interp(wanted, np.append(0, row.cumsum()), edges) for row in counts]
        shares = np.array(counts).reshape(len(counts), self.bins, NARROW).sum(axis=2)
        most = int(min(LAGS, max(1, np.diff(sample.begins).max() // 4)))
        lags = correlate_lags(ndtri(places, out=places), sample.begins, most)
        return np.hstack([ndtri(quantiles), shares * (self.bins / self.size), lags])

    def describe(self, curves: FloatArray, n_draws: int) -> Residuals:
        """Return the curves of the sample's residuals, with bands from the draws."""
        ends = np.cumsum([len(self.shares), self.bins])
        quantiles, histogram, lags = np.split(curves, ends, axis=1)
        middles = (np.arange(self.bins) + 0.5) / self.bins
        return Residuals(
            self.size,
            draw_bands(ndtri(self.shares), quantiles),
            draw_bands(middles, histogram),
            draw_bands(np.arange(1.0, lags.shape[1] + 1), lags),
            n_draws,
        )


def _list_series(sample: Sample, generator: np.random.Generator) -> Iterator[Series]:
    """Yield residuals of the next state, if there are several states, and of the first columns."""

    def make(name: str, groups: CodeArray, ranks: CodeArray, seen: Any, size: int) -> Series:
        first, names, _ = distinct_rows(np.column_stack([groups[seen], ranks[seen]]))
        own, names = _merge_many(groups[seen][first], names)
        cells = as_codes(np.full(len(groups) + 1, -1), len(groups))
        cells[seen] = names
        coins = np.clip(generator.random(len(sample)), SMALLEST, 1 - SMALLEST)
        begins = as_codes(np.searchsorted(own, own), len(sample))
        return Series(name, name == NEXT, cells, begins, coins, size)

    moves = int((sample.edges >= 0).sum())
    if len(sample.rows) > 1 and moves > 1:
        # By labels, not by codes: these depend on the order of first appearance, which
        # rearrangements do not share.
        ranks = rank_labels(sample.labels)[sample.heads[sample.targets]]
        yield make(NEXT, sample.sources, ranks, np.arange(len(ranks)), moves)
    for column in sample.columns[:COLUMNS]:
        there = np.flatnonzero(column.seen)
        if len(there) > 1:
            yield make(column.called, column.tokens, column.ranks, there, len(there))


def _merge_many(groups: CodeArray, names: IntArray) -> tuple[CodeArray, IntArray]:
    """Merge neighbouring cells in groups that have too many.

    Merged values are tied, which no plot shows, and the cost and memory of ranking a step do not
    grow with the number of values.
    """
    begins = np.searchsorted(groups, groups)
    sizes = np.searchsorted(groups, groups, side="right") - begins
    places = np.arange(len(groups)) - begins
    places = places * np.minimum(FINE, sizes) // sizes
    new = np.diff(groups, prepend=-1) != 0
    new[1:] |= np.diff(places) != 0
    return groups[new], (np.cumsum(new) - 1)[names]


@kernel
def place_among_earlier(cells: CodeArray, begins: CodeArray, coins: FloatArray) -> FloatArray:
    """Rank each cell of a row among the earlier cells of its group, with ties broken by `coins`.

    Return ``(B, T)`` between 0 and 1, NaN for cells of −1; sums over cells are in Fenwick trees.
    """
    rows, length = cells.shape
    places = np.full((rows, length), np.nan)
    room = len(begins)
    ends = np.empty(room, dtype=begins.dtype)
    for c in range(room - 1, -1, -1):
        ends[c] = ends[c + 1] if c + 1 < room and begins[c + 1] == begins[c] else c + 1
    for b in range(rows):
        tree = np.zeros(room, dtype=begins.dtype)  # of each group, sums over cells (Fenwick 1994)
        same = np.zeros(room, dtype=begins.dtype)
        total = np.zeros(room, dtype=begins.dtype)
        for t in range(length):
            c = cells[b, t]
            if c < 0:
                continue
            g = begins[c]
            less, j = 0, c - g
            while j > 0:
                less += tree[g + j - 1]
                j -= j & -j
            places[b, t] = (less + coins[t] * (same[c] + 1)) / (total[g] + 1)
            same[c] += 1
            total[g] += 1
            j, wide = c - g + 1, ends[c] - g
            while j <= wide:
                tree[g + j - 1] += 1
                j += j & -j
    return places


@kernel
def correlate_lags(residuals: FloatArray, begins: IntArray, lags: int) -> FloatArray:
    """Return the autocorrelation of each row at lags 1, 2, …, within segments."""
    correlations = np.zeros((len(residuals), lags))
    off = np.empty(residuals.shape[1])
    for b in range(len(residuals)):
        mean, spread, size = 0.0, 0.0, 0
        for residual in residuals[b]:
            if not np.isnan(residual):
                mean += residual
                size += 1
        mean /= max(size, 1)
        for t in range(len(off)):
            off[t] = 0.0 if np.isnan(residuals[b, t]) else residuals[b, t] - mean
            spread += off[t] * off[t]
        if spread <= 0:
            continue
        total = np.zeros(lags)
        for s in range(len(begins) - 1):
            for t in range(begins[s], begins[s + 1]):  # all lags in one pass
                later = off[t + 1 : min(t + 1 + lags, begins[s + 1])]
                for k in range(len(later)):
                    total[k] += off[t] * later[k]
        correlations[b] = total / spread
    return correlations
