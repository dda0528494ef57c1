"""A table of many series on the command line: each by itself, all together, in parts."""

import gzip
import json

import numpy as np
import polars as pl
import pytest
from tests.making import grouped

from definetti.cli import series_tables
from definetti.cli.monitor_stream import StreamMonitor, StreamOptions
from definetti.cli.options import Columns, Grouping, Rolling, Settings, Spreading
from definetti.cli.series import backtest_groups
from definetti.cli.writing import write_frames
from definetti.evaluation import backtest_series
from definetti.simulate import weather_series

THINGS, SKIES = weather_series(6, 60, random_state=2)
ROWS = pl.DataFrame(
    {
        "patient": np.repeat([f"p{k}" for k in range(6)], 60),
        "time": np.tile(np.arange(60), 6),
        "state": np.array(["sun", "rain"])[SKIES.ravel()],
        "thing": np.array(["umbrella", "hat", "nothing"])[THINGS.ravel()],
    }
)
OPTIONS = ("--group-column", "patient", "--order-column", "time")


def judged(source, series="own", jobs=1, **how):
    found, said, notes = backtest_groups(
        str(source), Columns(), Settings(),
        Grouping("patient", how.pop("order", "time"), series), Spreading(jobs, **how),
        1, Rolling(start=0.5, windows=500),
    )  # fmt: skip
    return found[0], said, notes


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.parquet"
    ROWS.sample(fraction=1.0, shuffle=True, seed=1).write_parquet(path)
    return path


@pytest.mark.parametrize("series", ["own", "others"])
def test_results_do_not_depend_on_parts(table, series, monkeypatch):
    cp = grouped(series=series, random_state=0)
    things, skies, names = (ROWS[one].to_list() for one in ("thing", "state", "patient"))
    wanted = backtest_series(cp, things, skies, names).to_dict()
    assert judged(table, series)[0].to_dict() == wanted
    monkeypatch.setattr(series_tables, "ROWS", 100)
    monkeypatch.setattr(series_tables.GroupedTable.parts, "__defaults__", (100,))
    assert judged(table, series)[0].to_dict() == wanted


@pytest.mark.parametrize("kind", ["csv", "jsonl", "folder"])
def test_backtest_is_the_same_for_all_file_formats(tmp_path, table, kind):
    path = tmp_path / f"table.{kind}"
    if kind == "csv":
        ROWS.write_csv(path)
    elif kind == "jsonl":
        ROWS.write_ndjson(path)
    else:
        path.mkdir()
        ROWS[:100].write_parquet(path / "a.parquet")
        (path / "more").mkdir()
        ROWS[100:].write_parquet(path / "more" / "b.parquet")
    assert judged(path)[0].to_dict() == judged(table)[0].to_dict()


def test_stopped_run_resumes(table, tmp_path, monkeypatch):
    monkeypatch.setattr(series_tables.GroupedTable.parts, "__defaults__", (120,))
    wanted = judged(table, cells=tmp_path / "kept")[0].to_dict()
    kept = sorted((tmp_path / "kept" / "cells").iterdir())
    assert len(kept) == 3
    kept[1].unlink()
    monkeypatch.setattr("definetti._system.cells._run_parts", counted := Counted())
    assert judged(table, cells=tmp_path / "kept")[0].to_dict() == wanted
    assert counted.number == 1
    assert judged(table, "others", cells=tmp_path / "kept")[0].to_dict() != wanted  # other cells


class Counted:
    """Run parts one after the other, and count them."""

    number = 0

    def __call__(self, tasks, work, n_jobs):
        for cell, part in tasks:
            self.number += 1
            yield cell.key, part.start, work(cell, part)


def test_backtest_of_series_prints_and_writes_its_result(ask, table):
    done = ask("backtest", table, *OPTIONS, "--by-series", "found.csv", "--series", "others")
    assert done.returncode == 0, done.err
    assert "kept: 0." in done.out
    assert "in 6 series, promised 0.9" in done.out.replace("\n", " ")
    rows = pl.read_csv(table.parent / "found.csv")
    assert rows["series"].to_list() == [f"p{k}" for k in range(6)]
    assert rows["windows"].to_list() == [30] * 6
    again = ask("backtest", table, *OPTIONS, "--by-series", "found.csv", "--json")
    found = json.loads(again.out)
    assert (found["number"], found["confidence_level"], len(found["levels"])) == (6, 0.9, 1)
    assert found["verdict"].startswith("kept")
    shares = {"coverage", "low", "high", "share_empty"}
    assert set(found["worst"]) == {"series", "windows", "mean_size", *shares}


