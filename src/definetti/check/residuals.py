"""Forecast pseudo-residuals: where each step lies among what was seen before it.

The state that follows is placed among those that followed the present one before; an observation
among those of its own state before. With ties broken by a coin of each step, such a place is
uniform, and as a normal deviate it is the forecast pseudo-residual of Zucchini, MacDonald &
Langrock (2016), of a law that is not assumed but was learned from the rows before. The coins
were there before all: whatever they are, what is said of rearrangements holds for residuals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from definetti._system.arrays import CodeArray, FloatArray, IntArray, as_codes, distinct_rows
from definetti.check._cells import deal
from definetti.check._places import (
    correlate_lags,
    count_bins,
    order_statistics,
    place_among_earlier,
)
from definetti.check.bands import Curve, draw_bands
from definetti.check.drawing import measure_draws
from definetti.check.observed import rank_labels
from definetti.check.sample import Draws, Sample

DRAWN, FEWEST = 199, 39  # draws that make bands
WORK = 10**8  # steps that are placed for pictures, in all draws together
COLUMNS = 5  # that have residuals; the first ones
FINE = 2**10  # cells of a group at most
QUANTILES, BINS, LAGS = 49, 20, 20
SMALLEST = 1e-12
NEXT = "next state"


class Residuals(NamedTuple):
    """The three pictures of one kind of residuals, with bands from the draws.

    Attributes
    ----------
    size : how many residuals there are
    quantiles : of the residuals, at those of the normal law
    histogram : of the residuals before they become normal deviates: uniform, so about 1 everywhere
    autocorrelation : of the residuals, by lag
    n_draws : how many rearrangements the bands are made of
    """

    size: int
    quantiles: Curve
    histogram: Curve
    autocorrelation: Curve
    n_draws: int


def find_residuals(sample: Sample, n_resamples: int, entropy: int) -> dict[str, Residuals]:
    """Return residuals of the next state and of the first columns, by their names.

    The bands are made of the first of the draws that the tests are made of, no more of them than
    pictures are worth.
    """
    series = list(_list_series(sample, np.random.default_rng([entropy, 3])))
    if not series:
        return {}
    most = max(FEWEST, min(DRAWN, WORK // (len(sample) * len(series))))
    number = min(most, n_resamples)
    pieces = measure_draws(sample, series, False, number, entropy, None)
    own = [one.measure(sample, sample.itself) for one in series]
    curves = [np.concatenate(each) for each in zip(own, *pieces, strict=True)]
    return {one.name: one.describe(each, number) for one, each in zip(series, curves, strict=True)}


@dataclass(frozen=True, eq=False)
class Series:
    """One kind of residuals: what is placed at each step of a draw, and among what.

    Attributes
    ----------
    name : what they are residuals of
    moves : whether states are placed, by the transition into them; else what is observed
    cells : names of what is placed, in order, group after group: of each transition, or of what
        is observed at each time, −1 where nothing is, and last; of a group no more than `FINE`
    begins : (C,) the first cell of each cell's group
    coins : (T,) a uniform number for each step
    size : how many residuals there are
    """

    name: str
    moves: bool
    cells: CodeArray
    begins: CodeArray
    coins: FloatArray
    size: int

    @property
    def bins(self) -> int:
        return BINS if self.size >= 10 * BINS else max(2, self.size // 10)

    @property
    def shares(self) -> FloatArray:
        count = min(QUANTILES, self.size)
        return np.asarray((np.arange(count) + 0.5) / count)

    def place(self, sample: Sample, draws: Draws) -> FloatArray:
        """Return the place of each step, between 0 and 1, NaN where there is none: (B, T)."""
        names = draws.times
        if self.moves:
            names = np.full_like(draws.edges, -1)
            names[:, 1:] = draws.edges[:, :-1]
        return place_among_earlier(deal(self.cells, names), self.begins, self.coins)

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        """Return, for each draw, quantiles, shares of bins and autocorrelations in one row."""
        places = self.place(sample, draws)
        counts = count_bins(places, self.bins)
        at, part = np.divmod(self.shares * (self.size - 1), 1)
        low = at.astype(np.int64)
        high = np.minimum(low + 1, self.size - 1)
        ranks = np.unique([low, high])
        ordered = order_statistics(places, ranks)
        quantiles = ordered[:, np.searchsorted(ranks, low)] * (1 - part)
        quantiles += ordered[:, np.searchsorted(ranks, high)] * part
        return np.concatenate(
            [
                ndtri(quantiles),
                counts * (self.bins / self.size),
                correlate_lags(ndtri(places, out=places), sample.begins, _lags(sample)),
            ],
            axis=1,
        )

    def describe(self, curves: FloatArray, n_draws: int) -> Residuals:
        """Return the pictures of the sample's own residuals and those of draws."""
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
    """Yield what has residuals: the states, where there are several, and the first columns."""

    def make(name: str, groups: CodeArray, ranks: CodeArray, seen: Any, size: int) -> Series:
        first, names, _ = distinct_rows(np.column_stack([groups[seen], ranks[seen]]))
        own, names = _merge_many(groups[seen][first], names)
        cells = np.full(len(groups) + 1, -1, dtype=sample.tokens.dtype)
        cells[seen] = names
        coins = np.clip(generator.random(len(sample)), SMALLEST, 1 - SMALLEST)
        begins = as_codes(np.searchsorted(own, own), len(sample))
        return Series(name, name == NEXT, cells, begins, coins, size)

    moves = int((sample.edges >= 0).sum())
    if len(sample.rows) > 1 and moves > 1:
        # By the labels and not by their codes, which tell what came first: rearrangements do not
        # have that in common.
        ranks = rank_labels(sample.labels)[sample.heads[sample.targets]]
        yield make(NEXT, sample.sources, ranks, np.arange(len(ranks)), moves)
    for column in sample.columns[:COLUMNS]:
        there = np.flatnonzero(column.seen)
        if len(there) > 1:
            yield make(column.called, column.tokens, column.ranks, there, len(there))


def _merge_many(groups: CodeArray, names: IntArray) -> tuple[CodeArray, IntArray]:
    """Merge cells that are next to each other in groups that have too many.

    Which is below is a matter of a coin then. That no picture shows, and a step is placed at the
    same cost, near by in memory, however many values were seen.

    Parameters
    ----------
    groups : (C,) of each cell, sorted
    names : cells

    Examples
    --------
    >>> _merge_many(np.array([0] * 2048 + [1]), np.array([0, 1, 2, 2047, 2048]))[1]
    array([   0,    0,    1, 1023, 1024])
    """
    begins = np.searchsorted(groups, groups)
    sizes = np.searchsorted(groups, groups, side="right") - begins
    places = np.arange(len(groups)) - begins
    places = places * np.minimum(FINE, sizes) // sizes
    new = np.diff(groups, prepend=-1) != 0
    new[1:] |= np.diff(places) != 0
    return groups[new], (np.cumsum(new) - 1)[names]


def _lags(sample: Sample) -> int:
    return int(min(LAGS, max(1, np.diff(sample.begins).max() // 4)))
