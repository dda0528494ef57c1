"""Whether the law of the observations changes over time."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.check._cells import UNIT
from definetti.check._splits import split_cells, split_scores
from definetti.check.base import Effect, Statistic
from definetti.check.observed import ONE, Column
from definetti.check.sample import Draws, Sample
from definetti.check.saying import find_stretch, name_column, name_place, need_columns, use_after


class Drift(Statistic, name="drift"):
    """The likelihood ratio of observations whose law changes once, at the best place.

    Numbers: of scores that have another mean in each state, and of scores that have another
    spread. Symbols: of other shares in each state. Maximised over all places, in each stretch by
    itself.
    """

    asks = "do the observations change over time, given the state?"

    def parts(self, sample: Sample) -> tuple[str, ...]:
        need_columns(sample)
        return tuple(f"{one.name} {side}".strip() for one, side in _sides(sample))

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        found = [self._split(sample, *one, draws)[0] for one in _sides(sample)]
        return np.stack(found, axis=1)

    def _split(
        self, sample: Sample, column: Column, side: str, draws: Draws
    ) -> tuple[FloatArray, IntArray]:
        if column.symbols is not None:
            cells = column.cells
            ratio, where, _ = split_cells(
                draws.take(cells), draws.tokens, sample.begins, sample.table,
                int(cells.max()) + 1, len(sample.rows),
            )  # fmt: skip
            return 2 * ratio / UNIT, where
        scores = draws.take(column.scores[side == "spread"])
        total, where, _ = split_scores(scores, draws.tokens, sample.begins, len(sample.rows))
        return total / ONE**2, where

    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        column, side = _sides(sample)[part]
        row = int(self._split(sample, column, side, sample.itself)[1][0])
        which, place = name_column(column), f"near {name_place(sample, row)}"
        _, begin, end = find_stretch(sample, row)
        if row == begin:
            return Effect(f"{which} is the same at all times, given the state", 0.0)
        if column.symbols is not None:
            size = float(values[0, part] - values[1:, part].mean())
            return Effect(f"{place} {which} gets other shares given the state", size, row)
        scores = column.scores[side == "spread"] / ONE
        there = column.seen == 1
        before, after = scores[begin:row][there[begin:row]], scores[row:end][there[row:end]]
        size = float(after.mean() - before.mean()) if len(before) and len(after) else 0.0
        if side == "spread":
            how = "varies more" if size > 0 else "varies less"
            return Effect(f"{place} {which} {how} given the state", size, row)
        words = f"{place} {which} moves by {size:+.2f} standard deviations given the state"
        return Effect(words, size, row)

    def remedy(self, sample: Sample, effect: Effect) -> str:
        return use_after(sample, effect.row)


def _sides(sample: Sample) -> list[tuple[Column, str]]:
    """List what is looked at of each column."""
    return [
        (column, side)
        for column in sample.columns
        for side in (("",) if column.symbols is not None else ("level", "spread"))
    ]
