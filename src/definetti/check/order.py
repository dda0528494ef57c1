"""Whether the next state also depends on the state before the present one."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.check.likelihood import UNIT, sum_pairs
from definetti.check.messages import describe_bits, memory_is_feasible
from definetti.check.sample import Draws, Sample
from definetti.check.statistic import CannotTest, Effect, Statistic
from definetti.memory import Order as Memory


class Order(Statistic, name="order"):
    """``Σ n_ijk log n_ijk`` over three successive tokens: order k against k + 1.

    Given the transition counts it grows with the likelihood of a chain that remembers one state
    more. Reported as twice the likelihood ratio.
    """

    question = "does the next state also depend on the one before the present?"

    def parts(self, sample: Sample) -> tuple[str, ...]:
        if len(sample.rows) < 2:
            raise CannotTest("all steps are in one state")
        if np.diff(sample.begins).max() < 3:
            raise CannotTest("it takes three steps in a row")
        return ("",)

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        wide = np.diff(sample.exits)[sample.targets]
        ahead = np.concatenate([[0], wide.cumsum()])
        shifts, names = ahead[:-1] - sample.exits[sample.targets], np.arange(len(wide))
        found = sum_pairs(draws.edges, draws.edges, shifts, names, int(ahead[-1]), sample.table)
        moves, leaves = sample.moves
        known = 2 * sample.table[moves].sum() - sample.table[leaves].sum()
        return np.asarray(2 * (found - known) / UNIT)[:, None]

    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        triples = int(np.maximum(np.diff(sample.begins) - 2, 0).sum())
        more = isinstance(sample.memory, Memory) and sample.memory.k > 1
        which = f"the state before {sample.memory.assumption}" if more else "the previous state"
        after = " of information about the next"
        return describe_bits(values[:, 0], triples, f"{which} adds", after)

    def remedy(self, sample: Sample, effect: Effect) -> str:
        if isinstance(sample.memory, Memory):
            longer = sample.memory.k + 1
            if memory_is_feasible(sample, Memory(longer)):
                return f"take memory={longer}, or symmetry='spaced'"
        return "take symmetry='spaced'"
