"""What people take home: rows that can be joined, in the formats that are read, safe to open."""

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from definetti.cli import app
from definetti.cli.columns import split_labelled_rows
from definetti.cli.table_files import read_table
from definetti.cli.writing import ENDINGS

LABELS = ["=SUM(A1)", "+b", "-x", "@c", "'=d", "plain"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"when": f"2024-01-{k % 28 + 1:02d}", "who": f"p{k:03d}", "set": k % 2,
         "seen": "xyz"[k * k % 7 % 3], "stage": LABELS[(k**3 + k) % 29 % 6]}
        for k in range(80)
    ]  # fmt: skip
    frame = pl.DataFrame(rows)
    frame.write_parquet("rows.parquet")
    frame[:3].drop("stage").write_parquet("new.parquet")
    holes = frame.with_columns(
        pl.when(pl.int_range(80).is_in([20, 21, 55, 78, 79]))
        .then(None)
        .otherwise("stage")
        .alias("stage")
    )
    holes.write_parquet("holes.parquet")
    holes.write_csv("holes.csv")


def run(*arguments):
    done = CliRunner().invoke(app, [*map(str, arguments), "--state-column", "stage", "--no-check"])
    assert done.exit_code == 0, done.output
    return done


@pytest.mark.slow_cases(".jsonl")
@pytest.mark.parametrize("ending", ENDINGS)
def test_output_keeps_key_columns(ending):
    out = f"out{ending}"
    observed = ["--observation-columns", "seen"]
    for _ in range(2):  # and replaced, being ours
        done = run("predict", "rows.parquet", "new.parquet", "-o", out, "--confidence", 0.5,
                   "--confidence", 0.9, *observed)  # fmt: skip
    found = read_table(out)
    assert found.columns[:8] == [
        "when",
        "who",
        "file_set",
        "step",
        "confidence",
        "set",
        "size",
        "best",
    ]
    assert found["who"].to_list() == ["p000", "p001", "p002"] * 2
    assert found["confidence"].to_list() == [0.5] * 3 + [0.9] * 3
    assert set(found["best"]) <= set(LABELS)  # as they were, whatever stands in the file
    assert ("so that no spreadsheet" in done.stderr) == ending.startswith((".csv", ".tsv"))


@pytest.mark.slow_cases(".csv", ".jsonl.gz")
@pytest.mark.parametrize("ending", [".csv", ".jsonl.gz", ".parquet"])
def test_backtest_writes_a_row_per_step(ending):
    out = f"out{ending}"
    for _ in range(2):
        done = run("backtest", "rows.parquet", "-o", out, "--horizon", 2, "--json",
                   "--confidence", 0.6, "--observation-columns", "seen")  # fmt: skip
    found, told = read_table(out), json.loads(done.stdout)
    own = ["row", "window", "confidence", "truth", "set", "size", "covered", "filled", "p_value"]
    assert found.columns == ["when", "who", "file_set", *own]
    rows = pl.read_parquet("rows.parquet")
    joined = found.join(rows, on="who", how="left")
    assert joined["truth"].to_list() == joined["stage"].to_list()
    assert found["row"].to_list() == [int(who[1:]) + 1 for who in found["who"]]
    ours = told["methods"]["definetti"]
    known = told["windows"] - ours["unseen"]
    assert found["covered"].sum() / 2 == pytest.approx(ours["coverage"] * known)
    assert told["verdict"] == ours["verdict"]["words"]
    assert told["model"].startswith("frequencies for seen")


def test_escaped_labels_are_read_back():
    pl.read_parquet("rows.parquet").write_csv("foreign.csv")  # by another program: as they are
    found = read_table("foreign.csv", "stage")
    assert set(found["stage"]) == set(LABELS)
    run("backtest", "rows.parquet", "-o", "out.csv", "--observation-columns", "seen")
    text = Path("out.csv").read_text()
    fields = [field for line in text.splitlines()[1:] for field in line.split(",")]
    assert not [one for one in fields if one[:1] in ("=", "+", "@")]
    assert set(read_table("out.csv", "truth")["truth"]) <= set(LABELS)


def test_a_column_that_names_series_is_not_observed():
    frame = pl.DataFrame(
        {"who": ["Ann"] * 20 + ["Bob"] * 20 + ["Cleo"] * 20, "seen": list("xyz") * 20,
         "part": ["a"] * 30 + ["b"] * 30, "stage": list("abcab") * 12}
    )  # fmt: skip
    table = split_labelled_rows(frame, "rows", state="stage", observed=None)
    assert list(table.columns) == ["seen", "part"]  # of two values each may say something
    assert "'who' has each value in consecutive rows" in table.notes[0]
    assert "--group-column" in table.notes[0]
    table = split_labelled_rows(frame, "rows", state="stage", observed="who,seen")
    assert list(table.columns) == ["who", "seen"]


def test_unlabelled_rows_are_gaps():
    table = split_labelled_rows(
        pl.read_parquet("holes.parquet"), "holes.parquet", state="stage", observed="seen"
    )
    assert table.lengths == [20, 33, 22]
    assert (len(table.states), table.new_rows) == (75, 2)
    assert [table.rows[k] for k in (0, 19, 20, 53, 74)] == [0, 19, 22, 56, 77]
    assert "3 rows have no stage before the last label, the first in row 21" in table.notes[-1]
    assert "compared with the 22 rows after the last gap" in table.notes[-1]
    assert table.keys["who"].to_list()[20] == "p022"
    assert table.new_keys["who"].to_list() == ["p078", "p079"]


@pytest.mark.slow_cases("report")
@pytest.mark.parametrize("command", ["predict", "backtest", "report", "check", "fit", "monitor"])
def test_every_command_accepts_gaps(command):
    more = {"report": ["-o", "r.html"], "fit": ["-o", "m.definetti"], "monitor": ["--first", 30],
            "check": ["--resamples", 9], "backtest": ["-o", "out.csv"]}  # fmt: skip
    file = "holes.csv" if command == "monitor" else "holes.parquet"  # a stream is text
    arguments = [command, file, "--state-column", "stage",
                 "--observation-columns", "seen", *more.get(command, [])]  # fmt: skip
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    assert "these rows are gaps" in done.stderr
    if command == "backtest":
        found = read_table("out.csv")
        whole = pl.read_parquet("holes.parquet").with_row_index("row", 1)
        joined = found.join(whole.select("row", "stage"), on="row", how="left")
        assert joined["truth"].to_list() == joined["stage"].to_list()
        assert not set(found["row"]) & {56, 57, 79, 80}  # gaps, and what follows one at once
