"""A bounded past: ranks among the latest windows alone are exact, one by one and in batches."""

import itertools
import warnings
from dataclasses import dataclass
from fractions import Fraction
from math import fsum

import numpy as np
import pytest
from tests.memory.laws import RETURNING
from tests.memory.test_exactness import covered
from tests.products import covering
from tests.symmetry.test_by_visits import FOUR, NOTHING, SHOWN, THREE, TWO, coverage, same

from definetti import HMM, ConformalHMM, given_hmm
from definetti.data.history import Completion, History
from definetti.evaluation.window_loop import roll_levels
from definetti.simulate import weather
from definetti.symmetry import Departures, Reference, Spaced, TogetherDepartures
from definetti.verify import LAWS, enumerate_departures, enumerate_ranks, enumerate_sequences

pytestmark = pytest.mark.filterwarnings("ignore")

LEVELS = (0.5, 0.75, 0.8)
RECENT = (1, 2, 3)
CHAINS = {
    "sticky": ([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]]),
    "alternating": ([0.3, 0.7], [[0.1, 0.9], [0.9, 0.1]]),
    "reducible": ([0.9, 0.1], [[0.8, 0.2], [0.0, 1.0]]),
}
SEEN = {1: [[1.0], [1.0]], 2: [[0.8, 0.2], [0.3, 0.7]]}
MOVES = [[0.7, 0.3], [0.4, 0.6]]


def predictor(symmetry, model, n_symbols=2, **settings):
    how = {"smoothing": True, "allow_empty": True, "random_state": 0, **settings}
    behind = given_hmm(MOVES, SEEN[n_symbols]) if model == "fixed" else HMM()
    return ConformalHMM(behind, symmetry=symmetry, **how)


# Labelled steps, new ones and symbols: so many that `recent` leaves some windows out.
SHAPES = [(7, 1, 1), (4, 1, 2), (7, 2, 1), (8, 3, 1)]


@pytest.mark.parametrize(
    ("shape", "recent", "model"), covering(SHAPES, RECENT, ["refitted", "fixed"], fast=2)
)
def test_the_latest_blocks_are_exact_given_each_last_state(shape, recent, model):
    length, horizon, n_symbols = shape
    found = enumerate_ranks(
        predictor(Spaced(recent=recent), model, n_symbols), 2, n_symbols, length, horizon
    )
    assert max(rank.total for rank in found.ranks) <= recent + 1
    for initial, transition in CHAINS.values():
        law = np.array(initial), np.array(transition), np.array(SEEN[n_symbols])
        for level in LEVELS:
            held = found.coverage_given_last(*law, level)
            assert held[~np.isnan(held)] == pytest.approx(level, abs=1e-9)


@pytest.mark.parametrize(("length", "horizon"), [
    (4, 1), pytest.param(5, 2, marks=pytest.mark.slow),
])  # fmt: skip
@pytest.mark.parametrize(
    ("name", "recent", "model"),
    covering(["order two", "sojourns"], RECENT, ["refitted", "fixed"], fast=2),
)
def test_the_latest_blocks_of_tokens_are_exact(name, recent, model, length, horizon):
    law = LAWS[name]
    cp = predictor(Spaced(recent=recent), model, memory=law.memory)
    found = enumerate_sequences(cp, length, horizon)
    assert max(rank.total for rank in found.ranks) <= recent + 1
    for level in LEVELS:
        assert found.coverage_given_last(law, level, True) == pytest.approx(level, abs=1e-9)


def chance(low, high, alpha):
    """Return the probability that a p-value uniform between two numbers is above alpha."""
    return float(np.clip((high - alpha) / (high - low), 0.0, 1.0))


