"""Rolling one-step predictions: what a step costs, and whether it grows with what came before."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt
from rich.console import Console

from benchmarks import many, online
from benchmarks.models import draw_states, random_model
from benchmarks.tables import format_ratio, format_seconds, make_table, show_table
from definetti import HMM, ConformalHMM
from definetti.emissions import Gaussian

STATES, FEATURES = 5, 10
SHORT, LONG = 5_000, 50_000
STEPS, LONG_STEPS, STRETCH = 300, 60, 60
SIDES = {"refitted, spaced": None, "fixed on the first half, spaced": 0.5}

Data = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


def run(console: Console) -> None:
    data = _draw_features(LONG + LONG_STEPS, seed=11)
    made = make_table(
        f"{STEPS:,} rolling one-step predictions, {STATES} states, {FEATURES} features, "
        "predict_set + partial_fit",
        "model",
        f"all, from T = {SHORT:,}",
        f"first {STRETCH}, each",
        f"last {STRETCH}, each",
        "growth",
        f"from T = {LONG:,}, each",
        f"growth, T × {LONG // SHORT}",
    )
    for name, train_size in SIDES.items():
        short = _time_steps(data, SHORT, STEPS, train_size)
        long = _time_steps(data, LONG, LONG_STEPS, train_size)
        # Medians: a pause of the machine is not the cost of a step.
        first, last = np.median(short[:STRETCH]), np.median(short[-STRETCH:])
        far = np.median(long)
        made.add_row(
            name,
            format_seconds(float(short.sum())),
            format_seconds(float(first)),
            format_seconds(float(last)),
            format_ratio(float(last / first)),
            format_seconds(float(far)),
            format_ratio(float(far / first)),
        )
    show_table(console, made, "Each is the median of its segment. Growth of 1× is no growth.")
    many.run(console)
    online.run(console)


def _time_steps(
    data: Data, length: int, steps: int, train_size: float | None
) -> npt.NDArray[np.float64]:
    """Time each of so many steps after a history of some length, in seconds."""
    y, x = data
    model = ConformalHMM(
        HMM(emission=Gaussian()), symmetry="spaced", train_size=train_size, random_state=0
    )
    model.fit(y[:length], x[:length]).predict_set(y[length : length + 1])  # compiles
    spent = np.empty(steps)
    for k in range(steps):
        now = slice(length + k, length + k + 1)
        begin = time.process_time()
        model.predict_set(y[now])
        model.partial_fit(y[now], x[now])
        spent[k] = time.process_time() - begin
    return spent


def _draw_features(length: int, seed: int) -> Data:
    """Draw a chain whose states are a few standard deviations apart."""
    rng = np.random.default_rng(seed)
    transition, _ = random_model(STATES, 1, seed)
    states = draw_states(transition, length, rng)
    means = rng.normal(size=(STATES, FEATURES))
    return means[states] + rng.normal(size=(length, FEATURES)), states
