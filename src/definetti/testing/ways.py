"""Short ways that give what the long way gives: many windows in one pass, sets in a lattice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from definetti.conformal import ConformalHMM
from definetti.evaluation.rolling import roll_levels
from definetti.sets.lattice import LatticeSet
from definetti.testing.uniform import STATES, quiet, same

LEARNED, STEPS, LEVEL = 40, 60, 0.7


def draw_steps(values: Sequence[Any]) -> tuple[list[Any], list[str]]:
    """Return observations out of some values, and states."""
    rng = np.random.default_rng(1)
    states = [STATES[k] for k in (rng.random(STEPS).cumsum() * 1.3).astype(int) % 2]
    return [values[k] for k in rng.integers(0, len(values), STEPS)], states


def check_at_once(predictor: ConformalHMM, what: str, values: Sequence[Any] = "abc") -> None:
    """Check that windows judged in one pass have the p-values that each has by itself."""
    seen, states = draw_steps(values)
    later, truth = seen[LEARNED:], states[LEARNED:]
    with quiet():
        fitted = predictor.fit(seen[:LEARNED], states[:LEARNED])
        for horizon in (1, 2):
            found, expected = (
                roll_levels(fitted, later, truth, [LEVEL], horizon, at_once=way)
                for way in (True, False)
            )
            alike = same(found.p_values, expected.p_values) and same(found.sizes, expected.sizes)
            assert alike, (
                f"many windows at once have other p-values than one by one: what {what} declares "
                "for speed is not so; leave it out, or mend it"
            )


def check_lattice(predictor: ConformalHMM, what: str) -> None:
    """Check that a set too large to be listed holds what is plausible, and nothing else."""
    seen, states = draw_steps("abc")
    steps = 4
    with quiet():
        fitted = predictor.fit(seen[:LEARNED], states[:LEARNED])
        new = seen[LEARNED : LEARNED + steps]
        try:
            found = fitted.set_params(max_candidates=1).predict_set(new, LEVEL)
        except ValueError:  # it does not go step by step through such a window
            return
        assert isinstance(found, LatticeSet)
        for path in product(STATES, repeat=steps):
            plausible = fitted.p_value(new, path) > 1 - LEVEL
            assert plausible == (path in found), (
                f"the trellis of {what} holds other sequences than its values say; leave `trellis` "
                "out, or let costs of a path add up to the score of its window"
            )
