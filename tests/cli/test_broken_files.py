"""Files that cannot be read rightly: exit code 2, and a line that says what is wrong and where."""

import gzip
import io
import json
import sys

import polars as pl
import pytest

GOOD = "seen,state\n" + "hat,sun\ncoat,rain\nhat,rain\n" * 8
SEEN = ["--observation-columns"]
LINE = '{"seen": 1, "state": "sun"}\n'


def packed(text):
    return gzip.compress(text.encode())


def as_parquet():
    file = io.BytesIO()
    pl.DataFrame({"seen": [1], "state": ["sun"]}).write_parquet(file)
    return file.getvalue()


# What is in the file, further arguments, and what the message says besides the file's name.
BROKEN = {
    "header only": ("seen,state\n", [], "no rows; give at least one"),
    "blank": ("\n \n", [], "is empty; give a file with a header and rows"),
    "no header": ("hat,sun\nhat,rain\n", [], "it has hat, sun; name one of these with --state-col"),
    "other case": ("Seen,State\nhat,sun\n", [], "is it 'State'?"),
    "pipes": (GOOD.replace(",", "|"), [], "it has seen|state"),
    "short row": ("a,b,state\n1,2,sun\n1\n1,2,rain\n", [], "row 2 has 1 field and the header"),
    "long row": ("a,state\n1,sun\n1,sun,\n", [], "row 2 has 3 fields and the header has 2"),
    "open quote": (GOOD + '"hat,sun\nhat,sun\n', [], "row 25 has a quote (\") that opens a field"),
    "open quote, last": ('a,state\n1,sun\n2,"a\n', [], "row 2 has a quote"),
    "open quote, closed late": ('a,state\n1,sun\n"2,sun\n3,"a"\n', [], "row 2 has a quote"),
    "quote within": ('a,state\n1,sun\n2,5" a\n3,r"ain\n', [], "row 2 has a quote (\") within a"),
    "ragged, with quotes": ('a,state\n"x""y",sun\n1\n', [], "row 2 has 1 field"),
    "text and numbers": ('{"a":1,"state":"1"}\n{"a":2,"state":1}\n', [],
                         "row 2, column 'state' is 1 and row 1 is \"1\"; write them alike"),
    "Latin-1": (GOOD.replace("coat", "cöat").encode("latin-1"), [], "row 2 has a byte, 0xf6"),
    "Latin-1 header": ("sé,state\n".encode("latin-1"), [], "the header has a byte, 0xe9"),
    "UTF-16, unmarked": (GOOD.encode("utf-16-le"), [], "the header has a zero byte"),
    "junk": (bytes(range(256)) * 9, [], "row 1 has a byte, 0x80"),
    "spreadsheet": (b"PK\x03\x04\x14\0\x06\0", [], "a spreadsheet; save it as CSV"),
    "cut gzip": (packed(GOOD)[:40], [], "broken gzip file"),
    "changed gzip": (packed(GOOD)[:-8] + b"\0" * 8, [], "broken gzip file"),
    "cut Parquet": (as_parquet()[:-20], [], "broken Parquet file"),
    "cut JSON lines": (LINE * 3 + '{"seen": 1, "st', [], "row 4 is not JSON"),
    "JSON lists": (LINE + "[1, 2]\n", [], "row 2 is a list, [1, 2]; each must be an object"),
    "spread JSON": (json.dumps({"seen": [1]}, indent=1), [], "each line must be an object"),
    "nested": ('{"seen": {"a": 1}, "state": "x"}\n', [], "row 1, column 'seen' holds struct"),
    "nested state": ('{"seen": 1, "state": ["x"]}\n', [], "row 1, column 'state' holds list"),
    "infinite": ("a,state\n1.5,sun\n-inf,rain\n", [], "row 2, column 'a' is -inf"),
    "huge": ("a,state\n1.5,sun\n1e300,rain\n", [], "row 2, column 'a' is 1e+300"),
    "deep": (LINE + LINE.replace("1", "[" * 200_000 + "]" * 200_000), [], "row 2 has nested"),
    "deep objects": (LINE.replace("1", '{"a":' * 900 + "1" + "}" * 900), [], "more than 64 deep"),
    "deep list": (f'[{LINE.replace("1", "[" * 900 + "]" * 900)}]', [], "text and numbers alone"),
    "seen twice": (GOOD, [*SEEN, "seen,seen"], "--observation-columns names 'seen' twice"),
    "unseen": (GOOD, [*SEEN, "seen,heard"], "no column 'heard'; it has seen, state"),
    "dates": ("d,state\n2020-01-01,sun\n", [*SEEN, "d"], "column 'd' holds dates"),
    "share": (GOOD, ["--train-size", "1.5", "--horizon", "1"],
              "--train-size must be a share between 0 and 1"),
    "no folder": (GOOD, ["-o", "none/x.csv"], "folder that does not exist, none; make it first"),
    "odd ending": (GOOD, ["-o", "x.doc"], "files end in .csv, .tsv, .parquet, .jsonl, .json"),
    "no ending": (GOOD, ["-o", "x"], "has no ending; files end in"),
    "folder as output": (GOOD, ["-o", "folder.csv"], "is a folder; name a file"),
    "this folder": (GOOD, ["-o", "."], "output . is a folder; name a file"),
}  # fmt: skip
ABOUT_OPTIONS = {"seen twice", "share", "no folder", "odd ending", "no ending", "folder as output",
                 "this folder"}  # fmt: skip


