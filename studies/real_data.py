"""Measure the default estimator and its rivals on all recorded data and on drawn worlds.

`python -m studies.real_data --data ../shared/data --output real_data.jsonl` backtests every data
set at every horizon and prints the tables of docs/real-data.md. A stopped run goes on where it
stopped, `--only sleep` takes one data set, and `--table` prints what the file has.

Every method predicts the same windows of the last 40 % of a history, each from all rows before it;
what is trained is trained on the same rows:

- default: ``ConformalHMM`` with half of these rows as `train_size`, for which "auto" chooses the
  model; where a history is many sentences, `GroupedConformalHMM` with ``series="all"``, and
  "sentences as segments" is the former;
- departures, band, smoothing, recent=…: the default with other settings; fixed HMM, recent=None:
  no choice of the model, and all past windows; refitted: ``ConformalHMM()``, on fewer windows;
- without observations: the default with a chain of states alone;
- rivals without a guarantee, made of the chosen predictor: split conformal prediction by the
  posterior of the window, without and with the previous state; class-conditional: the latter,
  calibrated for each last state; Bonferroni: each step by its own probability, with its share of
  the error; posterior: the most probable sequences up to the level; repeat last state.

"sleep by night" and "sleep shuffled" have our own rows alone: they tell why the default is short.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
import warnings
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from definetti import HMM, ConformalHMM, GroupedConformalHMM
from definetti.data.history import Windows
from definetti.data.labels import piece
from definetti.engine.task import is_long
from definetti.evaluation import backtest_series
from definetti.evaluation.backtest import plan_windows, repeat_last
from definetti.evaluation.intervals import exact_interval
from definetti.evaluation.judged import JudgedLevels
from definetti.evaluation.window_loop import roll_segments
from definetti.experiments.classical import Memoryless
from definetti.experiments.recorded_series import read_series
from definetti.experiments.worlds import Recording, read_nights, read_sleep, read_words
from definetti.symmetry import Spaced
from studies.assumptions import describe
from studies.data import ENTITIES, FOLDER, PAPER, SLEEP, WORDS, missing

LEVELS, HORIZONS = (0.8, 0.9, 0.95), (1, 3, 10, 30)
START = 0.6  # share of rows before the first window
WINDOWS, SINGLE = 100, 300  # most windows of several steps, and where there is a single history
REFITTED_WINDOWS = 100  # of one step in which a model is refitted for each candidate
REFITTED_LISTED = 200  # the most candidates of such a window
SAMPLED = 1_000  # sequences of each window by which the posterior's own sets are bounded
SLACK, LARGEST = 1e-9, 1e9  # what rounding may do to a score; more than any score
ENOUGH = 20  # windows that end in a state, for its own coverage to be shown
SHORT = 3  # steps up to which settings of ours are compared
RECENT = (50, 100, None)  # beside the default of 200
BLOCK = 50  # epochs that stay together where a night is shuffled
SENTENCES_READ = 1_000  # of 3,453; a backtest over segments costs the square of their number
DEFAULT, REFITTED, SEGMENTS = "default", "refitted", "sentences as segments"
DEPARTURES, BAND = "departures", "departures, band"
CLASSICAL, PREVIOUS, REPEAT = "split conformal", "split, previous state", "repeat last state"
RIVALS = (CLASSICAL, PREVIOUS, "class-conditional", "Bonferroni", "posterior", REPEAT)


class RecordedHistory(NamedTuple):
    """A labelled history; `lengths` are those of its segments, None where it has no gaps.

    Of several steps at most so many `windows` are predicted, spread evenly.
    """

    name: str
    observations: Any
    states: list[Any]
    lengths: list[int] | None = None
    windows: int = WINDOWS


class MeasuredRow(NamedTuple):
    """What one method achieved on one history at one level.

    `fitting` and `window` are CPU seconds of the fit and of one window; `by_state` has the number
    of windows that end in each state, and of those covered.
    """

    method: str
    level: float
    windows: int
    covered: int
    width: float
    fitting: float
    window: float
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
    return [RecordedHistory("conllpp", words[:rows], tags[:rows], lengths, SINGLE)]


def shuffle_blocks(recordings: Sequence[Recording]) -> list[RecordedHistory]:
    """Return histories whose blocks of epochs come in random order: no change of law in time."""
    found = []
    for seed, one in enumerate(recordings):
        starts = np.arange(0, len(one.states), BLOCK)
        order = np.random.default_rng(seed).permutation(starts)
        rows = np.concatenate([np.arange(k, min(k + BLOCK, len(one.states))) for k in order])
        states = np.array(one.states, dtype=object)[rows].tolist()
        found.append(RecordedHistory(one.name, one.observations[rows], states))
    return found


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
    "words": lambda folder: [
        one._replace(windows=SINGLE) for one in read_histories(read_words(folder / WORDS))
    ],
    "entities": read_entities,
    "paper": read_paper,
    "sleep shuffled": lambda folder: shuffle_blocks(read_sleep(folder / SLEEP)),
    "sleep by night": lambda folder: [
        RecordedHistory(night.name, night.observations, night.stages)
        for night in read_nights(folder / SLEEP)
    ],
    "drawn stable": lambda folder: draw_world("stable"),
    "drawn drift": lambda folder: draw_world("drift"),
    "drawn autocorrelated": lambda folder: draw_world("autocorrelated"),
    "drawn useless": lambda folder: draw_world("useless"),
}
OWN_ROWS = ("sleep by night", "sleep shuffled")


def measure(history: RecordedHistory, horizon: int, own: bool = False) -> Iterator[MeasuredRow]:
    """Yield the rows of all methods on one history, or of our own estimators alone."""
    train_size = training_rows(history)
    shared: dict[str, Any] = {"train_size": train_size}
    variants: dict[str, dict[str, Any]] = {
        SEGMENTS if history.lengths else DEFAULT: shared,
        DEPARTURES: {**shared, "symmetry": "departures"},
    }
    if horizon > 1:
        variants[BAND] = {**shared, "symmetry": "departures", "conformity_score": "band"}
    if not own and horizon <= SHORT:
        variants["smoothing"] = {**shared, "smoothing": True}
        variants |= {f"recent={k}": {**shared, "symmetry": Spaced(recent=k)} for k in RECENT}
        every = {"model": HMM(), "symmetry": Spaced(recent=None)}
        variants["fixed HMM, recent=None"] = {**shared, **every}
        if not is_long(len(set(history.states)), horizon, REFITTED_LISTED):
            variants[REFITTED] = {}
    name, settings = next(iter(variants.items()))
    predictor, judged, seconds = judge(history, horizon, history.observations, **settings)
    yield from rows_of(name, judged, *seconds)
    last = repeat_last(judged, history.states, 0, 0)
    yield from rows_of(REPEAT, last, 0.0, 0.0)
    for name, settings in list(variants.items())[1:]:
        if settings.get("train_size") and "model" not in settings and history.lengths is None:
            settings = {**settings, "model": predictor.model_, "train_size": None}
        _, judged, seconds = judge(history, horizon, history.observations, **settings)
        yield from rows_of(name, judged, *seconds)
    if own:
        return
    _, judged, seconds = judge(history, horizon, None, model=HMM(), **shared)
    yield from rows_of("without observations", judged, *seconds)
    yield from measure_rivals(predictor, history, horizon, last.begins)
    if history.lengths is not None:
        yield from measure_sentences(history, horizon)


def training_rows(history: RecordedHistory) -> int:
    """Return half of the rows before the first window, as a number that symmetries may use."""
    return int(0.5 * START * len(history.states))


def judge(
    history: RecordedHistory, horizon: int, observations: Any, **settings: Any
) -> tuple[ConformalHMM, JudgedLevels, tuple[float, float]]:
    """Fit and judge an estimator; return both, and CPU seconds of the fit and of a window."""
    lengths = history.lengths or [len(history.states)]
    most = history.windows if horizon > 1 else None if settings else REFITTED_WINDOWS
    plan = plan_windows(lengths, horizon, START, most)
    assert plan is not None
    begin = plan.begin
    known = np.diff(np.minimum(np.cumsum(lengths), begin), prepend=0)
    before = known[known > 0].tolist() if history.lengths else None
    past = piece(observations, 0, begin)
    rest = piece(observations, begin, len(history.states))
    known_states = history.states[:begin]
    if settings.get("train_size", 0) is None:  # a model that was chosen before on the same rows
        past = piece(past, training_rows(history), begin)
        known_states = known_states[training_rows(history) :]
    cp = ConformalHMM(states=sorted(set(history.states)), random_state=0, **settings)
    times = [time.process_time()]
    cp.fit(past, known_states, before)
    times.append(time.process_time())
    judged = roll_segments(
        cp, rest, history.states[begin:], plan.ahead, horizon, plan.places, plan.every,
        levels=list(LEVELS), observed=horizon, asked=1, by_p_values=True,
    )  # fmt: skip
    times.append(time.process_time())
    fitting, judging = np.diff(times).tolist()
    judged = judged._replace(begins=judged.begins + begin)
    return cp, judged, (fitting, judging / len(judged.covers))


def rows_of(
    method: str, judged: JudgedLevels, fitting: float, window: float
) -> Iterator[MeasuredRow]:
    """Yield the row of each level of a backtest."""
    codes = judged.truth.reshape(-1, judged.horizon)[:, -1]
    last = [str(judged.states[code]) if code >= 0 else "new" for code in codes]
    for place, level in enumerate(judged.levels):
        found = judged.evaluation(place)
        yield row_of(method, level, found.covered, found.width, fitting, window, last)


def row_of(
    method: str, level: float, covered: Any, width: float, fitting: float, window: float,
    last: Sequence[Any],
) -> MeasuredRow:  # fmt: skip
    """Count windows and those covered, in all and by the state in which they end."""
    by_state: dict[str, list[int]] = {}
    for state, hit in zip(last, covered, strict=True):
        counts = by_state.setdefault(str(state), [0, 0])
        counts[0] += 1
        counts[1] += int(hit)
    return MeasuredRow(
        method, level, len(covered), int(sum(covered)), float(width), fitting, window, by_state
    )


class Calibration:
    """Scores of past windows in rising order, which grow as windows end."""

    def __init__(self) -> None:
        self.scores: list[float] = []

    def add(self, score: float) -> None:
        insort(self.scores, float(score))

    def limit(self, alpha: float) -> float:
        """Return the largest score whose p-value exceeds alpha, where the window itself counts."""
        place = int(alpha * (len(self.scores) + 1) + 1e-9)
        return self.scores[-place] if place else LARGEST


def always_in(histories: Sequence[RecordedHistory], level: float = 0.9) -> float:
    """Return how many states the sets of one step have because too few past windows end in them."""
    needed, kept, windows = round(1 / (1 - level)) - 1, 0, 0
    for history in histories:
        codes = np.unique(history.states, return_inverse=True)[1]
        visits = np.cumsum(codes[:, None] == np.arange(codes.max() + 1), axis=0)
        before = visits[int(START * len(codes)) - 1 : -1] - visits[training_rows(history) - 1]
        kept += int((before - 1 < needed).sum())  # the earliest visit ends no window
        windows += len(before)
    return kept / windows


def measure_rivals(
    predictor: ConformalHMM, history: RecordedHistory, horizon: int, begins: Any
) -> Iterator[MeasuredRow]:
    """Judge sets without a guarantee, made of the chosen predictor, on the same windows.

    They are calibrated by all windows that end before and do not train, overlapping ones included.
    """
    data = predictor._data
    labels, (table, seen) = (
        data.alphabet.labels,
        data.emission.encode(history.observations, data.table, "observations"),
    )
    codes, steps = data.alphabet.encode(history.states, "states"), np.arange(horizon)
    owner = np.repeat(np.arange(len(history.lengths or [0])), history.lengths or [len(codes)])
    cut = 0 if data.training is None else len(data.training.states)
    past = np.arange(max(cut, 1), len(codes) - horizon + 1)
    past = past[owner[past - 1] == owner[past + horizon - 1]]
    last = [history.states[row + horizon - 1] for row in begins]
    task = predictor._task(history.observations[:horizon], None)
    models = {CLASSICAL: Memoryless.of(data.model, data.training), PREVIOUS: data.model}

    def windows(rows: Any) -> Windows:
        block = rows[:, None] + steps
        return Windows(codes[rows - 1], codes[block], seen[block])

    for name, model in models.items():
        estimate = model.estimate(task.complete_with(0), table, data.statistics, labels)
        began = time.process_time()
        kernels = log_kernels(estimate, windows(begins))
        true = estimate.log_posterior(windows(begins)).clip(-LARGEST)
        scores = -estimate.log_posterior(windows(past)).clip(-LARGEST)
        shared = (time.process_time() - began) / len(begins)
        limits = {name: np.zeros((len(LEVELS), len(begins), len(labels)))}
        if name == PREVIOUS:
            limits["class-conditional"] = np.zeros_like(limits[name])
        classes = [Calibration() for _ in labels]
        pooled, known = Calibration(), 0
        for place, row in enumerate(begins):
            while known < len(past) and past[known] + horizon <= row:
                classes[codes[past[known] + horizon - 1]].add(scores[known])
                pooled.add(scores[known])
                known += 1
            for k, level in enumerate(LEVELS):
                limits[name][k, place] = pooled.limit(1 - level)
                if name == PREVIOUS:
                    limits["class-conditional"][k, place] = [c.limit(1 - level) for c in classes]
        if name == PREVIOUS:
            limits["posterior"] = posterior_limits(kernels)
        shared = (time.process_time() - began) / len(begins) / len(limits)
        for method, own in limits.items():
            for level, limit in zip(LEVELS, own, strict=True):
                began = time.process_time()
                covered = (
                    -true <= limit[np.arange(len(begins)), codes[begins + horizon - 1]] + SLACK
                )
                width = path_width(kernels, limit)
                spent = shared + (time.process_time() - began) / len(begins)
                yield row_of(method, level, covered, width, 0.0, spent, last)
        if name == PREVIOUS and horizon > 1:
            yield from measure_bonferroni(
                estimate.smoothing(windows(begins)), estimate.smoothing(windows(past)),
                codes[begins[:, None] + steps], codes[past[:, None] + steps], begins, past, last,
            )  # fmt: skip


def log_kernels(estimate: Any, windows: Windows) -> tuple[Any, Any]:
    """Return log-probabilities of last states, and of states given the next; finite."""
    last, back = estimate.log_kernels(windows)
    return last.clip(-LARGEST), back.clip(-LARGEST)


def path_width(kernels: tuple[Any, Any], limit: Any) -> float:
    """Return the states a step of all sequences whose score is within the limit of their end.

    A state is in if the most probable sequence through it is; an empty set has its best sequence.
    """
    last, back = kernels
    number, steps = len(last), back.shape[1] + 1
    after = [last + limit]
    for k in reversed(range(steps - 1)):
        after.insert(0, (back[:, k] + after[0][:, None, :]).max(axis=2))
    before, total = np.zeros_like(last), np.zeros(number)
    for k in range(steps):
        total += (before + after[k] >= -SLACK).sum(axis=1)
        if k < steps - 1:
            before = (before[:, :, None] + back[:, k]).max(axis=1)
    return float(np.maximum(total, steps).mean() / steps)


def posterior_limits(kernels: tuple[Any, Any]) -> Any:
    """Return scores down to which the most probable sequences have the level, by sampling."""
    last, back = kernels
    rng, limits = np.random.default_rng(0), np.zeros((len(LEVELS), *last.shape))
    places = np.ceil(np.array(LEVELS) * SAMPLED).astype(int) - 1
    for place in range(len(last)):
        rows = np.arange(SAMPLED)
        logs = np.broadcast_to(last[place], (SAMPLED, last.shape[1]))
        scores = np.zeros(SAMPLED)
        for k in range(back.shape[1], -1, -1):
            shares = np.exp(logs).cumsum(axis=1)
            states = (rng.random(SAMPLED)[:, None] * shares[:, -1:] > shares).sum(axis=1)
            scores -= logs[rows, states]
            if k:
                logs = back[place, k - 1].T[states]
        limits[:, place] = np.sort(scores)[places][:, None]
    return limits


def measure_bonferroni(
    now: Any, then: Any, truth: Any, past_truth: Any, begins: Any, past: Any, last: Sequence[Any]
) -> Iterator[MeasuredRow]:
    """Give each step of a window its share of the error, by its probability given the window."""
    began, horizon = time.process_time(), truth.shape[1]
    past_scores = -np.take_along_axis(then, past_truth[:, :, None], axis=2)[:, :, 0]
    limits = np.zeros((len(LEVELS), len(begins), horizon))
    calibration, known = [Calibration() for _ in range(horizon)], 0
    for place, row in enumerate(begins):
        while known < len(past) and past[known] + horizon <= row:
            for one, score in zip(calibration, past_scores[known], strict=True):
                one.add(score)
            known += 1
        for k, level in enumerate(LEVELS):
            limits[k, place] = [one.limit((1 - level) / horizon) for one in calibration]
    for level, limit in zip(LEVELS, limits, strict=True):
        sets = -now <= limit[:, :, None] + SLACK
        covered = np.take_along_axis(sets, truth[:, :, None], axis=2)[:, :, 0].all(axis=1)
        width = np.maximum(sets.sum(axis=2), 1).mean()
        spent = (time.process_time() - began) / len(begins)
        yield row_of("Bonferroni", level, covered, width, 0.0, spent, last)


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
    window = (time.process_time() - began) / sum(record.windows for record in found[0])
    for level, result in zip(LEVELS, found, strict=True):
        own = [record for record in result if record.series >= first and record.windows]
        windows = sum(record.windows for record in own)
        width = sum(record.states_per_step * record.windows for record in own) / windows
        covered = int(sum(record.covered for record in own))
        yield MeasuredRow(DEFAULT, level, windows, covered, width, 0.0, window, {})


def measure_all(folder: Path, only: str, output: Path, horizons: Sequence[int]) -> None:
    """Measure what the file does not have yet, and append a line for each history and horizon."""
    done = {(line["data"], line["history"], line["horizon"]) for line in read_lines(output)}
    chosen = {name: load(folder) for name, load in DATA.items() if only in ("", name)}
    for horizon in horizons:
        for name, histories in chosen.items():
            if name in OWN_ROWS and horizon > SHORT:
                continue
            for history in histories:
                if (name, history.name, horizon) in done:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    rows = list(measure(history, horizon, name in OWN_ROWS))
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


def pool_rows(output: Path) -> dict[tuple[str, int], dict[str, dict[float, list[MeasuredRow]]]]:
    """Return the rows of all histories by data set and horizon, then by method and level."""
    pooled: dict[tuple[str, int], dict[str, dict[float, list[MeasuredRow]]]] = {}
    for line in read_lines(output):
        methods = pooled.setdefault((line["data"], line["horizon"]), {})
        for row in line["rows"]:
            methods.setdefault(row.method, {}).setdefault(row.level, []).append(row)
    return pooled


def print_tables(output: Path) -> None:
    """Print coverage with its interval / worst given a last state / states a step, pooled."""
    pooled = pool_rows(output)
    for (name, horizon), methods in pooled.items():
        print(f"\n#### {name}, {horizon} step{'s' * (horizon > 1)}\n")
        print("| method | " + " | ".join(map(str, LEVELS)) + " | windows | fit, s | window, ms |")
        print("|---|" + "---|" * (len(LEVELS) + 3))
        for method, levels in methods.items():
            cells = [format_cell(level, levels[level]) for level in LEVELS if level in levels]
            rows = levels[max(levels)]
            windows = sum(row.windows for row in rows)
            fitting = sum(row.fitting for row in rows) / len(rows)
            window = 1e3 * sum(row.window * row.windows for row in rows) / windows
            print(
                f"| {method} | {' | '.join(cells)} | {windows:,} | {fitting:.1f} | {window:.2g} |"
            )
    print_goal(pooled)


def print_goal(pooled: dict[tuple[str, int], dict[str, dict[float, list[MeasuredRow]]]]) -> None:
    """Print where ours are short, or larger than the smallest rival that reaches a level."""
    ours = (DEFAULT, REFITTED, DEPARTURES, BAND)
    print(f"\n| data, steps | level | {' | '.join(ours)} | smallest rival that reaches the level |")
    print("|---|---|" + "---|" * (len(ours) + 1))
    for (name, horizon), methods in pooled.items():
        for level in LEVELS:
            found = {method: pool_row(rows[level]) for method, rows in methods.items()}
            reached = [m for m in RIVALS if m in found and found[m].covered >= level]
            least = min(reached, key=lambda method: found[method].width, default=None)
            cells = []
            for own in map(found.get, ours):
                if own is None:
                    cells.append("–")
                    continue
                share, width = f"{own.covered:.3f}", f"{own.width:.2f}"
                share = share if own.high >= level else f"**{share}**"
                large = least is not None and own.width > 1.05 * found[least].width
                cells.append(f"{share} / **{width}**" if large else f"{share} / {width}")
            rival = "–"
            if least is not None:
                rival = f"{found[least].covered:.3f} / {found[least].width:.2f} ({least})"
            print(f"| {name}, {horizon} | {level} | {' | '.join(cells)} | {rival} |")


class PooledRow(NamedTuple):
    """Coverage of all windows with the upper end of its interval, and states a step."""

    covered: float
    high: float
    width: float


def pool_row(rows: Sequence[MeasuredRow]) -> PooledRow:
    """Pool the rows of one method and level over histories."""
    windows, covered = sum(row.windows for row in rows), sum(row.covered for row in rows)
    width = sum(row.windows * row.width for row in rows) / windows
    return PooledRow(covered / windows, exact_interval(covered, windows)[1], width)


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
    parser.add_argument("--only", default="", choices=["", *DATA], help="one data set")
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
            if given.only in ("", name):
                histories = DATA[name](given.data)
                print(describe(name, [Recording(*history[1:3]) for history in histories]))
                if histories[0].lengths is None:
                    kept = always_in(histories)
                    print(f"Too few past windows end in {kept:.2f} states to leave them out at 0.9")
    print_tables(given.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
