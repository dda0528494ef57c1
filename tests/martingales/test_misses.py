"""Capital bet on misses: all miss paths of a small model, with their probabilities.

Every sequence of a small hidden Markov model is listed with the p-values of its steps under
``symmetry="full"``, refitted. Given a sequence, a smoothed step is a miss with a known probability,
independently of the others, so that the law of all miss paths is a sum over sequences.
"""

from itertools import product

import numpy as np
import pytest
from tests.martingales.test_independence import LAWS, chance, list_streams

from definetti.engine.step_counts import PARTS
from definetti.martingales import Misses, show_capital

WHOLE = PARTS.index("whole window")
STEPS = 5


def bet(alpha=0.4):
    """A martingale that stakes much at once: few steps are enough for it to matter."""
    return Misses(0.5, alpha, (0.2, 0.7))


def miss_chances(smoothed, alphas):
    """Return the sequences, and how probable a miss is at each of their steps, ``(S, T)``."""
    x, y, ends, starts = list_streams((0, 1), (STEPS + 1,))
    low, high = np.moveaxis(np.array([one[:, WHOLE] for one in ends]), 2, 0)
    allowed = np.array(alphas)[x[:, 1:]].T
    if smoothed:
        found = np.clip((allowed - low) / (high - low), 0.0, 1.0)
    else:
        found = (high <= allowed + 1e-12).astype(float)
    return x, y, starts, found.T


def capital_after(path, alphas=None):
    martingale = bet()
    for k, missed in enumerate(path):
        martingale.judge(bool(missed), None if alphas is None else float(alphas[k]))
    return martingale.capital


@pytest.mark.parametrize("law", LAWS)
def test_capital_is_a_martingale_for_smoothed_full(law):
    x, y, starts, chances = miss_chances(True, (0.4, 0.4))
    weights = chance(law, x, y, starts)

    def probability(path):
        taken = np.where(
            np.array(path, dtype=bool), chances[:, : len(path)], 1 - chances[:, : len(path)]
        )
        return weights @ taken.prod(axis=1)

    for length in range(STEPS):
        for path in product((0, 1), repeat=length):
            now = probability(path) * capital_after(path)
            later = sum(
                probability((*path, missed)) * capital_after((*path, missed)) for missed in (0, 1)
            )
            assert later == pytest.approx(now, abs=1e-12)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("smoothed", [True, False])
def test_capital_ever_reaches_a_threshold_no_more_often_than_ville_allows(law, smoothed):
    x, y, starts, chances = miss_chances(smoothed, (0.4, 0.4))
    weights = chance(law, x, y, starts)
    paths = list(product((0, 1), repeat=STEPS))
    highest = np.array([
        max(capital_after(path[:length]) for length in range(1, STEPS + 1)) for path in paths
    ])  # fmt: skip
    law_of_paths = np.array([
        weights @ np.where(np.array(path, dtype=bool), chances, 1 - chances).prod(axis=1)
        for path in paths
    ])  # fmt: skip
    assert law_of_paths.sum() == pytest.approx(1.0, abs=1e-12)
    assert highest.max() > 5
    for threshold in np.unique(highest):
        ever = law_of_paths[highest >= threshold - 1e-12].sum()
        assert ever <= 1 / threshold + 1e-12


@pytest.mark.parametrize("law", LAWS)
def test_capital_with_levels_by_state_is_one_on_average_at_every_time(law):
    alphas = np.array([0.5, 0.3])
    x, y, starts, chances = miss_chances(True, alphas)
    weights = chance(law, x, y, starts)
    for length in range(1, STEPS + 1):
        mean = 0.0
        for states in product((0, 1), repeat=length):
            own = (x[:, 1 : length + 1] == states).all(axis=1)
            for path in product((0, 1), repeat=length):
                taken = np.where(
                    np.array(path, dtype=bool), chances[own, :length], 1 - chances[own, :length]
                )
                share = weights[own] @ taken.prod(axis=1)
                mean += share * capital_after(path, alphas[list(states)])
        assert mean == pytest.approx(1.0, abs=1e-12)


def test_a_miss_never_lowers_the_capital():
    for path in product((0, 1), repeat=6):
        for k, missed in enumerate(path):
            if not missed:
                more = (*path[:k], 1, *path[k + 1 :])
                assert capital_after(more) > capital_after(path)


def test_judging_misses_is_betting_on_p_values_at_alpha():
    p_values = np.random.default_rng(0).random(50)
    one, other = Misses(alpha=0.2), Misses(alpha=0.2)
    logs = one.update_many(p_values)
    assert logs.tolist() == [other.judge(bool(p <= 0.2)) for p in p_values]


def test_capital_is_written_however_large():
    martingale = Misses()
    for _ in range(2_000):
        martingale.judge(True)
    assert np.isfinite(martingale.log_capital)
    assert show_capital(martingale.log_capital).startswith("10^")


@pytest.mark.parametrize(
    "wrong", [{"alpha": 0}, {"stakes": ()}, {"stakes": (0.1, 0.1)}, {"stakes": (1,)}]
)
def test_parameters_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Misses(**wrong)
