"""Each sleeper a series, each sentence a series: by itself, by the others, together, and glued.

`python -m studies.series --data ../shared/data` prints the table of docs/series.md.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from definetti import ConformalHMM, GroupedConformalHMM
from definetti.data.series import take_series
from definetti.evaluation import START, SeriesEvaluation, SeriesRecord, backtest_series
from definetti.evaluation.backtest import find_begin
from definetti.exceptions import FewBlocksWarning
from definetti.experiments.worlds import read_nights
from studies.data import FOLDER, SLEEP, WORDS, missing

LEVEL = 0.9
COLUMNS = ("data", "predicted by", "windows", "covered", "worst series", "series", "spread",
           "by chance", "states in a set", "of", "empty")  # fmt: skip


class ManySeries(NamedTuple):
    """Rows of many series, with the lengths of segments between gaps."""

    name: str
    observations: Any
    states: list[str]
    groups: list[str]
    lengths: list[int]


def read_sleepers(path: Path) -> ManySeries:
    """Read nights: each sleeper is a series, and between two nights there is a gap."""
    nights = read_nights(path)
    return ManySeries(
        "sleepers",
        np.concatenate([night.observations for night in nights]),
        [stage for night in nights for stage in night.stages],
        [night.subject for night in nights for _ in night.stages],
        [len(night.stages) for night in nights],
    )


def read_sentences(path: Path, number: int) -> ManySeries:
    """Read the first so many sentences: each is a series of words with their parts of speech."""
    words: list[tuple[str, str, str]] = []
    lengths: list[int] = []
    fresh = True
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            field = line.rstrip("\n").split("\t")
            if field[0].isdigit():
                if fresh:
                    lengths.append(0)
                if len(lengths) > number:
                    lengths.pop()
                    break
                lengths[-1] += 1
                words.append((field[1], field[3], f"sentence {len(lengths)}"))
            fresh = not line.strip() or (fresh and not field[0].isdigit())
    seen, tags, names = (list(column) for column in zip(*words, strict=True))
    return ManySeries("sentences", seen, tags, names, lengths)


def judge(data: ManySeries, series: str, **how: Any) -> SeriesEvaluation:
    """Backtest all series by one of the promises."""
    cp = ConformalHMM(confidence_level=LEVEL, random_state=0, **how)
    cp = GroupedConformalHMM(cp, series)
    return backtest_series(cp, data.observations, data.states, data.groups, lengths=data.lengths)


def judge_glued(data: ManySeries) -> SeriesEvaluation:
    """Backtest each series after all others, as if they were one history."""
    seen, labels, _ = take_series(data.observations, data.states, data.groups)
    names = list(dict.fromkeys(data.groups))
    owner = np.repeat(np.arange(len(names)), [data.groups.count(name) for name in names])
    at = seen if isinstance(seen, np.ndarray) else np.array(seen, dtype=object)
    records = []
    for place, name in enumerate(names):
        own, others = np.flatnonzero(owner == place), np.flatnonzero(owner != place)
        cut = find_begin(len(own), 1, START)
        if cut is None:
            records.append(SeriesRecord(name, len(own)))
            continue
        past = np.concatenate([others, own[:cut]])
        cp = ConformalHMM(
            symmetry="spaced", train_size=0.5, confidence_level=LEVEL, random_state=0,
            states=sorted(set(labels)),
        )  # fmt: skip
        cp.fit(_take(at, past), [labels[k] for k in past])
        rest = own[cut:]
        found = cp.evaluate(_take(at, rest), [labels[k] for k in rest], horizon=1)
        records.append(SeriesRecord.of(name, len(own), found))
    return SeriesEvaluation(records, says="promises nothing")


def _take(values: Any, rows: Any) -> Any:
    """Return rows of numbers as an array, words as a list."""
    return list(values[rows]) if values.dtype == object else values[rows]


def run(data: ManySeries) -> dict[str, SeriesEvaluation]:
    """Judge all ways to predict the series, by the series that none of them trained on."""
    ways: dict[str, Callable[[], SeriesEvaluation]] = {
        "own rows": lambda: judge(data, "own", symmetry="spaced", train_size=0.5),
        "own rows, model of the others": lambda: judge(data, "others", symmetry="spaced"),
        "windows of all": lambda: judge(data, "all", train_size=0.5),
        "first of each other": lambda: judge(data, "first", train_size=0.5),
        "glued together": lambda: judge_glued(data),
    }
    with warnings.catch_warnings():  # the table says how large sets are
        warnings.simplefilter("ignore", FewBlocksWarning)
        return in_common({name: way() for name, way in ways.items()})


def in_common(ways: dict[str, SeriesEvaluation]) -> dict[str, SeriesEvaluation]:
    """Keep the series that all ways evaluated: none of them trained a model."""
    each = [{one.series for one in found if one.windows} for found in ways.values()]
    common = set.intersection(*each)
    return {
        name: SeriesEvaluation([one for one in found if one.series in common], says=found.says)
        for name, found in ways.items()
    }


def print_table(console: Console, found: dict[str, tuple[ManySeries, Any]]) -> None:
    """Print a line for each way."""
    made = Table(title=f"Series at level {LEVEL}, one step ahead", title_justify="left")
    for k, column in enumerate(COLUMNS):
        made.add_column(column, justify="left" if k < 2 or column == "worst series" else "right")
    for name, (data, ways) in found.items():
        for way, one in ways.items():
            worst = one.worst
            made.add_row(
                name, way, f"{one.windows:,}", f"{one.coverage:.3f}",
                "" if worst is None else f"{worst.series} {worst.coverage:.3f}",
                str(len(one.judged)), f"{one.spread:.3f}", f"{one.spread_by_chance:.3f}",
                f"{one.states_per_step:.2f}", str(len(set(data.states))),
                f"{sum(record.filled for record in one) / max(one.windows, 1):.3f}",
            )  # fmt: skip
        made.add_section()
    console.print(made)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m studies.series", description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--sentences", type=int, default=300, help="how many; default 300")
    given = parser.parse_args(arguments)
    lacking = missing(given.data)
    if lacking is not None:
        print(lacking, file=sys.stderr)
        return 2
    every = [
        read_sleepers(given.data / SLEEP),
        read_sentences(given.data / WORDS, given.sentences),
    ]
    console = Console() if sys.stdout.isatty() else Console(width=150)
    print_table(console, {data.name: (data, run(data)) for data in every})
    return 0


if __name__ == "__main__":
    sys.exit(main())
