"""How fit and prediction grow with the length of the history."""

from __future__ import annotations

import tracemalloc

from rich.console import Console

from benchmarks.models import draw_sample, random_model
from benchmarks.tables import format_memory, format_ratio, format_seconds, make_table, show_table
from benchmarks.timing import time_best
from definetti import ConformalHMM

STATES, SYMBOLS = 5, 5
LENGTHS = (1_000, 10_000, 100_000, 1_000_000)
HORIZON = 1


def run(console: Console) -> None:
    data = draw_sample(random_model(STATES, SYMBOLS, seed=5), LENGTHS[-1] + HORIZON, seed=6)
    made = make_table(
        f"Growth with T, {STATES} states, {SYMBOLS} symbols, the default estimator, "
        f"horizon {HORIZON}",
        "T",
        "fit",
        "growth",
        "first predict_set",
        "growth",
        "later predict_set",
        "growth",
        "peak memory of fit",
        "growth",
    )
    before: list[float] = []
    for length in LENGTHS:
        y, x = data.observations[:length], data.states[:length]
        new = data.observations[length : length + HORIZON]
        figures = _measure(x, y, new, rounds=max(3, min(20, 300_000 // length)))
        growth = [format_ratio(now / then) for now, then in zip(figures, before, strict=False)]
        growth = growth or [""] * len(figures)
        written = [*map(format_seconds, figures[:3]), format_memory(int(figures[3]))]
        pairs = zip(written, growth, strict=True)
        made.add_row(f"{length:,}", *(cell for pair in pairs for cell in pair))
        before = figures
    show_table(
        console,
        made,
        "Growth is the ratio to the row above, whose history is a tenth as long.",
        "Labels are NumPy arrays of integers. Peak memory is what tracemalloc saw during one fit, "
        "the input not included.",
    )


def _measure(x: object, y: object, new: object, rounds: int) -> list[float]:
    model = ConformalHMM(random_state=0)
    model.fit(y, x).predict_set(new)  # compiles

    def fit() -> None:
        model.fit(y, x)

    def predict() -> None:
        model.predict_set(new)

    fitting = time_best(fit, rounds)
    first = time_best(predict, rounds, before=fit)
    later = time_best(predict, 30)
    tracemalloc.start()
    fit()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return [fitting, first, later, float(peak)]
