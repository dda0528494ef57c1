"""One step ahead: a table of counts against class-conditional p-values from crepes."""

from __future__ import annotations

import numpy as np
from crepes import ConformalClassifier
from rich.console import Console

from benchmarks.models import draw_sample, random_model
from benchmarks.tables import format_goal, format_ratio, format_seconds, make_table, show_table
from benchmarks.timing import race
from definetti._system.arrays import FloatArray, IntArray
from definetti.engine.pvalues import ranks

STATES, SYMBOLS, LABELLED, NEW = 10, 10, 10_000, 1_000
GOAL, ROUNDS = 50, 10


def run(console: Console) -> None:
    data = draw_sample(random_model(STATES, SYMBOLS, seed=3), LABELLED + NEW, seed=4)
    past, symbols = data.states[:LABELLED], data.observations[:LABELLED]
    previous, new = data.states[LABELLED - 1 : -1], data.observations[LABELLED:]
    scores = _score_cells(_count_steps(past, symbols))
    calibration = scores[past[:-1], past[1:], symbols[1:]]
    candidates = scores[previous, :, new]  # (NEW, STATES): each new step, each state

    def ours() -> FloatArray:
        counts = _count_steps(past, symbols)
        table = np.empty(counts.shape)
        for i in range(STATES):
            seen = counts[:, i] > 0
            found = ranks(scores[:, i][seen], counts[:, i][seen], scores[:, i].ravel(), True)
            table[:, i] = np.reshape([one.p_value() for one in found], (STATES, SYMBOLS))
        return table[previous, :, new]

    def theirs() -> FloatArray:
        classifier = ConformalClassifier().fit(calibration, bins=past[1:])
        columns = [
            classifier.predict_p(candidates[:, i], bins=np.full(NEW, i), smoothing=False)
            for i in range(STATES)
        ]
        return np.stack(columns, axis=1)

    np.testing.assert_allclose(ours(), theirs(), rtol=0, atol=1e-12)

    mine, others = race(ours, theirs, rounds=ROUNDS)
    ratio = others / mine
    made = make_table(
        f"One step ahead, {LABELLED:,} labelled steps",
        "p-values",
        "definetti",
        "crepes",
        "ratio",
        "goal",
    )
    cells = f"{NEW:,} steps × {STATES} states"
    made.add_row(
        cells,
        format_seconds(mine),
        format_seconds(others),
        format_ratio(ratio),
        format_goal(ratio, GOAL),
    )
    show_table(
        console,
        made,
        "Ours: count the labelled steps, rank every cell of the table, look the new steps up.",
        "crepes: fit and predict_p with a bin for each state, not smoothed, given the scores. "
        "Each state's",
        "candidates are asked for by themselves; its class_cond=True asks for all in every bin, "
        "10 times as many.",
        "P-values agree to 1e-12.",
    )


def _count_steps(states: IntArray, symbols: IntArray) -> IntArray:
    """Count the labelled steps: previous state, state, symbol.

    All of them, as crepes does; exactness asks for leaving out the first into each state.
    """
    cells = (states[:-1] * STATES + states[1:]) * SYMBOLS + symbols[1:]
    return np.bincount(cells, minlength=STATES**2 * SYMBOLS).reshape(STATES, STATES, SYMBOLS)


def _score_cells(counts: IntArray) -> FloatArray:
    """One minus the posterior of each state, given the one before and the symbol; then fixed."""
    transition = counts.sum(axis=2) + 0.5
    emission = counts.sum(axis=0) + 0.5
    transition /= transition.sum(axis=1, keepdims=True)
    emission /= emission.sum(axis=1, keepdims=True)
    joint = transition[:, :, None] * emission[None]
    return np.asarray(1.0 - joint / joint.sum(axis=1, keepdims=True))
