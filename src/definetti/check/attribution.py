"""Which failure explains others, where one violation makes several tests fail.

Autocorrelated observations look like drift, too, and a drift looks autocorrelated; a longer memory
changes how long states last. The test that stands out the most comes first. Durations and earlier
states are two descriptions of one dependence: the one with the better Bayesian information
criterion explains the other.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from definetti._system.arrays import FloatArray, distinct_rows
from definetti.check.sample import Sample, trace_tokens
from definetti.check.statistic import Statistic
from definetti.memory import Age, Memory, Order
from definetti.memory.memories import find_old_age


def stand_out(values: FloatArray) -> float:
    """Return by how many standard deviations the first value is above those of rearrangements.

    >>> round(stand_out(np.array([5.0, 1.0, 3.0])), 9), stand_out(np.array([2.0, 2.0, 2.0]))
    (3.0, 0.0)
    """
    drawn = values[1:][np.isfinite(values[1:])]
    if not len(drawn) or not np.isfinite(values[0]):
        return 0.0 if values[0] != np.inf else np.inf
    unit = float(np.abs(drawn).max()) or 1.0  # so that no square is beyond all numbers
    drawn, own = drawn / unit, float(values[0] / unit)
    off, spread = own - float(drawn.mean()), float(drawn.std())
    if spread > 0:
        return off / spread
    return 0.0 if off == 0 else float(np.copysign(np.inf, off))


def find_explained(sample: Sample, failing: Mapping[str, Statistic]) -> dict[str, str]:
    """Return the name of the failure that explains another, by the name of the other."""
    names = {one.known_as: name for name, one in failing.items()}
    order, durations = names.get("order"), names.get("durations")
    if order is None or durations is None or sample.memory != Order(1):
        return {}
    most = max(2, find_old_age(sample.states, np.diff(sample.begins)))
    by_age, by_order = _describe(sample, Age(most)), _describe(sample, Order(2))
    return {order: durations} if by_age > by_order else {durations: order}


def _describe(sample: Sample, memory: Memory) -> float:
    """Return minus the Bayesian information criterion of a memory (Schwarz 1978)."""
    tokens, _ = trace_tokens(sample.states, [], sample.begins, memory)
    leaves = np.flatnonzero(sample.edges >= 0)
    _, _, moves = distinct_rows(np.column_stack([tokens[leaves], sample.states[leaves + 1]]))
    sizes = np.bincount(tokens[leaves])
    sizes = sizes[sizes > 0]
    fit = (moves * np.log(moves)).sum() - (sizes * np.log(sizes)).sum()
    return float(2 * fit - (len(moves) - len(sizes)) * np.log(len(leaves)))
