"""The paper's first grid: coverage and size beside the reference and the oracle."""

import csv
from pathlib import Path

import numpy as np
import pytest

from definetti import ConformalHMM
from definetti.simulate import sample
from definetti.symmetry import Full
from definetti.verify import oracle_size

REFERENCE = Path(__file__).parent / "reference" / "fig1_full_class.csv"
REPETITIONS, REFERENCE_REPETITIONS, DRAWS = 150, 2000, 199
# 540 comparisons in all: a bound of 4.5 standard errors fails by chance less than once in 250 runs.
ERRORS = 4.5

pytestmark = pytest.mark.slow


def grid():
    with REFERENCE.open(encoding="utf-8") as lines:
        return [
            pytest.param(row, id=f"T={row['T']} h={row['horizon']} b={row['b']} p={row['p']}")
            for row in csv.DictReader(lines)
        ]


def two_states(p):
    return np.array([[p, 1 - p], [1 - p, p]])


def repeated(length, horizon, transition, emission, smoothing):
    """Coverage and scaled size of independent repetitions, ``(repetitions, 2)``."""
    rows = []
    for k in range(REPETITIONS):
        rng = np.random.default_rng([k, length, horizon, smoothing])
        y, x = sample(np.array([0.5, 0.5]), transition, emission, length + horizon, rng)
        cp = ConformalHMM(
            symmetry=Full(max_windows=0, n_resamples=DRAWS), confidence_level=0.8,
            smoothing=smoothing, allow_empty=True, states=[0, 1], random_state=rng,
        ).fit(y[:length], x[:length])  # fmt: skip
        s = cp.predict_set(y[length:])
        rows.append((tuple(x[length:].tolist()) in s, s.scaled_size))
    return np.array(rows, dtype=float)


@pytest.mark.parametrize("row", grid())
def test_coverage_and_size_agree_with_the_reference_and_the_oracle(row):
    length, horizon = int(row["T"]), int(row["horizon"])
    transition, emission = two_states(float(row["p"])), two_states(float(row["b"]))
    oracle = oracle_size(np.array([0.5, 0.5]), transition, emission, horizon, 0.8)
    # The reference's own oracle was estimated by simulation.
    assert float(row["oracle_size"]) == pytest.approx(oracle, abs=0.003)
    for smoothing, name in [(False, "full_class"), (True, "full_class_smoothed")]:
        found = repeated(length, horizon, transition, emission, smoothing)
        means, spread = found.mean(axis=0), found.std(axis=0)
        both = np.sqrt(1 / REPETITIONS + 1 / REFERENCE_REPETITIONS)
        margin = ERRORS * np.maximum(spread, 0.05) * both
        expected = [float(row[f"{name}_coverage"]), float(row[f"{name}_size"])]
        assert (abs(means - expected) <= margin).all(), (means, expected, margin)
        assert means[0] >= 0.8 - ERRORS * 0.4 / np.sqrt(REPETITIONS)
        assert means[1] >= oracle - ERRORS * spread[1] / np.sqrt(REPETITIONS)
