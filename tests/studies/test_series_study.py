"""The study of sleepers and sentences, on series that are made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from studies import series
from studies.data import SLEEP, WORDS

from definetti.simulate import weather


def test_missing_data_are_named_with_their_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert series.main(["--data", str(tmp_path)]) == 2
    assert SLEEP.name in capsys.readouterr().err


def test_all_ways_judge_the_same_series() -> None:
    towns = [weather(30, random_state=k) for k in range(24)]
    data = series.ManySeries(
        "towns",
        [thing for town in towns for thing in town.observations],
        [sky for town in towns for sky in town.states],
        [f"town {k}" for k in range(24) for _ in range(30)],
        [30] * 24,
    )
    found = series.run(data)
    assert len(found) == 5
    assert {one.windows for one in found.values()} == {12 * 15}  # half of the series train
    assert all(0.8 < one.coverage <= 1 for one in found.values())
    sizes = {name: one.states_per_step for name, one in found.items()}
    assert sizes["windows of all"] <= sizes["own rows"]


def test_sentences_are_read_one_by_one(shared: Callable[[str], Path]) -> None:
    data = series.read_sentences(shared(f"data/{WORDS}"), 3)
    assert len(data.lengths) == 3
    assert sum(data.lengths) == len(data.states) == len(data.groups)
    assert data.groups[-1] == "sentence 3"
