"""When a failing test comes with advice: minimum effects, and remedies that the data allow.

With many rows a test finds departures that no set would notice. Advice is given where the adjusted
p-value is at most alpha, the effect has at least the size stated here, and the remedy is feasible.
"""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import IntArray
from definetti.check.sample import Sample, trace_tokens
from definetti.memory import Memory

# Minimum effects.

# Information of b bits changes probabilities, and so the coverage of sets, by at most
# sqrt(b ln 2 / 2) on average (Pinsker's inequality): by 0.042 for 0.005 bits.
MIN_BITS = 0.005
# Sets one step ahead lose at most as much coverage as a row of transition probabilities moves.
MIN_PROBABILITY_CHANGE = 0.05
# The observed run length over the expected one, or the reverse. A mean run has at least one step,
# so that lengths printed with one decimal differ.
MIN_RUN_RATIO = 1.1
# Of successive normal deviates: 0.007 bits.
MIN_CORRELATION = 0.1
# In standard deviations: a bound that covered 0.9 of normal values covers 0.86 of moved ones.
MIN_SHIFT = 0.2
# Of the variance, in units of the variance: an interval that covered 0.9 covers 0.87.
MIN_SPREAD_CHANGE = 0.2

# Feasible remedies.

# Rows for each state, on average, that a fit from fewer rows needs: half of them train a model,
# and 20 calibrate. The smallest p-value is then 1/21, so that a set at level 0.95 can exclude
# something.
ROWS_PER_STATE = 40
# Visits that a token of a memory needs. With 10 others the smallest p-value is 1/11: with fewer
# than 9, a set at level 0.9, the default, holds every state.
VISITS_PER_TOKEN = 10
# The share of rows that must be in such tokens, or in sequences of that length.
FEASIBLE_SHARE = 0.9


def below(size: float, minimum: float, unit: str) -> str:
    """Return the minimum effect in words where an effect is below it, else nothing.

    >>> below(-0.05, 0.1, "in correlation"), below(0.1, 0.1, "in correlation")
    ('0.1 in correlation', '')
    """
    return f"{minimum:g} {unit}" if abs(size) < minimum else ""


def rows_needed(sample: Sample) -> int:
    """Return how many rows a fit from fewer rows needs."""
    return ROWS_PER_STATE * len(sample.labels)


def visits_suffice(visits: IntArray) -> bool:
    """Tell whether most steps have a token with enough visits.

    Parameters
    ----------
    visits : of each token

    Examples
    --------
    >>> visits_suffice(np.array([90, 5, 5])), visits_suffice(np.array([89, 9, 2]))
    (True, False)
    """
    enough = visits[visits >= VISITS_PER_TOKEN].sum()
    return bool(enough >= FEASIBLE_SHARE * visits.sum())


def memory_is_feasible(sample: Sample, memory: Memory) -> bool:
    """Tell whether most steps would have a token that was visited often enough."""
    tokens, _ = trace_tokens(sample.states, [], sample.begins, memory)
    return visits_suffice(np.bincount(tokens))


def sequences_suffice(sample: Sample) -> bool:
    """Tell whether most rows are in sequences that are long enough to be fitted by themselves."""
    lengths = np.diff(sample.begins)
    enough = lengths[lengths >= rows_needed(sample)].sum()
    return bool(enough >= FEASIBLE_SHARE * len(sample))
