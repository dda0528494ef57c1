"""`definetti monitor`: rows of a file, of one that grows, and of standard input."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from definetti.cli import monitor_stream, stream_reader
from definetti.cli.errors import BadTable
from definetti.cli.estimators import make_estimator
from definetti.cli.monitor_stream import StreamMonitor, StreamOptions
from definetti.cli.options import ClassifierName, Columns, Settings
from definetti.cli.stream_reader import Interrupts, Journal
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


@pytest.mark.slow
def test_monitor_reports_each_row_of_a_file(tmp_path: Path) -> None:
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
    assert "30 labels evaluated" in table.stdout


def live(path: Path, state: Path, **given: Any) -> StreamMonitor:
    """Return what the command lives with, given some of its options."""
    watching = {"on_alarm": "warn", "adapt_from": "alarm", "visits": False, "alpha": 0.05}
    watching |= {name: given.pop(name) for name in set(given) & set(watching)}
    columns = Columns(observation_columns=given.pop("observation_columns", None))
    first, lag = given.pop("first", 20), given.pop("lag", 0)
    return open_stream(path, state, columns, Settings(**given), first, lag, watching)


def open_stream(
    path: Path,
    save: Path | None,
    columns: Columns,
    settings: Settings,
    first: int,
    lag: int,
    watching: dict[str, Any],
    group: str | None = None,
) -> StreamMonitor:
    asked = StreamOptions(str(path), columns, settings, first, lag, watching, group)
    return StreamMonitor(asked, save)


def collect(stream: StreamMonitor, most: int | None = None) -> list[Any]:
    """Return what a stream reports; it ends there and then after so many rows, as by a kill."""
    with Interrupts() as interrupts, closing(stream.run(False, interrupts)) as reported:
        return list(islice(reported, most))


def test_every_row_is_reported_whichever_row_it_is_killed_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill right after a row was printed repeats that row, and no other."""
    monkeypatch.setattr(monitor_stream, "SAVE_ROWS", 20)
    data, state = tmp_path / "rows.csv", tmp_path / "on.definetti"
    write(data, 0, 200, "w")
    straight = collect(live(data, tmp_path / "straight.definetti", lag=1))
    assert [row for row, *_ in straight] == list(range(21, 201))
    draw = random.Random(0)
    reported: list[Any] = []
    kills = 0
    while not reported or reported[-1][0] < 200:
        reported += collect(live(data, state, lag=1), draw.randint(2, 30))
        kills += 1
    assert kills > 8
    assert len(reported) == len(straight) + kills - 1
    assert {report.row: report for report in reported} == {
        report.row: report for report in straight
    }
    assert collect(live(data, state, lag=1))[1:] == []
    assert [path.name for path in tmp_path.glob("on.*")] == ["on.definetti"]


@pytest.mark.slow
def test_killed_at_random_moments_every_row_is_printed(tmp_path: Path) -> None:
    """What is printed over many kills is what one call prints; at most one row a kill is twice."""
    data, state = tmp_path / "rows.csv", tmp_path / "on.definetti"
    y, x = weather(2_000, random_state=3)
    data.write_text("gear,state\n" + "".join(f"{a},{b}\n" for a, b in zip(y, x, strict=True)))
    straight = lines(run(data, "--json", "--smoothing").stdout)
    command = [*COMMAND, data, "--save", state, "--json", "--smoothing"]
    draw = random.Random(1)
    printed, kills = "", 0
    while True:
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            printed += "".join(islice(process.stdout, draw.randint(1, 400)))
            with suppress(subprocess.TimeoutExpired):
                process.wait(draw.uniform(0, 0.05))
            process.kill()
            printed += process.stdout.read()
        if process.returncode == 0:
            break
        kills += 1
    assert kills >= 3
    found = lines(printed)
    by_row = {one["row"]: one for one in found}
    assert [by_row.get(one["row"]) for one in straight] == straight
    assert all(one == by_row[one["row"]] for one in found)
    assert len(found) <= len(straight) + kills


