"""The check of a symmetry."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from definetti.conformal import ConformalHMM
from definetti.data.history import Completion, History
from definetti.emissions import Categorical
from definetti.models import HMM
from definetti.symmetry import Symmetry
from definetti.testing.on_grid import OnGrid
from definetti.testing.uniform import (
    check_object,
    check_rolling,
    check_uniform,
    make_predictor,
)
from definetti.testing.ways import check_at_once


def check_symmetry(symmetry: Symmetry) -> None:
    """Check that a symmetry keeps what it declares, in every sequence of small models.

    These have four labelled steps, or eight without observations: a parameter that does not act
    so soon is not checked. Give parameters so small that they do, ``check_symmetry(Latest(1))``
    for a symmetry of the latest blocks, or name them in its `examples`.

    Parameters
    ----------
    symmetry : an object that derives from `definetti.symmetry.Symmetry`

    Examples
    --------
    >>> from definetti.symmetry import Returns
    >>> check_symmetry(Returns())
    """
    check_object(symmetry, Symmetry)
    _check(symmetry)
    for parameters in symmetry.examples:
        _check(type(symmetry)(**parameters))


def _check(symmetry: Symmetry) -> None:
    for horizon in (1, 2):
        _check_orbits(symmetry, horizon)
    if not symmetry.exact:
        return
    if symmetry.given == "last state":  # others hold by visits, not at a time of the clock
        _check_valid(symmetry)
        if not symmetry.reads_observations:
            _check_forecast(symmetry)
    fixed = ConformalHMM(HMM(), "path", symmetry, train_size=20, random_state=0)
    check_rolling(fixed)
    for predictor in (fixed, ConformalHMM(HMM(), "path", symmetry, random_state=0)):
        check_at_once(predictor, "the symmetry")


def _check_valid(symmetry: Symmetry) -> None:
    """Check its p-values: those of pairs, and of longer sequences of states alone."""
    compared = [
        check_uniform(
            make_predictor(HMM(), "filter", symmetry), length, horizon, "the symmetry",
            n_symbols=symbols,
        )
        for length, horizon, symbols in ((4, 1, 2), (3, 2, 2), (8, 1, 1))
    ]  # fmt: skip
    assert any(compared), (
        f"{symmetry!r} never compares a candidate with anything in sequences of up to eight "
        "labelled steps, so that nothing is checked; use smaller parameters"
    )


def _check_orbits(symmetry: Symmetry, horizon: int) -> None:
    """Check that candidates share what they are said to share."""
    history = History(2)
    history.append(np.array([0, 1, 0, 0, 1, 1, 0]), np.array([0, 1, 1, 0, 1, 0, 0]))
    seen: dict[Any, Any] = {}
    for states in product(range(2), repeat=horizon):
        completion = Completion(history, np.array(states), np.zeros(horizon, dtype=np.int64), 2)
        found = symmetry.reference(completion, 99, lambda: np.random.default_rng(0))
        if symmetry.by_last_state:
            assert found.ends is not None, "by_last_state is True, and the reference has no ends"
        content = _content(found)
        for key in [symmetry.orbit(completion), *[("last", states[-1])] * symmetry.by_last_state]:
            assert seen.setdefault(key, content) == content, (
                "two candidates share a name (`orbit`, or the last state with by_last_state) and "
                "not their reference; leave `orbit` out, or name all that it depends on"
            )


def _content(reference: Any) -> Any:
    if reference.ends is not None:
        return tuple(reference.ends.tolist())
    rows = np.column_stack([reference.windows.start, *reference.windows[1:]]).tolist()
    weights = reference.weights.tolist()
    return reference.joins, sorted(zip(map(tuple, rows), weights, strict=True))


def _check_forecast(symmetry: Symmetry) -> None:
    """Check that steps not observed yet are told from gaps, where a symmetry says it can."""
    gappy = OnGrid(Categorical(), ("a", None))
    check_uniform(
        make_predictor(HMM(emission=gappy), "filter", symmetry), 3, 2,
        "reads_observations is False, and the symmetry", seen=0,
    )  # fmt: skip
