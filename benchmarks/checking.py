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
from definetti.check import Diagnosis, check

STATES, SYMBOLS = 5, 5
DRAWS = {1_000: 999, 10_000: 999, 100_000: 199, 1_000_000: 39}
HELD = {10_000: (99, 999), 100_000: (39, 199), 1_000_000: (9, 39)}  # draws, for memory
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
        "all of it",
        "goal",
        "to begin",
        "a step of a draw",
        "growth",
        "a step of pictures",
        "growth",
    )
    for name in OBSERVED:
        observed, states = make_data(name, max(DRAWS))
        before = (0.0, 0.0)
        for length, draws in DRAWS.items():
            given = None if observed is None else observed[:length]
            seconds, begin, *each = _measure(given, states[:length], draws)
            goal = ""
            if length == GOAL[0]:
                goal = f"≤ {GOAL[1]:g} s {'✓' if seconds <= GOAL[1] else '✗'}"
            written = [format_seconds(one) for one in (seconds, begin)]
            made.add_row(name, f"{length:,}", str(draws), written[0], goal, written[1], *(
                word
                for one, last in zip(each, before, strict=True)
                for word in (f"{one * 1e9:.0f} ns", format_ratio(one / last) if last else "")
            ))  # fmt: skip
            before = (each[0], each[1])
        made.add_section()
    show_table(
        console,
        made,
        "To begin is to read the data, and to test one draw. Growth is the ratio to the row above,",
        "whose history is a tenth as long: 1 where time is in proportion to the length. What is",
        "beyond 1 is memory that is not near by: exits and observations are dealt in no order.",
        "Pictures look at up to 199 draws again, at fewer of the longest histories.",
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
        "growth",
        "bytes a step",
    )
    for name in OBSERVED:
        for length, numbers in HELD.items():
            peaks = [measure_peak(prepare, name, length, draws) for draws in numbers]
            row = [name, f"{length:,}"]
            for draws, peak in zip(numbers, peaks, strict=True):
                row += [str(draws), "—" if peak is None else format_memory(peak)]
            few, many = peaks
            row += [
                format_ratio(many / few) if few and many else "—",
                f"{many / length:,.0f}" if many else "—",
            ]
            made.add_row(*row)
        made.add_section()
    show_table(
        console,
        made,
        "Peak is that of resident memory, each in a process of its own, with what compiled",
        "functions hold, and with pictures. It does not grow with the number of draws, which are",
        "held one at a time where they are long; with the length, by so many bytes a step.",
    )


def prepare(name: str, length: int, draws: int) -> Callable[[], object]:
    """Return a check that is compiled, with its data in memory."""
    observed, states = make_data(name, length)
    check(None if observed is None else observed[:1_000], states[:1_000], n_resamples=99)
    return lambda: check(observed, states, n_resamples=draws, random_state=0)


def _measure(observations: object, states: object, draws: int) -> tuple[float, ...]:
    """Return the times of all, of what comes first, and of a step of a draw and of its pictures."""
    steps = len(states)  # type: ignore[arg-type]

    def ask(draws: int, pictures: bool = False) -> Diagnosis:
        return check(observations, states, n_resamples=draws, random_state=0, pictures=pictures)

    drawn = max(one.n_draws for one in ask(draws, pictures=True).residuals.values())  # compiles
    begin, tests, seconds = (
        time_once(lambda one=one: ask(*one)) for one in ((1,), (draws,), (draws, True))
    )
    return (
        seconds, begin, (tests - begin) / ((draws - 1) * steps),
        (seconds - tests) / ((drawn + 1) * steps),
    )  # fmt: skip
