"""The sets that were asked for, at all levels at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

import numpy as np

from definetti.engine.pvalues import entry
from definetti.evaluation.rolling import entries_of_nodes, fill_entries
from definetti.report.levels import round_for_page
from definetti.report.observed import length_of, seen_text
from definetti.sets import PredictionSet

LISTED = 100  # sequences shown at most


def predict_asked(cp: Any, observations: Any, horizon: int | None, lag: int = 0) -> Any:
    """Return the set that was asked for, if there was one."""
    if observations is None and horizon is None:
        return None
    return cp.predict_set(observations, horizon=horizon, lag=lag)


def describe_new(
    cp: Any, asked: Any, observations: Any, horizon: int | None, levels: list[Any], lag: int = 0
) -> dict[str, Any]:
    """Return the sets for new observations: from which level on is each state, each sequence in.

    Parameters
    ----------
    cp : the fitted estimator
    asked : the set at the level that was asked for
    lag : how many steps come before those that are asked about
    """
    seen = 0 if observations is None else length_of(observations)
    found: dict[str, Any] = {
        "steps": asked.horizon,
        "lag": lag,
        "observed": max(seen - lag, 0),
        "seen": seen_text(observations, lag + asked.horizon)[lag:],
        "method": asked.method,
        "sequences": [],
        "counts": None,
    }
    if cp.guarantee != "all":
        sets = [cp.predict_set(observations, level, horizon=horizon, lag=lag) for level in levels]
        first, p_values, best = entries_of_nodes(sets), asked.marginals, asked.best
        found["filled"] = [one.filled for one in sets]
    elif isinstance(levels[0], Mapping):
        every = cp.predict_p(observations, horizon=horizon, lag=lag)
        first, p_values, best = entries_of_nodes([asked]), every.step_p_values, every.best
        found["sequences"] = _sequences(every, lambda one: int(one not in asked))
        found["counts"] = [len(asked)] if isinstance(asked, PredictionSet) else None
        found["filled"] = [asked.filled]
    else:
        every = cp.predict_p(observations, horizon=horizon, lag=lag)
        first, p_values, best = entry(every.step_p_values, levels), every.step_p_values, every.best
        found["sequences"] = _sequences(every, lambda one: int(entry(every.p_value(one), levels)))
        nothing = int(entry(p_values.max(), levels))  # so many levels leave nothing plausible
        found["filled"] = [k < nothing and not cp.allow_empty for k in range(len(levels))]
        if not cp.allow_empty:  # the most plausible is in whatever the level
            first = fill_entries(first, every)
            found["sequences"][0]["first"] = 0
        if isinstance(every, PredictionSet):
            number = np.bincount(entry(every.p_values, levels), minlength=len(levels) + 1)
            counts = number[:-1].cumsum()
            found["counts"] = (counts if cp.allow_empty else counts.clip(min=1)).tolist()
    found["first"], found["p_values"] = first.tolist(), round_for_page(p_values)
    found["best"] = [cp.states_.index(label) for label in best]
    return found


def _sequences(every: Any, place_of: Callable[[Any], int]) -> list[dict[str, Any]]:
    """Return the most plausible sequences with their p-values, and the level they are in from."""
    codes = {label: code for code, label in enumerate(every.states)}
    return [
        {
            "codes": [codes[label] for label in sequence],
            "p": every.p_value(sequence),
            "first": place_of(sequence),
        }
        for sequence in islice(every, LISTED)
    ]
