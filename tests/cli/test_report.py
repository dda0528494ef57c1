"""`definetti report` and `definetti demo`, as processes."""

import json
import shlex

import polars as pl
import pytest

from definetti import ConformalHMM
from definetti.report import make_report
from definetti.simulate import weather

Y, X = weather(123, random_state=3)


@pytest.fixture
def days(tmp_path):
    frame = pl.DataFrame({"sky": [*X[:120], None, None, None], "carried": Y})
    frame.write_csv(tmp_path / "days.csv")
    frame[120:].select("carried").write_csv(tmp_path / "new.csv")
    frame[:120].write_csv(tmp_path / "old.csv")
    return tmp_path


def inside(path):
    """What the page itself holds."""
    text = path.read_text(encoding="utf-8")
    start = text.index('id="contents">') + len('id="contents">')
    return json.loads(text[start : text.index("</script>", start)])


def test_command_report_equals_function_report(days, ask):
    done = ask("report", "days.csv", "--state-column", "sky", "-o", "r.html", "--json", "--seed", 5)
    assert done.returncode == 0, done.err
    said, page = json.loads(done.out), inside(days / "r.html")
    assert said.pop("written") == "r.html"
    assert said == page
    observed = pl.Series("carried", Y[:120])
    again = make_report(ConformalHMM(random_state=5), observed, X[:120], Y[120:]).contents
    for key in ("levels", "promise", "states", "new", "backtest", "model"):
        assert page[key] == json.loads(json.dumps(again[key])), key
    assert sorted(path.name for path in days.iterdir() if path.name != "r.html") == [
        "days.csv", "new.csv", "old.csv",
    ]  # fmt: skip


def test_the_command_on_the_page_makes_the_page_again(days, ask):
    asked = ["old.csv", "new.csv", "--state-column", "sky", "--confidence", "0.8", "--smoothing",
             "--title", "Sun & rain", "--windows", "7", "-o", "a b.html"]  # fmt: skip
    assert ask("report", *asked).returncode == 0
    first = inside(days / "a b.html")
    words = shlex.split(first["settings"]["command"])
    assert words[:2] == ["definetti", "report"]
    (days / "a b.html").unlink()
    assert ask(*words[1:]).returncode == 0
    assert inside(days / "a b.html") == first
    assert (first["title"], first["backtest"]["windows"]) == ("Sun & rain", 7)


@pytest.mark.slow
def test_report_prints_guarantee_and_verdict(days, ask_all):
    found = ask_all({
        "new": ("report", "days.csv", "--state-column", "sky"),
        "none new": ("report", "old.csv", "--state-column", "sky", "-o", "old.html"),
        "forecast": ("report", "old.csv", "--state-column", "sky", "--horizon", 2, "-o", "f.html"),
        "beyond": ("report", "days.csv", "--state-column", "sky", "--horizon", 5, "-o", "b.html"),
        "steps": ("report", "days.csv", "--state-column", "sky", "--guarantee", "steps",
                  "-o", "s.html"),
        "long": ("report", "days.csv", "--state-column", "sky", "--horizon", 60, "-o", "l.html"),
    })  # fmt: skip
    for name, done in found.items():
        assert done.returncode == 0, (name, done.err)
    assert f"written: {days / 'report.html'}" in found["new"].out
    assert "Backtest: " in found["new"].out
    assert inside(days / "old.html")["new"] is None
    assert inside(days / "f.html")["new"]["steps"] == 2
    assert inside(days / "f.html")["new"]["seen"] == ["", ""]
    assert inside(days / "b.html")["new"]["seen"][-1] == "not observed yet"
    assert "first half of the rows" in found["beyond"].err
    assert "by steps, promised" in found["steps"].out
    assert "too few blocks" in found["long"].err
    assert "too few blocks" in inside(days / "l.html")["notes"][0]


BROKEN = {
    "no file": (["none.csv"], "none.csv: no such file"),
    "no column": (["days.csv"], "has no column 'state'"),
    "no page": (["days.csv", "--state-column", "sky", "-o", "x.csv"], "files end in .html"),
    "no folder": (
        ["days.csv", "--state-column", "sky", "-o", "no/x.html"],
        "a folder that does not exist",
    ),
    "twice new": (["days.csv", "new.csv", "--state-column", "sky"], "leave one of them out"),
    "level": (["days.csv", "--state-column", "sky", "--confidence", "2"], "--confidence must be"),
    "promise": (["days.csv", "--guarantee", "none"], "'steps', 'errors'"),
    "no state known": (["empty.csv"], "column 'state' is empty in every row"),
    "one row": (["one.csv"], ""),
    "states that no window could hold": (["late.csv"], ""),
}
FINE = ("one row", "states that no window could hold")  # little to judge, and a page all the same


@pytest.mark.slow
def test_errors_of_report_are_one_line(days, ask_all):
    (days / "late.csv").write_text("seen,state\nhat,\nhat,\ncoat,rain\nhat,sun\n")
    (days / "empty.csv").write_text("seen,state\nhat,\nhat,\n")
    (days / "one.csv").write_text("seen,state\nhat,sun\n")
    found = ask_all({name: ("report", *asked) for name, (asked, _) in BROKEN.items()})
    for name, (_, said) in BROKEN.items():
        done = found[name]
        if name not in FINE:
            assert done.returncode == 2, (name, done.err)
            assert said in " ".join(done.err.split()), (name, done.err)
            assert done.out == ""
    assert [found[name].returncode for name in FINE] == [0, 0]
    assert [path.name for path in days.glob("*.html")] == ["report.html"]


def test_demo_runs_every_command(ask, tmp_path):
    done = ask("demo")
    assert done.returncode == 0, done.err
    for command in ("simulate", "predict", "backtest", "report"):
        assert f"$ definetti {command}" in done.out
    page = tmp_path / "definetti-demo" / "report.html"
    assert str(page) in done.out
    assert inside(page)["new"]["steps"] == 3
    # What it shows to be typed can be typed.
    typed = next(line for line in done.out.splitlines() if line.startswith("$ definetti predict"))
    again = ask(*shlex.split(typed)[2:])
    assert again.returncode == 0
    assert again.out.strip() in done.out


@pytest.mark.slow
def test_demo_prints_json(ask, tmp_path):
    done = ask("demo", "here", "--json")
    assert done.returncode == 0, done.err
    told = json.loads(done.out)
    assert [one["command"].split()[0] for one in told] == [
        "simulate", "predict", "backtest", "report",
    ]  # fmt: skip
    assert inside(tmp_path / "here" / "report.html") == {
        key: value for key, value in told[-1]["result"].items() if key != "written"
    }


def test_demo_refuses_a_file_as_folder(ask, tmp_path):
    (tmp_path / "here").write_text("mine")
    done = ask("demo", "here")
    assert (done.returncode, done.out) == (2, "")
    assert "here is a file; name a folder" in done.err
