"""Every guarantee, by adding up the probability of all sequences: no simulation, no error bar."""

import itertools

import numpy as np
import pytest

from definetti import HMM, ConformalHMM
from definetti.exceptions import NotExactWarning
from definetti.scores import Score
from definetti.symmetry import BlockGroup, Full, Symmetry
from definetti.verify import enumerate_ranks, exact_coverage

LEVELS = (0.5, 0.75, 0.8, 0.9)


def two_states(p, b, initial=(0.5, 0.5)):
    """The paper's first grid."""
    return initial, [[p, 1 - p], [1 - p, p]], [[b, 1 - b], [1 - b, b]]


def random_model(n, m, seed):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n), n), rng.dirichlet(np.ones(m), n)


MODELS = {
    "p=0.1 b=0.5": two_states(0.1, 0.5),
    "p=0.1 b=0.75": two_states(0.1, 0.75),
    "p=0.1 b=0.9": two_states(0.1, 0.9),
    "p=0.3 b=0.75": two_states(0.3, 0.75),
    "iid, meaningless": two_states(0.5, 0.5),
    "iid, informative": two_states(0.5, 0.9),
    "iid, unequal": ([0.3, 0.7], [[0.3, 0.7], [0.3, 0.7]], [[0.6, 0.4], [0.1, 0.9]]),
    "p=0.7 b=0.75": two_states(0.7, 0.75),
    "p=0.9 b=0.5": two_states(0.9, 0.5),
    "p=0.9 b=0.9": two_states(0.9, 0.9),
    "sticky, known start": two_states(0.99, 0.9, (1, 0)),
    "reducible": ([0.5, 0.5], [[0.8, 0.2], [0, 1]], [[0.7, 0.3], [0.2, 0.8]]),
    "two closed classes": ([0.4, 0.6], [[1, 0], [0, 1]], [[0.7, 0.3], [0.2, 0.8]]),
    "deterministic rows": ([1, 0], [[0, 1], [1, 0]], [[0.7, 0.3], [0.4, 0.6]]),
    "deterministic emission": ([0.5, 0.5], [[0.6, 0.4], [0.3, 0.7]], [[1, 0], [0, 1]]),
    "hidden altogether": ([0.5, 0.5], [[0.6, 0.4], [0.3, 0.7]], [[1, 0], [1, 0]]),
    "random": random_model(2, 2, 1),
    "three states": random_model(3, 2, 2),
    "three states, a cycle": ([1, 0, 0], [[0, 1, 0], [0, 0, 1], [1, 0, 0]], [[0.5, 0.5]] * 3),
    "three states, reducible": (
        [0.6, 0.4, 0],
        [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0, 0, 1]],
        [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]],
    ),
    "three symbols": random_model(2, 3, 3),
    "one symbol": random_model(3, 1, 4),
    "one state": ([1], [[1]], [[0.4, 0.6]]),
}


def strangest_symbol(windows):
    """Score windows in a way that has nothing to do with the model; some are infinite."""
    odd = (windows.observations.max(axis=1) + windows.states.sum(axis=1) % 2).astype(float)
    return np.where(odd > 2, np.inf, odd)


# Whatever has a name is proved; what holds by visits is proved in tests/symmetry.
SYMMETRIES = {
    name: name for name, one in Symmetry.named.items() if one().exact and one.given == "last state"
} | {"own group": BlockGroup([[0, 1], [1, 0]])}
SCORES = {name: name for name in Score.named} | {"callable": strangest_symbol}
# States, symbols, labelled steps, horizon. Of the small ones there are a few hundred sequences.
SMALL = [(2, 2, 3, 1), (2, 2, 2, 2), (3, 2, 2, 1), (2, 3, 2, 1), (3, 1, 3, 2)]
LARGE = [(2, 2, 4, 1), (2, 2, 4, 2), (2, 2, 3, 3), (3, 2, 3, 1), (2, 3, 2, 2), (3, 1, 4, 2)]
SMALL_BY_PRIOR = {0.5: SMALL, 0: [(2, 2, 3, 1)]}
LARGE_BY_PRIOR = {0.5: LARGE, 0: [(2, 2, 4, 2)]}


