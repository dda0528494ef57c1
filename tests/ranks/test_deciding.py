"""Ranks from bounds: the same as from all scores."""

import numpy as np

from definetti.models.kernels.paths import log_posterior
from definetti.models.kernels.stacked import path_bounds
from definetti.ranks.deciding import decide, place
from definetti.ranks.pvalue import Rank, ranks


def placed(low, high, scores, own):
    """Ranks of candidates by bounds, with the scores of what these leave open."""
    todo = decide(low, high, own)
    greater, equal = place(scores[todo.places], todo.begins, own)
    return greater + todo.above, equal


def test_bounds_decide_as_scores_do():
    rng = np.random.default_rng(0)
    scores = np.round(rng.exponential(2.0, 300), 2)
    own = np.concatenate([scores[:20], rng.exponential(4.0, 20), [np.inf]])
    low, high = scores - rng.exponential(0.1, 300), scores + rng.exponential(0.1, 300)
    greater, equal = placed(low, high, scores, own)
    expected = ranks(scores, np.ones(300, dtype=np.int64), own, joins=True)
    assert [Rank(a, b + 1, 301) for a, b in zip(greater, equal, strict=True)] == expected
    assert len(decide(low, high, own).places) < 0.3 * 300 * len(own)


def test_bounds_on_paths_hold_for_every_model_between():
    rng = np.random.default_rng(1)
    for _ in range(30):
        n, steps, symbols = rng.integers(2, 5), rng.integers(1, 5), 3
        matrices = rng.dirichlet(np.ones(n), (6, n)) * 0.3 + rng.dirichlet(np.ones(n), n) * 0.7
        logs = rng.normal(size=(symbols, n)) * 5 + 0.3 * rng.normal(size=(6, symbols, n))
        windows = 20
        start, states = rng.integers(0, n, windows), rng.integers(0, n, (windows, steps))
        codes = rng.integers(0, symbols, (windows, steps))
        low, high = path_bounds(
            matrices.min(axis=0), matrices.max(axis=0), logs.min(axis=0), logs.max(axis=0),
            start, states, codes,
        )  # fmt: skip
        for matrix, law in zip(matrices, logs, strict=True):
            scores = -log_posterior(matrix, law[codes], start, states)
            assert (low <= scores + 1e-12).all()
            assert (scores <= high + 1e-12).all()
        # They are close where models are.
        one = matrices[0], matrices[0], logs[0], logs[0]
        tight = path_bounds(*one, start, states, codes)
        np.testing.assert_allclose(*tight, atol=1e-6, rtol=1e-6)
