"""Whether states last as long as a chain says."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import CodeArray, FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.check.messages import MIN_RUN_RATIO, memory_is_feasible
from definetti.check.sample import Draws, Sample
from definetti.check.statistic import CannotTest, Effect, Statistic
from definetti.memory import Age

FEW = 8  # states, up to which each is looked at by itself, too


class Durations(Statistic, name="durations"):
    """``log Σ run length²``, too large or too small, for all states and for each of a few.

    How long a state lasts on average is a matter of the transition counts; how much that varies
    is not.
    """

    question = "do states last as long as the chain says?"

    def parts(self, sample: Sample) -> tuple[str, ...]:
        if len(np.unique(sample.states)) < 2:
            raise CannotTest("all steps are in one state")
        if not (np.diff(sample.states)[sample.edges[:-1] >= 0] == 0).any():
            raise CannotTest("no state lasts for two steps")
        names = ["", *map(str, sample.labels)] if len(sample.labels) <= FEW else [""]
        return tuple(f"{name} {side}".strip() for side in ("more", "less") for name in names)

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        few = len(sample.labels) if len(sample.labels) <= FEW else 0
        found = np.log(_square_runs(draws.tokens, sample.heads, sample.begins, few))
        return np.concatenate([found, -found], axis=1)

    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        column = part % (values.shape[1] // 2)
        steps = len(sample) if not column else int((sample.states == column - 1).sum())
        own = float(np.exp(values[0, column])) / steps
        said = float(np.exp(values[1:, column]).mean()) / steps
        which = f" in {sample.labels[column - 1]}" if column else ""
        words = (
            f"a step{which} is in a run of {own:.1f} steps on average, "
            f"where the chain says {said:.1f}"
        )
        alike = max(own / said, said / own) < MIN_RUN_RATIO
        short = f"a ratio of {MIN_RUN_RATIO:g} of run lengths" if alike else ""
        return Effect(words, own / said, short_of=short)

    def remedy(self, sample: Sample, effect: Effect) -> str:
        if not isinstance(sample.memory, Age) and memory_is_feasible(sample, Age()):
            return "take memory='age', or symmetry='spaced'"
        return "take symmetry='spaced'"


@kernel
def _square_runs(tokens: CodeArray, heads: IntArray, begins: IntArray, few: int) -> IntArray:
    """Sum squares of run lengths, over all runs and, if there are few states, over those of each.

    A square is a sum of odd numbers, ``1 + 3 + …``: one for each step of the run.
    """
    sums = np.zeros((len(tokens), 1 + few), dtype=np.int64)
    each = np.zeros(max(few, 1), dtype=np.int64)
    for b in range(len(tokens)):
        each[:] = 0
        for s in range(len(begins) - 1):
            last, odd = -1, 0
            for t in range(begins[s], begins[s + 1]):
                state = heads[np.uint64(tokens[b, t])]
                odd = odd + 2 if state == last else 1
                last = state
                each[np.uint64(state if few else 0)] += odd
        sums[b, 0] = each.sum()
        sums[b, 1:] = each[:few]
    return sums
