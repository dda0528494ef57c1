"""Times of rows: indices that do not agree are refused, and holes cut a history."""

import warnings
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.making import grouped

from definetti import ConformalHMM, ConformalSequences
from definetti.check import check
from definetti.data.timing import find_holes, read_index, read_times
from definetti.evaluation import backtest_series, run_backtest
from definetti.exceptions import HoleWarning
from definetti.experiments import Classical
from definetti.report import make_report
from definetti.saving import load
from definetti.simulate import weather

pytestmark = pytest.mark.filterwarnings("ignore::definetti.exceptions.FewBlocksWarning")

THINGS, SKIES = weather(120, random_state=0)
HOURS = pd.date_range("2024-01-01", periods=120, freq="h")
LATE = HOURS[:70].append(HOURS[70:] + pd.Timedelta("10h"))  # a hole of eleven hours
TOWNS = ["Rome"] * 60 + ["Oslo"] * 60


def cp(**how):
    return ConformalHMM(random_state=0, **how)


def many(**how):
    return grouped(random_state=0, **how)


def rows(index=HOURS, begin=0, end=120):
    """Return observations and states with an index."""
    frame = pd.DataFrame({"thing": THINGS, "sky": SKIES}, index=index)[begin:end]
    return frame["thing"], frame["sky"]


