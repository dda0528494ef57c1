"""However many threads share the work, and whoever starts them: the same numbers."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from definetti import ConformalHMM
from definetti.engine.task import all_candidates


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
