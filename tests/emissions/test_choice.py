"""An emission by the kind of values."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from definetti.hmm.emissions import Bernoulli, Categorical, Gaussian, Mixed, Poisson, Words
from definetti.hmm.emissions.choice import choose
from definetti.hmm.emissions.kinds import kind

RNG = np.random.default_rng(0)
REAL = RNG.normal(size=(6, 2))
TEXT = [f"word{k}" for k in np.minimum(RNG.zipf(1.3, size=400), 10**6)]

CHOICES = [
    (None, Categorical),
    ([], Categorical),
    ([None, None], Categorical),
    (["wet", "dry", "wet"], Categorical),
    (["wet", "dry"] * 50 + ["snow"], Categorical),
    ([f"label {k}" for k in range(40)], Categorical),  # all distinct, but few
    ([f"label {k % 60}" for k in range(6000)], Categorical),  # many, but none is rare
    (TEXT, Words),
    (np.array(TEXT), Words),
    (pd.Series(TEXT), Words),
    (pl.Series([*TEXT, None]), Words),
    ([1, 2, 3], Categorical),
    (np.array([1, 2, 3]), Categorical),
    (np.array([1.0, 2.0, np.nan]), Categorical),
    (np.array([1.0, 2.5, np.nan]), Gaussian),
    ([1, 2.5, None], Gaussian),
    (pd.Series([1.0, 2.5]), Gaussian),
    (pl.Series([True, False]), Categorical),
    ([("a", 1), ("b", 2)], Categorical),
    ([(0, 1), (1, 1)], Categorical),
    ([1, "a"], Categorical),
    (REAL, Gaussian),
    (REAL.tolist(), Gaussian),
    (list(REAL), Gaussian),
    (list(map(tuple, REAL)), Gaussian),
    ([(1.0, 2.0), (0.5, 2.0)], Gaussian),
    ([None, *REAL.tolist()], Gaussian),
    (pd.DataFrame(REAL), Gaussian),
    (pl.DataFrame(REAL), Gaussian),
    (np.array([[1.0, 2.0]]), Gaussian),
    (np.array([[1, 2], [0, 3]]), Poisson),
    ([[1, 2], [0, 3]], Poisson),
    (np.array([[1, -2], [0, -3]]), Gaussian),
    ([[1, 2.5], [0, 3.5]], Gaussian),
    (pd.DataFrame({"a": [1, 2], "b": [0, 5]}), Poisson),
    (np.array([[True, False]]), Bernoulli),
    ([[True, False], [True, None]], Bernoulli),
    (pl.DataFrame({"a": [True, None]}), Bernoulli),
    (pl.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]}), Mixed),
    (pd.DataFrame({"a": [1.5, 2.5], "b": [1, 2]}), Mixed),
    (pd.DataFrame({"b": ["x", "y"]}), Mixed),
    ([{"a": 1.5}, {"a": 2.5}], Mixed),
    ([["a", 1.5], ["b", 2.5]], Mixed),
    ([("a", 1.5), ("b", 2.5)], Mixed),
]


@pytest.mark.parametrize(("observations", "expected"), CHOICES)
def test_choices(observations, expected):
    chosen = choose(observations)
    assert type(chosen) is expected
    if observations is not None:  # and what is chosen can read it
        _, codes = chosen.encode(observations, None, "observations")
        assert len(codes) == len(observations)


@pytest.mark.parametrize(
    "observations", [5, "text", {"a": [1]}, np.zeros((2, 2, 2)), np.array(1.0), object()]
)
def test_what_cannot_be_read_is_refused_by_what_is_chosen(observations):
    with pytest.raises((TypeError, ValueError), match="observations must"):
        choose(observations).encode(observations, None, "observations")


def test_an_iterator_is_not_used_up():
    words = iter(["a", "b"])
    choose(words)
    assert list(words) == ["a", "b"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([None, float("nan")], "nothing"),
        (pd.Series(["a"], dtype="category"), "symbols"),
        (pl.Series(["a"], dtype=pl.Categorical), "symbols"),
        (pd.Series([1, None], dtype="Int64"), "counts"),
        (pd.Series([True, None], dtype="boolean"), "switches"),
        (pd.Series([1.0, None]), "numbers"),
        (np.array([3, 4], dtype=np.uint8), "counts"),
        ([np.float32(1.5), 2], "numbers"),
        (pd.to_datetime(pd.Series(["2020-01-01"])), "dates"),
        (pl.Series(["2020-01-01"]).str.to_date(), "dates"),
        ([(1, 2)], "symbols"),
        ([True, 2], "symbols"),
    ],
)
def test_kinds(values, expected):
    assert kind(values) == expected
