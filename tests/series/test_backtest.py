"""The backtest of many series: what trained is not evaluated, levels, states that come late."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests.making import grouped

from definetti import HMM, ConformalHMM
from definetti.evaluation import backtest_series
from definetti.evaluation.intervals import exact_interval
from definetti.report import report_series
from definetti.simulate import weather

MODES = {
    "own": {"train_size": 0.5, "symmetry": "spaced"},
    "others": {"symmetry": "spaced"},
    "all": {"train_size": 0.5},
    "first": {"train_size": 0.5},
}
TRAINING = ("all", "first")
TOWNS = {
    name: weather(60, random_state=k) for k, name in enumerate(["Rome", "Oslo", "Bonn", "Lima"])
}
THINGS = [thing for town in TOWNS.values() for thing in town.observations]
SKIES = [sky for town in TOWNS.values() for sky in town.states]
GROUPS = [name for name, town in TOWNS.items() for _ in town.states]


def backtest_noise(mode, noise, level, series, rows, seed, **how):
    """Backtest fair coins whose observations say nothing; smoothed, the coverage is the level."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, series * rows).tolist()
    groups = np.repeat(np.arange(series), rows).tolist()
    if noise == "unique":  # a symbol for each row: a model knows the state of those it trained on
        model, y = HMM(), [f"symbol {row}" for row in range(len(x))]
    else:
        model, y = DecisionTreeClassifier(random_state=0), rng.normal(size=(len(x), 2))
    cp = grouped(
        model, series=mode, confidence_level=level, smoothing=True, allow_empty=True,
        states=[0, 1], random_state=seed, **MODES[mode],
    )  # fmt: skip
    return backtest_series(cp, y, x, groups, **how)


NOISE = [("tree", 0.9), ("unique", 0.5)]


@pytest.mark.parametrize("mode", ["own", "others", "all"])
@pytest.mark.parametrize(("noise", "level"), NOISE)
def test_backtest_of_noise_has_its_level_within_the_exact_interval(mode, noise, level):
    """Of fresh tables some 1 in 20 would be outside, a few more with "all".

    There, windows share what calibrates them; with "first" they share all of it, see below.
    """
    found = backtest_noise(mode, noise, level, 24, 50, seed=2)
    covered, judged = sum(one.covered for one in found), sum(one.judged for one in found)
    assert judged == 25 * (12 if mode in TRAINING else 24)
    low, high = exact_interval(int(covered), judged)
    assert low <= level <= high


@pytest.mark.parametrize(
    ("mode", "tables"),
    [("first", 80), *(pytest.param(mode, 200, marks=pytest.mark.slow) for mode in MODES)],
)
@pytest.mark.parametrize(("noise", "level"), NOISE)
def test_windows_of_independent_backtests_of_noise_are_covered_as_promised(
    mode, tables, noise, level
):
    """The first window of each table: they are independent, so that 1 seed in 20 is outside."""
    hits = 0
    for seed in range(tables):
        found = backtest_noise(mode, noise, level, 6, 80 if mode == "own" else 12, seed, windows=1)
        hits += int(next(one.covered for one in found if one.judged))
    low, high = exact_interval(hits, tables)
    assert low <= level <= high


@pytest.mark.parametrize("mode", TRAINING)
@pytest.mark.parametrize("train_size", [0.5, 2, 3])
def test_series_that_trained_the_model_are_not_evaluated(mode, train_size):
    cp = grouped(series=mode, train_size=train_size, random_state=0)
    found = backtest_series(cp, THINGS, SKIES, GROUPS)
    number = 2 if train_size == 0.5 else train_size
    assert [one.windows for one in found] == [0] * number + [30] * (4 - number)
    notes = {one.note for one in found[:number]}
    assert notes == {"trained the model, not evaluated"}
    assert list(found.evaluations) == list(TOWNS)[number:]
    assert f"; {number} trained the model, not evaluated" in found.verdict()
    assert f"{30 * (4 - number)} windows in {4 - number} series" in found.verdict()


def test_a_trained_model_evaluates_all_series():
    """It was trained on rows that are not here."""
    trained = ConformalHMM(train_size=0.5).fit(*weather(200, random_state=9)).model_
    found = backtest_series(grouped(trained, series="all"), THINGS, SKIES, GROUPS)
    assert [one.windows for one in found] == [30] * 4


def test_only_short_series_besides_those_that_trained():
    cp = grouped(series="all", train_size=4, random_state=0)
    found = backtest_series(cp, [*THINGS, "hat"], [*SKIES, "sun"], [*GROUPS, "Cork"])
    assert found.verdict() == (
        "cannot tell: no series has a window; 4 trained the model, not evaluated; "
        "1 too short for a window"
    )


@pytest.mark.parametrize("mode", MODES)
def test_the_source_of_the_windows_is_told(mode):
    cp = grouped(series=mode, random_state=0, **MODES[mode])
    found = backtest_series(cp, THINGS, SKIES, GROUPS)
    assert ("did not train" in found.source) == (mode in TRAINING)
    assert ("all rows of the others" in found.source) == (mode in ("others", "all"))


