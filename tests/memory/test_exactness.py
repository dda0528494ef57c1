"""Every memory is exact for the law that it is for, where the state alone is not enough."""

from fractions import Fraction
from math import fsum

import numpy as np
import pytest
from tests.memory.laws import RETURNING, follow, until
from tests.products import covering

from definetti import ConformalHMM, given_hmm
from definetti.memory import Age, Memory
from definetti.symmetry import Symmetry
from definetti.verify import LAWS, enumerate_sequences

LEVELS = (0.5, 0.75, 0.8)
GIVEN_LAST = [
    name for name, made in Symmetry.named.items() if made().exact and made.given == "last state"
]
FIXED = given_hmm([[0.7, 0.3], [0.4, 0.6]], [[0.8, 0.2], [0.3, 0.7]])


def predictor(symmetry, memory, **settings):
    settings = {"states": [0, 1], "random_state": 0, **settings}
    return ConformalHMM(symmetry=symmetry, memory=memory, **settings)


@pytest.mark.parametrize("name", Memory.named)
def test_every_memory_with_a_name_has_laws(name):
    """Of both kinds: in `definetti.verify.higher_order`, and in `tests/memory/laws.py`."""
    returning = [law for law, _ in RETURNING.values()]
    for laws in (LAWS.values(), returning):
        assert Memory.named[name] in {type(law.memory) for law in laws}


@pytest.mark.parametrize(("length", "horizon"), [
    (3, 1),
    *[pytest.param(*shape, marks=pytest.mark.slow) for shape in ((4, 1), (3, 2), (5, 1))],
])  # fmt: skip
@pytest.mark.parametrize(
    ("name", "symmetry", "model"), covering(LAWS, GIVEN_LAST, ["refitted", "fixed"])
)
def test_coverage_is_exact_given_each_last_state(name, symmetry, model, length, horizon):
    law = LAWS[name]
    behind = {"model": FIXED} if model == "fixed" else {}
    listed = enumerate_sequences(predictor(symmetry, law.memory, **behind), length, horizon)
    for level in LEVELS:
        assert listed.coverage_given_last(law, level, True) == pytest.approx(level, abs=1e-9)
        assert listed.coverage_given_last(law, level, False).min() >= level - 1e-12


@pytest.mark.parametrize(
    ("name", "symmetry"), covering(LAWS, ["spaced", "full", "returns"], fast=1)
)
def test_the_state_alone_is_not_enough(name, symmetry):
    law = LAWS[name]
    listed = enumerate_sequences(predictor(symmetry, 1), 4, 1)
    found = [listed.coverage_given_last(law, level, True) for level in LEVELS]
    assert np.abs(np.array(found) - np.array(LEVELS)[:, None]).max() > 0.005


def test_histories_that_a_memory_refuses_are_left_out():
    """Whoever the memory is, and however it was asked for."""
    by_name, by_class = (
        enumerate_sequences(predictor("spaced", one), 3, 1) for one in ("age", Age())
    )
    for listed, again in zip(by_name, by_class, strict=True):
        assert np.array_equal(listed, again)
    assert not any(len(set(states[:3])) == 1 for states in by_name.states)
    with pytest.raises(ValueError, match="memory=4 refuses every history of 3 steps; take"):
        enumerate_sequences(predictor("spaced", 4), 3, 1)


def test_pairs_are_exact_where_states_and_observations_are_jointly_markov():
    law = LAWS["feedback"]
    listed = enumerate_sequences(predictor("pairs", 1), 4, 1)
    for level in LEVELS:
        assert listed.coverage_given_last(law, level, True) == pytest.approx(level, abs=1e-9)


# By visits to a token: all ways to the m-th one, listed.


def covered(law, memory, start, departures, level, **settings):
    """Return the smoothed coverage of one step ahead at the m-th visit to a token."""
    cp = predictor(settings.pop("symmetry", "departures"), memory, **settings)
    alpha, total, sure = 1 - Fraction(str(level)), [], []
    ranks = {}
    for path, weight in until(law, departures, start):
        sure.append(weight)
        states, seen = zip(*path, strict=True)
        cp.fit(seen, states)
        token = None
        for x, y in path:
            token = law.step(token, x, y)
        after = follow(law, token)
        for new in range(2):
            ranks = cp.predict_ranks([new])
            for (state,), rank in ranks.items():
                total.append(weight * after.get((state, new), 0.0) * float(rank.chance(alpha)))
    assert fsum(sure) == pytest.approx(1.0, abs=1e-9)
    return fsum(total)


@pytest.mark.parametrize(
    ("name", "model", "departures"), covering(RETURNING, ["fixed", "refitted"], [1, 2, 3], fast=1)
)
def test_departures_are_exact_at_the_mth_visit_to_a_token(name, model, departures):
    law, tokens = RETURNING[name]
    behind = {"model": FIXED} if model == "fixed" else {}
    for start in tokens:
        found = covered(law, law.memory, start, departures, 0.75, **behind)
        assert found == pytest.approx(0.75, abs=1e-9), start


@pytest.mark.slow
def test_departures_from_the_state_alone_are_not():
    law, tokens = RETURNING["order two"]
    found = [covered(law, 1, start, 2, 0.75, model=FIXED) for start in tokens]
    assert max(abs(one - 0.75) for one in found) > 0.01
