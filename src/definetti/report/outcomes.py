"""Numbers for the page: backtest, check of the assumption, and coverage of many series."""

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

DRAWN = 300  # maximal number of backtest steps in the plot
POINTS = 60  # points on the line of coverage so far
SHOWN = 3  # kinds of residuals in plots
BINS = 30
PICTURES = ("quantiles", "histogram", "autocorrelation")
LISTED = 1_000  # maximal number of series on the page, worst first


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
    """Backtest windows with `seen` observed steps; return its numbers, or None, and notes."""
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
    backtest = {
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
        "drawn": {  # the last steps, for a plot
            "begin": begin,
            "truth": ours.truth[begin:].tolist(),
            "first": ours.first[begin:].tolist(),
            "p_values": None if best is None else round_for_page(best[begin:]),
        },
    }
    return backtest, test.notes


def _numbers(run: JudgedLevels, place: int, running: bool) -> dict[str, Any]:
    """Return coverage and sizes of the sets at one level."""
    evaluation = run.evaluation(place)
    numbers = summary(evaluation, run.horizon)
    # Sets too large to list are counted at the requested level only.
    counted = run.guarantee == "all" and np.isfinite(evaluation.size)
    numbers["mean_size"] = evaluation.size if counted else None
    widths = np.bincount(evaluation.nodes.sum(axis=1), minlength=len(run.states) + 1)
    numbers["widths"] = (widths / len(evaluation.nodes)).tolist()
    if running:  # coverage so far, at some windows
        covered = evaluation.kept_shares
        places = np.unique(np.linspace(1, len(covered), min(len(covered), POINTS)).astype(int))
        shares = [share(covered[:place]) for place in places]
        numbers["running"] = {
            "window": places.tolist(),
            **{key: [so_far[key] for so_far in shares] for key in ("coverage", "low", "high")},
        }
    return numbers


def describe_check(diagnosis: Diagnosis, symmetry: Symmetry) -> dict[str, Any]:
    """Return a diagnosis, with the curves of its plots, for sets of the given symmetry."""
    if isinstance(symmetry, Spaced):
        diagnosis = diagnosis.beyond_spaced()
    kinds = list(diagnosis.residuals.items())[:SHOWN]
    return {
        **diagnosis.to_dict(),
        "assumption": diagnosis.assumption,
        "testable": diagnosis.testable and diagnosis.least_p_value <= diagnosis.alpha,
        "drawn": {name: _bins(test) for name, test in diagnosis.tests.items()},
        "residuals": {
            name: {"size": residuals.size, "draws": residuals.n_draws}
            | {picture: _curve(getattr(residuals, picture)) for picture in PICTURES}
            for name, residuals in kinds
        },
    }


def note_broken(diagnosis: Diagnosis | None) -> list[str]:
    """Return a note if the assumption is rejected, for the top of the page."""
    if diagnosis is None or not diagnosis.rejected:
        return []
    return [
        "evidence against the assumption of the guarantee "
        f"(p = {diagnosis.p_value:.3g}): see “Does the assumption hold?”"
    ]


def _bins(test: Finding) -> dict[str, Any]:
    """Return the histogram of a test statistic over the draws."""
    finite = test.drawn[np.isfinite(test.drawn)]
    if not len(finite):
        return {"counts": [], "edges": []}
    counts, edges = np.histogram(finite, min(BINS, len(np.unique(np.round(finite, 9)))))
    return {"counts": counts.tolist(), "edges": edges.tolist()}


def _curve(curve: Curve) -> dict[str, Any]:
    names = ("at", "observed", "pointwise", "simultaneous")
    rounded = {name: round_for_page(getattr(curve, name)) for name in names}
    return {**rounded, "outside": curve.outside.tolist()}


def describe_series(evaluation: SeriesEvaluation, horizon: int) -> dict[str, Any]:
    """Return the coverage of all series together, and of each series, worst first."""
    short = {record.series for record in evaluation.look_at}
    order = sorted(
        evaluation,
        key=lambda record: (
            not record.judged,
            *np.nan_to_num([record.p_value, record.coverage], nan=np.inf),
        ),
    )
    return {
        "verdict": evaluation.verdict(),
        "shared_calibration": evaluation.shared_calibration,
        "says": evaluation.says,
        "source": evaluation.source,
        "horizon": horizon,
        "number": len(evaluation),
        "rows": sum(record.rows for record in evaluation),
        "promised": evaluation.promised,
        "look_at": [str(record.series) for record in evaluation.look_at],
        "listed": [_describe(record, record.series in short) for record in order[:LISTED]],
    }


def _describe(record: SeriesRecord, is_short: bool) -> dict[str, Any]:
    low, high = record.interval
    return {
        "series": str(record.series), "rows": record.rows, "windows": record.windows,
        "coverage": record.coverage, "low": low, "high": high, "promised": record.promised,
        "mean_size": record.mean_size, "states_per_step": record.states_per_step,
        "verdict": _judge(record, is_short),
        "share_empty": record.empty / record.judged if record.judged else None,
    }  # fmt: skip


def _judge(record: SeriesRecord, is_short: bool) -> str:
    """Return the verdict on a series in a few words."""
    if not record.judged:
        return record.note
    if record.shared_calibration:
        return "no verdict"
    lacking = record.promised - record.coverage
    if is_short:
        return f"significantly short by {lacking:.3f}"
    return f"short by {lacking:.3f}, within chance" if lacking > 0 else "kept"
