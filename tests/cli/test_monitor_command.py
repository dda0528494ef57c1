"""`definetti monitor`: rows of a file, of one that grows, and of standard input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import definetti
from definetti.cli.choices import ClassifierName
from definetti.cli.fields import BadTable
from definetti.cli.growing import Interrupts
from definetti.cli.living import Living
from definetti.cli.options import Columns, Settings
from definetti.saving.files import load_with_notes, save
from definetti.simulate import weather

pytest.importorskip("polars")
Y, X = weather(260, random_state=7)
COMMAND = [sys.executable, "-m", "definetti", "monitor"]


def write(path: Path, begin: int, end: int, mode: str = "a") -> None:
    with path.open(mode) as file:
        if mode == "w":
            file.write("gear,state\n")
        file.writelines(f"{y},{x}\n" for y, x in zip(Y[begin:end], X[begin:end], strict=True))


def run(*arguments: Any, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False, **more
    )


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def wait_for(path: Path, rows: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until the state has so many rows; as long as it takes, while the process lives."""
    while process.poll() is None:
        if path.exists() and definetti.saving.read_manifest(path)["notes"]["rows"] >= rows:
            return
        time.sleep(0.02)
    raise AssertionError("the command ended")


@pytest.mark.slow
def test_a_file_row_by_row(tmp_path: Path) -> None:
    data = tmp_path / "rows.csv"
    write(data, 0, 130, "w")
    found = run(data, "--json", "--first", 100)
    assert (found.returncode, found.stderr) == (0, "")
    told = lines(found.stdout)
    assert [one["row"] for one in told] == list(range(101, 131))
    assert told[0].keys() == {"row", "set", "state", "covered", "p_values", "alarms"}
    assert [one["state"] for one in told] == X[100:130]
    piped = run("-", "--json", "--first", 100, input=data.read_text())
    assert piped.stdout == found.stdout
    table = run(data, "--first", 100)
    assert "30 labels judged" in table.stdout


@pytest.mark.slow
def test_killed_in_the_middle_nothing_is_lost_or_counted_twice(tmp_path: Path) -> None:
    data, state, whole = tmp_path / "rows.csv", tmp_path / "state.definetti", tmp_path / "whole.csv"
    arguments = [*COMMAND, data, "--follow", "--save", state, "--json", "--first", "100"]
    write(data, 0, 140, "w")
    for end in (170, 200):
        with subprocess.Popen(arguments, stdout=subprocess.DEVNULL) as process:
            write(data, end - 30, end - 15)
            with data.open("a") as file:
                file.write(f"{Y[end - 15]},")  # half a row is none yet
            wait_for(state, end - 15, process)
            os.kill(process.pid, signal.SIGKILL)
        with data.open("a") as file:
            file.write(f"{X[end - 15]}\n")
        write(data, end - 14, end)
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL) as process:
        wait_for(state, 200, process)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0  # ends cleanly
    write(whole, 0, 200, "w")
    straight = tmp_path / "straight.definetti"
    assert run(whole, "--save", straight, "--first", 100).returncode == 0
    mine, theirs = definetti.load(state), definetti.load(straight)
    assert mine.n_labels == theirs.n_labels == 100
    assert mine.coverage.overall == theirs.coverage.overall
    for part, values in theirs.p_values.items():
        assert mine.p_values[part].tolist() == values.tolist()


def test_a_row_without_a_state(tmp_path: Path) -> None:
    data = tmp_path / "rows.csv"
    write(data, 0, 110, "w")
    with data.open("a") as file:
        file.write("hat,\nhat,sun\nhat,sun\numbrella,\n")
    told = lines(run(data, "--json", "--first", 100).stdout)
    assert [one["state"] for one in told[-4:]] == [None, "sun", "sun", None]
    assert told[-3]["p_values"] == {}  # after a gap
    assert told[-1]["set"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("gear,state\nhat,sun\n", [], "--first"),
        ("gear,state\nhat,sun\nhat,\n", ["--first", "2"], "no state"),
        ("gear,weather\nhat,sun\nhat,sun\n", ["--first", "2"], "--state-column"),
    ],
)
def test_what_is_wrong_is_told(
    text: str, arguments: list[str], message: str, tmp_path: Path
) -> None:
    data = tmp_path / "rows.csv"
    data.write_text(text)
    found = run(data, *arguments)
    assert found.returncode == 2
    assert message in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.slow
def test_the_state_of_another_stream_is_refused(tmp_path: Path) -> None:
    data, other, state = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "s.definetti"
    write(data, 0, 110, "w")
    write(other, 0, 110, "w")
    assert run(data, "--save", state).returncode == 0
    assert "name another file" in run(other, "--save", state).stderr
    data.write_text("gear,state\n")
    assert "shorter" in run(data, "--save", state).stderr


def live(path: Path, state: Path, **given: Any) -> Living:
    """Return what the command lives with, given some of its options."""
    watching = {"on_alarm": "warn", "adapt_from": "alarm", "visits": False, "alpha": 0.05}
    watching |= {name: given.pop(name) for name in set(given) & set(watching)}
    columns = Columns(observation_columns=given.pop("observation_columns", None))
    first, lag = given.pop("first", 20), given.pop("lag", 0)
    return Living(str(path), state, columns, Settings(**given), first, lag, watching)


