"""The contents of a report: sets, levels, estimates, as plain numbers and words for the page."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from definetti.check.diagnosis import Diagnosis
from definetti.data.labels import Alphabet, piece, readable
from definetti.data.sequences import training_length
from definetti.data.timing import read_rows
from definetti.engine.pvalues import entry
from definetti.evaluation.judged import entries_of_nodes, fill_entries
from definetti.evaluation.summarize import names_of
from definetti.exceptions import FewBlocksWarning
from definetti.levels import ConfidenceLevel, read_levels
from definetti.models.hmm import HMM, TrainedHMM, probabilities
from definetti.report.observed import emission_tables, length_of, seen_text
from definetti.report.outcomes import describe_backtest, describe_check, note_broken
from definetti.report.wording import assumed, percent, promise, round_for_page
from definetti.sets import PredictionSet, read_guarantee

LISTED = 100  # sequences shown at most
FINE = [k / 100 for k in range(50, 100)] + [0.995]
COARSE = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99]


def collect_contents(
    predictor: Any,
    observations: Any,
    states: Any,
    new_observations: Any,
    horizon: int | None,
    start: float,
    windows: int | None,
    check: Diagnosis | None = None,
    lag: int = 0,
    levels: Sequence[Any] = (),
    lengths: Sequence[int] | None = None,
    verbose: bool = False,
) -> dict[str, Any]:
    """Predict, backtest and describe; see `definetti.report.make_report`."""
    rows = read_rows(observations, states, lengths)
    observations, labels = rows.observations, rows.labels
    lengths = rows.lengths.tolist() if len(rows.lengths) > 1 else None
    new_observations = readable(new_observations, "new_observations")
    cp = copy_predictor(predictor).fit(observations, labels, lengths)
    cp._data.clock = rows.clock
    guarantee, max_errors = read_guarantee(cp.guarantee)
    levels = levels_around(cp.confidence_level, guarantee, levels)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", UserWarning)
        asked = None
        if new_observations is not None or horizon is not None:
            asked = cp.predict_set(new_observations, horizon=horizon, lag=lag, verbose=verbose)
    notes = list(dict.fromkeys(str(one.message) for one in heard))
    for one in heard:
        warnings.warn(one.message, stacklevel=3)
    with warnings.catch_warnings():
        # Said once, of the level that was asked for.
        warnings.simplefilter("ignore", FewBlocksWarning)
        new = None
        if asked is not None:
            new = describe_new(cp, asked, new_observations, horizon, levels, lag)
        steps, seen = (new["steps"], new["observed"]) if new else (1, int(observations is not None))
        test, more = describe_backtest(
            cp, observations, labels, steps, seen, levels, start, windows, lag, lengths, verbose
        )
    exact = cp.symmetry_.exact
    memory = cp.memory_
    own = _levels_by_state(levels[0], cp.states_)
    return {
        "notes": [rows.note] * bool(rows.note) + notes + more + note_broken(check),
        "levels": [None if own else level for level in levels],
        **({"level_by_state": own, "given": cp.symmetry_.given} if own else {}),
        "percent": [percent(level) for level in levels],
        "asked": levels.index(levels_around(cp.confidence_level, "none")[0]),
        "promise": [
            promise(one, steps, guarantee, max_errors, exact, cp.symmetry_.given) for one in levels
        ],
        "assumed": assumed(cp, memory, observations is not None) if exact else "",
        "exact": exact,
        "smoothing": bool(cp.smoothing),
        "allow_empty": bool(cp.allow_empty),
        "guarantee": guarantee,
        "max_errors": max_errors,
        "states": names_of(cp.states_),
        "labelled": len(labels),
        "new": new,
        "backtest": test,
        "check": None if check is None else describe_check(check, cp.symmetry_),
        "series": None,
        "model": estimates(cp, observations, labels),
        "used": {
            "model used": repr(cp.model_),
            "symmetry used": cp.symmetry_.known_as,
            "the future depends on": memory.assumption,
            "states used": ", ".join(names_of(cp.states_)),
        },
    }


def _levels_by_state(level: Any, states: tuple[Hashable, ...]) -> dict[str, float] | None:
    """Return the level of each state by its name, where they have levels of their own."""
    if not isinstance(level, Mapping):
        return None
    alphas = read_levels(level).alphas(states)
    pairs = zip(names_of(states), alphas, strict=True)
    return {name: float(1 - alpha) for name, alpha in pairs}


def copy_predictor(predictor: Any) -> Any:
    """Return a copy to fit; an iterator over states is read before."""
    found = copy.copy(predictor)
    if found.states is not None:
        found.states = list(found.states)
    return copy.deepcopy(found)


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


def levels_around(
    asked: ConfidenceLevel, guarantee: str, others: Sequence[float] = ()
) -> list[Any]:
    """Return the levels to choose from, the one that was asked for among them.

    Fewer where each of them is a prediction of its own; none but those asked for where each state
    has its own. `others` were asked for as well.

    >>> levels_around(0.93, "steps")
    [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.975, 0.99]
    """
    choice = {"all": FINE, "steps": COARSE, "errors": COARSE}.get(guarantee, [])
    # The decimal that was written: a level in single precision is no other level.
    level = read_levels(asked).written
    return [level] if isinstance(level, Mapping) else sorted({*choice, level, *others})


def estimates(cp: Any, observations: Any, labels: list[Any]) -> dict[str, Any]:
    """Return transition probabilities and a table for each kind of observation.

    They are those that the model goes by: of the rows that it was fixed on, if it was.
    """
    rows, told = len(labels), "all labelled rows"
    if cp.train_size is not None:
        rows = training_length(cp.train_size, rows)
        told = f"the first {rows:,} rows, on which the model was fixed"
    elif cp.model_.fixed:
        told += "; the model itself was made elsewhere"
    n = len(cp.states_)
    codes = Alphabet(cp.states_).encode(labels[:rows], "states")
    counts = np.zeros((n, n))
    np.add.at(counts, (codes[:-1], codes[1:]), 1)
    data, model = cp._data, cp.model_
    chosen = data.rule.choose(data.kinds)
    counted = isinstance(chosen, (HMM, TrainedHMM)) and not (model.fixed and cp.train_size is None)
    prior = float(chosen.prior) if counted else 0.0  # other models have no counts of their own
    transition = probabilities(counts, prior)
    if isinstance(chosen, HMM) and isinstance(model, TrainedHMM):  # which may not know all states
        transition = probabilities(model.transitions, model.prior)
    seen = None if observations is None else piece(observations, 0, rows)
    tables, left_out = emission_tables(seen, codes, n)
    return {
        "from": told,
        "counts": counts.astype(int).tolist(),
        "transition": transition.tolist(),
        "prior": prior,
        "emissions": tables,
        "columns_left_out": left_out,
    }
