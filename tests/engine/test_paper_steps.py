"""Algorithm 1 of the paper, Step 1 to Step 5 word by word, in exact fractions."""

from fractions import Fraction
from itertools import pairwise, permutations, product

import numpy as np
import pytest

from definetti import HMM, ConformalHMM


def estimate(x, y, states, symbols):
    """Step 2. Rows without data are uniform: the paper leaves them undefined."""
    moves = list(pairwise(x))
    transition, emission = {}, {}
    for i in states:
        left, visits = sum(a == i for a, _ in moves), x.count(i)
        for j in states:
            transition[i, j] = (
                Fraction(moves.count((i, j)), left) if left else Fraction(1, len(states))
            )
        for j in symbols:
            both = sum(a == i and b == j for a, b in zip(x, y, strict=True))
            emission[i, j] = Fraction(both, visits) if visits else Fraction(1, len(symbols))
    return transition, emission


def conformity(z, horizon, states, transition, emission):
    """The score of equation (9), by the filter of the paper's appendix."""
    posterior = {i: Fraction(i == z[-horizon - 1][0]) for i in states}
    total = Fraction(0)
    for state, symbol in z[-horizon:]:
        joint = {
            j: emission[j, symbol] * sum(posterior[i] * transition[i, j] for i in states)
            for j in states
        }
        posterior = {j: value / sum(joint.values()) for j, value in joint.items()}
        total += posterior[state]
    return 1 - total / horizon


def algorithm1(x, y, new, candidate):
    horizon = len(new)
    x, y = [*x, *candidate], [*y, *new]  # Step 1
    states, symbols = sorted(set(x)), sorted(set(y))
    transition, emission = estimate(x, y, states, symbols)  # Step 2
    z = list(zip(x, y, strict=True))
    cuts = [t for t, pair in enumerate(z) if pair == z[-1]]  # Step 3
    blocks = [z[a:b] for a, b in pairwise(cuts)]
    scores = [  # Step 4, with all d! permutations
        conformity(
            z[: cuts[0]] + [e for k in pi for e in blocks[k]] + z[-1:],
            horizon,
            states,
            transition,
            emission,
        )
        for pi in permutations(range(len(blocks)))
    ]
    observed = conformity(z, horizon, states, transition, emission)
    return Fraction(sum(s >= observed for s in scores), len(scores))  # Step 5


@pytest.mark.parametrize(
    ("inputs", "most"), [(150, 5), pytest.param(500, 7, marks=pytest.mark.slow)]
)
def test_pairs_filter_and_no_prior_are_algorithm_1(inputs, most):
    """With pairs that occur up to so often: there are as many permutations as their factorial."""
    rng = np.random.default_rng(0)
    below_one = 0
    for _ in range(inputs):
        n, m = rng.integers(1, 4), rng.integers(1, 3)
        length, horizon = int(rng.integers(2, 10)), int(rng.integers(1, 4))
        x, y = rng.integers(0, n, length).tolist(), rng.integers(0, m, length).tolist()
        new = rng.integers(0, m, horizon).tolist()
        cp = ConformalHMM(model=HMM(prior=0), conformity_score="filter", symmetry="pairs").fit(y, x)
        for candidate in product(sorted(set(x)), repeat=horizon):
            pairs = list(zip([*x, *candidate], [*y, *new], strict=True))
            if pairs.count(pairs[-1]) > most:
                continue
            expected = algorithm1(x, y, new, candidate)
            assert cp.p_value(new, candidate) == pytest.approx(float(expected), abs=1e-12)
            below_one += expected < 1
    assert below_one > inputs / 2


def test_predict_p_is_the_same_for_every_candidate():
    x, y, new = [0, 1, 0, 0, 1, 1, 0], [0, 1, 1, 0, 1, 0, 0], [1, 0]
    cp = ConformalHMM(model=HMM(prior=0), conformity_score="filter", symmetry="pairs").fit(y, x)
    everything = cp.predict_p(new)
    assert len(everything) == 4
    for candidate in product([0, 1], repeat=2):
        assert everything.p_value(candidate) == pytest.approx(
            float(algorithm1(x, y, new, candidate)), abs=1e-12
        )
