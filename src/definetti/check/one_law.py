"""Whether several sequences have one law."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.check._cells import UNIT, sum_cells
from definetti.check.base import CannotTest, Effect, Statistic
from definetti.check.observed import ONE, Column
from definetti.check.sample import Draws, Sample
from definetti.check.saying import name_column, need_columns


class OneChain(Statistic, name="one_chain"):
    """The likelihood ratio of transition probabilities that each sequence has for itself."""

    asks = "do all sequences have the same transitions?"
    across = True

    def parts(self, sample: Sample) -> tuple[str, ...]:
        _need_several(sample)
        if len(sample.rows) < 2:
            raise CannotTest("all steps are in one state")
        return ("",)

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        there = draws.edges >= 0
        size, n = len(sample.sources), len(sample.rows)
        edges = np.where(there, sample.stretch * size + draws.edges, -1)
        tokens = np.where(there, sample.stretch * n + draws.tokens, -1)
        told = sum_cells(edges, sample.stretches * size, sample.table)
        told = told - sum_cells(tokens, sample.stretches * n, sample.table)
        return (2 * (told - _known(sample.edges, sample)) / UNIT)[:, None]

    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        steps = max(int((sample.edges >= 0).sum()), 1)
        bits = float((values[0, 0] - values[1:, 0].mean()) / (2 * np.log(2) * steps))
        return Effect(f"which sequence it is tells {max(bits, 0.0):.3f} bits of a step", bits)

    def remedy(self, sample: Sample, effect: Effect) -> str:
        return "fit each sequence by itself"


class OneEmission(Statistic, name="one_emission"):
    """The likelihood ratio of observations whose law each sequence has for itself, by column."""

    asks = "do all sequences have the same observations, given the state?"
    across = True

    def parts(self, sample: Sample) -> tuple[str, ...]:
        _need_several(sample)
        return need_columns(sample)

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        found = [self._column(sample, column, draws) for column in sample.columns]
        return np.stack(found, axis=1)

    def _column(self, sample: Sample, column: Column, draws: Draws) -> FloatArray:
        n = len(sample.rows)
        groups = sample.stretch * n + draws.tokens
        seen = column.seen[draws.times]
        if column.symbols is None:
            scores, _ = column.scores
            return _part_means(scores[draws.times], seen, groups, n * sample.stretches) / ONE**2
        cells, size = column.cells, int(column.cells.max()) + 1
        keys = np.where(seen == 1, sample.stretch * size + cells[draws.times], -1)
        told = sum_cells(keys, sample.stretches * size, sample.table)
        own = np.where(seen == 1, groups, -1)
        return 2 * (told - sum_cells(own, sample.stretches * n, sample.table)) / UNIT

    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        column = sample.columns[part]
        size = float(values[0, part] - values[1:, part].mean()) / len(sample)
        return Effect(f"{name_column(column)} goes by the sequence, given the state", size)

    def remedy(self, sample: Sample, effect: Effect) -> str:
        return "fit each sequence by itself"


def _need_several(sample: Sample) -> None:
    if sample.stretches < 2:
        raise CannotTest("there is one sequence only")


def _known(edges: IntArray, sample: Sample) -> int:
    """Return the log-likelihood of transitions that all have in common, in units."""
    moves = np.bincount(edges[edges >= 0], minlength=len(sample.sources))
    leaves = np.bincount(sample.sources, moves, len(sample.rows)).astype(np.int64)
    return int(sample.table[moves].sum() - sample.table[leaves].sum())


@kernel
def _part_means(scores: IntArray, seen: IntArray, groups: IntArray, room: int) -> FloatArray:
    """Add up how far the mean of each group is from nought, in units of its variance."""
    found = np.zeros(len(scores))
    sums, sizes = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
    for b in range(len(scores)):
        for t in range(scores.shape[1]):
            if seen[b, t]:
                sums[groups[b, t]] += scores[b, t]
                sizes[groups[b, t]] += 1
        for t in range(scores.shape[1]):  # by the steps there are: of many groups few have any
            g = groups[b, t]
            if sizes[g]:
                found[b] += float(sums[g]) * float(sums[g]) / sizes[g]
                sums[g], sizes[g] = 0, 0
    return found
