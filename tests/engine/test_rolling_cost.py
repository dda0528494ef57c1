"""What rolling prediction costs: a window is scored once, and copies share what came in."""

import copy

import numpy as np
import polars as pl
import pytest

from definetti import ConformalHMM
from definetti.engine.task import PredictionTask
from definetti.experiments import Classical
from definetti.simulate import weather

Y, X = weather(400, random_state=5)
NUMBERS = np.random.default_rng(0).normal(size=400).round(2)
BOTH = pl.DataFrame({"carried": Y, "heat": NUMBERS})  # a column of symbols, and one of numbers


def test_the_past_is_scored_once_where_columns_differ_in_kind(monkeypatch):
    scored = []
    real = PredictionTask.score_windows

    def counted(self, estimate, windows):
        scored.append(len(windows.start))
        return real(self, estimate, windows)

    monkeypatch.setattr(PredictionTask, "score_windows", counted)
    Classical(random_state=0).fit(BOTH[:350], X[:350]).evaluate(BOTH[350:], X[350:], horizon=1)
    assert sum(scored) < 400 + 50 * 4  # the past, and a few candidates for each window


@pytest.mark.parametrize("make", [
    lambda: Classical(random_state=0),
    lambda: ConformalHMM(train_size=0.5, random_state=0),
])  # fmt: skip
def test_a_new_symbol_in_one_of_the_columns_scores_the_past_again(make):
    late = BOTH.with_columns(
        carried=pl.when(pl.int_range(pl.len()) == 380).then(pl.lit("kite")).otherwise("carried")
    )
    rolled = make().fit(late[:370], X[:370]).evaluate(late[370:], X[370:], horizon=1)
    for k in (5, 10, 11, 20):
        fresh = make().fit(late[:370], X[:370])
        if k:
            fresh.partial_fit(late[370 : 370 + k], X[370 : 370 + k])
        alone = fresh.p_value(late[370 + k : 371 + k], X[370 + k : 371 + k])
        assert rolled.p_values[k] == alone, k


def test_copies_share_what_came_in_and_nothing_else():
    cp = ConformalHMM(random_state=0).fit(Y[:300], X[:300])
    other = copy.deepcopy(cp)
    assert other._data._parts[0] is cp._data._parts[0]
    other.partial_fit(Y[300:], X[300:])
    assert (cp.n_steps_, other.n_steps_, len(cp._data._parts)) == (300, 400, 1)
