"""Test whether the distribution of the observations changes over time."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import CodeArray, FloatArray, IntArray
from definetti.check.columns import ONE, Column
from definetti.check.likelihood import UNIT, split_cells, split_scores
from definetti.check.messages import (
    MIN_SHIFT,
    MIN_SPREAD_CHANGE,
    below,
    describe_bits,
    find_segment,
    name_column,
    name_place,
    need_columns,
    use_after,
)
from definetti.check.sample import Draws, Sample
from definetti.check.statistic import Effect, Statistic


class Drift(Statistic, name="drift"):
    """Likelihood ratio of observations whose distribution changes once.

    Numbers: changes of the mean, or of the spread, of the scores in each state. Symbols: changes of
    the shares in each state. Maximised over the change point in each segment separately.
    """

    question = "do the observations change over time, given the state?"
    reads_times = False

    def parts(self, sample: Sample) -> tuple[str, ...]:
        need_columns(sample)
        return tuple(f"{column.name} {side}".strip() for column, side in _sides(sample))

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        return np.stack([self._split(sample, *pair, draws)[0] for pair in _sides(sample)], axis=1)

    def _split(
        self, sample: Sample, column: Column, side: str, draws: Draws
    ) -> tuple[FloatArray, IntArray]:
        if column.symbols is not None:
            cells, begins = draws.take(column.cells), sample.begins
            counts = column.cell_counts
            ratio, where, _ = split_cells(cells, draws.tokens, begins, sample.gains, *counts)
            return 2 * ratio / UNIT, where
        scores = draws.take(column.scores[side == "spread"])
        totals = column.score_totals[side == "spread"]
        total, where, _ = split_scores(scores, draws.tokens, sample.begins, *totals)
        return total / ONE**2, where

    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        column, side = _sides(sample)[part]
        row = int(self._split(sample, column, side, sample.itself)[1][0])
        which, place = name_column(column), f"near {name_place(sample, row)}"
        _, begin, end = find_segment(sample, row)
        if row == begin:
            return Effect(f"{which} is the same at all times, given the state", 0.0)
        if column.symbols is not None:
            words = f"{place} {which} gets other shares given the state, by"
            return describe_bits(values[:, part], int(column.seen.sum()), words, row=row)
        size, mean = _shift(sample, column, column.scores[side == "spread"], begin, row, end)
        if abs(mean) < size / 2:
            by, state = f"{size:.2f}", "the state, up in some states and down in others"
        else:
            size = float(np.copysign(size, mean))
            by, state = f"{size:+.2f}", "the state"
        if side == "spread":
            words = f"{place} the variance of the scores of {which} moves by {by} given {state}"
            return Effect(words, size, row, below(size, MIN_SPREAD_CHANGE, "in variance"))
        words = f"{place} {which} moves by {by} standard deviations given {state}"
        return Effect(words, size, row, below(size, MIN_SHIFT, "standard deviations"))

    def remedy(self, sample: Sample, effect: Effect) -> str:
        return use_after(sample, effect.row)


def _shift(
    sample: Sample, column: Column, scores: CodeArray, begin: int, row: int, end: int
) -> tuple[float, float]:
    """Return the change of the state means at a row: root mean square, and average.

    States are weighted by ``n m / (n + m)``, with ``n`` scores before the row and ``m`` after it.
    Changes are squared as in the statistic, so that opposite changes do not cancel.
    """
    sides = []
    for part in (slice(begin, row), slice(row, end)):
        there = column.seen[part] == 1
        tokens, own = sample.tokens[part][there], scores[part][there] / ONE
        size = np.bincount(tokens, minlength=len(sample.rows))
        sums = np.bincount(tokens, own, minlength=len(sample.rows))
        sides.append((size, sums / np.maximum(size, 1)))
    (n, old), (m, new) = sides
    weights = n * m / np.maximum(n + m, 1)
    if not weights.any():
        return 0.0, 0.0
    weights = weights / weights.sum()
    moves = new - old
    return float(np.sqrt((weights * moves**2).sum())), float((weights * moves).sum())


def _sides(sample: Sample) -> list[tuple[Column, str]]:
    """List the tested properties of each column."""
    return [
        (column, side)
        for column in sample.columns
        for side in (("",) if column.symbols is not None else ("level", "spread"))
    ]
