"""All that a report says, as plain numbers and words: what the page shows, and tests compare."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from definetti.check.diagnosis import Diagnosis
from definetti.data.labels import readable
from definetti.data.timing import read_rows
from definetti.evaluation.summary import names_of
from definetti.exceptions import FewBlocksWarning
from definetti.levels import read_levels
from definetti.report.asked import describe_new, predict_asked
from definetti.report.backtest import describe_backtest
from definetti.report.checking import describe_check, note_broken
from definetti.report.estimates import estimates
from definetti.report.levels import levels_around
from definetti.report.wording import assumed, percent, promise


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
) -> dict[str, Any]:
    """Predict, backtest and describe; see `definetti.report.make_report`."""
    rows = read_rows(observations, states, lengths)
    observations, labels = rows.observations, rows.labels
    lengths = rows.lengths.tolist() if len(rows.lengths) > 1 else None
    new_observations = readable(new_observations, "new_observations")
    cp = copy_predictor(predictor).fit(observations, labels, lengths)
    cp._data.clock = rows.clock
    levels = levels_around(cp.confidence_level, cp.guarantee, levels)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", UserWarning)
        asked = predict_asked(cp, new_observations, horizon, lag)
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
            cp, observations, labels, steps, seen, levels, start, windows, lag, lengths
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
            promise(one, steps, cp.guarantee, cp.max_errors, exact, cp.symmetry_.given)
            for one in levels
        ],
        "assumed": assumed(cp, memory, observations is not None) if exact else "",
        "exact": exact,
        "smoothing": bool(cp.smoothing),
        "allow_empty": bool(cp.allow_empty),
        "guarantee": cp.guarantee,
        "max_errors": cp.max_errors,
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
