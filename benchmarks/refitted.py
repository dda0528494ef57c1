"""Candidates refitted together, beside one after the other: the same ranks, in less time."""

from __future__ import annotations

from functools import partial
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from rich.console import Console

from benchmarks.models import draw_states
from benchmarks.tables import format_goal, format_ratio, format_seconds, make_table, show_table
from benchmarks.timing import race, time_once
from definetti import HMM, ConformalHMM
from definetti._system.arrays import IntArray
from definetti.emissions import Gaussian
from definetti.engine.algorithm import Ranked, rank_general
from definetti.engine.task import PredictionTask, all_candidates

ROUNDS, COLUMNS, LEAST = 3, 12, 20.0
LENGTH, WINDOWS, STEPS, FEW = 5_000, 1_600, 3, 20
BACKTESTS = ((2, 6), (5, 15))  # states, and the seconds that all windows may take
# Kind of observations, states, steps, labelled steps, symmetry, and whether a goal was set.
SETTINGS = (
    ("switches", 11, 3, 2_000, "spaced", True),
    ("switches", 11, 3, 20_000, "spaced", True),
    ("switches", 11, 3, 2_000, "departures", False),
    ("switches", 17, 2, 2_000, "spaced", False),
    ("symbols", 11, 3, 2_000, "spaced", False),
    ("numbers", 11, 3, 2_000, "spaced", False),
    ("symbols", 5, 3, 2_000, "full", False),
)


def run(console: Console) -> None:
    made = make_table(
        "All candidates ranked, the model refitted for each, path score",
        "observations",
        "states",
        "steps",
        "candidates",
        "T",
        "symmetry",
        "one by one",
        "together",
        "ratio",
        "goal",
    )
    for kind, states, steps, length, symmetry, hoped in SETTINGS:
        task = _ask(kind, states, steps, length, symmetry)
        candidates = all_candidates(states, steps)
        found = _rank_one_by_one(task, candidates), rank_general(task, candidates)
        assert found[0].ranks() == found[1].ranks()
        assert np.array_equal(found[0].scores, found[1].scores)
        slow, quick = race(
            lambda q=task, c=candidates: _rank_one_by_one(q, c),  # type: ignore[misc]
            lambda q=task, c=candidates: rank_general(q, c),  # type: ignore[misc]
            rounds=ROUNDS,
        )
        made.add_row(
            f"{COLUMNS} switches" if kind == "switches" else kind,
            str(states),
            str(steps),
            f"{len(candidates):,}",
            f"{length:,}",
            symmetry,
            format_seconds(slow),
            format_seconds(quick),
            format_ratio(slow / quick),
            format_goal(slow / quick, LEAST) if hoped else "",
        )
    show_table(
        console,
        made,
        f"Best of {ROUNDS}. Both sides have the same ranks, and the same scores to the last bit.",
    )
    _run_backtests(console)


def _run_backtests(console: Console) -> None:
    """Time backtests of a refitted Gaussian, as many windows as there is a goal for."""
    made = make_table(
        f"{WINDOWS:,} windows of {STEPS} steps evaluated, T = {LENGTH:,} to "
        f"{LENGTH + STEPS * WINDOWS:,}, five numeric columns, refitted Gaussian, spaced",
        "states",
        "candidates",
        "one by one, each",
        "together, each",
        f"together, {WINDOWS:,}",
        "ratio",
        "goal",
    )
    for states, most in BACKTESTS:
        y, x = _draw("numbers", states, LENGTH + STEPS * WINDOWS, seed=3, columns=5)
        model = ConformalHMM(HMM(emission=Gaussian()), states=range(states), random_state=0)
        model.fit(y[:LENGTH], x[:LENGTH])
        begin, end = LENGTH, LENGTH + STEPS * FEW
        few = partial(model.evaluate, y[begin:end], x[begin:end], horizon=STEPS)
        with patch("definetti.engine.task.estimate_candidates", lambda *_: None):
            few()
            slow = time_once(few)
        few()
        spent = time_once(partial(model.evaluate, y[begin:], x[begin:], horizon=STEPS))
        made.add_row(
            str(states),
            f"{states**STEPS:,}",
            format_seconds(slow / FEW),
            format_seconds(spent / WINDOWS),
            format_seconds(spent),
            format_ratio(slow / FEW * WINDOWS / spent),
            f"at most {most} s",
        )
    show_table(console, made, "Processor time; one by one on the first windows alone.")


def _rank_one_by_one(task: PredictionTask, candidates: IntArray) -> Ranked:
    """Rank candidates with estimates that are made one after the other."""
    with patch("definetti.engine.task.estimate_candidates", lambda *_: None):
        return rank_general(task, candidates)


def _ask(kind: str, states: int, steps: int, length: int, symmetry: str) -> PredictionTask:
    """Return the task about what follows a history of a chain that lasts."""
    y, x = _draw(kind, states, length + steps, seed=3)
    model = ConformalHMM(symmetry=symmetry, states=range(states), random_state=0)
    model.fit(y[:length], x[:length])
    return model._task(y[length:], None)


def _draw(
    kind: str, states: int, length: int, seed: int, columns: int = 4
) -> tuple[npt.NDArray[np.float64] | list[object], npt.NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    moves = 0.4 * rng.dirichlet(np.full(states, 0.5), states) + 0.6 * np.eye(states)
    x = draw_states(moves, length, rng)
    if kind == "switches":
        on = rng.beta(0.4, 0.4, (states, COLUMNS))
        return (rng.random((length, COLUMNS)) < on[x]).astype(float), x
    if kind == "symbols":
        heights = rng.dirichlet(np.full(8, 0.5), states).cumsum(axis=1)
        return list((heights[x] < rng.random((length, 1))).sum(axis=1).tolist()), x
    return rng.normal(size=(states, columns))[x] + rng.normal(size=(length, columns)), x
