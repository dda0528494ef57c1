"""Messages and advice: minimum effects, feasible remedies, and phrases that several tests share.

With many rows a test detects departures too small to change any set. Advice is given where the
adjusted p-value is at most alpha, the effect has at least the minimum size, and the remedy is
feasible.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from definetti._system.arrays import FloatArray, IntArray, distinct_rows
from definetti.check.columns import Column
from definetti.check.sample import Sample, trace_tokens
from definetti.check.statistic import CannotTest, Effect, Statistic
from definetti.memory import Age, Memory, Order
from definetti.memory.memories import find_old_age

# Minimum effects.

# Information of b bits changes probabilities, and so the coverage of sets, by at most
# sqrt(b ln 2 / 2) on average (Pinsker's inequality): by 0.042 for 0.005 bits.
MIN_BITS = 0.005
# Sets one step ahead lose at most as much coverage as a row of transition probabilities moves.
MIN_PROBABILITY_CHANGE = 0.05
# The observed run length over the expected one, or the reverse. A mean run has at least one step,
# so that lengths printed with one decimal differ.
MIN_RUN_RATIO = 1.1
# Correlation of successive normal deviates: 0.007 bits.
MIN_CORRELATION = 0.1
# In standard deviations: a bound that covered 0.9 of normal values covers 0.86 of shifted ones.
MIN_SHIFT = 0.2
# Relative change of the variance: an interval that covered 0.9 covers 0.87.
MIN_SPREAD_CHANGE = 0.2

# Feasible remedies.

# Mean number of rows per state that a fit from fewer rows needs: half of them train a model,
# and 20 calibrate. The smallest p-value is then 1/21, so that a set at level 0.95 can exclude
# something.
ROWS_PER_STATE = 40
# Visits that a token of a memory needs. With 10 others the smallest p-value is 1/11: with fewer
# than 9, a set at level 0.9, the default, holds every state.
VISITS_PER_TOKEN = 10
# The share of rows that must be in such tokens, or in sequences of that length.
FEASIBLE_SHARE = 0.9


def below(size: float, minimum: float, unit: str) -> str:
    """Return the minimum effect in words if an effect is below the minimum, else ""."""
    return f"{minimum:g} {unit}" if abs(size) < minimum else ""


def describe_bits(
    values: FloatArray, steps: int, before: str, after: str = "", row: int | None = None
) -> Effect:
    """Describe by how many bits per step the first likelihood ratio exceeds the mean of draws."""
    bits = float((values[0] - values[1:].mean()) / (2 * np.log(2) * max(steps, 1)))
    words = f"{before} {max(bits, 0.0):.3f} bits{after}"
    return Effect(words, bits, row, below(bits, MIN_BITS, "bits"))


def rows_needed(sample: Sample) -> int:
    """Return the number of rows that a fit from fewer rows needs."""
    return ROWS_PER_STATE * len(sample.labels)


def sizes_suffice(sizes: IntArray, needed: int = VISITS_PER_TOKEN) -> bool:
    """Tell whether most steps are in parts that are large enough: visits of tokens, sequences."""
    return bool(sizes[sizes >= needed].sum() >= FEASIBLE_SHARE * sizes.sum())


def memory_is_feasible(sample: Sample, memory: Memory) -> bool:
    """Tell whether most steps would have a token that was visited often enough."""
    tokens, _ = trace_tokens(sample.states, [], sample.begins, memory)
    return sizes_suffice(np.bincount(tokens))


def name_column(column: Column) -> str:
    """Name a column in the middle of a sentence."""
    return f"column {column.name}" if column.name else "the observation"


def find_segment(sample: Sample, row: int) -> tuple[int, int, int]:
    """Return the segment of the last of `row` rows, and where the segment begins and ends."""
    segment = int(np.searchsorted(sample.begins[1:-1], row, side="left"))
    return segment, int(sample.begins[segment]), int(sample.begins[segment + 1])


def name_place(sample: Sample, row: int) -> str:
    """Name the last of `row` rows: in its table, or in its sequence if there are several."""
    if sample.origin is not None:
        rows, names = sample.origin
        if names is None:
            return f"row {sample.find_row(row)}"
        return f"row {sample.find_row(row)}, of series {names[rows[max(row - 1, 0)]]!r},"
    segment, begin, _ = find_segment(sample, row)
    if sample.segments == 1 or sample.before:
        return f"row {sample.find_row(row)}"
    return f"row {row - begin} of sequence {segment + 1}"


def use_after(sample: Sample, row: int | None) -> str:
    """Return the remedy for a change after `row` rows."""
    watch = "watch the stream with a monitor"
    if row is None:
        return watch
    _, _, end = find_segment(sample, row)
    if end - row < rows_needed(sample):
        return f"{watch}, as the {end - row:,} rows that follow are too few to fit"
    if sample.segments == 1 and sample.origin is None:
        return f"use the rows after {sample.find_row(row)}, or {watch}"
    return f"leave out what is before it, or {watch}"


def need_moves(sample: Sample) -> None:
    """Raise `CannotTest` for a sample without transitions between states."""
    if len(sample.rows) < 2:
        raise CannotTest("all steps are in one state")
    if not len(sample.sources):
        raise CannotTest("it takes two steps in a row")


def need_columns(sample: Sample, pairs: bool = True) -> tuple[str, ...]:
    """Return the names of the columns; raise `CannotTest` where there are none."""
    if not sample.columns:
        raise CannotTest("; ".join(f"{what}: {why}" for what, why in sample.others.items()))
    if pairs and np.diff(sample.begins).max() < 2:
        raise CannotTest("it takes two steps in a row")
    return tuple(column.name for column in sample.columns)


def describe_assumption(sample: Sample) -> str:
    """Return the assumption that is tested, in words that follow "that"."""
    shown = " and observations" if sample.columns else ""
    return f"states{shown} depend on the past through {sample.memory.assumption} alone"


def write_verdict(
    effect: Effect, testable: bool, significant: bool, remedy: str
) -> tuple[str, str]:
    """Return the effect of a test in words, and its verdict as a sentence."""
    if not testable:
        same = "the same for every rearrangement"
        return f"not testable: {same}", f"Not testable: it is {same}."
    if not significant:
        return "not significant", "Not significant."
    sentence = f"{effect.words[:1].upper()}{effect.words[1:]}"
    if effect.short_of:
        sentence += f": significant, but less than {effect.short_of}, so no advice is given"
    elif remedy:
        sentence += f": {remedy}"
    return effect.words, f"{sentence}."


# Which failure explains others, where one violation makes several tests fail. Autocorrelated
# observations look like drift, too, and a drift looks autocorrelated; a longer memory changes how
# long states last. The test that stands out the most comes first. Durations and earlier states are
# two descriptions of one dependence: the one with the better Bayesian information criterion
# explains the other.


def stand_out(values: FloatArray) -> float:
    """Return how many standard deviations the first value is above the mean of the others."""
    drawn = values[1:][np.isfinite(values[1:])]
    if not len(drawn) or not np.isfinite(values[0]):
        return 0.0 if values[0] != np.inf else np.inf
    unit = float(np.abs(drawn).max()) or 1.0  # so that no square overflows
    drawn, own = drawn / unit, float(values[0] / unit)
    off, spread = own - float(drawn.mean()), float(drawn.std())
    if spread > 0:
        return off / spread
    return 0.0 if off == 0 else float(np.copysign(np.inf, off))


def find_explained(sample: Sample, failing: Mapping[str, Statistic]) -> dict[str, str]:
    """Return the names of failures that another explains, each with the name of that other."""
    names = {statistic.known_as: name for name, statistic in failing.items()}
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