def test_backtest_by_first_windows_gives_no_verdict(ask, table, tmp_path):
    """All windows share their calibration windows: a coverage, and neither interval nor verdict."""
    how = ("--series", "first", "--train-size", "0.5")
    told = ask("backtest", table, *OPTIONS, *how).out
    assert told.startswith("no verdict: 1.000 of 90 windows in 3 series, promised 0.9; windows of")
    assert "are compared with the same calibration windows" in told
    assert "[" not in told.split("worst first")[0]
    file = tmp_path / "series.csv"
    found = json.loads(ask("backtest", table, *OPTIONS, *how, "--json", "--by-series", file).out)
    assert found["verdict"].startswith("no verdict: ")
    assert found["low"] is found["high"] is found["spread_by_chance"] is None
    assert found["look_at"] == []
    assert found["coverage"] > 0.5
    assert found["worst"]["low"] is None
    assert pl.read_csv(file)["low"].is_nan().all() or pl.read_csv(file)["low"].is_null().all()
    page = tmp_path / "report.html"
    assert ask("report", table, *OPTIONS, *how, "-o", page).out.startswith("no verdict: ")


@pytest.mark.parametrize("series", ["all", "first"])
def test_one_series_may_train_the_model(ask, table, series):
    """`--train-size 1` is a number of series here, where for rows it might be all of them."""
    done = ask("backtest", table, *OPTIONS, "--series", series, "--train-size", "1", "--json")
    assert done.returncode == 0, done.err
    assert json.loads(done.out)["trained"] == 1


@pytest.mark.parametrize("series", ["all", "first"])
def test_series_that_trained_are_not_evaluated_and_the_caption_says_so(ask, table, series):
    how = (*OPTIONS, "--no-check", "--series", series, "--train-size", "0.4")
    done = ask("backtest", table, *how, "--by-series", "found.csv")
    assert done.returncode == 0, done.err
    told = " ".join(done.out.split())
    assert "of 120 windows in 4 series" in told
    assert "; 2 trained the model, not evaluated" in told
    assert "that did not train; 2 series trained the model; promised 0.9" in told
    assert "all rows of its series before it" not in told
    rows = pl.read_csv(table.parent / "found.csv")
    assert sorted(rows["windows"]) == [0, 0, 30, 30, 30, 30]
    found = json.loads(ask("backtest", table, *how, "--json").out)
    assert (found["trained"], found["judged"], found["number"]) == (2, 4, 6)
    assert found["source"].endswith("that did not train")


@pytest.mark.parametrize("series", ["own", "others"])
def test_future_state_is_unknown_in_every_part(tmp_path, series, monkeypatch):
    """Snow ends the last series alone, hail ends the first and is in the middle of the last."""
    snow = pl.when((pl.col("patient") == "p5") & (pl.col("time") > 56)).then(pl.lit("snow"))
    hail = ((pl.col("patient") == "p0") & (pl.col("time") == 59)) | (
        (pl.col("patient") == "p5") & (pl.col("time") == 40)
    )
    rows = ROWS.with_columns(state=snow.when(hail).then(pl.lit("hail")).otherwise("state"))
    rows.write_parquet(tmp_path / "table.parquet")
    cp = grouped(series=series, random_state=0)
    things, skies, names = (rows[one].to_list() for one in ("thing", "state", "patient"))
    wanted = backtest_series(cp, things, skies, names)
    assert [one.unknown for one in wanted] == [0, 0, 0, 0, 0, 1]
    for size in (1_000, 100):
        monkeypatch.setattr(series_tables.GroupedTable.parts, "__defaults__", (size,))
        assert judged(tmp_path / "table.parquet", series)[0].to_dict() == wanted.to_dict()


GAPPED = ROWS.with_columns(
    state=pl.when((pl.col("time") % 25 != 9) | (pl.col("patient") != "p3")).then("state")
)
STEP = ["window", "confidence", "truth", "set", "size", "covered", "filled", "p_value"]


