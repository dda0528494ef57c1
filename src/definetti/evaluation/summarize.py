"""Summarise a rolling evaluation: overall, by last state, over time."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.checks import checked_limit, checked_number
from definetti.evaluation.advice import effective_number
from definetti.evaluation.results import Evaluation
from definetti.evaluation.verdict import mean_interval


def exact_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact binomial interval of Clopper and Pearson.

    >>> low, high = exact_interval(9, 10)
    >>> round(low, 4), round(high, 4)
    (0.555, 0.9975)
    """
    from scipy.special import betaincinv  # quantiles of the beta law; scipy.stats is slow to load

    checked_limit(successes, "successes")
    checked_number(trials, "trials")
    tail = (1 - confidence) / 2
    low = float(betaincinv(successes, trials - successes + 1, tail)) if successes else 0.0
    failures = trials - successes
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures else 1.0
    return low, high


PARTS = 4  # of the segment that is predicted, for coverage over time
interval = lru_cache(maxsize=100_000)(exact_interval)


def summary(evaluation: Evaluation, horizon: int) -> dict[str, Any]:
    """Return coverage overall, by last state and over time, sizes and the verdict, as plain values.

    Parameters
    ----------
    evaluation : what `ConformalHMM.evaluate` returns
    horizon : the steps of each of its windows

    Notes
    -----
    Coverage is that of the sets before empty ones are filled; "share_filled" is the share of sets
    that were, and "share_empty" that of sets, or of steps where these are promised, that nothing
    was in before. Sizes are those of the sets as given. "effective_windows" is how many independent
    windows these are worth, by the autocorrelation of their misses.

    Windows with a state that had not come up before are counted in "unseen", and apart from all
    else, unless there are no others. Where states have levels of their own, "promised" is the
    average over these windows, and "by_state" has the shares by the state whose level counts.

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=0)
    >>> cp = ConformalHMM(random_state=0).fit(y[:200], x[:200])
    >>> found = cp.evaluate(y[200:], x[200:], horizon=2)
    >>> numbers = summary(found, 2)
    >>> numbers["coverage"] == found.coverage, numbers["windows"], list(numbers["by_last_state"])
    (True, 50, ['sun', 'rain'])
    """
    known = np.full(len(evaluation.covered), evaluation.unseen.all()) | ~evaluation.unseen
    covered = evaluation.kept_shares[known]
    lasts = evaluation.truth.reshape(-1, horizon)[known, -1]
    names, verdict = names_of(evaluation.states), evaluation.verdict
    parts = np.array_split(np.arange(len(covered)), min(PARTS, len(covered)))
    found = {
        **share(covered),
        "effective_windows": effective_number(covered),
        "unseen": int(evaluation.unseen.sum()),
        "verdict": None if verdict is None else verdict.to_dict(),
        "mean_size": float(evaluation.sizes.mean()),
        "mean_states_per_step": float(evaluation.widths.mean()),
        "share_filled": 0.0 if evaluation.filled is None else float(evaluation.filled.mean()),
        "share_empty": float(evaluation.empty_shares.mean()),
        "by_last_state": {
            names[code]: share(own)
            for code, own in split_by_last_state(covered, lasts).items()
            if code >= 0
        },
        "over_time": [
            {
                "first": int(part[0]) + 1,
                "last": int(part[-1]) + 1,
                **share(covered[part]),
                **_rows(evaluation, np.flatnonzero(known)[part], horizon),
            }
            for part in parts
        ],
    }
    if isinstance(evaluation.confidence_level, Mapping):
        found |= _promises(evaluation, known, names)
    return found


def _rows(evaluation: Evaluation, windows: npt.NDArray[Any], horizon: int) -> dict[str, int]:
    """Return the first and last row of some windows, counted from 1, where they are rows."""
    if evaluation.begins is None:
        return {}
    begins = evaluation.begins[windows]
    return {"first_row": int(begins[0]) + 1, "last_row": int(begins[-1]) + horizon}


def _promises(
    evaluation: Evaluation, known: npt.NDArray[np.bool_], names: list[str]
) -> dict[str, Any]:
    """Return what was promised, state by state, beside what came of it."""
    assert evaluation.levels is not None
    levels, covered = evaluation.levels[known], evaluation.kept_shares[known]
    own = split_by_last_state(np.arange(len(covered)), evaluation.given[known])
    return {
        "promised": float(np.nanmean(levels)) if not np.isnan(levels).all() else None,
        "by_state": {
            names[code]: {**share(covered[those]), "promised": float(levels[those[0]])}
            for code, those in own.items()
            if code >= 0
        },
    }


def names_of(labels: tuple[Hashable, ...]) -> list[str]:
    """Write labels so that no two look alike: ``1`` and ``"1"`` are two states."""
    for written in (str, repr):
        words = [written(label) for label in labels]
        if len(set(words)) == len(words):
            return words
    return [f"{word} ({place})" for place, word in enumerate(words, 1)]


def split_by_last_state(
    covered: npt.NDArray[Any], lasts: npt.ArrayLike, fewest: int = 1
) -> dict[Any, npt.NDArray[Any]]:
    """Return what became of the windows that end in each state with at least `fewest`."""
    ends = np.asarray(lasts)
    states, numbers = np.unique(ends, return_counts=True)
    return {state: covered[ends == state] for state in states[numbers >= fewest].tolist()}


def find_worst_state(own: dict[Any, npt.NDArray[Any]]) -> tuple[float | None, Any]:
    """Return the least coverage given the last state, and that state; None where there is none."""
    return min(((float(part.mean()), state) for state, part in own.items()), default=(None, None))


def share(covered: npt.NDArray[Any]) -> dict[str, Any]:
    """Return the mean coverage of windows with its 95 % interval.

    It is exact for windows that were covered or not (Clopper and Pearson), and for shares of steps
    that of the mean of bounded variables.
    """
    if covered.dtype == np.bool_:
        low, high = interval(int(covered.sum()), len(covered))
    else:
        low, high = mean_interval(covered)
    return {"coverage": float(covered.mean()), "low": low, "high": high, "windows": len(covered)}
