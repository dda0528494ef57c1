from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from studies import real_data
from studies.assumptions import departure, half, lingering, two_back
from studies.calibration import AllWindows
from studies.data import SLEEP, WORDS, missing
from studies.rolling import StudiedMethod, begins, rank_windows
from studies.rows import StudyRow

from definetti import HMM, ConformalHMM
from definetti.experiments.worlds import Recording, read_nights, read_sleep, read_words
from definetti.simulate import weather

CONLLU = """\
# text = I don't. None
1\tI\tI\tPRON\t_
2-3\tdon't\t_\t_\t_
2\tdo\tdo\tAUX\t_
3\tn't\tnot\tPART\t_

# sent_id = 2
1\tNo\tno\tINTJ\t_
1.1\tunsaid\tsay\tVERB\t_
"""
EPOCHS = """\
night,epoch,stage,delta,theta
SC4012E0,8,N1,5.0,6.0
SC4011E0,9,N2,3.0,4.0
SC4011E0,7,W,1.0,2.0
SC4021E0,1,W,7.0,8.0
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    for path in (SLEEP, WORDS):
        (tmp_path / path).parent.mkdir()
    with gzip.open(tmp_path / SLEEP, "wt") as file:
        file.write(EPOCHS)
    (tmp_path / WORDS).write_text(CONLLU, encoding="utf-8")
    return tmp_path


def test_words_are_those_with_a_number_of_their_own(tiny: Path) -> None:
    (text,) = read_words(tiny / WORDS)
    assert text.observations == ["I", "do", "n't", "No"]
    assert text.states == ["PRON", "AUX", "PART", "INTJ"]


def test_nights_of_a_subject_are_one_history_in_the_order_of_time(tiny: Path) -> None:
    first, second = read_sleep(tiny / SLEEP)
    assert (first.name, first.states) == ("SC401", ["W", "N2", "N1"])
    assert first.observations.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert (second.name, second.states) == ("SC402", ["W"])
    nights = read_nights(tiny / SLEEP)
    assert [(one.subject, one.name, one.epochs.tolist(), one.stages) for one in nights] == [
        ("SC401", "SC4011E0", [7, 9], ["W", "N2"]),
        ("SC401", "SC4012E0", [8], ["N1"]),
        ("SC402", "SC4021E0", [1], ["W"]),
    ]


def test_missing_data_are_named_with_their_source(
    tmp_path: Path, tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert missing(tiny) is None
    assert real_data.main(["--data", str(tmp_path / "nowhere")]) == 2
    said = capsys.readouterr().err
    assert "PhysioNet Sleep-EDF Expanded" in said
    assert "Universal Dependencies English-PUD" in said
    (tiny / WORDS).unlink()
    said = missing(tiny) or ""
    assert WORDS.name in said
    assert SLEEP.name not in said


def test_windows_do_not_overlap_and_stay_inside() -> None:
    for length, horizon, count in [(100, 1, 10), (101, 3, 100), (40, 3, 1)]:
        chosen = np.array(begins(length, horizon, count))
        assert (np.diff(chosen) >= horizon).all()
        assert chosen[0] == int(0.75 * length)
        assert chosen[-1] + horizon <= length


def test_classical_ranks_among_all_windows_of_the_calibration_segment() -> None:
    y, x = map(list, weather(120, random_state=1))
    history = Recording(y, x)

    def make(length: int) -> ConformalHMM:
        return ConformalHMM(HMM(), symmetry=AllWindows(), train_size=60, random_state=0)

    outcomes = rank_windows(history, StudiedMethod("classical", make), horizon=3, count=2)
    # The new window joins the 90 − 60 − 3 before it; by the second 27 labels have been revealed.
    assert [outcome.truth.total for outcome in outcomes if outcome.truth] == [28, 55]


def test_departures_are_found_where_they_are_and_not_elsewhere() -> None:
    rng = np.random.default_rng(0)
    coin = [Recording(rng.normal(size=(4000, 2)), list(map(str, rng.integers(2, size=4000))))]
    for context in (two_back, half):
        assert departure(coin, context).bits < 0.003
    assert abs(lingering(coin) or 1.0) < 0.05
    turns = [Recording(["a"] * 400, ["x", "x", "y", "y"] * 100)]
    assert departure(turns, two_back).bits > 0.99
    assert lingering(turns) is None
    changed = [Recording(["a"] * 400, ["x", "x"] * 100 + ["x", "y"] * 100)]
    assert departure(changed, half).bits > 10 * departure(changed, half).chance
    drift = [Recording(np.arange(400.0)[:, None], ["x"] * 400)]
    assert (lingering(drift) or 0.0) > 0.9


@pytest.mark.slow
def test_real_data(
    shared: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (SLEEP, WORDS):
        shared(f"data/{name}")
    data, output = str(shared("data")), tmp_path / "table.csv"
    assert real_data.main(["--data", data, "--windows", "4", "--output", str(output)]) == 0
    with output.open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert tuple(table[0]) == StudyRow._fields
    assert {(row["data"], row["horizon"]) for row in table} == {
        (data, horizon) for data in ("sleep", "words") for horizon in "13"
    }
    assert all(float(row["low"]) <= float(row["coverage"]) <= float(row["high"]) for row in table)
    said = capsys.readouterr().out
    assert "worst given last state" in said
    assert "Markov chain" in said
