"""Each baseline in the setting in which its authors promise something: all sequences enumerated.

The probability of every sequence of a small model is added up, so that coverage is known to the
last digit. Where a promise needs an assumption, the same sum shows that it fails without it.
"""

from __future__ import annotations

from fractions import Fraction as F
from itertools import pairwise, product
from math import log, prod

import numpy as np
import pytest

from definetti import given_hmm
from definetti.experiments import (
    AdaptiveInference,
    ClassConditional,
    Classical,
    EnsembleSliding,
    LikelihoodRatio,
    NonExchangeable,
    Robust,
    ShiftPermutations,
    Thinned,
    UnionMultiStep,
    UnionOverSequences,
)
from definetti.simulate import sample

pytestmark = pytest.mark.slow  # what others promise; ours is enumerated in the fast lane, too

PAIRS = list(product(range(2), range(2)))  # a state and a symbol
LAW = {(0, 0): F(1, 2), (0, 1): F(1, 10), (1, 0): F(1, 10), (1, 1): F(3, 10)}
# Scores that look at a state and its symbol alone: the rows of the transition matrix are equal.
FREE = given_hmm([[0.5, 0.5], [0.5, 0.5]], [[0.7, 0.3], [0.4, 0.6]])
BOUND = given_hmm([[0.8, 0.2], [0.3, 0.7]], [[0.7, 0.3], [0.4, 0.6]])
PLAIN = given_hmm([[0.8, 0.2], [0.3, 0.7]], [[1.0], [1.0]])
START = {(0, 0): F(1)}  # where scores do not look at the state before, any will do
STICKY = ((F(19, 20), F(1, 20)), (F(1, 20), F(19, 20)))
EMITTED = ((F(7, 10), F(3, 10)), (F(2, 5), F(3, 5)))


def name_of(cp):
    parameters = {key: value for key, value in vars(cp).items() if key in ("stride", "block")}
    return f"{type(cp).__name__} {parameters or ''}"


def missed(laws, cp, horizon):
    """Return how probable each p-value of the truth is, for independent steps with given laws."""
    found = {}
    for past in product(*laws[:-horizon]):
        x, y = map(list, zip(*past, strict=True))
        cp.fit(y, x)
        before = prod(law[step] for law, step in zip(laws, past, strict=False))
        asked = {}
        for new in product(*laws[-horizon:]):
            states, seen = zip(*new, strict=True)
            if seen not in asked:
                asked[seen] = cp.predict_p(list(seen))
            p = asked[seen].p_value(states)
            after = prod(law[step] for law, step in zip(laws[-horizon:], new, strict=True))
            found[p] = found.get(p, F(0)) + before * after
    assert sum(found.values()) == 1
    return found


def at_most(found, alpha):
    """Return how probable a p-value of at most alpha is: the truth is missed."""
    return sum(probability for p, probability in found.items() if p <= alpha + 1e-12)


def worst(found):
    """Return by how much the truth is missed more often than promised, at the worst level."""
    return max(at_most(found, alpha) - F(alpha).limit_denominator(10**9) for alpha in found)


def valid(found):
    return worst(found) <= F(1, 10**9)


def chain(length, transition=STICKY, emission=EMITTED):
    """Return every sequence of a hidden Markov chain with its probability, started anywhere."""
    for steps in product(PAIRS, repeat=length):
        x, y = zip(*steps, strict=True)
        probability = F(1, 2)
        for a, b in pairwise(x):
            probability *= transition[a][b]
        for state, symbol in steps:
            probability *= emission[state][symbol]
        yield list(x), list(y), probability


def missed_on_chain(cp, length, horizon):
    found = {}
    for x, y, probability in chain(length):
        p = cp.fit(y[:-horizon], x[:-horizon]).p_value(y[-horizon:], x[-horizon:])
        found[p] = found.get(p, F(0)) + probability
    assert sum(found.values()) == 1
    return found


@pytest.mark.parametrize(
    "cp",
    [
        Classical(FREE),
        Classical(BOUND, stride=2),
        ClassConditional(FREE),
        ShiftPermutations(BOUND),
        ShiftPermutations(BOUND, block=2),
        NonExchangeable(FREE, decay=0.7),
        LikelihoodRatio(FREE, weight=lambda start, seen: np.ones(len(start))),
        Robust(FREE, radius=0.05),
        Thinned(BOUND, thinning=2),
        UnionOverSequences(FREE),
        UnionOverSequences(FREE, conditional=True),
        EnsembleSliding(FREE),
    ],
    ids=name_of,
)
def test_valid_for_independent_steps(cp):
    found = missed([START if cp.model is FREE else LAW, *[LAW] * 4], cp, 1)
    assert len(found) > 1
    assert valid(found)


@pytest.mark.parametrize("horizon", [2, 3])
@pytest.mark.parametrize("name", ["classical", "shifts", "blocks"])
def test_valid_for_several_independent_steps(name, horizon):
    cp = {
        "classical": Classical(PLAIN, stride=horizon + 1),
        "shifts": ShiftPermutations(PLAIN),
        "blocks": ShiftPermutations(PLAIN, block=horizon),
    }[name]
    law = {(0, 0): F(3, 10), (1, 0): F(7, 10)}
    found = missed([law] * 9, cp, horizon)
    assert len(found) > 1
    assert valid(found)


