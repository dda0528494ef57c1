"""Odd tables of series, and every command that takes them: an answer, or one clear sentence."""

import itertools
import json
import shlex
import subprocess
import sys

import polars as pl
import pytest
from typer.testing import CliRunner

from definetti.cli import app, series_tables
from definetti.cli.errors import is_out_of_memory
from definetti.cli.options import Columns, Grouping, Rolling, Settings, Spreading
from definetti.cli.series import backtest_groups

SKY = "aababbaaabbabababbbaabbaabababbaabbbaaab"
ROWS = pl.DataFrame(
    [
        {"who": who, "when": k, "seen": "xy"[(k * k + ord(who)) % 7 % 2], "state": SKY[k - 3 * j]}
        for j, who in enumerate("pqr")
        for k in range(40)
    ]
).with_columns(state=pl.when(pl.col("when") < 38).then("state"))
COMMANDS = {
    "predict": (),
    "backtest": ("--windows", "5"),
    "check": ("--resamples", "9"),
    "monitor": ("--first", "20", "--observation-columns", "seen"),
    "report": ("--windows", "2", "--no-check"),
}
SORTED = ["predict", "backtest", "check", "report"]  # of a stream the rows come as they come
FINE: dict[str, str] = dict.fromkeys(COMMANDS, "")


def some(change, patient):
    return pl.when(pl.col("who") == patient).then(change)


def add(**row):
    return pl.concat([ROWS, pl.DataFrame([row], schema=ROWS.schema)])


TIES = "order is the same in rows 41 and 42 of the series 'q'; it must tell which came first"
NAMELESS = "column 'who' is empty in"
NUMBERS = "column 'when' has numbers in text, which sort as '10' before '9'; write numbers alone"
KIND = "write them alike, all as text or all as numbers"
# A table, and a word of what is said: of it, where it is refused, else in notes or in the answer.
ODD = {
    "good": (ROWS, FINE),
    "one row": (
        add(who="s", when=0, seen="x", state="a"),
        {**FINE, "backtest": "1 too short for a window", "monitor": "fewer than 20 rows have come"},
    ),
    "one row without a state": (
        add(who="s", when=0, seen="x", state=None),
        {
            **FINE,
            "predict": "! series 's' has no row with a state",
            "backtest": "of 1 no row has a state",
        },
    ),
    "interleaved": (ROWS.sort("when", "who"), FINE),
    "not sorted": (ROWS.sample(fraction=1.0, shuffle=True, seed=0), FINE),
    "ties": (
        ROWS.with_columns(when=some(pl.col("when").clip(1), "q").otherwise("when")),
        dict.fromkeys(SORTED, f"! {TIES}"),
    ),
    "order in text": (
        ROWS.with_columns(when=some(pl.format("t{}", "when"), "q").otherwise("when")),
        dict.fromkeys(SORTED, f"! {NUMBERS}"),
    ),
    "order in words": (
        ROWS.with_columns(when=pl.format("t{}", pl.col("when") + 10)),
        {"backtest": "sorted by column 'when' as text, from 't10' to 't49'"},
    ),
    "dates": (
        ROWS.with_columns(when=pl.date(2024, 1, 1) + pl.duration(days=pl.col("when"))), FINE,
    ),
    "a state of one series alone": (
        ROWS.with_columns(state=some(pl.col("state").replace("b", "c"), "r").otherwise("state")),
        FINE,
    ),
    "one state only": (
        ROWS.with_columns(state=some(pl.col("state").replace("b", "a"), "r").otherwise("state")),
        FINE,
    ),
    "no name": (
        ROWS.with_columns(who=pl.when(pl.col("when") != 3).then("who")),
        dict.fromkeys(COMMANDS, f"! {NAMELESS}"),
    ),
    "numbers that look alike": (
        ROWS.with_columns(pl.col("who").replace({"p": "1", "q": "01", "r": "1.0"})),
        {**FINE, "backtest": "in 3 series", "monitor": "of 3 series"},
    ),
    "text and numbers": (
        ROWS.with_columns(pl.col("who").replace({"p": "1", "q": "2.5"})),
        {**FINE, "backtest": "in 3 series", "monitor": "of 3 series"},
    ),
    "columns named as ours": (
        ROWS.rename({"who": "set", "when": "row"}),
        dict.fromkeys(SORTED, ""),
    ),
}  # fmt: skip
CASES = [
    pytest.param(name, command, marks=[pytest.mark.slow] if command == "report" else [])
    for name, (_, said) in ODD.items()
    for command in said
]