def test_a_report_tells_the_source_and_the_series_that_trained():
    cp = grouped(series="all", train_size=1, random_state=0)
    found = report_series(backtest_series(cp, THINGS, SKIES, GROUPS)).contents["series"]
    assert found["source"].endswith("of the others that did not train")
    assert "; 1 trained the model, not evaluated" in found["verdict"]
    assert found["listed"][-1]["verdict"] == "trained the model, not evaluated"


NO_VERDICT = "are compared with the same calibration windows, so their errors are not independent"


def test_first_gives_no_verdict():
    """Windows share their calibration windows: an interval missed the level in two of three."""
    for seed in range(12):
        found = backtest_noise("first", "unique", 0.8, 24, 50, seed)
        assert found.verdict().startswith(f"no verdict: {found.coverage:.3f} of 300 windows")
        assert NO_VERDICT in found.verdict()
        assert "by chance" not in found.verdict()
        assert np.isnan([*found.interval, found.spread_by_chance]).all()
        assert found.look_at == []
        assert found.worst.coverage == found.coverages.min()
        assert all(np.isnan([*one.interval, one.p_value]).all() for one in found.judged)
        assert all(np.isnan(found.to_dict()[name]).all() for name in ("low", "high", "p_value"))


def test_first_gives_no_verdict_for_one_series():
    cp = grouped(series="first", train_size=1, random_state=0)
    found = backtest_series(cp, THINGS, SKIES, GROUPS)
    fitted = cp.fit(THINGS, SKIES, groups=GROUPS).estimators_["Lima"]
    y, x = weather(40, random_state=9)
    for one in (found.evaluations["Lima"], fitted.evaluate(y, x, horizon=1)):
        verdict = one.verdict
        assert verdict.kept is None
        assert verdict.p_value is None
        assert verdict.words.startswith(f"no verdict: {verdict.coverage:.3f} of {len(one.covered)}")
        assert f"all windows {NO_VERDICT}" in verdict.words
        assert verdict.to_dict()["kept"] is None


def test_first_says_that_full_sets_say_nothing():
    cp = grouped(series="first", train_size=1, confidence_level=0.99, random_state=0)
    assert (
        "; the sets say nothing: 2 of 2 states"
        in backtest_series(cp, THINGS, SKIES, GROUPS).verdict()
    )


@pytest.mark.parametrize("mode", TRAINING)
def test_evaluate_gives_no_verdict_where_series_share_calibration_windows(mode):
    """After a fit on few rows, the same windows of the others calibrate all series."""
    cp = grouped(series=mode, train_size=1, random_state=0).fit(THINGS, SKIES, groups=GROUPS)
    y, x = weather(120, random_state=9)
    found = cp.evaluate(y, x, groups=np.repeat(list(TOWNS), 30).tolist(), horizon=1)
    assert found.verdict().startswith("no verdict: ")
    assert np.isnan(found.interval).all()
    alone = [not np.isnan(one.p_value) for one in found.judged]
    assert alone == [mode == "all"] * len(alone)  # the windows of one series by itself


@pytest.mark.parametrize("mode", ["own", "others", "all"])
def test_other_modes_give_a_verdict(mode):
    found = backtest_noise(mode, "unique", 0.8, 24, 50, seed=0)
    assert found.verdict().startswith("kept")
    assert found.evaluations[23].verdict.kept is not None


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["own", "others", "all"])
def test_interval_of_backtest_of_noise_misses_the_level_in_one_of_twenty(mode):
    misses = 0
    for seed in range(200):
        low, high = backtest_noise(mode, "unique", 0.8, 12, 30, seed).interval
        misses += not low <= 0.8 <= high
    assert misses <= 19  # 0.003 of binomials of 200 with 0.05 are above


def test_report_shows_no_verdict_where_there_is_none():
    cp = grouped(series="first", train_size=1, random_state=0)
    found = report_series(backtest_series(cp, THINGS, SKIES, GROUPS))
    series = found.contents["series"]
    assert series["shared_calibration"] is True
    assert series["verdict"].startswith("no verdict: ")
    assert [one["verdict"] for one in series["listed"]] == [
        "no verdict", "no verdict", "no verdict", "trained the model, not evaluated",
    ]  # fmt: skip
    assert {one["low"] for one in series["listed"]} == {None}
    coverages = [one["coverage"] for one in series["listed"][:3]]
    assert coverages == sorted(coverages)
    assert "no verdict: " in found.html


@pytest.mark.parametrize("level", [0.5, {"sun": 0.7, None: 0.5}])
@pytest.mark.parametrize("mode", ["own", "others", "all"])
def test_a_level_is_that_of_the_backtest(level, mode):
    """As if the predictor had it."""
    how = {"series": mode, "random_state": 0, **MODES[mode]}
    asked = backtest_series(grouped(**how), THINGS, SKIES, GROUPS, confidence_level=level)
    own = backtest_series(grouped(confidence_level=level, **how), THINGS, SKIES, GROUPS)
    assert asked.to_dict() == own.to_dict()
    assert asked.promised < 0.71