def told(call):
    """Return what a call returns, and its notes of gaps."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = call()
    return found, [str(one.message) for one in heard if one.category is HoleWarning]


def sets(fitted, new=("hat", "umbrella")):
    return fitted.predict_p(list(new))


# Indices that do not agree.

OTHERS = {
    "ten hours late": HOURS + pd.Timedelta("10h"),
    "reversed": HOURS[::-1],
    "another zone": HOURS.tz_localize("Asia/Tokyo"),
    "rows of a sample": HOURS[np.random.default_rng(0).permutation(120)],
}


@pytest.mark.parametrize("other", OTHERS)
def test_labels_with_another_index_are_refused(other):
    y, x = rows(HOURS if other != "another zone" else HOURS.tz_localize("UTC"))
    x = x.set_axis(OTHERS[other])
    fitted = cp().fit(y.tolist(), x.tolist())
    several = many().fit(y.tolist(), x.tolist(), groups=TOWNS)
    weeks = ConformalSequences().fit(THINGS, SKIES, [5] * 24)
    for call in (
        lambda: cp().fit(y, x),
        lambda: cp().fit(y.to_frame(), x),
        lambda: many().fit(y, x, groups=TOWNS),
        lambda: Classical().fit(y, x),
        lambda: fitted.partial_fit(y, x),
        lambda: fitted.evaluate(y, x, horizon=1),
        lambda: fitted.p_value(y, x),
        lambda: several.evaluate(y, x, groups=TOWNS, horizon=1),
        lambda: backtest_series(many(), y, x, TOWNS),
        lambda: run_backtest(cp(), y, x),
        lambda: make_report(cp(), y, x, horizon=1),
        lambda: check(y, x, n_resamples=9),
        lambda: check(y, x, groups=TOWNS, n_resamples=9),
        lambda: weeks.fit(y, x, [5] * 24),
        lambda: weeks.evaluate(y, x, [5] * 24),
    ):
        with pytest.raises(ValueError, match="observations and states have different indices"):
            call()


def test_groups_and_order_with_another_index_are_refused():
    y, x = rows()
    towns = pd.Series(TOWNS, index=HOURS[::-1])
    with pytest.raises(ValueError, match="observations and groups have different indices"):
        many().fit(y, x, groups=towns)
    with pytest.raises(ValueError, match="observations and groups have different indices"):
        check(y, x, groups=towns, n_resamples=9)
    order = pd.Series(range(120), index=HOURS[::-1])
    with pytest.raises(ValueError, match="observations and order have different indices"):
        backtest_series(many(), y, x, TOWNS, order)


def test_numbers_in_another_order_are_refused_and_numbers_that_say_nothing_are_not():
    y, x = pd.Series(THINGS), pd.Series(SKIES)
    wanted = sets(cp().fit(THINGS, SKIES))
    for call in (
        lambda: cp().fit(y[::-1], x),
        lambda: cp().fit(y, x[::-1]),
        lambda: cp().fit(y.set_axis(range(10, 130)), x.set_axis(range(20, 140))),
    ):
        with pytest.raises(ValueError, match="different indices"):
            call()
    for same in (
        (y.set_axis(range(10, 130)), x),  # what was cut out of more, and a series made anew
        (y.set_axis(HOURS), x),
        (y.set_axis(HOURS), x.set_axis(range(50, 170))),
        (y[::-1].set_axis(HOURS)[::-1].set_axis(HOURS), x.set_axis(HOURS)),
    ):
        assert sets(cp().fit(*same)) == wanted


def test_an_index_that_goes_back_in_time_is_refused():
    y, x = rows(HOURS[::-1])
    for call in (
        lambda: cp().fit(y, x),
        lambda: many().fit(y, x, groups=TOWNS),
        lambda: check(y, x, n_resamples=9),
    ):
        with pytest.raises(ValueError, match="goes back in time: row 2 is at 2024-01-05 22:00:00"):
            call()
    # Two sequences one after the other, each with its own times.
    twice = HOURS[:60].append(HOURS[:60])
    y, x = rows(twice)
    with pytest.raises(ValueError, match="row 61 is at 2024-01-01 00:00:00"):
        cp().fit(y, x)
    assert sets(cp().fit(y, x, [60, 60])) == sets(cp().fit(THINGS, SKIES, [60, 60]))
    _, notes = told(lambda: many().fit(y, x, groups=TOWNS))
    assert notes == []
    missing = pd.DatetimeIndex([*HOURS[:119], pd.NaT])
    with pytest.raises(ValueError, match="no time in row 120"):
        cp().fit(*rows(missing))


def test_repeated_times_are_refused():
    """They were taken as consecutive steps."""
    repeated = HOURS[:120].delete(41).insert(41, HOURS[40])
    y, x = rows(repeated)
    message = "has the time 2024-01-02 16:00:00 in row 42 and in the row before it; drop one"
    for call in (
        lambda: cp().fit(y, x),
        lambda: many().fit(y, x, groups=["Rome"] * 120),
        lambda: check(y, x, n_resamples=9),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    # Not where a sequence ends, or another series has the time.
    told(lambda: cp().fit(y, x, [41, 79]))
    twice = HOURS[:60].repeat(2)
    y, x = rows(twice)
    told(lambda: many().fit(y, x, groups=["Rome", "Oslo"] * 60))
    with pytest.raises(ValueError, match="row 2 and in the row before"):
        cp().fit(y, x)


def test_rows_that_begin_at_the_last_time_are_refused():
    """Also where times are irregular, and no step is the usual one."""
    y, x = rows(HOURS[:120])
    irregular = pd.DatetimeIndex(HOURS[0] + pd.to_timedelta(np.arange(120) ** 2, unit="h"))
    for index in (HOURS[:120], irregular):
        y, x = rows(index)
        fitted, _ = told(lambda y=y, x=x: cp().fit(y, x))
        again = pd.Series(THINGS[:1], index=index[-1:])
        with pytest.raises(ValueError, match="begins at"):
            fitted.predict_set(again)
        with pytest.raises(ValueError, match="begins at"):
            fitted.partial_fit(again, pd.Series(SKIES[:1], index=index[-1:]))


def test_steps_below_a_microsecond_are_no_repeated_times():
    fine = pd.DatetimeIndex(np.datetime64("2024-01-01", "ns") + np.arange(120))
    assert cp().fit(*rows(fine)).n_steps_ == 120


# Holes.

INDICES = {
    "dates": LATE,
    "dates of a zone": LATE.tz_localize("Europe/Oslo"),
    "durations": LATE - LATE[0],
    "periods": LATE.to_period("h"),
}


@pytest.mark.parametrize("kind", INDICES)
@pytest.mark.parametrize("how", [{}, {"train_size": 0.5}, {"symmetry": "full"}])
def test_a_hole_in_the_index_is_a_gap(kind, how):
    y, x = rows(INDICES[kind])
    wanted = sets(cp(**how).fit(THINGS, SKIES, [70, 50]))
    assert wanted != sets(cp(**how).fit(THINGS, SKIES))
    for call in (
        lambda: cp(**how).fit(y, x),
        lambda: cp(**how).fit(y, x.tolist()),
        lambda: cp(**how).fit(y.tolist(), x),
        lambda: cp(**how).fit(y.to_frame()["thing"], x),
    ):
        fitted, notes = told(call)
        assert sets(fitted) == wanted
        assert len(notes) == 1
        for part in ("1 of 119 steps", "1.5 times", "a step is 1 h", "50 rows", "reset_index"):
            assert part in notes[0]


def test_a_plain_chain_is_cut_too():
    _, x = rows(LATE)
    fitted, notes = told(lambda: cp().fit(None, x))
    assert len(notes) == 1
    wanted = cp().fit(None, SKIES, [70, 50]).predict_p(horizon=2)
    assert fitted.predict_p(horizon=2) == wanted


def test_holes_come_on_top_of_lengths():
    y, x = rows(LATE)
    fitted, notes = told(lambda: cp().fit(y, x, [30, 90]))
    assert len(notes) == 1
    assert fitted._data.lengths.tolist() == [30, 40, 50]
    _, notes = told(lambda: cp().fit(y, x, [70, 50]))
    assert notes == []  # it is cut there already


ORDERS = {
    "pandas": lambda times: pd.Series(times),
    "polars": lambda times: pl.Series(times.to_pydatetime().tolist()),
    "list": lambda times: times.to_pydatetime().tolist(),
    "array": lambda times: times.to_numpy(),
    "numbers": lambda times: ((times - times[0]) / pd.Timedelta("1h")).tolist(),
    "zone": lambda times: times.tz_localize("UTC").to_pydatetime().tolist(),
}


@pytest.mark.parametrize("kind", ORDERS)
@pytest.mark.parametrize("series", ["own", "others"])
def test_a_hole_in_the_order_of_a_series_is_a_gap(kind, series):
    shuffled = np.random.default_rng(1).permutation(120)
    order = ORDERS[kind](LATE[shuffled])
    y, x, towns = ([values[k] for k in shuffled] for values in (THINGS, SKIES, TOWNS))
    wanted = many(series=series).fit(THINGS, SKIES, TOWNS, lengths=[60, 10, 50])
    fitted, notes = told(lambda: many(series=series).fit(y, x, groups=towns, order=order))
    assert len(notes) == 1
    assert "first of series 'Oslo'" in notes[0]
    for name in ("Rome", "Oslo"):
        assert sets(fitted.estimators_[name]) == sets(wanted.estimators_[name])
    found, notes = told(lambda: backtest_series(many(series=series), y, x, towns, order))
    assert len(notes) == 1
    wanted = backtest_series(many(series=series), THINGS, SKIES, TOWNS, lengths=[60, 10, 50])
    assert found.to_dict() == {**wanted.to_dict(), **_sorted_as(found, wanted)}


def _sorted_as(found, wanted):
    """Return columns of one table in the order of another's series."""
    place = [one.series for one in wanted]
    rows = [place.index(one.series) for one in found]
    return {name: [values[k] for k in rows] for name, values in wanted.to_dict().items()}


