"""The words of the page: the promise in a sentence for people who do not read formulas."""

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
    """Say what the promise rests on, for a fitted estimator, with observations or without."""
    words = (
        f"This holds for every transition {'and emission ' * observed}probability there may be, "
        "known or not, as long as "
    )
    if memory != Order(1):
        words += f"what comes next depends on {memory.assumption} alone, in the past as now"
    else:
        words += "the states follow one Markov chain, the same in the past and now"
    if observed and not memory.reads_observations:
        words += ", and each observation depends on the state of its own time alone"
    if observed and cp._data.history.gaps:
        words += "; gaps among the observations must come at random"
    if cp.model_.fixed and cp.train_size is None:
        words += "; the model, made elsewhere, must not have learned from these rows"
    return f"{words}."


def percent(level: ConfidenceLevel) -> str:
    """Write a level as people do.

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
    """Say what is promised, and given which state where that is not the last.

    >>> promise(0.9, 3, "all", 0, True)
    'Of 100 such predictions, at least 90, on average, name the true states of all 3 steps among \
the sequences that they leave possible.'
    """
    if not exact:
        return (
            f"Nothing is guaranteed: these settings aim at {percent(level)} and come with no proof."
        )
    if guarantee == "errors" and max_errors >= steps:
        return f"Nothing is promised: {max_errors} errors are allowed, and there are {steps} steps."
    by_visits = (
        "The count is by visits to that state; at a time fixed by the clock it may be a little "
        "less while they are few."
    )
    if isinstance(level, Mapping):
        sentences = [
            f"Where the {given} is {names or 'another'}: "
            f"{_lowered(_on_average(one, steps, guarantee, max_errors))}"
            for one, names in grouped(level)
        ]
        return " ".join([*sentences, by_visits] if given != "last state" else sentences)
    promised = _on_average(level, steps, guarantee, max_errors)
    if given == "last state":
        return promised
    return f"Given the present state, averaged over its visits: {_lowered(promised)} {by_visits}"


def _lowered(sentence: str) -> str:
    """Write a sentence as it goes on after a colon."""
    return f"{sentence[0].lower()}{sentence[1:]}"


def _on_average(level: float, steps: int, guarantee: str, max_errors: int) -> str:
    """Say how often a promise is kept."""
    often, number = _of(1 - miscoverage(level))
    if guarantee == "steps":
        return (
            f"Of {number} steps predicted, at least {often}, on average, have their true state "
            "among those that are left possible."
        )
    if guarantee == "errors" and max_errors:
        return (
            f"Of {number} such predictions, at least {often}, on average, miss the true state at "
            f"no more than {max_errors:,} of their {steps:,} steps."
        )
    if steps == 1:
        return (
            f"Of {number} such predictions, at least {often}, on average, name the true state "
            "among those that they leave possible."
        )
    whole = "sequences" if guarantee == "all" else "states"
    return (
        f"Of {number} such predictions, at least {often}, on average, name the true states of all "
        f"{steps:,} steps among the {whole} that they leave possible."
    )


def _of(level: Fraction) -> tuple[str, str]:
    """Write a share as so many of a round number.

    >>> _of(Fraction(9, 10)), _of(Fraction(9999, 10000)), _of(Fraction(1, 3))
    (('90', '100'), ('9,999', '10,000'), ('33.3333333333', '100'))
    """
    for digits in range(2, MOST_DIGITS + 1):
        if (level * 10**digits).denominator == 1:
            return f"{int(level * 10**digits):,}", f"{10**digits:,}"
    return f"{float(100 * level):.12g}", "100"


def round_for_page(p_values: FloatArray | Any) -> list[Any]:
    """Return numbers as a page gets them: no more digits than one looks at.

    >>> round_for_page(np.array([[0.123456789, 1.0]]))
    [[0.12346, 1.0]]
    """
    found: list[Any] = np.round(p_values, 5).tolist()
    return found
