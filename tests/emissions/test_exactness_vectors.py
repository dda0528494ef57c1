"""Every guarantee for observations that are not symbols, by adding up all sequences.

The observations are put on a grid: symbol 0, 1, … stands for a vector, a row, a word. What is
counted is exact for whatever the observations are; `full` draws at random where they are not
symbols and is left out.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from definetti import HMM, ConformalHMM
from definetti.emissions import Bernoulli, Emission, Gaussian, Mixed, Poisson, Words
from definetti.verify import enumerate_ranks

LEVELS = (0.5, 0.75, 0.8, 0.9)


@dataclass(frozen=True)
class OnGrid(Emission):
    """An emission of which symbols show the values of another."""

    emission: Any
    values: tuple

    @property
    def symbols(self):
        return self.emission.symbols

    def encode(self, observations, table, name):
        return self.emission.encode([self.values[k] for k in observations], table, name)

    def decode(self, table, codes):
        return self.emission.decode(table, codes)

    def statistics(self, table, codes, states, n_states):
        return self.emission.statistics(table, codes, states, n_states)

    def log_likelihood(self, table, statistics, codes):
        return self.emission.log_likelihood(table, statistics, codes)


VECTORS = ((0.3, -1.0), (1.7, 2.5))
FAR = ((1e6 + 0.3, 1e-3), (1e6 + 1.7, 1e-3))  # and the second column never varies
GAPS = ((0.3, -1.0), (1.7, None))
GRIDS = {
    "full": OnGrid(Gaussian("full"), VECTORS),
    "diagonal": OnGrid(Gaussian("diagonal"), VECTORS),
    "tied": OnGrid(Gaussian("tied"), VECTORS),
    "full, no shrinkage": OnGrid(Gaussian("full", prior=0, shrinkage=0), VECTORS),
    "full, far from zero": OnGrid(Gaussian("full"), FAR),
    "full, gaps": OnGrid(Gaussian("full"), GAPS),
    "diagonal, gaps": OnGrid(Gaussian("diagonal"), GAPS),
    "tied, gaps": OnGrid(Gaussian("tied"), GAPS),
    "numbers, some missing": OnGrid(Gaussian(), (0.3, None)),
    "poisson": OnGrid(Poisson(), (0, 3)),
    "poisson, no prior": OnGrid(Poisson(prior=0), ((0, 2), (4, None))),
    "bernoulli": OnGrid(Bernoulli(), ((True, False), (True, True))),
    "bernoulli, no prior": OnGrid(Bernoulli(prior=0), ((True, False), (None, True))),
    "words, one shape": OnGrid(Words(), ("walking", "running")),
    "words": OnGrid(Words(), ("Rome", "ran")),
    "words, some missing": OnGrid(Words(prior=0), ("Rome", None)),
    "mixed": OnGrid(Mixed(), (("a", 0.5), ("b", 1.5))),
    "mixed, gaps": OnGrid(Mixed(), (("a", 0.5), ("b", None))),
}


def models():
    rng = np.random.default_rng(0)
    yield [0.5, 0.5], [[0.1, 0.9], [0.9, 0.1]], [[0.75, 0.25], [0.25, 0.75]]
    yield [0.3, 0.7], [[0.5, 0.5], [0.5, 0.5]], [[0.6, 0.4], [0.1, 0.9]]
    yield [1.0, 0.0], [[0.8, 0.2], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]
    yield [0.5, 0.5], [[0.6, 0.4], [0.3, 0.7]], [[1.0, 0.0], [1.0, 0.0]]
    for _ in range(4):
        yield rng.dirichlet([1, 1]), rng.dirichlet([1, 1], 2), rng.dirichlet([1, 1], 2)


PLAIN = ("full", "diagonal", "tied", "poisson", "bernoulli", "words", "mixed", "diagonal, gaps")
# One symmetry is enough for the fast tests, of the emissions that take the least time.
FAST = {
    "diagonal": "spaced",
    "diagonal, gaps": "returns",
    "full, no shrinkage": "spaced",
    "full, far from zero": "returns",
    "tied, gaps": "spaced",
    "poisson": "spaced",
    "poisson, no prior": "returns",
    "bernoulli": "spaced",
    "bernoulli, no prior": "returns",
    "words, one shape": "spaced",
    "words": "full",
}
CASES = [
    pytest.param(
        grid, symmetry, horizon,
        marks=() if horizon == 1 and FAST.get(grid) == symmetry else pytest.mark.slow,
    )
    for grid, emission in GRIDS.items()
    for symmetry in ("returns", "spaced", *["full"] * emission.symbols)
    for horizon in ((1, 2) if grid in PLAIN else (1,))
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:new_observations has gaps")  # here they come at random
@pytest.mark.parametrize(("grid", "symmetry", "horizon"), CASES)
def test_coverage_is_exact(grid, symmetry, horizon):
    predictor = ConformalHMM(
        HMM(emission=GRIDS[grid]), symmetry=symmetry, allow_empty=True, random_state=0
    )
    everything = enumerate_ranks(predictor, 2, 2, 3, horizon)
    smoothed = everything._replace(smoothing=True)
    for model in models():
        parts = [np.array(part, dtype=float) for part in model]
        for level in LEVELS:
            assert everything.coverage(*parts, level) >= level - 1e-12
            assert smoothed.coverage(*parts, level) == pytest.approx(level, abs=1e-9)
            given = smoothed.coverage_given_last(*parts, level)
            assert given[~np.isnan(given)] == pytest.approx(level, abs=1e-9)


def test_the_check_can_fail():
    """An estimate that leans on the order of the observations is found out."""

    class FromTheLast(Gaussian):
        def log_likelihood(self, table, statistics, codes):
            last = table.take(np.array([len(table.rows) - 1]))
            return super().log_likelihood(table, statistics, codes) * (1.0 + last.sum())

    predictor = ConformalHMM(
        HMM(emission=OnGrid(FromTheLast("diagonal"), VECTORS)), symmetry="returns", smoothing=True,
        allow_empty=True,
    )  # fmt: skip
    everything = enumerate_ranks(predictor, 2, 2, 3, 1)
    errors = [
        abs(everything.coverage(*(np.array(part, dtype=float) for part in model), 0.5) - 0.5)
        for model in models()
    ]
    assert max(errors) > 0.01
