"""Whether the transitions change over time."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.check.likelihood import UNIT, split_cells
from definetti.check.messages import (
    MIN_PROBABILITY_CHANGE,
    below,
    find_segment,
    name_place,
    need_moves,
    use_after,
)
from definetti.check.sample import Draws, Sample
from definetti.check.statistic import Effect, Statistic


class Transitions(Statistic, name="transitions"):
    """The likelihood ratio of transition probabilities that change once, at the best place.

    Maximised over all places, in each segment by itself. Reported as twice its logarithm.
    """

    question = "do the transitions change over time?"

    def parts(self, sample: Sample) -> tuple[str, ...]:
        need_moves(sample)
        return ("",)

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        return (2 * self._split(sample, draws)[0] / UNIT)[:, None]

    def _split(self, sample: Sample, draws: Draws) -> tuple[IntArray, ...]:
        return split_cells(draws.edges, draws.tokens, sample.begins, sample.gains, *sample.moves)

    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        row = int(self._split(sample, sample.itself)[1][0])
        _, begin, end = find_segment(sample, row)
        if row == begin:
            return Effect("they are the same at all times", 0.0)
        parts = sample.edges[begin:row], sample.edges[row:end]
        sides = [np.bincount(one[one >= 0], minlength=len(sample.sources)) for one in parts]
        sizes = [np.bincount(sample.sources, one)[sample.sources] for one in sides]
        both = (sizes[0] > 0) & (sizes[1] > 0)
        if not both.any():
            words = f"after {name_place(sample, row)} the chain is in other states"
            return Effect(words, 1.0, row)
        n, m = (np.maximum(one, 1) for one in sizes)
        share = (sides[0] + sides[1]) / (n + m)
        off = np.abs(sides[0] / n - sides[1] / m) * both
        edge = int(np.argmax(off / np.sqrt((share * (1 - share) + 1e-9) * (1 / n + 1 / m))))
        old, new = float(sides[0][edge] / n[edge]), float(sides[1][edge] / m[edge])
        begins = sample.name(sample.sources[edge])
        ends = sample.labels[sample.heads[sample.targets[edge]]]
        words = (
            f"near {name_place(sample, row)} the probability of {ends} after {begins} "
            f"goes from {old:.2f} to {new:.2f}"
        )
        short = below(new - old, MIN_PROBABILITY_CHANGE, "in probability")
        return Effect(words, new - old, row, short)

    def remedy(self, sample: Sample, effect: Effect) -> str:
        return use_after(sample, effect.row)
