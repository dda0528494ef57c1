"""The table of vectors: how they are read, kept, and refused."""

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from definetti.data.labels import MISSING
from definetti.emissions.tables import Chunks, Rows


def encoded(rows, observations, name, infinite=False):
    """A table that also holds new observations, and their codes."""
    return rows.added(rows.read(observations, name, infinite))


@given(st.lists(st.integers(0, 9), max_size=40))
def test_chunks_are_a_list_that_grows(sizes):
    chunks, plain, versions = Chunks(), [], []
    for size in sizes:
        new = np.arange(len(plain), len(plain) + size, dtype=float)[:, None]
        chunks, plain = chunks.extended(new), plain + new.tolist()
        versions.append((chunks, len(plain)))
    for version, length in versions:  # growing leaves the older ones as they were
        assert len(version) == length
        codes = np.arange(length)
        assert version.take(codes, 1, np.nan).tolist() == plain[:length]
        assert np.isnan(version.take(np.array([MISSING]), 1, np.nan)).all()
        lengths = [len(array) for array in version.arrays]
        assert all(a > 2 * b for a, b in pairwise(lengths))


def test_a_row_is_copied_a_logarithm_of_times():
    chunks, copied = Chunks(), 0
    for row in range(2000):
        chunks = chunks.extended(np.array([[row]]))
        copied += len(chunks.arrays[-1])
    assert len(chunks.arrays) <= np.log2(2000)
    assert copied <= 2000 * np.log2(2000)


def test_codes_of_any_shape():
    rows = Rows()
    for k in range(7):
        rows, _ = encoded(rows, [[k, 10 * k]], "observations")
    taken = rows.take(np.array([[0, 6], [MISSING, 3]]))
    np.testing.assert_array_equal(taken, [[[0, 0], [6, 60]], [[np.nan] * 2, [3, 30]]])


AS_ROWS = {
    "array": np.array([[1.0, 2.0], [3.0, np.nan], [np.nan, np.nan]]),
    "lists": [[1, 2], [3, None], [None, None]],
    "tuples, one missing": [(1, 2), (3, float("nan")), None],
    "arrays": [np.array([1, 2]), np.array([3, np.nan]), np.nan],
    "objects": np.array([[1, 2], [3, None], [None, None]], dtype=object),
    "pandas": pd.DataFrame({"a": [1, 3, None], "b": pd.array([2, None, None], dtype="Int64")}),
    "pandas, unnamed": pd.DataFrame([[1.0, 2.0], [3.0, None], [None, None]]),
    "polars": pl.DataFrame({"a": [1, 3, None], "b": [2.0, None, float("nan")]}),
}


@pytest.mark.parametrize("kind", AS_ROWS)
def test_rows_however_they_come(kind):
    rows, codes = encoded(Rows(), AS_ROWS[kind], "observations")
    assert codes.tolist() == [0, 1, MISSING]
    assert len(rows) == 2  # nothing is kept of a missing one
    np.testing.assert_array_equal(rows.take(codes[:2]), [[1, 2], [3, np.nan]])


AS_NUMBERS = {
    "list": [1, 2.5, None],
    "array": np.array([1.0, 2.5, np.nan]),
    "series": pd.Series([1.0, 2.5, None], index=[7, 8, 9]),
    "polars": pl.Series([1.0, 2.5, None]),
    "column": [[1.0], [2.5], [None]],
    "iterator": iter([1, 2.5, None]),
}


@pytest.mark.parametrize("kind", AS_NUMBERS)
def test_numbers_are_rows_of_one(kind):
    rows, codes = encoded(Rows(), AS_NUMBERS[kind], "observations")
    assert (rows.width, codes.tolist()) == (1, [0, 1, MISSING])
    decoded = rows.decoded(codes)
    assert decoded.shape == ((3, 1) if kind == "column" else (3,))
    np.testing.assert_array_equal(decoded.ravel(), [1.0, 2.5, np.nan])


def test_what_comes_in_is_copied():
    values = np.ones((2, 2))
    rows, codes = encoded(Rows(), values, "observations")
    values[:] = 7.0
    assert (rows.take(codes) == 1.0).all()


