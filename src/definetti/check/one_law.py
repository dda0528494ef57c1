"""Test whether several sequences have the same distribution."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import CodeArray, FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.check.columns import ONE, Column
from definetti.check.likelihood import UNIT, sum_by_segment
from definetti.check.messages import (
    MIN_BITS,
    MIN_SHIFT,
    below,
    describe_bits,
    name_column,
    need_columns,
    need_moves,
    rows_needed,
    sizes_suffice,
)
from definetti.check.sample import Draws, Sample
from definetti.check.statistic import CannotTest, Effect, Statistic


class OneLaw(Statistic):
    """A test across sequences, whose remedy is to fit each sequence by itself."""

    across = True

    def parts(self, sample: Sample) -> tuple[str, ...]:
        if sample.segments < 2:
            raise CannotTest("there is one sequence only")
        return ("",)

    def remedy(self, sample: Sample, effect: Effect) -> str:
        needed = rows_needed(sample)
        if sizes_suffice(np.diff(sample.begins), needed):
            return "fit each sequence by itself"
        return f"no remedy, as a sequence would need {needed:,} rows to be fitted by itself"


class OneChain(OneLaw, name="one_chain"):
    """Likelihood ratio of separate transition probabilities for each sequence."""

    question = "do all sequences have the same transitions?"

    def parts(self, sample: Sample) -> tuple[str, ...]:
        super().parts(sample)
        need_moves(sample)
        return ("",)

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        names = np.arange(len(sample.sources)), sample.sources
        split, less = (
            sum_by_segment(draws.edges, cells, sample.begins, sample.table) for cells in names
        )
        moves, leaves = sample.moves
        known = int(sample.table[moves].sum() - sample.table[leaves].sum())
        return (2 * (split - less - known) / UNIT)[:, None]

    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        steps, after = int((sample.edges >= 0).sum()), " of information about a step"
        return describe_bits(values[:, 0], steps, "the sequence adds", after)


class OneEmission(OneLaw, name="one_emission"):
    """Likelihood ratio of a separate distribution of observations for each sequence, by column."""

    question = "do all sequences have the same observations, given the state?"

    def parts(self, sample: Sample) -> tuple[str, ...]:
        super().parts(sample)
        return need_columns(sample, pairs=False)

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        return np.stack([self._column(sample, column, draws) for column in sample.columns], axis=1)

    def _column(self, sample: Sample, column: Column, draws: Draws) -> FloatArray:
        own = np.where(column.seen == 1, sample.tokens, -1)
        if column.symbols is None:
            scores, _ = column.scores
            return _part_means(draws.times, scores, own, sample.begins, len(sample.rows)) / ONE**2
        split, less = (
            sum_by_segment(draws.times, cells, sample.begins, sample.table)
            for cells in (column.cells, own)
        )
        return 2 * (split - less) / UNIT

    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        column = sample.columns[part]
        which, seen = name_column(column), max(int(column.seen.sum()), 1)
        excess = max(float(values[0, part] - values[1:, part].mean()) / seen, 0.0)
        if column.symbols is None:
            size = float(np.sqrt(excess))
            words = (
                f"the mean of {which} given the state differs by {size:.2f} standard deviations "
                "from one sequence to another"
            )
            return Effect(words, size, short_of=below(size, MIN_SHIFT, "standard deviations"))
        bits = excess / (2 * np.log(2))
        words = f"the sequence adds {bits:.3f} bits of information about {which} given the state"
        return Effect(words, bits, short_of=below(bits, MIN_BITS, "bits"))


@kernel
def _part_means(
    times: CodeArray, scores: CodeArray, groups: CodeArray, begins: IntArray, wide: int
) -> FloatArray:
    """Add up squared means times sizes over the groups of all segments, for each row of times.

    Scores ``(T,)`` are taken at `times` ``(B, T)``; a group is −1 where a score is left out.
    """
    totals = np.zeros(len(times))
    sums, sizes = np.zeros(wide, dtype=np.int64), np.zeros(wide, dtype=np.int64)
    for b in range(len(times)):
        for s in range(len(begins) - 1):
            for time in times[b, begins[s] : begins[s + 1]]:
                if groups[time] >= 0:
                    sums[groups[time]] += scores[time]
                    sizes[groups[time]] += 1
            for time in times[b, begins[s] : begins[s + 1]]:
                g = groups[time]  # over the steps that occur: of many groups few have any
                if g >= 0 and sizes[g]:
                    totals[b] += float(sums[g]) * float(sums[g]) / sizes[g]
                    sums[g], sizes[g] = 0, 0
    return totals
