"""One history made of segments with gaps between them."""

from itertools import product

import numpy as np
import pytest

from definetti import ConformalHMM
from definetti.emissions import Gaussian
from definetti.engine.pvalues import miscoverage
from definetti.models.hmm import HMM
from definetti.simulate import weather

LAWS = [
    (([0.5, 0.5], [0.9, 0.1]), [[0.1, 0.9], [0.7, 0.3]], [[0.5, 0.5], [0.1, 0.9]]),
    (([0.3, 0.7], [0.0, 1.0]), [[0.8, 0.2], [0.3, 0.7]], [[0.9, 0.1], [0.2, 0.8]]),
]


def ranked(lengths, horizon, **params):
    """Rank the truth for all sequences of two segments, the second with new steps at its end."""
    total = sum(lengths) + horizon
    x = np.array(list(product(range(2), repeat=total)))
    found = []
    for states in x:
        for symbols in x:
            cp = ConformalHMM(states=[0, 1], random_state=0, **params)
            known = total - horizon
            cp.fit(symbols[:known], states[:known], lengths)
            found.append(cp.predict_ranks(symbols[known:])[tuple(states[known:].tolist())])
    return x, found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lengths", "horizon", "params"),
    [
        ([2, 2], 1, {"symmetry": "full"}),
        ([1, 2], 2, {"symmetry": "full"}),
        ([1, 3], 1, {"symmetry": "returns"}),
        ([1, 3], 1, {"symmetry": "pairs"}),
        ([1, 3], 1, {"symmetry": "spaced"}),
        ([2, 2], 1, {"train_size": 1}),
    ],
)
def test_coverage_is_exact(lengths, horizon, params):
    x, found = ranked(lengths, horizon, **params)
    first = lengths[0]
    for starts, transition, emission in LAWS:
        p, b = np.array(transition), np.array(emission)
        for level in (0.5, 0.8):
            alpha = miscoverage(level)
            chain = starts[0][0] * (x[:, 0] == 0) + starts[0][1] * (x[:, 0] == 1)
            chain *= p[x[:, : first - 1], x[:, 1:first]].prod(axis=1)
            chain *= np.array(starts[1])[x[:, first]]
            chain *= p[x[:, first:-1], x[:, first + 1 :]].prod(axis=1)
            weights = chain[:, None] * b[x[:, None], x[None]].prod(axis=2)
            assert weights.sum() == pytest.approx(1)
            chances = np.array([float(rank.chance(alpha)) for rank in found])
            assert chances @ weights.ravel() == pytest.approx(level, abs=1e-9)
            inside = np.array([rank.exceeds(alpha) for rank in found])
            assert inside @ weights.ravel() >= level - 1e-12


def test_no_transition_leads_over_a_gap():
    y, x = ["a"] * 6, ["sun", "sun", "rain", "rain", "sun", "rain"]
    history = ConformalHMM().fit(y, x, [2, 4])._data.history
    assert history.states.tolist() == [1, 1, 0, 1]
    assert history.pool.transitions.tolist() == [[1, 1], [1, 1]]
    one = ConformalHMM().fit(y, x)._data.history
    assert one.pool is one
    assert one.transitions.tolist() == [[1, 2], [1, 1]]


def test_earlier_segments_teach_the_model_and_lend_observations():
    y, x = weather(400, random_state=0)
    alone = ConformalHMM(symmetry="full", random_state=0).fit(y[300:], x[300:])
    taught = ConformalHMM(symmetry="full", random_state=0).fit(y, x, [150, 150, 100])
    assert taught.n_steps_ == 400
    assert taught.predict_p(y[:1]) != alone.predict_p(y[:1])
    said = "full symmetry within the last of 3 segments, observations from all"
    assert said in taught.predict_set(y[:1]).method
    split = ConformalHMM(symmetry="spaced", train_size=0.5).fit(y, x, [150, 150, 100])
    assert "spaced symmetry within the last of 3 segments" in split.predict_set(y[:1]).method
    assert split.model_.transitions.sum() == 298
    assert split.n_steps_ == 100


def test_a_history_goes_on_after_its_last_segment():
    y, x = weather(200, random_state=1)
    once = ConformalHMM(random_state=0).fit(y, x, [100, 100])
    later = ConformalHMM(random_state=0).fit(y[:150], x[:150], [100, 50])
    later.partial_fit(y[150:], x[150:])
    assert once.predict_p(y[:2]) == later.predict_p(y[:2])


def test_vectors_are_drawn_from_all_segments():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 60)
    y = rng.normal(x[:, None], 1.0, (60, 2))
    cp = ConformalHMM(HMM(emission=Gaussian()), symmetry="full", random_state=0).fit(y, x, [50, 10])
    task = cp._task(y[:1], None)
    reference = task.symmetry.reference(task.complete_with(0), task.generator)
    assert len(np.unique(reference.windows.observations)) > 11


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([2, 3], "lengths adds up to 5 steps and states has 6"),
        ([6, 0], r"lengths\[1\] is 0.*whole number ≥ 1"),
        ([], "adds up to 0"),
        (6, "lengths must be a list"),
    ],
)
def test_lengths_that_make_no_sense(lengths, message):
    with pytest.raises((TypeError, ValueError), match=message):
        ConformalHMM().fit(["a"] * 6, [0, 1] * 3, lengths)