def count_written(rows: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Return the bytes that --save writes for so many rows in batches of five, and the last."""
    data, state = folder / f"{rows}.csv", folder / f"{rows}.definetti"
    y, x = weather(rows, random_state=3)
    data.write_text("gear,state\n" + "".join(f"{a},{b}\n" for a, b in zip(y, x, strict=True)))
    written = 0
    append, save = Journal.append, StreamMonitor._save

    def counted_append(journal: Journal, line: tuple[int, bytes]) -> None:
        nonlocal written
        before = journal.path.stat().st_size if journal.path.exists() else 0
        append(journal, line)
        written += journal.path.stat().st_size - before

    def counted_save(stream: StreamMonitor) -> None:
        nonlocal written
        save(stream)
        written += state.stat().st_size

    with monkeypatch.context() as patched:
        patched.setattr(stream_reader, "MOST", 5)
        patched.setattr(monitor_stream, "SAVE_ROWS", 20)
        patched.setattr(Journal, "append", counted_append)
        patched.setattr(StreamMonitor, "_save", counted_save)
        collect(live(data, state))
    return written, state.stat().st_size


def test_bytes_written_by_save_are_linear_in_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (some, _), (twice, last) = (count_written(n, tmp_path, monkeypatch) for n in (500, 1_000))
    assert twice < 3 * some  # four times as many, were each batch to write the whole state
    assert twice < 30 * last


def test_a_journal_cut_off_is_read_to_its_last_whole_line(tmp_path: Path) -> None:
    data, state = tmp_path / "rows.csv", tmp_path / "on.definetti"
    journal = tmp_path / "on.definetti.journal"
    write(data, 0, 40, "w")
    collect(live(data, state), 10)  # of which nine are in the journal
    journal.write_bytes(journal.read_bytes()[:-3])
    stream = live(data, state)
    assert [row for row, *_ in collect(stream)] == list(range(29, 41))
    assert not journal.exists()


def test_a_broken_journal_is_refused_by_name_and_a_stale_one_ignored(tmp_path: Path) -> None:
    data, state = tmp_path / "rows.csv", tmp_path / "on.definetti"
    journal = tmp_path / "on.definetti.journal"
    write(data, 0, 30, "w")
    collect(live(data, state), 5)
    kept = journal.read_bytes()
    name, _, rest = kept.partition(b"\n")
    journal.write_bytes(name + b"\nx" + rest)
    with pytest.raises(BadTable, match=r"on.definetti.journal is broken; remove it"):
        collect(live(data, state))
    journal.write_bytes(kept)
    assert len(collect(live(data, state))) == 6
    journal.write_bytes(kept)  # of the state before
    write(data, 30, 32)
    assert [row for row, *_ in collect(live(data, state))] == [31, 32]


def test_a_journal_is_as_private_as_its_state(tmp_path: Path) -> None:
    data, state = tmp_path / "rows.csv", tmp_path / "on.definetti"
    write(data, 0, 25, "w")
    collect(live(data, state))
    state.chmod(0o600)
    write(data, 25, 30)
    collect(live(data, state), 3)
    assert (tmp_path / "on.definetti.journal").stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_standard_input_in_two_calls_with_a_header_each(tmp_path: Path, ask: Any) -> None:
    state = tmp_path / "on.definetti"
    rows = [f"{y},{x}\n" for y, x in zip(Y, X, strict=True)]
    shared = ["monitor", "-", "--json", "--first", "100"]
    straight = ask(*shared, stdin=("gear,state\n" + "".join(rows[:150])).encode())
    parts = [
        ask(*shared, "--save", state, stdin=("gear,state\n" + "".join(some)).encode())
        for some in (rows[:120], rows[120:150])
    ]
    assert "".join(one.out for one in parts) == straight.out


def test_row_names_are_found_where_rows_come_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_reader, "MOST", 1)
    data = tmp_path / "rows.csv"
    rows = [f"{k},{y},{x}\n" for k, (y, x) in enumerate(zip(Y[:30], X[:30], strict=True))]
    data.write_text("gear,state\n" + "".join(rows))
    reported = collect(live(data, tmp_path / "on.definetti"))
    assert [row for row, *_ in reported] == list(range(21, 31))


def test_rows_over_several_lines_are_refused(tmp_path: Path) -> None:
    data = tmp_path / "rows.csv"
    write(data, 0, 30, "w")
    with data.open("a") as file:
        file.write('"an\nhat",sun\n')
    with pytest.raises(BadTable, match="12 lines hold 11 rows, and a stream has one row a line"):
        collect(live(data, tmp_path / "on.definetti"))


@pytest.mark.slow
def test_row_without_a_state_is_predicted(tmp_path: Path) -> None:
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
def test_errors_of_monitor_are_one_line(
    text: str, arguments: list[str], message: str, tmp_path: Path
) -> None:
    data = tmp_path / "rows.csv"
    data.write_text(text)
    found = run(data, *arguments)
    assert found.returncode == 2
    assert message in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize("group", [None, "town"])
@pytest.mark.parametrize(
    ("row", "bad"),
    [
        (12, "0.5"),
        (87, "0.5"),
        (87, "0.5,sun,Rome,1"),
        (87, "x,sun,Rome"),
        (87, '"0.5,sun,Rome'),
    ],
)
def test_messages_name_the_row_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: int, bad: str, group: str | None
) -> None:
    monkeypatch.setattr(stream_reader, "MOST", 25)  # rows are read some at a time
    data, towns = tmp_path / "rows.csv", ("Rome", "Oslo", "Rome")
    rows = [f"{k % 7 / 2},{X[k % 5]},{towns[k % 3]}" for k in range(100)]
    rows[row - 1] = bad
    data.write_text("\n".join(["wind,state,town", *rows]) + "\n")
    columns, watching = Columns(observation_columns="wind"), {"alpha": 0.05, "visits": False}
    stream = open_stream(data, None, columns, Settings(), 20, 0, watching, group)
    with pytest.raises(BadTable, match=f"^{re.escape(str(data))}: row {row}[ ,]"):
        collect(stream)


def test_a_note_of_rows_without_a_set_names_the_row_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(*arguments: Any, **how: Any) -> Any:
        return make_estimator(*arguments, **how).set_params(max_candidates=7)

    monkeypatch.setattr("definetti.cli.monitor_stream.make_estimator", make)
    data = tmp_path / "rows.csv"
    rows = [f"{Y[k]},{X[k] if k < 60 else ''},{'uv'[k % 2]}" for k in range(90)]
    data.write_text("\n".join(["gear,state,town", *rows]) + "\n")
    watching = {"alpha": 0.05, "visits": False}
    settings = Settings(symmetry="full")
    stream = open_stream(data, None, Columns(), settings, 20, 0, watching, "town")
    collect(stream)
    assert [note.split(": ")[:2] for note in stream.notes] == [
        ["series 'u'", "row 65 and others this long after the last label have no set"],
        ["series 'v'", "row 66 and others this long after the last label have no set"],
    ]


@pytest.mark.slow
def test_the_state_of_another_stream_is_refused(tmp_path: Path) -> None:
    data, other, state = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "s.definetti"
    write(data, 0, 110, "w")
    write(other, 0, 110, "w")
    assert run(data, "--save", state).returncode == 0
    assert "name another file" in run(other, "--save", state).stderr
    data.write_text("gear,state\n")
    assert "shorter" in run(data, "--save", state).stderr


def test_other_options_than_it_was_begun_with_are_refused(tmp_path: Path) -> None:
    data, state = tmp_path / "rows.csv", tmp_path / "on.definetti"
    write(data, 0, 30, "w")
    own = {"smoothing": True, "alpha": 0.1, "lag": 2}
    collect(live(data, state, **own))
    begun = "begun with --confidence 0.9, and this call is with --confidence 0.8; give the same"
    for given, says in [
        ({"confidence": ["0.8"]}, begun + ", or another file with --save"),
        ({"smoothing": False}, "with --smoothing, and this call is without --smoothing; give the"),
        ({"alpha": 0.05}, "begun with --alpha 0.1"),
        ({"lag": 0}, "begun with --lag 2"),
        ({"symmetry": "spaced"}, "begun with --symmetry auto"),
        ({"states": "sun,rain"}, "begun without --states, and this call is with --states sun,rain"),
        ({"visits": True}, "begun without --visits, and this call is with --visits;"),
        ({"on_alarm": "restart"}, "begun with --on-alarm warn"),
        ({"observation_columns": "gear"}, "begun without --observation-columns"),
        ({"seed": 3}, "begun with --seed 0"),
        ({"first": 10}, "begun with --first 20"),
        ({"classifier": ClassifierName.logistic}, "begun without --classifier"),
    ]:
        with pytest.raises(BadTable, match=says):
            live(data, state, **{**own, **given})
    assert live(data, state, **own).rows == 30


def test_a_state_without_its_options_is_refused(tmp_path: Path) -> None:
    data, state = tmp_path / "rows.csv", tmp_path / "on.definetti"
    write(data, 0, 30, "w")
    collect(live(data, state))
    found, notes = load_with_notes(state)
    del notes["options"]
    save(found, state, notes)
    with pytest.raises(BadTable, match="is not the state of a stream"):
        live(data, state)


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
    assert "begun with --confidence 0.9" in " ".join(wrong.err.split())
    assert state.read_bytes() == kept
    assert "12 labels evaluated" in ask(*shared).out


@pytest.mark.parametrize(
    ("begins", "kind"), [(b"PAR1", "a Parquet file"), (b"\x1f\x8b", "gzipped")]
)
def test_binary_files_are_refused(tmp_path: Path, begins: bytes, kind: str) -> None:
    data = tmp_path / "rows.csv"
    data.write_bytes(begins + b"\x15\0gear,state\n")
    stream = open_stream(data, None, Columns(), Settings(), 100, 0, {})
    with pytest.raises(BadTable, match=f"{kind}, and a stream is read"):
        collect(stream)


@pytest.mark.slow_cases("how0", "how1")
@pytest.mark.parametrize("how", [{}, {"symmetry": "full"}])
def test_many_rows_without_a_state_are_predicted_and_saved(
    tmp_path: Path, how: dict[str, str]
) -> None:
    """Where the last label is too long ago for sets to be listed, saved and gone on from, too."""
    data, state = tmp_path / "rows.csv", tmp_path / "on.definetti"
    write(data, 0, 110, "w")
    with data.open("a") as file:
        file.write("hat,\n" * 25)
    shown, notes = [], []
    watching = {"alpha": 0.05, "visits": False}
    for _ in range(2):
        stream = open_stream(data, state, Columns(), Settings(**how), 100, 0, watching)
        shown += collect(stream)
        notes += stream.notes
        write(data, 110, 115)
    assert [row for row, *_ in shown] == list(range(101, 141))
    assert any("have no set" in note for note in notes) == bool(how)
    monitor = stream.series[None].monitor
    assert monitor is not None
    assert (monitor.n_labels, monitor.n_skipped) == (15, 25)


def test_a_line_that_is_half_written_is_left_for_the_next_call(tmp_path: Path) -> None:
    data, state = tmp_path / "rows.csv", tmp_path / "on.definetti"
    write(data, 0, 110, "w")
    text = data.read_text()
    rows = []
    for part in (text[:-2], text):
        data.write_text(part)
        watching = {"alpha": 0.05, "visits": False}
        stream = open_stream(data, state, Columns(), Settings(), 100, 0, watching)
        rows += [row for row, *_ in collect(stream)]
        assert any("has no end" in note for note in stream.notes) == (part != text)
    assert rows == list(range(101, 111))


@pytest.mark.parametrize("later", [["007", "07"], ["007", "NA"], ["7", "7"], ["0.50", "1e3"]])
def test_digits_among_symbols_keep_zeros_in_a_resumed_stream(
    tmp_path: Path, ask: Any, later: list[str]
) -> None:
    """A batch of digits alone was read as numbers: 007 was refused, or taken for 7."""
    symbols = random.Random(0).choices(["x1", "7", "007"], k=40)
    rows = [f"{symbol},{'ab'[k % 3 % 2]}\n" for k, symbol in enumerate(symbols)]
    new = [f"{symbol},a\n" for symbol in later]
    how = ("--first", 30, "--json", "--save")
    (tmp_path / "rows.csv").write_text("".join(["code,state\n", *rows]))
    assert ask("monitor", "rows.csv", *how, "parts.definetti").returncode == 0
    with (tmp_path / "rows.csv").open("a") as file:
        file.writelines(new)
    resumed = ask("monitor", "rows.csv", *how, "parts.definetti")
    whole = ask("monitor", "rows.csv", *how, "whole.definetti")
    assert (resumed.returncode, whole.returncode) == (0, 0), resumed.err
    assert lines(resumed.out) == lines(whole.out)[-len(later) :]
    for name in ("parts", "whole"):
        monitor, notes = load_with_notes(tmp_path / f"{name}.definetti")
        known = monitor._past.known._data.table.labels
        assert set(known) == {"x1", "7", "007", *later}
        assert notes["symbols"] == ["code"]


def test_digits_among_symbols_keep_their_zeros_in_a_file_of_new_rows(
    tmp_path: Path, ask: Any
) -> None:
    rows = ["007,a\n", "7,b\n", "x1,a\n", "7,b\n", "007,a\n"] * 20
    (tmp_path / "rows.csv").write_text("".join(["code,state\n", *rows]))
    (tmp_path / "new.csv").write_text("code\n007\n")
    (tmp_path / "other.csv").write_text("code\n7\n")
    assert ask("fit", "rows.csv", "-o", "on.definetti").returncode == 0
    for known in (("rows.csv",), ("--model", "on.definetti")):
        found = [
            json.loads(ask("predict", *known, name, "--json", "--no-check").out)
            for name in ("new.csv", "other.csv")
        ]
        sets = [[member["sequence"] for member in one["sequences"]] for one in found]
        assert sets == [[["a"]], [["b"]]]
