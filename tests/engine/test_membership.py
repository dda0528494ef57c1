"""P-values and members of many windows at once, beside those of one rank at a time."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from definetti._system.random import tie_uniforms
from definetti.engine.pvalues import Rank, Ranked, membership, p_values_of


@pytest.mark.parametrize("most", [1, 2, 10, 1_000, 2**31 - 1, 2**70])
@pytest.mark.parametrize("fill", [False, True])
def test_members_of_many_windows_are_those_of_single_ranks(most, fill):
    rng = np.random.default_rng(most % 2**32)
    shape = 40, 4
    total = np.array([[1 + int(rng.random() * most) for _ in range(4)] for _ in range(40)], object)
    greater = np.array([int(rng.random() * t) for t in total.ravel()], object).reshape(shape)
    room = (total - greater).ravel()
    equal = np.array([1 + int(rng.random() * (r - 1)) for r in room], object).reshape(shape)
    if most < 2**53:
        greater, equal, total = (part.astype(np.int64) for part in (greater, equal, total))
    ranked = Ranked(greater, equal, total, rng.random(shape).round(1))
    alphas = np.array([[Fraction(1, 5), Fraction(1, 2), Fraction(1, 10), Fraction(1, 3)]])
    for uniforms in (None, np.append(rng.random(37), [0.0, 2.0**-53, np.nan])[:, None]):
        p_values = p_values_of(ranked, uniforms)
        inside, filled = membership(ranked, p_values, alphas, uniforms, fill=fill)
        for b in range(40):
            u = None if uniforms is None or np.isnan(uniforms[b, 0]) else float(uniforms[b, 0])
            each = [Rank(*map(int, (greater[b, c], equal[b, c], total[b, c]))) for c in range(4)]
            assert p_values[b].tolist() == [one.p_value(u) for one in each]
            kept = [one.exceeds(alphas[0, c], u) for c, one in enumerate(each)]
            assert filled[b] == (fill and not any(kept))
            if filled[b]:
                keys = [(-p_values[b, c], ranked.scores[b, c], c) for c in range(4)]
                kept[min(keys)[2]] = True
            assert inside[b].tolist() == kept


def test_a_p_value_at_the_level_is_not_above_it():
    """(1 − 0.9) · 10 is not 1 in floating point; ranks are compared as whole numbers."""
    ranked = Ranked.of_window([[0, 0, 1], [1, 1, 1], [10, 5, 10]], np.zeros(3))
    alphas = np.array([[Fraction(1, 10), Fraction(1, 5), Fraction(1, 10)]], dtype=object)
    inside, _ = membership(ranked, p_values_of(ranked), alphas, fill=False)
    assert inside.tolist() == [[False, False, True]]


def test_smoothed_p_values_do_not_depend_on_the_scale_of_weights():
    for scale in (1, 7, 10**30):
        assert Rank(3 * scale, 2 * scale, 11 * scale).p_value(0.3) == Rank(3, 2, 11).p_value(0.3)


def test_uniforms_are_elements_of_one_stream_and_uniform():
    rows = np.array([0, 1, 5, 6, 7, 100, 99_999])
    together = tie_uniforms(3, 2**60, rows)
    alone = [tie_uniforms(3, 2**60, rows[k : k + 1])[0] for k in range(len(rows))]
    assert together.tolist() == alone
    stream = tie_uniforms(3, 5, np.arange(10_000))
    assert abs(stream.mean() - 0.5) < 5 * (1 / 12 / 10_000) ** 0.5  # five standard errors
    assert len({*stream.tolist(), *tie_uniforms(3, 6, np.arange(10_000)).tolist()}) == 20_000
