"""Commands run as processes, on good files and on broken ones."""

import gzip
import json

import numpy as np
import polars as pl
import pytest
from tests.cli import forked

from definetti import ConformalHMM
from definetti.simulate import weather

Y, X = weather(203, random_state=4)


def run(*arguments, stdin=b"", code=0):
    done = forked.run(arguments, stdin)
    assert done.returncode == code, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    return done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def folder(tmp_path):
    past = pl.DataFrame({"seen": Y[:200], "sky": X[:200]})
    past.write_csv(tmp_path / "past.csv")
    pl.DataFrame({"seen": Y[200:]}).write_csv(tmp_path / "new.csv")
    below = pl.DataFrame({"seen": Y, "sky": [*X[:200], None, None, None]})
    below.write_csv(tmp_path / "both.csv")
    return tmp_path


def expected():
    return ConformalHMM(random_state=0).fit(Y[:200], X[:200]).predict_set(Y[200:])


def test_predict_equals_the_estimator(folder):
    out, _ = run(
        "predict", folder / "past.csv", folder / "new.csv", "--state-column", "sky", "--json"
    )
    found, s = json.loads(out), expected()
    assert [tuple(one["sequence"]) for one in found["sequences"]] == s.sequences
    assert [one["p_value"] for one in found["sequences"]] == s.p_values.tolist()
    assert [row["set"] for row in found["steps"]] == [list(step) for step in s.steps]
    assert (found["exact"], found["horizon"], found["labelled_rows"]) == (True, 3, 200)


@pytest.mark.slow
def test_every_file_format_gives_the_same_sets(folder):
    state = ("--state-column", "sky", "--json")
    first, _ = run("predict", folder / "both.csv", *state)
    table = pl.read_csv(folder / "both.csv")
    table.write_parquet(folder / "both.parquet")
    table.write_ndjson(folder / "both.jsonl")
    table.write_csv(folder / "both.tsv", separator="\t")
    (folder / "both.csv.gz").write_bytes(gzip.compress((folder / "both.csv").read_bytes()))
    for name in ("both.parquet", "both.jsonl", "both.tsv", "both.csv.gz"):
        out, _ = run("predict", folder / name, *state)
        assert out == first, name
    out, _ = run("predict", "-", *state, stdin=(folder / "both.csv").read_bytes())
    assert out == first


@pytest.mark.parametrize("ending", ["csv", "json", "parquet", "jsonl", "tsv"])
def test_predict_writes_a_row_per_step(folder, ending):
    output = folder / f"sets.{ending}"
    run("predict", folder / "both.csv", "--state-column", "sky", "-o", output)
    readers = {"csv": pl.read_csv, "parquet": pl.read_parquet, "jsonl": pl.read_ndjson}
    read = readers.get(ending, lambda path: pl.read_csv(path, separator="\t"))
    rows = json.loads(output.read_text()) if ending == "json" else read(output).to_dicts()
    s = expected()
    written = "|".join if ending in ("csv", "tsv") else list  # the others have lists
    assert [row["set"] for row in rows] == [written(step) for step in s.steps]
    assert rows[0]["p_sun"] == pytest.approx(s.step_p_values[0][s.states.index("sun")])
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


@pytest.mark.slow
def test_long_horizons_and_other_guarantees(folder):
    run("simulate", folder / "long.csv", "--rows", 900, "--new", 40, "--world", "sensors")
    out, err = run("predict", folder / "long.csv", "--guarantee", "steps", "--json")
    assert len(json.loads(out)["steps"]) == 40
    assert "fixed on the first half" in err
    out, err = run("predict", folder / "long.csv", "--horizon", 15)
    assert "fixed on the first half" in err
    assert "heat (float64)" in out


def test_backtest_equals_evaluate(folder):
    out, _ = run(
        "backtest", folder / "past.csv", "--state-column", "sky", "--confidence", 0.8, "--json"
    )
    found = json.loads(out)["methods"]["definetti"]
    cp = ConformalHMM(confidence_level=0.8, states=list(dict.fromkeys(X[:200])), random_state=0)
    e = cp.fit(Y[:100], X[:100]).evaluate(Y[100:200], X[100:200], horizon=1)
    assert found["coverage"] == e.coverage
    assert found["mean_size"] == e.size
    assert found["low"] <= e.coverage <= found["high"]
    assert sum(one["windows"] for one in found["by_last_state"].values()) == 100
    assert sum(one["windows"] for one in found["over_time"]) == 100
    text, _ = run("backtest", folder / "past.csv", "--state-column", "sky", "--windows", 20)
    assert "ends in sun" in text


