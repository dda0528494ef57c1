"""The check of a score."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from definetti.conformal import ConformalHMM
from definetti.data.history import Completion, History, Windows
from definetti.emissions import Categorical
from definetti.engine.task import evaluate
from definetti.models import HMM
from definetti.scores import Score
from definetti.testing.uniform import (
    STATES,
    check_object,
    check_rolling,
    check_uniform,
    make_predictor,
    same,
)
from definetti.testing.ways import check_at_once, check_lattice


def check_score(score: Score) -> None:
    """Check that a score is a function of the model and of each window alone.

    Parameters
    ----------
    score : an object that derives from `definetti.scores.Score`

    Examples
    --------
    >>> from definetti.scores import Joint
    >>> check_score(Joint(order=2))
    """
    check_object(score, Score)
    found = []
    for states, symbols in product([STATES, STATES[::-1]], [("a", "b"), ("b", "a")]):
        estimate, windows = _windows(states, symbols)
        values = evaluate(score, estimate, windows)
        parts = [Windows(*(part[[k]] for part in windows)) for k in range(len(values))]
        alone = [evaluate(score, estimate, one)[0] for one in parts]
        assert same(values, alone), (
            "a window's score depends on the windows that are scored with it, or on those before; "
            "score each by itself, and keep nothing between calls"
        )
        found.append(values)
    assert all(same(found[0], one) for one in found[1:]), (
        "the score computes with codes as if they were numbers: other codes for the same states "
        "or symbols give other scores; use codes only to look things up"
    )
    for horizon in (1, 2):
        check_uniform(make_predictor(HMM(), score, "returns"), 3, horizon, "the score")
    check_rolling(ConformalHMM(HMM(), score, train_size=20, random_state=0), "score")
    for symmetry in ("spaced", "departures"):
        fixed = ConformalHMM(
            HMM(), score, symmetry, train_size=20, allow_empty=True, random_state=0
        )
        check_at_once(fixed, "the score")
        check_lattice(fixed, "the score")


def _windows(states: tuple[str, ...], symbols: tuple[str, ...]) -> tuple[Any, Windows]:
    """Return an estimate and windows: the same whatever the codes of states and symbols."""
    emission = Categorical()
    table, _ = emission.encode(symbols, None, "observations")
    past = [states.index(one) for one in ("calm", "calm", "busy", "calm", "busy", "busy")]
    _, seen = emission.encode(["a", "b", "b", "a", "b", "b"], table, "observations")
    history = History(2)
    history.append(np.array(past), seen)
    statistics = emission.statistics(table, seen, np.array(past), 2)
    completion = Completion(history, np.array([states.index("calm")]), seen[:1], 2)
    estimate = HMM().estimate(completion, table, statistics, states)
    rows = list(product(("calm", "busy"), repeat=3))
    codes = np.array([[states.index(one) for one in row] for row in rows])
    shown = [one for row in product("ab", "ab", "ab") for one in row[1:]]
    observed = emission.encode(shown, table, "observations")[1].reshape(-1, 2)
    return estimate, Windows(codes[:, 0], codes[:, 1:], observed)
