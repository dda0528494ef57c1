"""What a prediction costs with each symmetry."""

from __future__ import annotations

from rich.console import Console

from benchmarks.models import drawn, random_model
from benchmarks.tables import show, span, table, times
from benchmarks.timing import best
from definetti import ConformalHMM

SYMMETRIES = ("full", "returns", "pairs", "spaced")
STATES, SYMBOLS = (2, 3, 5), 3
HORIZONS, LENGTHS = (1, 3), (1_000, 100_000)


def run(console: Console) -> None:
    short, long = LENGTHS
    made = table(
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
        data = drawn(random_model(states, SYMBOLS, seed=7), long + max(HORIZONS), seed=8)
        for horizon in HORIZONS:
            for name in SYMMETRIES:
                figures = []
                for length in LENGTHS:
                    new = data.observations[length : length + horizon]
                    history = (data.observations[:length], data.states[:length])
                    figures += _measured(name, history, new)
                made.add_row(
                    name,
                    str(states),
                    str(horizon),
                    str(states**horizon),
                    *map(span, figures),
                    times(figures[3] / figures[1]),
                )
        made.add_section()
    show(
        console,
        made,
        "The first prediction after a fit works out what later ones with the same history keep.",
    )


def _measured(name: str, history: tuple[object, object], new: object) -> list[float]:
    model = ConformalHMM(symmetry=name, random_state=0)
    model.fit(*history).predict_set(new)  # compiles
    first = best(lambda: model.predict_set(new), 3, before=lambda: model.fit(*history))
    return [first, best(lambda: model.predict_set(new), 7)]
