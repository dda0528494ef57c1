"""Residuals and bands: naive versions, what they have in common in a class, and their promise."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from definetti.check import check, residuals
from definetti.check.rearrangements import drawer_of
from definetti.check.residuals import (
    _list_series,
    correlate_lags,
    draw_bands,
    find_residuals,
    place_among_earlier,
)
from definetti.check.sample import Draws, read_sample
from definetti.simulate import weather


def test_a_step_is_placed_among_those_of_its_group_before_it():
    rng = np.random.default_rng(0)
    begins = np.array([0, 0, 0, 3, 4, 4])
    cells = rng.integers(-1, 6, size=(4, 60))
    coins = rng.random(60)
    found = place_among_earlier(cells, begins, coins)
    for row, place in zip(cells, found, strict=True):
        for t, cell in enumerate(row):
            if cell < 0:
                assert np.isnan(place[t])
                continue
            before = [c for c in row[:t] if c >= 0 and begins[c] == begins[cell]]
            less, same = sum(c < cell for c in before), sum(c == cell for c in before)
            assert place[t] == (less + coins[t] * (same + 1)) / (len(before) + 1)


def test_autocorrelations_stay_within_segments():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(2, 30))
    rows[0, [3, 17]] = np.nan
    begins = np.array([0, 12, 30])
    found = correlate_lags(rows, begins, 5)
    for row, lags in zip(rows, found, strict=True):
        off = row - np.nanmean(row)
        for k, lag in enumerate(lags, 1):
            pairs = [
                off[t] * off[t + k]
                for begin, end in ((0, 12), (12, 30))
                for t in range(begin, end - k)
            ]
            assert lag == pytest.approx(np.nansum(pairs) / np.nansum(off**2))


@pytest.mark.parametrize("number", [20, 40, 200, 257])
@pytest.mark.parametrize("kind", ["smooth", "tied", "constant"])
def test_of_all_curves_no_more_than_the_share_leave_the_bands(number, kind):
    """Which is the observed one plays no part, so this is the promise, by exchangeability."""
    rng = np.random.default_rng(2)
    curves = rng.standard_exponential(size=(number, 7)).cumsum(axis=1)
    if kind == "tied":
        curves = rng.integers(0, 4, size=(number, 7)).astype(float)
    elif kind == "constant":
        curves[:, 3] = 2.0
    band = draw_bands(np.arange(7.0), curves)
    low, high = band.simultaneous
    assert ((curves < low) | (curves > high)).any(axis=1).sum() <= 0.05 * number
    low, high = band.pointwise
    assert (((curves < low) | (curves > high)).sum(axis=0) <= 0.05 * number).all()
    again = draw_bands(np.arange(7.0), curves[::-1])
    assert np.array_equal(again.simultaneous, band.simultaneous)
    assert np.array_equal(again.pointwise, band.pointwise)


OBSERVATIONS = {
    "none": lambda rng, n: None,
    "numbers": lambda rng, n: rng.normal(size=n),
    "symbols": lambda rng, n: rng.choice(list("zyx"), n).tolist(),
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
}


CASES = [(kind, memory) for kind in OBSERVATIONS for memory in (1, 2, "age")]


@pytest.mark.parametrize("fine", [residuals.FINE, 3])
@pytest.mark.parametrize(("kind", "memory"), [*CASES, ("symbols", "observation")])
def test_a_rearrangement_has_the_residuals_that_it_would_have_as_the_sample(
    kind, memory, fine, monkeypatch
):
    """So the observed curves are to those of draws as any draw is to the others: the proof's need.

    The coins are those of the steps, whatever comes to them.
    """
    monkeypatch.setattr(residuals, "FINE", fine)
    rng = np.random.default_rng(3)
    states = rng.choice(["sun", "rain", "fog"], 60, p=[0.5, 0.3, 0.2])
    observations = OBSERVATIONS[kind](rng, 60)
    sample = read_sample(observations, states, [25, 35], memory)
    ours = list(_list_series(sample, np.random.default_rng(5)))
    tokens, edges, times = drawer_of(sample, across=False)(np.random.default_rng(4), 5)
    for k in range(5):
        one = Draws(tokens[k : k + 1], edges[k : k + 1], times[k : k + 1])
        labels = [sample.labels[code] for code in sample.heads[tokens[k]]]
        taken = None if observations is None else [observations[t] for t in times[k]]
        other = read_sample(taken, labels, [25, 35], memory)
        theirs = list(_list_series(other, np.random.default_rng(6)))
        assert [s.name for s in theirs] == [s.name for s in ours]
        for mine, their in zip(ours, theirs, strict=True):
            their.coins[:] = mine.coins
            found = mine.measure(sample, one)
            assert found == pytest.approx(their.measure(other, other.itself), abs=1e-12)


def test_residuals_are_uniform_and_independent_where_the_model_is_true():
    """Exactly so for observations. Fixed seed; each of the two is wrong once in a thousand."""
    observations, states = weather(4_000, random_state=8)
    sample = read_sample(observations, states, None, 1)
    for series in _list_series(sample, np.random.default_rng(0)):
        places = series.place(sample, sample.itself)[0]
        places = places[~np.isnan(places)]
        counts = np.histogram(places, 10, (0, 1))[0]
        expected = len(places) / 10
        assert ((counts - expected) ** 2 / expected).sum() < 27.9  # chi-square of 9, 0.999
        normal = ndtri(places)
        assert abs(np.corrcoef(normal[1:], normal[:-1])[0, 1]) < 3.3 / np.sqrt(len(places))


def test_many_values_are_placed_by_a_few_cells_which_no_picture_shows(monkeypatch):
    rng = np.random.default_rng(0)
    sample = read_sample(rng.normal(size=6_000), [0, 1, 1] * 2_000, None, 1)
    *_, merged = _list_series(sample, np.random.default_rng(0))
    assert np.bincount(merged.begins).max() == residuals.FINE
    monkeypatch.setattr(residuals, "FINE", 10**4)
    *_, exact = _list_series(sample, np.random.default_rng(0))
    assert len(exact.begins) == 6_000
    first, second = (one.place(sample, sample.itself)[0] for one in (merged, exact))
    assert np.abs(first - second)[3_000:].max() < 0.01
    assert (np.diff(merged.cells[np.argsort(exact.cells[:-1])]) >= 0).all()


def test_bands_are_of_the_draws_of_the_tests():
    """A diagnosis looks again at the first draws, whatever is tested and on how many threads."""
    y, x = weather(150, random_state=1)
    first = check(y, x, random_state=7).residuals
    other = check(y, x, random_state=7, tests=["order"], n_jobs=2).residuals
    assert list(first) == ["next state", "observations"]
    for name in first:
        assert first[name].n_draws == 199
        for one, two in zip(first[name][1:4], other[name][1:4], strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    sample = read_sample(y, x, None, 1)
    ours = next(_list_series(sample, np.random.default_rng([7, 3])))
    draw = drawer_of(sample, across=False)(np.random.default_rng([7, 0, 0]), 50)
    band = first["next state"].quantiles
    curves = ours.measure(sample, Draws(*draw))[:, : len(band.at)]
    low, high = band.pointwise
    assert ((curves >= low) & (curves <= high)).mean() > 0.9


def test_residuals_stay_few():
    rng = np.random.default_rng(0)
    states = rng.integers(0, 2, 300)
    found = check(rng.normal(size=(300, 9)), states, n_resamples=20, random_state=0)
    assert len(found.residuals) == 6
    assert all(one.n_draws == 20 for one in found.residuals.values())
    assert check(None, [0] * 20 + [1, 0], pictures=False, random_state=0).residuals == {}
    one_state = read_sample(rng.normal(size=30), [0] * 30, None, 1)
    assert list(find_residuals(one_state, 50, 0)) == ["observations"]


def test_quantiles_and_shares_are_those_of_the_places():
    sample = read_sample(None, list("aabab" * 60), None, 1)
    (series,) = _list_series(sample, np.random.default_rng(0))
    row = series.measure(sample, sample.itself)[0]
    places = series.place(sample, sample.itself)[0]
    places = places[~np.isnan(places)]
    exact = np.quantile(places, series.shares, method="inverted_cdf")
    quantiles = row[: len(series.shares)]
    assert np.abs(ndtr(quantiles) - exact).max() < 2 / len(places) + 1e-3
    shares = np.histogram(places, series.bins, (0, 1))[0] * series.bins / len(places)
    assert np.allclose(row[len(quantiles) :][: series.bins], shares)
