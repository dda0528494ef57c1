"""What a prediction costs with each symmetry."""

from __future__ import annotations

from rich.console import Console

from benchmarks.models import draw_sample, random_model
from benchmarks.tables import format_ratio, format_seconds, make_table, show_table
from benchmarks.timing import time_best
from definetti import ConformalHMM

SYMMETRIES = ("full", "returns", "pairs", "spaced", "departures")
STATES, SYMBOLS = (2, 3, 5), 3
HORIZONS, LENGTHS = (1, 3), (1_000, 100_000)


def run(console: Console) -> None:
    short, long = LENGTHS
    made = make_table(
        f"predict_set by symmetry, {SYMBOLS} symbols, path score",
        "symmetry",
        "states",
        "horizon",
        "candidates",
        f"T = {short:,}: first",
        "later",
        f"T = {long:,}: first",
        "later",
        "growth of later",
    )
    for states in STATES:
        data = draw_sample(random_model(states, SYMBOLS, seed=7), long + max(HORIZONS), seed=8)
        for horizon in HORIZONS:
            for name in SYMMETRIES:
                figures = []
                for length in LENGTHS:
                    new = data.observations[length : length + horizon]
                    history = (data.observations[:length], data.states[:length])
                    figures += _measure(name, history, new)
                made.add_row(
                    name,
                    str(states),
                    str(horizon),
                    str(states**horizon),
                    *map(format_seconds, figures),
                    format_ratio(figures[3] / figures[1]),
                )
        made.add_section()
    show_table(
        console,
        made,
        "The first prediction after a fit works out what later ones with the same history keep.",
    )


def _measure(name: str, history: tuple[object, object], new: object) -> list[float]:
    model = ConformalHMM(symmetry=name, random_state=0)
    model.fit(*history).predict_set(new)  # compiles
    first = time_best(lambda: model.predict_set(new), 3, before=lambda: model.fit(*history))
    return [first, time_best(lambda: model.predict_set(new), 7)]