def test_a_hole_in_the_index_of_a_series_is_a_gap():
    y, x = rows(LATE)
    fitted, notes = told(lambda: many().fit(y, x, groups=TOWNS))
    assert len(notes) == 1
    wanted = many().fit(THINGS, SKIES, TOWNS, lengths=[60, 10, 50])
    assert sets(fitted.estimators_["Oslo"]) == sets(wanted.estimators_["Oslo"])
    found, notes = told(lambda: check(y, x, groups=TOWNS, n_resamples=19, random_state=0))
    assert len(notes) == 1
    wanted = check(
        THINGS, SKIES, groups=TOWNS, lengths=[60, 10, 50], n_resamples=19, random_state=0
    )
    assert found.p_value == wanted.p_value


@pytest.mark.parametrize("series", ["all", "first"])
def test_all_series_together_are_cut_too(series):
    y, x = rows(LATE)
    names = [k // 20 for k in range(120)]
    how = {"series": series, "train_size": 0.5}
    fitted, notes = told(lambda: many(**how).fit(y, x, groups=names))
    assert len(notes) == 1
    wanted = many(**how).fit(THINGS, SKIES, names, lengths=[20, 20, 20, 10, 10, 20, 20])
    assert sets(fitted.estimators_[5]) == sets(wanted.estimators_[5])


def test_a_check_and_a_backtest_are_cut_too():
    y, x = rows(LATE)
    found, notes = told(lambda: check(y, x, n_resamples=19, random_state=0))
    assert len(notes) == 1
    wanted = check(THINGS, SKIES, lengths=[70, 50], n_resamples=19, random_state=0)
    assert found.p_value == wanted.p_value
    found, notes = told(lambda: run_backtest(cp(), y, x, 2))
    wanted = run_backtest(cp(), THINGS, SKIES, 2, lengths=[70, 50])
    assert len(notes) == 1
    assert found.evaluations()["definetti"] == wanted.evaluations()["definetti"]
    assert notes[0] in found.notes
    made, notes = told(lambda: make_report(cp(), y, x, horizon=1, windows=5))
    assert notes[0] in made.contents["notes"]
    wanted = make_report(cp(), THINGS, SKIES, horizon=1, windows=5, lengths=[70, 50])
    assert made.contents["new"] == wanted.contents["new"]
    assert made.contents["backtest"] == wanted.contents["backtest"]


# What comes after a history.


def test_rows_that_follow_are_predicted_and_those_after_a_hole_are_not():
    y, x = rows(HOURS)
    fitted = cp().fit(y[:100], x[:100])
    wanted = cp().fit(THINGS[:100], SKIES[:100]).predict_p(THINGS[100:102])
    assert fitted.predict_p(y[100:102]) == wanted
    assert fitted.predict_p(THINGS[100:102]) == wanted  # rows without times are taken to follow
    for call in (fitted.predict_set, fitted.predict_p, fitted.predict):
        with pytest.raises(ValueError, match=r"11 h after the last label, .*label a row"):
            call(y[110:112])
        with pytest.raises(ValueError, match="hole of 9 h after 1 row, where a step is 1 h"):
            call(pd.concat([y[100:101], y[109:110]]))
        with pytest.raises(ValueError, match=r"give rows that follow it"):
            call(y[50:52])
    with pytest.raises(ValueError, match="11 h after the last label"):
        fitted.p_value(y[110:112], x[110:112])
    report, wrong = cp(), (y[:100], x[:100], y[110:112])
    with pytest.raises(ValueError, match="11 h after the last label"):
        make_report(report, *wrong)
    several = many().fit(y[:100], x[:100], groups=TOWNS[:100])
    with pytest.raises(ValueError, match="11 h after the last label"):
        several.predict_set(y[110:112], group="Oslo")
    assert several.predict_set(y[100:102], group="Oslo") == several.estimators_["Oslo"].predict_set(
        THINGS[100:102]
    )


def test_labels_after_a_hole_begin_a_new_segment():
    y, x = rows(LATE)
    fitted, notes = told(lambda: cp().fit(y[:50], x[:50]))
    assert notes == []
    _, notes = told(lambda: fitted.partial_fit(y[50:70], x[50:70]))
    assert notes == []
    _, notes = told(lambda: fitted.partial_fit(y[70:], x[70:]))
    assert len(notes) == 1
    assert "begins 11 h after the last label" in notes[0]
    wanted = cp().fit(THINGS, SKIES, [70, 50])
    assert sets(fitted) == sets(wanted)
    # At once, and row by row.
    at_once, notes = told(lambda: cp().fit(y[:50], x[:50]).partial_fit(y[50:], x[50:]))
    assert len(notes) == 1
    assert sets(at_once) == sets(wanted)
    slow = cp().fit(y[:50], x[:50])
    _, notes = told(lambda: [slow.partial_fit(y[k : k + 1], x[k : k + 1]) for k in range(50, 120)])
    assert len(notes) == 1
    assert sets(slow) == sets(wanted)
    # Rows that came without times end what is known of them.
    slow.partial_fit(THINGS[:2], SKIES[:2])
    _, notes = told(lambda: slow.partial_fit(y[100:101], x[100:101]))
    assert notes == []


def test_nothing_is_learned_where_a_row_after_a_hole_is_wrong():
    y, x = rows(LATE)
    fitted = cp(states=["sun", "rain"]).fit(y[:50], x[:50])
    before = sets(fitted)
    wrong = x.where(np.arange(120) != 100, "snow")
    with pytest.raises(ValueError, match="snow"):
        told(lambda: fitted.partial_fit(y[50:], wrong[50:]))
    assert fitted.n_steps_ == 50
    assert sets(fitted) == before
    assert fitted.predict_p(y[50:52]) == cp(states=["sun", "rain"]).fit(
        THINGS[:50], SKIES[:50]
    ).predict_p(THINGS[50:52])


@pytest.mark.parametrize("horizon", [1, 2])
@pytest.mark.parametrize("level", [None, [0.8, 0.95]])
def test_no_window_of_an_evaluation_crosses_a_hole(horizon, level):
    y, x = rows(LATE)
    fitted = cp().fit(y[:50], x[:50])
    found, notes = told(lambda: fitted.evaluate(y[50:], x[50:], level, horizon=horizon))
    assert len(notes) == 1
    first = cp().fit(THINGS[:50], SKIES[:50])
    wanted = first.evaluate(THINGS[50:70], SKIES[50:70], level, horizon=horizon)
    after = cp().fit(THINGS[:71], SKIES[:71], [70, 1])
    later = after.evaluate(THINGS[71:], SKIES[71:], level, horizon=horizon)
    for one, early, late in zip(
        *([each] if level is None else each for each in (found, wanted, later)), strict=True
    ):
        assert one.p_values.tolist() == [*early.p_values, *late.p_values]
        assert one.covered.tolist() == [*early.covered, *late.covered]
    with pytest.raises(ValueError, match="horizon is None"):
        told(lambda: fitted.evaluate(y[50:], x[50:]))


def test_an_evaluation_after_a_hole_begins_with_a_label():
    y, x = rows(LATE)
    fitted = cp().fit(y[:70], x[:70])
    found, notes = told(lambda: fitted.evaluate(y[70:], x[70:], horizon=1))
    assert len(notes) == 1
    after = cp().fit(THINGS[:71], SKIES[:71], [70, 1])
    assert found.p_values.tolist() == (
        after.evaluate(THINGS[71:], SKIES[71:], horizon=1).p_values.tolist()
    )
    with pytest.raises(ValueError, match="room for a window"):
        told(lambda: fitted.evaluate(y[70:71], x[70:71], horizon=1))


@pytest.mark.parametrize("by", ["order", "index"])
def test_an_evaluation_of_series_is_cut_at_holes(by):
    y, x = rows(LATE)
    names = ["a"] * 55 + ["b"] * 65
    past = np.array([*range(40), *range(55, 70)])
    late = np.array([*range(40, 55), *range(70, 120)])

    def some(at):
        if by == "index":
            return (y.iloc[at], x.iloc[at]), {"groups": [names[k] for k in at]}
        seen = [THINGS[k] for k in at], [SKIES[k] for k in at]
        return seen, {"groups": [names[k] for k in at], "order": LATE[at]}

    (seen, states), how = some(past)
    fitted, notes = told(lambda: many().fit(seen, states, **how))
    assert notes == []
    (seen, states), how = some(late)
    found, notes = told(lambda: fitted.evaluate(seen, states, horizon=1, **how))
    assert len(notes) == 1
    assert "series 'b' begins 11 h after the last label" in notes[0]
    after = cp().fit(THINGS[55:71], SKIES[55:71], [15, 1])
    wanted = after.evaluate(THINGS[71:], SKIES[71:], horizon=1)
    assert found.evaluations["b"].p_values.tolist() == wanted.p_values.tolist()
    (seen, states), how = some(past)
    with pytest.raises(ValueError, match="give rows that follow it"):
        fitted.evaluate(seen, states, horizon=1, **how)


def test_long_steps_are_holes_after_regular_times_however_many_they_are():
    y, x = rows()
    fitted = cp().fit(y[:60], x[:60])
    sparse = np.array([60, 70, 80, 90, 100])  # the first follows the history, the others do not
    for call in (fitted.predict_set, fitted.predict_p):
        with pytest.raises(ValueError, match="hole of 10 h after 1 row, where a step is 1 h"):
            call(y.iloc[sparse])
    found, notes = told(
        lambda: cp().fit(y[:60], x[:60]).partial_fit(y.iloc[sparse], x.iloc[sparse])
    )
    assert len(notes) == 1
    assert "4 of 4 steps" in notes[0]
    places = [*range(60), *sparse]
    cut = cp().fit([THINGS[k] for k in places], [SKIES[k] for k in places], [61, 1, 1, 1, 1])
    assert sets(found) == sets(cut)


@pytest.mark.parametrize("series", ["own", "others"])
@pytest.mark.parametrize("by", ["order", "index"])
def test_the_usual_step_of_series_is_that_of_their_history(series, by):
    y, x = rows(HOURS[:60].append(HOURS[:60]))
    past, late = np.r_[0:50, 60:110], np.array([50, 59, 110, 119])  # nine hours apart

    def some(at):
        how = {"groups": [TOWNS[k] for k in at]}
        if by == "index":
            return (y.iloc[at], x.iloc[at]), how
        how["order"] = y.index[at]
        return ([THINGS[k] for k in at], [SKIES[k] for k in at]), how

    (seen, states), how = some(past)
    fitted = many(series=series).fit(seen, states, **how)
    (seen, states), how = some(late)
    found, notes = told(lambda: fitted.evaluate(seen, states, horizon=1, **how))
    assert len(notes) == 1
    assert "2 of 2 steps" in notes[0]
    assert [one.windows for one in found] == [1, 1]


def test_the_time_of_the_last_row_is_saved(tmp_path):
    y, x = rows(HOURS)
    for number, fitted in enumerate(
        (cp().fit(y[:100], x[:100]), many().fit(y[:100], x[:100], groups=TOWNS[:100]))
    ):
        how = {"group": "Oslo"} if number else {}
        path = tmp_path / f"{number}.definetti"
        fitted.save(path)
        again = load(path)
        assert again.predict_set(y[100:102], **how) == fitted.predict_set(y[100:102], **how)
        with pytest.raises(ValueError, match="11 h after the last label"):
            again.predict_set(y[110:112], **how)


def test_a_list_of_sequences_is_aligned_one_by_one():
    y, x = rows()
    seen, states = [y[:20], y[20:40], y[40:60]], [x[:20], x[20:40], x[40:60]]
    fitted = ConformalSequences().fit(seen, states)
    for other in (x[20:40][::-1], x[30:50]):
        wrong = [states[0], other, states[2]]
        for call in (ConformalSequences().fit, fitted.evaluate):
            with pytest.raises(ValueError, match=r"observations\[1\] and states\[1\] have diff"):
                call(seen, wrong)


# What a hole is.


def holes(times, **how):
    found = read_times(times)
    begins = np.arange(len(times)) == 0
    return find_holes(found, begins, "remedy", **how)


def test_a_step_is_a_hole_where_times_are_regular():
    found = holes([0, 1, 2, 3, 4.4, 5.4, 8, 9, 10, 11])
    assert np.flatnonzero(found.after).tolist() == [6]
    assert found.usual.tolist() == [1.0]
    assert holes([0, 1]).note == holes([5]).note == ""
    assert np.flatnonzero(holes([0, 1, 20]).after).tolist() == [2]
    # Known from earlier rows, the usual step is theirs.
    assert np.flatnonzero(holes([0, 10], usual=1.0).after).tolist() == [1]


def test_irregular_times_have_no_holes_and_dates_say_so():
    days = pd.bdate_range("2024-01-01", periods=60).to_pydatetime().tolist()
    found = holes(days)
    assert not found.after.any()
    assert "irregular: 11 of 59 steps" in found.note
    numbers = holes(np.random.default_rng(0).exponential(size=100).cumsum().tolist())
    assert not numbers.after.any()
    assert numbers.note == ""
    y, x = rows(pd.bdate_range("2024-01-01", periods=120))
    fitted, notes = told(lambda: cp().fit(y, x))
    assert len(notes) == 1
    assert "rows are taken as consecutive steps" in notes[0]
    assert sets(fitted) == sets(cp().fit(THINGS, SKIES))
    _, notes = told(
        lambda: fitted.predict_set(y[:2].set_axis(pd.bdate_range("2024-07-05", periods=2)))
    )
    assert notes == []


def test_series_have_a_usual_step_each():
    hours = [datetime(2024, 1, 1) + timedelta(hours=k) for k in range(5)]
    days = [datetime(2024, 1, 1) + timedelta(days=k) for k in (0, 1, 2, 5, 6)]
    owners = np.repeat([0, 1], 5)
    begins = np.array([1, 0, 0, 0, 0] * 2, dtype=bool)
    found = find_holes(
        read_times(hours + days), begins, "remedy", owners=owners, names=("hours", "days")
    )
    assert np.flatnonzero(found.after).tolist() == [8]
    assert "series 'days' from 2024-01-03 00:00:00 to 2024-01-06 00:00:00" in found.note


@pytest.mark.parametrize(
    "values",
    [["a", "b"], [1, "a"], [True, False], [None, 1.0], [date(2024, 1, 1), "b"], [10**400, 1]],
)
def test_what_has_no_times(values):
    assert read_times(values) is None


def test_dates_of_any_kind_are_times():
    wanted = read_times([datetime(2024, 1, 1), datetime(2024, 1, 2)])
    for same in (
        [date(2024, 1, 1), date(2024, 1, 2)],
        [np.datetime64("2024-01-01"), np.datetime64("2024-01-02")],
        [pd.Timestamp("2024-01-01"), pd.Timestamp("2024-01-02")],
    ):
        assert read_times(same).values.tolist() == wanted.values.tolist()
    index = pd.Series(0, index=pd.period_range("2024-01", periods=3, freq="M"))
    assert read_index(index).kind == "dates"
    assert read_index([1, 2], pl.Series([1, 2])) is None
