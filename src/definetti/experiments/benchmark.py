"""All methods in all worlds: same model, same level, same windows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from definetti._system.cells import Cell, run_cells
from definetti._system.files import replace_file
from definetti.evaluation.window_loop import roll_windows
from definetti.exceptions import FewBlocksWarning, NotExactWarning
from definetti.experiments.contestants import CONTESTANTS, Contestant, chosen
from definetti.experiments.reproduction import Rows, check_experiment, mark_short, write_csv
from definetti.experiments.standings import Standings, picture, row, verdicts
from definetti.experiments.worlds import ContestWorld, Drawn, Recorded, Recording, selected

REPETITIONS, HORIZONS = 200, (1, 3)
QUICK_REPETITIONS, QUICK_HORIZONS = 50, (1,)
TRAINED = 0.5  # the share of a history that fixes the model, for methods that split
ROUNDS, MOST = 0.25, 100  # share of the labels, and most windows, for rounds before the first
CHUNK = 25  # repetitions of a drawn world in one unit of work


def compare(
    output: Path | str,
    data: Path | str | None = None,
    *,
    worlds: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    horizons: Sequence[int] = HORIZONS,
    repetitions: int = REPETITIONS,
    seed: int = 2023,
    n_jobs: int | None = None,
    fresh: bool = False,
    verbose: bool = False,
) -> Standings:
    """Compute coverage, size and time of every method in every world.

    Parameters
    ----------
    output : folder for ``compare.csv``, ``compare.png``, and the finished cells
    data : folder with the recorded histories; worlds without data are left out
    worlds, methods : names, see `definetti.experiments.worlds` and `contestants`; all if left out
    horizons : numbers of steps of windows
    repetitions : histories of each drawn world, and about so many windows of a recorded one
    seed, n_jobs, fresh, verbose : as for `figure1`

    Notes
    -----
    In a drawn world each repetition is a new history with one window, so the binomial intervals
    are exact. The windows of a recorded history follow one another, and need not be independent.

    The time of a prediction is the median over windows. In drawn worlds it is from labels to set,
    the fit included; in recorded ones from new labels to set. For a method that learns from its
    misses it is the time of the last round and the prediction.

    "guaranteed" means for every hidden Markov model in finite samples; it is not known whether
    recorded worlds are one. Where the law changes the guarantee is lost, but methods that split
    begin to calibrate half-way, and see one law only. The docstring of each baseline has its own
    guarantee: those of adaptivelevel and quantile_pid, in the long run, hold for any data.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> some = {"worlds": ["sticky"], "methods": ["full+path", "classical"], "horizons": [1]}
    >>> with TemporaryDirectory() as name:
    ...     found = compare(name, repetitions=5, **some)
    >>> [(row["method"], row["guaranteed"]) for row in found.rows]
    [('full+path', 'yes'), ('classical', 'no')]
    """
    folder = check_experiment(output, repetitions, seed)
    contestants = chosen(methods)
    places, left_out = selected(worlds, data, horizons, repetitions)
    rows: Rows = []
    for world in places:
        candidates = len(world.labels) ** world.horizon
        able = [c for c in contestants if c.cannot(world.kind, candidates) is None]
        number, chunk, point = repetitions, CHUNK, world.point
        if isinstance(world, Recorded):
            number, chunk = world.each * len(world.histories), world.each
        cells = [
            Cell("compare", point, (("name", c.name), *c.settings), number, seed) for c in able
        ]
        title = f"{world.name}, h = {world.horizon}"
        outcomes = run_cells(
            cells, partial(work, world), folder / "cells", n_jobs=n_jobs, fresh=fresh,
            verbose=verbose, what=title, chunk=chunk,
        )  # fmt: skip
        records = dict(zip([c.name for c in able], outcomes, strict=True))
        rows += [row(world, c, records.get(c.name, [])) for c in contestants]
    mark_short([row for row in rows if row["repetitions"]])
    judged = verdicts(rows)
    best = {(v["world"], v["horizon"], v["smallest"]) for v in judged}
    for line in rows:
        line["smallest"] = (line["world"], line["horizon"], line["method"]) in best
    table, drawing = folder / "compare.csv", folder / "compare.png"
    replace_file(table, lambda path: write_csv(path, rows))
    replace_file(drawing, partial(picture(rows).savefig, format="png", dpi=120))
    return Standings(rows, judged, left_out, [table, drawing])


def work(world: Drawn | Recorded, cell: Cell, part: range) -> list[list[Any]]:
    """Judge some windows of a world: covered or not, size, true last state, seconds."""
    contestant = CONTESTANTS[dict(cell.method)["name"]]
    records: list[list[Any]] = []
    for k in part if isinstance(world, Drawn) else range(len(world.histories)):
        rng = cell.generator(k)
        if isinstance(world, Drawn):
            history, begins, wanted = world.history(rng), [world.length], range(1)
        else:
            history, first = world.histories[k], k * world.each
            begins = world.begins(history)
            wanted = range(max(part.start - first, 0), min(part.stop - first, world.each))
        seed = int(rng.integers(2**32))
        if wanted:
            records += judge_contestant(contestant, world, history, begins, wanted, seed)
    return records


def judge_contestant(
    contestant: Contestant,
    world: ContestWorld,
    history: Recording,
    begins: list[int],
    wanted: range,
    seed: int,
) -> Iterator[list[Any]]:
    """Predict windows of a history, each from all labels before it, as `work` does.

    The first of all windows begins after the first fit. Windows that are not wanted are skipped, so
    that results do not depend on how work is split among processes.
    """
    horizon, recorded = world.horizon, isinstance(world, Recorded)
    total = len(history.states) if recorded else begins[0]
    # A method that learns from its misses needs some before the first window is judged.
    rounds = min(int(ROUNDS * begins[0]) // horizon, MOST) if contestant.rounds else 0
    known = begins[0] - rounds * horizon
    started = time.perf_counter()
    labels = list(world.labels)
    cp = contestant.make(world.kind, labels, min(int(TRAINED * total), known - 1), seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotExactWarning)  # the table shows it
        cp.fit(*history.piece(0, known))
    if recorded:
        started = time.perf_counter()
    judged = [begins[number] for number in wanted]
    # Each window is a round, recorded or not; other methods add all labels since at once.
    stops = range(known, judged[-1] + 1, horizon) if contestant.rounds else judged
    for window in roll_windows(cp, history.observations, history.states, stops, horizon, known):
        if window.begin in judged:
            seen = window.observations
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FewBlocksWarning)  # its size shows it
                prediction_set = cp.predict_set(seen, horizon=horizon if seen is None else None)
            seconds = time.perf_counter() - started
            last = labels.index(window.truth[-1])
            yield [int(window.truth in prediction_set), len(prediction_set), last, seconds]
        started = time.perf_counter()