@pytest.mark.slow_cases("how1", "how2")
@pytest.mark.parametrize(
    "how", [(), ("--lag", 1, "--horizon", 3, "--windows", 4), ("--smoothing",)]
)
def test_steps_equal_those_of_each_series_alone(ask, tmp_path, how, monkeypatch):
    """At two levels, with gaps, rows in any order, and series in several parts of the table."""
    monkeypatch.setattr(series_tables.GroupedTable.parts, "__defaults__", (100,))
    GAPPED.sample(fraction=1.0, shuffle=True, seed=5).write_parquet(tmp_path / "table.parquet")
    levels = ("--confidence", 0.95, "--confidence", 0.7, "--no-check")
    done = ask("backtest", "table.parquet", *OPTIONS, *levels, *how, "-o", "steps.parquet")
    assert done.returncode == 0, done.err
    assert (done.out.count("promised 0.95"), done.out.count("promised 0.7")) == (2, 2)
    steps = pl.read_parquet(tmp_path / "steps.parquet").with_columns(pl.col("set").list.sort())
    assert steps["patient"].unique(maintain_order=True).to_list() == [f"p{k}" for k in range(6)]
    for name in ("p1", "p3"):
        alone = GAPPED.filter(patient=name).sort("time").drop("patient")
        alone.write_csv(tmp_path / "one.csv")
        more = (*levels, *how, "--observation-columns", "thing", "-o", "one.parquet", "--force")
        assert ask("backtest", "one.csv", *more).returncode == 0
        wanted = pl.read_parquet(tmp_path / "one.parquet").with_columns(pl.col("set").list.sort())
        found = steps.filter(patient=name)
        assert (found["time"] + 1).to_list() == found["row"].to_list() == wanted["row"].to_list()
        if how == ("--smoothing",):  # each series has random numbers of its own
            wanted, found = (
                one.drop("p_value", "set", "size", "covered", "filled") for one in (wanted, found)
            )
            assert found.rows() == wanted.select(found.columns[2:]).insert_column(
                0, found["patient"]).insert_column(1, found["time"]).rows()  # fmt: skip
        else:
            assert found.select(STEP).rows() == wanted.select(STEP).rows()


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "json", "jsonl.gz"])
def test_steps_of_parts_equal_steps_of_the_whole(tmp_path, ending, monkeypatch):
    """Sets and labels as other commands write them, whatever the file; formulas are none."""
    monkeypatch.setattr(series_tables.GroupedTable.parts, "__defaults__", (100,))
    odd = {"sun": "=sun()", "rain": "a|b"}
    ROWS.with_columns(pl.col("state").replace(odd)).write_parquet(tmp_path / "odd.parquet")
    steps, output = tmp_path / "steps.parquet", tmp_path / f"steps.{ending}"
    for path in (steps, output):
        _, _, notes = backtest_groups(
            str(tmp_path / "odd.parquet"), Columns(), Settings(), Grouping("patient", "time"),
            Spreading(), 1, Rolling(start=0.9), path,
        )  # fmt: skip
    assert any("apostrophe" in note for note in notes) == ending.startswith(("csv", "tsv"))
    wanted = pl.read_parquet(steps).to_dicts()
    write_frames([wanted], whole := tmp_path / f"whole.{ending}")
    assert len(wanted) == 36
    assert {label for row in wanted for label in row["set"]} == {"=sun()", "a|b"}
    if ending == "json":
        assert json.loads(output.read_text()) == json.loads(whole.read_text())
    elif ending == "csv":
        assert output.read_bytes() == whole.read_bytes()
    else:
        assert gzip.decompress(output.read_bytes()) == gzip.decompress(whole.read_bytes())


def test_counter_is_recognised_in_any_file_order(tmp_path):
    counted = ROWS.with_columns(pl.col("time").alias("n") + 1)
    counted.write_parquet(tmp_path / "sorted.parquet")
    shuffled = counted.sample(fraction=1.0, shuffle=True, seed=1)
    shuffled.write_parquet(tmp_path / "shuffled.parquet")
    (one, said, notes), (other, *_) = (
        judged(tmp_path / f"{name}.parquet") for name in ("sorted", "shuffled")
    )
    assert list(said["observed"]) == ["thing"]
    assert "'n' counts the rows" in notes[0]
    key = lambda found: sorted(map(repr, found.records))  # noqa: E731
    assert key(one) == key(other)


@pytest.mark.slow_cases("own")
@pytest.mark.parametrize("series", ["others", "own"])
def test_a_classifier_takes_one_column_as_it_takes_several(ask, table, series):
    size = () if series == "others" else ("--train-size", "0.8")
    for command in ("backtest", "predict"):
        more = ("--horizon", "1") if command == "predict" else ("--start", "0.9")
        done = ask(
            command, table, *OPTIONS, "--no-check", "--series", series, *more, *size,
            "--classifier", "logistic",
        )  # fmt: skip
        assert done.returncode == 0, done.err