@pytest.mark.slow
def test_levels_by_state(folder):
    level = {"rain": 0.95, None: 0.6}
    ask = ("--state-column", "sky", "--confidence", "rain=0.95,0.6")
    out, _ = run("predict", folder / "both.csv", *ask, "--json")
    found = json.loads(out)
    s = ConformalHMM(confidence_level=level, random_state=0).fit(Y[:200], X[:200])
    s = s.predict_set(Y[200:])
    assert [tuple(one["sequence"]) for one in found["sequences"]] == s.sequences
    assert found["confidence_level"] == {"sun": 0.6, "rain": 0.95}
    text, _ = run("predict", folder / "both.csv", *ask)
    assert "≥ 0.95 where the last state is rain, ≥ 0.6 otherwise" in " ".join(text.split())
    out, _ = run("backtest", folder / "past.csv", *ask, "--windows", 40, "--json")
    assert json.loads(out)["methods"]["definetti"]["by_state"]["rain"]["promised"] == 0.95
    text, err = run("backtest", folder / "past.csv", *ask, "--windows", 40)
    assert "ends in rain (promised 0.95)" in text
    assert "one level for all states" in err
    run("report", folder / "both.csv", *ask, "--windows", 5, "-o", folder / "page.html")
    assert "95 % for rain, 60 % for all others" in (folder / "page.html").read_text("utf-8")
    _, err = run("predict", folder / "both.csv", *ask[:3], "fog=0.9,0.8", code=2)
    assert "--confidence has a level for 'fog'" in err


OBSERVED = "--observation-columns"
BROKEN = {
    "missing column": ("seen,sky\nhat,sun\n", ["--state-column", "stage"], "it has seen, sky"),
    "empty": ("", [], "is empty"),
    "no rows": ("seen,state\n", [], "no rows"),
    "ragged": ("seen,state\nhat,sun\nhat,sun,3\n", [], "row 2 has 3 fields and the header has 2"),
    "encoding": (b"seen,state\nhat,sun\nh\xe4t,sun\n", [], "row 2 has a byte, 0xe4, that is not"),
    "twice": ("a,a,state\n1,2,sun\n", [], "the header has 'a' twice"),
    "dates": ("when,state\n2020-01-01,sun\n2020-01-02,\n", [OBSERVED, "when"], "holds dates"),
    "no labels": ("seen,state\nhat,\nhat,\n", [], "is empty in every row"),
    "nothing new": ("seen,state\nhat,sun\nhat,rain\n", [], "there are no new rows"),
    "level": ("seen,state\nhat,sun\nhat,\n", ["--confidence", "1.5"], "--confidence must be"),
    "no level": ("seen,state\nhat,sun\nhat,\n", ["--confidence", "sun=x"], "'x' is no number"),
    "infinite": ("a,b,state\n1.5,2,sun\ninf,3,rain\n1,2,\n", [], "row 2, column 'a' is inf"),
    "ending": ("seen,state\nhat,sun\nhat,\n", ["-o", "sets.doc"], "files end in .csv"),
    "own state": ("a,state\n1,sun\n", [OBSERVED, "state"], "cannot be observed as well"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_mistakes_of_users_are_one_line(tmp_path, name):
    content, arguments, message = BROKEN[name]
    path = tmp_path / "broken.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    out, err = run("predict", path, *arguments, code=2)
    assert message in err
    assert out == ""


@pytest.mark.slow
def test_errors_name_file_or_option(tmp_path, folder):
    _, err = run("predict", tmp_path / "nowhere.csv", code=2)
    assert "no such file" in err
    _, err = run("backtest", folder / "past.csv", "--state-column", "sky", "--horizon", 150, code=2)
    assert "too few for a window of 150" in err
    _, err = run("simulate", tmp_path / "x.csv", "--world", "moon", code=2)
    assert "'weather', 'sensors'" in " ".join(err.replace("│", " ").split())
    _, err = run(
        "predict", folder / "both.csv", folder / "new.csv", "--state-column", "sky", code=2
    )
    assert "leave one of them out" in err


def test_column_of_one_value_is_noted(tmp_path):
    path = tmp_path / "flat.csv"
    path.write_text("a,b,state\n" + "1.5,2.5,sun\n1.5,0.5,rain\n" * 20 + "1.5,2.5,\n")
    _, err = run("predict", path)
    assert "left out as uninformative: 'a' has one value only" in err


@pytest.mark.slow_cases("100000")
@pytest.mark.parametrize("rows", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_predict_reads_many_rows(tmp_path, rows):
    rng = np.random.default_rng(0)
    x = np.cumsum(rng.random(rows) < 0.1) % 3
    frame = pl.DataFrame({"y": (x + (rng.random(len(x)) < 0.2)) % 3, "state": x})
    frame = frame.with_columns(
        state=pl.when(pl.int_range(pl.len()) < rows - 2).then(pl.col("state"))
    )
    frame.write_csv(tmp_path / "big.csv")
    out, _ = run("predict", tmp_path / "big.csv", "--json")
    assert json.loads(out)["labelled_rows"] == rows - 2
    out, _ = run("backtest", tmp_path / "big.csv", "--windows", 5, "--json")
    assert json.loads(out)["first_row"] == rows // 2


COMMANDS = ["predict", "backtest", "check", "simulate", "demo", "verify", "reproduce", "compare"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command):
    out, _ = run(command, "--help")
    assert "Example: definetti" in out
