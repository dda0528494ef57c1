"""How sets like those that were asked for have fared on the labelled rows."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from definetti.data.candidates import PER_WINDOW, is_long
from definetti.data.labels import piece
from definetti.judging.summary import judged_by, share, summary
from definetti.report.levels import shown
from definetti.report.rolled import Rolled, rolled

DRAWN = 300  # steps of the backtest in its picture
POINTS = 60  # of the line of coverage so far
ENOUGH = 20  # windows that a backtest should have, if need be shorter ones


def backtest_part(
    cp: Any,
    observations: Any,
    labels: list[Any],
    steps: int,
    seen: int,
    levels: list[float],
    start: float,
    windows: int,
) -> tuple[dict[str, Any] | None, list[str]]:
    """Predict windows of the labelled rows in the way that was asked for.

    Parameters
    ----------
    cp : the estimator, fitted on all rows; copies of it are fitted again
    steps, seen : how many steps were asked about, and how many of them are observed

    Returns
    -------
    the outcome, None where there can be none; and notes
    """
    length = len(labels)
    rest = length - max(int(start * length), 1)
    fewest = cp.max_errors + 1 if cp.guarantee == "errors" else 1
    horizon = min(steps, max(rest // ENOUGH, fewest))
    begin = max(length - rest, length - windows * horizon)
    if begin + horizon > length or horizon < fewest:
        return None, ["there is no backtest, since there are too few labelled rows for one"]
    past = None if observations is None else piece(observations, 0, begin)
    after = None if observations is None else piece(observations, begin, length)
    known = min(seen, horizon)
    ours = copy.deepcopy(cp)
    # So that a state that comes up late can be predicted from the beginning on.
    ours.states = list(cp.states_)
    runs, notes = {}, []
    for name, way in {"definetti": ours, "classical": _classical(cp, horizon)}.items():
        if way is None:
            continue
        try:
            way.fit(past, labels[:begin])
            runs[name] = rolled(way, after, labels[begin:], horizon, known, levels, cp.verbose)
        except ValueError as error:
            why = (
                str(error) if name == "definetti" else "too few rows for it before the first window"
            )
            notes.append(f"there is no backtest of {name}: {why}")
    if "definetti" not in runs:
        return None, notes
    found = {
        "horizon": horizon,
        "steps_asked": steps,
        "observed": known,
        "first_row": begin + 1,
        "windows": len(runs["definetti"].covers),
        "late_states": bool(set(labels) - set(labels[:begin])) and cp.states is None,
        "methods": {
            name: [_numbers(run, k, cp.guarantee, name == "definetti") for k in range(len(levels))]
            for name, run in runs.items()
        },
        **_drawn(runs["definetti"]),
    }
    return found, notes


def _classical(cp: Any, horizon: int) -> Any:
    """Return the classical way beside ours, where it promises the same and is feasible."""
    from definetti.baselines import Classical

    if cp.guarantee != "all" or is_long(len(cp.states_), horizon, PER_WINDOW):
        return None
    return Classical(confidence_level=cp.confidence_level, states=list(cp.states_), random_state=0)


def _numbers(run: Rolled, place: int, guarantee: str, running: bool) -> dict[str, Any]:
    """Return what a level's sets amounted to."""
    found = run.evaluation(place)
    numbers = summary(found, run.horizon, guarantee)
    listed = guarantee == "all" and not np.isnan(found.size)
    numbers["mean_size"] = found.size if listed else None
    widths = np.bincount(found.nodes.sum(axis=1), minlength=len(run.states) + 1)
    numbers["widths"] = (widths / len(found.nodes)).tolist()
    if running:
        numbers["running"] = _running(judged_by(found, guarantee))
    return numbers


def _running(covered: Any) -> dict[str, list[Any]]:
    """Return the share covered so far, with its interval, at some of the windows."""
    number = len(covered)
    places = np.unique(np.linspace(1, number, min(number, POINTS)).astype(int)).tolist()
    shares = [share(covered[:place]) for place in places]
    return {
        "window": places,
        **{key: [one[key] for one in shares] for key in ("coverage", "low", "high")},
    }


def _drawn(run: Rolled) -> dict[str, Any]:
    """Return the last steps, for a picture of them."""
    steps = len(run.truth)
    begin = steps - min(steps, max(DRAWN // run.horizon, 1) * run.horizon)
    return {
        "steps": steps,
        "drawn": {
            "begin": begin,
            "truth": run.truth[begin:].tolist(),
            "first": run.first[begin:].tolist(),
            "p_values": None if run.p_values is None else shown(run.p_values[begin:]),
        },
    }
