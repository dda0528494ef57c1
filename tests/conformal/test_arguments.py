"""Numbers that are none, in every public function: an error that names the argument."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.making import grouped

from definetti import HMM, ConformalHMM, ConformalSequences, Monitor
from definetti.check import check
from definetti.evaluation import SeriesWork, backtest_series, compare_predictors, run_backtest
from definetti.experiments import Classical
from definetti.levels import budget
from definetti.report import make_report, report_series
from definetti.simulate import sample, weather, weather_series
from definetti.verify import enumerate_ranks, exact_coverage, oracle_size

THINGS, SKIES = weather(40, random_state=0)
TOWNS = ["Rome"] * 20 + ["Oslo"] * 20
ROWS = pl.DataFrame({"town": TOWNS, "sky": SKIES, "thing": THINGS})
FIXED = ConformalHMM(train_size=0.5, random_state=0)
ONE = ConformalHMM(random_state=0).fit(THINGS, SKIES)
HALF = ConformalHMM(train_size=0.5, random_state=0).fit(THINGS, SKIES)
MANY = grouped(random_state=0).fit(THINGS, SKIES, groups=TOWNS)
CLASSICAL = Classical().fit(THINGS, SKIES)
FOUND = backtest_series(grouped(random_state=0), THINGS, SKIES, TOWNS)
LAWS = [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.75, 0.25], [0.25, 0.75]]

NUMBERS = [0, -1, 1.5, 2.0, True, "2", float("nan"), float("inf"), [1], {}, np.array([1, 2])]
NUMBERS = {repr(one): one for one in NUMBERS} | {"frame": pd.DataFrame({"a": [1, 2]})}


def backtest(**how):
    return run_backtest(ConformalHMM(random_state=0), THINGS, SKIES, **how)


def backtest_towns(**how):
    return backtest_series(grouped(random_state=0), THINGS, SKIES, TOWNS, **how)


def work(**how):
    cp = ConformalHMM(random_state=0)
    return SeriesWork(cp, "town", "sky", observed=("thing",), **how)(ROWS)


def report(**how):
    return make_report(ConformalHMM(random_state=0), THINGS, SKIES, **{"horizon": 1, **how})


CALLS = {
    "horizon": {
        "predict_set": lambda value: ONE.predict_set(horizon=value),
        "predict_set of new ones": lambda value: HALF.predict_set(["hat"], horizon=value),
        "predict_set of a series": lambda value: MANY.predict_set(horizon=value, group="Rome"),
        "predict": lambda value: ONE.predict(horizon=value),
        "predict_p": lambda value: ONE.predict_p(horizon=value),
        "predict_ranks": lambda value: ONE.predict_ranks(horizon=value),
        "p_value": lambda value: ONE.p_value(None, ["sun"], horizon=value),
        "evaluate": lambda value: ONE.evaluate(THINGS, SKIES, horizon=value),
        "evaluate series": lambda value: MANY.evaluate(THINGS, SKIES, groups=TOWNS, horizon=value),
        "a baseline's": lambda value: CLASSICAL.evaluate(THINGS, SKIES, horizon=value),
        "run_backtest": lambda value: backtest(horizon=value),
        "backtest_series": lambda value: backtest_towns(horizon=value),
        "SeriesWork": lambda value: work(horizon=value),
        "compare_predictors": lambda value: compare_predictors(
            {"one": HMM()}, THINGS, SKIES, horizon=value
        ),
        "make_report": lambda value: report(horizon=value),
        "report_series": lambda value: report_series(FOUND, value),
        "budget": lambda value: budget(HALF, horizon=value),
        "oracle_size": lambda value: oracle_size(*map(np.array, LAWS), value, 0.9),
        "enumerate_ranks": lambda value: enumerate_ranks(ConformalHMM(), 2, 2, 2, value),
        "exact_coverage": lambda value: exact_coverage(ConformalHMM(), *LAWS, 2, value),
    },
    "windows": {
        "run_backtest": lambda value: backtest(windows=value),
        "backtest_series": lambda value: backtest_towns(windows=value),
        "SeriesWork": lambda value: work(windows=value),
        "make_report": lambda value: report(windows=value),
    },
    "length": {
        "enumerate_ranks": lambda value: enumerate_ranks(ConformalHMM(), 2, 2, value, 1),
        "exact_coverage": lambda value: exact_coverage(ConformalHMM(), *LAWS, value, 1),
    },
}


@pytest.mark.parametrize("value", NUMBERS)
@pytest.mark.parametrize(
    ("name", "call"), [(name, call) for name, calls in CALLS.items() for call in calls]
)
def test_what_is_no_number_of_steps_or_windows_is_refused(name, call, value):
    with pytest.raises(ValueError, match=f"^{name} must be a whole number ≥ 1, got "):
        CALLS[name][call](NUMBERS[value])


@pytest.mark.parametrize("call", [backtest, backtest_towns, work, report])
@pytest.mark.parametrize("value", [*NUMBERS, "None", "1.0", "0.0", "huge"])
def test_what_is_no_share_is_refused(call, value):
    start = {"None": None, "1.0": 1.0, "0.0": 0.0, "huge": 10**30, **NUMBERS}[value]
    with pytest.raises(ValueError, match=r"^start must be a number between 0 and 1"):
        call(start=start)


@pytest.mark.parametrize("value", [name for name in NUMBERS if name != "-1"])
def test_what_is_no_number_of_threads_is_refused(value):
    for call in (
        lambda jobs: backtest_towns(n_jobs=jobs),
        lambda jobs: MANY.evaluate(THINGS, SKIES, groups=TOWNS, horizon=1, n_jobs=jobs),
        lambda jobs: check(THINGS, SKIES, n_resamples=9, n_jobs=jobs),
        lambda jobs: ONE.check(n_resamples=9, n_jobs=jobs),
    ):
        with pytest.raises(ValueError, match=r"^n_jobs must be a whole number, such as 2, or −1"):
            call(NUMBERS[value])


@pytest.mark.parametrize("jobs", [10**30, -(10**30), 3])
def test_there_are_no_more_threads_than_work(jobs):
    assert backtest_towns(n_jobs=jobs).to_dict() == FOUND.to_dict()
    assert check(THINGS, SKIES, n_resamples=9, n_jobs=jobs, random_state=0).n_resamples == 9


@pytest.mark.parametrize("value", [*NUMBERS, "None", "both"])
def test_what_is_no_way_to_predict_series_is_refused(value):
    series = {"None": None, "both": "both", **NUMBERS}[value]
    for call in (
        lambda: grouped(series=series).fit(THINGS, SKIES, groups=TOWNS),
        lambda: backtest_series(grouped(series=series), THINGS, SKIES, TOWNS),
    ):
        with pytest.raises(ValueError, match=r"^series must be one of 'all', 'first', 'others'"):
            call()


def test_a_parameter_that_no_model_has_is_refused():
    with pytest.raises(TypeError, match="n_jobs"):
        compare_predictors({"one": ConformalHMM(random_state=0)}, THINGS, SKIES, n_jobs=2)
    with pytest.raises(ValueError, match="observations has 39 elements and states has 40"):
        compare_predictors({"one": HMM()}, THINGS[:39], SKIES)


# Laws of models.


@pytest.mark.parametrize(
    ("place", "law", "message"),
    [
        (0, [0.6, 0.5], "initial must hold probabilities .* some sum to 1.1; divide"),
        (0, [1.5, -0.5], "initial must hold probabilities .* some are negative"),
        (0, [np.nan, 1.0], "initial must hold probabilities"),
        (0, [[0.5, 0.5]], r"initial has the shape \(1, 2\)"),
        (1, [[0.9, 0.2], [0.1, 0.9]], "transition must hold probabilities .* some sum to 1.1"),
        (1, [[0.9, 0.1], [0.1, 0.8]], "transition must hold probabilities .* some sum to 0.9"),
        (1, np.eye(3), "do not fit together"),
        (2, [[0.9, 0.2], [0.1, 0.9]], "emission must hold probabilities .* some sum to 1.1"),
        (2, [[0.5, 0.5]], "do not fit together"),
        (2, [0.5, 0.5], r"emission has the shape \(2,\)"),
    ],
)
def test_what_are_no_laws_of_a_model_is_refused(place, law, message):
    laws = [np.array(law if k == place else one) for k, one in enumerate(LAWS)]
    with pytest.raises(ValueError, match=message):
        sample(*laws, 10, np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        exact_coverage(ConformalHMM(), *laws, 2, 1)
    with pytest.raises(ValueError, match=message.replace("initial", "start")):
        oracle_size(*laws, 1, 0.9)


@pytest.mark.parametrize("length", [-1, 1.5, "3", True, None])
def test_what_is_no_length_is_refused(length):
    rng = np.random.default_rng(0)
    for call in (
        lambda: sample(*map(np.array, LAWS), length, rng),
        lambda: weather(length),
        lambda: weather_series(2, length),
    ):
        with pytest.raises(ValueError, match=r"^length must be a whole number ≥ 0"):
            call()


# Labels of NumPy's.

LABELS = {
    "text": list(np.array(SKIES)),
    "objects": np.array(list(np.array(SKIES)), dtype=object),
    "series": pd.Series(list(np.array(SKIES)), dtype=object),
    "numbers": list(np.array([sky == "sun" for sky in SKIES]).astype(int)),
    "flags": list(np.array([sky == "sun" for sky in SKIES])),
    "tuples": [(sky, np.int64(1)) for sky in np.array(SKIES)],
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("how", [{}, {"train_size": 0.5, "guarantee": "steps"}])
@pytest.mark.filterwarnings("ignore::definetti.exceptions.FewBlocksWarning")
def test_labels_of_numpy_are_plain_wherever_they_are_shown(kind, how):
    states, things = LABELS[kind], list(np.array(THINGS))
    groups = list(np.array(TOWNS))
    cp = ConformalHMM(random_state=0, **how).fit(things, states)
    many = grouped(random_state=0).fit(things, states, groups=groups)
    weeks = ConformalSequences().fit(things, states, lengths=[4] * 10)
    found = backtest_series(grouped(random_state=0), things, states, groups)
    monitor = Monitor(ConformalHMM(random_state=0).fit(things, states), random_state=0)
    first = cp.states_[0]
    told = [
        cp.states_, cp.symbols_, cp.present_, cp.predict_set(["hat"] * 2), cp.predict_set(["hat"]),
        cp.predict_set(["hat"]).steps, cp.evaluate(things, states, horizon=1),
        str(cp.evaluate(things, states, horizon=1).verdict), list(many.estimators_), many.states_,
        found, found.to_dict(), weeks.states_, weeks.predict_set(["hat"]).steps,
        list(monitor.run(things[:3], list(states)[:3])), monitor.states, monitor.recent,
        monitor.observe(np.str_("hat")), monitor.label(next(iter(states))),
        report(windows=2).contents, check(things, states, n_resamples=9).to_dict(),
    ]  # fmt: skip
    wrong = [
        lambda: many.predict_set(["hat"], group=np.str_("Bonn")),
        lambda: cp.predict_set(["hat"], {np.str_("snow"): 0.9, None: 0.8}),
        lambda: ConformalHMM(states=[np.str_("snow")]).fit(things, states),
        lambda: cp.fit(things, [*list(states)[:39], np.float64("nan")]),
    ]
    for call in wrong:
        with pytest.raises((TypeError, ValueError)) as error:
            call()
        told.append(str(error.value))
    for one in told:
        assert "np." not in repr(one)
        assert "np." not in str(one)
    assert type(first) is not np.str_
    assert (
        cp.states_ == ConformalHMM(random_state=0).fit(THINGS, [plain(x) for x in states]).states_
    )


def plain(label):
    return tuple(map(plain, label)) if isinstance(label, tuple) else getattr(label, "item", str)()
