"""The default beside its rivals on recorded data and on drawn worlds, by the backtest.

`python -m studies.rivals --data ../shared/data --only sleep --output rivals.jsonl` measures one
data set; rows that the file has are not measured again. `--table` prints what the file has, and
`--quick` leaves out what is slow: the default that refits, and rivals that list candidates.

Rows: `ConformalHMM()`, the same with `train_size=0.5` (where "auto" chooses the model), without
observations, split conformal prediction with the chosen predictor (marginal, class-conditional,
with the previous state, and step by step with Bonferroni's level), the posterior's own set, and the
last state repeated. Everything is predicted from all rows before it, from the start share on.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from definetti import ConformalHMM
from definetti.data.candidates import all_candidates, is_long
from definetti.data.history import Windows
from definetti.evaluation import Evaluation, run_backtest
from definetti.evaluation.backtest import OURS, Backtest
from definetti.evaluation.summarize import exact_interval
from definetti.experiments.recorded_series import read_series
from definetti.experiments.resampling import ClassConditional
from definetti.experiments.worlds import Recording, read_sleep, read_words
from studies.data import SLEEP, WORDS

LEVELS, HORIZONS = (0.8, 0.9, 0.95), (1, 3, 10, 30)
START, WINDOWS, LISTED = 0.6, 300, 1_000
DEFAULT, CHOSEN = "default", "default, train_size=0.5"


def sleep(data: Path) -> list[Recording]:
    """Return the nights of each subject, one after the other."""
    return read_sleep(data / SLEEP)


def words(data: Path) -> list[Recording]:
    """Return the words of a text with their parts of speech."""
    return read_words(data / WORDS)


def paper(data: Path) -> list[Recording]:
    """Return the four series; the observation of a step is the state before it, as in the paper."""
    found = []
    for one in read_series(data / "paper"):
        states = list(map(str, one.states))
        found.append(Recording([f"after {state}" for state in states[:-1]], states[1:], one.name))
    return found


def entities(data: Path) -> list[Recording]:
    """Return the entity tags of the CoNLL++ test file as one text, the sentences one by one."""
    seen, tags = [], []
    with gzip.open(data / "conllpp" / "conllpp_test.txt.gz", "rt", encoding="utf-8") as file:
        for line in file:
            parts = line.split()
            if len(parts) == 4 and parts[0] != "-DOCSTART-":
                seen.append(parts[0])
                tags.append(parts[3])
    return [Recording(seen[:12_000], tags[:12_000], "conllpp")]


def _chain(rng: np.random.Generator, number: int) -> np.ndarray:
    x = np.zeros(number, dtype=int)
    for t in range(1, number):
        x[t] = x[t - 1] if rng.random() < 0.85 else rng.integers(4)
    return x


def _world(kind: str) -> Callable[[Path], list[Recording]]:
    def draw(data: Path) -> list[Recording]:
        found = []
        for seed in range(5):
            rng = np.random.default_rng(seed)
            x = _chain(rng, 2400)
            noise = rng.normal(size=(2400, 3))
            means = 1.5 * np.eye(4)[:, :3]
            if kind == "drift":
                noise += np.linspace(0, 3, 2400)[:, None]
            if kind == "autocorrelated":
                for t in range(1, 2400):
                    noise[t] = 0.95 * noise[t - 1] + np.sqrt(1 - 0.95**2) * noise[t]
            signal = 0.0 if kind == "useless" else means[x]
            found.append(Recording(noise + signal, list(map(str, x)), f"{kind} {seed}"))
        return found

    return draw


DATA: dict[str, Callable[[Path], list[Recording]]] = {
    "sleep": sleep, "words": words, "paper": paper, "entities": entities,
    **{f"drawn {kind}": _world(kind) for kind in ("stable", "drift", "autocorrelated", "useless")},
}  # fmt: skip


def measure(
    history: Recording, horizon: int, quick: bool = False
) -> Iterator[tuple[str, float, list[Any]]]:
    """Yield name of method, level, and (windows, covered, states a step, CPU seconds)."""
    y, x = history.observations, list(history.states)
    ways: list[tuple[str, dict[str, Any]]] = [(DEFAULT, {}), (CHOSEN, {"train_size": 0.5})]
    for name, settings in ways[1:] if quick else ways:
        cp = ConformalHMM(states=sorted(set(x)), random_state=0, **settings)
        began = time.process_time()
        test = run_backtest(
            cp, y, x, horizon, levels=LEVELS, start=START, windows=WINDOWS if horizon > 1 else None
        )
        seconds = time.process_time() - began
        for method, judged in test.methods.items():
            if name == DEFAULT and method != OURS:
                continue
            for place, level in enumerate(judged.levels):
                own = name if method == OURS else method
                yield own, level, _row(judged.evaluation(place), seconds)
    n = len(set(x))
    if not quick and not is_long(n, horizon, LISTED):
        yield from _more_rivals(test, y, x, horizon)


def _row(found: Evaluation, seconds: float) -> list[Any]:
    return [len(found.covered), int(found.covered.sum()), found.width, seconds]


def _more_rivals(
    test: Backtest, y: Any, x: list[Any], horizon: int
) -> Iterator[tuple[str, float, list[Any]]]:
    """Yield the rivals that the backtest does not have, with the predictor that it chose."""
    cp, begin = test.predictor, test.begin
    data = cp._data
    cut = 0 if data.training is None else len(data.training.states)
    for level in LEVELS:
        rival = ClassConditional(data.model, states=cp.states, random_state=0)
        rival.confidence_level = level
        rival.fit(y[cut:begin], x[cut:begin])
        found = rival.evaluate(y[begin:], x[begin:], level, horizon=horizon)
        yield "class-conditional", level, _row(found, 0.0)
        if horizon > 1:
            single = ClassConditional(data.model, states=cp.states, random_state=0)
            single.fit(y[cut:begin], x[cut:begin])
            yield "Bonferroni over steps", level, _bonferroni(single, y, x, begin, horizon, level)
    yield from _posterior(test, y, x, horizon)


def _bonferroni(rival: Any, y: Any, x: list[Any], begin: int, horizon: int, level: float) -> Any:
    """Cover each step with a share of the error; each step is told the state before it."""
    found = rival.evaluate(y[begin:], x[begin:], 1 - (1 - level) / horizon, horizon=1)
    number = len(found.covered) // horizon
    each = found.covered[: number * horizon].reshape(number, horizon)
    return [number, int(each.all(axis=1).sum()), found.width, 0.0]


def _posterior(
    test: Backtest, y: Any, x: list[Any], horizon: int
) -> Iterator[tuple[str, float, list[Any]]]:
    """Take the most probable sequences up to the level, and believe the model."""
    cp, begin = test.predictor, test.begin
    data = cp._data
    labels, n = data.alphabet.labels, len(data.alphabet)
    task = cp._task(y[begin : begin + horizon], None)
    estimate = task.estimate(task.complete_with(0))
    every = all_candidates(n, horizon)
    codes = data.alphabet.encode(x, "states")
    hits, widths = dict.fromkeys(LEVELS, 0), dict.fromkeys(LEVELS, 0.0)
    begins = range(begin, len(x) - horizon + 1, horizon)
    for row in begins:
        table, seen = data.emission.encode(y[row : row + horizon], data.table, "observations")
        estimate = data.model.estimate(task.complete_with(0), table, data.statistics, labels)
        start = np.full(len(every), codes[row - 1])
        logs = estimate.log_posterior(Windows(start, every, np.tile(seen, (len(every), 1))))
        order = np.argsort(-logs, kind="stable")
        total = np.exp(logs[order]).cumsum()
        place = int(np.flatnonzero((every[order] == codes[row : row + horizon]).all(axis=1))[0])
        for level in LEVELS:
            size = int(np.searchsorted(total, level)) + 1
            hits[level] += place < size
            members = every[order[:size]]
            widths[level] += np.mean([len(np.unique(step)) for step in members.T])
    for level in LEVELS:
        yield "posterior", level, [len(begins), hits[level], widths[level] / len(begins), 0.0]


def run(data: Path, only: str, output: Path, horizons: tuple[int, ...], quick: bool) -> None:
    """Measure what the file does not have yet, and append it, a line per history and horizon."""
    done = {(row["data"], row["history"], row["horizon"]) for row in read(output)}
    for name, load in DATA.items():
        if only and not name.startswith(only):
            continue
        for history in load(data):
            for horizon in horizons:
                if (name, history.name, horizon) in done:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    rows = [[*one] for one in measure(history, horizon, quick)]
                line = {"data": name, "history": history.name, "horizon": horizon, "rows": rows}
                with output.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
                print(name, history.name, horizon, file=sys.stderr)


def read(output: Path) -> list[dict[str, Any]]:
    """Return what a file has, a line per history and horizon; nothing where there is none."""
    if not output.exists():
        return []
    return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]


def print_tables(output: Path) -> None:
    """Print coverage with its interval / states a step, pooled over the histories of each data."""
    pooled: dict[tuple[str, int], dict[tuple[str, float], list[list[float]]]] = {}
    for line in read(output):
        own = pooled.setdefault((line["data"], line["horizon"]), {})
        for method, level, row in line["rows"]:
            own.setdefault((method, level), []).append(row)
    for (name, horizon), own in pooled.items():
        methods = list(dict.fromkeys(method for method, _ in own))
        print(f"\n{name}, {horizon} step{'s' * (horizon > 1)}\n")
        print("| method | " + " | ".join(map(str, LEVELS)) + " | CPU s |")
        print("|---|" + "---|" * (len(LEVELS) + 1))
        for method in methods:
            cells, seconds = [], 0.0
            for level in LEVELS:
                rows = own.get((method, level), [])
                if not rows:
                    cells.append("–")
                    continue
                number, covered = (int(sum(row[k] for row in rows)) for k in (0, 1))
                width = sum(row[0] * row[2] for row in rows) / number
                seconds = sum(row[3] for row in rows)
                low, high = exact_interval(covered, number)
                share = f"{covered / number:.3f}"
                share = f"**{share}**" if high < level else share
                cells.append(f"{share} [{low:.3f}, {high:.3f}] / {width:.2f}")
            print(f"| {method} | " + " | ".join(cells) + f" | {seconds:.1f} |")


def main() -> int:
    """Measure what is missing, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m studies.rivals", description=__doc__)
    here = Path(__file__).resolve().parents[1]
    parser.add_argument("--data", type=Path, default=here.parent / "shared" / "data")
    parser.add_argument("--only", default="", help="data whose name begins so")
    parser.add_argument("--horizons", default=",".join(map(str, HORIZONS)))
    parser.add_argument("--output", type=Path, default=Path("rivals.jsonl"))
    parser.add_argument("--table", action="store_true", help="print what the file has")
    parser.add_argument("--quick", action="store_true", help="leave out what is slow")
    given = parser.parse_args()
    if not given.table:
        horizons = tuple(map(int, given.horizons.split(",")))
        run(given.data, given.only, given.output, horizons, given.quick)
    print_tables(given.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
