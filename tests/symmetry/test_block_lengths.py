"""How many steps a spaced block takes: the figures of docs/choosing.md."""

import numpy as np
import pytest

from definetti.simulate import sample
from definetti.symmetry.blocks import spaced_ends

STEPS = 100_000
INDEPENDENT = np.array([[0.75, 0.25], [0.75, 0.25]])
IN_RUNS = np.array([[0.98, 0.02], [0.06, 0.94]])  # in state 1 a quarter of the time, too
TABLE = {
    1: (4.0, 4.1),
    3: (6.0, 11.6),
    10: (13.0, 31.8),
    20: (23.0, 51.1),
}


def steps_per_block(transition, horizon):
    """Return the number of steps for each spaced block that ends in state 1."""
    rng = np.random.default_rng(0)
    states = sample(np.array([0.5, 0.5]), transition, np.eye(2), STEPS, rng).states
    return STEPS / len(spaced_ends(np.flatnonzero(states), STEPS, horizon))


@pytest.mark.parametrize("horizon", TABLE)
def test_steps_per_block_are_as_documented(horizon):
    found = [round(steps_per_block(law, horizon), 1) for law in (INDEPENDENT, IN_RUNS)]
    assert found == list(TABLE[horizon])


@pytest.mark.parametrize("horizon", TABLE)
def test_rule_holds_for_independent_steps(horizon):
    assert steps_per_block(INDEPENDENT, horizon) == pytest.approx(horizon + 1 / 0.25 - 1, abs=0.1)
