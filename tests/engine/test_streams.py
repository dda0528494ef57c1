"""Random numbers: one seed, many histories."""

import numpy as np
import pytest

from definetti import ConformalHMM
from definetti.data.digest import digest
from definetti.emissions import Categorical, Gaussian, Mixed, Poisson
from definetti.engine.task import PredictionTask
from definetti.simulate import sample

LAW = np.array([0.5, 0.5]), np.array([[0.8, 0.2], [0.3, 0.7]]), np.array([[0.9, 0.1], [0.2, 0.8]])


def drawn(number, length=30):
    rng = np.random.default_rng(7)
    for _ in range(number):
        states, symbols = sample(*LAW, length, rng)
        yield symbols.tolist(), states.tolist()


def uniforms(histories, monkeypatch, **parameters):
    """The numbers that break the ties of one prediction after each history."""
    broken, uniform = [], PredictionTask.uniform
    monkeypatch.setattr(PredictionTask, "uniform", lambda self: broken.append(uniform(self)) or 0.5)
    for y, x in histories:
        cp = ConformalHMM(smoothing=True, states=[0, 1], random_state=0, **parameters)
        cp.fit(y[:-1], x[:-1]).p_value(y[-1:], x[-1:])
    return np.array(broken)


@pytest.mark.slow_cases("parameters1")
@pytest.mark.parametrize("parameters", [{}, {"train_size": 10}])
def test_one_seed_breaks_ties_anew_for_every_history(monkeypatch, parameters):
    """Twenty classes of 400 numbers: chi-square of 19 degrees, 43.8 at an error rate of 0.001."""
    found = uniforms(drawn(400), monkeypatch, **parameters)
    counts, _ = np.histogram(found, bins=20, range=(0, 1))
    assert ((counts - 20) ** 2 / 20).sum() < 43.8


@pytest.mark.slow_cases("500-427-470")
@pytest.mark.parametrize(
    ("number", "low", "high"),
    [(500, 427, 470), pytest.param(2000, 1756, 1843, marks=pytest.mark.slow)],
)
def test_one_seed_over_many_histories_has_the_level(number, low, high):
    """Smoothed sets at 0.9: by the exact binomial law, the bounds err once in 1,000."""
    right = 0
    for y, x in drawn(number, length=12):
        cp = ConformalHMM(smoothing=True, allow_empty=True, states=[0, 1], random_state=0)
        cp.fit(y[:-1], x[:-1])
        right += tuple(x[-1:]) in cp.predict_set(y[-1:], 0.9)
    assert low <= right <= high


def numbers(length):
    rng = np.random.default_rng(3)
    return rng.normal(size=(length, 2)), rng.integers(2, size=length)


@pytest.mark.parametrize("kind", ["symbols", "numbers", "tables", "chain"])
def test_what_came_in_step_by_step_draws_what_it_draws_all_at_once(kind):
    values, states = numbers(40)
    y = {
        "symbols": (values[:, 0] > 0).tolist(),
        "numbers": values,
        "tables": [{"a": float(a), "b": "hot" if b > 0 else "cold"} for a, b in values],
        "chain": None,
    }[kind]
    part = lambda a, b: None if y is None else y[a:b]  # noqa: E731
    ask = {"horizon": 2} if y is None else {"new_observations": part(30, 32)}
    parameters = {"smoothing": True, "random_state": 5, "states": [0, 1]}
    once = ConformalHMM(**parameters).fit(part(0, 30), states[:30])
    steps = ConformalHMM(**parameters).fit(part(0, 7), states[:7])
    for k in range(7, 30):
        steps.predict_p(**ask)
        steps.partial_fit(part(k, k + 1), states[k : k + 1])
    np.testing.assert_array_equal(once.predict_p(**ask).p_values, steps.predict_p(**ask).p_values)
    other = ConformalHMM(**parameters).fit(part(0, 30), 1 - states[:30])
    assert _uniform(other, ask) != _uniform(once, ask)


def _uniform(cp, ask):
    return cp._task(ask.get("new_observations"), ask.get("horizon")).uniform()


@pytest.mark.parametrize(
    ("emission", "one", "other"),
    [
        (Categorical(), ["a", "b", "b"], ["a", "b", "a"]),
        (Gaussian(), [0.5, 1.5, 2.5], [0.5, 1.5, 2.25]),
        (Poisson(), [[1], [2], [3]], [[1], [2], [4]]),
        (Mixed(), [("a", 1.5), ("b", 2.5)], [("a", 1.5), ("b", 2.25)]),
    ],
)
def test_other_data_have_another_number(emission, one, other):
    found = []
    for values in (one, one, other):
        table, codes = emission.encode(values, None, "observations")
        found.append(digest(emission, table, codes, np.zeros(len(codes), dtype=np.int64)))
    assert found[0] == found[1] != found[2]


def test_the_order_of_data_counts():
    table, codes = Categorical().encode(["a", "b", "a"], None, "observations")
    states = np.array([0, 0, 1])
    every = {digest(Categorical(), table, codes[order], states[order])
             for order in np.array([[0, 1, 2], [0, 2, 1], [2, 0, 1], [1, 0, 2]])}  # fmt: skip
    assert len(every) == 4
