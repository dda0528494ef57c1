"""Ranks are whole numbers, and every boundary falls on the right side."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from definetti.engine.pvalues import Rank, miscoverage, ranks


@pytest.mark.parametrize(
    ("level", "alpha"),
    [
        (0.9, Fraction(1, 10)),
        (0.8, Fraction(1, 5)),
        (0.7, Fraction(3, 10)),
        (np.float64(0.95), Fraction(1, 20)),
        (Decimal("0.99"), Fraction(1, 100)),
        (Fraction(2, 3), Fraction(1, 3)),
    ],
)
def test_the_level_is_the_decimal_that_was_written(level, alpha):
    assert miscoverage(level) == alpha


@pytest.mark.parametrize(
    "level", [0, 1, -0.1, 1.5, 90, float("nan"), float("inf"), "0.9", None, True]
)
def test_levels_that_are_none(level):
    with pytest.raises(ValueError, match="confidence_level"):
        miscoverage(level)


@pytest.mark.parametrize("total", [5, 10, 20, 40, 100, 1000])
@pytest.mark.parametrize("level", [0.1, 0.2, 0.5, 0.7, 0.8, 0.9, 0.95])
def test_every_boundary(total, level):
    """A set holds exactly the ⌈(1 − α) K⌉ least strange of K distinct scores."""
    alpha = miscoverage(level)
    inside = sum(Rank(greater, 1, total).exceeds(alpha) for greater in range(total))
    assert inside == -((-(1 - alpha) * total) // 1)


def naive_rank(reference, weights, candidate):
    pairs = list(zip(reference, weights, strict=True))
    return sum(w for s, w in pairs if s > candidate), sum(w for s, w in pairs if s == candidate)


score = st.one_of(
    st.sampled_from([0.0, 1.0, 1.0 + 2.0**-30, 1.0 + 2.0**-29, 2.0, 1e6, np.inf]),
    st.floats(-5, 5, width=16),
)


@given(
    st.lists(st.tuples(score, st.integers(1, 10**25)), min_size=1, max_size=12),
    st.lists(score, min_size=1, max_size=5),
    st.booleans(),
)
def test_ranks_against_a_naive_version(weighted, candidates, joins):
    reference, weights = map(list, zip(*weighted, strict=True))
    found = ranks(np.array(reference), np.array(weights, dtype=object), np.array(candidates), joins)
    for rank, candidate in zip(found, candidates, strict=True):
        greater, equal = naive_rank(reference, weights, candidate)
        assert rank == Rank(greater, equal + joins, sum(weights) + joins)


@pytest.mark.slow
@given(st.integers(0, 50), st.integers(1, 50), st.integers(0, 50), st.sampled_from([0.1, 0.2, 0.8]))
def test_chance_is_the_share_of_uniforms_that_include(greater, equal, less, level):
    rank, alpha = Rank(greater, equal, greater + equal + less), miscoverage(level)
    grid = [Fraction(2 * k + 1, 2000) for k in range(1000)]
    share = Fraction(
        sum((greater + u * equal) / rank.total > alpha for u in map(Fraction, grid)), 1000
    )
    assert abs(rank.chance(alpha) - share) <= Fraction(1, 1000)


@pytest.mark.slow
@given(st.integers(1, 6), st.lists(st.integers(0, 3), min_size=1, max_size=5))
def test_ranks_among_exchangeable_scores_are_uniform(resamples, values):
    """z and M independent draws from a class of equally probable members are exchangeable.

    Summed over all draws the smoothed p-value is uniform: the +1 formula is exact, not approximate.
    """
    resamples = min(resamples, 3)
    from itertools import product

    chances = [Fraction(0)] * 4
    for chosen in product(values, repeat=resamples + 1):
        [rank] = ranks(
            np.array(chosen[1:], float),
            np.ones(resamples, dtype=np.int64),
            np.array(chosen[:1], float),
            True,
        )
        for k, alpha in enumerate(
            [Fraction(1, 10), Fraction(1, 4), Fraction(1, 3), Fraction(1, 2)]
        ):
            chances[k] += rank.chance(alpha)
    number = len(values) ** (resamples + 1)
    assert [c / number for c in chances] == [
        Fraction(9, 10),
        Fraction(3, 4),
        Fraction(2, 3),
        Fraction(1, 2),
    ]
