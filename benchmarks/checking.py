"""What exact tests of the assumption cost, and how that grows with the length of the history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.models import draw_sample, random_model
from benchmarks.peaks import measure_peak
from benchmarks.tables import format_memory, format_ratio, format_seconds, make_table, show_table
from benchmarks.timing import time_once
from definetti.check import check

STATES, SYMBOLS = 5, 5
DRAWS = {1_000: 999, 10_000: 999, 100_000: 99, 1_000_000: 9}
HELD = {10_000: (99, 999), 100_000: (99, 999), 1_000_000: (9, 19)}  # draws, for memory
OBSERVED = ("nothing", f"{SYMBOLS} symbols", "numbers")
GOAL = 10_000, 3.0  # steps, and seconds that 999 draws of them may take


def run(console: Console) -> None:
    show_times(console)
    show_peaks(console)


def make_data(name: str, length: int) -> tuple[Any, Any]:
    """Return observations of a kind, and states."""
    data = draw_sample(random_model(STATES, SYMBOLS, seed=5), length, seed=6)
    if name == "nothing":
        return None, data.states
    if name == "numbers":
        return np.random.default_rng(7).normal(size=length) + data.states, data.states
    return data.observations, data.states


def show_times(console: Console) -> None:
    made = make_table(
        f"definetti.check with all tests, {STATES} states, one core",
        "observed",
        "T",
        "draws",
        "time",
        "a draw",
        "growth",
        "goal",
    )
    for name in OBSERVED:
        observed, states = make_data(name, max(DRAWS))
        before = 0.0
        for length, draws in DRAWS.items():
            given = None if observed is None else observed[:length]
            seconds, each = _measure(given, states[:length], draws)
            goal = ""
            if length == GOAL[0]:
                goal = f"≤ {GOAL[1]:g} s {'✓' if seconds <= GOAL[1] else '✗'}"
            made.add_row(
                name,
                f"{length:,}",
                str(draws),
                format_seconds(seconds),
                format_seconds(each),
                format_ratio(each / before) if before else "",
                goal,
            )
            before = each
        made.add_section()
    show_table(
        console,
        made,
        "Growth is that of a draw, the ratio to the row above, whose history is a tenth as long.",
        "Pictures look at up to 199 draws again: a fifth of 999, all of 99, hence the jump.",
    )


def show_peaks(console: Console) -> None:
    made = make_table(
        "The memory of a check, beyond that of the data",
        "observed",
        "T",
        "draws",
        "peak",
        "draws",
        "peak",
        "bytes a step",
    )
    for name in OBSERVED:
        for length, numbers in HELD.items():
            row = [name, f"{length:,}"]
            peak = None
            for draws in numbers:
                peak = measure_peak(prepare, name, length, draws)
                row += [str(draws), "—" if peak is None else format_memory(peak)]
            made.add_row(*row, "—" if peak is None else f"{peak / length:,.0f}")
        made.add_section()
    show_table(
        console,
        made,
        "Peak is that of resident memory, each in a process of its own, with what compiled",
        "functions hold, and with pictures. Of the longest histories few draws are made, held one "
        "at a time.",
    )


def prepare(name: str, length: int, draws: int) -> Callable[[], object]:
    """Return a check that is compiled, with its data in memory."""
    observed, states = make_data(name, length)
    check(None if observed is None else observed[:1_000], states[:1_000], n_resamples=99)
    return lambda: check(observed, states, n_resamples=draws, random_state=0)


def _measure(observations: object, states: object, draws: int) -> tuple[float, float]:
    """Return the time of all, and that of a draw without what comes before it."""

    def ask(draws: int) -> None:
        check(observations, states, n_resamples=draws, random_state=0)

    ask(1)  # compiles
    first, seconds = time_once(lambda: ask(1)), time_once(lambda: ask(draws))
    return seconds, (seconds - first) / (draws - 1)