def test_a_union_bound_over_pieces_is_valid_for_independent_steps():
    law = {(0, 0): F(3, 10), (1, 0): F(7, 10)}
    cp = UnionMultiStep(given_hmm([[0.6, 0.4]] * 2, [[1.0]] * 2))
    found = missed([START] + [law] * 8, cp, 2)
    assert len(found) > 1
    assert valid(found)
    assert not cp.exact


def test_overlapping_windows_are_not_exchangeable_even_then():
    # Which is why `Classical` has a stride, and says so.
    law = {(0, 0): F(3, 10), (1, 0): F(7, 10)}
    assert not valid(missed([law] * 7, Classical(PLAIN), 2))


CLIMB = given_hmm([[0.2] * 5] * 5, [[0.5 - k / 10, 0.5 + k / 10] for k in range(5)])


@pytest.mark.parametrize(
    "cp",
    [
        Classical(CLIMB),
        Classical(CLIMB, conformity_score="filter"),
        ShiftPermutations(CLIMB),
        EnsembleSliding(CLIMB),
        UnionOverSequences(CLIMB),
        UnionMultiStep(CLIMB),
        LikelihoodRatio(CLIMB),
        Robust(CLIMB, radius=0.001),
        AdaptiveInference(CLIMB, confidence_level=0.7),
        NonExchangeable(CLIMB, decay=1.0),
        Thinned(CLIMB, thinning=1),
    ],
    ids=name_of,
)
def test_a_markov_chain_that_climbs_is_always_missed(cp):
    # It goes from each state to the next, stranger one: a chain for which the sets, promised to
    # hold the truth 7 times in 10, never do.
    s = cp.fit([0] * 4, [0, 1, 2, 3]).predict_set([0], 0.7)
    assert not s.exact
    assert (4,) not in s
    assert (0,) in s


@pytest.mark.parametrize("horizon", [1, 2])
def test_observations_compared_state_by_state_are_valid_for_a_markov_chain(horizon):
    cp = UnionOverSequences(BOUND, conditional=True)
    found = missed_on_chain(cp, 5, horizon)
    assert len(found) > 1
    assert valid(found)
    assert cp.predict_set([0] * horizon).exact


def test_class_conditional_holds_for_each_class():
    for state in (0, 1):
        law = {step: p for step, p in LAW.items() if step[0] == state}
        law = {step: p / sum(law.values()) for step, p in law.items()}
        laws = [START, *[LAW] * 4, law]
        found = missed(laws, ClassConditional(FREE), 1)
        assert len(found) > 1
        assert valid(found)


def test_the_marginal_promise_is_none_for_a_rare_class():
    law = {(0, 0): F(4, 5), (0, 1): F(1, 10), (1, 0): F(1, 20), (1, 1): F(1, 20)}
    rare = {(1, 0): F(1, 2), (1, 1): F(1, 2)}
    laws = [START, *[law] * 3, rare]
    assert not valid(missed(laws, Classical(FREE), 1))
    assert valid(missed(laws, ClassConditional(FREE), 1))


def test_non_exchangeable_misses_no_more_than_the_distance_allows():
    # Independent steps, whose law changes towards what the model finds strange.
    shares = (F(1, 20), F(1, 20), F(1, 2), F(9, 10))
    laws = [START, *({(0, 0): a, (1, 1): 1 - a} for a in shares)]
    decay = 0.8
    found = missed(laws, NonExchangeable(FREE, decay=decay), 1)
    weights = [decay**k for k in (3, 2, 1)]  # of the windows that end at 1, 2 and 3
    # Swapping two independent steps: the distance of the two products.
    gap = 0.0
    for weight, law in zip(weights, laws[1:4], strict=True):
        steps = list(product(PAIRS, repeat=2))
        swapped = sum(
            abs(law.get(a, 0) * laws[4].get(b, 0) - law.get(b, 0) * laws[4].get(a, 0))
            for a, b in steps
        )
        gap += weight / (1 + sum(weights)) * float(swapped) / 2
    assert 0 < worst(found) <= gap
    # With all weights alike the drift does more harm.
    assert worst(missed(laws, NonExchangeable(FREE, decay=1.0), 1)) > worst(found)


def test_likelihood_ratio_corrects_a_shift_of_the_observations():
    given = {0: (F(4, 5), F(1, 5)), 1: (F(1, 4), F(3, 4))}  # law of the state given the symbol
    old, new = (F(9, 10), F(1, 10)), (F(3, 10), F(7, 10))
    before, after = ({(x, y): law[y] * given[y][x] for x, y in PAIRS} for law in (old, new))
    ratio = np.array([float(b / a) for a, b in zip(old, new, strict=True)])
    laws = [START, *[before] * 4, after]
    model = given_hmm([[0.5, 0.5]] * 2, [[0.55, 0.45], [0.4, 0.6]])
    weighed = LikelihoodRatio(model, weight=lambda start, seen: ratio[seen[:, 0].astype(int)])
    assert valid(missed(laws, weighed, 1))
    assert not valid(missed(laws, Classical(model), 1))


