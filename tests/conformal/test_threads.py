"""One estimator in several threads: each answer is one that a single thread might have had."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.making import grouped

from definetti import HMM, ConformalHMM, ConformalSequences, Monitor, load
from definetti.emissions import Gaussian
from definetti.experiments import Classical
from definetti.simulate import weather

Y, X = weather(160, random_state=3)
NUMBERS = (np.array([x == "sun" for x in X]) + np.random.default_rng(0).normal(size=160)).tolist()
BEGUN = 40


@pytest.fixture(autouse=True)
def switch_often() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run_beside(write: Callable[[int], None], steps: int, reads: list[Callable[[], Any]]) -> Any:
    """Let one thread write step by step, and others read until it is done.

    Returns what each read gave, with how many writes were done before it began and begun before
    it ended.
    """
    begun = done = 0
    found: list[tuple[int, int, int, Any]] = []
    failed: list[BaseException] = []
    together = threading.Barrier(1 + len(reads), timeout=120)

    def writing() -> None:
        nonlocal begun, done
        together.wait()
        for k in range(steps):
            begun = k + 1
            write(k)
            done = k + 1

    def reading(number: int) -> None:
        together.wait()
        last = False
        while not last and not failed:
            last, before = done == steps, done
            value = reads[number]()
            found.append((number, before, begun, value))
            time.sleep(0)  # a lock that is taken again at once leaves others waiting

    def guarded(work: Callable[..., None], *arguments: Any) -> None:
        try:
            work(*arguments)
        except BaseException as error:
            failed.append(error)
            together.abort()

    threads = [threading.Thread(target=guarded, args=(writing,))]
    threads += [threading.Thread(target=guarded, args=(reading, k)) for k in range(len(reads))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
        assert not thread.is_alive(), "a thread waits for ever"
    if failed:
        raise failed[0]
    return found


def check_reads(
    make: Callable[[], Any],
    write: Callable[[Any, int], Any],
    steps: int,
    reads: list[Callable[[Any], Any]],
) -> None:
    """Compare what threads read with what is read after each write, one after the other."""
    alone, expected = make(), []
    for k in range(steps + 1):
        expected.append([read(alone) for read in reads])
        if k < steps:
            write(alone, k)
    assert any(expected[0][k] != expected[-1][k] for k in range(len(reads)))
    shared = make()
    found = run_beside(
        lambda k: write(shared, k), steps, [lambda read=read: read(shared) for read in reads]
    )
    assert len(found) >= len(reads)
    for number, before, begun, value in found:
        possible = [expected[k][number] for k in range(before, begun + 1)]
        assert value in possible, (number, before, begun)
    assert [read(shared) for read in reads] == expected[-1]


def told(found: Any) -> Any:
    every = found.all_p_values
    return found.sequences, found.p_values.tolist(), None if every is None else every.tolist()


READS: list[Callable[[Any, Any], Any]] = [
    lambda cp, new: told(cp.predict_p(new)),
    lambda cp, new: told(cp.predict_set(new)),
    lambda cp, new: cp.p_value(new, X[-len(new) :]),
    lambda cp, new: cp.predict_sets([new, new[::-1]]).p_values.tolist(),
]


@pytest.mark.parametrize(
    ("observations", "settings", "horizon"),
    [
        (Y, {"symmetry": "full"}, 1),
        (Y, {"symmetry": "spaced"}, 2),
        (Y, {"symmetry": "spaced", "train_size": 20}, 2),
        (Y, {"symmetry": "departures", "train_size": 20}, 1),
        (Y, {"symmetry": "full", "memory": 2}, 1),
        (NUMBERS, {"model": HMM(emission=Gaussian())}, 1),
    ],
    ids=["full", "spaced", "fixed", "departures", "memory", "numbers"],
)
def test_predictions_while_labels_come_in(
    observations: list[Any], settings: dict[str, Any], horizon: int
) -> None:
    def make() -> ConformalHMM:
        cp = ConformalHMM(smoothing=True, random_state=0, **settings)
        return cp.fit(observations[:BEGUN], X[:BEGUN])

    def write(cp: ConformalHMM, k: int) -> None:
        cp.partial_fit(observations[BEGUN + k : BEGUN + k + 1], X[BEGUN + k : BEGUN + k + 1])

    new = observations[-horizon:]
    check_reads(make, write, 60, [lambda cp, read=read: read(cp, new) for read in READS])


def test_copies_and_properties_while_labels_come_in() -> None:
    labels = ["sun" if k % 3 else f"new {k}" for k in range(60)]

    def make() -> ConformalHMM:
        return ConformalHMM(random_state=0).fit(Y[:BEGUN], X[:BEGUN])

    def write(cp: ConformalHMM, k: int) -> None:
        cp.partial_fit(Y[BEGUN + k : BEGUN + k + 1], labels[k : k + 1])

    reads = [
        lambda cp: told(copy.deepcopy(cp).predict_p(["hat"])),
        lambda cp: cp.present_,
        lambda cp: cp.states_,
        lambda cp: cp.n_steps_,
    ]
    check_reads(make, write, 60, reads)


def test_pickles_while_labels_come_in() -> None:
    """The counts in a pickle are those of its rows, and of no other moment."""
    cp = ConformalHMM(HMM(), random_state=0).fit(Y[:BEGUN], X[:BEGUN])

    def read() -> bool:
        data = pickle.loads(pickle.dumps(cp))._data
        counts = data.statistics.sum(), data.history.emissions.sum(), len(data.history)
        return len(set(counts)) == 1 and data.history.transitions.sum() == len(data.history) - 1

    found = run_beside(lambda k: cp.partial_fit(Y[:1], X[:1]), 1_000, [read])
    assert all(value for *_, value in found)


def test_a_table_of_p_values_while_labels_come_in() -> None:
    def make() -> ConformalHMM:
        return ConformalHMM(train_size=20, random_state=0).fit(Y[:BEGUN], X[:BEGUN])

    def write(cp: ConformalHMM, k: int) -> None:
        cp.partial_fit(Y[BEGUN + k : BEGUN + k + 1], X[BEGUN + k : BEGUN + k + 1])

    check_reads(make, write, 60, [lambda cp: cp.p_values([["hat"], ["umbrella"]]).tolist()])


def test_baselines_while_labels_come_in() -> None:
    def write(cp: Classical, k: int) -> None:
        cp.partial_fit(Y[BEGUN + k : BEGUN + k + 1], X[BEGUN + k : BEGUN + k + 1])

    reads = [
        lambda cp: told(cp.predict_p(["hat"])),
        lambda cp: cp.p_value(["hat"], ["sun"]),
    ]
    check_reads(lambda: Classical(random_state=0).fit(Y[:BEGUN], X[:BEGUN]), write, 60, reads)


@pytest.mark.parametrize("series", ["own", "others"])
def test_many_series_while_they_are_fitted_again(series: str) -> None:
    def fit(cp: ConformalHMM, k: int) -> ConformalHMM:
        rows = slice(k, k + 80)
        groups = ["a"] * 40 + ["b"] * 40
        return cp.fit(Y[rows], X[rows], groups=groups)

    reads = [
        lambda cp: told(cp.predict_set(["hat"], group="a")),
        lambda cp: cp.evaluate(["hat"], ["sun"], groups=["b"], horizon=1, n_jobs=2).to_dict(),
    ]
    check_reads(
        lambda: fit(grouped(series=series, random_state=0), 0),
        lambda cp, k: fit(cp, k + 1),
        12,
        reads,
    )


def test_sequences_while_they_are_fitted_again() -> None:
    def fit(cp: ConformalSequences, k: int) -> ConformalSequences:
        rows = slice(k, k + 100)
        return cp.fit(Y[rows], X[rows], lengths=[5] * 20)

    reads = [
        lambda cp: [one.steps for one in cp.predict_sets([["hat", "umbrella"]])],
        lambda cp: cp.predict(["hat", "umbrella"]).tolist(),
        lambda cp: cp.predict_set(["hat", "umbrella", "hat"]).marginals.tolist(),
    ]
    make = lambda: fit(ConformalSequences(random_state=0, confidence_level=0.5), 0)  # noqa: E731
    check_reads(make, lambda cp, k: fit(cp, k + 1), 30, reads)


def test_a_monitor_that_is_looked_at_while_it_learns(tmp_path: Any) -> None:
    def make() -> Monitor:
        cp = ConformalHMM(symmetry="full", random_state=0).fit(Y[:BEGUN], X[:BEGUN])
        return Monitor(cp, random_state=0)

    def write(monitor: Monitor, k: int) -> None:
        monitor.observe(Y[BEGUN + k])
        monitor.label(X[BEGUN + k])

    def saved(monitor: Monitor) -> Any:
        path = tmp_path / f"{threading.get_ident()}.definetti"
        monitor.save(path)
        return look(load(path))

    def look(monitor: Monitor) -> Any:
        capitals = [one.log_capital for one in monitor.martingales.values()]
        return monitor.n_labels, monitor.p_values["transitions"].tolist(), capitals

    alone, expected = make(), {}
    for k in range(60):
        expected[k] = look(alone)[1:]
        write(alone, k)
    expected[60] = look(alone)[1:]
    shared = make()
    found = run_beside(
        lambda k: write(shared, k),
        60,
        [lambda: look(copy.deepcopy(shared)), lambda: saved(shared), lambda: shared.log_capitals],
    )
    for number, before, begun, value in found:
        if number < 2:
            assert value[1:] == expected[value[0]]
            assert before <= value[0] <= begun
        else:
            lengths = {len(one) for one in value.values()}
            assert len(lengths) == 1
    assert look(shared)[1:] == expected[60]


def test_observations_and_labels_in_two_threads() -> None:
    """One thread observes, another labels: the steps are those of one thread."""
    cp = ConformalHMM(symmetry="full", random_state=0).fit(Y[:BEGUN], X[:BEGUN])
    alone, shared = Monitor(cp, random_state=0), Monitor(cp, random_state=0)
    list(alone.run(Y[BEGUN:], X[BEGUN:]))
    given = 0

    def label() -> None:
        nonlocal given
        waiting = shared.n_waiting
        if waiting:
            shared.label(X[BEGUN + given : BEGUN + given + waiting])
            given += waiting

    number = len(Y) - BEGUN
    run_beside(lambda k: shared.observe(Y[BEGUN + k], predict=False), number, [label])
    label()
    assert shared.n_labels == number
    for part, values in alone.p_values.items():
        assert np.array_equal(shared.p_values[part], values)
