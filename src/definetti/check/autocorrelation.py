"""Test whether successive observations depend on each other, given the state."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import CodeArray, FloatArray
from definetti._system.compiled import kernel
from definetti.check.columns import Column
from definetti.check.likelihood import GONE, UNIT, count_pairs, sum_pairs
from definetti.check.messages import (
    MIN_CORRELATION,
    below,
    describe_bits,
    need_columns,
    sizes_suffice,
)
from definetti.check.sample import Draws, Sample
from definetti.check.statistic import Effect, Statistic
from definetti.memory import Observation


class Autocorrelation(Statistic, name="autocorrelation"):
    """Dependence of each observation on the previous one, given the state, for each column.

    Numbers: the absolute correlation of successive scores. Symbols: twice the ``Σ n log n`` over
    triples of a state, its symbol and the next symbol, less that over pairs of a state and the next
    symbol.
    """

    question = "do successive observations depend on each other, given the state?"
    reads_times = False

    def parts(self, sample: Sample) -> tuple[str, ...]:
        return need_columns(sample)

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        return np.stack([self._column(sample, column, draws) for column in sample.columns], axis=1)

    def _column(self, sample: Sample, column: Column, draws: Draws) -> FloatArray:
        if column.symbols is None:
            return np.abs(_correlate(draws.take(column.scores[0]), draws.edges))
        cells, (tokens, symbols) = draws.take(column.cells), column.made_of
        size, wide, n = len(tokens), int(symbols.max()) + 1, len(sample.rows)
        if size * wide < len(sample):  # one pass: the counts of a state are sums over its cells
            pairs = count_pairs(cells, draws.edges, symbols, np.arange(size) * wide, size * wide)
            pairs = pairs.reshape(-1, size, wide)
            by_state = np.add.reduceat(pairs, np.flatnonzero(np.diff(tokens, prepend=-1)), axis=1)
            ratio = sample.table[pairs].sum(axis=(1, 2)) - sample.table[by_state].sum(axis=(1, 2))
            return np.asarray(2 * ratio / UNIT)
        ratio, less = (
            sum_pairs(cells, draws.edges, symbols, key * wide, number * wide, sample.table)
            for key, number in ((np.arange(size), size), (tokens.astype(np.int64), n))
        )
        return 2 * (ratio - less) / UNIT

    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        column = sample.columns[part]
        if column.symbols is None:
            size = float(_correlate(column.scores[0][None], sample.edges[None])[0])
            which = f"values of {column.called}" if column.name else "observations"
            words = f"successive {which} correlate {size:.2f} given the state"
            return Effect(words, size, short_of=below(size, MIN_CORRELATION, "in correlation"))
        which = f"value of {column.called}" if column.name else "observation"
        after = " of information about the next given the state"
        return describe_bits(values[:, part], len(sample), f"the previous {which} adds", after)

    def remedy(self, sample: Sample, effect: Effect) -> str:
        if not isinstance(sample.memory, Observation):
            column = sample.columns[0]
            if len(sample.columns) == 1 and column.symbols is not None:
                if sizes_suffice(np.bincount(column.cells[column.cells >= 0])):
                    return "take memory='observation', or symmetry='spaced'"
            elif sizes_suffice(np.bincount(sample.tokens) // 2):  # of two bins at least
                return "take symmetry='spaced', or name bins and take memory='observation'"
        return "take symmetry='spaced'"


@kernel
def _correlate(scores: CodeArray, edges: CodeArray) -> FloatArray:
    """Return the correlation of successive scores in each row; 0 where scores do not vary."""
    correlations = np.zeros(len(scores))
    for b in range(len(scores)):
        product, squares = 0, 0
        row, links, now = scores[b], edges[b], int(scores[b, 0])
        for t in range(len(row) - 1):
            then = int(row[t + 1])
            if links[t] >= 0 and now != GONE and then != GONE:
                product += now * then
                squares += now * now + then * then
            now = then
        if squares > 0:
            correlations[b] = 2 * product / squares
    return correlations
