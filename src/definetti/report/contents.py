"""All that a report says, as plain numbers and words: what the page shows, and tests compare."""

from __future__ import annotations

import copy
import warnings
from itertools import islice
from typing import Any

import numpy as np

from definetti.arrays import FloatArray
from definetti.candidates import is_long
from definetti.checks import FewBlocksWarning
from definetti.report.levels import entries_of_nodes, entry, levels_around, shown
from definetti.report.observed import emission_tables, seen_text
from definetti.report.rolled import Rolled, rolled
from definetti.report.wording import ASSUMED, percent, promise
from definetti.sequence import Alphabet, checked_states, piece
from definetti.sets import PredictionSet
from definetti.summary import judged_by, names_of, share, summary

LISTED = 100  # sequences shown at most
DRAWN = 300  # steps of the backtest in its picture
POINTS = 60  # of the line of coverage so far
ENOUGH = 20  # windows that a backtest should have, if need be shorter ones


def contents_of(
    predictor: Any,
    observations: Any,
    states: Any,
    new_observations: Any,
    horizon: int | None,
    start: float,
    windows: int,
) -> dict[str, Any]:
    """Predict, backtest and describe; see `definetti.report.make_report`."""
    labels = checked_states(states)
    given = copy.deepcopy(predictor)
    if given.states is None:
        # So that a state that comes up late can be predicted from the beginning on.
        given.states = list(dict.fromkeys(labels))
    given.fit(observations, labels)
    levels = levels_around(given.confidence_level, given.guarantee)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", UserWarning)
        asked = _asked(given, new_observations, horizon)
    notes = list(dict.fromkeys(str(one.message) for one in heard))
    for one in heard:
        warnings.warn(one.message, stacklevel=3)
    with warnings.catch_warnings():
        # Said once, of the level that was asked for.
        warnings.simplefilter("ignore", FewBlocksWarning)
        new = None if asked is None else _new(given, asked, new_observations, horizon, levels)
        steps = new["steps"] if new else 1
        test = _backtest(given, observations, labels, steps, levels, start, windows)
    return {
        "notes": notes,
        "levels": levels,
        "percent": [percent(level) for level in levels],
        "asked": levels.index(float(given.confidence_level)),
        "promise": [
            promise(level, steps, given.guarantee, given.max_errors, given.symmetry_.exact)
            for level in levels
        ],
        "assumed": ASSUMED if given.symmetry_.exact else "",
        "exact": given.symmetry_.exact,
        "guarantee": given.guarantee,
        "used": {
            "model used": repr(given.model_),
            "symmetry used": type(given.symmetry_).__name__.lower(),
        },
        "states": names_of(given.states_),
        "labelled": len(labels),
        "new": new,
        "backtest": test,
        "model": _model(given, observations, labels),
    }


def _asked(cp: Any, observations: Any, horizon: int | None) -> Any:
    """Return the set that was asked for, if there was one."""
    if observations is None and horizon is None:
        return None
    return cp.predict_set(observations, horizon=horizon)


def _new(
    cp: Any, asked: Any, observations: Any, horizon: int | None, levels: list[float]
) -> dict[str, Any]:
    """Return the sets for new observations, at all levels."""
    found: dict[str, Any] = {
        "steps": asked.horizon,
        "seen": seen_text(observations, asked.horizon),
        "method": asked.method,
        "sequences": [],
        "counts": None,
    }
    if cp.guarantee != "all":
        sets = [cp.predict_set(observations, level, horizon=horizon) for level in levels]
        first, p_values, best = entries_of_nodes(sets), asked.marginals, asked.best
    else:
        every = cp.predict_p(observations, horizon=horizon)
        first, p_values, best = entry(every.step_p_values, levels), every.step_p_values, every.best
        found["sequences"] = _sequences(every, levels)
        if isinstance(every, PredictionSet):
            number = np.bincount(entry(every.p_values, levels), minlength=len(levels) + 1)
            found["counts"] = number[:-1].cumsum().tolist()
    found["first"], found["p_values"] = first.tolist(), shown(p_values)
    found["best"] = [cp.states_.index(label) for label in best]
    return found


def _sequences(every: Any, levels: list[float]) -> list[dict[str, Any]]:
    """Return the most plausible sequences with their p-values, and the level they are in from."""
    codes = {label: code for code, label in enumerate(every.states)}
    first = list(islice(every, LISTED))
    p_values = [every.p_value(sequence) for sequence in first]
    return [
        {"codes": [codes[label] for label in sequence], "p": p, "first": int(place)}
        for sequence, p, place in zip(first, p_values, entry(p_values, levels), strict=True)
    ]


def _backtest(
    given: Any, observations: Any, labels: list[Any], steps: int, levels: list[float],
    start: float, windows: int,
) -> dict[str, Any] | None:  # fmt: skip
    """Return how sets would have fared on the labelled rows, and those of the classical way."""
    from definetti.baselines import Classical

    length = len(labels)
    rest = length - max(int(start * length), 1)
    horizon = max(1, min(steps, rest // ENOUGH))
    begin = max(length - rest, length - windows * horizon)
    if begin + horizon > length:
        return None
    past = None if observations is None else piece(observations, 0, begin)
    after = None if observations is None else piece(observations, begin, length)
    ours = copy.deepcopy(given).fit(past, labels[:begin])
    runs = {"definetti": rolled(ours, after, labels[begin:], horizon, levels, given.verbose)}
    if given.guarantee == "all" and not is_long(len(given.states_), horizon, 20_000):
        other = Classical(
            confidence_level=given.confidence_level, states=given.states_, random_state=0
        )
        other.fit(past, labels[:begin])
        runs["classical"] = rolled(other, after, labels[begin:], horizon, levels, given.verbose)
    return {
        "horizon": horizon,
        "first_row": begin + 1,
        "windows": len(runs["definetti"].covers),
        "methods": {
            name: [
                _numbers(run, place, given.guarantee, name == "definetti")
                for place in range(len(levels))
            ]
            for name, run in runs.items()
        },
        **_drawn(runs["definetti"]),
    }


def _numbers(run: Rolled, place: int, guarantee: str, running: bool) -> dict[str, Any]:
    """Return what a level's sets amounted to."""
    found = run.evaluation(place)
    numbers = summary(found, run.horizon, guarantee)
    numbers["mean_size"] = None if np.isnan(found.size) else found.size
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
    number = min(steps, max(DRAWN // run.horizon, 1) * run.horizon)
    p_values: FloatArray | None = run.p_values
    return {
        "steps": steps,
        "drawn": {
            "begin": steps - number,
            "truth": run.truth[steps - number :].tolist(),
            "first": run.first[steps - number :].tolist(),
            "p_values": None if p_values is None else shown(p_values[steps - number :]),
        },
    }


def _model(cp: Any, observations: Any, labels: list[Any]) -> dict[str, Any]:
    """Return what the labelled rows say of transitions and of observations."""
    from definetti.hmm.model import probabilities

    n = len(cp.states_)
    codes = Alphabet(cp.states_).encode(labels, "states")
    counts = np.zeros((n, n))
    np.add.at(counts, (codes[:-1], codes[1:]), 1)
    prior = float(getattr(cp.model_, "prior", 0.0))
    return {
        "counts": counts.astype(int).tolist(),
        "transition": probabilities(counts, prior).tolist(),
        "prior": prior,
        "emissions": emission_tables(observations, codes, n),
    }
