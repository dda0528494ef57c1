from __future__ import annotations

import gzip
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from studies import real_data
from studies.assumptions import departure, describe, half, lingering, two_back
from studies.data import ENTITIES, SLEEP, WORDS, missing
from studies.real_data import RecordedHistory

from definetti import ConformalHMM
from definetti.experiments.worlds import Recording, read_nights, read_sleep, read_words
from definetti.simulate import weather

ENTITY_KINDS = ("LOC", "MISC", "ORG", "PER")
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


def test_words_say_how_far_data_are_from_a_markov_model() -> None:
    changed = [Recording(np.arange(400.0)[:, None], ["x", "x"] * 100 + ["x", "y"] * 100)]
    text = describe("steps", changed)
    assert "adds 0." in text
    assert "correlation" in text
    assert "correlation" not in describe("symbols", [Recording(["a"] * 9, ["x", "y", "y"] * 3)])


def test_all_methods_are_measured_on_the_same_windows() -> None:
    y, x = map(list, weather(120, random_state=0))
    rows = list(real_data.measure(RecordedHistory("town", y, x), 2))
    assert {row.method for row in rows} >= {
        "default", "refitted", "departures", "smoothing", "recent=50", "recent=None",
        "fixed HMM, recent=None", "without observations", *real_data.RIVALS,
    }  # fmt: skip
    assert {row.level for row in rows} == set(real_data.LEVELS)
    assert {row.windows for row in rows} == {24}
    known = ConformalHMM(train_size=36, random_state=0).fit(y[:72], x[:72])
    found = known.evaluate(y[72:], x[72:], 0.9, horizon=2)
    row = next(row for row in rows if row.level == 0.9)
    assert (row.covered, row.width) == (found.covered.sum(), found.width)
    for row in rows:
        assert row.covered <= row.windows
        assert sum(own[0] for own in row.by_state.values()) in (0, row.windows)


def test_sets_of_rivals_are_those_of_listing_all_sequences() -> None:
    """Bounds of the states of all sequences within a limit, beside listing the sequences."""
    rng = np.random.default_rng(0)
    number, steps, n = 5, 3, 3
    last = np.log(rng.dirichlet(np.ones(n), number))
    back = np.log(rng.dirichlet(np.ones(n), (number, steps - 1, n)).swapaxes(2, 3))
    paths = np.array(list(itertools.product(range(n), repeat=steps)))
    logs = last[:, paths[:, -1]]
    for k in range(steps - 1):
        logs = logs + back[:, k, paths[:, k], paths[:, k + 1]]
    assert np.exp(logs).sum(axis=1) == pytest.approx(1)
    limit = rng.uniform(1, 4, (number, n))
    inside = -logs <= limit[:, paths[:, -1]]
    states = (inside[:, :, None, None] & (paths[:, :, None] == np.arange(n))).any(axis=1)
    expected = np.maximum(states.sum(axis=(1, 2)), steps).mean() / steps
    assert real_data.path_width((last, back), limit) == pytest.approx(expected)
    for level, own in zip(real_data.LEVELS, real_data.posterior_limits((last, back)), strict=True):
        held = (np.exp(logs) * (-logs <= own[:, :1] + 1e-9)).sum(axis=1)
        assert (held > level - 0.04).all()


def test_sentences_are_predicted_as_series_on_the_windows_of_the_others() -> None:
    y, x = map(list, weather(240, random_state=0))
    rows = list(real_data.measure(RecordedHistory("text", y, x, [12] * 20), 1))
    windows = {row.method: row.windows for row in rows}
    assert windows[real_data.SEGMENTS] == windows["default"] == 88


def test_stopped_run_goes_on_and_prints_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    towns = [
        RecordedHistory(f"town {k}", *map(list, weather(80, random_state=k))) for k in range(2)
    ]
    monkeypatch.setattr(real_data, "DATA", {"weather": lambda folder: towns})
    output = tmp_path / "rows.jsonl"
    real_data.measure_all(Path(), "", output, [1])
    assert [line["history"] for line in real_data.read_lines(output)] == ["town 0", "town 1"]
    monkeypatch.setattr(real_data, "measure", lambda *_: pytest.fail("measured twice"))
    real_data.measure_all(Path(), "", output, [1])
    real_data.print_tables(output)
    printed = capsys.readouterr().out
    assert "| default | " in printed
    assert "| 64 | " in printed
    assert "smallest rival that reaches the level" in printed


def test_entities_are_read_by_sentence(shared: Callable[[str], Path]) -> None:
    shared(f"data/{ENTITIES}")
    (text,) = real_data.read_entities(shared("data"))
    assert text.lengths is not None
    assert sum(text.lengths) == len(text.states) == len(text.observations) > 10_000
    assert len(text.lengths) == 1_000
    assert set(text.states) == {"O", *(f"{a}-{b}" for a in "BI" for b in ENTITY_KINDS)}
