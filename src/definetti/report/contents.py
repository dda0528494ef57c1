"""Make a report: collect sets, backtest, check and estimates for the page."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from definetti._system.checks import checked_number, checked_share
from definetti._system.files import make_plain
from definetti.check.diagnosis import Diagnosis
from definetti.data.labels import Alphabet, piece, readable, training_length
from definetti.data.timing import read_rows
from definetti.engine.pvalues import entry
from definetti.evaluation import START
from definetti.evaluation.judged import entries_of_nodes, fill_entries
from definetti.evaluation.results import names_of
from definetti.evaluation.series import SeriesEvaluation
from definetti.exceptions import FewBlocksWarning
from definetti.levels import ConfidenceLevel, read_levels
from definetti.models.hmm import HMM, TrainedHMM, probabilities
from definetti.report.observed import emission_tables, length_of, seen_text
from definetti.report.outcomes import (
    describe_backtest,
    describe_check,
    describe_series,
    note_broken,
)
from definetti.report.page import Report, assumed, percent, promise, round_for_page
from definetti.sets import PredictionSet, read_guarantee

LISTED = 100  # maximal number of sequences shown
FINE = [k / 100 for k in range(50, 100)] + [0.995]
COARSE = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99]


def make_report(
    predictor: Any,
    observations: Any,
    states: Any,
    new_observations: Any = None,
    *,
    horizon: int | None = None,
    lag: int = 0,
    levels: Sequence[float] = (),
    lengths: Sequence[int] | None = None,
    start: float = START,
    windows: int | None = None,
    check: Diagnosis | None = None,
    title: str | None = None,
    settings: dict[str, Any] | None = None,
    verbose: bool = False,
) -> Report:
    """Predict and backtest, and report both on one page.

    Parameters
    ----------
    predictor : ConformalHMM
        The settings; it need not be fitted, and is not changed.
    observations, states, lengths : the labelled sequence, as in `ConformalHMM.fit`
    new_observations, horizon, lag : as in `ConformalHMM.predict_set`; without observations and
        horizon, the page has a backtest only
    levels : list of float, optional
        Further levels to choose from on the page.
    start, windows : the first window of the backtest and their maximal number, as in
        `run_backtest`. A window has as many steps as are predicted; with too few rows for one
        window, the page has a note instead of a backtest.
    check : Diagnosis, optional
        The result of `ConformalHMM.check` or `definetti.check.check`, to show on the page.
    title : str, optional
    settings : dict, optional
        Further settings to show, so that the page can be reproduced.
    verbose : bool, default False
        Show a progress bar when it takes more than two seconds.

    Returns
    -------
    Report

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> y, x = weather(102, random_state=0)
    >>> report = make_report(ConformalHMM(random_state=0), y[:100], x[:100], y[100:], windows=20)
    >>> report
    Report: 100 labelled steps, 2 new, 20 windows of backtest; .save('report.html') writes the page
    >>> report.contents["promise"][report.contents["asked"]]
    'On average, at least 90 of 100 such sets contain the true states of all 2 steps.'
    """
    from definetti import ConformalHMM, __version__

    if not isinstance(predictor, ConformalHMM):
        raise TypeError(
            f"predictor must be a ConformalHMM, got {type(predictor).__name__}; pass your own "
            "model as ConformalHMM(model=…)"
        )
    checked_share(start, "start")
    if windows is not None:
        checked_number(windows, "windows")
    if check is not None and not isinstance(check, Diagnosis):
        raise TypeError(
            f"check must be a Diagnosis, got {type(check).__name__}; definetti.check.check and "
            "ConformalHMM.check return one"
        )
    rows = read_rows(observations, states, lengths)
    observations, labels = rows.observations, rows.labels
    lengths = rows.lengths.tolist() if len(rows.lengths) > 1 else None
    new_observations = readable(new_observations, "new_observations")
    cp = _copy_predictor(predictor).fit(observations, labels, lengths)
    cp._data.clock = rows.clock
    guarantee, max_errors = read_guarantee(cp.guarantee)
    others: list[Any] = [read_levels(level).written for level in levels]
    levels = levels_around(cp.confidence_level, guarantee, others)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", UserWarning)
        asked = None
        if new_observations is not None or horizon is not None:
            asked = cp.predict_set(new_observations, horizon=horizon, lag=lag, verbose=verbose)
    notes = list(dict.fromkeys(str(warning.message) for warning in heard))
    for warning in heard:
        warnings.warn(warning.message, stacklevel=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewBlocksWarning)  # already raised for the requested level
        new = None
        if asked is not None:
            new = describe_new(cp, asked, new_observations, horizon, levels, lag)
        steps, seen = (new["steps"], new["observed"]) if new else (1, int(observations is not None))
        test, more = describe_backtest(
            cp, observations, labels, steps, seen, levels, start, windows, lag, lengths, verbose
        )
    exact, memory = cp.symmetry_.exact, cp.memory_
    own, states = None, names_of(cp.states_)
    if isinstance(levels[0], Mapping):
        alphas = read_levels(levels[0]).alphas(cp.states_)
        own = {name: float(1 - alpha) for name, alpha in zip(states, alphas, strict=True)}
    shown = {
        **(settings or {}),
        "horizon": "number of new observations" if horizon is None else horizon,
        "lag": lag,
        "start": start,
        "windows": "all, or 500" if windows is None else windows,
        **{name: repr(value) for name, value in predictor.get_params(deep=False).items()},
        "model used": repr(cp.model_),
        "symmetry used": cp.symmetry_.known_as,
        "memory used": memory.assumption,
        "states used": ", ".join(states),
        "definetti": __version__,
    }
    if predictor.random_state is None:
        shown["random_state"] = "None: random draws differ from run to run"
    return Report(make_plain({
        "title": title or "Prediction sets for hidden states",
        "notes": [rows.note] * bool(rows.note) + notes + more + note_broken(check),
        "levels": [None if own else level for level in levels],
        **({"level_by_state": own, "given": cp.symmetry_.given} if own else {}),
        "percent": [percent(level) for level in levels],
        "asked": levels.index(levels_around(cp.confidence_level, "none")[0]),
        "promise": [
            promise(level, steps, guarantee, max_errors, exact, cp.symmetry_.given)
            for level in levels
        ],
        "assumed": assumed(cp, memory, observations is not None) if exact else "",
        "exact": exact,
        "smoothing": bool(cp.smoothing),
        "allow_empty": bool(cp.allow_empty),
        "guarantee": guarantee,
        "max_errors": max_errors,
        "states": states,
        "labelled": len(labels),
        "new": new,
        "backtest": test,
        "check": None if check is None else describe_check(check, cp.symmetry_),
        "series": None,
        "model": estimates(cp, observations, labels),
        "settings": {name: _write_setting(value) for name, value in shown.items()},
    }))  # fmt: skip


def report_series(
    found: SeriesEvaluation | Sequence[SeriesEvaluation],
    horizon: int = 1,
    *,
    one: Report | None = None,
    name: Hashable = None,
    title: str | None = None,
    settings: dict[str, Any] | None = None,
) -> Report:
    """Report the coverage of many series on one page, with one series in full.

    Parameters
    ----------
    found : SeriesEvaluation, or a list of them
        The result of `definetti.evaluation.backtest_series`. With several levels there is a
        verdict on each, and the table is that of the first.
    horizon : int, default 1
        Steps in each window.
    one, name : Report and its series, optional
        The report of one series by `make_report`, shown below the table.
    title, settings : as in `make_report`; `settings` come before those of `one`

    Examples
    --------
    >>> from definetti import ConformalHMM, GroupedConformalHMM
    >>> from definetti.evaluation import backtest_series
    >>> from definetti.simulate import weather
    >>> y, x = weather(200, random_state=0)
    >>> towns = ["Rome"] * 100 + ["Oslo"] * 100
    >>> cp = ConformalHMM(random_state=0)
    >>> found = backtest_series(GroupedConformalHMM(cp), y, x, towns)
    >>> report_series(found)
    Report: 2 series; .save('report.html') writes the page
    >>> rome = make_report(cp, y[:100], x[:100], windows=20)
    >>> report_series(found, one=rome, name="Rome").contents["series"]["shown"]
    'Rome'
    """
    from definetti import __version__

    checked_number(horizon, "horizon")
    evaluations: list[Any] = [found] if isinstance(found, SeriesEvaluation) else list(found)
    odd = [item for item in evaluations if not isinstance(item, SeriesEvaluation)]
    if odd or not evaluations:
        raise TypeError(
            "found must be a SeriesEvaluation, or one for each level, got "
            f"{type(odd[0]).__name__ if odd else 'none'}; definetti.evaluation.backtest_series and "
            "GroupedConformalHMM.evaluate return one"
        )
    rest = {"levels": None, "states": [], "notes": []} if one is None else one.contents
    shown = {**(settings or {}), **rest.get("settings", {"definetti": __version__})}
    return Report(make_plain({
        **rest,
        "title": title or "Coverage by series",
        "series": {
            **describe_series(evaluations[0], horizon),
            "verdicts": [level.verdict() for level in evaluations],
            "shown": None if one is None else str(name),
        },
        "settings": {key: _write_setting(value) for key, value in shown.items()},
    }))  # fmt: skip


def _write_setting(value: Any) -> str:
    """Write a setting in at most 400 characters, without addresses of objects."""
    text = re.sub(r" at 0x[0-9A-Fa-f]+", "", str(value))
    return text if len(text) <= 400 else f"{text[:400]} …"


def _copy_predictor(predictor: Any) -> Any:
    """Return a copy to fit; turn an iterator over states into a list first."""
    copied = copy.copy(predictor)
    if copied.states is not None:
        copied.states = list(copied.states)
    return copy.deepcopy(copied)


def describe_new(
    cp: Any, asked: Any, observations: Any, horizon: int | None, levels: list[Any], lag: int = 0
) -> dict[str, Any]:
    """Return the first level at which each state and sequence is in the set of new observations."""
    seen = 0 if observations is None else length_of(observations)
    described: dict[str, Any] = {
        "steps": asked.horizon,
        "lag": lag,
        "observed": max(seen - lag, 0),
        "seen": seen_text(observations, lag + asked.horizon)[lag:],
        "method": asked.method,
        "sequences": [],
        "counts": None,
    }
    every = cp.predict_p(observations, horizon=horizon, lag=lag) if cp.guarantee == "all" else None
    if every is None:
        sets = [cp.predict_set(observations, level, horizon=horizon, lag=lag) for level in levels]
        first, p_values, best = entries_of_nodes(sets), asked.marginals, asked.best
        described["filled"] = [prediction.filled for prediction in sets]
    elif isinstance(levels[0], Mapping):
        first, p_values, best = entries_of_nodes([asked]), every.step_p_values, every.best
        described["sequences"] = _sequences(every, lambda sequence: int(sequence not in asked))
        described["counts"] = [len(asked)] if isinstance(asked, PredictionSet) else None
        described["filled"] = [asked.filled]
    else:
        first, p_values, best = entry(every.step_p_values, levels), every.step_p_values, every.best
        described["sequences"] = _sequences(
            every, lambda sequence: int(entry(every.p_value(sequence), levels))
        )
        nothing = int(entry(p_values.max(), levels))  # levels below this one have empty sets
        described["filled"] = [k < nothing and not cp.allow_empty for k in range(len(levels))]
        if not cp.allow_empty:  # the most plausible sequence is in at every level
            first = fill_entries(first, every)
            described["sequences"][0]["first"] = 0
        if isinstance(every, PredictionSet):
            number = np.bincount(entry(every.p_values, levels), minlength=len(levels) + 1)
            counts = number[:-1].cumsum()
            described["counts"] = (counts if cp.allow_empty else counts.clip(min=1)).tolist()
    described["first"], described["p_values"] = first.tolist(), round_for_page(p_values)
    described["best"] = [cp.states_.index(label) for label in best]
    return described


def _sequences(every: Any, place_of: Callable[[Any], int]) -> list[dict[str, Any]]:
    """Return the most plausible sequences, with p-values and the first levels that include them."""
    codes = {label: code for code, label in enumerate(every.states)}
    return [
        {
            "codes": [codes[label] for label in sequence],
            "p": every.p_value(sequence),
            "first": place_of(sequence),
        }
        for sequence in islice(every, LISTED)
    ]


def levels_around(
    asked: ConfidenceLevel, guarantee: str, others: Sequence[float] = ()
) -> list[Any]:
    """Return the levels to choose from: a grid, the requested level, and other requested levels.

    If states have levels of their own, return the requested levels alone.
    """
    choice = {"all": FINE, "steps": COARSE, "errors": COARSE}.get(guarantee, [])
    # As a decimal, so that a level in single precision is not another level.
    level = read_levels(asked).written
    return [level] if isinstance(level, Mapping) else sorted({*choice, level, *others})


def estimates(cp: Any, observations: Any, labels: list[Any]) -> dict[str, Any]:
    """Return transition probabilities and emission tables, from the rows that trained the model."""
    rows, source = len(labels), "all labelled rows"
    if cp.train_size is not None:
        rows = training_length(cp.train_size, rows)
        source = f"the first {rows:,} rows, on which the model was fitted"
    elif cp.model_.fixed:
        source += "; the model itself was given"
    n = len(cp.states_)
    codes = Alphabet(cp.states_).encode(labels[:rows], "states")
    counts = np.zeros((n, n))
    np.add.at(counts, (codes[:-1], codes[1:]), 1)
    data, model = cp._data, cp.model_
    chosen = data.rule.choose(data.kinds)
    counted = isinstance(chosen, (HMM, TrainedHMM)) and not (model.fixed and cp.train_size is None)
    prior = float(chosen.prior) if counted else 0.0  # other models have no counts
    transition = probabilities(counts, prior)
    if isinstance(chosen, HMM) and isinstance(model, TrainedHMM):  # training may lack states
        transition = probabilities(model.transitions, model.prior)
    seen = None if observations is None else piece(observations, 0, rows)
    tables, left_out = emission_tables(seen, codes, n)
    return {
        "from": source,
        "counts": counts.astype(int).tolist(),
        "transition": transition.tolist(),
        "prior": prior,
        "emissions": tables,
        "columns_left_out": left_out,
    }
