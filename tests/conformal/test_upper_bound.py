"""Theorem 3.3 of the paper: coverage is at most 1 − α + 1/|Π| where all scores are distinct.

Π depends on the sequence, so the bound is one given the class of sequences that have the same first
state, the same transition counts and the same observations in each state. A class has |Π| members,
all equally probable, and coverage given the class is the share of its members that are covered.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from definetti import HMM, ConformalHMM
from definetti.verify import enumerate_ranks

ALPHAS = (Fraction(1, 10), Fraction(1, 5), Fraction(1, 4), Fraction(1, 2))


def number_of_window(windows):
    """Give every window of states a score of its own."""
    states = np.column_stack([windows.start, windows.states]).astype(int)
    return states @ (3.0 ** np.arange(states.shape[1]))


def classes(score, n_states, n_symbols, length, horizon):
    """List the ranks of all members of each class of sequences."""
    predictor = ConformalHMM(HMM(), symmetry="full", conformity_score=score, allow_empty=True)
    everything = enumerate_ranks(predictor, n_states, n_symbols, length, horizon)
    found = defaultdict(list)
    for states, symbols, rank in zip(
        everything.states.tolist(), everything.observations.tolist(), everything.ranks, strict=True
    ):
        steps = Counter(pairwise(states))
        seen = Counter(zip(states, symbols, strict=True))
        key = states[0], frozenset(steps.items()), frozenset(seen.items())
        if states[-1] not in states[:-1]:  # a last state that is new is compared with nothing else
            key = (*states, *symbols)
        found[key].append(rank)
    return list(found.values())


def coverage(ranks, alpha):
    return Fraction(sum(rank.exceeds(alpha) for rank in ranks), len(ranks))


@pytest.mark.parametrize(("n_states", "horizon"), [(2, 6), (3, 6)])
@pytest.mark.parametrize("alpha", ALPHAS, ids=str)
def test_coverage_of_distinct_scores_is_within_one_rank_of_level(n_states, horizon, alpha):
    """With one labelled step a window is the whole sequence, and no two members tie."""
    sizes = set()
    for ranks in classes(number_of_window, n_states, 1, 1, horizon):
        assert all(rank.equal * len(ranks) == rank.total for rank in ranks)  # no ties
        assert 1 - alpha <= coverage(ranks, alpha) < 1 - alpha + Fraction(1, len(ranks))
        sizes.add(len(ranks))
    assert max(sizes) >= 4


@pytest.mark.parametrize("score", ["path", "filter", number_of_window])
@pytest.mark.parametrize("alpha", ALPHAS, ids=str)
def test_coverage_of_tied_scores_is_within_largest_tie_of_level(score, alpha):
    for ranks in classes(score, 2, 2, 3, 1):
        largest_tie = max(Fraction(rank.equal, rank.total) for rank in ranks)
        assert 1 - alpha <= coverage(ranks, alpha) < 1 - alpha + largest_tie


def test_upper_bound_fails_where_scores_tie():
    """Here one score ties with all others, and coverage is 1 whatever the level is."""
    ranked = classes(lambda windows: np.zeros(len(windows.states)), 2, 1, 1, 5)
    large = [ranks for ranks in ranked if len(ranks) > 2]
    assert large
    for ranks in large:
        assert coverage(ranks, Fraction(1, 2)) == 1 > Fraction(1, 2) + Fraction(1, len(ranks))
