"""Whether the next state also depends on the state before the present one."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import CodeArray, FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.check.likelihood import UNIT, add_up, hold_names, sum_cells
from definetti.check.messages import MIN_BITS, below, memory_is_feasible
from definetti.check.sample import Draws, Sample
from definetti.check.statistic import CannotTest, Effect, Statistic
from definetti.memory import Order as Memory


class Order(Statistic, name="order"):
    """``Σ n_ijk log n_ijk`` over three successive tokens: order k against k + 1.

    Given the transition counts it grows with the likelihood of a chain that remembers one state
    more. Reported as twice the likelihood ratio.
    """

    asks = "does the next state also depend on the one before the present?"

    def parts(self, sample: Sample) -> tuple[str, ...]:
        if len(sample.rows) < 2:
            raise CannotTest("all steps are in one state")
        if np.diff(sample.begins).max() < 3:
            raise CannotTest("it takes three steps in a row")
        return ("",)

    def measure(self, sample: Sample, draws: Draws) -> FloatArray:
        wide = np.diff(sample.exits)[sample.targets]
        ahead = np.concatenate([[0], wide.cumsum()])
        room, shifts = int(ahead[-1]), ahead[:-1] - sample.exits[sample.targets]
        if room < len(sample):
            found = _sum_pairs(draws.edges, shifts, room, sample.table)
        else:
            keys = hold_names(draws.edges, room)
            _name_pairs(keys, draws.edges, shifts)
            found = sum_cells(keys, room, sample.table)
        moves, leaves = sample.moves
        known = 2 * sample.table[moves].sum() - sample.table[leaves].sum()
        return np.asarray(2 * (found - known) / UNIT)[:, None]

    def effect(self, sample: Sample, values: FloatArray, part: int) -> Effect:
        triples = max(int(np.maximum(np.diff(sample.begins) - 2, 0).sum()), 1)
        bits = float((values[0, 0] - values[1:, 0].mean()) / (2 * np.log(2) * triples))
        more = isinstance(sample.memory, Memory) and sample.memory.k > 1
        which = f"the state before {sample.memory.assumption}" if more else "the previous state"
        words = f"{which} adds {max(bits, 0.0):.3f} bits of information about the next"
        return Effect(words, bits, short_of=below(bits, MIN_BITS, "bits"))

    def remedy(self, sample: Sample, effect: Effect) -> str:
        if isinstance(sample.memory, Memory):
            longer = sample.memory.k + 1
            if memory_is_feasible(sample, Memory(longer)):
                return f"take memory={longer}, or symmetry='spaced'"
        return "take symmetry='spaced'"


@kernel
def _sum_pairs(edges: CodeArray, ahead: IntArray, room: int, table: IntArray) -> IntArray:
    """Add up ``n log n`` over pairs of successive edges, as `sum_cells` does, with no names."""
    sums = np.zeros(len(edges), dtype=np.int64)
    for b in range(len(edges)):
        counts = np.zeros(room, dtype=np.int64)
        before = edges[b, 0]
        for t in range(1, edges.shape[1]):
            edge = edges[b, t]
            if before >= 0 and edge >= 0:
                counts[ahead[before] + edge] += 1
            before = edge
        sums[b] = add_up(counts, table)
    return sums


@kernel
def _name_pairs(keys: CodeArray, edges: CodeArray, ahead: IntArray) -> None:
    """Name each pair of successive edges; where there is none, nothing is written."""
    for b in range(len(edges)):
        for t in range(edges.shape[1] - 1):
            if edges[b, t] >= 0 and edges[b, t + 1] >= 0:
                keys[b, t] = ahead[edges[b, t]] + edges[b, t + 1]