@pytest.mark.parametrize(
    ("shape", "model", "recent"),
    covering([(5, 1), (4, 2)], ["refitted", "fixed"], [1, 2], fast=2),
)
def test_a_backtest_is_exact_given_each_last_state(monkeypatch, shape, model, recent):
    """The second of two windows: smoothed, its p-value is uniform between two that are not."""
    known, horizon = shape
    monkeypatch.setattr("definetti.engine.task.PredictionTask.uniform", lambda task: 0.0)
    monkeypatch.setattr(
        "definetti.engine.segment.tie_uniforms", lambda entropy, key, rows: np.zeros(len(rows))
    )
    made = [
        predictor(Spaced(recent=recent), model, 1, states=[0, 1], smoothing=one)
        for one in (True, False)
    ]
    paths = list(itertools.product(range(2), repeat=known + 2 * horizon))
    seen = [0] * (known + 2 * horizon)
    bounds = []
    for states in paths:
        each = [cp.fit(seen[:known], states[:known]) for cp in made]
        each = [cp.evaluate(seen[known:], states[known:], horizon=horizon) for cp in each]
        bounds.append([one.p_values[1] for one in each])
    paths, bounds = np.array(paths), np.array(bounds)
    for initial, transition in CHAINS.values():
        moves = np.array(transition)[paths[:, :-1], paths[:, 1:]].prod(axis=1)
        weights = np.array(initial)[paths[:, 0]] * moves
        for level, last in itertools.product(LEVELS, range(2)):
            kept = (paths[:, -1] == last) & (weights > 0)
            chances = [chance(*ends, 1 - level) for ends in bounds[kept].tolist()]
            if kept.any():
                found = fsum(weights[kept] * chances) / fsum(weights[kept])
                assert found == pytest.approx(level, abs=1e-9)


# Departures, by visits.


@pytest.mark.parametrize(("departures", "horizon", "n_symbols"), [
    (3, 1, 2), (4, 1, 2), pytest.param(3, 2, 2, marks=pytest.mark.slow), (3, 3, 1), (4, 2, 1),
    pytest.param(5, 1, 2, marks=pytest.mark.slow),
])  # fmt: skip
@pytest.mark.parametrize("recent", RECENT)
def test_the_latest_departures_are_exact_under_a_fixed_model(
    recent, departures, horizon, n_symbols
):
    cp = predictor(Departures(recent=recent), "fixed", n_symbols)
    found = enumerate_departures(cp, 2, n_symbols, departures, horizon)
    assert {rank.total for rank in found.ranks} == {min(departures - 1, recent) + 1}
    for _, transition in CHAINS.values():
        law = np.array(transition), np.array(SEEN[n_symbols])
        whole = found._by_state(found.probabilities(*law), 2)
        assert whole == pytest.approx(1.0, abs=1e-12)
        for level in LEVELS:
            assert found.coverage(*law, level) == pytest.approx(level, abs=1e-9)


REFITTED = {
    "four, two steps": ((FOUR, NOTHING), 3, 2, None),
    "two, observed": ((TWO, SHOWN), 4, 1, "ab"),
    "two, two steps, observed": ((TWO, SHOWN), 3, 2, "ab"),
    "three, three steps": ((THREE, np.ones((3, 1))), 3, 3, None),
}


@pytest.mark.parametrize(
    ("name", "recent"), covering(REFITTED, [1, 2, 3], fast=2)
)  # fmt: skip
def test_the_latest_departures_are_exact_under_a_refitted_model(name, recent):
    law, departures, horizon, symbols = REFITTED[name]
    cp = ConformalHMM(HMM(), symmetry=Departures(recent=recent))
    found = coverage(same(cp), law, departures, horizon, 0.6, symbols)
    assert found == pytest.approx(0.6, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "model", "recent"),
    covering(["sojourns", "order two"], ["refitted", "fixed"], [1], fast=1),
)
def test_the_latest_departures_of_tokens_are_exact(name, model, recent):
    law, tokens = RETURNING[name]
    behind = {"model": given_hmm(MOVES, SEEN[2])} if model == "fixed" else {}
    for start in tokens[:1]:
        found = covered(
            law, law.memory, start, 3, 0.75, symmetry=Departures(recent=recent), **behind
        )
        assert found == pytest.approx(0.75, abs=1e-9), start


@dataclass(frozen=True)
class Backwards(Departures):
    """Windows chosen backwards from the present, as they must not be."""

    def reference(self, completion, generator):
        history, horizon, ends = completion.history, completion.horizon, []
        for visit in history.visits(history.last)[::-1].tolist():
            bound = ends[-1] - horizon if ends else len(history) - 1
            if visit + horizon <= bound and len(ends) < self.recent:
                ends.append(visit + horizon)
        return Reference.past(np.array(ends, dtype=np.int64))


@pytest.mark.parametrize(("made", "exact"), [(Departures, True), (Backwards, False)])
def test_departures_chosen_backwards_are_not_exact(made, exact):
    moves = [[0.8, 0.2], [1.0, 0.0]]
    cp = ConformalHMM(given_hmm(moves, np.ones((2, 1))), symmetry=made(recent=2))
    found = coverage(same(cp), (moves, np.ones((2, 1))), 4, 2, 0.6, [0])
    assert (abs(found - 0.6) < 1e-9) is exact


# What is compared with.