def fitting(n, m):
    """All models of a shape."""
    for name, model in MODELS.items():
        initial, transition, emission = (np.array(part, dtype=float) for part in model)
        if emission.shape == (n, m):
            yield name, initial, transition, emission


def test_models_are_many():
    assert len(MODELS) >= 20


def check(symmetry, score, prior, shape):
    predictor = ConformalHMM(
        model=HMM(prior=prior), symmetry=SYMMETRIES[symmetry], conformity_score=SCORES[score]
    )
    filled = enumerate_ranks(predictor, *shape)  # no set is empty
    everything = filled._replace(predictions=())  # as with allow_empty=True
    for name, *model in fitting(*shape[:2]):
        for level in LEVELS:
            conservative = everything.coverage(*model, level)
            assert conservative >= level - 1e-12, (name, shape, level)
            given = everything.coverage_given_last(*model, level)
            assert np.nanmin(given) >= level - 1e-12, (name, shape, level, given)
            smoothed = everything._replace(smoothing=True)
            assert smoothed.coverage(*model, level) == pytest.approx(level, abs=1e-9)
            given = smoothed.coverage_given_last(*model, level)
            assert given[~np.isnan(given)] == pytest.approx(level, abs=1e-9)
            more = filled._replace(smoothing=True).coverage_given_last(*model, level)
            assert np.nanmin(more - given) >= -1e-12, (name, shape, level)
            more = filled.coverage_given_last(*model, level)
            assert np.nanmin(more) >= level - 1e-12, (name, shape, level)


# Each score, each symmetry and each shape; all with all are for the slow tests, with larger shapes.
TOGETHER = list(zip(itertools.cycle(SYMMETRIES), SCORES, strict=False))


@pytest.mark.slow_cases(
    "0-full-band",
    "0-pairs-emission",
    "0-returns-callable",
    "0-returns-filter",
    "0-spaced-joint",
    "0.5-full-band",
    "0.5-full-smoother",
    "0.5-own group-path",
    "0.5-pairs-emission",
    "0.5-pairs-transition",
    "0.5-returns-callable",
    "0.5-returns-filter",
    "0.5-spaced-joint",
)
@pytest.mark.parametrize(("symmetry", "score"), TOGETHER)
@pytest.mark.parametrize("prior", SMALL_BY_PRIOR)
def test_coverage_is_exact(symmetry, score, prior):
    for shape in SMALL_BY_PRIOR[prior]:
        check(symmetry, score, prior, shape)


@pytest.mark.slow
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("symmetry", SYMMETRIES)
@pytest.mark.parametrize("prior", LARGE_BY_PRIOR)
def test_coverage_is_exact_for_all(symmetry, score, prior):
    for shape in LARGE_BY_PRIOR[prior]:
        check(symmetry, score, prior, shape)


@pytest.mark.slow
@pytest.mark.parametrize("symmetry", ["full", "returns"])
def test_coverage_is_exact_for_longer_histories(symmetry):
    everything = enumerate_ranks(ConformalHMM(symmetry=symmetry, allow_empty=True), 2, 2, 5, 1)
    for name, *model in fitting(2, 2):
        for level in LEVELS:
            assert everything.coverage(*model, level) >= level - 1e-12, (name, level)
            smoothed = everything._replace(smoothing=True)
            assert smoothed.coverage(*model, level) == pytest.approx(level, abs=1e-9)


