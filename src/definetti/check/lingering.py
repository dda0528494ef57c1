"""Whether observations linger, given the state."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import CodeArray, FloatArray
from definetti._system.compiled import kernel
from definetti.check._cells import UNIT, hold_names, sum_cells
from definetti.check.base import Effect, Statistic
from definetti.check.observed import Column
from definetti.check.sample import Draws, Sample
from definetti.check.saying import name_column, need_columns


class Lingering(Statistic, name="lingering"):
    """What an observation tells of the next one beyond the state, column by column.

    Numbers: the correlation of successive scores, positive or negative. Symbols: the likelihood of
    each symbol given its state and the symbol before it, ``Σ n log n`` over such triples and
    less that over the first two.
    """

    asks = "do observations linger, given the state?"

    def parts(self, sample: Sample) -> tuple[str, ...]:
        return need_columns(sample)

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        found = [self._column(sample, column, draws) for column in sample.columns]
        return np.stack(found, axis=1)

    def _column(self, sample: Sample, column: Column, draws: Draws) -> FloatArray:
        if column.symbols is None:
            scores, _ = column.scores
            return np.abs(_correlate(scores, column.seen, draws.edges, draws.times))
        cells, size = column.cells, int(column.cells.max()) + 1
        wide, n = int(column.symbols.max()) + 1, len(sample.rows)
        keys = hold_names(draws.times, max(size, n) * wide)
        _name_pairs(keys, column.symbols, cells, wide, draws.edges, draws.times)
        told = sum_cells(keys, size * wide, sample.table)
        there = np.where(column.seen == 1, sample.tokens, -1)
        _name_pairs(keys, column.symbols, there, wide, draws.edges, draws.times)
        return 2 * (told - sum_cells(keys, n * wide, sample.table)) / UNIT

    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        column = sample.columns[part]
        which = name_column(column)
        if column.symbols is None:
            scores, _ = column.scores
            own = sample.itself
            size = float(_correlate(scores, column.seen, own.edges, own.times)[0])
            return Effect(f"{which} and the one before correlate {size:.2f} given the state", size)
        bits = float((values[0, part] - values[1:, part].mean()) / (2 * np.log(2) * len(sample)))
        return Effect(
            f"{which} before tells {max(bits, 0.0):.3f} bits of the next given the state", bits
        )

    def remedy(self, sample: Sample, effect: Effect) -> str:
        if len(sample.columns) == 1 and sample.columns[0].symbols is not None:
            return "take memory='observation', or symmetry='spaced'"
        return "take symmetry='spaced', or name bins and take memory='observation'"


@kernel
def _correlate(
    scores: CodeArray, seen: CodeArray, edges: CodeArray, times: CodeArray
) -> FloatArray:
    """Return the correlation of scores with the ones before; 0 where none vary."""
    found = np.zeros(len(times))
    for b in range(len(times)):
        product, squares = 0, 0
        for t in range(times.shape[1] - 1):
            now, then = times[b, t], times[b, t + 1]
            if edges[b, t] >= 0 and seen[now] and seen[then]:
                product += scores[now] * scores[then]
                squares += scores[now] * scores[now] + scores[then] * scores[then]
        if squares > 0:
            found[b] = 2 * product / squares
    return found


@kernel
def _name_pairs(
    keys: CodeArray,
    first: CodeArray,
    second: CodeArray,
    wide: int,
    edges: CodeArray,
    times: CodeArray,
) -> None:
    """Name pairs of what is at a time and what is at the next, −1 where there is none."""
    keys[:] = -1
    for b in range(len(times)):
        for t in range(times.shape[1] - 1):
            now, then = first[times[b, t]], second[times[b, t + 1]]
            if edges[b, t] >= 0 and now >= 0 and then >= 0:
                keys[b, t] = then * wide + now
