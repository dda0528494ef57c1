"""Scores are rounded once, to a grid on which equal scores are equal numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from definetti.scores.nonconformity import lower_edge, round_scores, upper_edge

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


def naive_rounding(score):
    """Round to a multiple of 2 ** -30 times the largest power of two in it, at least one."""
    exact, unit = Fraction(score), Fraction(1)
    while abs(exact) >= 2 * unit:
        unit *= 2
    step = unit / 2**30
    return float(round(exact / step) * step)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_rounding_is_that_of_exact_fractions(scores):
    assert round_scores(np.array(scores)).tolist() == [naive_rounding(one) for one in scores]


@given(st.lists(finite, min_size=2, max_size=20))
def test_rounding_keeps_the_order_and_is_idempotent(scores):
    ordered = np.sort(np.array(scores))
    found = round_scores(ordered)
    assert (np.diff(found) >= 0).all()
    assert round_scores(found).tolist() == found.tolist()


def test_sums_in_another_order_tie():
    rng = np.random.default_rng(0)
    weights = rng.exponential(1.0, (2_000, 30))
    forwards, backwards = weights.cumsum(axis=1)[:, -1], weights[:, ::-1].cumsum(axis=1)[:, -1]
    assert (forwards != backwards).any()
    assert (round_scores(forwards) == round_scores(backwards)).all()


def test_infinities_pass_and_shapes_stay():
    scores = np.array([[np.inf, -np.inf], [0.25, -0.75]])
    assert round_scores(scores).tolist() == scores.tolist()
    assert round_scores(np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0, 1.9999, 7.25, 1e6, -3.5])
def test_edges_part_what_rounds_to_a_score_from_what_does_not(score):
    own = float(round_scores(np.array([score]))[0])
    unit = upper_edge(own) - own
    inside = np.array([own, own + 0.99 * unit, own - 0.49 * unit])
    assert (inside <= upper_edge(own)).all()
    assert (round_scores(inside) == own).all()
    assert lower_edge(own) < own - 0.99 * unit
    assert upper_edge(np.inf) == np.inf
