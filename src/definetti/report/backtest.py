"""How sets like those that were asked for have fared on the labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from definetti.evaluation.backtest import OURS, run_backtest
from definetti.evaluation.rolling import JudgedLevels
from definetti.evaluation.summary import share, summary
from definetti.report.levels import round_for_page

DRAWN = 300  # steps of the backtest in its picture
POINTS = 60  # of the line of coverage so far


def describe_backtest(
    cp: Any,
    observations: Any,
    labels: list[Any],
    steps: int,
    seen: int,
    levels: list[float],
    start: float,
    windows: int | None,
    lag: int = 0,
    lengths: Sequence[int] | None = None,
) -> tuple[dict[str, Any] | None, list[str]]:
    """Predict windows of the labelled rows in the way that was asked for.

    Parameters
    ----------
    cp : the estimator, fitted on all rows; copies of it are fitted again
    steps, seen : how many steps were asked about, and how many of them are observed
    lag : how many come before them

    Returns
    -------
    the outcome, None where there can be none; and notes
    """
    try:
        test = run_backtest(
            cp, observations, labels, steps + lag, lag=lag, observed=seen + lag, levels=levels,
            start=start, windows=windows, lengths=lengths,
        )  # fmt: skip
    except ValueError as error:
        return None, [f"there is no backtest: {error}"]
    found = {
        "horizon": test.horizon - lag,
        "observed": test.observed - lag,
        "first_row": test.begin + 1,
        "windows": test.windows,
        "methods": {
            name: [
                {**_numbers(run, k, name == OURS), "guaranteed": test.guaranteed[name]}
                for k in range(len(levels))
            ]
            for name, run in test.methods.items()
        },
        **_drawn(test.methods[OURS]),
    }
    return found, test.notes


def _numbers(run: JudgedLevels, place: int, running: bool) -> dict[str, Any]:
    """Return what a level's sets amounted to."""
    found = run.evaluation(place)
    numbers = summary(found, run.horizon)
    # Of sets too large to be listed, those of the level asked for alone are counted.
    counted = run.guarantee == "all" and np.isfinite(found.size)
    numbers["mean_size"] = found.size if counted else None
    widths = np.bincount(found.nodes.sum(axis=1), minlength=len(run.states) + 1)
    numbers["widths"] = (widths / len(found.nodes)).tolist()
    if running:
        numbers["running"] = _running(found.kept_shares)
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


def _drawn(run: JudgedLevels) -> dict[str, Any]:
    """Return the last steps, for a picture of them."""
    steps, best = len(run.truth), run.step_p_values
    begin = steps - min(steps, max(DRAWN // run.horizon, 1) * run.horizon)
    return {
        "steps": steps,
        "drawn": {
            "begin": begin,
            "truth": run.truth[begin:].tolist(),
            "first": run.first[begin:].tolist(),
            "p_values": None if best is None else round_for_page(best[begin:]),
        },
    }
