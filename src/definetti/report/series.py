"""How many series fared, as plain numbers and words: what the page begins with."""

from __future__ import annotations

import math
from typing import Any

from definetti.evaluation.series import SeriesEvaluation, SeriesRecord

LISTED = 1_000  # series on the page, the worst first


def describe_series(found: SeriesEvaluation, horizon: int) -> dict[str, Any]:
    """Return what all series came to, and a row a series, those to look at first.

    >>> found = SeriesEvaluation(
    ...     [SeriesRecord("Ann", 100, 50, 46.0, 0.9), SeriesRecord("Bob", 100, 50, 30.0, 0.9)]
    ... )
    >>> [(one["series"], one["verdict"]) for one in describe_series(found, 1)["listed"]]
    [('Bob', 'look at it: short by 0.300'), ('Ann', 'kept')]
    """
    short = {one.series for one in found.look_at}
    order = sorted(
        found, key=lambda one: (not one.judged, *map(_last, (one.p_value, one.coverage)))
    )
    return {
        "verdict": found.verdict(),
        "shared_calibration": found.shared_calibration,
        "says": found.says,
        "source": found.source,
        "horizon": horizon,
        "number": len(found),
        "rows": sum(one.rows for one in found),
        "promised": _number(found.promised),
        "look_at": [str(one.series) for one in found.look_at],
        "listed": [_describe(one, one.series in short) for one in order[:LISTED]],
    }


def _describe(one: SeriesRecord, is_short: bool) -> dict[str, Any]:
    low, high = map(_number, one.interval)
    return {
        "series": str(one.series), "rows": one.rows, "windows": one.windows,
        "coverage": _number(one.coverage), "low": low, "high": high,
        "promised": _number(one.promised), "mean_size": _number(one.mean_size),
        "states_per_step": _number(one.states_per_step), "verdict": _judge(one, is_short),
        "share_empty": one.empty / one.judged if one.judged else None,
    }  # fmt: skip


def _judge(one: SeriesRecord, is_short: bool) -> str:
    """Say in a few words what came of a series."""
    if not one.judged:
        return one.note
    if one.shared_calibration:
        return "no verdict"
    lacking = one.promised - one.coverage
    if is_short:
        return f"look at it: short by {lacking:.3f}"
    return f"short by {lacking:.3f}, within chance" if lacking > 0 else "kept"


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _last(value: float) -> float:
    """Sort what is no number behind all others."""
    return math.inf if math.isnan(value) else value
