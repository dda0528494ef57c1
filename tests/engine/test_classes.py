"""Classes counted together: the same whole numbers, and scores to the last bit, as one by one."""

import numpy as np
import pytest
from tests.engine.test_estimates import asked

from definetti.data.history import History
from definetti.emissions import Categorical
from definetti.engine.algorithm import rank, rank_general, rank_in_class
from definetti.engine.task import all_candidates
from definetti.scores import Score
from definetti.symmetry import Full
from definetti.symmetry.class_counts import count_classes
from definetti.symmetry.full import count_windows

LETTERS = ["a", "b", "c", "d"]


def assert_same(task, candidates):
    together = rank_in_class(task, candidates)
    assert together is not None
    apart = rank_general(task, candidates)
    assert together.ranks() == apart.ranks()
    np.testing.assert_array_equal(together.scores, apart.scores)


@pytest.mark.parametrize("score", Score.named)
@pytest.mark.parametrize("prior", [0, 0.3])
def test_every_score(score, prior):
    how = {
        "conformity_score": score,
        "prior": prior,
        "symmetry": "full",
        "length": 30,
        "horizon": 2,
    }
    assert_same(*asked(Categorical(prior), ["a", "b"], **how))


@pytest.mark.parametrize(
    "how",
    [
        {"horizon": 1},
        {"n_states": 2, "horizon": 3, "length": 300},
        {"n_states": 2, "horizon": 5, "values": ["a"]},
        {"lengths": [20, 15, 25], "horizon": 2},
        {"lengths": [20, 39, 1], "horizon": 2},
        {"unseen": True, "values": None},
        {"unseen": True, "horizon": 2, "values": ["a", "b"]},
        {"values": ["a", None], "horizon": 2},
        {"length": 4, "horizon": 2},
        {"length": 1, "horizon": 2, "values": ["a", "b"]},
        {"n_states": 4, "horizon": 2, "length": 2000, "values": ["a", "b"]},
        {"n_states": 4, "horizon": 1, "length": 300, "states": [3, "new", 1, 2, 0, "never"]},
    ],
    ids=str,
)
def test_every_kind_of_history(how):
    values = how.get("values", LETTERS)
    rest = {name: one for name, one in how.items() if name != "values"}
    for seed in range(3):
        task, candidates = asked(Categorical(), values, symmetry="full", seed=seed, **rest)
        if "states" in how:
            candidates = all_candidates(len(how["states"]), how["horizon"])
        assert_same(task, candidates)


def test_weights_are_those_of_whole_numbers_of_any_size():
    """Every window of every class, with the number of members that Whittle's formula has."""
    rng = np.random.default_rng(5)
    history, candidates = History(4), all_candidates(4, 2)
    history.append(rng.integers(4, size=2500), rng.integers(3, size=2500))
    found = count_classes(history, candidates, rng.integers(3, size=2), 4, 3, 2000)
    assert found.weights.shape[1] > 4  # far beyond what a machine number holds
    for g in range(len(found.moves)):
        here = slice(found.begins[g], found.begins[g + 1])
        last = int(candidates[int(np.flatnonzero(found.classes == g)[0]), -1])
        windows, weights = count_windows(found.moves[g].T, history.first, last, 2, found.pairs[g])
        told = {
            (int(s), *x, *y): sum(d << 32 * k for k, d in enumerate(w))
            for s, x, y, w in zip(
                found.start[here], found.states[here].tolist(), found.codes[here].tolist(),
                found.weights[here].tolist(), strict=True,
            )
        }  # fmt: skip
        rows = zip(windows.start.tolist(), windows.states, windows.observations, strict=True)
        assert told == dict(
            zip([(s, *x.tolist(), *y.tolist()) for s, x, y in rows], weights, strict=True)
        )


@pytest.mark.parametrize(
    "how",
    [
        {"symmetry": Full(max_windows=20), "horizon": 2},  # too many to be counted
        {"symmetry": "full", "n_states": 6, "length": 3000, "horizon": 1},  # trees outgrow a number
    ],
    ids=str,
)
def test_what_is_not_counted_so_is_ranked_one_by_one(how):
    task, candidates = asked(Categorical(), LETTERS, **how)
    assert rank_in_class(task, candidates) is None


def test_what_is_derived_compares_with_its_own():
    class Halved(Full):
        def reference(self, completion, generator):
            found = super().reference(completion, generator)
            return found._replace(weights=found.weights * 2)

    task, candidates = asked(Categorical(), LETTERS[:2], symmetry=Halved(), horizon=2)
    plain, _ = asked(Categorical(), LETTERS[:2], symmetry="full", horizon=2)
    expected = 2 * rank(plain, candidates).total
    np.testing.assert_array_equal(rank(task, candidates).total, expected)
