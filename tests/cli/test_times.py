"""Times in files: rows that are missing cut a history, with a note, as in Python."""

import json
from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest
from tests.making import grouped

from definetti import ConformalHMM
from definetti.check import check
from definetti.evaluation import backtest_series, run_backtest
from definetti.simulate import weather, weather_series

THINGS, SKIES = weather(120, random_state=0)
NOTE = "where a step is 1 h"


def table(hole=70, hours=10, end=120, new=0):
    """Return rows an hour apart, with a hole, the last of them without a state."""
    begin = datetime(2024, 1, 1)
    time = [begin + timedelta(hours=k + hours * (k >= hole)) for k in range(end)]
    states = [*SKIES[: end - new], *[None] * new]
    return pl.DataFrame({"time": time, "thing": THINGS[:end], "state": states})


def write(folder, rows, kind="csv", name="rows"):
    path = folder / f"{name}.{kind}"
    if kind == "csv":
        rows.write_csv(path)
    elif kind == "parquet":
        rows.write_parquet(path)
    else:
        rows.with_columns(pl.col("time").dt.to_string()).write_ndjson(path)
    return path.name


def p_values(steps):
    return [{name: p for name, p in row.items() if name.startswith("p_")} for row in steps]


def wanted_steps(cp, new):
    s = cp.predict_set(new)
    return [
        {f"p_{state}": p for state, p in zip(s.states, row, strict=True)}
        for row in s.step_p_values.tolist()
    ]


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_a_hole_in_the_column_of_times_cuts_the_history(ask, tmp_path, kind):
    path = write(tmp_path, table(new=2), kind)
    done = ask("predict", path, "--json", "--no-check")
    assert done.returncode == 0, done.err
    assert NOTE in done.err
    assert "compared with the last 50 rows" in done.err
    cp = ConformalHMM(random_state=0).fit(THINGS[:118], SKIES[:118], [70, 48])
    assert p_values(json.loads(done.out)["steps"]) == wanted_steps(cp, THINGS[118:])


def test_all_commands_begin_a_segment_at_a_hole(ask, tmp_path):
    path = write(tmp_path, table())
    done = ask("backtest", path, "--json", "--no-check")
    assert NOTE in done.err
    wanted = run_backtest(ConformalHMM(random_state=0), THINGS, SKIES, lengths=[70, 50])
    assert json.loads(done.out)["windows"] == wanted.windows == 59
    verdict = str(wanted.evaluations()["definetti"].verdict)
    assert json.loads(done.out)["verdict"] == verdict
    done = ask("check", path, "--json", "--resamples", 19)
    assert NOTE in done.err
    found = check(pl.Series(THINGS), SKIES, lengths=[70, 50], n_resamples=19, random_state=0)
    assert json.loads(done.out)["p_value"] == pytest.approx(found.p_value)
    done = ask("report", path, "--json", "--windows", 5, "--no-check")
    assert NOTE in done.err
    done = ask("fit", path, "-o", "model.definetti", "--no-check")
    assert NOTE in done.err


@pytest.mark.parametrize("kind", ["below", "file", "model"])
def test_new_rows_after_a_hole_are_not_predicted(ask, tmp_path, kind):
    rows = table(hole=110, new=10)
    if kind == "below":
        given = [write(tmp_path, rows)]
    else:
        given = [write(tmp_path, rows[:110]), write(tmp_path, rows[110:].drop("state"), name="new")]
    if kind == "model":
        assert ask("fit", given[0], "-o", "model.definetti", "--no-check").returncode == 0
        given = ["--model", "model.definetti", given[1]]
    done = ask("predict", *given)
    assert done.returncode == 2
    assert "11 h after the last label, where a step is 1 h" in done.err
    if kind != "model":
        done = ask("report", *given, "-o", "page.html")
        assert done.returncode == 2
        assert "11 h after the last label" in done.err
        assert ask("backtest", given[0], "--no-check").returncode == 0


def test_new_rows_are_predicted_up_to_a_hole(ask, tmp_path):
    path = write(tmp_path, table(hole=115, new=10))
    done = ask("predict", path)
    assert done.returncode == 2
    assert "hole of 11 h after 5 rows" in done.err
    done = ask("predict", path, "--horizon", 3, "--json", "--no-check")
    assert done.returncode == 0, done.err
    assert len(json.loads(done.out)["steps"]) == 3


