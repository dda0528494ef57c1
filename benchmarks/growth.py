"""How the cost of a fit, a prediction, a backtest window and a monitor step grows with the history.

All but the fit are flat: a prediction compares with the latest windows of each state only.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.models import draw_sample, random_model
from benchmarks.tables import format_ratio, format_seconds, make_table, show_table
from benchmarks.timing import time_best, time_once
from definetti import ConformalHMM, Monitor

STATES, SYMBOLS = 5, 5
LENGTHS = (1_000, 10_000, 100_000, 1_000_000)
WINDOWS = {"symbols": 1_000, "a number": 50}  # of a backtest, and steps of a monitor
ROUNDS = 5


def run(console: Console, lengths: tuple[int, ...] = LENGTHS) -> None:
    made = make_table(
        f"Growth with T, {STATES} states, the default estimator, one step ahead",
        "observed",
        "T",
        *(
            word
            for name in ("fit", "prediction", "backtest window", "monitor step")
            for word in (name, "growth")
        ),
    )
    for kind, steps in WINDOWS.items():
        before: list[float] = []
        for length in lengths:
            figures = _measure(*make_rows(kind, length + steps), length)
            growth = [format_ratio(now / then) for now, then in zip(figures, before, strict=False)]
            growth = growth or [""] * len(figures)
            pairs = zip(map(format_seconds, figures), growth, strict=True)
            made.add_row(kind, f"{length:,}", *(cell for pair in pairs for cell in pair))
            before = figures
        made.add_section()
    show_table(
        console,
        made,
        "Growth is the ratio to the row above, whose history is a tenth as long: 1 is flat.",
        "A prediction is the best of some on a fitted estimator; of a backtest, and of a monitor, "
        f"the mean over {' or '.join(f'{n:,} ({kind})' for kind, n in WINDOWS.items())} steps.",
    )


def make_rows(kind: str, length: int) -> tuple[Any, list[int]]:
    """Return observations of a kind, and states."""
    data = draw_sample(random_model(STATES, SYMBOLS, seed=5), length, seed=6)
    if kind == "symbols":
        return data.observations.tolist(), data.states.tolist()
    numbers = np.random.default_rng(7).normal(size=length) + data.states
    return numbers, data.states.tolist()


def _measure(observations: Any, states: list[int], length: int) -> list[float]:
    """Return the seconds of a fit, a prediction, a backtest window and a monitor step."""
    past, rest = observations[:length], observations[length:]
    known, truth = states[:length], states[length:]
    cp = ConformalHMM(random_state=0)
    fitting = time_best(lambda: cp.fit(past, known), max(1, min(ROUNDS, 10**6 // length)))
    cp.predict_set(rest[:1])  # compiles
    predicting = time_best(lambda: cp.predict_set(rest[:1]), ROUNDS)

    def follow(begin: int, end: int) -> None:
        for observation, state in zip(rest[begin:end], truth[begin:end], strict=True):
            monitor.observe(observation)
            monitor.label(state)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a false alarm now and then is promised
        cp.evaluate(rest[:2], truth[:2], horizon=1)
        first = time_best(lambda: cp.evaluate(rest[:2], truth[:2], horizon=1), 2)
        every = time_best(lambda: cp.evaluate(rest, truth, horizon=1), 2)
        # What a monitor takes in when it is made grows with T, and is not part of a step.
        monitor = Monitor(copy.deepcopy(cp), random_state=0)
        follow(0, 2)
        whole = time_once(lambda: follow(2, len(truth)))
    steps = len(truth) - 2
    return [fitting, predicting, (every - first) / steps, whole / steps]