@pytest.mark.parametrize(
    ("observations", "error", "message"),
    [
        ([[1, 2], [3, np.inf]], ValueError, "observations: row 2, column 1 is inf; .*None"),
        (pd.DataFrame({"x": [1, -np.inf]}), ValueError, "row 2, column 'x' is -inf"),
        ([1.0, np.inf], ValueError, "observations: row 2 is inf"),
        ([[1, 2], [3, "4"]], TypeError, "row 2, column 1 is '4', which is not a number"),
        (["1", "2"], TypeError, "row 1 is '1', which is not a number"),
        (pd.DataFrame({"x": [1], "city": ["Rome"]}), TypeError, "row 1, column 'city' is 'Rome'"),
        (pl.DataFrame({"city": [None, "Rome"]}), TypeError, "row 2, column 'city'.*Mixed"),
        (np.array(["2020-01-01"], dtype="M8[D]"), TypeError, "row 1 .*not a number"),
        ([{"x": 1}], TypeError, "row 1 .*not a number.*Mixed"),
        ([[1, 2], [1, 2, 3], [1, 2]], ValueError, "row 2 has 3 entries, wider than the rest .* 2"),
        ([[1, 2], [1], [1, 2]], ValueError, "row 2 has 1 entries, narrower than the rest .* 2"),
        ([[], []], ValueError, "row 1 has 0 entries"),
        (np.zeros((2, 2, 2)), ValueError, r"shape \(2, 2, 2\)"),
        (np.array(1.0), ValueError, "shape"),
        ("12", TypeError, "got str"),
        (5, TypeError, "got int"),
        ({"x": [1]}, TypeError, "got dict"),
    ],
)
def test_bad_input_is_named(observations, error, message):
    with pytest.raises(error, match=message):
        encoded(Rows(), observations, "observations")


def test_infinite_numbers_where_they_are_welcome():
    rows, codes = encoded(Rows(), [[0.0, -np.inf]], "observations", infinite=True)
    assert rows.take(codes).tolist() == [[0.0, -np.inf]]


def test_another_width_than_at_fit():
    rows, _ = encoded(Rows(), [[1.0, 2.0]], "observations")
    with pytest.raises(ValueError, match="new has 3 columns, but the fitted ones have 2; give 2"):
        encoded(rows, [[1, 2, 3]], "new")
    with pytest.raises(ValueError, match=r"1 column, but .* \[\[…\]\] for a single step of 2"):
        encoded(rows, [1.0, 2.0], "new")
    assert encoded(rows, [None, None], "new")[1].tolist() == [MISSING, MISSING]


def test_other_columns_than_at_fit():
    rows, _ = encoded(Rows(), pd.DataFrame({"a": [1.0], "b": [2.0]}), "observations")
    with pytest.raises(ValueError, match=r"new has columns 'a', 'c', .* 'a', 'b'; add 'b'"):
        encoded(rows, pl.DataFrame({"a": [1.0], "c": [2.0]}), "new")
    with pytest.raises(ValueError, match="leave out 'c'"):
        encoded(rows, pl.DataFrame({"a": [1.0], "b": [1.0], "c": [2.0]}), "new")
    swapped, codes = encoded(rows, pl.DataFrame({"b": [4.0], "a": [3.0]}), "new")
    assert swapped.take(codes).tolist() == [[3.0, 4.0]]
    assert encoded(rows, [[5.0, 6.0]], "new")[1].tolist() == [1]  # without names it is the order


def test_width_is_open_until_something_is_seen():
    rows, codes = encoded(Rows(), [None, None], "observations")
    assert (rows.width, codes.tolist(), rows.take(codes).shape) == (None, [-1, -1], (2, 0))
    rows, codes = encoded(rows, [[1.0, 2.0, 3.0]], "observations")
    assert (rows.width, codes.tolist()) == (3, [0])


def test_nothing_at_all():
    for empty in ([], np.zeros((0, 2)), pd.DataFrame({"a": []})):
        assert len(encoded(Rows(), empty, "observations")[1]) == 0
