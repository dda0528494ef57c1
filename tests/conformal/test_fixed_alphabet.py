"""A fixed model's alphabet is fixed: symbols that it meets later must not tell the order of blocks.

Under a horizon that reaches beyond the new observations, a symbol of the last block may be out of
sight, while the same symbol in any other block is in sight.
"""

import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.products import covering

from definetti import HMM, ConformalHMM, LatticeSet
from definetti.data.history import Completion, History
from definetti.emissions import Categorical, Mixed, Text
from definetti.exceptions import FewBlocksWarning
from definetti.verify import enumerate_ranks, exact_coverage

# From 0 to one of four, on to C or D, and back; C alone shows a "c".
TOURS = {"A1": "C", "A2": "C", "B1": "D", "B2": "D"}
STATES = ["0", *TOURS, "C", "D"]
KINDS = {
    "symbols": (Categorical(), lambda y: y),
    "text": (Text(), lambda y: y),
    "columns": (Mixed({0: Categorical()}), lambda y: [y if y is None else (y,) for y in y]),
}


def tour(through):
    return [through, TOURS[through], "0"]


def elsewhere(kind):
    """A model that never saw a "c", nor anything in the states B."""
    emission, given = KINDS[kind]
    x, y = ["0"], ["a"]
    for through, number in zip(TOURS, (5, 4, 6, 5), strict=True):
        x += tour(through) * number
        y += ["a" if through.startswith("A") else None, None, "a"] * number
    return ConformalHMM(HMM(emission=emission), states=STATES).fit(given(y), x)


def histories(kind, **parameters):
    """All 16 histories of one tour and a second one to come, equally likely."""
    model, given = elsewhere(kind), KINDS[kind][1]
    for past, new in product(TOURS, repeat=2):
        x = ["0", *tour(past)]
        y = ["c" if state == "C" else "a" for state in x]
        cp = ConformalHMM(model, states=STATES, symmetry="spaced", **parameters)
        yield cp.fit(given(y), x), given(["a"]), tuple(tour(new))


@pytest.mark.slow_cases("symbols")
@pytest.mark.parametrize("kind", KINDS)
def test_a_symbol_out_of_sight_costs_no_coverage(kind):
    ranks = [cp.predict_ranks(y, horizon=3)[truth] for cp, y, truth in histories(kind)]
    half = Fraction(1, 2)
    assert np.mean([rank.exceeds(half) for rank in ranks]) >= 0.5
    assert np.mean([float(rank.chance(half)) for rank in ranks]) == 0.5


@pytest.mark.slow_cases("symbols")
@pytest.mark.parametrize("kind", KINDS)
def test_nor_in_a_lattice(kind):
    inside = []
    for cp, y, truth in histories(kind, max_candidates=5):
        s = cp.predict_set(y, 0.5, horizon=3)
        assert isinstance(s, LatticeSet)
        inside.append(truth in s)
    assert np.mean(inside) >= 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_nor_step_by_step(kind):
    """The same new observation after the same state is judged alike, whatever the past showed."""
    with warnings.catch_warnings():  # of one tour, most last states have too few blocks
        warnings.simplefilter("ignore", FewBlocksWarning)
        judged = {
            cp.predict_set(y, 0.5, horizon=3).marginals.tobytes()
            for cp, y, _ in histories(kind, guarantee="steps")
        }
    assert len(judged) == 1


def knows_one_symbol():
    """A model of two states that knows the symbol 0 alone, and the state 1 never showing it."""
    x = [0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0]
    fitted = ConformalHMM(states=[0, 1]).fit([0 if state == 0 else None for state in x], x)
    return ConformalHMM(fitted, states=[0, 1]).fit([0], [0]).model_


@pytest.mark.slow_cases("filter-steps4", "path-steps0")
@pytest.mark.parametrize(
    ("score", "steps"),
    covering(["path", "filter", "smoother", "joint", "band"], [(2, 1), (3, 1), (2, 0)], fast=3),
)
def test_new_symbols_under_a_horizon_by_enumeration(score, steps):
    horizon, observed = steps
    predictor = ConformalHMM(knows_one_symbol(), score, "spaced", allow_empty=True)
    everything = enumerate_ranks(predictor, 2, 2, 4, horizon, observed=observed)
    smoothed = everything._replace(smoothing=True)
    rng = np.random.default_rng(5)
    laws = [rng.dirichlet([1, 1], size) for size in (1, 2, 2)]
    sharp = [np.array([[0.5, 0.5]]), np.array([[0.1, 0.9], [0.6, 0.4]]), np.eye(2)]
    for initial, transition, emission in (laws, sharp):
        law = initial[0], transition, emission
        for level in (0.5, 0.6, 0.75):
            assert everything.coverage(*law, level) >= level - 1e-12
            assert np.nanmin(everything.coverage_given_last(*law, level)) >= level - 1e-12
            assert smoothed.coverage(*law, level) == pytest.approx(level, abs=1e-9)
            given = smoothed.coverage_given_last(*law, level)
            assert given == pytest.approx(level, abs=1e-9)


def test_exact_coverage_may_be_asked_of_a_forecast():
    law = [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.8, 0.2], [0.1, 0.9]]
    predictor = ConformalHMM(
        knows_one_symbol(), symmetry="spaced", smoothing=True, allow_empty=True
    )
    found = exact_coverage(predictor, *law, length=4, horizon=2, observed=1, confidence_level=0.6)
    assert found == pytest.approx(0.6, abs=1e-12)


@pytest.mark.parametrize("later", ["b", "c", "d"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_fixed_law_is_that_of_the_training_alone(kind, later):
    """Symbols that calibrate, and symbols that come up, share one cell and change no other."""
    emission, given = KINDS[kind]
    y, x = ["a", "b", None, "b", *[later] * 8], [0, 1, 1, 0] * 3
    model = ConformalHMM(HMM(emission=emission), train_size=4).fit(given(y), x).model_
    table, codes = model.emission_.encode(given(["a", "b", "e", None]), model.table, "new")
    nothing = np.zeros(0, dtype=np.int64)
    estimate = model.estimate(Completion(History(2), nothing, nothing, 2), table, None, (0, 1))
    expected = [[1.5 / 3.5, 0.5 / 2.5], [1.5 / 3.5, 1.5 / 2.5], [0.5 / 3.5, 0.5 / 2.5], [1, 1]]
    np.testing.assert_allclose(np.exp(estimate.log_likelihood(codes)), expected, rtol=1e-12)