@pytest.mark.slow_cases("predict")
@pytest.mark.parametrize("command", ["predict", pytest.param("backtest", marks=pytest.mark.slow)])
def test_errors_in_files_are_one_line_with_the_place(ask_all, tmp_path, command):
    (tmp_path / "folder.csv").mkdir()
    commands = {}
    for name, (content, arguments, _) in BROKEN.items():
        content = content if isinstance(content, bytes) else content.encode()
        (tmp_path / f"{name}.csv").write_bytes(content)
        commands[name] = (command, f"{name}.csv", *arguments)
    before = sorted(tmp_path.iterdir())
    for name, done in ask_all(commands).items():
        assert (done.returncode, done.out) == (2, ""), (name, done.err)
        assert done.err.startswith("definetti: "), name
        assert done.err.count("\n") == 1, (name, done.err)
        assert BROKEN[name][2] in done.err, (name, done.err)
        assert name in ABOUT_OPTIONS or f"{name}.csv" in done.err, name
    assert sorted(tmp_path.iterdir()) == before


# Reads a table with little memory left: so little that its rows would not go into it.
LITTLE = """
import resource, sys
from pathlib import Path
import numpy
from definetti.__main__ import main
import polars
polars.read_parquet("small.parquet")  # with all that is to be loaded, and all threads
pages = int(Path("/proc/self/statm").read_text().split()[0])
most = pages * resource.getpagesize() + 2**28
resource.setrlimit(resource.RLIMIT_AS, (most, most))
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted elsewhere")
def test_a_small_file_of_many_rows_is_refused_before_there_is_no_memory(start, tmp_path):
    same = pl.repeat(1, 20_000_000, eager=True)
    pl.DataFrame({"seen": same, "state": same}).write_parquet(tmp_path / "large.parquet")
    (tmp_path / "small.parquet").write_bytes(as_parquet())
    process = start("predict", "large.parquet", command=[sys.executable, "-c", LITTLE])
    _, err = process.communicate(timeout=1200)
    assert process.returncode == 2, err
    assert err.startswith("definetti: not enough memory; allow more, or give fewer rows"), err
    assert err.count("\n") == 1, err


def test_folders_and_empty_input_are_refused(ask_all, tmp_path):
    (tmp_path / "good.csv").write_text(GOOD)
    found = ask_all({
        "folder": ("predict", "."),
        "nothing": ("backtest", ""),
        "empty input": ("predict", "-"),
        "twice": ("predict", "-", "-"),
        "few": ("backtest", "good.csv", "--horizon", "20"),
    })  # fmt: skip
    said = {name: (done.returncode, done.err) for name, done in found.items()}
    assert said == {
        "folder": (2, "definetti: . is a folder; name a file in it\n"),
        "nothing": (2, "definetti: the name of a file is empty; name a file, or give - for "
                       "standard input\n"),
        "empty input": (2, "definetti: standard input is empty; give a file with a header and "
                           "rows\n"),
        "twice": (2, "definetti: standard input can be read once only; name a file for one of the "
                     "two\n"),
        "few": (2, "definetti: good.csv: 24 labelled rows are too few for a window of 20 after a "
                   "share of 0.5; give more rows, or lower --start or --horizon\n"),
    }  # fmt: skip


NEW = {
    "text for numbers": ("a,b\nhot,x\n", "row 1, column 'a' is 'hot', and in past.csv the column "
                                         "holds numbers"),
    "numbers for text": ("a,b\n1,7.5\n", "row 1, column 'b' is '7.5', and in past.csv the column "
                                         "holds text"),
    "a word below numbers": ("a,b\n60.5,x\nNA,x\n61,x\nabc,y\n", "row 4, column 'a' is 'abc'"),
    "flags": ("a,b\ntrue,x\n", "row 1, column 'a' is True"),
    "dates": ("a,b\n,x\n2020-01-01,x\n", "row 2, column 'a' is datetime.date(2020, 1, 1)"),
    "infinite": ("a,b\n1,x\ninf,x\n", "row 2, column 'a' is inf"),
    "missing": ("a,c\n1,x\n", "has no column 'b'; it has a, c"),
    "ragged": ("a,b\n1,x\n1\n", "row 2 has 1 field"),
    "empty": ("", "is empty"),
}  # fmt: skip


def test_new_rows_of_other_types_are_refused(ask_all, tmp_path):
    (tmp_path / "past.csv").write_text("a,b,state\n" + "1,x,sun\n2.5,y,rain\n" * 20)
    for name, (content, _) in NEW.items():
        (tmp_path / f"{name}.csv").write_text(content)
    for name, done in ask_all({one: ("predict", "past.csv", f"{one}.csv") for one in NEW}).items():
        assert done.returncode == 2, name
        assert f"definetti: {name}.csv" in done.err, name
        assert NEW[name][1] in done.err, (name, done.err)
