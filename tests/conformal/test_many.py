"""Many windows and several levels in one call: what single calls say."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from definetti import HMM, ConformalHMM
from definetti.simulate import weather

Y, X = weather(80, random_state=4)
rng = np.random.default_rng(0)
Z = np.array([[float(state == "rain"), 0.0] for state in X]) + rng.normal(size=(80, 2))
WINDOWS = {h: [Y[k : k + h] for k in (0, 3, 7, 9, 20)] for h in (1, 2)}
SETTINGS = [
    {"train_size": 0.5},
    {"train_size": 0.5, "symmetry": "spaced"},
    {"train_size": 0.5, "smoothing": True, "conformity_score": "filter"},
    {"train_size": 30, "symmetry": "departures", "smoothing": True, "allow_empty": True},
    {"train_size": 30, "symmetry": "departures", "memory": 2},
    {"train_size": 0.5, "memory": 2},
    {},
    {"symmetry": "full", "smoothing": True},
    {"symmetry": "pairs", "model": HMM(prior=0)},
]


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("horizon", [1, 2])
@pytest.mark.parametrize("how", SETTINGS, ids=str)
def test_sets_of_many_windows_are_those_of_each(how, horizon):
    cp = ConformalHMM(random_state=1, **how).fit(Y[:60], X[:60])
    for level in (0.3, 0.9, {"rain": 0.4, None: 0.9}):
        many = cp.predict_sets(WINDOWS[horizon], level)
        assert len(many) == len(many.p_values) == 5
        for one, window in zip(many, WINDOWS[horizon], strict=True):
            alone = cp.predict_set(window, level)
            assert one == alone
            assert (one.filled, one.method, one.given) == (alone.filled, alone.method, alone.given)
            np.testing.assert_array_equal(one.all_p_values, alone.all_p_values)
        assert many.sizes.tolist() == [len(one) for one in many]
        np.testing.assert_array_equal(many.nodes, [one.nodes for one in many])
        assert len(many.members) == many.offsets[-1] == many.sizes.sum()


@pytest.mark.parametrize("how", [SETTINGS[2], SETTINGS[3], SETTINGS[7]], ids=str)
def test_ties_are_broken_alike_where_several_symbols_are_new(how):
    cp = ConformalHMM(random_state=1, **how).fit(Y[:60], X[:60])
    windows = [["hat", "boots"], ["scarf", "boots"], ["scarf", "scarf"], ["hat", "scarf"]]
    alone = [cp.predict_p(one).all_p_values for one in windows]
    np.testing.assert_array_equal(cp.p_values(windows), alone)


@pytest.mark.parametrize("how", [{}, {"train_size": 0.5}], ids=str)
def test_nothing_is_refused_by_name(how):
    cp = ConformalHMM(random_state=1, **how).fit(Y[:60], X[:60])
    for nothing in (None, [], np.zeros((0, 1)), np.array(5)):
        with pytest.raises(TypeError, match="windows must be"):
            cp.predict_sets(nothing)
    with pytest.raises(ValueError, match="candidates is empty"):
        cp.p_values([["hat"]], [])


def test_arrays_and_some_candidates():
    cp = ConformalHMM(train_size=0.5, smoothing=True, random_state=0).fit(Z[:60], X[:60])
    windows = Z[60:72].reshape(6, 2, 2)
    asked = [["rain", "sun"], ["sun", "sun"]]
    found = cp.p_values(windows, asked)
    assert found.shape == (6, 2)
    for row, window in zip(found, windows, strict=True):
        assert row.tolist() == [cp.p_value(window, one) for one in asked]
    assert cp.p_values(windows).shape == (6, 4)


@pytest.mark.slow
def test_several_levels_at_once():
    for how in ({}, {"train_size": 0.5}, {"train_size": 0.5, "max_candidates": 3}):
        cp = ConformalHMM(random_state=0, smoothing=True, **how).fit(Y[:60], X[:60])
        levels = [0.9, 0.5, {"sun": 0.7, None: 0.8}]
        for level, one in zip(levels, cp.predict_set(Y[60:62], levels), strict=True):
            assert list(one) == list(cp.predict_set(Y[60:62], level))
            assert one.confidence_level == level
        judged = cp.evaluate(Y[60:], X[60:], [0.9, 0.5, 0.9], horizon=2)
        for level, one in zip([0.9, 0.5, 0.9], judged, strict=True):
            assert one == cp.evaluate(Y[60:], X[60:], level, horizon=2)
            assert one.confidence_level == level
    many = ConformalHMM(train_size=0.5).fit(Y, X).predict_sets([["hat"]], (0.5, 0.9))
    assert [one.confidence_level for one in many] == [0.5, 0.9]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_for_each_member(backend):
    pytest.importorskip(backend)
    many = ConformalHMM(train_size=0.5).fit(Y, X).predict_sets(WINDOWS[2], 0.8)
    frame = many.to_frame(backend)
    columns = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert columns == ["window", "step_1", "step_2", "p_value"]
    assert len(frame) == many.sizes.sum()


def test_what_cannot_be_read_is_refused():
    cp = ConformalHMM(train_size=0.5).fit(Y, X)
    with pytest.raises(TypeError, match="list of windows"):
        cp.predict_sets(["hat", "hat"])
    with pytest.raises(ValueError, match="different lengths"):
        cp.predict_sets([["hat"], ["hat", "hat"]])
    with pytest.raises(ValueError, match="empty list"):
        cp.predict_set(["hat"], [])
    with pytest.raises(ValueError, match="between 0 and 1"):
        cp.predict_set(["hat"], [0.5, 2])
    with pytest.raises(ValueError, match="guarantee"):
        ConformalHMM(train_size=0.5, guarantee="steps").fit(Y, X).p_values([["hat"]])
