"""Shared parts of the checks: exact coverage of small models, and agreement of fast paths."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from definetti.conformal import ConformalHMM
from definetti.evaluation.window_loop import roll_levels
from definetti.models import Model
from definetti.sets.lattice import LatticeSet
from definetti.verify import enumerate_ranks

STATES = ("calm", "busy")
# Start, transitions and emissions of models under which wrong p-values show.
LAWS = (
    ([0.5, 0.5], [[0.1, 0.9], [0.9, 0.1]], [[0.75, 0.25], [0.25, 0.75]]),
    ([1.0, 0.0], [[0.8, 0.2], [0.0, 1.0]], [[0.9, 0.1], [0.2, 0.8]]),
    ([0.3, 0.7], [[0.6, 0.4], [0.3, 0.7]], [[0.5, 0.5], [0.1, 0.9]]),
)
LEVELS = (0.5, 0.8)
CLOSE = 1e-9
LEARNED, STEPS, LEVEL = 40, 60, 0.7


def check_object(thing: Any, contract: type) -> None:
    """Check that an object derives from a contract, and is not a class."""
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
    """Check that smoothed coverage given each last state is the level.

    Return whether any candidate was compared with others; if not, nothing was checked.
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
    """Check that labels added step by step give the p-values of a fresh fit."""
    symbols, states = draw_steps("012")
    with quiet():
        rolled = predictor.fit(symbols[:LEARNED], states[:LEARNED])
        for k in range(LEARNED, STEPS):
            fresh = ConformalHMM(**predictor.get_params(deep=False)).fit(symbols[:k], states[:k])
            new = symbols[k : k + 1]
            ours, theirs = (dict(fitted.predict_ranks(new)) for fitted in (rolled, fresh))
            assert ours == theirs, f"the {what} keeps something between predictions, or changes"
            rolled = rolled.partial_fit(new, states[k : k + 1])


def same(first: Any, other: Any) -> bool:
    """Tell whether two arrays are the same but for rounding."""
    a, b = np.asarray(first, dtype=float), np.asarray(other, dtype=float)
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-9, atol=1e-9))


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress warnings about settings that are intended here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def draw_steps(values: Sequence[Any]) -> tuple[list[Any], list[str]]:
    """Return observations out of some values, and states."""
    rng = np.random.default_rng(1)
    states = [STATES[k] for k in (rng.random(STEPS).cumsum() * 1.3).astype(int) % 2]
    return [values[k] for k in rng.integers(0, len(values), STEPS)], states


def check_at_once(predictor: ConformalHMM, what: str, values: Sequence[Any] = "abc") -> None:
    """Check that windows ranked in one pass have the p-values of single predictions."""
    seen, states = draw_steps(values)
    later, truth = seen[LEARNED:], states[LEARNED:]
    with quiet():
        fitted = predictor.fit(seen[:LEARNED], states[:LEARNED])
        for horizon in (1, 2):
            rolled, expected = (
                roll_levels(fitted, later, truth, [LEVEL], horizon, at_once=way)
                for way in (True, False)
            )
            alike = same(rolled.p_values, expected.p_values) and same(rolled.sizes, expected.sizes)
            assert alike, (
                f"many windows at once have other p-values than one by one: what {what} declares "
                "for speed is not so; leave it out, or mend it"
            )


def check_lattice(predictor: ConformalHMM, what: str) -> None:
    """Check that a set too large to be listed holds exactly the plausible sequences."""
    seen, states = draw_steps("abc")
    steps = 4
    with quiet():
        fitted = predictor.fit(seen[:LEARNED], states[:LEARNED])
        new = seen[LEARNED : LEARNED + steps]
        try:
            prediction_set = fitted.set_params(max_candidates=1).predict_set(new, LEVEL)
        except ValueError:  # it does not go step by step through such a window
            return
        assert isinstance(prediction_set, LatticeSet)
        for path in product(STATES, repeat=steps):
            plausible = fitted.p_value(new, path) > 1 - LEVEL
            assert plausible == (path in prediction_set), (
                f"the trellis of {what} holds other sequences than its values say; leave `trellis` "
                "out, or let costs of a path add up to the score of its window"
            )


class Renamed(BaseEstimator):
    """A predictor called with numbers that stand for the labels and symbols of a model."""

    smoothing, allow_empty = False, True

    def __init__(self, cp: ConformalHMM, labels: Any, symbols: Any, states: Any = None) -> None:
        self.cp, self.labels, self.symbols, self.states = cp, labels, symbols, states

    def fit(self, seen: Any, past: Any) -> Renamed:
        self.cp.set_params(states=list(self.labels))
        self.cp.fit([self.symbols[k] for k in seen], [self.labels[k] for k in past])
        return self

    def predict_ranks(self, new: Any, horizon: int) -> dict[Any, Any]:
        shown = None if new is None else [self.symbols[k] for k in new]
        ranks = self.cp.predict_ranks(shown, horizon=horizon)
        place = {label: k for k, label in enumerate(self.labels)}
        return {tuple(place[code] for code in key): rank for key, rank in ranks.items()}
