"""Odd files that can be read: the answer is a plain file's, and notes say what is odd."""

import json
import random

import narwhals as nw
import polars as pl
import pytest

from definetti.cli import column_types
from definetti.cli.column_types import FIRST
from definetti.cli.columns import read_labelled, split_labelled_rows
from definetti.cli.errors import BadTable
from definetti.cli.options import Columns
from definetti.cli.series_tables import open_series
from definetti.cli.table_files import read_table
from definetti.cli.text_tables import find_repeated, parse_table
from definetti.emissions.choice import kinds_of
from definetti.simulate import weather

Y, X = weather(40, random_state=4)
ROWS = [*zip(Y[:38], X[:38], strict=True), (Y[38], ""), (Y[39], "")]
PLAIN = "seen,state\n" + "".join(f"{y},{x}\n" for y, x in ROWS)
ODD = {
    "mark": b"\xef\xbb\xbf" + PLAIN.encode(),
    "line ends": PLAIN.replace("\n", "\r\n").encode(),
    "old line ends": PLAIN.replace("\n", "\r").encode(),
    "semicolons": PLAIN.replace(",", ";").encode(),
    "tabs": PLAIN.replace(",", "\t").encode(),
    "UTF-16": PLAIN.encode("utf-16"),
    "UTF-32": PLAIN.encode("utf-32"),
    "blank lines": (PLAIN.replace("\n", "\n\n") + "\n \n").encode(),
    "leading blank lines": b"\n\n" + PLAIN.replace(",", ";").encode(),
    "quoted nothing": PLAIN.replace(",\n", ',""\n').encode(),
    "spaces for nothing": PLAIN.replace(",\n", ",  \n").encode(),
    "JSON": json.dumps([{"seen": y, "state": x or None} for y, x in ROWS], indent=1).encode(),
    "JSON lines": "".join(
        json.dumps({"seen": y, **({"state": x} if x else {})}) + "\n" for y, x in ROWS
    ).encode(),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_file_is_read_as_plain_file(tmp_path, name):
    path = tmp_path / "odd"
    path.write_bytes(ODD[name])
    found = split_labelled_rows(read_table(str(path)), "odd", state="state", observed=None)
    assert (found.states, found.new_rows, found.notes) == (X[:38], 2, [])
    assert (list(found.observations), list(found.new)) == (Y[:38], Y[38:])


@pytest.mark.slow
def test_predict_on_odd_file_equals_predict_on_plain_file(ask_all, tmp_path):
    (tmp_path / "plain").write_text(PLAIN)
    (tmp_path / "odd").write_bytes(PLAIN.replace("\n", "\r\r").encode("utf-16"))
    found = ask_all({name: ("predict", name, "--json") for name in ("plain", "odd")})
    assert found["odd"].out == found["plain"].out
    assert {(done.returncode, done.err) for done in found.values()} == {(0, "")}


def read(tmp_path, text, new=None, observed=None):
    (tmp_path / "x.csv").write_text(text)
    later = None
    if new is not None:
        (tmp_path / "new.csv").write_text(new)
        later = read_table(str(tmp_path / "new.csv"))
    table = read_table(str(tmp_path / "x.csv"))
    return split_labelled_rows(
        table, "x.csv", state="state", observed=observed, new=later, new_name="new.csv"
    )


def test_quoted_line_ends_are_kept(tmp_path):
    found = read(tmp_path, 'a,state\n"x\ny",sun\n\n"x\n\ny",rain\n')
    assert list(found.observations) == ["x\ny", "x\n\ny"]


@pytest.mark.parametrize("word", ["nan", "NA", "n/a", "NULL", "None"])
def test_words_for_missing_values_are_missing_numbers(tmp_path, word):
    found = read(tmp_path, f"a,state\n1.5,sun\n{word},rain\n2,sun\n")
    assert list(found.observations) == [1.5, None, 2.0]
    assert f"x.csv: row 2, column 'a' is '{word}' and taken as missing" in found.notes


def test_digits_that_are_text_stay_text(tmp_path):
    path = tmp_path / "x.parquet"
    pl.DataFrame({"a": ["01", "2"] * 3, "state": ["sun", "rain"] * 3}).write_parquet(path)
    found = split_labelled_rows(read_table(str(path)), "x", state="state", observed=None)
    assert list(found.observations[:2]) == ["01", "2"]


def test_all_json_lines_determine_types(tmp_path):
    rows = [{"a": 1, "state": "sun"}] * 150 + [{"a": 1.5, "b": "late", "state": "rain"}]
    (tmp_path / "x").write_text("\n".join(map(json.dumps, rows)))
    table = read_table(str(tmp_path / "x"))
    assert table.row(-1, named=True) == {"a": 1.5, "b": "late", "state": "rain"}


B = "a,state\n" + "1,sun\n2,rain\n" * 6
NOTED = {
    "one state": ("a,state\n1,sun\n2,sun\n", None, None, "'state' has one state only"),
    "as many states": ("a,state\n" + "".join(f"{k % 2},{k}.5\n" for k in range(12)), None, None,
                       "12 states in 12 rows; is it the state?"),
    "one value": ("a,state\n1,sun\n1,rain\n", None, None, "'a' has one value only"),
    "counter": ("a,state\n1,sun\n2,rain\n3,sun\n", None, None, "'a' counts the rows"),
    "step": ("a,b,state\n10,1,sun\n5,1,rain\n0,2,sun\n", None, None, "'a' counts the rows"),
    "names": ("a,state\n" + "".join(f"id{k},{'sr'[k % 2]}\n" for k in range(12)), None, None,
              "'a' never comes twice"),
    "named counter": ("a,state\n1,sun\n2,rain\n3,sun\n", None, "a", "'a' counts the rows"),
    "dates alone": ("d,state\n2020-01-01,sun\n2020-01-02,sun\n", None, None, "are left out: d"),
    "nothing observed": (B, None, "", "a plain Markov chain"),
    "decimal commas": ('a;state\n1,5;sun\n2,5;rain\n', None, None, "write points"),
    "a word among numbers": ("a,state\n1,sun\n2,sun\nx7,rain\n", None, None, "row 3, column 'a'"),
    "states in new rows": (B, "a,state\n1,snow\n", None, "column 'state' is ignored"),
    "more columns": (B, "a,extra\n1,5\n", None, "x.csv does not have are left out: extra"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTED)
def test_possible_mistakes_are_noted(tmp_path, name):
    text, new, observed, message = NOTED[name]
    assert message in "\n".join(read(tmp_path, text, new, observed).notes)


def test_uninformative_columns_are_left_out_unless_named(tmp_path):
    head = "day,id,site,height,carried,state\n"
    rows = [f"{2 * k},r{k},here,{k}.5,{k % 3},{'sr'[k % 2]}\n" for k in range(12)]
    found = read(tmp_path, head + "".join(rows), "height,carried\n1.5,2\n")
    assert list(found.columns) == ["height", "carried"]
    assert found.new.rows() == [(1.5, 2)]
    note = next(note for note in found.notes if note.startswith("left out"))
    assert "'day' counts the rows, 'id' never comes twice, 'site' has one value only" in note
    named = read(tmp_path, head + "".join(rows), None, "day,id,site")
    assert list(named.columns) == ["day", "id", "site"]
    assert sum("is uninformative" in note for note in named.notes) == 3


KEPT = {
    "measurements": ["0.5", "1.5", "2.5"] * 4,
    "whole measurements": [f"{k}.0" for k in (1, 2, 3, 5) * 3],
    "a counter with a gap": [*map(str, range(11)), "12"],
    "counts": [str(k // 2) for k in range(12)],
    "text that recurs": [*(f"w{k}" for k in range(11)), "w0"],
    "few texts": ["a", "b", "c"],
    "gaps": ["", "1", "2", "3"] * 3,
}


@pytest.mark.parametrize("name", KEPT)
def test_informative_columns_are_kept(tmp_path, name):
    rows = [f"{value},{'sr'[k % 2]}\n" for k, value in enumerate(KEPT[name])]
    found = read(tmp_path, "a,state\n" + "".join(rows))
    assert (list(found.columns), found.notes) == (["a"], [])


def test_states_of_any_kind(tmp_path):
    for one, other in (("2020-01-01", "2020-01-02"), ("true", "false"), ("0.5", "1.5"), ("1", "2")):
        found = read(tmp_path, f"a,state\n1,{one}\n2,{other}\n1,{one}\n2,\n")
        assert (len(set(found.states)), found.new_rows, found.notes) == (2, 1, [])


def test_symbols_that_look_like_numbers_in_new_rows(tmp_path):
    found = read(tmp_path, "a,state\nx,sun\n7,rain\n", "a\n7\n")
    assert list(found.new) == ["7"]


DATES = [
    ["2020-01-01", "2020-02-03"], ["13/02/2020", "01/02/2020"], ["12:30:01", "13:00:00"],
    ["2020-01-01T10:00:00Z", "2020-01-02T10:00:00Z"], ["2020-01-01 10:00", "2020-01-01 11:00"],
    ["2020/01/05", "2020/01/06"], ["05.01.2020", "06.01.2020"],
]  # fmt: skip


@pytest.mark.parametrize("values", DATES)
def test_dates_are_found_wherever_they_begin_and_end(tmp_path, values):
    """As the reader of CSV finds them, which takes it half a minute for a million rows."""
    rows = [*([""] * 150), *(values * 100), ""]
    for last, dated in (("", True), ("soon", False)):
        text = "when,a\n" + "".join(f"{value},{k % 3}\n" for k, value in enumerate([*rows, last]))
        (tmp_path / "x.csv").write_text(text)
        found = read_table(str(tmp_path / "x.csv"))
        whole = pl.read_csv(tmp_path / "x.csv", try_parse_dates=True, infer_schema_length=None)
        assert found["when"].dtype.is_temporal() == dated
        assert found["when"].to_list() == whole["when"].to_list()


def test_dates_are_not_parsed_in_columns_of_words(tmp_path, monkeypatch):
    """Which takes a hundred times as long as to read them."""
    pl.DataFrame({"said": ["yes", "no"] * 5_000}).write_csv(tmp_path / "x.csv")
    looked, read = [], pl.read_csv

    def noted(source, **how):
        found = read(source, **how)
        if how.get("try_parse_dates"):
            looked.append(len(found))
        return found

    monkeypatch.setattr(pl, "read_csv", noted)
    assert len(read_table(str(tmp_path / "x.csv"))) == 10_000
    assert sum(looked) <= FIRST


def wide(tmp_path, columns):
    """Read a table of so many columns; return it, and how often a frame was worked on."""
    names = [f"c{k}" for k in range(columns)]
    rows = [[k % 7 + 0.5 * row for k in range(columns)] for row in range(4)]
    (tmp_path / "new.csv").write_text("\n".join(",".join(map(str, one)) for one in [names, *rows]))
    past = [[*names, "state"], *([*row, "ab"[k % 2]] for k, row in enumerate(rows))]
    (tmp_path / "x.csv").write_text("\n".join(",".join(map(str, one)) for one in past))
    worked = []
    collect = pl.LazyFrame.collect

    def counted(self, *arguments, **how):
        worked.append(1)
        return collect(self, *arguments, **how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pl.LazyFrame, "collect", counted)
        found = read_labelled(str(tmp_path / "x.csv"), str(tmp_path / "new.csv"), Columns())
    return found, len(worked)


@pytest.mark.slow
def test_a_column_costs_the_same_among_many(tmp_path):
    """What is done to a whole frame is done once, and not for every column of it."""
    assert wide(tmp_path, 30)[1] == wide(tmp_path, 60)[1]
    found, _ = wide(tmp_path, 9_000)
    assert found.observations.shape == (4, 9_000)
    assert found.new.shape == (4, 9_000)


def test_columns_are_compared_by_their_hash():
    """A name that is like no other is never held against all others, one by one."""

    class Name(str):
        __slots__ = ()
        compared = 0

        def __eq__(self, other):
            Name.compared += 1
            return str(self) == str(other)

        __hash__ = str.__hash__

    names = [Name(f"c{k}") for k in range(1_000)]
    assert find_repeated(names) == []
    assert Name.compared < 10_000  # and not half a million
    assert find_repeated([*names, Name("c7")]) == ["c7"]


def test_columns_are_converted_together(monkeypatch):
    """A query costs as much for one column as for a thousand, and a header may have many."""
    wide = 400
    header = ["state", *(f"n{k}" for k in range(wide)), *(f"t{k}" for k in range(wide))]
    rng = random.Random(0)
    rows = [
        [rng.choice("ab"), *(str(rng.randint(0, 9)) for _ in range(wide)),
         *(rng.choice(["hat", "cap"]) for _ in range(wide))]
        for _ in range(12)
    ]  # fmt: skip
    text = "\n".join(",".join(row) for row in [header, *rows])
    looked = []
    for module, function in [
        (column_types, "_tidy_text"),
        (column_types, "_infer_column"),
        (nw.Series, "drop_nulls"),
    ]:
        monkeypatch.setattr(module, function, lambda *_, function=function: looked.append(function))
    table = split_labelled_rows(
        parse_table(text, "wide.csv", "state"), "wide.csv", state="state", observed=None
    )
    assert len(table.columns) > 2 * wide - 10  # but for what has one value, or counts, by chance
    assert set(kinds_of(table.observations).kinds.values()) == {"counts", "text"}
    assert looked == []


QUOTED = PLAIN.replace("seen,state", '"seen ""raw""","the ""state"", today"')


def test_quotes_within_the_names_of_columns(tmp_path, ask_all):
    (tmp_path / "quoted.csv").write_text(QUOTED)
    (tmp_path / "plain.csv").write_text(PLAIN)
    state = 'the "state", today'
    found = ask_all({
        "plain": ("predict", "plain.csv", "--json"),
        "quoted": ("predict", "quoted.csv", "--json", "--state-column", state,
                   "--observation-columns", 'seen "raw"'),
        "stream": ("monitor", "quoted.csv", "--json", "--state-column", state, "--first", 20),
        "plain stream": ("monitor", "plain.csv", "--json", "--first", 20),
    })  # fmt: skip
    plain, quoted = (json.loads(found[name].out) for name in ("plain", "quoted"))
    assert quoted | {"observed": plain["observed"]} == plain
    assert found["stream"].out == found["plain stream"].out != ""
    # A column that is written comes back by its name.
    frame = pl.DataFrame({'seen "raw"': ["a", "b"], "x": [1, 2]})
    frame.write_csv(tmp_path / "back.csv")
    assert read_table(str(tmp_path / "back.csv")).columns == frame.columns


def name_rows(text, quote='"'):
    header, *rows = text.splitlines()
    named = [f"{quote}{k}{quote},{row}" for k, row in enumerate(rows, 140)]
    return "\n".join([header, *named]) + "\n"


@pytest.mark.parametrize("quote", ['"', ""])
def test_the_first_field_is_a_row_name_where_the_header_has_none_for_it(quote, tmp_path, ask_all):
    (tmp_path / "named.csv").write_text(name_rows(PLAIN, quote))
    (tmp_path / "plain.csv").write_text(PLAIN)
    found = ask_all({
        "plain": ("predict", "plain.csv", "--json"),
        "named": ("predict", "named.csv", "--json"),
        "file": ("predict", "named.csv", "-o", "sets.csv"),
        "stream": ("monitor", "named.csv", "--json", "--first", 20),
        "plain stream": ("monitor", "plain.csv", "--json", "--first", 20),
    })  # fmt: skip
    plain, named = (json.loads(found[name].out) for name in ("plain", "named"))
    assert named == plain
    note = "one name fewer than the rows have fields, so that the first field is taken as the name"
    for name in ("named", "stream"):
        assert note in " ".join(found[name].err.split())
    assert found["stream"].out == found["plain stream"].out != ""
    assert read_table(str(tmp_path / "sets.csv"))["(row name)"].to_list() == [178, 179]


def test_row_names_of_a_stream_that_goes_on_and_of_many_series(tmp_path, ask):
    header, *rows = name_rows(PLAIN).splitlines(keepends=True)
    (tmp_path / "plain.csv").write_text(PLAIN)
    plain = ask("monitor", "plain.csv", "--json", "--first", 20).out
    printed = ""
    for end in (30, 31, 40):  # the second time a single row comes
        (tmp_path / "named.csv").write_text(header + "".join(rows[:end]))
        shared = ("monitor", "named.csv", "--json", "--first", 20)
        printed += ask(*shared, "--save", "on.definetti").out
    assert printed == plain
    series = [
        f"{header.strip()},who\n",
        *(f"{row.strip()},{k % 2}\n" for k, row in enumerate(rows)),
    ]
    (tmp_path / "series.csv").write_text("".join(series))
    asked = ask("monitor", "series.csv", "--json", "--first", 10, "--group-column", "who")
    assert asked.returncode == 0
    assert len(asked.out.splitlines()) == len(rows) - 20


def test_the_occupancy_files_as_they_are_published(tmp_path, ask):
    """One row name more than the header has names, and dates."""
    header = '"date","Temperature","Humidity","Light","CO2","HumidityRatio","Occupancy"'
    draw = random.Random(0)
    rows = [
        f'"{k}","2015-02-04 {17 + k // 60}:{k % 60:02}:00",{20 + draw.random():.3f},27.272,'
        f"{draw.choice([0, 426])},{draw.uniform(500, 900):.2f},0.0048,{draw.choice('01')}"
        for k in range(1, 121)
    ]
    (tmp_path / "datatraining.txt").write_text("\n".join([header, *rows]) + "\n")
    asked = ask("backtest", "datatraining.txt", "--state-column", "Occupancy", "--json")
    assert asked.returncode == 0, asked.err
    assert "columns of dates are left out: date" in asked.err
    table = read_labelled(
        str(tmp_path / "datatraining.txt"), None, Columns(state_column="Occupancy")
    )
    assert list(table.columns) == ["Temperature", "Light", "CO2"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,state\n1,x,\n2,y,\n3,x,\n", "rows have 3 fields and the header has 2, since they end"),
        ("a,state\n1,5,x\n1,6,y\n2,7,x\n", "no name of its row, being '1' twice; name all"),
        ("a,state\n1,5,x\n", "row 1 has 3 fields and the header has 2; correct the row"),
        ("a,state\n1,5,x\n6,y\n7,x\n", "row 1 has 3 fields and the header has 2; correct the row"),
        ("a,state\n1,5,x\n2,6,y\n7,x\n", "row 3 has 2 fields and the header has 3"),
    ],
)
def test_rows_with_one_field_more_that_is_no_row_name(text, says, tmp_path):
    (tmp_path / "odd.csv").write_text(text)
    with pytest.raises(BadTable, match=says):
        read_table(str(tmp_path / "odd.csv"), "state")


@pytest.mark.parametrize("name", ["*", "^.*$", "^s.*$"])
def test_a_name_that_polars_takes_for_a_pattern_is_refused(tmp_path, name):
    """It stands for other columns: to leave it out would leave these out, too."""
    table = pl.DataFrame({name: Y, "seen": Y, "state": X})
    (tmp_path / "x.csv").write_text(table.write_csv())
    (tmp_path / "x.json").write_text(table.write_ndjson())
    table.write_parquet(tmp_path / "x.parquet")
    for ending in ("csv", "json", "parquet"):
        with pytest.raises(BadTable, match=r"is a pattern, which stands for several.*rename it"):
            read_table(str(tmp_path / f"x.{ending}"))
    with (
        pytest.raises(BadTable, match="is a pattern"),
        open_series(str(tmp_path / "x.parquet"), "seen", "state"),
    ):
        pass


def test_messages_name_some_of_very_many_columns(tmp_path):
    names = [f"c{k}" for k in range(500)]
    text = ",".join([*names, "state"]) + "\n" + (",".join(["1"] * 500) + ",a\n") * 5
    (tmp_path / "x.csv").write_text(text)
    table = read_table(str(tmp_path / "x.csv"))
    notes = split_labelled_rows(table, "x.csv", state="state", observed=None).notes
    assert any("'c19' has one value only and 480 more;" in note for note in notes)
    with pytest.raises(BadTable, match="c19 and 481 more"):
        split_labelled_rows(table, "x.csv", state="sky", observed=None)