def test_the_latest_windows_of_several_series_are_those_of_the_last_first():
    states = np.array([0, 1, 0, 1, 0, 0, 1, 0, 0])  # series of 4, 2 and 3 steps
    history = History(2)
    history.append(states, np.zeros(9, dtype=np.int64))
    completion = Completion(history, np.array([0]), np.array([0]), 2)
    ends = {
        recent: TogetherDepartures((0, 4, 6), (0, 1, 2), recent=recent)
        .reference(completion, np.random.default_rng)
        .ends.tolist()
        for recent in (None, 1, 3)
    }
    assert ends == {None: [8, 5, 3, 1], 1: [8], 3: [8, 5, 3]}


@pytest.mark.parametrize("made", [Spaced, Departures, TogetherDepartures])
@pytest.mark.parametrize("recent", [0, -1, 1.5, "200", True])
def test_recent_is_a_whole_number_or_none(made, recent):
    with pytest.raises(ValueError, match=r"recent must be a whole number ≥ 1, got .*; use None"):
        made(recent=recent)


@pytest.mark.parametrize("recent", [2, None])
@pytest.mark.parametrize(
    ("made", "model", "settings"),
    covering(
        [Spaced, Departures],
        ["refitted", "fixed"],
        [{}, {"smoothing": True}, {"memory": 2}, {"memory": "age"}],
    ),
)
def test_batches_are_single_predictions(made, model, settings, recent):
    y, x = weather(90, random_state=3)
    how = {"train_size": 30} if model == "fixed" else {}
    cp = ConformalHMM(symmetry=made(recent=recent), random_state=0, **how, **settings)
    cp.fit(y[:60], x[:60])
    for horizon in (1, 2, 3):
        later = y[60:], x[60:], [0.5, 0.8], horizon
        once, apart = (roll_levels(cp, *later, at_once=one) for one in (True, False))
        for name in ("p_values", "sizes", "covers", "first"):
            np.testing.assert_array_equal(getattr(once, name), getattr(apart, name), name)
        windows = [y[k : k + horizon] for k in range(60, 70)]
        found = cp.predict_sets(windows, 0.6)
        for one, window in zip(found, windows, strict=True):
            single = cp.predict_set(window, 0.6)
            assert set(one.sequences) == set(single.sequences)
            assert all(one.p_value(path) == single.p_value(path) for path in single)


# What is said.


@pytest.mark.parametrize("made", [Spaced, Departures])
@pytest.mark.parametrize("settings", [
    {}, {"memory": 2}, {"train_size": 100}, {"train_size": 100, "max_candidates": 2},
    {"train_size": 100, "guarantee": "steps"},
], ids=str)  # fmt: skip
def test_a_level_that_needs_more_windows_is_told_with_the_remedy(made, settings):
    y, x = weather(500, random_state=0)
    new, told = y[498:], f"use symmetry={made.__name__}(recent="
    cp = ConformalHMM(symmetry=made(recent=20), **settings).fit(y[:498], x[:498])
    assert told not in cp.predict_set(new, 0.9).note
    assert f"{told}334)" in cp.predict_set(new, 0.94).note
    wide = ConformalHMM(symmetry=made(recent=334), **settings).fit(y[:498], x[:498])
    assert told not in wide.predict_set(new, 0.94).note
    assert "recent" not in cp.predict_p(new).note if "guarantee" not in settings else True


def test_a_short_history_is_not_blamed_on_recent():
    y, x = weather(40, random_state=0)
    s = ConformalHMM(symmetry=Spaced(recent=200)).fit(y[:39], x[:39]).predict_set(y[39:], 0.999)
    assert "recent" not in s.note


def test_the_warning_names_what_bounds_the_windows():
    y, x = weather(500, random_state=0)
    cp = ConformalHMM(symmetry=Spaced(recent=20), train_size=100).fit(y[:499], x[:499])
    told = (
        r"takes 99: compares with at most the latest 20 windows; use symmetry=Spaced\(recent=2000"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match=told):
            cp.predict_set(y[499:], 0.99)


def test_p_values_do_not_depend_on_the_level():
    y, x = weather(500, random_state=0)
    cp = ConformalHMM(symmetry=Spaced(recent=20)).fit(y[:498], x[:498])
    every = cp.predict_p(y[498:])
    for level in (0.5, 0.9, 0.99):
        s = cp.predict_set(y[498:], level)
        assert np.array_equal(s.all_p_values, every.all_p_values)
        assert len(s) == sum(Fraction(p) > 1 - Fraction(str(level)) for p in every.all_p_values)