@pytest.mark.parametrize(
    ("symmetry", "promise"),
    [
        ("published", "nothing is guaranteed: symmetry='published' is not exact"),
        (
            "departures",
            "exact for each series, given its present state, averaged over its visits, by its own "
            "history",
        ),
        ("spaced", "exact for each series, given its last state, by its own history"),
    ],
)
def test_guarantee_is_that_of_the_symmetry(ask, table, symmetry, promise):
    how = (*OPTIONS, "--no-check", "--symmetry", symmetry, "--json")
    for command in (("predict", "--horizon", "1"), ("backtest", "--windows", "3")):
        done = ask(command[0], table, *command[1:], *how)
        assert json.loads(done.out)["promise"] == promise


def test_no_window_gives_an_empty_table(ask, tmp_path):
    ROWS.filter(time=0).write_csv(tmp_path / "short.csv")
    for ending in ("csv", "json", "parquet"):
        done = ask("backtest", "short.csv", *OPTIONS, "-o", f"steps.{ending}")
        wanted = "cannot tell: no series has a window; 6 too short for a window"
        assert wanted in " ".join(done.out.split())
    assert (tmp_path / "steps.csv").read_text().startswith("patient,time,row,window,")
    assert json.loads((tmp_path / "steps.json").read_text()) == []
    assert len(pl.read_parquet(tmp_path / "steps.parquet")) == 0


def write(folder, rows):
    rows.write_parquet(folder / "odd.parquet")
    return folder / "odd.parquet"


def tied(rows):
    return rows.with_columns(time=pl.when(pl.col("time") == 1).then(pl.lit(0)).otherwise("time"))


def nameless(rows):
    return rows.with_columns(patient=pl.when(pl.col("time") != 7).then("patient"))


def untimed(rows):
    return rows.with_columns(time=pl.when(pl.col("time") != 7).then("time"))


