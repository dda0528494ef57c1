"""Backtest, check of the assumption and coverage of many series, as numbers for the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from definetti.check import Curve, Diagnosis, Finding
from definetti.evaluation.advice import OURS
from definetti.evaluation.backtest import run_backtest
from definetti.evaluation.intervals import share
from definetti.evaluation.judged import JudgedLevels
from definetti.evaluation.results import summary
from definetti.evaluation.series import SeriesEvaluation, SeriesRecord
from definetti.report.page import round_for_page
from definetti.symmetry import Spaced, Symmetry

DRAWN = 300  # steps of the backtest in its picture
POINTS = 60  # of the line of coverage so far
SHOWN = 3  # kinds of residuals that are drawn
BINS = 30
PICTURES = ("quantiles", "histogram", "autocorrelation")
LISTED = 1_000  # series on the page, the worst first


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
    verbose: bool = False,
) -> tuple[dict[str, Any] | None, list[str]]:
    """Backtest windows with `seen` observed steps; return None for too few rows, and notes."""
    try:
        test = run_backtest(
            cp, observations, labels, steps + lag, lag=lag, observed=seen + lag, levels=levels,
            start=start, windows=windows, lengths=lengths, verbose=verbose,
        )  # fmt: skip
    except ValueError as error:
        return None, [f"there is no backtest: {error}"]
    ours = test.methods[OURS]
    steps, best = len(ours.truth), ours.step_p_values
    begin = steps - min(steps, max(DRAWN // ours.horizon, 1) * ours.horizon)
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
        "steps": steps,
        "drawn": {  # the last steps, for a picture of them
            "begin": begin,
            "truth": ours.truth[begin:].tolist(),
            "first": ours.first[begin:].tolist(),
            "p_values": None if best is None else round_for_page(best[begin:]),
        },
    }
    return found, test.notes


def _numbers(run: JudgedLevels, place: int, running: bool) -> dict[str, Any]:
    """Return coverage and sizes of the sets at one level."""
    found = run.evaluation(place)
    numbers = summary(found, run.horizon)
    # Sets too large to be listed are counted at the requested level alone.
    counted = run.guarantee == "all" and np.isfinite(found.size)
    numbers["mean_size"] = found.size if counted else None
    widths = np.bincount(found.nodes.sum(axis=1), minlength=len(run.states) + 1)
    numbers["widths"] = (widths / len(found.nodes)).tolist()
    if running:  # the share covered so far, at some of the windows
        covered = found.kept_shares
        places = np.unique(np.linspace(1, len(covered), min(len(covered), POINTS)).astype(int))
        shares = [share(covered[:place]) for place in places]
        numbers["running"] = {
            "window": places.tolist(),
            **{key: [one[key] for one in shares] for key in ("coverage", "low", "high")},
        }
    return numbers


def describe_check(found: Diagnosis, symmetry: Symmetry) -> dict[str, Any]:
    """Return a diagnosis with the curves of its plots, for sets of some symmetry."""
    if isinstance(symmetry, Spaced):
        found = found.beyond_spaced()
    kinds = list(found.residuals.items())[:SHOWN]
    return {
        **found.to_dict(),
        "assumption": found.assumption,
        "testable": found.testable and found.least_p_value <= found.alpha,
        "drawn": {name: _bins(one) for name, one in found.tests.items()},
        "residuals": {
            name: {"size": one.size, "draws": one.n_draws}
            | {picture: _curve(getattr(one, picture)) for picture in PICTURES}
            for name, one in kinds
        },
    }


def note_broken(found: Diagnosis | None) -> list[str]:
    """Return a note for the top of the page, where the assumption is broken."""
    if found is None or not found.rejected:
        return []
    return [
        "evidence against the assumption of the guarantee "
        f"(p = {found.p_value:.3g}): see “Does the assumption hold?”"
    ]


def _bins(one: Finding) -> dict[str, Any]:
    """Return a histogram of a statistic over the draws."""
    finite = one.drawn[np.isfinite(one.drawn)]
    if not len(finite):
        return {"counts": [], "edges": []}
    counts, edges = np.histogram(finite, min(BINS, len(np.unique(np.round(finite, 9)))))
    return {"counts": counts.tolist(), "edges": edges.tolist()}


def _curve(curve: Curve) -> dict[str, Any]:
    names = ("at", "observed", "pointwise", "simultaneous")
    rounded = {name: round_for_page(getattr(curve, name)) for name in names}
    return {**rounded, "outside": curve.outside.tolist()}


def describe_series(found: SeriesEvaluation, horizon: int) -> dict[str, Any]:
    """Return the coverage of all series together and of each, the worst first."""
    short = {one.series for one in found.look_at}
    order = sorted(
        found,
        key=lambda one: (not one.judged, *np.nan_to_num([one.p_value, one.coverage], nan=np.inf)),
    )
    return {
        "verdict": found.verdict(),
        "shared_calibration": found.shared_calibration,
        "says": found.says,
        "source": found.source,
        "horizon": horizon,
        "number": len(found),
        "rows": sum(one.rows for one in found),
        "promised": found.promised,
        "look_at": [str(one.series) for one in found.look_at],
        "listed": [_describe(one, one.series in short) for one in order[:LISTED]],
    }


def _describe(one: SeriesRecord, is_short: bool) -> dict[str, Any]:
    low, high = one.interval
    return {
        "series": str(one.series), "rows": one.rows, "windows": one.windows,
        "coverage": one.coverage, "low": low, "high": high, "promised": one.promised,
        "mean_size": one.mean_size, "states_per_step": one.states_per_step,
        "verdict": _judge(one, is_short),
        "share_empty": one.empty / one.judged if one.judged else None,
    }  # fmt: skip


def _judge(one: SeriesRecord, is_short: bool) -> str:
    """Return the verdict on a series in a few words."""
    if not one.judged:
        return one.note
    if one.shared_calibration:
        return "no verdict"
    lacking = one.promised - one.coverage
    if is_short:
        return f"significantly short by {lacking:.3f}"
    return f"short by {lacking:.3f}, within chance" if lacking > 0 else "kept"
