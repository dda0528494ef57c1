"""What exact tests of the assumption cost, and how that grows with the length of the history."""

from __future__ import annotations

import tracemalloc

import numpy as np
from rich.console import Console

from benchmarks.models import draw_sample, random_model
from benchmarks.tables import format_memory, format_ratio, format_seconds, make_table, show_table
from benchmarks.timing import time_once
from definetti.check import check

STATES, SYMBOLS = 5, 5
DRAWS = {1_000: 999, 10_000: 999, 100_000: 99, 1_000_000: 9}
GOAL = 10_000, 3.0  # steps, and seconds that 999 draws of them may take


def run(console: Console) -> None:
    data = draw_sample(random_model(STATES, SYMBOLS, seed=5), max(DRAWS), seed=6)
    numbers = np.random.default_rng(7).normal(size=max(DRAWS)) + data.states
    made = make_table(
        f"definetti.check with all tests, {STATES} states, one core",
        "observed",
        "T",
        "draws",
        "time",
        "a draw",
        "growth",
        "peak memory",
        "goal",
    )
    for name, observed in (
        ("nothing", None),
        (f"{SYMBOLS} symbols", data.observations),
        ("numbers", numbers),
    ):
        before = 0.0
        for length, draws in DRAWS.items():
            given = None if observed is None else observed[:length]
            seconds, each, memory = _measure(given, data.states[:length], draws)
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
                format_memory(memory),
                goal,
            )
            before = each
        made.add_section()
    show_table(
        console,
        made,
        "Growth is that of a draw, the ratio to the row above, whose history is a tenth as long.",
        "Peak memory is what tracemalloc saw, the input not included.",
    )


def _measure(observations: object, states: object, draws: int) -> tuple[float, float, int]:
    """Return the time of all, that of a draw without what comes before it, and the memory."""

    def ask(draws: int) -> None:
        check(observations, states, n_resamples=draws, random_state=0)

    ask(1)  # compiles
    first, seconds = time_once(lambda: ask(1)), time_once(lambda: ask(draws))
    tracemalloc.start()
    ask(min(draws, 60))
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return seconds, (seconds - first) / (draws - 1), memory