@pytest.mark.parametrize(
    ("n_symbols", "length", "level", "coverage"),
    [
        (1, 6, 0.9, 0.8816),
        pytest.param(1, 11, 0.8, 0.7358, marks=pytest.mark.slow),
        pytest.param(2, 6, 0.9, 0.8898, marks=pytest.mark.slow),
    ],
)
def test_the_published_program_under_covers(n_symbols, length, level, coverage):
    """At the paper's p = 0.1 with meaningless observations, horizon 1."""
    predictor = ConformalHMM(HMM(prior=0), "filter", "published", allow_empty=True)
    with pytest.warns(NotExactWarning):
        everything = enumerate_ranks(predictor, 2, n_symbols, length, 1)
    initial, transition, _ = two_states(0.1, 0.5)
    meaningless = np.full((2, n_symbols), 1 / n_symbols)
    found = everything.coverage(np.array(initial), np.array(transition), meaningless, level)
    assert found < level
    assert found == pytest.approx(coverage, abs=5e-5)
    pairs = enumerate_ranks(predictor.set_params(symmetry="pairs"), 2, n_symbols, length, 1)
    assert pairs.coverage(np.array(initial), np.array(transition), meaningless, level) >= level


@pytest.mark.slow
def test_shifts_are_not_exact():
    with pytest.warns(NotExactWarning, match="does not guarantee"):
        everything = enumerate_ranks(
            ConformalHMM(
                symmetry="shifts", conformity_score="filter", smoothing=True, allow_empty=True
            ),
            2, 2, 4, 2,
        )  # fmt: skip
    model = [np.array(part, dtype=float) for part in MODELS["p=0.1 b=0.5"]]
    assert everything.coverage(*model, 0.8) < 0.7


@pytest.mark.slow_cases("False", "True")
@pytest.mark.parametrize("allow_empty", [False, True])
def test_exact_coverage_is_that_of_a_plain_loop(allow_empty):
    """The enumeration itself, against a loop that asks the estimator for one set after another."""
    from itertools import product

    initial, transition, emission = map(np.array, MODELS["p=0.3 b=0.75"])
    predictor = ConformalHMM(confidence_level=0.75, states=[0, 1], allow_empty=allow_empty)
    total = 0.0
    for x in product(range(2), repeat=4):
        for y in product(range(2), repeat=4):
            p = initial[x[0]] * np.prod(emission[list(x), list(y)])
            p *= np.prod([transition[i, j] for i, j in itertools.pairwise(x)])
            s = predictor.fit(y[:3], x[:3]).predict_set(y[3:])
            total += p * (x[3:] in s)
    found = exact_coverage(predictor, initial, transition, emission, length=3, horizon=1)
    assert found == pytest.approx(total, abs=1e-12)
    assert found >= 0.75


@pytest.mark.slow
def test_sampling_is_exact_on_average_over_its_draws():
    """Draws instead of counts: coverage by enumeration, averaged over many seeds.

    The mean of 30 seeds has a standard error of 0.003 (measured); the bound is five of them.
    """
    model = [np.array(part, dtype=float) for part in MODELS["p=0.3 b=0.75"]]
    coverages = [
        enumerate_ranks(
            ConformalHMM(
                symmetry=Full(max_windows=0, n_resamples=9),
                smoothing=True,
                random_state=k,
                allow_empty=True,
            ),
            2,
            2,
            3,
            1,
        ).coverage(*model, 0.8)
        for k in range(30)
    ]
    assert np.mean(coverages) == pytest.approx(0.8, abs=0.015)


@pytest.mark.parametrize(
    ("initial", "transition", "emission", "message"),
    [
        ([0.5, 0.6], [[0.5, 0.5]] * 2, [[1.0]] * 2, "initial"),
        ([0.5, 0.5], [[0.5, 0.6]] * 2, [[1.0]] * 2, "transition"),
        ([0.5, 0.5], [[0.5, 0.5]] * 2, [[-1.0, 2.0]] * 2, "emission"),
        ([0.5, 0.5], [[0.5, 0.5]] * 2, [[1.0]] * 3, "do not"),
    ],
)
def test_models_that_are_none(initial, transition, emission, message):
    with pytest.raises(ValueError, match=message):
        exact_coverage(ConformalHMM(), initial, transition, emission, 2, 1)
