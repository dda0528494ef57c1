"""Labels come back as they went in, whatever they look like."""

import csv
import json

import polars as pl
import pytest

from definetti.cli.columns import split_labelled_rows
from definetti.cli.table_files import read_table


def table(one, other, new=2, separator=","):
    """Rows in which two labels take turns, more or less, and new ones below."""
    rows = [f"{k % 3}{separator}{one if k % 3 else other}\n" for k in range(36)]
    return f"seen{separator}state\n" + "".join(rows) + f"1{separator}\n" * new


def states(tmp_path, text):
    (tmp_path / "x").write_text(text)
    return split_labelled_rows(
        read_table(str(tmp_path / "x"), "state"), "x", state="state", observed=None
    )


MARKUP = [("[/b]", "[/i]"), ("[bold]", "[red]x"), (":smile:", ":warning:"), ("\\[x]", "[[y]]")]


@pytest.mark.slow_cases("pair1", "pair2", "pair3")
@pytest.mark.parametrize("pair", MARKUP)
def test_markup_in_labels_is_printed_as_text(ask_all, tmp_path, pair):
    (tmp_path / "x.csv").write_text(table(*pair))
    (tmp_path / ":smile:").mkdir()
    found = ask_all({
        "predict": ("predict", "x.csv", "--confidence", 0.99, "-o", ":smile:/[b].csv"),
        "backtest": ("backtest", "x.csv", "-o", ":smile:/[i].csv"),  # both are run at once
    })  # fmt: skip
    for name, done in found.items():
        assert done.returncode == 0, done.err
        assert all(label in done.out for label in pair), (name, done.out)
        assert f"written: :smile:/{'[b]' if name == 'predict' else '[i]'}.csv" in done.out


@pytest.mark.parametrize("pair", [
    ("01", "1"), ("1", "2"), ("1.0", "1.50"), ("true", "false"), ("2020-01-01", "2020-1-2"),
    ("1e3", "1000"), ("inf", "-inf"), ("none", "Na"), ("é", "è"),
])  # fmt: skip
@pytest.mark.parametrize("separator", [",", "\t"])
def test_states_of_csv_are_text(tmp_path, pair, separator):
    found = states(tmp_path, table(*pair, separator=separator))
    assert (set(found.states), found.new_rows, found.notes) == (set(pair), 2, [])


def test_numeric_labels_of_csv_are_printed_as_text(ask, tmp_path):
    (tmp_path / "x.csv").write_text(table("01", "1", new=0))
    (tmp_path / "new.csv").write_text("seen,state\n1,7\n")
    done = ask("predict", "x.csv", "new.csv", "--json")
    assert json.loads(done.out)["states"] == ["1", "01"]


def test_typed_files_keep_what_they_hold(tmp_path):
    rows = [{"seen": k % 2, "state": k % 3} for k in range(12)]
    assert states(tmp_path, "\n".join(map(json.dumps, rows))).states[:3] == [0, 1, 2]
    pl.DataFrame(rows).write_parquet(tmp_path / "y")
    table = read_table(str(tmp_path / "y"), "state")
    assert split_labelled_rows(table, "y", state="state", observed=None).states[1] == 1
    flags = [{"seen": k % 2, "state": k % 3 == 0} for k in range(12)]
    assert states(tmp_path, json.dumps(flags)).states[:2] == [True, False]


def test_json_key_of_another_name_is_no_state(tmp_path):
    rows = [{"seen": k % 2, "state": f"s{k % 3}", "more": {"state": k}} for k in range(9)]
    (tmp_path / "x").write_text("\n".join(map(json.dumps, rows)))
    assert read_table(str(tmp_path / "x"), "state")["state"].to_list()[:2] == ["s0", "s1"]


def test_blanks_around_labels_are_noted(tmp_path):
    found = states(tmp_path, table("a", "a "))
    assert set(found.states) == {"a", "a "}
    assert "has 'a ' and 'a', which differ by blanks alone" in found.notes[0]