def ask(command, path, rows, *more):
    group, order = ("set", "row") if "set" in rows.columns else ("who", "when")
    sort = [] if command == "monitor" else ["--order-column", order]
    done = CliRunner().invoke(
        app, [command, str(path), "--group-column", group, *sort, *COMMANDS[command], *more]
    )
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


@pytest.mark.slow_cases("order in text-check")
@pytest.mark.parametrize(("name", "command"), CASES)
def test_odd_table_is_answered_or_refused_in_a_sentence(tmp_path, monkeypatch, name, command):
    monkeypatch.chdir(tmp_path)
    rows, said = ODD[name]
    rows.write_csv(tmp_path / "odd.csv")
    done = ask(command, "odd.csv", rows)
    told = " ".join((done.stderr + done.stdout).replace("│", " ").split())
    refused = said[command].startswith("! ")
    assert said[command].removeprefix("! ") in told, told
    assert done.exit_code == (2 if refused else 0), told
    if refused:
        assert len(done.stderr.strip().splitlines()) == 1
        assert done.stdout == ""


@pytest.mark.parametrize("command", ["predict", "backtest"])
def test_key_columns_named_as_results_are_kept(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    rows = ODD["columns named as ours"][0]
    rows.write_csv(tmp_path / "odd.csv")
    for _ in range(2):  # and the file is known as one that the command wrote
        done = ask(command, "odd.csv", rows, "-o", "found.parquet")
        assert done.exit_code == 0, done.stderr
    found = pl.read_parquet(tmp_path / "found.parquet")
    assert set(found["file_set"]) == set("pqr")
    assert found["set"].dtype == pl.List(pl.String)


@pytest.mark.parametrize(
    ("who", "message"),
    [
        (pl.concat_list("who"), "column 'who' has List(String), which names no series"),
        (pl.struct("who"), "which names no series; name them by text or whole numbers"),
        (pl.lit(float("nan")), f"{NAMELESS} 120 rows"),
        (pl.lit(" "), f"{NAMELESS} 120 rows"),
    ],
)
def test_what_names_no_series_is_refused(tmp_path, who, message):
    ROWS.with_columns(who=who).write_parquet(tmp_path / "odd.parquet")
    done = ask("backtest", tmp_path / "odd.parquet", ROWS)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())


@pytest.mark.parametrize("command", ["predict", "backtest", "check", "monitor"])
def test_names_of_several_kinds_in_json_are_refused(tmp_path, command):
    names = itertools.cycle([1, "1"])
    lines = [json.dumps({**row, "who": next(names)}) for row in ROWS.to_dicts()]
    (tmp_path / "odd.jsonl").write_text("\n".join(lines))
    done = ask(command, tmp_path / "odd.jsonl", ROWS)
    assert done.exit_code == 2
    assert f"column 'who' is \"1\" and row 1 is 1; {KIND}" in " ".join(done.stderr.split())


def test_a_state_of_one_series_is_known_to_all_whatever_their_parts(tmp_path, monkeypatch):
    """Or sets would depend on who happens to be read together."""
    ODD["a state of one series alone"][0].write_parquet(tmp_path / "odd.parquet")

    def judge():
        found, _, _ = backtest_groups(
            str(tmp_path / "odd.parquet"), Columns(), Settings(), Grouping("who", "when"),
            Spreading(), 1, Rolling(start=0.5),
        )  # fmt: skip
        return found[0].to_dict()

    wanted = judge()
    assert wanted["states"] == [3, 3, 3]
    monkeypatch.setattr(series_tables.GroupedTable.parts, "__defaults__", (10,))
    assert judge() == wanted


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_files_that_the_memory_allowed_cannot_map_are_refused_in_a_sentence(tmp_path):
    ROWS.write_parquet(tmp_path / "table.parquet")
    order = ["backtest", str(tmp_path), "--group-column", "who", "--order-column", "when"]
    limited = f"ulimit -v 1000000; exec {shlex.join([sys.executable, '-m', 'definetti', *order])}"
    done = subprocess.run(["sh", "-c", limited], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    [line] = done.stderr.strip().splitlines()
    assert "of address space, and 1.0 GB are allowed; raise the limit (ulimit -v)" in line


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(12, "Cannot allocate memory"),
        pl.exceptions.ComputeError("memory allocation of 80000000 bytes failed"),
        RuntimeError("can't start new thread"),
    ],
)
def test_out_of_memory_is_recognised_from_any_library(error):
    assert is_out_of_memory(error)
    assert not is_out_of_memory(ValueError("column 'memory' has no numbers"))
