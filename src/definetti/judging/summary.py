"""A rolling evaluation in a few numbers: overall, by last state, over time."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti.judging.intervals import exact_interval
from definetti.sets.evaluation import Evaluation

PARTS = 4  # of the stretch that is predicted, for coverage over time
interval = lru_cache(maxsize=100_000)(exact_interval)


def summary(evaluation: Evaluation, horizon: int, guarantee: str = "all") -> dict[str, Any]:
    """Return coverage overall, by last state and over time, and sizes, as plain numbers.

    Parameters
    ----------
    evaluation : what `ConformalHMM.evaluate` returns
    horizon : the steps of each of its windows
    guarantee : what was promised; for "steps", a share of steps is what is judged

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
    covered = judged_by(evaluation, guarantee)
    lasts = evaluation.truth.reshape(-1, horizon)[:, -1]
    parts = np.array_split(np.arange(len(covered)), min(PARTS, len(covered)))
    return {
        **share(covered),
        "mean_size": evaluation.size,
        "mean_states_per_step": evaluation.width,
        "by_last_state": {
            name: share(covered[lasts == code])
            for code, name in enumerate(names_of(evaluation.states))
            if (lasts == code).any()
        },
        "over_time": [
            {"first": int(part[0]) + 1, "last": int(part[-1]) + 1, **share(covered[part])}
            for part in parts
        ],
    }


def names_of(labels: tuple[Hashable, ...]) -> list[str]:
    """Write labels so that no two look alike: ``1`` and ``"1"`` are two states.

    >>> names_of((1, "1")), names_of(("sun", 2))
    (['1', "'1'"], ['sun', '2'])
    """
    for written in (str, repr):
        words = [written(label) for label in labels]
        if len(set(words)) == len(words):
            return words
    return [f"{word} ({place})" for place, word in enumerate(words, 1)]


def judged_by(evaluation: Evaluation, guarantee: str) -> npt.NDArray[Any]:
    """Return what the promise is about: whether a window was covered, or its share of steps."""
    return 1.0 - evaluation.wrong if guarantee == "steps" else evaluation.covered


def share(covered: npt.NDArray[Any]) -> dict[str, Any]:
    """Return a share that was counted, with its exact 95 % interval.

    Shares of steps have none: the steps of a window are not independent.
    """
    low, high = None, None
    if covered.dtype == np.bool_:
        low, high = interval(int(covered.sum()), len(covered))
    return {"coverage": float(covered.mean()), "low": low, "high": high, "windows": len(covered)}
