"""What holds for every emission: the rules that validity and speed rest on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests.making import drawing
from tests.products import some_slow

from definetti import HMM, ConformalHMM
from definetti.data.history import padded
from definetti.data.labels import MISSING
from definetti.emissions import Bernoulli, Categorical, Emission, Gaussian, Mixed, Poisson, Words
from definetti.emissions.base import JudgedAlone

# Few distinct values, so that there are ties, gaps, and columns that do not vary.
VALUES = {
    "full": (Gaussian("full"), [(0.0, 1.0), (2.5, 1.0), (1.0, -3.0), (0.5, None), None]),
    "diagonal": (Gaussian("diagonal"), [(0.0, 1.0), (2.5, 1.0), (None, -3.0), (0.5, None), None]),
    "tied": (Gaussian("tied"), [(0.0, 1.0), (2.5, 1.0), (1.0, -3.0), (0.5, None), None]),
    "numbers": (Gaussian(), [0.5, 1.5, -2.0, None]),
    "poisson": (Poisson(), [(0, 3), (4, 0), (None, 2), None]),
    "bernoulli": (Bernoulli(), [(True, False), (False, False), (None, True), None]),
    "words": (Words(), ["walking", "running", "Rome", "the", "12", None]),
    "categorical": (Categorical(), ["a", "b", "c", None]),
    "mixed": (Mixed(), [("a", 0.5), ("b", 1.5), (None, -2.0), ("c", None), None]),
}
VALUES |= {
    f"{name}, its example": (made(), list(made.example))
    for name, made in Emission.named.items()
    if made.example and not made.ordered  # who knows states by their columns has two
}
N_STATES = 4

labelled = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=25)


def taken(name, pairs):
    emission, values = VALUES[name]
    states = np.array([state for state, _ in pairs], dtype=np.int64)
    return emission, states, [values[k % len(values)] for _, k in pairs]


@pytest.mark.parametrize("name", some_slow(VALUES, ["words, its example"]))
@settings(max_examples=40, deadline=None)
@given(pairs=labelled, data=st.data())
def test_statistics_add_up(name, pairs, data):
    cut = data.draw(st.integers(0, len(pairs)))
    emission, states, values = taken(name, pairs)
    table, first = emission.encode(values[:cut], None, "observations")
    early = emission.statistics(table, first, states[:cut], N_STATES - 1)
    table, second = emission.encode(values[cut:], table, "observations")
    late = emission.statistics(table, second, states[cut:], N_STATES)
    codes = np.concatenate([first, second])
    whole = emission.statistics(table, codes, states, N_STATES)
    both = padded(early, *late.shape) + late
    np.testing.assert_allclose(both, whole, atol=1e-9)
    # The same as all at once, though codes and what numbers are measured from may differ.
    once, all_codes = emission.encode(values, None, "observations")
    np.testing.assert_allclose(
        emission.log_likelihood(table, both, codes),
        emission.log_likelihood(
            once, emission.statistics(once, all_codes, states, N_STATES), all_codes
        ),
        rtol=1e-8,
        atol=1e-8,
    )


@pytest.mark.parametrize("name", VALUES)
@settings(max_examples=40, deadline=None)
@given(pairs=labelled, data=st.data())
def test_neither_order_nor_codes_matter(name, pairs, data):
    order = data.draw(st.permutations(range(len(pairs))))
    likelihoods = []
    for arranged in (pairs, [pairs[k] for k in order]):
        emission, states, values = taken(name, arranged)
        table, codes = emission.encode(values, None, "observations")
        statistics = emission.statistics(table, codes, states, N_STATES)
        likelihoods.append(emission.log_likelihood(table, statistics, codes))
    here, there = likelihoods
    np.testing.assert_allclose(there, here[order], rtol=1e-8, atol=1e-8)
    assert not np.isnan(here).any()
    # The state without data rules nothing out, and a missing observation says nothing.
    assert np.isfinite(here).all()
    assert (here[codes[np.argsort(order)] == MISSING] == 0).all()


@pytest.mark.parametrize("name", VALUES)
def test_names_of_states_do_not_matter(name):
    rng = np.random.default_rng(0)
    pairs = list(zip(rng.integers(0, 3, 20), rng.integers(0, 6, 20), strict=True))
    emission, states, values = taken(name, pairs)
    table, codes = emission.encode(values, None, "observations")
    renamed = np.array([2, 0, 1])
    here, there = (
        emission.log_likelihood(table, emission.statistics(table, codes, s, 3), codes)
        for s in (states, renamed[states])
    )
    np.testing.assert_allclose(there[:, renamed], here, rtol=1e-10)


@pytest.mark.parametrize("name", VALUES)
def test_batches_of_any_shape(name):
    emission, states, values = taken(name, [(k % 3, k) for k in range(24)])
    table, codes = emission.encode(values, None, "observations")
    statistics = emission.statistics(table, codes, states, 3)
    flat = emission.log_likelihood(table, statistics, codes)
    for shape in ((24,), (4, 6), (24, 1), (0, 2)):
        batch = codes[: np.prod(shape)].reshape(shape)
        found = emission.log_likelihood(table, statistics, batch)
        assert found.shape == (*shape, 3)
        assert (found.dtype, found.flags.c_contiguous) == (np.float64, True)
        np.testing.assert_allclose(found, flat[: np.prod(shape)].reshape(found.shape), rtol=1e-12)
    assert emission.decode(table, codes.reshape(4, 6)).shape[:2] == (4, 6)


@pytest.mark.parametrize("symmetry", ["full", "returns", "spaced"])
@pytest.mark.parametrize("name", VALUES)
def test_in_the_estimator(name, symmetry):
    """Through the door: fit, predict, learn on, forecast, and a state never seen."""
    rng = np.random.default_rng(1)
    pairs = list(zip(rng.integers(0, 2, 30), rng.integers(0, 6, 30), strict=True))
    emission, states, values = taken(name, pairs)
    symmetry = drawing(symmetry, 19)
    cp = ConformalHMM(HMM(emission=emission), symmetry=symmetry, random_state=0)
    cp.fit(values[:20], states[:20])
    everything = cp.predict_p(values[20:22])
    assert len(everything.sequences) == 4
    cp.partial_fit(values[20:25], states[20:25])
    again = ConformalHMM(HMM(emission=emission), symmetry=symmetry, random_state=0)
    again.fit(values[:25], states[:25])
    for new in (values[25:26], values[28:30]):
        np.testing.assert_allclose(cp.predict_p(new).p_values, again.predict_p(new).p_values)
    assert 0 < cp.p_value(values[25:26], ["new"]) <= 1
    assert 0 < cp.p_value(values[25:26], [1]) <= 1
    assert len(cp.predict_p(horizon=2).sequences) == 4


def test_set_params_of_an_estimator_replaces_the_emission():
    emission = Gaussian()
    cp = ConformalHMM(HMM(emission=emission))
    cp.set_params(model__emission__covariance="diagonal", model__prior=1)
    assert cp.model.get_params(deep=False) == {"prior": 1, "emission": Gaussian("diagonal")}
    assert cp.get_params()["model__emission__covariance"] == "diagonal"
    assert emission == Gaussian()
    assert clone(cp).model.emission == Gaussian("diagonal")


def test_set_params_refuses_what_is_no_parameter_of_the_emission():
    cp = ConformalHMM(HMM(emission=Gaussian()))
    with pytest.raises(ValueError, match="'covarianc' is no parameter of Gaussian"):
        cp.set_params(model__emission__covarianc="diagonal")
    with pytest.raises(ValueError, match="covariance must be one of"):
        cp.set_params(model__emission__covariance="round")


def test_an_emission_that_is_no_dataclass_has_no_parameters():
    class Plain(JudgedAlone):
        """Keeps an argument under another name."""

        def __init__(self, law):
            super().__init__(law, None)

    plain = Plain(Categorical())
    assert plain.get_params() == {}
    assert clone(ConformalHMM(HMM(emission=plain))).model.emission is plain
