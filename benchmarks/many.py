"""Many windows, one after the other: all in one pass beside each by itself, and beside others."""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from crepes import ConformalClassifier
from rich.console import Console
from sklearn.ensemble import RandomForestClassifier

from benchmarks.models import draw_sample, random_model
from benchmarks.tables import format_goal, format_ratio, format_seconds, make_table, show_table
from definetti import HMM, ConformalHMM
from definetti.emissions import Classifier, Gaussian
from definetti.evaluation.window_loop import roll_levels

STATES, SYMBOLS, KNOWN = 5, 5, 20_000
LENGTHS = (10_000, 100_000, 1_000_000)
ALONE = 100  # windows that are predicted one by one, to tell what each costs
SUMMED, SUMMED_ALONE = 300, 20
TREES, FOREST_WINDOWS, FOREST_ALONE, FOREST_GOAL = 200, 1_000, 20, 30
FIXED = {"train_size": 0.5, "symmetry": "spaced"}
SIDES: dict[str, tuple[bool, dict[str, Any], float | None]] = {
    "fixed, symbols": (False, FIXED, 3.0),
    "fixed, symbols, smoothed": (False, {**FIXED, "smoothing": True}, None),
    "fixed, symbols, departures": (
        False,
        {"train_size": KNOWN // 2, "symmetry": "departures"},
        None,
    ),
    "fixed, numbers": (True, FIXED, None),
    "refitted, symbols": (False, {}, 30.0),
}


def run(console: Console) -> None:
    warnings.simplefilter("ignore")
    _race_lengths(console)
    _race_sums(console)
    _race_others(console)
    _race_forest(console)


def _race_lengths(console: Console) -> None:
    symbols, numbers, states = draw_windows(max(LENGTHS) + KNOWN)
    made = make_table(
        f"One-step windows after {KNOWN:,} steps, {STATES} states, evaluate(horizon=1)",
        "model",
        *(f"{length:,}" for length in LENGTHS),
        "goal",
        "growth, × 10",
        "one by one, each",
        "ratio",
    )
    for name, (real, how, goal) in SIDES.items():
        seen = numbers if real else symbols
        cp = ConformalHMM(random_state=0, **how).fit(seen[:KNOWN], states[:KNOWN])
        cp.evaluate(seen[KNOWN:][:100], states[KNOWN:][:100], horizon=1)  # compiles
        spent = []
        for length in LENGTHS:
            part = slice(KNOWN, KNOWN + length)
            spent.append(timed(cp.evaluate, seen[part], states[part], horizon=1))
        few = seen[KNOWN:][:ALONE], states[KNOWN:][:ALONE].tolist()
        roll_levels(cp, few[0][:5], few[1][:5], [None], 1, at_once=False)
        alone = timed(roll_levels, cp, *few, [None], 1, at_once=False) / ALONE
        made.add_row(
            name,
            *map(format_seconds, spent),
            "" if goal is None else f"≤ {goal:.0f} s {'✓' if spent[-1] <= goal else '✗'}",
            format_ratio(spent[-1] / spent[-2]),
            format_seconds(alone),
            format_ratio(alone * max(LENGTHS) / spent[-1]),
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    show_table(
        console,
        made,
        "Seconds of the processor, one thread. Growth of 10× is linear.",
        f"The largest memory of the process so far, data included: {peak:,.0f} MiB.",
    )


def _race_sums(console: Console) -> None:
    """A refitted law of numbers: every score of the past changes with each label."""
    made = make_table(
        f"{SUMMED:,} one-step windows, {STATES} states, Gaussian refitted, evaluate(horizon=1)",
        "columns",
        "after T",
        "each, in blocks",
        f"each, one by one ({SUMMED_ALONE})",
        "ratio",
    )
    for columns, known in ((1, 300), (1, 3_000), (10, 300), (10, 3_000)):
        _, numbers, states = draw_windows(known + SUMMED)
        noise = np.random.default_rng(6).normal(size=(len(numbers), columns))
        rows, labels = numbers[:, None] + noise, states.tolist()
        cp = ConformalHMM(HMM(emission=Gaussian()), random_state=0).fit(
            rows[:known], labels[:known]
        )
        few = rows[known:][:SUMMED_ALONE], labels[known:][:SUMMED_ALONE]
        cp.evaluate(*few, horizon=1)  # compiles
        ours = timed(cp.evaluate, rows[known:], labels[known:], horizon=1) / SUMMED
        alone = timed(roll_levels, cp, *few, [None], 1, at_once=False) / SUMMED_ALONE
        made.add_row(
            str(columns),
            f"{known:,}",
            format_seconds(ours),
            format_seconds(alone),
            format_ratio(alone / ours),
        )
    show_table(console, made, "The same p-values to the last bit.")


def _race_others(console: Console) -> None:
    """Others on the same windows: theirs promise nothing for a chain."""
    length = 100_000
    symbols, _, states = draw_windows(KNOWN + length)
    cp = ConformalHMM(**FIXED, random_state=0).fit(symbols[:KNOWN], states[:KNOWN])
    part = slice(KNOWN, KNOWN + length)
    ours = timed(cp.evaluate, symbols[part], states[part], horizon=1)
    law = np.full((STATES, STATES, SYMBOLS), 0.5)
    np.add.at(law, (states[: KNOWN - 1], states[1:KNOWN], symbols[1:KNOWN]), 1)
    scores = -np.log(law / law.sum(axis=1, keepdims=True))
    half = KNOWN // 2

    def crepes() -> None:
        past = scores[states[half : KNOWN - 1], states[half + 1 : KNOWN], symbols[half + 1 : KNOWN]]
        made = ConformalClassifier().fit(past, bins=states[half + 1 : KNOWN])
        before, new = states[KNOWN - 1 : KNOWN + length - 1], symbols[part]
        for state in range(STATES):
            bins = np.full(length, state)
            made.predict_p(scores[before, state, new], bins=bins, smoothing=False)

    made = make_table(
        f"{length:,} one-step windows, all p-values of {STATES} states", "method", "time", "ratio"
    )
    made.add_row("definetti, the past growing", format_seconds(ours), "")
    crepes()
    other = timed(crepes)
    made.add_row("crepes, calibrated once", format_seconds(other), format_ratio(other / ours))
    show_table(console, made)


def _race_forest(console: Console) -> None:
    _, numbers, states = draw_windows(2_000 + FOREST_WINDOWS)
    rows = numbers[:, None] + np.random.default_rng(1).normal(size=(len(numbers), 10))
    forest = RandomForestClassifier(TREES, random_state=0, n_jobs=1)
    cp = ConformalHMM(HMM(emission=Classifier(forest)), **FIXED, random_state=0)
    cp.fit(rows[:2_000], states[:2_000])
    seen, labels = rows[2_000:], states[2_000:].tolist()
    ours = timed(cp.evaluate, seen, labels, horizon=1) / FOREST_WINDOWS
    few = seen[:FOREST_ALONE], labels[:FOREST_ALONE]
    alone = timed(roll_levels, cp, *few, [None], 1, at_once=False) / FOREST_ALONE
    made = make_table(
        f"A forest of {TREES} trees behind the score, {FOREST_WINDOWS:,} one-step windows",
        "each window",
        "at once",
        "one by one",
        "ratio",
        "goal",
    )
    ratio = alone / ours
    made.add_row(
        "", format_seconds(ours), format_seconds(alone), format_ratio(ratio),
        format_goal(ratio, FOREST_GOAL),
    )  # fmt: skip
    show_table(console, made, f"One by one: {FOREST_ALONE} windows.")


def timed(task: Callable[..., object], *arguments: Any, **more: Any) -> float:
    begin = time.process_time()
    task(*arguments, **more)
    return time.process_time() - begin


def draw_windows(length: int) -> tuple[Any, Any, Any]:
    sample = draw_sample(random_model(STATES, SYMBOLS, seed=3), length, seed=4)
    noise = np.random.default_rng(5).normal(size=length)
    return sample.observations, sample.states + 0.5 * noise, sample.states
