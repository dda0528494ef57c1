"""The quick check says what the whole one says of the rows that it takes, and takes no more."""

import numpy as np
import polars as pl
import pytest

from definetti.check import CannotTest, check, check_quickly
from definetti.check import engine as module
from definetti.simulate import weather

Y, X = weather(400, random_state=2)


def same(one, other):
    assert one.p_value == other.p_value
    assert one.tests == other.tests


def test_it_is_the_check_with_few_draws():
    found = check_quickly(Y, X, random_state=3)
    same(found, check(Y, X, n_resamples=199, alpha=0.01, random_state=3))
    assert (found.n_resamples, found.alpha, found.residuals) == (199, 0.01, {})
    assert check_quickly(Y, X, random_state=3, pictures=True).residuals


def test_of_many_rows_it_takes_the_last(monkeypatch):
    monkeypatch.setattr(module, "WORK", 199 * 2 * 150)
    found = check_quickly(Y, X, random_state=3)
    how = {"n_resamples": 199, "alpha": 0.01, "random_state": 3}
    same(found, check(Y[250:], X[250:], rows_before=250, **how))
    assert found.untested["rows"] == "a quick check takes the last 150 of 400"


def as_rows(table):
    return [{f"c{at}": y for at, y in enumerate(row)}
            for row in np.asarray(table).tolist()]  # fmt: skip


@pytest.mark.parametrize("form", [np.asarray, pl.DataFrame, np.ndarray.tolist, as_rows])
def test_of_many_columns_it_takes_the_first(form):
    rng = np.random.default_rng(0)
    table, states = rng.normal(size=(60, 24)), rng.integers(0, 2, 60)
    found = check_quickly(form(table), states, random_state=1)
    assert found.untested["columns"] == "a quick check takes the first 20 of 24"
    first = check(form(table[:, :20]), states, n_resamples=199, random_state=1)
    assert found.p_value == first.p_value


def test_a_memory_is_what_is_tested():
    twos = list("aabb" * 30)
    assert check_quickly(None, twos, random_state=0).rejected
    assert not check_quickly(None, twos, memory=2, random_state=0).rejected


def test_where_nothing_can_be_tested_it_says_so():
    with pytest.raises(CannotTest, match="nothing can be tested"):
        check_quickly(None, ["a"], random_state=0)


def test_what_is_read_once_is_read_once():
    whole = check_quickly(Y, X, random_state=3)
    same(whole, check_quickly(iter(Y), iter(X), random_state=3))
    with pytest.raises(ValueError, match="observations has 3 elements and states has 400"):
        check_quickly(Y[:3], X, random_state=3)


def test_columns_whose_names_are_patterns_are_taken_by_place():
    """To polars such a name stands for all columns that it matches."""
    numbers = np.random.default_rng(0).normal(size=(3, 400))
    plain = pl.DataFrame(dict(zip("abc", numbers, strict=True)))
    odd = pl.DataFrame(dict(zip(["^b.*$", "b", "*"], numbers, strict=True)))
    found = check_quickly(odd, X, random_state=3)
    assert found.p_value == check_quickly(plain, X, random_state=3).p_value
