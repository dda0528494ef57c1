"""However many threads share the work, and whoever starts them: the same numbers."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import joblib
import numpy as np
import pytest
from tests.algorithm.test_estimates import asked

from definetti import HMM, ConformalHMM
from definetti._system.threads import map_threads
from definetti.algorithm import rank
from definetti.data.candidates import all_candidates
from definetti.emissions import Gaussian
from definetti.judging.rolling import roll_levels


@pytest.mark.parametrize("how", [{}, {"backend": "threading"}, {"backend": "loky"}])
def test_there_are_as_many_as_were_asked_for(how):
    both = Barrier(2)  # which lets nobody through alone
    with joblib.parallel_config(n_jobs=2, **how):
        assert sorted(map_threads(lambda _: both.wait(timeout=60), range(2))) == [0, 1]


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_candidates(n_jobs):
    question, candidates = asked("bernoulli", [(0, 1), (1, 1), (1, 0)], n_states=5, horizon=2)
    alone = rank(question, candidates)
    with joblib.parallel_config(n_jobs=n_jobs):
        together = rank(question, candidates)
    assert together[0] == alone[0]
    np.testing.assert_array_equal(together[1], alone[1])


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_windows(n_jobs):
    rng = np.random.default_rng(0)
    x = rng.integers(4, size=90)
    y = x[:, None] + rng.normal(size=(90, 2))
    cp = ConformalHMM(HMM(emission=Gaussian()), random_state=0).fit(y[:60], x[:60])
    alone = roll_levels(cp, y[60:], x[60:].tolist(), [0.8], 1)
    with joblib.parallel_config("threading", n_jobs=n_jobs):
        together = roll_levels(cp, y[60:], x[60:].tolist(), [0.8], 1)
    np.testing.assert_array_equal(together.p_values, alone.p_values)
    np.testing.assert_array_equal(together.sizes, alone.sizes)


def test_questions_asked_in_threads_of_ones_own():
    """A class counted, a fixed model and a refitted one, all at once from one estimator each."""
    rng = np.random.default_rng(1)
    x = rng.integers(3, size=70)
    y = [f"y{k}" for k in (x + (rng.random(70) < 0.3)) % 3]
    made = [
        ConformalHMM(random_state=0, **how).fit(y[:60], x[:60])
        for how in ({"symmetry": "full"}, {"train_size": 0.5}, {})
    ]
    tasks = [(cp, y[k : k + 2]) for k in range(60, 68) for cp in made]
    expected = [cp.predict_p(new) for cp, new in tasks]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda task: task[0].predict_p(task[1]), tasks)) == expected
    assert len(all_candidates(3, 2)) == len(expected[0])
