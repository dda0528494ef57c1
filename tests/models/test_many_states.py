"""Many states: what a candidate changes is worked out anew, and nothing else."""

import sys
import tracemalloc

import numpy as np
import pytest

from definetti import ConformalHMM
from definetti.data.history import Completion, History, padded
from definetti.engine import task
from definetti.models import forward_backward, hmm
from definetti.models.hmm import probabilities, refitted
from definetti.scores import Band, Filter, Joint, Path, Smoother

N = 60
RNG = np.random.default_rng(0)
CODES = np.concatenate([np.arange(N), RNG.integers(0, N, 4 * N)])
NOISE = RNG.integers(0, 2, len(CODES))
STATES = [f"state {code}" for code in CODES]
SYMBOLS = [f"symbol {(code + noise) % 3}" for code, noise in zip(CODES, NOISE, strict=True)]


@pytest.mark.parametrize("prior", [0.0, 0.5])
def test_a_refitted_matrix_is_that_of_all_counts(prior):
    """To the last bit, with several segments and with states that come up in the candidate."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n, horizon = int(rng.integers(1, 9)), int(rng.integers(1, 12))
        history, pool = History(n), History(n)
        pool.append(rng.integers(0, n, 20), np.zeros(20, dtype=int))
        pool.append(first := rng.integers(0, n, 9), np.zeros(9, dtype=int), gap=True)
        history.append(first, np.zeros(9, dtype=int))
        history.pool = pool if seed % 2 else history
        more = n + seed % 3
        candidate = rng.integers(0, more, horizon)
        completion = Completion(history, candidate, np.zeros(horizon, dtype=int), more)
        for _ in range(2):
            counts = all_counts(history, candidate, more)
            for _ in range(2):  # made, and recalled
                np.testing.assert_array_equal(
                    refitted(completion, prior), probabilities(counts, prior)
                )
            history.append(np.array([0]), np.array([0]))


def all_counts(history, candidate, n):
    counts = padded(history.pool.transitions, n, n).astype(float)
    for i, j in zip([history.last, *candidate[:-1]], candidate, strict=True):
        counts[i, j] += 1
    return counts


def fitted(**params):
    return ConformalHMM(random_state=0, **params).fit(SYMBOLS, STATES)


def test_logarithms_grow_with_the_square_of_the_states(monkeypatch):
    """Not with the cube: of a matrix, one row is taken anew for each candidate."""
    cells = []

    def counted(counts, prior, taken=hmm.log_frequencies):
        cells.append(counts.size)
        return taken(counts, prior)

    monkeypatch.setattr(hmm, "log_frequencies", counted)
    assert len(fitted().predict_p(["symbol 0"])) == N
    assert sum(cells) <= 3 * N**2


def test_one_matrix_is_there_at_a_time():
    cp = fitted()
    cp.predict_p(["symbol 0"])  # all is compiled, and what candidates share is there
    tracemalloc.start()
    try:
        cp.predict_p(["symbol 0"])
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < N * N**2 * 8 / 2  # a half of what a matrix for each candidate takes


@pytest.mark.parametrize("score", [Path(), Filter(), Smoother(), Joint(), Band()], ids=repr)
def test_a_row_of_states_for_each_step_is_room_enough(score, monkeypatch):
    """Windows are scored at once where no square of states is asked for, with the same numbers."""
    cp = fitted(conformity_score=score)
    found = cp.predict_ranks(["symbol 0"])
    monkeypatch.setattr(task, "ROOM", 100 * N)
    assert cp.predict_ranks(["symbol 0"]) == found
    monkeypatch.setattr(task, "ROOM", 7 * N)
    assert cp.predict_ranks(["symbol 0"]) == found


def test_the_first_step_of_a_window_takes_a_row():
    """Its start is known: one row of the matrix says where it leads."""

    def work(n):
        number = 0
        kernel = forward_backward._scaled_forward.py_func

        def line(frame, event, _):
            nonlocal number
            number += event == "line"
            return line

        transition = np.full((1, n, n), 1 / n)
        sys.settrace(lambda frame, event, _: line if frame.f_code is kernel.__code__ else None)
        try:
            windows = np.zeros((100, 1), dtype=np.int64)
            start = models = windows[:, 0]
            kernel(transition, models, start, np.ones((1, n)), windows, ())
        finally:
            sys.settrace(None)
        return number

    assert work(40) < 8 * work(10)
