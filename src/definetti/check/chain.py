"""Tests of the chain of states: its order, transitions that change, and how long states last."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import CodeArray, FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.check.likelihood import UNIT, split_cells, sum_pairs
from definetti.check.messages import (
    MIN_PROBABILITY_CHANGE,
    MIN_RUN_RATIO,
    below,
    describe_bits,
    find_segment,
    memory_is_feasible,
    name_place,
    need_moves,
    use_after,
)
from definetti.check.sample import Draws, Sample
from definetti.check.statistic import CannotTest, Effect, Statistic
from definetti.memory import Age
from definetti.memory import Order as StateMemory

FEW = 8  # the most states for which each also has a statistic of its own


class Order(Statistic, name="order"):
    """Test order k against k + 1 by ``Σ n_ijk log n_ijk`` over three successive tokens.

    Given the transition counts, the sum grows with the likelihood of a chain of order k + 1.
    Reported as twice the log-likelihood ratio.
    """

    question = "does the next state also depend on the one before the present?"
    reads_times = False

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
        total = sum_pairs(draws.edges, draws.edges, shifts, names, int(ahead[-1]), sample.table)
        moves, leaves = sample.moves
        known = 2 * sample.table[moves].sum() - sample.table[leaves].sum()
        return np.asarray(2 * (total - known) / UNIT)[:, None]

    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        triples = int(np.maximum(np.diff(sample.begins) - 2, 0).sum())
        more = isinstance(sample.memory, StateMemory) and sample.memory.k > 1
        which = f"the state before {sample.memory.assumption}" if more else "the previous state"
        after = " of information about the next"
        return describe_bits(values[:, 0], triples, f"{which} adds", after)

    def remedy(self, sample: Sample, effect: Effect) -> str:
        if isinstance(sample.memory, StateMemory):
            longer = sample.memory.k + 1
            if memory_is_feasible(sample, StateMemory(longer)):
                return f"take memory={longer}, or symmetry='spaced'"
        return "take symmetry='spaced'"


class Transitions(Statistic, name="transitions"):
    """Likelihood ratio of transition probabilities that change once.

    Maximised over the change point in each segment separately. Reported as twice its logarithm.
    """

    question = "do the transitions change over time?"
    reads_times = False

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
        sides = [np.bincount(edges[edges >= 0], minlength=len(sample.sources)) for edges in parts]
        sizes = [np.bincount(sample.sources, side)[sample.sources] for side in sides]
        both = (sizes[0] > 0) & (sizes[1] > 0)
        if not both.any():
            words = f"after {name_place(sample, row)} the chain is in other states"
            return Effect(words, 1.0, row)
        n, m = (np.maximum(size, 1) for size in sizes)
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


class Durations(Statistic, name="durations"):
    """``log Σ run length²``, large or small, over all states and for each state if there are few.

    The transition counts determine the mean run length of a state, but not its variance.
    """

    question = "do states last as long as the chain says?"
    reads_times = False

    def parts(self, sample: Sample) -> tuple[str, ...]:
        if len(np.unique(sample.states)) < 2:
            raise CannotTest("all steps are in one state")
        if not (np.diff(sample.states)[sample.edges[:-1] >= 0] == 0).any():
            raise CannotTest("no state lasts for two steps")
        names = ["", *map(str, sample.labels)] if len(sample.labels) <= FEW else [""]
        return tuple(f"{name} {side}".strip() for side in ("more", "less") for name in names)

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        few = len(sample.labels) if len(sample.labels) <= FEW else 0
        logs = np.log(_square_runs(draws.tokens, sample.heads, sample.begins, few))
        return np.concatenate([logs, -logs], axis=1)

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
    """Sum squared run lengths over all runs and, if there are few states, for each state.

    A square is a sum of odd numbers, ``1 + 3 + …``: one for each step of the run. Even and odd
    times have separate sums, so that no addition waits for the previous one.
    """
    sums = np.zeros((len(tokens), 1 + few), dtype=np.int64)
    partial_sums = np.zeros((2, max(few, 1)), dtype=np.int64)
    for b in range(len(tokens)):
        partial_sums[:] = 0
        for s in range(len(begins) - 1):
            last, odd = -1, 0
            for t in range(begins[s], begins[s + 1]):
                state = heads[np.uint64(tokens[b, t])]
                odd = odd + 2 if state == last else 1
                last = state
                partial_sums[t & 1, np.uint64(state if few else 0)] += odd
        sums[b, 0] = partial_sums.sum()
        sums[b, 1:] = partial_sums[:, :few].sum(axis=0)
    return sums
