"""What a second thread gives, by the clock on the wall: this benchmark needs two free cores."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
from rich.console import Console

from benchmarks.many import STATES, draw_windows
from benchmarks.models import draw_states, random_model
from benchmarks.tables import format_ratio, format_seconds, make_table, show_table
from definetti import HMM, ConformalHMM
from definetti._system.threads import map_threads
from definetti.emissions import Bernoulli, Gaussian

KNOWN, WINDOWS, COLUMNS = 3_000, 300, 10
MANY, SWITCHES, STEPS = 11, 12, 3
JOBS, ROUNDS = (1, 2), 5


def run(console: Console) -> None:
    warnings.simplefilter("ignore")
    made = make_table(
        "One thread and two, joblib.parallel_config(n_jobs=2): the same numbers",
        "refitted",
        "clock, one",
        "clock, two",
        "ratio",
        "processor, one",
        "processor, two",
        "cores at work",
    )
    numbers = [np.random.default_rng(k).random(2**20) for k in range(4)]
    tasks: dict[str, Callable[[], Any]] = {
        "what the machine allows: four arrays sorted": lambda: map_threads(np.sort, numbers),
        f"{WINDOWS} windows, Gaussian, {COLUMNS} columns, T = {KNOWN:,}": _make_windows(),
        f"a prediction, {MANY} states, {STEPS} steps, {SWITCHES} switches": _make_prediction(),
    }
    for name, task in tasks.items():
        found = [_answer(task, jobs) for jobs in JOBS]  # compiles
        np.testing.assert_array_equal(found[0], found[1])
        rounds = [[_clock(task, jobs) for jobs in JOBS] for _ in range(ROUNDS)]
        (one, own), (two, both) = (min(each) for each in zip(*rounds, strict=True))
        made.add_row(
            name,
            format_seconds(one),
            format_seconds(two),
            format_ratio(one / two),
            format_seconds(own),
            format_seconds(both),
            f"{both / two:.2f}",
        )
    show_table(
        console,
        made,
        f"The best of {ROUNDS}, turn by turn. The machine had a load of "
        f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores: what others take, two threads lack.",
    )


def _answer(task: Callable[[], Any], jobs: int) -> Any:
    with joblib.parallel_config(n_jobs=jobs):
        return task()


def _clock(task: Callable[[], Any], jobs: int) -> tuple[float, float]:
    """Return the time on the wall and that of all threads."""
    clock, spent = time.perf_counter(), time.process_time()
    _answer(task, jobs)
    return time.perf_counter() - clock, time.process_time() - spent


def _make_windows() -> Callable[[], Any]:
    _, numbers, states = draw_windows(KNOWN + WINDOWS)
    noise = np.random.default_rng(6).normal(size=(len(numbers), COLUMNS))
    rows, labels = numbers[:, None] + noise, states.tolist()
    cp = ConformalHMM(HMM(emission=Gaussian()), random_state=0).fit(rows[:KNOWN], labels[:KNOWN])
    assert len(cp.states_) == STATES
    return lambda: cp.evaluate(rows[KNOWN:], labels[KNOWN:], horizon=1).p_values


def _make_prediction() -> Callable[[], Any]:
    rng = np.random.default_rng(3)
    states = draw_states(random_model(MANY, 1, seed=3)[0], 20_000 + STEPS, rng)
    rows = (rng.random((MANY, SWITCHES))[states] > rng.random((len(states), SWITCHES))).astype(int)
    cp = ConformalHMM(HMM(emission=Bernoulli()), random_state=0, symmetry="spaced")
    cp.fit(rows[:-STEPS], states[:-STEPS])
    return lambda: cp.predict_p(rows[-STEPS:]).p_values
