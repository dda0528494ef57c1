"""Checks that anyone can run on a score, symmetry, emission or model of their own.

Each raises an AssertionError that says what is wrong and what to do; none returns anything. They
work as the proofs of the package do: every sequence of a small model is enumerated, and a p-value
that is not exactly uniform is found out. What they cannot see is how a thing was made: a score or a
model that knows the labels that calibrate it is not valid, and passes.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from definetti._system.arrays import FloatArray
from definetti.conformal import ConformalHMM
from definetti.data.history import Completion, History, padded
from definetti.data.windows import Windows
from definetti.emissions import Categorical, Emission
from definetti.models import HMM, Model
from definetti.question import evaluate
from definetti.scores import Score
from definetti.symmetry import Symmetry
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


def check_score(score: Score) -> None:
    """Check that a score is a function of the model and of each window alone.

    Parameters
    ----------
    score : an object that derives from `definetti.scores.Score`

    Examples
    --------
    >>> from definetti.scores import Joint
    >>> check_score(Joint(order=2))
    """
    assert isinstance(score, Score), f"{score!r} does not derive from definetti.scores.Score"
    found = []
    for states, symbols in product([STATES, STATES[::-1]], [("a", "b"), ("b", "a")]):
        estimate, windows = _windows(states, symbols)
        values = evaluate(score, estimate, windows)
        parts = [Windows(*(part[[k]] for part in windows)) for k in range(len(values))]
        alone = [evaluate(score, estimate, one)[0] for one in parts]
        assert _same(values, alone), (
            "a window's score depends on the windows that are scored with it, or on those before; "
            "score each by itself, and keep nothing between calls"
        )
        found.append(values)
    assert all(_same(found[0], one) for one in found[1:]), (
        "the score computes with codes as if they were numbers: other codes for the same states "
        "or symbols give other scores; use codes only to look things up"
    )
    for horizon in (1, 2):
        _check_uniform(_predictor(HMM(), score, "returns"), 3, horizon, "the score")
    _check_rolling(ConformalHMM(HMM(), score, train_size=20, random_state=0), "score")


def check_symmetry(symmetry: Symmetry) -> None:
    """Check that a symmetry keeps what it declares, in every sequence of small models.

    Parameters
    ----------
    symmetry : an object that derives from `definetti.symmetry.Symmetry`

    Examples
    --------
    >>> from definetti.symmetry import Returns
    >>> check_symmetry(Returns())
    """
    assert isinstance(symmetry, Symmetry), (
        f"{symmetry!r} does not derive from definetti.symmetry.Symmetry"
    )
    clocked = symmetry.given == "last state"  # others hold by visits, not at a time of the clock
    for horizon in (1, 2):
        _check_orbits(symmetry, horizon)
        if symmetry.exact and clocked:
            predictor = _predictor(HMM(), "filter", symmetry)
            _check_uniform(predictor, 3, horizon, "the symmetry")
    if symmetry.exact and clocked and not symmetry.reads_observations:
        _check_forecast(symmetry)
    if symmetry.exact:
        _check_rolling(ConformalHMM(HMM(), "path", symmetry, train_size=20, random_state=0))


def check_emission(emission: Emission, observations: Sequence[Any]) -> None:
    """Check that an emission is a law of counts, and that a fixed one stays as it is.

    Parameters
    ----------
    emission : an object that derives from `definetti.emissions.Emission`
    observations : two or three that it reads, None for a missing one

    Examples
    --------
    >>> from definetti.emissions import Poisson
    >>> check_emission(Poisson(), [0, 3, None])
    """
    assert isinstance(emission, Emission), (
        f"{emission!r} does not derive from definetti.emissions.Emission"
    )
    rng = np.random.default_rng(0)
    values = [observations[k] for k in rng.integers(0, len(observations), 24)]
    values[: len(observations)] = observations
    states = rng.integers(0, 2, len(values))
    whole = _judge(emission, values, states, values)
    assert whole.shape == (len(values), 2), (
        f"log_likelihood has shape {whole.shape} for {len(values)} observations and 2 states; "
        "return codes.shape + (n_states,)"
    )
    gaps = [k for k, value in enumerate(values) if value is None]
    assert not whole[gaps].any(), "a missing observation, code −1, must have log-likelihood 0"
    order = rng.permutation(len(values))
    shuffled = _judge(emission, [values[k] for k in order], states[order], values)
    assert _same(whole, shuffled), (
        "the estimate depends on the order of observations, or on which was met first; let it "
        "depend on their sums, state by state, alone"
    )
    cut = len(values) // 2
    table, first = emission.encode(values[:cut], None, "observations")
    early = emission.statistics(table, first, states[:cut], 1 + states.max())
    table, second = emission.encode(values[cut:], table, "observations")
    late = emission.statistics(table, second, states[cut:], 2)
    logs = emission.log_likelihood(
        table, padded(early, *late.shape) + late, np.concatenate([first, second])
    )
    assert _same(whole, logs), "statistics of two stretches must add up to those of both"
    if not emission.ordered:
        swapped = _judge(emission, values, 1 - states, values)
        assert _same(whole[:, ::-1], swapped), (
            "states swap names and their likelihoods do not: set `ordered = True` if columns are "
            "states by their order, else treat all states alike"
        )
    _check_fixed(emission, observations, states, values)
    grid = _OnGrid(emission, tuple(observations[:2]))
    _check_uniform(_predictor(HMM(emission=grid), "path", "returns"), 3, 1, "the emission")
    _check_uniform(_predictor(_trained(grid), "path", "spaced"), 3, 2, "the fixed emission", seen=1)


def check_model(model: Model, observations: Sequence[Any], states: Sequence[Hashable]) -> None:
    """Check that a model's estimates are functions of what rearrangements share.

    Parameters
    ----------
    model : an object that derives from `definetti.models.Model`
    observations : two symbols that it reads
    states : its two states

    Examples
    --------
    >>> from definetti import given_hmm
    >>> model = given_hmm([[0.9, 0.1], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]], ["calm", "busy"])
    >>> check_model(model, [0, 1], ["calm", "busy"])
    """
    assert isinstance(model, Model), f"{model!r} does not derive from definetti.models.Model"
    model.check()
    symmetry = "spaced" if model.fixed else "full"
    predictor = _Renamed(_predictor(model, "filter", symmetry), tuple(states), tuple(observations))
    _check_uniform(predictor, 3, 1, "the model")
    if model.fixed:
        _check_uniform(predictor, 2, 2, "the fixed model", seen=1)


def _windows(states: tuple[str, ...], symbols: tuple[str, ...]) -> tuple[Any, Windows]:
    """Return an estimate and windows: the same whatever the codes of states and symbols."""
    emission = Categorical()
    table, _ = emission.encode(symbols, None, "observations")
    past = [states.index(one) for one in ("calm", "calm", "busy", "calm", "busy", "busy")]
    _, seen = emission.encode(["a", "b", "b", "a", "b", "b"], table, "observations")
    history = History(2)
    history.append(np.array(past), seen)
    statistics = emission.statistics(table, seen, np.array(past), 2)
    completion = Completion(history, np.array([states.index("calm")]), seen[:1], 2)
    estimate = HMM().estimate(completion, table, statistics, states)
    rows = list(product(("calm", "busy"), repeat=3))
    codes = np.array([[states.index(one) for one in row] for row in rows])
    shown = [one for row in product("ab", "ab", "ab") for one in row[1:]]
    observed = emission.encode(shown, table, "observations")[1].reshape(-1, 2)
    return estimate, Windows(codes[:, 0], codes[:, 1:], observed)


def _same(one: Any, other: Any) -> bool:
    a, b = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-9, atol=1e-9))


def _judge(emission: Emission, values: Any, states: Any, asked: Any) -> FloatArray:
    table, codes = emission.encode(values, None, "observations")
    statistics = emission.statistics(table, codes, states, 2)
    table, wanted = emission.encode(asked, table, "observations")
    shape = emission.statistics(table, codes[:0], states[:0], 2).shape
    return emission.log_likelihood(table, padded(statistics, *shape), wanted)


def _check_fixed(emission: Emission, observations: Any, states: Any, values: list[Any]) -> None:
    """Check that what comes later does not change a law that is fixed."""
    some = [value for value in values if value is None or value == observations[0]]
    labels = states[: len(some)]
    table, codes = emission.encode(some, None, "observations")
    fixed = emission.fix(table, codes, labels, STATES)
    statistics = fixed.statistics(table, codes, labels, 2)

    def judge(table: Any) -> FloatArray:
        shape = fixed.statistics(table, codes[:0], labels[:0], 2).shape
        return fixed.log_likelihood(table, padded(statistics, *shape), codes)

    before = judge(table)
    grown, _ = fixed.encode(list(observations), table, "observations")
    assert _same(before, judge(grown)), (
        "a law that was fixed changes when the table of observations grows; leave `fix` out, or "
        "return a law to which what else was observed does not matter"
    )


def _predictor(model: Model, score: Any, symmetry: Any) -> ConformalHMM:
    """Return a predictor whose smoothed coverage is the level: its sets may be empty."""
    return ConformalHMM(model, score, symmetry, allow_empty=True)


def _check_uniform(predictor: Any, length: int, horizon: int, what: str, seen: Any = None) -> None:
    """Check that smoothed coverage is the level: overall and given each last state."""
    with _quiet():
        everything = enumerate_ranks(predictor, 2, 2, length, horizon, observed=seen)
    smoothed = everything._replace(smoothing=True)
    for law, level in product(LAWS, LEVELS):
        start, steps, emitted = (np.array(part) for part in law)
        given = smoothed.coverage_given_last(start, steps, emitted, level)
        off = np.nanmax(np.abs(given - level))
        assert off <= CLOSE, (
            f"{what} is not valid: over all sequences of {length} labelled steps and {horizon} new "
            f"ones, coverage given the last state is off the level {level} by {off:.3g}; something "
            "in it is not the same for all rearrangements of a sequence"
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
    gappy = _OnGrid(Categorical(), ("a", None))
    _check_uniform(
        _predictor(HMM(emission=gappy), "filter", symmetry), 3, 2,
        "reads_observations is False, and the symmetry", seen=0,
    )  # fmt: skip


def _check_rolling(predictor: ConformalHMM, what: str = "symmetry") -> None:
    """Check that labels that come bit by bit give the p-values of a fresh fit."""
    rng = np.random.default_rng(1)
    states = [STATES[k] for k in (rng.random(60).cumsum() * 1.3).astype(int) % 2]
    symbols = [str(k) for k in rng.integers(0, 3, 60)]
    with _quiet():
        rolled = predictor.fit(symbols[:40], states[:40])
        for k in range(40, 60):
            fresh = ConformalHMM(**predictor.get_params(deep=False)).fit(symbols[:k], states[:k])
            new = symbols[k : k + 1]
            ours, theirs = (dict(one.predict_ranks(new)) for one in (rolled, fresh))
            assert ours == theirs, f"the {what} keeps something between predictions, or changes"
            rolled = rolled.partial_fit(new, states[k : k + 1])


class _OnGrid(Emission):
    """An emission of which whole numbers show the values of another."""

    def __init__(self, emission: Emission, values: tuple[Any, ...]) -> None:
        self.emission, self.values = emission, values
        self.symbols, self.ordered = emission.symbols, emission.ordered

    def encode(self, observations: Any, table: Any, name: str) -> Any:
        shown = [self.values[k] if isinstance(k, (int, np.integer)) else k for k in observations]
        return self.emission.encode(shown, table, name)

    def decode(self, table: Any, codes: Any) -> Any:
        return self.emission.decode(table, codes)

    def statistics(self, table: Any, codes: Any, states: Any, n_states: int) -> FloatArray:
        return self.emission.statistics(table, codes, states, n_states)

    def log_likelihood(self, table: Any, statistics: FloatArray, codes: Any) -> FloatArray:
        return self.emission.log_likelihood(table, statistics, codes)

    def fix(self, table: Any, codes: Any, states: Any, labels: Any) -> Emission:
        return _OnGrid(self.emission.fix(table, codes, states, labels), self.values)


def _trained(emission: Emission) -> Model:
    """Return a model fixed on a stretch that shows the first of two values alone."""
    states, shown = [0, 0, 1, 1, 0, 1, 0], [0, 0, None, None, 0, None, 0]
    with _quiet():
        fitted = ConformalHMM(HMM(emission=emission), train_size=6, states=[0, 1])
        return fitted.fit(shown, states).model_


class _Renamed(BaseEstimator):
    """A predictor asked by numbers that stand for the labels and symbols of a model."""

    smoothing, allow_empty = False, True

    def __init__(self, cp: ConformalHMM, labels: Any, symbols: Any, states: Any = None) -> None:
        self.cp, self.labels, self.symbols, self.states = cp, labels, symbols, states

    def fit(self, seen: Any, past: Any) -> _Renamed:
        self.cp.set_params(states=list(self.labels))
        self.cp.fit([self.symbols[k] for k in seen], [self.labels[k] for k in past])
        return self

    def predict_ranks(self, new: Any, horizon: int) -> dict[Any, Any]:
        shown = None if new is None else [self.symbols[k] for k in new]
        found = self.cp.predict_ranks(shown, horizon=horizon)
        place = {label: k for k, label in enumerate(self.labels)}
        return {tuple(place[one] for one in key): rank for key, rank in found.items()}


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield
