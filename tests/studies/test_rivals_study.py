"""The study of the default beside its rivals: all rows, and no row measured twice."""

from pathlib import Path

import pytest
from studies import rivals

from definetti.experiments.worlds import Recording
from definetti.simulate import weather


def test_all_rivals_are_measured_on_the_same_data():
    history = Recording(*map(list, weather(120, random_state=0)))
    found = {(method, level) for method, level, _ in rivals.measure(history, 2)}
    methods = {method for method, _ in found}
    assert {
        "default", "default, train_size=0.5", "without observations", "classical",
        "class-conditional", "Bonferroni over steps", "posterior", "repeat last state",
    } <= methods  # fmt: skip
    assert {level for _, level in found} == set(rivals.LEVELS)


def test_stopped_run_goes_on_and_prints_tables(tmp_path, monkeypatch, capsys):
    drawn = [Recording(*map(list, weather(80, random_state=k)), f"town {k}") for k in range(2)]
    monkeypatch.setattr(rivals, "DATA", {"weather": lambda data: drawn})
    output = tmp_path / "rows.jsonl"
    rivals.run(Path(), "", output, (1,), quick=True)
    assert [line["history"] for line in rivals.read(output)] == ["town 0", "town 1"]
    monkeypatch.setattr(rivals, "measure", lambda *_: pytest.fail("measured twice"))
    rivals.run(Path(), "", output, (1,), quick=True)
    rivals.print_tables(output)
    assert "| default, train_size=0.5 | " in capsys.readouterr().out