def test_several_levels_in_any_order():
    cp, levels = grouped(random_state=0), [0.9, 0.5, 0.7, 0.5]
    found = backtest_series(cp, THINGS, SKIES, GROUPS, confidence_level=levels)
    assert [one.promised for one in found] == levels
    for level, one in zip(levels, found, strict=True):
        alone = backtest_series(cp, THINGS, SKIES, GROUPS, confidence_level=level)
        assert one.to_dict() == alone.to_dict()
    with pytest.raises(ValueError, match="confidence_level has a mapping among several levels"):
        backtest_series(cp, THINGS, SKIES, GROUPS, confidence_level=[0.9, {None: 0.8}])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("columns", [1, 2])
def test_a_state_of_the_future_is_not_known(mode, columns):
    """Snow comes up in one series alone, in its last rows: no set before that holds it.

    Two columns of numbers and words have a law that does not add up over series.
    """
    skies, late = [*SKIES], len(SKIES) - 5
    skies[late:] = ["snow"] * 5
    things = THINGS
    if columns == 2:
        import pandas as pd

        heat = np.random.default_rng(0).normal(size=len(THINGS))
        things = pd.DataFrame({"thing": THINGS, "heat": heat})
    cp = grouped(series=mode, random_state=0, confidence_level=0.99, **MODES[mode])
    found = backtest_series(cp, things, skies, GROUPS)
    lima = found.evaluations["Lima"]
    snow = lima.states.index("snow")
    assert not lima.nodes[:26, snow].any()
    assert lima.nodes[26:, snow].any()
    assert [one.unknown for one in found] == [0, 0, 0, 1]
    assert lima.unseen.tolist() == [False] * 25 + [True] + [False] * 4


@pytest.mark.parametrize("mode", ["own", "others"])
def test_a_state_of_another_series_is_known(mode):
    skies = [*SKIES]
    skies[:5] = ["snow"] * 5  # the first rows of the first series
    skies[-1] = "snow"
    cp = grouped(series=mode, random_state=0, **MODES[mode])
    found = backtest_series(cp, THINGS, skies, GROUPS)
    assert [one.unknown for one in found] == [0, 0, 0, 0]


def test_a_state_that_is_declared_or_named_by_a_level_is_known():
    skies = [*SKIES[:-1], "snow"]
    declared = grouped(states=["sun", "rain", "snow"], random_state=0)
    named = grouped(confidence_level={"snow": 0.99, None: 0.9}, random_state=0)
    for cp in (declared, named):
        found = backtest_series(cp, THINGS, skies, GROUPS)
        assert found.unknown == 0
    unknown = grouped(confidence_level={"hail": 0.99, None: 0.9}, random_state=0)
    with pytest.raises(ValueError, match="hail"):
        backtest_series(unknown, THINGS, skies, GROUPS)


def one_state_late(**how):
    """Four series of which "b" has its second state in its last rows alone."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 240)
    x[60:100] = 0
    y = rng.normal(size=(240, 2)) + x[:, None]
    model = DecisionTreeClassifier(random_state=0)
    cp = grouped(model, train_size=0.5, confidence_level=0.8, random_state=0, **how)
    return cp, y, x.tolist(), np.repeat(list("abcd"), 60).tolist()


def test_series_whose_training_rows_lack_a_state_is_skipped_with_a_note():
    cp, y, x, groups = one_state_late()
    found = backtest_series(cp, y, x, groups)
    assert [one.windows for one in found] == [30, 0, 30, 30]
    assert (
        found[1].note == "not evaluated, as a state is not among the rows that train its classifier"
    )
    assert found.verdict().endswith(f"; 1 {found[1].note} ('b')")
    others = [row for row, name in enumerate(groups) if name != "b"]
    alone = backtest_series(cp, y[others], [x[k] for k in others], [groups[k] for k in others])
    assert [one for one in found if one.windows] == list(alone)
    threads = backtest_series(cp, y, x, groups, n_jobs=2)
    assert threads.verdict() == found.verdict()
    listed = report_series(found).contents["series"]["listed"]
    assert listed[-1]["verdict"] == found[1].note


def test_evaluate_skips_series_whose_training_rows_lack_a_state():
    cp, y, x, groups = one_state_late()
    first = [row for row in range(240) if row % 60 < 40]
    rest = [row for row in range(240) if row % 60 >= 40]
    cp.fit(y[first], [x[k] for k in first], groups=[groups[k] for k in first])
    found = cp.evaluate(y[rest], [x[k] for k in rest], groups=[groups[k] for k in rest], horizon=1)
    assert [one.windows for one in found] == [20, 0, 20, 20]
    assert "('b')" in found.verdict()


def test_single_series_whose_training_rows_lack_a_state_is_refused():
    cp, y, x, _ = one_state_late(states=[0, 1])
    with pytest.raises(ValueError, match="training segment never has state 1"):
        cp.estimator.fit(y[60:120], x[60:120])