def test_other_options_than_it_was_begun_with_are_refused(tmp_path: Path) -> None:
    data, state = tmp_path / "rows.csv", tmp_path / "on.definetti"
    write(data, 0, 30, "w")
    own = {"smoothing": True, "alpha": 0.1, "lag": 2}
    list(live(data, state, **own).run(False, Interrupts()))
    begun = "begun with --confidence 0.9, and this call has --confidence 0.8; give --confidence 0.9"
    for given, says in [
        ({"confidence": ["0.8"]}, begun + ", or another file with --save"),
        ({"smoothing": False}, "with --smoothing, and this call has no --smoothing; give --smooth"),
        ({"alpha": 0.05}, "give --alpha 0.1"),
        ({"lag": 0}, "give --lag 2"),
        ({"symmetry": "spaced"}, "give --symmetry auto"),
        ({"states": "sun,rain"}, "leave --states out"),
        ({"visits": True}, "leave --visits out"),
        ({"on_alarm": "restart"}, "give --on-alarm warn"),
        ({"observation_columns": "gear"}, "leave --observation-columns out"),
        ({"seed": 3}, "give --seed 0"),
        ({"first": 10}, "give --first 20"),
        ({"classifier": ClassifierName.logistic}, "leave --classifier out"),
    ]:
        with pytest.raises(BadTable, match=says):
            live(data, state, **{**own, **given})
    assert live(data, state, **own).rows == 30


def test_a_state_that_knows_of_no_options_goes_on(tmp_path: Path) -> None:
    """As those that were written before options were kept."""
    data, state = tmp_path / "rows.csv", tmp_path / "on.definetti"
    write(data, 0, 30, "w")
    list(live(data, state, lag=1).run(False, Interrupts()))
    found, notes = load_with_notes(state)
    del notes["options"]
    save(found, state, notes | {"lag": 1})
    with pytest.raises(BadTable, match="give --lag 1"):
        live(data, state)
    assert live(data, state, lag=1, seed=5).rows == 30


@pytest.mark.slow
def test_other_options_end_the_command_and_leave_the_state(tmp_path: Path, ask: Any) -> None:
    data, state = tmp_path / "rows.csv", tmp_path / "on.definetti"
    write(data, 0, 30, "w")
    shared = ["monitor", data, "--save", state, "--first", "20"]
    assert ask(*shared).returncode == 0
    kept = state.read_bytes()
    write(data, 30, 32)
    wrong = ask(*shared, "--confidence", "0.8")
    assert (wrong.returncode, wrong.out) == (2, "")
    assert "give --confidence 0.9" in " ".join(wrong.err.split())
    assert state.read_bytes() == kept
    assert "12 labels judged" in ask(*shared).out


@pytest.mark.parametrize(
    ("begins", "kind"), [(b"PAR1", "a Parquet file"), (b"\x1f\x8b", "gzipped")]
)
def test_what_is_no_lines_is_refused(tmp_path: Path, begins: bytes, kind: str) -> None:
    data = tmp_path / "rows.csv"
    data.write_bytes(begins + b"\x15\0gear,state\n")
    stream = Living(str(data), None, Columns(), Settings(), 100, 0, {})
    with Interrupts() as interrupts, pytest.raises(BadTable, match=f"{kind}, and a stream is read"):
        list(stream.run(False, interrupts))


@pytest.mark.parametrize("how", [{}, {"symmetry": "full"}])
def test_many_rows_without_a_state_are_lived_with(tmp_path: Path, how: dict[str, str]) -> None:
    """Where the last label is too long ago for sets to be listed, saved and gone on from, too."""
    data, state = tmp_path / "rows.csv", tmp_path / "on.definetti"
    write(data, 0, 110, "w")
    with data.open("a") as file:
        file.write("hat,\n" * 25)
    shown, notes = [], []
    watching = {"alpha": 0.05, "visits": False}
    for _ in range(2):
        stream = Living(str(data), state, Columns(), Settings(**how), 100, 0, watching)
        with Interrupts() as interrupts:
            shown += [one for some in stream.run(False, interrupts) for one in some]
        notes += stream.notes
        write(data, 110, 115)
    assert [row for row, _, _ in shown] == list(range(101, 141))
    assert any("have no set" in note for note in notes) == bool(how)
    assert stream.monitor is not None
    assert (stream.monitor.n_labels, stream.monitor.n_skipped) == (15, 25)


def test_a_line_that_is_half_written_is_left_for_the_next_call(tmp_path: Path) -> None:
    data, state = tmp_path / "rows.csv", tmp_path / "on.definetti"
    write(data, 0, 110, "w")
    text = data.read_text()
    rows = []
    for part in (text[:-2], text):
        data.write_text(part)
        watching = {"alpha": 0.05, "visits": False}
        stream = Living(str(data), state, Columns(), Settings(), 100, 0, watching)
        with Interrupts() as interrupts:
            rows += [one[0] for some in stream.run(False, interrupts) for one in some]
        assert any("has no end" in note for note in stream.notes) == (part != text)
    assert rows == list(range(101, 111))
