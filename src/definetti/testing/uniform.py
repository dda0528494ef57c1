"""Coverage that is the level in every sequence of small models: what all checks rest on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np

from definetti.conformal import ConformalHMM
from definetti.models import Model
from definetti.verify import enumerate_ranks

STATES = ("calm", "busy")
# Start, transitions and emissions of models that tell a wrong p-value from a right one.
LAWS = (
    ([0.5, 0.5], [[0.1, 0.9], [0.9, 0.1]], [[0.75, 0.25], [0.25, 0.75]]),
    ([1.0, 0.0], [[0.8, 0.2], [0.0, 1.0]], [[0.9, 0.1], [0.2, 0.8]]),
    ([0.3, 0.7], [[0.6, 0.4], [0.3, 0.7]], [[0.5, 0.5], [0.1, 0.9]]),
)
LEVELS = (0.5, 0.8)
CLOSE = 1e-9


def check_object(thing: Any, contract: type) -> None:
    """Check that something fulfils a contract, and is no class."""
    name = f"definetti.{contract.__module__.split('.')[1]}.{contract.__name__}"
    assert not isinstance(thing, type), f"{thing.__name__} is a class; give an object of it"
    assert isinstance(thing, contract), f"{thing!r} does not derive from {name}"


def check_two(values: Any, name: str) -> None:
    """Check that there are enough values to enumerate."""
    assert len(values) > 1, f"{name} must be two or more that differ, got {len(values)}"


def make_predictor(model: Model, score: Any, symmetry: Any) -> ConformalHMM:
    """Return a predictor whose smoothed coverage is the level: its sets may be empty."""
    return ConformalHMM(model, score, symmetry, allow_empty=True)


def check_uniform(
    predictor: Any, length: int, horizon: int, what: str, seen: Any = None, n_symbols: int = 2
) -> bool:
    """Check that smoothed coverage is the level: overall and given each last state.

    Returns whether a candidate was compared with anything: else nothing was checked.
    """
    with quiet():
        everything = enumerate_ranks(predictor, 2, n_symbols, length, horizon, observed=seen)
    smoothed = everything._replace(smoothing=True)
    for law, level in product(LAWS, LEVELS):
        start, steps, emitted = (np.array(part) for part in law)
        emitted = emitted if n_symbols == 2 else np.ones((2, 1))
        given = smoothed.coverage_given_last(start, steps, emitted, level)
        off = np.nanmax(np.abs(given - level))
        assert off <= CLOSE, (
            f"{what} is not valid: over all sequences of {length} labelled steps and {horizon} new "
            f"ones, coverage given the last state is off the level {level} by {off:.3g}; something "
            "in it is not the same for all rearrangements of a sequence"
        )
    return any(rank.total > 1 for rank in everything.ranks)


def check_rolling(predictor: ConformalHMM, what: str = "symmetry") -> None:
    """Check that labels that come bit by bit give the p-values of a fresh fit."""
    rng = np.random.default_rng(1)
    states = [STATES[k] for k in (rng.random(60).cumsum() * 1.3).astype(int) % 2]
    symbols = [str(k) for k in rng.integers(0, 3, 60)]
    with quiet():
        rolled = predictor.fit(symbols[:40], states[:40])
        for k in range(40, 60):
            fresh = ConformalHMM(**predictor.get_params(deep=False)).fit(symbols[:k], states[:k])
            new = symbols[k : k + 1]
            ours, theirs = (dict(one.predict_ranks(new)) for one in (rolled, fresh))
            assert ours == theirs, f"the {what} keeps something between predictions, or changes"
            rolled = rolled.partial_fit(new, states[k : k + 1])


def same(one: Any, other: Any) -> bool:
    """Tell whether two arrays are the same but for rounding."""
    a, b = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-9, atol=1e-9))


@contextmanager
def quiet() -> Iterator[None]:
    """Leave out warnings of what is meant to be so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield
