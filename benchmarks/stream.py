"""Living with a stream: observe and label, a step at a time, however long the past is."""

from __future__ import annotations

import copy
import time
import tracemalloc
from importlib.util import find_spec

import numpy as np
from crepes import ConformalClassifier
from rich.console import Console

from benchmarks.models import draw_sample, random_model
from benchmarks.tables import format_memory, make_table, show_table
from benchmarks.timing import time_once
from definetti import HMM, ConformalHMM, Monitor

STATES, SYMBOLS, STEPS, ROUNDS = 5, 5, 2_000, 5
LENGTHS = (1_000, 10_000, 100_000, 1_000_000)
FEW = 10  # steps of the others, each of which goes through the whole past
MOST_PAIRS = 1_000  # labelled steps for online-cp, which keeps the distances of all pairs
GOAL = 5_000  # steps a second
COLUMNS, NUMBERS, GOAL_NUMBERS = 5, (1_000, 10_000, 100_000), 1_000


def run(console: Console) -> None:
    _show_numbers(console)
    made = make_table(
        f"observe and label, {STATES} states, {SYMBOLS} symbols, refitted: steps a second",
        "labelled steps before",
        "full",
        "on the wall",
        "spaced",
        "on the wall",
        "goal",
        "memory of a step",
        "crepes, one p-value a state",
        "online-cp",
    )
    online = find_spec("online_cp") is not None
    data = draw_sample(random_model(STATES, SYMBOLS, seed=3), max(LENGTHS) + STEPS, seed=4)
    for length in LENGTHS:
        full = _steps_a_second(data, length, "full")
        spaced = _steps_a_second(data, length, "spaced")
        reached = "✓" if min(full[0], spaced[0]) >= GOAL else "✗"
        made.add_row(
            f"{length:,}",
            *[f"{speed:,.0f}" for speed in (*full, *spaced)],
            f"≥ {GOAL:,} {reached}",
            format_memory(_memory(data, length)),
            f"{_crepes(data, length):,.0f}",
            f"{_online(data, length):,.0f}" if online and length <= MOST_PAIRS else "-",
        )
    show_table(
        console,
        made,
        f"definetti: the set, three exact p-values, four martingales, coverage; {STEPS:,} steps; "
        f"the best of {ROUNDS} rounds, by the processor's time, and on the wall, where others who "
        "use the machine count, too",
        f"memory: what {STEPS:,} steps add with keep=100",
        "crepes: class-conditional p-values from the scores of all steps before, no refitting, no "
        "martingale; not valid for a chain",
        "online-cp: nearest neighbours of the observation and the state before, and its simple "
        f"jumper; up to {MOST_PAIRS:,} steps, since it copies the distances of all pairs at every "
        "step; not valid for a chain"
        if online
        else "online-cp is not installed: pip install online-cp",
    )


def _show_numbers(console: Console) -> None:
    made = make_table(
        f"observe and label, two states, {COLUMNS} numeric columns, all defaults: rows a second",
        "labelled rows before",
        "definetti",
        "goal",
    )
    rng = np.random.default_rng(0)
    states = np.cumsum(rng.random(max(NUMBERS) + STEPS) < 0.07) % 2
    rows = rng.normal(size=(len(states), COLUMNS)) + 0.8 * states[:, None]
    for length in NUMBERS:
        cp = ConformalHMM(random_state=0).fit(rows[:length], states[:length].tolist())
        monitor = Monitor(cp, alarm="cusum", random_state=0)
        rest, labels = list(rows[length : length + STEPS]), states[length : length + STEPS].tolist()
        _live(monitor, rest[:20], labels[:20])  # compiled
        begin = time.process_time()
        _live(monitor, rest[20:], labels[20:])
        speed = (len(labels) - 20) / (time.process_time() - begin)
        made.add_row(f"{length:,}", f"{speed:,.0f}", f"≥ {GOAL_NUMBERS:,} "
                     f"{'✓' if speed >= GOAL_NUMBERS else '✗'}")  # fmt: skip
    show_table(console, made, "by the processor's time; the set, three exact p-values, four bets")


def _monitor(data: object, length: int, symmetry: str, keep: int | None) -> Monitor:
    observations, states = data.observations[:length], data.states[:length]  # type: ignore[attr-defined]
    cp = ConformalHMM(HMM(), symmetry=symmetry, states=range(STATES), random_state=0)
    return Monitor(cp.fit(observations, states), keep=keep, alarm="cusum", random_state=0)


def _rest(data: object, length: int) -> tuple[list[int], list[int]]:
    part = slice(length, length + STEPS)
    return data.observations[part].tolist(), data.states[part].tolist()  # type: ignore[attr-defined]


def _live(monitor: Monitor, observations: list[int], states: list[int]) -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a false alarm now and then is what CUSUM promises
        for observation, state in zip(observations, states, strict=True):
            monitor.observe(observation)
            monitor.label(state)


def _steps_a_second(data: object, length: int, symmetry: str) -> tuple[float, float]:
    """Return how many by the time of the processor, and how many on the wall."""
    rest = _rest(data, length)
    monitor = _monitor(data, length, symmetry, keep=100)
    times, walls = [], []
    for _ in range(ROUNDS):
        alone = copy.deepcopy(monitor)
        alone.observe(rest[0][0])  # compiled, and the trees of the past counted
        alone.label(rest[1][0])
        begin = time.perf_counter()
        times.append(time_once(lambda alone=alone: _live(alone, *rest)))  # type: ignore[misc]
        walls.append(time.perf_counter() - begin)
    return STEPS / min(times), STEPS / min(walls)


def _memory(data: object, length: int) -> int:
    monitor, rest = _monitor(data, length, "full", keep=100), _rest(data, length)
    _live(monitor, rest[0][:200], rest[1][:200])
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    _live(monitor, *rest)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return max(after - before, 0)


def _crepes(data: object, length: int) -> float:
    rng = np.random.default_rng(0)
    scores, states = rng.random(length), data.states[:length]  # type: ignore[attr-defined]
    new = rng.random((FEW, STATES))

    def theirs() -> None:
        for k in range(FEW):
            classifier = ConformalClassifier().fit(scores, bins=states)
            for state in range(STATES):
                classifier.predict_p(new[k : k + 1, state], bins=np.array([state]), smoothing=True)

    theirs()
    return FEW / time_once(theirs)


def _online(data: object, length: int) -> float:
    from online_cp import ConformalNearestNeighboursClassifier
    from online_cp.martingale import SimpleJumper

    part = slice(length, length + FEW + 1)
    rows = np.column_stack([data.observations[1:], data.states[:-1]]).astype(float)  # type: ignore[attr-defined]
    rows, states = np.vstack([rows[:1], rows]), data.states  # type: ignore[attr-defined]
    classifier = ConformalNearestNeighboursClassifier(label_space=range(STATES), rnd_state=0)
    classifier.learn_initial_training_set(rows[:length], states[:length])
    jumper = SimpleJumper()

    def step(row: np.ndarray, state: int) -> None:
        _, p_values, distances = classifier.predict(row, return_p_values=True, return_update=True)
        classifier.learn_one(row, state, precomputed=distances)
        jumper.update(p_values[state])

    first, *rest = zip(rows[part], states[part].tolist(), strict=True)
    step(*first)  # compiled
    with np.errstate(all="ignore"):  # symbols are at no distance from each other
        return FEW / time_once(lambda: [step(*one) for one in rest])
