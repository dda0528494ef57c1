"""Compare predictors by the size of their calibrated sets: the paper's risk argument."""

from __future__ import annotations

import copy
import time
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import narwhals as nw

from definetti._system.terminal import show_progress
from definetti.data.labels import (
    check_pairs,
    checked_states,
    count_rows,
    piece,
    readable,
    training_length,
)
from definetti.data.timing import check_aligned
from definetti.engine.pvalues import miscoverage
from definetti.evaluation.intervals import share
from definetti.sets.base import Backend, installed


class Row(NamedTuple):
    """The results of one predictor.

    Coverage, with its 95 % interval, is the share of windows (or of steps, if the guarantee is for
    steps) whose set held the truth before empty sets were filled; sizes are numbers of sequences
    and their share of all; `singletons`, `full` and `empty` are shares of sets, the last before
    filling; `seconds` is the time of a prediction; `exact` is whether the level is guaranteed.
    """

    predictor: str
    coverage: float
    low: float
    high: float
    size: float
    scaled_size: float
    singletons: float
    full: float
    empty: float
    seconds: float
    exact: bool

    @property
    def label(self) -> str:
        """The name, marked where the level is not guaranteed."""
        return self.predictor if self.exact else f"{self.predictor} *"


class Comparison(NamedTuple):
    """Predictors calibrated to one level on the same data, smallest sets first.

    Predictors without a guaranteed level come last, marked ``*``: small sets are no merit there.
    """

    rows: list[Row]
    confidence_level: float
    windows: int

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the table as a data frame."""
        columns = {name: [getattr(row, name) for row in self.rows] for name in Row._fields}
        return nw.from_dict(columns, backend=backend or installed()).to_native()

    def plot(self, ax: Any = None) -> Any:
        """Draw coverage, with its interval, against scaled size; returns the axes."""
        from definetti.plots import plot_compare

        return plot_compare(self, ax)

    def __repr__(self) -> str:
        width = max([9, *(len(row.label) for row in self.rows)])
        lines = [
            f"{self.windows} windows at level {self.confidence_level}, smallest sets first",
            f"{'predictor':<{width}}  coverage  [95 % interval]    size  scaled  single   full"
            "  empty",
        ]
        lines += [
            f"{r.label:<{width}}  {r.coverage:8.3f}  [{r.low:.3f}, {r.high:.3f}]  {r.size:7.2f}"
            f"  {r.scaled_size:6.3f}  {r.singletons:6.3f}  {r.full:5.3f}"
            f"  {r.empty:5.3f}"
            for r in self.rows
        ]
        if not all(row.exact for row in self.rows):
            lines.append("* not guaranteed to reach the level, and last for it")
        if any(row.empty for row in self.rows):
            lines.append("coverage is that of the sets before empty ones were filled")
        return "\n".join(lines)


def compare_predictors(
    predictors: Mapping[str, Any],
    observations: Any,
    states: Any,
    *,
    confidence_level: float = 0.8,
    horizon: int = 1,
    test_size: float = 0.5,
    labels: Iterable[Hashable] | None = None,
    verbose: bool = False,
    **params: Any,
) -> Comparison:
    """Calibrate each predictor to the same level on the same data, and compare the sets.

    All sets hold the truth with the level's probability; a predictor that needs large sets for it
    should not be relied on. An estimator whose symmetry does not guarantee the
    level, "shifts" or "published", is marked and comes after all others, however small its sets.

    Parameters
    ----------
    predictors : dict from names to models, or to whole `ConformalHMM` estimators
    observations, states : a labelled sequence
    confidence_level, horizon : for every predictor
    test_size : the share or number of steps at the end that are predicted, window after window,
        each from all rows before it
    labels : the state space, in the order of the columns that a function model returns
    params : further parameters of `ConformalHMM`, for models; for example ``train_size=0.5``

    Examples
    --------
    >>> import numpy as np
    >>> from definetti import HMM
    >>> from definetti.simulate import weather
    >>> y, x = weather(300, random_state=1)
    >>> fair = lambda start, windows: np.full((*windows.shape, 2), 0.5)
    >>> result = compare_predictors(
    ...     {"counted": HMM(), "coin": fair}, y, x, labels=["sun", "rain"], random_state=0
    ... )
    >>> [row.predictor for row in result.rows]
    ['counted', 'coin']
    """
    if not isinstance(predictors, Mapping):
        raise TypeError(
            f"predictors must be a dict from names to models, got {type(predictors).__name__}; "
            'try {"counted": HMM(), "mine": model}'
        )
    miscoverage(confidence_level)
    truth, observations = checked_states(states), readable(observations)
    check_aligned({"observations": observations, "states": states})
    if observations is not None:
        check_pairs(count_rows(observations, "observations"), len(truth))
    declared = None if labels is None else checked_states(labels, "labels")
    try:
        cut = len(truth) - training_length(test_size, len(truth))
    except ValueError:
        raise ValueError(
            f"test_size must be a share between 0 and 1, or a number of steps fewer than the "
            f"{len(truth)} there are, got {test_size!r}; 0.5 predicts the second half"
        ) from None
    from definetti.conformal import ConformalHMM

    ConformalHMM("auto", states=declared, **params)  # raises for unknown parameters
    if not predictors:
        raise ValueError("predictors is empty; give a dict from names to models")
    rows = []
    for name, model in show_progress(predictors.items(), len(predictors), "comparing", verbose):
        # A copy, not a clone: that would undo the fit of a model trained elsewhere.
        own = isinstance(model, ConformalHMM)
        cp = copy.deepcopy(model) if own else ConformalHMM(model, states=declared, **params)
        rest = piece(observations, cut, len(truth))
        cp.fit(piece(observations, 0, cut), truth[:cut])
        began = time.perf_counter()
        evaluation = cp.evaluate(rest, truth[cut:], confidence_level, horizon=horizon)
        seconds = time.perf_counter() - began
        number = len(evaluation.covered)
        covered = share(evaluation.kept_shares)
        singletons = float((evaluation.sizes == 1).mean())
        full = float((evaluation.scaled_sizes == 1).mean())
        empty = float(evaluation.empty_shares.mean())
        means = (evaluation.size, evaluation.scaled_size, singletons, full, empty, seconds / number)
        bounds = (covered["coverage"], covered["low"], covered["high"])
        rows.append(Row(str(name), *bounds, *means, bool(cp.symmetry_.exact)))
    rows.sort(key=lambda row: (not row.exact, row.size))
    return Comparison(rows, confidence_level, number)
