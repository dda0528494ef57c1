"""How large the sets are: every symmetry beside one who knows the model."""

from __future__ import annotations

import warnings

import numpy as np
from rich.console import Console

from benchmarks.tables import make_table, show_table
from definetti import HMM, ConformalHMM
from definetti.evaluation.intervals import exact_interval
from definetti.exceptions import NotExactWarning
from definetti.simulate import sample
from definetti.verify import oracle_size

LENGTH, HORIZON, LEVEL, REPETITIONS = 200, 3, 0.8, 300
P, B = 0.1, 0.75
METHODS = {
    "published program, filter": ("published", "filter", 0.0, False),
    "pairs, filter": ("pairs", "filter", 0.0, False),
    "returns, filter": ("returns", "filter", 0.5, False),
    "returns, path": ("returns", "path", 0.5, False),
    "full, filter": ("full", "filter", 0.5, False),
    "full, path": ("full", "path", 0.5, False),
    "full, path, smoothed": ("full", "path", 0.5, True),
}


def run(console: Console) -> None:
    transition = np.array([[P, 1 - P], [1 - P, P]])
    emission = np.array([[B, 1 - B], [1 - B, B]])
    start = np.array([0.5, 0.5])
    oracle = oracle_size(start, transition, emission, HORIZON, LEVEL)
    made = make_table(
        f"Sets at level {LEVEL}: p = {P}, b = {B}, T = {LENGTH}, horizon {HORIZON}",
        "symmetry, score", "coverage", "95 % interval", "scaled size", "size / oracle",
    )  # fmt: skip
    for name, (symmetry, score, prior, smoothing) in METHODS.items():
        rows = []
        for k in range(REPETITIONS):
            rng = np.random.default_rng(k)  # the same histories for every method
            y, x = sample(start, transition, emission, LENGTH + HORIZON, rng)
            cp = ConformalHMM(
                HMM(prior), score, symmetry, LEVEL, smoothing, random_state=rng, states=[0, 1],
                allow_empty=True,  # as small as they can be at the level
            )  # fmt: skip
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NotExactWarning)
                s = cp.fit(y[:LENGTH], x[:LENGTH]).predict_set(y[LENGTH:])
            rows.append((x[LENGTH:].tolist() in s, s.scaled_size))
        covered, size = np.mean(rows, axis=0)
        low, high = exact_interval(int(covered * REPETITIONS + 0.5), REPETITIONS)
        made.add_row(
            name, f"{covered:.3f}", f"[{low:.3f}, {high:.3f}]", f"{size:.3f}",
            f"{size / oracle:.2f}",
        )  # fmt: skip
    made.add_row("oracle, knows the model", f"{LEVEL:.3f}", "", f"{oracle:.3f}", "1.00")
    show_table(console, made, f"{REPETITIONS} repetitions; no valid method is smaller on average.")