def test_times_without_holes_are_not_noted_and_other_dates_are_no_times(ask, tmp_path):
    path = write(tmp_path, table(hours=0, new=1))
    done = ask("predict", path, "--no-check")
    assert "hole" not in done.err
    assert "irregular" not in done.err
    rng = np.random.default_rng(0)
    born = [datetime(1990, 1, 1) + timedelta(days=int(k)) for k in rng.integers(0, 9999, 120)]
    path = write(tmp_path, table(hours=0, new=1).with_columns(time=pl.Series(born)))
    done = ask("predict", path, "--no-check")
    assert done.returncode == 0
    assert "goes back in time at row" in done.err
    days = pl.Series([datetime(2024, 1, 1) + timedelta(days=k + 2 * (k // 5)) for k in range(120)])
    path = write(tmp_path, table(new=1).with_columns(time=days))
    done = ask("predict", path, "--no-check")
    assert done.returncode == 0
    assert "irregular" in done.err


# Many series.

GROUPED = ("--group-column", "patient", "--order-column", "time")


def series(kind="time", hole=20, new=0):
    """Return three series of forty rows, one with a hole, the last rows of each without a state."""
    things, skies = weather_series(3, 40, random_state=2)
    hours = np.tile(np.arange(40), 3)
    hours[40:80][hole:] += 10
    time = [datetime(2024, 1, 1) + timedelta(hours=int(k)) for k in hours]
    known = np.tile(np.arange(40) < 40 - new, 3)
    return pl.DataFrame(
        {
            "patient": np.repeat(["a", "b", "c"], 40),
            "time": time if kind == "time" else hours,
            "state": [
                sky if one else None
                for sky, one in zip(
                    np.array(["sun", "rain"])[skies.ravel()].tolist(), known, strict=True
                )
            ],
            "thing": np.array(["umbrella", "hat", "nothing"])[things.ravel()],
        }
    )


@pytest.mark.parametrize(
    ("kind", "how", "jobs"), [("time", "own", 1), ("number", "others", 1), ("time", "others", 2)]
)
def test_a_backtest_of_series_is_cut_at_holes(ask, tmp_path, kind, how, jobs):
    rows = series(kind)
    rows.sample(fraction=1.0, shuffle=True, seed=0).write_parquet(tmp_path / "rows.parquet")
    done = ask(
        "backtest", "rows.parquet", *GROUPED, "--series", how, "--json", "--jobs", jobs,
        "--by-series", "each.parquet",
    )  # fmt: skip
    assert done.returncode == 0, done.err
    assert done.err.count("times have holes, the first of series 'b'") == 1
    wanted = backtest_series(
        grouped(series=how, random_state=0), rows["thing"].to_list(), rows["state"].to_list(),
        rows["patient"].to_list(), lengths=[40, 20, 20, 40],
    )  # fmt: skip
    found = pl.read_parquet(tmp_path / "each.parquet")
    assert found["windows"].to_list() == [one.windows for one in wanted]
    assert found["covered"].to_list() == [one.covered for one in wanted]
    assert found["mean_size"].to_list() == [one.mean_size for one in wanted]


def test_note_on_holes_is_kept_in_cells(ask, tmp_path):
    series().write_parquet(tmp_path / "rows.parquet")
    for _ in range(2):
        done = ask("backtest", "rows.parquet", *GROUPED, "--cells", "cells")
        assert "times have holes" in done.err


@pytest.mark.parametrize("hole", [20, 38, 39])
def test_sets_of_series_are_given_up_to_a_hole(ask, tmp_path, hole):
    rows = series(hole=hole, new=2)
    rows.write_csv(tmp_path / "rows.csv")
    done = ask("predict", "rows.csv", *GROUPED, "--json")
    assert done.returncode == 0, done.err
    steps = json.loads(done.out)["steps"]
    number = {20: 2, 38: 0, 39: 1}[hole]
    assert [row["patient"] for row in steps].count("b") == number
    assert ("new rows after a hole in time have no set, in 'b'" in done.err) == (number < 2)
    known = rows.filter(pl.col("state").is_not_null())
    lengths = [38, 20, 18, 38] if hole == 20 else [38, 38, 38]
    cp = grouped(random_state=0).fit(
        known["thing"], known["state"].to_list(), known["patient"].to_list(), lengths=lengths
    )
    if number:
        new = rows.filter((pl.col("patient") == "b") & pl.col("state").is_null())["thing"]
        mine = p_values([row for row in steps if row["patient"] == "b"])
        assert mine == wanted_steps(cp.estimators_["b"], new.to_list()[:number])


def test_report_cuts_the_shown_series_at_holes(ask, tmp_path):
    series(new=1).write_csv(tmp_path / "rows.csv")
    few = ("--show", "b", "--windows", 5, "--no-check", "--json")
    done = ask("report", "rows.csv", *GROUPED, *few)
    assert done.returncode == 0, done.err
    assert done.err.count(NOTE) == 2  # of all series, and of the one
    rows = series(new=1).filter(pl.col("patient") == "b")
    path = write(tmp_path, rows.drop("patient"), name="b")
    alone = ask("report", path, "--windows", 5, "--no-check", "--json", "-o", "b.html")
    assert json.loads(done.out)["new"] == json.loads(alone.out)["new"]


def test_check_cuts_series_at_holes(ask, tmp_path):
    rows = series()
    rows.write_csv(tmp_path / "rows.csv")
    done = ask("check", "rows.csv", *GROUPED, "--resamples", 19, "--json")
    assert "times have holes" in done.err
    wanted = check(
        rows["thing"], rows["state"].to_list(), groups=rows["patient"].to_list(),
        lengths=[40, 20, 20, 40], n_resamples=19, random_state=0,
    )  # fmt: skip
    assert json.loads(done.out)["p_value"] == pytest.approx(wanted.p_value)


# Streams.


def monitored(done):
    return [json.loads(line) for line in done.out.splitlines()]


@pytest.mark.parametrize("lag", [0, 2])
def test_a_stream_goes_on_after_a_hole(ask, tmp_path, lag):
    """As if rows without a state had come: the first row after it has no set."""
    path = write(tmp_path, table(hole=90))
    done = ask("monitor", path, "--first", 60, "--json", "--lag", lag)
    assert done.returncode == 0, done.err
    assert "row 91 comes 11 h after the last label" in done.err
    found = [row for row in monitored(done) if "row" in row]
    plain = ask("monitor", write(tmp_path, table(hours=0), name="plain"), "--first", 60, "--json",
                "--lag", lag)  # fmt: skip
    before = [row for row in monitored(plain) if "row" in row]
    assert found[:30] == before[:30]
    assert found[30] != before[30]
    assert len(found[30]["set"]) == 2  # nothing is known


def test_resumed_stream_knows_the_time(ask, tmp_path):
    rows = table(hole=90)
    how = ("--first", 60, "--json", "--save", "state.definetti")
    whole = ask("monitor", write(tmp_path, rows, name="stream"), "--first", 60, "--json")
    write(tmp_path, rows[:90], name="stream")
    first = ask("monitor", "stream.csv", *how)
    write(tmp_path, rows, name="stream")
    then = ask("monitor", "stream.csv", *how)
    assert then.returncode == 0, then.err
    assert "row 91 comes 11 h after the last label" in then.err
    parts = [row for one in (first, then) for row in monitored(one) if "row" in row]
    assert parts == [row for row in monitored(whole) if "row" in row]


def test_first_rows_of_a_stream_are_cut_at_holes(ask, tmp_path):
    done = ask("monitor", write(tmp_path, table(hole=30)), "--first", 60)
    assert done.returncode == 0, done.err
    assert NOTE in done.err


def test_streams_of_many_series_go_on_after_holes(ask, tmp_path):
    rows = series(hole=30).sort("time", "patient")
    rows.write_csv(tmp_path / "stream.csv")
    done = ask("monitor", "stream.csv", "--group-column", "patient", "--first", 20, "--json")
    assert done.returncode == 0, done.err
    assert "series 'b': row" in done.err
    assert "11 h after the last label" in done.err
