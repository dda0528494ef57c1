"""Measure the default estimator and its rivals on all recorded data and on drawn worlds.

`python -m studies.real_data --data ../shared/data --output real_data.jsonl` backtests every data
set at every horizon and prints the tables of docs/real-data.md. A stopped run goes on where it
stopped, `--only sleep` takes one data set, and `--table` prints what the file has.

Every method predicts the same windows of the last 40 % of a history, each from all rows before it;
what is trained is trained on the same rows:

- default: ``ConformalHMM`` with half of these rows as `train_size`, for which "auto" chooses the
  model; refitted: ``ConformalHMM()``; departures: the default with ``symmetry="departures"``;
  recent=…: the default that compares with another number of past windows;
- without observations, classical (split conformal prediction with the chosen predictor, marginal),
  classical with previous state, repeat last state: the rows of `definetti.evaluation.run_backtest`;
- class-conditional: split conformal prediction, calibrated for each state; Bonferroni: each step of
  the window by the classical method, with its share of the error; posterior: the most probable
  sequences up to the level;
- each sentence a series (entities): `GroupedConformalHMM` with ``series="all"``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
import warnings
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from definetti import ConformalHMM, GroupedConformalHMM
from definetti.data.history import Windows
from definetti.engine.task import all_candidates, is_long
from definetti.evaluation import backtest_series, run_backtest
from definetti.evaluation.advice import CLASSICAL, OURS
from definetti.evaluation.backtest import Backtest, JudgedLevels
from definetti.evaluation.intervals import exact_interval
from definetti.experiments.recorded_series import read_series
from definetti.experiments.worlds import Recording, read_sleep, read_words
from definetti.symmetry import Spaced
from studies.assumptions import describe
from studies.data import ENTITIES, FOLDER, PAPER, SLEEP, WORDS, missing

LEVELS, HORIZONS = (0.8, 0.9, 0.95), (1, 3, 10, 30)
START, WINDOWS = 0.6, 300  # share of rows before the first window; most windows of several steps
LISTED = 1_000  # sequences that rivals without a lattice may list for each window
REFITTED_LISTED = 200  # and sequences for each of which a model is refitted
ENOUGH = 20  # windows that end in a state, for its own coverage to be shown
RECENT = (50, 100, None)  # beside the default of 200
SENTENCES_READ = 1_000  # of 3,453; a backtest over segments costs the square of their number
LISTED_RIVALS = ("posterior", "class-conditional", "all past windows")
DEFAULT, REFITTED, SENTENCES = "default", "refitted", "each sentence a series"


class RecordedHistory(NamedTuple):
    """A labelled history; `lengths` are those of its segments, None where it has no gaps."""

    name: str
    observations: Any
    states: list[Any]
    lengths: list[int] | None = None


class MeasuredRow(NamedTuple):
    """What one method achieved on one history at one level.

    `by_state` has the number of windows that end in each state, and of those covered.
    """

    method: str
    level: float
    windows: int
    covered: int
    width: float
    seconds: float
    by_state: dict[str, list[int]]


def read_histories(recordings: Sequence[Recording]) -> list[RecordedHistory]:
    """Return recordings without gaps as histories."""
    return [RecordedHistory(one.name, one.observations, list(one.states)) for one in recordings]


def read_paper(folder: Path) -> list[RecordedHistory]:
    """Return the four series; the observation of a step is the state before it, as in the paper."""
    found = []
    for series in read_series(folder / PAPER):
        states = list(map(str, series.states))
        found.append(
            RecordedHistory(series.name, [f"after {state}" for state in states[:-1]], states[1:])
        )
    return found


def read_entities(folder: Path) -> list[RecordedHistory]:
    """Return words of the CoNLL++ test file with their entity tags; a gap between sentences."""
    words, tags, lengths = [], [], [0]
    with gzip.open(folder / ENTITIES, "rt", encoding="utf-8") as file:
        for line in file:
            fields = line.split()
            if len(fields) == 4 and fields[0] != "-DOCSTART-":
                words.append(fields[0])
                tags.append(fields[3])
                lengths[-1] += 1
            elif lengths[-1]:
                lengths.append(0)
    lengths = lengths[:SENTENCES_READ]
    rows = sum(lengths)
    return [RecordedHistory("conllpp", words[:rows], tags[:rows], lengths)]


def draw_world(kind: str) -> list[RecordedHistory]:
    """Draw five histories of 2,400 steps with four sticky states and three sensors."""
    histories = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        states = np.zeros(2400, dtype=int)
        for t in range(1, 2400):
            states[t] = states[t - 1] if rng.random() < 0.85 else rng.integers(4)
        sensors = rng.normal(size=(2400, 3))
        if kind == "drift":
            sensors += np.linspace(0, 3, 2400)[:, None]
        if kind == "autocorrelated":
            for t in range(1, 2400):
                sensors[t] = 0.95 * sensors[t - 1] + np.sqrt(1 - 0.95**2) * sensors[t]
        if kind != "useless":
            sensors += 1.5 * np.eye(4)[states, :3]
        histories.append(RecordedHistory(f"{kind} {seed}", sensors, list(map(str, states))))
    return histories


DATA: dict[str, Callable[[Path], list[RecordedHistory]]] = {
    "sleep": lambda folder: read_histories(read_sleep(folder / SLEEP)),
    "words": lambda folder: read_histories(read_words(folder / WORDS)),
    "paper": read_paper,
    "entities": read_entities,
    "drawn stable": lambda folder: draw_world("stable"),
    "drawn drift": lambda folder: draw_world("drift"),
    "drawn autocorrelated": lambda folder: draw_world("autocorrelated"),
    "drawn useless": lambda folder: draw_world("useless"),
}


def measure(history: RecordedHistory, horizon: int) -> Iterator[MeasuredRow]:
    """Yield the rows of all methods on one history."""
    train_size = training_rows(history)
    main, seconds = run(history, horizon, train_size=train_size)
    for method, judged in main.methods.items():
        yield from rows_of(DEFAULT if method == OURS else method, judged, seconds)
    variants: dict[str, dict[str, Any]] = {
        "departures": {"train_size": train_size, "symmetry": "departures"},
        **{f"recent={k}": {"train_size": train_size, "symmetry": Spaced(recent=k)} for k in RECENT},
    }
    states = len(set(history.states))
    if not is_long(states, horizon, REFITTED_LISTED):
        variants[REFITTED] = {}
    for name, settings in variants.items():
        backtest, seconds = run(history, horizon, **settings)
        yield from rows_of(name, backtest.methods[OURS], seconds)
    if horizon > 1:
        yield from measure_bonferroni(history, horizon)
    if not is_long(states, horizon, LISTED):
        yield from measure_listed(main, history, horizon)
    if history.lengths is not None:
        yield from measure_sentences(history, horizon)


def training_rows(history: RecordedHistory) -> int:
    """Return half of the rows before the first window, as a number that symmetries may use."""
    return int(0.5 * START * len(history.states))


def run(history: RecordedHistory, horizon: int, levels: Any = LEVELS, **settings: Any) -> Any:
    """Return the backtest of an estimator with its rivals, and its CPU time."""
    began = time.process_time()
    backtest = run_backtest(
        ConformalHMM(states=sorted(set(history.states)), random_state=0, **settings),
        history.observations, history.states, horizon, levels=levels, start=START,
        windows=WINDOWS if horizon > 1 else None, lengths=history.lengths,
    )  # fmt: skip
    return backtest, time.process_time() - began


def rows_of(method: str, judged: JudgedLevels, seconds: float) -> Iterator[MeasuredRow]:
    """Yield the row of each level of a backtest."""
    codes = judged.truth.reshape(-1, judged.horizon)[:, -1]
    last = [str(judged.states[code]) if code >= 0 else "new" for code in codes]
    for place, level in enumerate(judged.levels):
        found = judged.evaluation(place)
        yield row_of(method, level, found.covered, found.width, seconds, last)


def row_of(
    method: str, level: float, covered: Any, width: float, seconds: float, last: Sequence[Any]
) -> MeasuredRow:
    """Count windows and those covered, in all and by the state in which they end."""
    by_state: dict[str, list[int]] = {}
    for state, hit in zip(last, covered, strict=True):
        counts = by_state.setdefault(str(state), [0, 0])
        counts[0] += 1
        counts[1] += int(hit)
    return MeasuredRow(
        method, level, len(covered), int(sum(covered)), float(width), seconds, by_state
    )


def measure_bonferroni(history: RecordedHistory, horizon: int) -> Iterator[MeasuredRow]:
    """Give each step of a window its share of the error; steps are predicted one by one."""
    shares = {level: round(1 - (1 - level) / horizon, 12) for level in LEVELS}
    backtest, seconds = run(history, 1, tuple(shares.values()), train_size=training_rows(history))
    if CLASSICAL not in backtest.methods:
        return
    judged = backtest.methods[CLASSICAL]
    firsts, place = [], 0
    while place + horizon <= len(judged.begins):
        whole = judged.begins[place + horizon - 1] - judged.begins[place] == horizon - 1
        if whole:  # no gap inside
            firsts.append(place)
        place += horizon if whole else 1
    if not firsts:
        return
    steps = np.array(firsts)[:, None] + np.arange(horizon)
    last = [history.states[row] for row in judged.begins[steps[:, -1]]]
    for level, share in shares.items():
        found = judged.evaluation(judged.levels.index(share))
        covered = found.covered[steps].all(axis=1)
        yield row_of("Bonferroni", level, covered, found.width, seconds, last)


def measure_listed(
    backtest: Backtest, history: RecordedHistory, horizon: int
) -> Iterator[MeasuredRow]:
    """List all sequences of a window, scored by their posterior under the chosen model.

    "posterior" takes the most probable ones up to the level, without calibration;
    "class-conditional" compares each with the past windows that end in the same state, overlapping
    ones included, as split conformal prediction calibrated for each class does; "all past windows"
    with all of them, across gaps, too.
    """
    predictor, began = backtest.predictor, time.process_time()
    data, observations = predictor._data, history.observations
    candidates = all_candidates(len(data.alphabet), horizon)
    codes = data.alphabet.encode(history.states, "states")
    table, seen = data.emission.encode(observations, data.table, "observations")
    task = predictor._task(observations[:horizon], None)
    estimate = data.model.estimate(
        task.complete_with(0), table, data.statistics, data.alphabet.labels
    )
    steps = np.arange(horizon)

    def log_posterior(begins: Any, paths: Any) -> Any:
        return estimate.log_posterior(
            Windows(codes[begins - 1], paths, seen[begins[:, None] + steps])
        )

    owner = np.repeat(np.arange(len(history.lengths or [0])), history.lengths or [len(codes)])
    cut = 0 if data.training is None else len(data.training.states)
    past = np.arange(max(cut, 1), len(codes) - horizon + 1)
    past = past[owner[past - 1] == owner[past + horizon - 1]]
    scores = -log_posterior(past, codes[past[:, None] + steps])
    calibration: list[list[float]] = [[] for _ in data.alphabet.labels]
    begins, known = backtest.methods[OURS].begins, 0
    members = np.zeros((3, len(LEVELS), len(begins), len(candidates)), dtype=bool)
    pooled: list[float] = []
    for place, row in enumerate(begins):
        while known < len(past) and past[known] + horizon <= row:
            insort(calibration[codes[past[known] + horizon - 1]], float(scores[known]))
            insort(pooled, float(scores[known]))
            known += 1
        logs = log_posterior(np.full(len(candidates), row), candidates)
        order = np.argsort(-logs, kind="stable")
        before = np.concatenate([[0.0], np.exp(logs[order]).cumsum()[:-1]])
        marginal = (1 + len(pooled) - np.searchsorted(pooled, -logs)) / (1 + len(pooled))
        p_values = np.empty(len(candidates))
        for k, (candidate, score) in enumerate(zip(candidates, -logs, strict=True)):
            own = calibration[candidate[-1]]
            p_values[k] = (1 + len(own) - bisect_left(own, score)) / (1 + len(own))
        for k, level in enumerate(LEVELS):
            members[0, k, place, order] = before < level
            members[1, k, place] = p_values > 1 - level + 1e-12
            members[2, k, place] = marginal > 1 - level + 1e-12
    seconds = time.process_time() - began
    truth = (candidates == codes[begins[:, None] + steps][:, None]).all(axis=2)
    last = [history.states[row + horizon - 1] for row in begins]
    possible = np.array([[candidates[:, h] == c for c in range(len(calibration))] for h in steps])
    for name, own in zip(LISTED_RIVALS, members, strict=True):
        for level, sets in zip(LEVELS, own, strict=True):
            covered = (sets & truth).any(axis=1)
            width = np.einsum("wc,hsc->whs", sets, possible).sum(axis=2).mean()
            yield row_of(name, level, covered, width, seconds, last)


def measure_sentences(history: RecordedHistory, horizon: int) -> Iterator[MeasuredRow]:
    """Predict each sentence as a series, calibrated on the sentences that did not train."""
    assert history.lengths is not None
    began = time.process_time()
    groups = np.repeat(np.arange(len(history.lengths)), history.lengths)
    first = groups[int(START * len(groups))]
    cp = GroupedConformalHMM(
        ConformalHMM(train_size=0.5, states=sorted(set(history.states)), random_state=0), "all"
    )
    found = backtest_series(
        cp, history.observations, history.states, groups, horizon=horizon, start=1e-9,
        confidence_level=list(LEVELS),
    )  # fmt: skip
    seconds = time.process_time() - began
    for level, result in zip(LEVELS, found, strict=True):
        own = [record for record in result if record.series >= first and record.windows]
        windows = sum(record.windows for record in own)
        width = sum(record.states_per_step * record.windows for record in own) / windows
        covered = int(sum(record.covered for record in own))
        yield MeasuredRow(SENTENCES, level, windows, covered, width, seconds, {})


def measure_all(folder: Path, only: str, output: Path, horizons: Sequence[int]) -> None:
    """Measure what the file does not have yet, and append a line for each history and horizon."""
    done = {(line["data"], line["history"], line["horizon"]) for line in read_lines(output)}
    for name, load in DATA.items():
        if not name.startswith(only):
            continue
        for history in load(folder):
            for horizon in horizons:
                if (name, history.name, horizon) in done:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    rows = list(measure(history, horizon))
                line = {"data": name, "history": history.name, "horizon": horizon, "rows": rows}
                with output.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
                print(name, history.name, horizon, file=sys.stderr, flush=True)


def read_lines(output: Path) -> list[dict[str, Any]]:
    """Return what a file has, a line for each history and horizon."""
    if not output.exists():
        return []
    lines = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    return [{**line, "rows": [MeasuredRow(*row) for row in line["rows"]]} for line in lines]


def print_tables(output: Path) -> None:
    """Print coverage with its interval / worst given a last state / states a step, pooled."""
    pooled: dict[tuple[str, int], dict[str, dict[float, list[MeasuredRow]]]] = {}
    for line in read_lines(output):
        methods = pooled.setdefault((line["data"], line["horizon"]), {})
        for row in line["rows"]:
            methods.setdefault(row.method, {}).setdefault(row.level, []).append(row)
    for (name, horizon), methods in pooled.items():
        print(f"\n{name}, {horizon} step{'s' * (horizon > 1)}\n")
        print("| method | " + " | ".join(map(str, LEVELS)) + " | windows | CPU s |")
        print("|---|" + "---|" * (len(LEVELS) + 2))
        for method, levels in methods.items():
            cells = [format_cell(level, levels[level]) for level in LEVELS if level in levels]
            rows = levels[max(levels)]
            windows, seconds = sum(row.windows for row in rows), sum(row.seconds for row in rows)
            print(f"| {method} | {' | '.join(cells)} | {windows:,} | {seconds:.1f} |")


def format_cell(level: float, rows: Sequence[MeasuredRow]) -> str:
    """Write coverage, bold where significantly short, with what else is known at a level."""
    windows, covered = sum(row.windows for row in rows), sum(row.covered for row in rows)
    low, high = exact_interval(covered, windows)
    share = f"{covered / windows:.3f}"
    if high < level:
        share = f"**{share}**"
    counts: dict[str, list[int]] = {}
    for row in rows:
        for state, own in row.by_state.items():
            counts[state] = [a + b for a, b in zip(counts.get(state, [0, 0]), own, strict=True)]
    worst = [hits / number for number, hits in counts.values() if number >= ENOUGH]
    width = sum(row.windows * row.width for row in rows) / windows
    middle = f" / {min(worst):.2f}" if worst else ""
    return f"{share} [{low:.3f}, {high:.3f}]{middle} / {width:.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is missing, and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.real_data", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--only", default="", help="data sets whose names begin so")
    parser.add_argument("--horizons", type=int, nargs="+", default=HORIZONS)
    parser.add_argument("--output", type=Path, default=Path("real_data.jsonl"))
    parser.add_argument("--table", action="store_true", help="print what the file has")
    given = parser.parse_args(arguments)
    if not given.table:
        if message := missing(given.data):
            print(message, file=sys.stderr)
            return 2
        measure_all(given.data, given.only, given.output, given.horizons)
        for name in ("sleep", "words", "paper", "entities"):
            if name.startswith(given.only):
                histories = [Recording(*history[1:3]) for history in DATA[name](given.data)]
                print(describe(name, histories))
    print_tables(given.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