@pytest.mark.parametrize("divergence", ["kl", "chi2", "tv"])
def test_robust_holds_for_a_law_in_the_ball(divergence):
    after = {(0, 0): F(3, 10), (0, 1): F(1, 5), (1, 0): F(3, 10), (1, 1): F(1, 5)}
    pairs = [(float(after[step]), float(LAW[step])) for step in PAIRS]
    radius = {
        "kl": sum(q * log(q / p) for q, p in pairs),
        "chi2": sum((q - p) ** 2 / p for q, p in pairs),
        "tv": sum(abs(q - p) for q, p in pairs) / 2,
    }[divergence]
    laws = [START, *[LAW] * 4, after]
    found = missed(laws, Robust(FREE, radius=radius, divergence=divergence), 1)
    assert valid(found)
    assert not valid(missed(laws, Robust(FREE, radius=0.0), 1))
    # A ball so small that the law is not in it does not help enough.
    small = Robust(FREE, radius=radius / 50, divergence=divergence)
    assert not valid(missed(laws, small, 1))


@pytest.mark.parametrize(("known", "horizon", "sequences"), [(1, 1, 5), (2, 1, 3), (1, 2, 3)])
@pytest.mark.parametrize("score", ["smoother", "filter"])
def test_a_union_bound_over_exchangeable_sequences(known, horizon, sequences, score):
    transition = ((F(9, 10), F(1, 10)), (F(3, 10), F(7, 10)))
    every = []
    for x in product(range(2), repeat=known + horizon):
        steps = pairwise(x)
        every.append((x, F(1, 2) * prod(transition[a][b] for a, b in steps)))
    cp = UnionMultiStep(PLAIN, conformity_score=score)
    lengths = [known + horizon] * (sequences - 1) + [known]
    found = {}
    for chosen in product(every, repeat=sequences):
        x = [state for sequence, _ in chosen for state in sequence]
        probability = prod(p for _, p in chosen)
        cp.fit([0] * (len(x) - horizon), x[:-horizon], lengths)
        p = cp.p_value([0] * horizon, x[-horizon:])
        found[p] = found.get(p, F(0)) + probability
    assert len(found) > 1
    assert valid(found)
    assert cp.exact
    assert cp.predict_set([0] * horizon).exact


@pytest.mark.parametrize("gamma", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("level", [0.8, 0.9])
@pytest.mark.parametrize("truth", ["adversary", "friend", "drift"])
def test_the_adaptive_level_holds_in_the_long_run_whatever_comes(truth, level, gamma):
    rng = np.random.default_rng(0)
    cp = AdaptiveInference(BOUND, confidence_level=level, gamma=gamma)
    cp.fit(rng.integers(2, size=20).tolist(), rng.integers(2, size=20).tolist())
    misses, furthest = 0, 0.0
    for t in range(1, 121):
        new = [int(rng.integers(2))]
        s = cp.predict_set(new)
        outside = [state for state in (0, 1) if state not in s]
        inside = [state for state in (0, 1) if state in s]
        if truth == "drift":
            state = int(rng.random() < t / 120)
        else:
            wanted, other = (outside, inside) if truth == "adversary" else (inside, outside)
            state = (wanted or other)[0]
        misses += state not in s
        cp.partial_fit(new, [state])
        bound = (max(level, 1 - level) + gamma) / (t * gamma)
        assert abs(misses / t - (1 - level)) <= bound + 1e-12
        furthest = max(furthest, abs(misses / t - (1 - level)))
    assert (cp.rounds_, cp.misses_) == (120, misses)
    assert furthest > 0


def test_an_empty_and_a_full_set_of_the_adaptive_level():
    cp = AdaptiveInference(BOUND, gamma=0.5).fit([0, 1] * 10, [0, 1] * 10)
    cp._rule._alpha = F(0)
    assert len(cp.predict_set([0])) == 2
    cp._rule._alpha = F(1)
    assert len(cp.predict_set([0])) == 0


@pytest.mark.parametrize(
    "cp",
    [
        ShiftPermutations(),
        ShiftPermutations(block=2),
        Thinned(),
        EnsembleSliding(n_models=4),
        Classical(),
    ],
    ids=name_of,
)
@pytest.mark.parametrize("horizon", [1, 2])
def test_about_the_level_on_a_chain_that_mixes(cp, horizon):
    transition = np.array([[0.7, 0.3], [0.4, 0.6]])
    cp.set_params(random_state=0, states=[0, 1])
    covered, tries = 0, 150
    for seed in range(tries):
        rng = np.random.default_rng(seed)
        x = sample(np.array([0.5, 0.5]), transition, np.eye(2), 300 + horizon, rng).states
        y = rng.normal(size=len(x)) + 1.5 * x  # scores without ties
        covered += tuple(x[300:].tolist()) in cp.fit(y[:300], x[:300]).predict_set(y[300:], 0.8)
    # Four standard errors, and the steps of a p-value made of twenty windows.
    assert 0.8 - 0.13 <= covered / tries <= 0.8 + 0.13 + 0.05
