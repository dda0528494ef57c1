"""Columns of several kinds."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from definetti.data.history import padded
from definetti.data.labels import MISSING
from definetti.emissions import Bernoulli, Categorical, Gaussian, Mixed, Poisson, Words

COLUMNS = {
    "speed": [1.5, 2.5, None, 9.0, 8.0],
    "calls": [0, 3, 2, None, 7],
    "open": [True, None, False, True, True],
    "city": ["Rome", "Oslo", "Rome", None, "Oslo"],
}
STATES = np.array([0, 0, 0, 1, 1])
EMISSIONS = {"speed": Gaussian(), "calls": Poisson(), "open": Bernoulli(), "city": Categorical()}


def rows_of(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


FORMS = {
    "polars": pl.DataFrame(COLUMNS),
    "pandas": pd.DataFrame(
        {
            "speed": COLUMNS["speed"],
            "calls": pd.array(COLUMNS["calls"], dtype="Int64"),
            "open": pd.array(COLUMNS["open"], dtype="boolean"),
            "city": pd.Categorical(COLUMNS["city"]),
        }
    ),
    "dictionaries": rows_of(COLUMNS),
    "tuples": [tuple(row.values()) for row in rows_of(COLUMNS)],
    "lists": [list(row.values()) for row in rows_of(COLUMNS)],
    "objects": np.array([list(row.values()) for row in rows_of(COLUMNS)], dtype=object),
}


def expected():
    total = np.zeros((5, 3))
    for name, emission in EMISSIONS.items():
        table, codes = emission.encode(COLUMNS[name], None, name)
        statistics = emission.statistics(table, codes, STATES, 3)
        total += emission.log_likelihood(table, statistics, codes)
    return total


@pytest.mark.parametrize("form", FORMS)
def test_the_sum_of_its_columns(form):
    emission = Mixed()
    table, codes = emission.encode(FORMS[form], None, "observations")
    assert [column.emission for column in table.columns] == list(EMISSIONS.values())
    statistics = emission.statistics(table, codes, STATES, 3)
    found = emission.log_likelihood(table, statistics, codes)
    np.testing.assert_allclose(found, expected(), rtol=1e-12)
    shaped = emission.log_likelihood(table, statistics, codes[:4].reshape(2, 2))
    np.testing.assert_allclose(shaped, found[:4].reshape(2, 2, 3))


def test_columns_of_the_users_choice():
    table, _ = Mixed({"calls": Categorical(), "city": Words()}).encode(
        FORMS["polars"], None, "observations"
    )
    assert [column.name for column in table.columns] == ["calls", "city"]
    table, _ = Mixed({3: Words()}).encode(FORMS["tuples"], None, "observations")
    assert [column.name for column in table.columns] == [3]


def test_new_symbols_do_not_push_other_columns_aside():
    emission = Mixed()
    frame = pl.DataFrame(COLUMNS).select("city", "speed", "calls")
    more = pl.DataFrame({"city": ["Bonn", "Kyiv"], "speed": [3.0, 4.0], "calls": [1, 2]})
    table, codes = emission.encode(frame, None, "observations")
    first = emission.statistics(table, codes, STATES, 2)
    table, new = emission.encode(more, table, "observations")
    added = emission.statistics(table, new, np.array([1, 0]), 2)
    both = padded(first, *added.shape) + added
    whole, all_codes = emission.encode(pl.concat([frame, more]), None, "observations")
    together = emission.statistics(whole, all_codes, np.append(STATES, [1, 0]), 2)
    np.testing.assert_allclose(
        emission.log_likelihood(table, both, np.append(codes, new)),
        emission.log_likelihood(whole, together, all_codes),
        rtol=1e-9,
    )


def test_missing_rows_and_entries():
    emission = Mixed()
    observations = [("a", 1.5), None, (None, None), ("b", None), (None, 2.5)]
    table, codes = emission.encode(observations, None, "observations")
    assert codes.tolist() == [0, MISSING, MISSING, 1, 2]
    statistics = emission.statistics(table, codes, STATES, 2)
    assert emission.log_likelihood(table, statistics, codes)[1:3].tolist() == [[0, 0]] * 2
    assert emission.decode(table, codes).tolist() == [
        ("a", 1.5),
        None,
        None,
        ("b", None),
        (None, 2.5),
    ]


def test_decoding_dictionaries():
    emission = Mixed()
    table, codes = emission.encode([{"a": "x", "b": 2}, {"a": "y"}], None, "observations")
    assert emission.decode(table, codes[None]).tolist() == [
        [{"a": "x", "b": 2.0}, {"a": "y", "b": None}]
    ]


def test_nothing_seen_yet():
    emission = Mixed()
    table, codes = emission.encode([None, None], None, "observations")
    statistics = emission.statistics(table, codes, np.array([0, 1]), 2)
    assert emission.log_likelihood(table, statistics, codes).tolist() == [[0, 0]] * 2
    table, codes = emission.encode([("a", 0.5)], table, "observations")
    added = emission.statistics(table, codes, np.array([1]), 3)
    both = padded(statistics, *added.shape) + added
    assert np.isfinite(emission.log_likelihood(table, both, codes)).all()


@pytest.mark.parametrize(
    ("observations", "error", "message"),
    [
        ([("a", 1.0), ("b",)], TypeError, r"observations: row 2 is \('b',\); give a data frame"),
        ([("a", 1.0), 3], TypeError, "observations: row 2 is 3"),
        ([{"a": 1}, (1,)], TypeError, "observations: row 1 is"),
        ([1, 2], TypeError, "observations: row 1 is 1"),
        ([("a", 1.0), ("b", np.inf)], ValueError, r"observations\[1\]: row 2 is inf"),
        (pd.DataFrame({"t": pd.to_datetime(["2020-01-01"])}), TypeError, r"\['t'\] holds dates"),
    ],
)
def test_bad_rows_are_named(observations, error, message):
    with pytest.raises(error, match=message):
        Mixed().encode(observations, None, "observations")


def test_other_columns_than_at_fit():
    frame = pl.DataFrame(COLUMNS)
    table, _ = Mixed().encode(frame, None, "observations")
    with pytest.raises(ValueError, match=r"new has columns 'speed', .* add 'calls'"):
        Mixed().encode(frame.drop("calls"), table, "new")
    with pytest.raises(ValueError, match="leave out 'extra'"):
        Mixed().encode(frame.with_columns(extra=1), table, "new")
    with pytest.raises(ValueError, match=r"\['calls'\]: row 2 is -1; counts are"):
        Mixed().encode(frame.with_columns(calls=pl.Series([0, -1, 0, 0, 0])), table, "new")
    with pytest.raises(ValueError, match="those to use are 'speed'"):
        Mixed().encode(FORMS["tuples"], table, "new")
    swapped, codes = Mixed().encode(frame.select(sorted(COLUMNS)), table, "new")
    assert (np.diff(swapped.chunks.take(codes, 4, MISSING)[:, 1]) != 0).all()
    only = Mixed({"speed": Gaussian()})
    with pytest.raises(ValueError, match="add 'speed'"):
        only.encode(frame.drop("speed"), None, "observations")


@pytest.mark.parametrize("columns", ["all", {}, None, {"a": Gaussian}, {"a": "gaussian"}])
def test_bad_columns(columns):
    with pytest.raises((ValueError, TypeError), match="columns"):
        Mixed(columns)