BROKEN = {
    "ties": (tied, (), "series 'p0'; it must tell which came first"),
    "no name": (nameless, (), "column 'patient' is empty in 6 rows; name the series of each row"),
    "no time": (untimed, (), "is missing (None); every row needs a place"),
    "no group": (None, ("--group-column", "who"), "has no column 'who'; it has patient, time"),
    "no order": (None, ("--order-column", "when"), "has no column 'when'; it has patient, time"),
    "state": (None, ("--group-column", "state"), "is the state and cannot name the series"),
    "order": (None, ("--order-column", "patient"), "has another role already, and cannot be the"),
    "unknown": (None, ("--states", "sun"), "leaves out 'rain', which rows have"),
    "jobs": (None, ("--jobs", "0"), "--jobs must be a whole number"),
    "share": (None, ("--series", "others", "--train-size", "0.5"), "leave --train-size out"),
    "fixed": (None, ("--series", "all"), "needs a fixed model; set --train-size 0.5"),
    "lag": (None, ("--lag", "2", "--horizon", "2"), "leaves none of 2 steps to predict"),
    "levels": (
        None,
        ("--confidence", "0.8", "--confidence", "sun=0.9,0.8"),
        "need a run of their own",
    ),
    "twice": (None, ("--confidence", "0.8", "--confidence", "0.8"), "is given twice"),
    "one file": (None, ("-o", "a.csv", "--by-series", "a.csv"), "is the file of --output"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_errors_in_tables_of_series_are_one_sentence(ask, tmp_path, name):
    change, more, message = BROKEN[name]
    path = write(tmp_path, ROWS if change is None else change(ROWS))
    done = ask("backtest", path, *OPTIONS, *more)
    assert done.returncode == 2
    said = " ".join(done.err.split())
    assert message in said, said
    assert len(done.err.strip().splitlines()) <= 3


def test_options_for_series_need_series(ask, table):
    for more in (["--order-column", "time"], ["--jobs", "2"], ["--series", "others"]):
        done = ask("backtest", table, *more)
        assert done.returncode == 2
        assert f"{more[0]} is for many series; name the column of series with" in done.err


def test_odd_series_are_noted(tmp_path):
    """One row; none with a state; rows interleaved and no order; mixed kinds of names in CSV."""
    odd = pl.DataFrame(
        {"patient": ["7", "x"], "time": [0, 0], "state": ["sun", None], "thing": "hat"}
    )
    mixed = pl.concat([ROWS.cast({"time": pl.Int64}), odd.cast({"time": pl.Int64})])
    mixed = mixed.sort("time", maintain_order=True)
    mixed.write_csv(tmp_path / "odd.csv")
    found, _, notes = judged(tmp_path / "odd.csv", order=None)
    assert {one.series: one.note for one in found if one.note} == {
        "7": "too short for a window",
        "x": "no row has a state",
    }
    assert "; 1 too short for a window; of 1 no row has a state" in found.verdict()
    assert any("interleaved" in note for note in notes)
    assert len(found.judged) == 6


def test_series_are_simulated_into_a_file_or_a_folder(ask, tmp_path):
    done = ask("simulate", "towns.parquet", "--series", "12", "--rows", "30", "--new", "2")
    assert done.returncode == 0, done.err
    rows = pl.read_parquet(tmp_path / "towns.parquet")
    assert (len(rows), rows["series"].n_unique(), rows["state"].null_count()) == (360, 12, 24)
    assert ask("simulate", "towns", "--series", "12", "--rows", "30", "--new", "2").returncode == 0
    assert pl.read_parquet(tmp_path / "towns/*.parquet").equals(rows)
    again = ask("simulate", "towns", "--series", "12", "--rows", "30")
    assert again.returncode == 2
    assert "exists already" in again.err
    done = ask("backtest", "towns", "--group-column", "series", "--order-column", "day")
    assert "168 windows in 12 series" in done.out


def test_new_rows_of_each_series_have_sets(ask, tmp_path):
    """Below its labelled rows, with a gap in the middle of one; joined by series and time."""
    late = {"p0": 3, "p1": 0, "p4": 1}
    missing = pl.col("patient").replace_strict(late, default=0, return_dtype=pl.Int64)
    rows = ROWS.with_columns(
        state=pl.when(
            (pl.col("time") < 60 - missing)
            & ~((pl.col("patient") == "p4") & (pl.col("time") == 20))
        ).then("state")
    )
    rows.sample(fraction=1.0, shuffle=True, seed=3).write_csv(tmp_path / "rows.csv")
    done = ask("predict", "rows.csv", *OPTIONS, "--series", "others", "-o", "sets.parquet")
    assert done.returncode == 0, done.err
    found = pl.read_parquet(tmp_path / "sets.parquet").sort("patient", "time")
    assert found.select("patient", "time").rows() == [
        ("p0", 57), ("p0", 58), ("p0", 59), ("p4", 59),
    ]  # fmt: skip
    known = rows.filter(pl.col("state").is_not_null()).sort("patient", "time")
    runs = known.select("patient", gap=(pl.col("patient") == "p4") & (pl.col("time") > 20))
    lengths = runs.group_by("patient", "gap", maintain_order=True).len()["len"].to_list()
    cp = grouped(series="others", random_state=0).fit(
        known["thing"], known["state"].to_list(), known["patient"].to_list(), lengths=lengths
    )
    new = rows.filter(pl.col("state").is_null() & (pl.col("patient") == "p0"))["thing"].to_list()
    assert found["set"].to_list()[:3] == list(map(list, cp.predict_set(new, group="p0").steps))
    again = ask("predict", "rows.csv", *OPTIONS, "--horizon", "2", "-o", "sets.parquet", "--json")
    assert len(json.loads(again.out)["steps"]) == 12


@pytest.mark.parametrize("how", [("own", "30"), ("all", "1"), ("first", "1")])
def test_train_size_may_be_a_number_where_sets_are_predicted(ask, tmp_path, how):
    known = pl.when(pl.col("time") < 58).then("state")
    ROWS.with_columns(state=known).write_csv(tmp_path / "rows.csv")
    series, size = how
    done = ask("predict", "rows.csv", *OPTIONS, "--series", series, "--train-size", size)
    assert done.returncode == 0, done.err


def test_series_without_any_state_is_refused(ask, tmp_path):
    rows = ROWS.with_columns(state=pl.when(pl.col("patient") != "p2").then("state"))
    path = write(tmp_path, rows)
    done = ask("predict", path, *OPTIONS, "--horizon", "1")
    assert done.returncode == 2
    assert "series 'p2' has no row with a state" in done.err
    done = ask("predict", path, "other.csv", *OPTIONS)
    assert "with --group-column there is one file" in done.err


@pytest.mark.slow
def test_a_report_begins_with_all_series_and_shows_one_in_full(ask, tmp_path):
    late = pl.when(pl.col("time") < 58).then(pl.col("state"))  # two new rows of each
    rows = ROWS.with_columns(state=late).sample(fraction=1.0, shuffle=True, seed=3)
    rows.write_csv(tmp_path / "table.csv")
    few = ("--windows", 9, "--no-check", "--json")
    said = json.loads(ask("report", "table.csv", *OPTIONS, "--show", "p4", *few).out)
    labelled = ROWS.filter(pl.col("time") < 58)
    found = backtest_series(
        grouped(random_state=0), labelled["thing"], labelled["state"], labelled["patient"],
        windows=9,
    )  # fmt: skip
    assert said["series"]["verdict"] == found.verdict()
    listed = {one["series"]: one for one in said["series"]["listed"]}
    assert {one.series: one.coverage for one in found} == {
        name: one["coverage"] for name, one in listed.items()
    }
    assert said["series"]["listed"][0]["series"] == found.worst.series
    assert (said["series"]["shown"], said["labelled"], said["new"]["steps"]) == ("p4", 58, 2)
    # The numbers of the page are those of the series alone.
    rows.filter(patient="p4").sort("time").drop("patient", "time").write_csv(tmp_path / "p4.csv")
    alone = json.loads(ask("report", "p4.csv", *few, "-o", "p4.html").out)
    assert said["new"] == alone["new"]
    assert said["backtest"] == alone["backtest"]
    done = ask("report", "table.csv", *OPTIONS, "--series", "others", *few[:3], "--force")
    assert done.out.startswith(("kept", "short"))
    assert "written: " in done.out
    for more, words in (
        (("p4.csv",), "leave out the second file"),
        (("--show", "p9"), "there is no such series; there are 'p0', 'p1',"),
        (("--show", "p4", "--series", "all"), "--show requires --series own"),
        (("--lag", 1, "--horizon", 1), "leaves none of 1 steps to predict"),
    ):
        wrong = ask("report", "table.csv", *more, *OPTIONS, *few)
        assert wrong.returncode == 2
        assert words in wrong.err


def test_each_row_of_a_stream_goes_to_the_monitor_of_its_series(ask, tmp_path):
    rows = ROWS.filter(pl.col("patient").is_in(["p0", "p1"])).sort("time", "patient").drop("time")
    rows = rows[:-30]  # one row is that of p0, the next that of p1
    rows.write_csv(tmp_path / "stream.csv")
    rows.filter(patient="p1").drop("patient").write_csv(tmp_path / "p1.csv")
    how = ("--first", 30, "--lag", 2, "--json")
    done = ask("monitor", "stream.csv", "--group-column", "patient", *how)
    told = [json.loads(line) for line in done.out.splitlines()]
    assert [one["row"] for one in told] == [*range(61, 91)]
    assert {one["series"] for one in told if one["row"] % 2} == {"p0"}
    own = [one for one in told if one["series"] == "p1"]
    alone = [json.loads(line) for line in ask("monitor", "p1.csv", *how).out.splitlines()]
    for one, other in zip(own, alone, strict=True):
        assert one.pop("series") == "p1"
        assert one.pop("row") == 2 * other.pop("row")
        late, other_late = one.pop("labelled_row"), other.pop("labelled_row")
        assert late == (None if other_late is None else 2 * other_late)
        assert one == other
    shown = ask("monitor", "stream.csv", "--group-column", "patient", *how[:2])
    assert "90 rows of 2 series" in shown.out
    assert "any false alarm: at most 0.05" in " ".join(shown.out.split())
    for more, words in ((("--save", "on.definetti"), "--save is for one series"),
                        (("--first", 60), "no series has 60 labelled rows")):  # fmt: skip
        wrong = ask("monitor", "stream.csv", "--group-column", "patient", *more)
        assert wrong.returncode == 2
        assert words in wrong.err


def test_alarms_of_all_series_together_keep_their_level():
    asked = StreamOptions("-", Columns(), Settings(), 2, 0, {"alpha": 0.05}, "patient")
    stream = StreamMonitor(asked)
    levels = [stream._open(str(k)).options.watching["alpha"] for k in range(1000)]
    assert 0.0499 < sum(levels) < 0.05


def leave_new(rows, late):
    """Return rows of which the last few of each series have no state."""
    missing = pl.col("patient").replace_strict(late, default=0, return_dtype=pl.Int64)
    last = pl.col("time").max().over("patient")
    return rows.with_columns(state=pl.when(pl.col("time") <= last - missing).then("state"))


def predict_in_python(rows, series="own", **how):
    """Return the p-values of each new step, by series, as Python has them."""
    rows = rows.sort("patient", "time")
    known = rows.filter(pl.col("state").is_not_null())
    cp = grouped(series=series, random_state=0, **how).fit(
        known["thing"], known["state"].to_list(), groups=known["patient"].to_list()
    )
    found = {}
    for name in cp.estimators_:
        own = rows.filter((pl.col("patient") == name) & pl.col("state").is_null())
        if len(own):
            s = cp.estimators_[name].predict_p(own["thing"].to_list())
            found[name] = [
                dict(zip(s.states, row, strict=True)) for row in s.step_p_values.tolist()
            ]
    return found


def read_p_values(steps):
    found = {}
    for row in steps:
        numbers = {name[2:]: p for name, p in row.items() if name.startswith("p_")}
        found.setdefault(row["patient"], []).append(numbers)
    return found


@pytest.mark.parametrize("series", ["own", "others"])
@pytest.mark.parametrize(
    "late",
    [{"p0": 3}, {"p0": 3, "p1": 1}, {"p0": 1, "p1": 2, "p4": 3}, {"p3": 10, "p4": 2}],
)
def test_each_series_is_predicted_as_python_does(ask, tmp_path, series, late):
    """Whether a model is fixed on half of the rows is decided for each by itself."""
    rows = leave_new(ROWS, late)
    rows.write_csv(tmp_path / "rows.csv")
    done = ask("predict", "rows.csv", *OPTIONS, "--series", series, "--json")
    assert done.returncode == 0, done.err
    assert read_p_values(json.loads(done.out)["steps"]) == predict_in_python(rows, series)
    assert "--train-size" not in done.err


def test_only_series_that_need_it_have_a_fixed_model(ask, tmp_path):
    rows = leave_new(ROWS, {"p0": 3, "p1": 1, "p2": 2})
    rows.write_csv(tmp_path / "rows.csv")
    done = ask("predict", "rows.csv", *OPTIONS, "--horizon", "3", "--json")
    assert done.returncode == 0, done.err
    assert "--train-size 0.5) of 'p1', 'p2'" in done.err
    found = read_p_values(json.loads(done.out)["steps"])
    assert found["p0"] == predict_in_python(rows)["p0"]
    half = grouped(train_size=0.5, random_state=0)
    known = rows.filter(pl.col("state").is_not_null())
    half.fit(known["thing"], known["state"].to_list(), groups=known["patient"].to_list())
    own = rows.filter((pl.col("patient") == "p1") & pl.col("state").is_null())["thing"].to_list()
    s = half.estimators_["p1"].predict_set(own, horizon=3)
    assert found["p1"] == [
        dict(zip(s.states, row, strict=True)) for row in s.step_p_values.tolist()
    ]


def test_series_of_which_all_steps_may_be_wrong_are_left_out(ask, tmp_path):
    leave_new(ROWS, {"p0": 3, "p1": 1}).write_csv(tmp_path / "rows.csv")
    options = (*OPTIONS, "--guarantee", "errors", "--json")
    done = ask("predict", "rows.csv", *options, "--max-errors", "1")
    assert done.returncode == 0, done.err
    assert [row["patient"] for row in json.loads(done.out)["steps"]] == ["p0"] * 3
    assert "--max-errors 1 new rows or fewer have no set: 'p1'" in done.err
    done = ask("predict", "rows.csv", *options, "--max-errors", "3")
    assert done.returncode == 2
    assert "nothing is guaranteed" in done.err


def test_new_rows_of_all_series_after_holes_are_refused(ask, tmp_path):
    rows = leave_new(ROWS, dict.fromkeys(ROWS["patient"].unique().to_list(), 3))
    late = pl.col("state").is_null()
    rows.with_columns(time=pl.col("time") + 20 * late).write_csv(tmp_path / "rows.csv")
    for more in ((), ("--horizon", "2")):
        done = ask("predict", "rows.csv", *OPTIONS, *more)
        assert done.returncode == 2
        assert "new rows after a hole in time have no set, in 'p0', 'p1'" in done.err
