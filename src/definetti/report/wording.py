"""Sentences of the page: the guarantee, and the assumption it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.engine.pvalues import miscoverage
from definetti.levels import ConfidenceLevel
from definetti.levels.by_state import grouped
from definetti.memory import Memory, Order

MOST_DIGITS = 6  # of "999,999 of 1,000,000", beyond which a percentage is plainer


def assumed(cp: Any, memory: Memory, observed: bool) -> str:
    """Return the assumption of the guarantee, for a fitted estimator."""
    words = (
        f"This holds for all transition {'and emission ' * observed}probabilities, known or not, "
        "as long as "
    )
    if memory != Order(1):
        words += f"the future depends on the past only through {memory.assumption}"
    else:
        words += "the states follow one Markov chain, in the past and now"
    if observed and not memory.reads_observations:
        words += ", and each observation depends only on the state at its own time"
    if observed and cp._data.history.gaps:
        words += "; observations must be missing at random"
    if cp.model_.fixed and cp.train_size is None:
        words += "; the given model must not have been fitted on these rows"
    return f"{words}."


def percent(level: ConfidenceLevel) -> str:
    """Write a level as a percentage.

    >>> percent(0.9), percent(0.995), percent(0.99999999)
    ('90 %', '99.5 %', '99.999999 %')
    >>> percent({"N1": 0.99, None: 0.8})
    '99 % for N1, 80 % for all others'
    """
    if isinstance(level, Mapping):
        parts = grouped(level)
        return ", ".join(f"{percent(one)} for {names or 'all others'}" for one, names in parts)
    return f"{float(100 * (1 - miscoverage(level))):.12g} %"


def promise(
    level: ConfidenceLevel,
    steps: int,
    guarantee: str,
    max_errors: int,
    exact: bool,
    given: str = "last state",
) -> str:
    """Return the guarantee in a sentence, given the present state where it is.

    >>> promise(0.9, 3, "all", 0, True)
    'On average, at least 90 of 100 such sets contain the true states of all 3 steps.'
    """
    if not exact:
        return f"No guarantee: these settings aim at {percent(level)} without a proof."
    if guarantee == "errors" and max_errors >= steps:
        return f"No guarantee: {max_errors} errors are allowed in {steps} steps."
    by_visits = "At a fixed time coverage may be slightly lower while visits are few."
    if isinstance(level, Mapping):
        sentences = [
            f"Where the {given} is {names or 'another'}: "
            f"{_lowered(_on_average(one, steps, guarantee, max_errors))}"
            for one, names in grouped(level)
        ]
        return " ".join(sentences if given == "last state" else [*sentences, by_visits])
    sentence = _on_average(level, steps, guarantee, max_errors)
    if given == "last state":
        return sentence
    return f"Given the present state, averaged over its visits: {_lowered(sentence)} {by_visits}"


def _lowered(sentence: str) -> str:
    return f"{sentence[0].lower()}{sentence[1:]}"


def _on_average(level: float, steps: int, guarantee: str, max_errors: int) -> str:
    often, number = _of(1 - miscoverage(level))
    if guarantee == "steps":
        return f"On average, at least {often} of {number} steps have their true state in the set."
    begin = f"On average, at least {often} of {number} such sets"
    if guarantee == "errors" and max_errors:
        return f"{begin} miss the true state at no more than {max_errors:,} of {steps:,} steps."
    if steps == 1:
        return f"{begin} contain the true state."
    return f"{begin} contain the true states of all {steps:,} steps."


def _of(level: Fraction) -> tuple[str, str]:
    """Write a share as so many of a round number: 9,999 of 10,000."""
    for digits in range(2, MOST_DIGITS + 1):
        if (level * 10**digits).denominator == 1:
            return f"{int(level * 10**digits):,}", f"{10**digits:,}"
    return f"{float(100 * level):.12g}", "100"


def round_for_page(p_values: FloatArray | Any) -> list[Any]:
    """Round numbers to five digits, which are enough for a page."""
    found: list[Any] = np.round(p_values, 5).tolist()
    return found
