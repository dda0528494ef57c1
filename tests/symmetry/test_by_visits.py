"""Departures by visits: all histories up to the m-th departure from a state, added up.

The chains are such that every way back is short, so that the histories can be listed.
"""

from fractions import Fraction
from itertools import product
from math import fsum

import numpy as np
import pytest
from tests.making import grouped

from definetti import HMM, ConformalHMM
from definetti.emissions import Poisson
from definetti.emissions.choice import choose
from definetti.engine.algorithm import rank
from definetti.levels import budget
from definetti.monitor import Monitor
from definetti.simulate import sample

pytestmark = pytest.mark.filterwarnings("ignore")

# Four states, of which the third and fourth are met on ways back to the first alone, or in windows
# of two steps; and three, of which the third is met on ways back alone.
FOUR = [[0.3, 0.7, 0, 0], [0.5, 0, 0.3, 0.2], [0.6, 0, 0, 0.4], [1.0, 0, 0, 0]]
THREE = [[0.3, 0.7, 0], [0.5, 0, 0.5], [1.0, 0, 0]]
TWO = [[0.6, 0.4], [1.0, 0]]
NOTHING = np.ones((4, 1))
ONE_EACH = [[0.8, 0.2, 0], [0, 1.0, 0], [0, 0, 1.0]]  # the last symbol on ways back, too
ON_THE_WAY = [[0.8, 0.2, 0], [0.3, 0.7, 0], [0.5, 0, 0.5]]
SHOWN = [[1.0, 0], [0.3, 0.7]]


def histories(transition, emission, departures, horizon, skip=0):
    """List states and symbols up to a departure from state 0, counted from a row on."""
    steps = list(product(range(len(transition)), range(len(emission[0]))))

    def follow(path, weight, free, met):
        time, state = len(path) - 1, path[-1][0]
        if state == 0 and time >= max(skip, free):
            met, free = met + 1, time + horizon
            if met == departures:
                yield path, weight
                return
        for x, y in steps:
            chance = transition[state][x] * emission[x][y]
            if chance:
                yield from follow([*path, (x, y)], weight * chance, free, met)

    for y, chance in enumerate(emission[0]):
        if chance:
            yield from follow([(0, y)], chance, 0, 0)


def windows(transition, emission, horizon):
    """List the windows that depart from state 0."""
    steps = list(product(range(len(transition)), range(len(emission[0]))))
    for window in product(steps, repeat=horizon):
        weight, state = 1.0, 0
        for x, y in window:
            weight, state = weight * transition[state][x] * emission[x][y], x
        if weight:
            yield window, weight


def coverage(make, law, departures, horizon, level, symbols=None, skip=0):
    """Return the smoothed coverage at the m-th departure, of estimators made for each window.

    Parameters
    ----------
    make : from the observations and states of a history and a window to an estimator
    skip : the row from which on departures are counted
    """
    alpha, covered, number = 1 - Fraction(str(level)), [], 0
    for path, weight in histories(*law, departures, horizon, skip):
        states, seen = (
            [x for x, _ in path],
            [None if symbols is None else symbols[y] for _, y in path],
        )
        known = {}
        for window, chance in windows(*law, horizon):
            truth = [x for x, _ in window]
            new = None if symbols is None else [symbols[y] for _, y in window]
            cp = make([*seen, *(new or ())], [*states, *truth])
            if id(cp) not in known:
                known = {id(cp): cp.fit(None if symbols is None else seen, states)}
            task, codes = cp._ask_about(new, truth)
            found = rank(task, codes[None]).ranks()[0]
            number += 1
            if number % 17 == 0:
                assert found.p_value() == cp.p_value(new, truth)
            covered.append(weight * chance * float(found.chance(alpha)))
    assert number > 20
    return fsum(covered)


def same(cp):
    """Make one estimator for all."""
    return lambda observations, states: cp


# Which states a model knows.


@pytest.mark.parametrize(("departures", "level"), [
    (3, 0.8), pytest.param(4, 0.8, marks=pytest.mark.slow),
])  # fmt: skip
def test_a_refitted_model_is_exact_where_states_are_not_declared(departures, level):
    cp = ConformalHMM(HMM(), symmetry="departures")
    found = coverage(same(cp), (FOUR, NOTHING), departures, 2, level)
    assert found == pytest.approx(level, abs=1e-9)


@pytest.mark.slow
def test_with_all_states_that_were_met_it_would_not_be():
    def knowing_all(observations, states):
        return ConformalHMM(HMM(), symmetry="departures", states=sorted(set(states)))

    assert coverage(knowing_all, (FOUR, NOTHING), 4, 2, 0.8) == pytest.approx(0.7986, abs=1e-4)