@pytest.mark.parametrize("word", ["NA", "N/A", "NaN", "nan", "null", " NA "])
def test_words_for_missing_values_are_no_state(tmp_path, word):
    found = states(tmp_path, table("sun", "rain", new=0) + f"1,{word}\n2,\n2,{word}\n")
    assert (set(found.states), found.new_rows) == ({"sun", "rain"}, 3)
    bare = word.strip()
    assert f"column 'state' has {bare!r} in 2 rows, read as empty" in found.notes[0]
    assert f"write it otherwise, '({bare})' say" in found.notes[0]


def test_bar_in_a_label_is_escaped(ask_all, tmp_path):
    (tmp_path / "x.csv").write_text(table("a|b", "c"))
    endings = ("csv", "tsv", "json", "jsonl", "parquet")
    level = ("--confidence", 0.99)
    found = ask_all({
        **{end: ("predict", "x.csv", *level, "-o", f"sets.{end}") for end in endings},
        "--json": ("predict", "x.csv", *level, "--json"),
    })  # fmt: skip
    sets = {
        "csv": pl.read_csv(tmp_path / "sets.csv")["set"].to_list(),
        "tsv": pl.read_csv(tmp_path / "sets.tsv", separator="\t")["set"].to_list(),
        "json": [row["set"] for row in json.loads((tmp_path / "sets.json").read_text())],
        "jsonl": pl.read_ndjson(tmp_path / "sets.jsonl")["set"].to_list(),
        "parquet": pl.read_parquet(tmp_path / "sets.parquet")["set"].to_list(),
        "--json": [row["set"] for row in json.loads(found["--json"].out)["steps"]],
    }
    lists = sets["--json"]
    assert ["a|b"] in lists or ["a|b", "c"] in lists or ["c", "a|b"] in lists
    assert sets["json"] == sets["jsonl"] == sets["parquet"] == lists
    written = ["|".join(x.replace("|", r"\|") for x in labels) for labels in lists]
    assert sets["csv"] == sets["tsv"] == written
    assert "'a|b'" in found["csv"].out


def test_sets_without_a_state_are_empty_lists(tmp_path):
    from definetti.cli.writing import write_frames

    write_frames([[{"set": []}, {"set": []}]], tmp_path / "x.parquet")
    assert pl.read_parquet(tmp_path / "x.parquet").schema == {"set": pl.List(pl.String)}


FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'=1", "''-a"]
HARMLESS = ["sun", "-1", "+3.5", "-1e-5", ".5", "1+1", "a=b", "'tis", "p_=1", "-.5"]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_labels_like_formulas_are_escaped_in_csv(tmp_path, ending):
    """Nor a set of labels, nor the name of a column; and no two become one."""
    from definetti.cli.writing import write_frames

    labels = [*FORMULAS, *HARMLESS, *(f"'{one}" for one in FORMULAS)]
    rows = [{"best": one, "set": [one, "a|b"], **dict.fromkeys(labels, "")} for one in labels]
    write_frames([rows], tmp_path / f"x.{ending}")
    with (tmp_path / f"x.{ending}").open(newline="", encoding="utf-8") as file:
        header, *found = csv.reader(file, delimiter="," if ending == "csv" else "\t")
    for cells in (header[2:], [row[0] for row in found]):
        assert cells == [f"'{one}" if one not in HARMLESS else one for one in labels]
    risky = [row[1] for row in found if row[1][0] in "=+-@\t\r\n"]
    assert risky == []
    write_frames(
        [[{"set": [-1, 1], "best": -1}, {"set": [], "best": None}]], tmp_path / f"y.{ending}"
    )
    assert "-1|1" in (tmp_path / f"y.{ending}").read_text()
    assert "'" not in (tmp_path / f"y.{ending}").read_text()


@pytest.mark.parametrize("ending", ["json", "jsonl", "parquet"])
def test_labels_in_lists_are_not_escaped(tmp_path, ending):
    from definetti.cli.table_files import read_table
    from definetti.cli.writing import write_frames

    write_frames([[{"=a": one, "set": [one]} for one in FORMULAS]], tmp_path / f"x.{ending}")
    found = read_table(str(tmp_path / f"x.{ending}"))
    assert found.to_dict(as_series=False) == {"=a": FORMULAS, "set": [[one] for one in FORMULAS]}
