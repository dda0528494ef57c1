"""`definetti compare`: a row per world and method, honest verdicts, files and messages."""

from __future__ import annotations

import csv
import gzip
import json

import numpy as np
import pytest
import typer
from tests.products import some_slow
from typer.testing import CliRunner

from definetti._system.cells import Cell
from definetti.cli.experiments import compare as command
from definetti.cli.options import expand_options
from definetti.experiments import Baseline
from definetti.experiments.benchmark import compare, work
from definetti.experiments.contestants import CONTESTANTS
from definetti.experiments.standings import say_verdict, verdicts
from definetti.experiments.worlds import DRAWN, SLEEP, WORDS, selected

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(expand_options(command))
SOME = ["full+path", "classical", "adaptivelevel"]


def asked(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def numbers(found):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in found.rows]


def write_words(folder, number=160):
    tags = ["NOUN", "VERB", "DET"]
    lines = [f"{k + 1}\tw{k % 7}\t_\t{tags[k * k % 7 % 3]}\t_" for k in range(number)]
    (folder / WORDS).write_text("# a comment\n" + "\n".join(lines) + "\n\n")


def write_sleep(folder, subjects=2, epochs=80):
    rng = np.random.default_rng(0)
    with gzip.open(folder / SLEEP, "wt") as file:
        file.write("night,epoch,stage,alpha,beta\n")
        for k in range(subjects):
            for t in range(epochs):
                stage = "W" if t // 5 % 2 else "N2"
                a, b = rng.normal(size=2) + (stage == "W")
                file.write(f"SC40{k}1E0,{t},{stage},{a:.3f},{b:.3f}\n")


def test_all_baselines_and_ours_take_part():
    assert sorted(c.name for c in CONTESTANTS.values() if c.by == "others") == sorted(
        Baseline.named
    )
    exact = {c.name for c in CONTESTANTS.values() if c.exact}
    assert exact == {"full+path", "full+path+smoothed", "full+path+smoothed+restart",
                     "spaced+path+split",
                     "departures+path+split", "pairs+filter"}  # fmt: skip


@pytest.mark.parametrize("restart", ["alarm", "change"])
def test_a_monitored_contestant_begins_anew_after_a_change(restart):
    worlds, _ = selected(["change"], None, (1,), 10)
    name = {"alarm": "full+path+smoothed+restart", "change": "full+path+smoothed+change"}[restart]
    history = worlds[0].history(np.random.default_rng(0))
    cp = CONTESTANTS[name].make("symbols", [0, 1, 2], 100, 0)
    cp.fit(history.observations[:200], history.states[:200])
    assert 80 < 200 - cp.estimator_.n_steps_ < 200
    before = cp.estimator_.n_steps_
    cp.partial_fit(history.observations[200:], history.states[200:])
    assert cp.estimator_.n_steps_ <= before + 1
    assert len(cp.predict_set([1]).states) == 3


def test_a_monitored_contestant_adapts_its_level_after_a_change():
    worlds, _ = selected(["change"], None, (1,), 10)
    history = worlds[0].history(np.random.default_rng(0))
    cp = CONTESTANTS["full+path+smoothed+adapt"].make("symbols", [0, 1, 2], 100, 0)
    cp.fit(history.observations[:90], history.states[:90])
    assert cp.predict_set([1]).confidence_level == 0.8
    cp.partial_fit(history.observations[90:200], history.states[90:200])
    assert cp.estimator_.n_steps_ == 200
    level = cp.predict_set([1]).confidence_level
    assert level == float(1 - cp.monitor.adaptive.alpha)
    assert level != 0.8


@pytest.mark.slow
def test_a_row_per_world_and_method_in_files_and_a_picture(tmp_path):
    found = compare(tmp_path, worlds=["figure1"], repetitions=2, n_jobs=1)
    expected = [
        (f"figure1 p={p} b=0.75", h, m)
        for p in (0.1, 0.5, 0.9)
        for h in (1, 3)
        for m in CONTESTANTS
    ]
    assert [(r["world"], r["horizon"], r["method"]) for r in found.rows] == expected
    with (tmp_path / "compare.csv").open() as lines:
        assert len(list(csv.DictReader(lines))) == len(expected)
    assert (tmp_path / "compare.png").read_bytes().startswith(b"\x89PNG")
    assert len(found.verdicts) == 6
    assert found.keeps_promise  # two windows refute nobody


@pytest.mark.slow
def test_numbers_do_not_depend_on_jobs_or_on_stopping(tmp_path):
    write_words(tmp_path)
    how = {"worlds": ["rare", "words"], "methods": SOME, "repetitions": 30, "horizons": [1]}
    alone = compare(tmp_path / "one", tmp_path, n_jobs=1, **how)
    assert numbers(compare(tmp_path / "two", tmp_path, n_jobs=2, **how)) == numbers(alone)
    next((tmp_path / "one" / "cells").iterdir()).unlink()
    assert numbers(compare(tmp_path / "one", tmp_path, n_jobs=1, **how)) == numbers(alone)


@pytest.mark.parametrize("method", some_slow(SOME, ["adaptivelevel"]))
def test_windows_do_not_depend_on_who_works_them_out(method, tmp_path):
    write_sleep(tmp_path)
    world = selected(["sleep"], tmp_path, [1], 12)[0][0]
    assert (world.each, len(world.histories), world.labels) == (6, 2, ("N2", "W"))
    cell = Cell("compare", world.point, (("name", method),), 12, 0)
    parts = [work(world, cell, part) for part in (range(4), range(4, 9), range(9, 12))]
    whole = work(world, cell, range(12))
    assert [r[:3] for part in parts for r in part] == [r[:3] for r in whole]


def test_worlds_without_data_are_left_out_with_their_origin(tmp_path):
    found = compare(tmp_path / "out", tmp_path, worlds=["ten", "sleep", "SPY"],
                    methods=["classical"], horizons=[1], repetitions=2)  # fmt: skip
    assert {row["world"] for row in found.rows} == {"ten states"}
    spy, sleep = found.left_out
    assert "SPY is left out" in spy
    assert "no SPY.csv; get it from" in spy
    assert "physionet.org" in sleep
    assert sleep in str(found)
    with pytest.raises(ValueError, match=r"none that can be had\nwords is left out: .*github"):
        compare(tmp_path / "out", worlds=["words"], repetitions=2)


def test_what_a_method_cannot_do_is_said_in_its_row(tmp_path):
    write_sleep(tmp_path)
    found = compare(tmp_path / "out", tmp_path, worlds=["sleep"], horizons=[1], repetitions=4,
                    methods=["pairs+filter", "likelihoodratio", "spaced+path+split"])  # fmt: skip
    assert [(r.get("note"), r["repetitions"]) for r in found.rows] == [
        (None, 4), ("needs symbols", 0), ("needs symbols", 0),
    ]  # fmt: skip
    assert [row["guaranteed"] for row in found.rows] == ["if Markov", "if Markov", "no"]
    assert "needs symbols" in str(found)


def test_the_four_series_are_chains_without_observations(shared):
    data = shared("data/paper/D202.csv").parents[1]
    worlds, left_out = selected(["Delhi", "Punjab", "household", "SPY"], data, [1], 30)
    assert left_out == []
    assert [(w.name, len(w.labels), w.each) for w in worlds] == [
        ("Delhi", 5, 30), ("Punjab", 5, 30), ("household", 7, 30), ("SPY", 2, 30),
    ]  # fmt: skip
    cell = Cell("compare", worlds[3].point, (("name", "full+path"),), 30, 0)
    assert len(work(worlds[3], cell, range(28, 30))) == 2


def test_drawn_worlds_have_the_law_that_they_say():
    world = selected(["change"], None, [1], 1)[0][0]
    assert world.markov is False
    history = world.history(np.random.default_rng(0))
    states, seen = np.asarray(history.states), np.asarray(history.observations)
    assert len(states) == 201
    right = seen == states
    assert right[:100].mean() > 0.8 > 0.65 > right[100:].mean()
    assert 0.2 < world.oracle < 1


def made(method, by, guaranteed, high, size, by_state=True, world="w"):
    return {"world": world, "horizon": 1, "method": method, "by": by, "guaranteed": guaranteed,
            "high": high, "scaled_size": size, "by_state": by_state}  # fmt: skip


def test_the_verdict_names_the_smallest_that_reaches_the_level():
    rows = [
        made("full+path", "ours", "yes", 0.9, 0.5),
        made("spaced+path+split", "ours", "yes", 0.95, 0.6),
        made("classical", "others", "no", 0.81, 0.4, by_state=False),
        made("thinned", "others", "no", 0.79, 0.1),  # too short to count
        {"world": "w", "horizon": 1, "method": "robust", "by": "others", "guaranteed": "no"},
    ]
    (found,) = verdicts(rows)
    assert (found["smallest"], found["guaranteed"]) == ("classical", "no")
    assert (found["ours"], found["ours_over_smallest"]) == ("full+path", pytest.approx(1.25))
    assert found["by_state"] == "full+path"
    assert say_verdict(found) == (
        "smallest that reaches the level: classical (not guaranteed); full+path is 1.25 times as "
        "large; given each last state: full+path"
    )


def test_of_equals_the_guaranteed_one_is_named():
    rows = [made("classical", "others", "no", 0.9, 0.5), made("full+path", "ours", "yes", 0.9, 0.5)]
    assert verdicts(rows)[0]["smallest"] == "full+path"


def test_worlds_that_nobody_or_none_of_ours_survives():
    rows = [
        made("full+path", "ours", "lost", 0.6, 0.3, world="a"),
        made("robust", "others", "no", 0.9, 0.7, world="a"),
        made("robust", "others", "no", 0.7, 0.7, world="b"),
    ]
    first, second = map(say_verdict, verdicts(rows))
    assert "robust (not guaranteed); none of ours reaches it" in first
    assert second == "no method reaches the level"


def test_exactness_is_lost_where_the_law_changes(tmp_path):
    found = compare(tmp_path, worlds=["change"], methods=["full+path"], horizons=[1],
                    repetitions=100)  # fmt: skip
    assert [row["guaranteed"] for row in found.rows] == ["lost", "lost"]
    assert max(row["high"] for row in found.rows) < 0.8
    assert found.keeps_promise  # nothing was promised there
    (line,) = found.summary
    assert (line["worlds"], line["below"], line["smallest"]) == (2, 2, 0)
    assert line["size_over_oracle"] is None  # small sets are no merit if they miss


def test_the_command_end_to_end(tmp_path):
    out = tmp_path / "out"
    how = ("--worlds", "sticky,words", "--methods", "full+path", "--methods", "classical",
           "--quick", "--repetitions", 5, "--jobs", 1, "--output", out)  # fmt: skip
    found = asked(*how)
    assert found.exit_code == 0, found.output
    assert "smallest that reaches the level" in found.stdout
    assert "words is left out: no data folder is named" in found.stderr
    assert {path.name for path in out.iterdir()} == {"compare.csv", "compare.png", "cells"}
    again = asked(*how, "--json")
    assert len(json.loads(again.stdout)["rows"]) == 2


@pytest.mark.parametrize(("arguments", "message"), [
    (["--worlds", "mars"], "worlds has no 'mars'; choose among figure1, figure2, sticky"),
    (["--methods", "magic"], "methods has no 'magic'; choose among full+path"),
    (["--worlds", "words"], "get it from Universal Dependencies"),
    (["--jobs", "0"], "--jobs must be a whole number"),
    (["--repetitions", "0"], "repetitions"),
    (["--seed", "-1"], "seed"),
])  # fmt: skip
def test_mistakes_are_exit_code_2_with_a_remedy(arguments, message, tmp_path):
    found = asked(*arguments, "--output", tmp_path / "new")
    assert found.exit_code == 2
    assert message in " ".join(found.output.split())
    assert "Traceback" not in found.output
    assert not (tmp_path / "new").exists()


def test_a_file_that_is_another_is_refused(tmp_path):
    (tmp_path / SLEEP).write_text("not gzipped")
    found = asked("--worlds", "sleep", "--data", tmp_path, "--output", tmp_path / "out")
    assert (found.exit_code, "is not the file that is meant; get it" in found.output) == (2, True)


def test_the_whole_grids_can_be_asked_for():
    assert (len(DRAWN["figure1-grid"]), len(DRAWN["figure2-grid"])) == (135, 30)
    assert {world.horizon for world in selected(["figure1-grid"], None, [1], 1)[0]} == {1, 2, 3}
    every = selected(None, None, [1], 1)[0]
    assert not any("T=" in world.name for world in every)
