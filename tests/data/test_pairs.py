"""Observations, states, groups, order and lengths that do not fit together are refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.making import grouped

from definetti import ConformalHMM, ConformalSequences
from definetti.check import check
from definetti.evaluation import backtest_series, run_backtest
from definetti.simulate import weather

THINGS, SKIES = weather(60, random_state=0)
TOWNS = ["Rome"] * 30 + ["Oslo"] * 30
WEEKS = [k // 5 for k in range(60)]

FORMS = {
    "list": list,
    "array": np.array,
    "pandas": pd.Series,
    "pandas frame": lambda values: pd.DataFrame({"thing": values}),
    "polars": pl.Series,
    "polars frame": lambda values: pl.DataFrame({"thing": values}),
}


def cp(**how):
    return ConformalHMM(random_state=0, **how)


def many(**how):
    return grouped(random_state=0, **how)


CALLS = {
    "fit": lambda y: cp().fit(y, SKIES),
    "fit groups": lambda y: many().fit(y, SKIES, groups=TOWNS),
    "fit others": lambda y: many(series="others").fit(y, SKIES, groups=TOWNS),
    "fit order": lambda y: many().fit(y, SKIES, groups=TOWNS, order=list(range(60))),
    "backtest_series": lambda y: backtest_series(many(), y, SKIES, TOWNS),
    "run_backtest": lambda y: run_backtest(cp(), y, SKIES),
    "check": lambda y: check(y, SKIES, n_resamples=9),
    "check groups": lambda y: check(y, SKIES, groups=TOWNS, n_resamples=9),
    "sequences": lambda y: ConformalSequences().fit(y, SKIES, [5] * 12),
    "sequences groups": lambda y: ConformalSequences().fit(y, SKIES, groups=WEEKS),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("number", [55, 59, 61, 90])
def test_observations_of_another_length_than_states_are_refused(call, form, number):
    observations = FORMS[form]((THINGS * 2)[:number])
    with pytest.raises(ValueError, match=rf"observations has {number} .* states has 60;"):
        CALLS[call](observations)


@pytest.mark.parametrize("number", [55, 61])
@pytest.mark.parametrize("form", ["list", "array"])
def test_evaluation_refuses_observations_of_another_length(form, number):
    observations = FORMS[form]((THINGS * 2)[:number])
    several = many().fit(THINGS, SKIES, groups=TOWNS)
    weeks = ConformalSequences().fit(THINGS, SKIES, [5] * 12)
    for call in (
        lambda: several.evaluate(observations, SKIES, groups=TOWNS, horizon=1),
        lambda: weeks.evaluate(observations, SKIES, groups=WEEKS),
    ):
        with pytest.raises(ValueError, match=rf"observations has {number} .* states has 60;"):
            call()


NAMED = {
    "fit": lambda **how: many().fit(THINGS, SKIES, **{"groups": TOWNS, **how}),
    "backtest_series": lambda **how: backtest_series(
        many(), THINGS, SKIES, **{"groups": TOWNS, **how}
    ),
    "evaluate": lambda **how: (
        many().fit(THINGS, SKIES, groups=TOWNS).evaluate(THINGS, SKIES, horizon=1, **how)
    ),
    "check": lambda **how: check(THINGS, SKIES, n_resamples=9, **how),
    "sequences": lambda **how: ConformalSequences().fit(THINGS, SKIES, **how),
    "sequences evaluate": lambda **how: (
        ConformalSequences().fit(THINGS, SKIES, [5] * 12).evaluate(THINGS, SKIES, **how)
    ),
}


@pytest.mark.parametrize("number", [59, 61])
@pytest.mark.parametrize("call", NAMED)
def test_groups_and_order_of_another_length_are_refused(call, number):
    with pytest.raises(ValueError, match=f"groups has {number} labels for 60 rows"):
        NAMED[call](groups=(TOWNS + TOWNS)[:number])
    with pytest.raises(ValueError, match=f"order has {number} entries for 60 rows"):
        NAMED[call](groups=TOWNS, order=list(range(number)))


@pytest.mark.parametrize("number", [59, 61])
def test_lengths_that_do_not_add_up_are_refused(number):
    for call in (*(NAMED[name] for name in NAMED if name != "evaluate"), run_lengths):
        with pytest.raises(ValueError, match=f"lengths adds up to {number} steps and .* has 60"):
            call(lengths=[30, number - 30])


def run_lengths(lengths):
    return run_backtest(cp(), THINGS, SKIES, lengths=lengths)


def test_order_without_row_by_row_groups_is_refused():
    with pytest.raises(ValueError, match="leave order out"):
        ConformalSequences().fit(
            THINGS, SKIES, [5] * 12, groups=list(range(12)), order=list(range(60))
        )
    weeks = ConformalSequences().fit(THINGS, SKIES, [5] * 12)
    with pytest.raises(ValueError, match="give a label for each row"):
        weeks.evaluate(THINGS, SKIES, [5] * 12, groups=list(range(12)))


def test_a_frame_that_is_not_in_memory_is_refused():
    with pytest.raises(TypeError, match="in memory"):
        grouped().fit(pl.LazyFrame({"thing": THINGS}), SKIES, groups=TOWNS)
