"""Many series behind one estimator: each has its own, made when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from definetti._system.checks import entropy_of

if TYPE_CHECKING:
    from definetti.conformal.estimator import ConformalHMM
    from definetti.series import EachSeries

SERIES = ("own", "others", "all", "first")  # what `definetti.series.Promise` has by name
READ_LATE = (
    "confidence_level", "smoothing", "guarantee", "max_errors", "allow_empty",
    "max_candidates", "verbose",
)  # fmt: skip


def fit_series(
    cp: ConformalHMM, observations: Any, states: Any, lengths: Any, groups: Any, order: Any
) -> ConformalHMM:
    """Take in the rows of many series."""
    from definetti.series import EachSeries

    cp._resolve()
    cp._check_parameters()
    entropy = entropy_of(cp.random_state, ahead=True)
    found = EachSeries(cp, observations, states, groups, order, lengths, entropy)
    entropy_of(cp.random_state)
    for name in ("_data", "model_", "_entropy"):
        cp.__dict__.pop(name, None)
    cp.series_ = found
    return cp


def each_series(cp: ConformalHMM) -> EachSeries:
    """Return the estimators of all series; refuse where there are none."""
    if cp.__dict__.get("series_") is None:
        cp._check_fitted()
        raise ValueError(
            "groups are named, but the history was fitted without; fit with groups=, or leave "
            "them out"
        )
    assert cp.series_ is not None
    return cp.series_


def settle(cp: ConformalHMM, one: ConformalHMM) -> ConformalHMM:
    """Give the estimator of a series, or a stand-in, what is read at every prediction."""
    cp._check_parameters()
    for name in READ_LATE:
        setattr(one, name, getattr(cp, name))
    return one