@pytest.mark.parametrize("departures", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_a_fixed_model_is_exact_where_states_are_not_declared(departures):
    cp = ConformalHMM(HMM(), symmetry="departures", train_size=2)
    found = coverage(same(cp), (FOUR, NOTHING), departures, 2, 0.5, "a", skip=2)
    assert found == pytest.approx(0.5, abs=1e-9)


def test_a_state_that_is_not_known_has_probability_zero():
    x = [0, 1, 0, 1, 0, 2, 0, 3, 0, 1, 0]

    def transition(**how):
        task = ConformalHMM(symmetry="departures", **how).fit(None, x)._task(None, 1)
        return task.estimate(task.complete_with(0)).transition

    trained = transition(train_size=4)
    assert (trained[:, :2] > 0).all()
    assert (trained[:, 2:] == 0).all()
    assert (transition(train_size=4, states=range(4)) > 0).all()
    assert (transition() > 0).all()  # all of them followed state 0
    assert trained.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("horizon", [1, 2])
def test_refits_at_once_know_the_same_states_as_one_by_one(horizon):
    """Nine states, most of them met on ways that not all orders of the windows have."""
    rng = np.random.default_rng(0)
    x = [0, *rng.integers(0, 3, 8), 0, *range(1, 9), 4, 0, 5, 0, 1, 0]
    y = rng.integers(0, 3, len(x)).tolist()
    cp = ConformalHMM(HMM(), symmetry="departures").fit(y, x)
    found = cp.predict_ranks([1] * horizon)  # many candidates share their work
    assert len(found) == 9**horizon
    task = cp._task([1] * horizon, None)
    known = task.symmetry.training_subset(task.complete(np.zeros(horizon, dtype=np.int64)))
    assert len(set(task.history.states[known].tolist())) < 9
    for candidate in [*found][:: 3 * horizon]:
        task, codes = cp._ask_about([1] * horizon, candidate)
        assert found[candidate] == rank(task, codes[None]).ranks()[0]


# Which law of the observations is chosen.

KINDS = {
    "whole, then a fraction": [1, 2, 0.5],
    "switches, then counts": [[1, 0], [0, 1], [2, 5]],
    "numbers, then text": [[1], [2], ["text"]],
}


@pytest.mark.parametrize(("kind", "emission"), [
    ("whole, then a fraction", ONE_EACH),
    ("numbers, then text", ONE_EACH),
    pytest.param("switches, then counts", ON_THE_WAY, marks=pytest.mark.slow),
    pytest.param("whole, then a fraction", ON_THE_WAY, marks=pytest.mark.slow),
])  # fmt: skip
def test_the_law_is_that_of_rows_that_all_orders_share(kind, emission):
    cp = ConformalHMM(symmetry="departures", states=range(3))
    found = coverage(same(cp), (THREE, emission), 3, 1, 0.5, KINDS[kind])
    assert found == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize(("kind", "level"), [
    ("whole, then a fraction", 0.5012), ("numbers, then text", 0.4960),
])  # fmt: skip
def test_the_law_of_all_rows_would_not_be_exact(kind, level):
    def chosen_by_all(observations, states):
        law = HMM(emission=choose(observations))
        return ConformalHMM(law, symmetry="departures", states=range(3))

    found = coverage(chosen_by_all, (THREE, ONE_EACH), 3, 1, 0.5, KINDS[kind])
    assert found == pytest.approx(level, abs=1e-4)


def test_rows_that_the_law_cannot_read_count_as_missing():
    x = [0, 1, 0, 1, 2, 0, 0, 1, 0]
    y = [[0, 1], [1, 1], [0, 0], [0, 1], [7, 2], [1, 1], [0, 1], [1, 0], [1, 1]]
    cp = ConformalHMM(symmetry="departures").fit(y[:4], x[:4])
    for k in range(4, 9):  # the parts in which rows come do not matter
        cp.partial_fit(y[k : k + 1], x[k : k + 1])
    assert isinstance(cp.model_.emission_, Poisson)  # of all rows, [7, 2] included
    task = cp._task([[1, 0]], None)
    assert type(task.model.emission_).__name__ == "Bernoulli"
    assert np.flatnonzero(task.history.observations < 0).tolist() == [4]
    whole = ConformalHMM(symmetry="departures").fit(y, x)
    assert whole.predict_ranks([[1, 0]]) == cp.predict_ranks([[1, 0]])
    missing = [*y[:4], None, *y[5:]]
    told = ConformalHMM(HMM(emission="bernoulli"), symmetry="departures").fit(missing, x)
    assert told.predict_ranks([[1, 0]]) == cp.predict_ranks([[1, 0]])
    other = cp._task([[3, 3]], None)  # the new observations have their say
    assert isinstance(other.model.emission_, Poisson)


# Where the training segment ends.


@pytest.mark.parametrize(("rows", "departures"), [
    (3, 3), (2, 4), pytest.param(3, 6, marks=pytest.mark.slow),
])  # fmt: skip
def test_a_number_of_rows_is_exact(rows, departures):
    cp = ConformalHMM(HMM(), symmetry="departures", train_size=rows, states=[0, 1])
    found = coverage(same(cp), (TWO, SHOWN), departures, 1, 0.6, "ab", skip=rows)
    assert found == pytest.approx(0.6, abs=1e-9)


def test_half_of_the_rows_would_not_be_exact():
    made = {}

    def half(observations, states):
        rows = (len(states) - 1) // 2
        how = {"symmetry": "departures", "train_size": rows, "states": [0, 1]}
        return made.setdefault(rows, ConformalHMM(HMM(), **how))

    assert coverage(half, (TWO, SHOWN), 5, 1, 0.6, "ab") == pytest.approx(0.5897, abs=1e-4)


@pytest.mark.parametrize("share", [0.5, np.float64(0.25)])
def test_a_share_is_refused(share):
    y, x = list("ab" * 50), [0, 1] * 50
    cp = ConformalHMM(symmetry="departures", train_size=share)
    told = f"a share of the history's length.*such as train_size={int(100 * share)}$"
    with pytest.raises(ValueError, match=told):
        cp.fit(y, x)
    cp.set_params(train_size=int(100 * share)).fit(y, x)
    assert cp.n_steps_ == 100 - int(100 * share)
    ConformalHMM(train_size=share).fit(y, x)  # at a time of the clock a share is fixed in advance


def test_levels_are_chosen_by_the_training_segment_alone():
    """And not by how many rows calibrate, which depends on their windows."""
    rng = np.random.default_rng(0)
    moves = np.array([[0.9, 0.06, 0.04], [0.06, 0.9, 0.04], [0.4, 0.4, 0.2]])
    x = sample(np.ones(3) / 3, moves, np.eye(3), 400, rng).states
    y = rng.normal(np.array([0.0, 3.0, 1.5])[x])
    cp = ConformalHMM(symmetry="departures", train_size=200, states=[0, 1, 2])
    levels = [budget(cp.fit(y[:end], x[:end])) for end in (230, 260, 400)]
    assert levels[0] == levels[1] == levels[2]
    assert len(set(levels[0].values())) > 2
    # Nor by a state that comes up later, whatever is compared.
    late = x.tolist()
    late[300] = 3
    for symmetry in ("departures", "spaced"):
        cp = ConformalHMM(symmetry=symmetry, train_size=200)
        assert budget(cp.fit(y, late)) == budget(cp.fit(y, x))


# Several series.


@pytest.mark.parametrize("series", ["own", "others"])
def test_each_of_several_series_is_exact_where_states_are_not_declared(series):
    """The other series has two of the states; the third and fourth are its own."""
    other = [0, 1]

    class OfTwo:
        """The estimator of one of two series."""

        def fit(self, observations, states):
            seen = observations + ["a"] * len(other)
            groups = ["own"] * len(states) + ["other"] * len(other)
            both = grouped(HMM(), symmetry="departures", series=series)
            both.fit(seen, [*states, *other], groups)
            self.cp = both.estimators_["own"]

        def __getattr__(self, name):
            return getattr(self.cp, name)

    found = coverage(same(OfTwo()), (FOUR, NOTHING), 3, 2, 0.5, "a")
    assert found == pytest.approx(0.5, abs=1e-9)


# A monitor ranks by the whole class, whose members share all rows.


def test_a_monitor_chooses_the_law_by_all_rows():
    x = [0, 1, 0, 1, 2, 0, 0, 1, 0, 1, 0, 0]
    y = [
        [0, 1],
        [1, 1],
        [0, 0],
        [0, 1],
        [7, 2],
        [1, 1],
        [0, 1],
        [1, 0],
        [1, 1],
        [1, 0],
        [0, 1],
        [1, 1],
    ]
    found = []
    for symmetry in ("departures", "spaced"):
        cp = ConformalHMM(symmetry=symmetry, random_state=0).fit(y[:9], x[:9])
        monitor = Monitor(cp, random_state=0)
        list(monitor.run(y[9:], x[9:]))
        found.append({name: values.tolist() for name, values in monitor.p_values.items()})
    assert found[0] == found[1]
    assert all(len(values) == 3 for values in found[0].values())
