"""What came in bit by bit is read again at once when new observations change the choice."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from definetti import ConformalHMM
from definetti.data.encoded import joined
from definetti.data.encoded_sequence import Part
from definetti.emissions import Categorical, Gaussian, Mixed, Poisson

RNG = np.random.default_rng(0)
LENGTH = 60
WHOLE = RNG.integers(0, 4, LENGTH)
OTHER = RNG.integers(0, 3, LENGTH)
STATES = [("sun", "rain")[k] for k in RNG.integers(0, 2, LENGTH)]

MASKED = np.ma.masked_array(np.stack([WHOLE, OTHER], axis=1), mask=np.eye(LENGTH, 2))
# What comes in, step by step, and the new observation that makes the choice another one.
KINDS = {
    "list": (WHOLE.tolist(), [0.5]),
    "gaps": ([None if k % 3 == 0 else k for k in WHOLE.tolist()], [0.5]),
    "array": (WHOLE, np.array([0.5])),
    "series": (pd.Series(WHOLE), pd.Series([0.5])),
    "polars": (pl.Series("u", WHOLE), pl.Series("u", [0.5])),
    "rows": ([list(row) for row in zip(WHOLE.tolist(), OTHER.tolist(), strict=True)], [[0.5, 1]]),
    "matrix": (np.stack([WHOLE, OTHER], axis=1), np.array([[0.5, 1.0]])),
    "masked": (MASKED, np.array([[0.5, 1.0]])),
    "pandas frame": (pd.DataFrame({"u": WHOLE, "v": OTHER}), pd.DataFrame({"u": [0.5], "v": [1]})),
    "polars frame": (pl.DataFrame({"u": WHOLE, "v": OTHER}), pl.DataFrame({"u": [0.5], "v": [1]})),
    "mappings": ([{"u": k} for k in WHOLE.tolist()], [{"u": 0.5}]),
}


def equal(one, other):
    """Whether two fits have taken in the same, to the last bit."""
    return (
        np.array_equal(one.statistics, other.statistics)
        and np.array_equal(one.history.states, other.history.states)
        and np.array_equal(one.history.observations, other.history.observations)
        and np.array_equal(one.history.transitions, other.history.transitions)
        and np.array_equal(one.history.pool.transitions, other.history.pool.transitions)
        and one.history.segments == other.history.segments
        and one.model.emission_ == other.model.emission_
        and one.alphabet.labels == other.alphabet.labels
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [None, [4, 6]])
def test_bit_by_bit_is_as_all_at_once(kind, lengths, monkeypatch):
    values, new = KINDS[kind]
    cp = ConformalHMM(random_state=0).fit(values[:10], STATES[:10], lengths)
    for k in range(10, LENGTH):
        cp.partial_fit(values[k : k + 1], STATES[k : k + 1])
    whole = None if lengths is None else [4, LENGTH - 4]
    fresh = ConformalHMM(random_state=0).fit(values, STATES, whole)
    reading = []
    for law in (Categorical, Gaussian, Mixed, Poisson):
        encode = law.encode
        monkeypatch.setattr(
            law, "encode", lambda *args, encode=encode: (reading.append(1), encode(*args))[1]
        )
    found = cp._data.choose_again(new)
    assert len(reading) <= 4  # not once for each time that something came
    assert equal(found, fresh._data.choose_again(new))
    assert cp.predict_p(new) == fresh.predict_p(new)
    cp.partial_fit(new, ["sun"])
    fresh.partial_fit(new, ["sun"])
    assert equal(cp._data, fresh._data)
    assert cp.predict_p(new) == fresh.predict_p(new)


def test_only_what_is_alike_is_put_together():
    frame, other = pd.DataFrame({"u": [1]}), pd.DataFrame({"u": [1.5]})
    came = [
        Part([None], ["a"], "nothing"),
        Part([1], ["b"], "single"),
        Part([None], ["c"], "nothing"),
        Part(np.array([[1, 2]]), ["d"], "rows"),
        Part(frame, ["e"], "columns"),
        Part(frame, ["f"], "columns"),
        Part(other, ["g"], "columns"),
        Part([None], ["h"], "nothing"),
    ]
    found = joined(came)
    assert [part.labels for part in found] == [list("abc"), ["d"], list("ef"), ["g"], ["h"]]
    assert [part.shape for part in found] == ["single", "rows", "columns", "columns", "nothing"]
    assert found[0].observations == [None, 1, None]
    assert found[2].observations["u"].tolist() == [1, 1]
    assert joined(found) == found


TABLES = {
    "numbers": pd.DataFrame({"u": [0.5, 1.5] * 9, "v": [1.0, 2.5] * 9}),
    "kinds": pd.DataFrame({"u": [0.5, 1.5] * 9, "v": ["k", "l"] * 9}),
    "switches": pd.DataFrame({"u": [True, False] * 9, "v": [False, True] * 9}),
    "polars": pl.DataFrame({"u": [0.5, 1.5] * 9, "v": [1.0, 2.5] * 9}),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("more", [2.0, 3, "text"])
def test_a_column_too_many_is_the_fault_of_what_is_new(table, more):
    old = TABLES[table]
    cp = ConformalHMM().fit(old, STATES[:18])
    first = {name: [old[name][0]] for name in "uv"}
    new = type(old)({**first, "w": [more]})
    for name, ask in (
        ("new_observations", lambda: cp.predict_set(new)),
        ("new_observations", lambda: cp.p_value(new, ["sun"])),
        ("new_observations", lambda: cp.evaluate(new, ["sun"])),
        ("observations", lambda: cp.partial_fit(new, ["sun"])),
    ):
        with pytest.raises((ValueError, TypeError), match=rf"^{name}\b.*'w'.*leave.* out"):
            ask()
    assert cp.n_steps_ == 18


def test_what_is_new_may_be_of_another_shape():
    for old, new, words in (
        ([0.5, 1.5] * 9, pd.DataFrame({"u": [0.5], "v": [1.0]}), "has 2 columns"),
        (["k", "l"] * 9, pd.DataFrame({"u": [0.5], "v": [1.0]}), "got DataFrame"),
        ([[0.5, "k"], [1.5, "l"]] * 9, [[0.5, "k", 7]], "leave out 2"),
    ):
        with pytest.raises((ValueError, TypeError), match=f"^new_observations.*{words}"):
            ConformalHMM().fit(old, STATES[:18]).predict_set(new)
