"""Data for the comparison of methods: simulated chains and recorded histories."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.cells import Settings
from definetti.experiments.grids import (
    FIGURE1_POINTS,
    FIGURE2_POINTS,
    figure1_matrices,
    figure2_matrices,
)
from definetti.experiments.recorded_series import FILES, read_series
from definetti.experiments.reproduction import PROMISED
from definetti.simulate import sample
from definetti.verify import oracle_size, stationary

SLEEP = "sleep_edf_epochs_trimmed.csv.gz"
WORDS = "en_pud-ud-test.conllu"
ORIGINS = {
    **{file.name: file.origin for file in FILES},
    SLEEP: "PhysioNet Sleep-EDF Expanded, https://physionet.org/content/sleep-edfx, as one row per "
    "30-second epoch with the columns night, epoch, stage and the features",
    WORDS: "Universal Dependencies English-PUD, "
    "https://github.com/UniversalDependencies/UD_English-PUD",
}


class Recording(NamedTuple):
    """A labelled sequence; observations are None where there are states alone."""

    observations: Any
    states: Any
    name: str = ""

    def piece(self, begin: int, end: int) -> tuple[Any, Any]:
        """Return a segment."""
        seen = None if self.observations is None else self.observations[begin:end]
        return seen, self.states[begin:end]


class Night(NamedTuple):
    """One night: its name, the numbers of the epochs, the measurements and the stages."""

    name: str
    epochs: Any
    observations: Any
    stages: list[str]

    @property
    def subject(self) -> str:
        """The subject: the first five letters of a name such as SC4012E0."""
        return self.name[:5]


def read_nights(path: Path) -> list[Night]:
    """Read nights one by one; epochs that were not scored are left out."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        rows = sorted(csv.DictReader(lines), key=lambda row: (row["night"], int(row["epoch"])))
    features = [name for name in rows[0] if name not in ("night", "epoch", "stage")]
    nights = []
    for name, group in groupby(rows, key=lambda row: row["night"]):
        own = list(group)
        measured = np.array([[float(row[feature]) for feature in features] for row in own])
        epochs = np.array([int(row["epoch"]) for row in own])
        nights.append(Night(name, epochs, measured, [row["stage"] for row in own]))
    return nights


def read_sleep(path: Path) -> list[Recording]:
    """Read the nights of each subject, one after the other, as one history.

    Epochs that were not scored are left out and nights are joined end to end, so a few steps of a
    history are longer than 30 seconds, and one of them is a day.
    """
    recordings = []
    for subject, group in groupby(read_nights(path), key=lambda night: night.subject):
        own = list(group)
        observations = np.concatenate([night.observations for night in own])
        stages = [x for night in own for x in night.stages]
        recordings.append(Recording(observations, stages, subject))
    return recordings


def read_words(path: Path) -> list[Recording]:
    """Read all sentences of a CoNLL-U file, in their order, as one history."""
    with path.open(encoding="utf-8") as lines:
        fields = [line.rstrip("\n").split("\t") for line in lines]
    # A whole number is a word; 3-4 is a contraction of words that follow, 3.1 an empty node.
    # Comments and the ends of sentences have no number.
    words = [field for field in fields if field[0].isdigit()]
    return [Recording([word[1] for word in words], [word[3] for word in words], "words")]


LABELLED = 0.75  # the share of a recorded history that is labelled before the first window
# The paper's series are read together, so each needs the files of all.
PAPER = tuple(file.name for file in FILES)
NEEDS = {**dict.fromkeys(("Delhi", "Punjab", "household", "SPY"), PAPER),
         "sleep": (SLEEP,), "words": (WORDS,)}  # fmt: skip


@dataclass(frozen=True)
class ContestWorld:
    """The attributes that all worlds share."""

    name: str
    horizon: int  # how many steps a window has
    labels: tuple[Hashable, ...]  # the state space
    kind: str  # what is observed: "nothing", "symbols", "vectors" or "words"
    markov: bool | None  # whether it is an HMM with one law throughout; None if unknown


@dataclass(frozen=True)
class Drawn(ContestWorld):
    """A chain that is drawn anew for every repetition, which is one window."""

    length: int = 100  # labelled steps
    laws: tuple[tuple[int, Any, Any], ...] = ()  # first step, transition and emission of each

    @property
    def point(self) -> Settings:
        """All parameters that the data depend on."""
        return (("world", self.name), ("horizon", self.horizon), ("T", self.length),
                ("laws", self.laws))  # fmt: skip

    def history(self, rng: np.random.Generator) -> Recording:
        """Draw ``T + horizon`` steps, starting from the stationary law."""
        start, drawn = stationary(np.array(self.laws[0][1])), []
        ends = [*(law[0] for law in self.laws[1:]), self.length + self.horizon]
        for (begin, *law), end in zip(self.laws, ends, strict=True):
            transition, emission = map(np.array, law)
            drawn.append(sample(start, transition, emission, end - begin, rng))
            start = transition[drawn[-1].states[-1]]
        seen = np.concatenate([part.observations for part in drawn])
        return Recording(seen, np.concatenate([part.states for part in drawn]))

    @cached_property
    def oracle(self) -> float:
        """The size of the smallest valid sets if the law in the window is known."""
        transition, emission = map(np.array, self.laws[-1][1:])
        return oracle_size(stationary(transition), transition, emission, self.horizon, PROMISED)


@dataclass(frozen=True)
class Recorded(ContestWorld):
    """Histories that were recorded; windows roll over the last part of each."""

    histories: tuple[Recording, ...] = ()
    each: int = 1  # windows in each history

    oracle = None

    @property
    def point(self) -> Settings:
        """All parameters that the windows depend on, with a digest of the data."""
        digest = hashlib.sha256()
        for history in self.histories:
            digest.update(json.dumps([str(x) for x in history.states]).encode())
            digest.update(repr(np.asarray(history.observations).tolist()).encode())
        return (("world", self.name), ("horizon", self.horizon), ("each", self.each),
                ("digest", digest.hexdigest()))  # fmt: skip

    def begins(self, history: Recording) -> list[int]:
        """Return where windows begin: evenly spread over the last part, without overlap."""
        first = int(LABELLED * len(history.states))
        slots = (len(history.states) - first) // self.horizon
        return [first + self.horizon * int(k) for k in np.linspace(0, slots - 1, self.each)]


def selected(
    names: Iterable[str] | None, data: Path | str | None, horizons: Sequence[int], repetitions: int
) -> tuple[list[Drawn | Recorded], list[str]]:
    """Return the worlds with these names, and messages about those without data.

    Names are those of `DRAWN` and `NEEDS`, all but the grids if None; grids have their own
    horizons. A recorded world has about as many windows as there are repetitions.
    """
    every = [*DRAWN, *NEEDS]
    wanted = [n for n in every if not n.endswith("-grid")] if names is None else list(names)
    for name in wanted:
        if name not in every:
            raise ValueError(f"worlds has no {name!r}; choose among {', '.join(every)}")
    worlds: list[Drawn | Recorded] = []
    left_out = []
    for name in (n for n in every if n in wanted):
        if name in DRAWN:
            worlds += _drawn(name, horizons)
            continue
        paths = [_find_file(data, file) for file in NEEDS[name]]
        lacking = [file for file, path in zip(NEEDS[name], paths, strict=True) if path is None]
        if paths[0] is not None and not lacking:
            worlds += _recorded(name, paths[0], horizons, repetitions)
            continue
        has = "no data folder is named, so there is"
        if data is not None:
            has = f"data folder {str(data)!r} has"
        files = "; ".join(f"no {file}; get it from {ORIGINS[file]}" for file in lacking)
        left_out.append(f"{name} is left out: {has} {files}")
    if not worlds:
        raise ValueError("\n".join(["worlds has none that can be had", *left_out]))
    return worlds, left_out


def _symmetric(n: int, stay: float) -> FloatArray:
    return np.where(np.eye(n, dtype=bool), stay, (1 - stay) / (n - 1))


def _ring(n: int) -> FloatArray:
    """Stay with probability 0.5, go on to the next state with 0.34, elsewhere with 0.02."""
    return 0.48 * np.eye(n) + 0.32 * np.roll(np.eye(n), 1, axis=1) + 0.2 / n


# The third state has a probability of about 1/12.
RARE = np.array([[0.72, 0.2, 0.08], [0.2, 0.72, 0.08], [0.45, 0.45, 0.1]])
EASY, HARD = (_symmetric(3, 0.9), _symmetric(3, 0.9)), (_symmetric(3, 0.4), _symmetric(3, 0.5))
Laws = list[tuple[int, FloatArray, FloatArray]]
Spot = tuple[str, int, int | None, Laws]  # name, length, horizon if it has its own, laws


def _grid_spot(point: dict[str, Any]) -> Spot:
    """Return a point of a grid; a point without a horizon of its own takes any."""
    T, b, horizon = point["T"], point["b"], point.get("horizon")
    if "p" in point:
        name, law = f"figure1 p={point['p']} b={b}", figure1_matrices(**point)
    else:
        name, law = f"figure2 {point['chain']} b={b:.3g}", figure2_matrices(**point)
    return name + (f" T={T}" if horizon else ""), T, horizon, [(0, *law)]


DRAWN: dict[str, list[Spot]] = {
    "figure1": [_grid_spot({"p": p, "b": 0.75, "T": 100}) for p in (0.1, 0.5, 0.9)],
    "figure2": [_grid_spot({"chain": chain, "b": 0.6, "T": 120}) for chain in ("markov", "iid")],
    "sticky": [("sticky", 200, None, [(0, _symmetric(3, 0.95), _symmetric(3, 0.6))])],
    "rare": [("rare state", 150, None, [(0, RARE, _symmetric(3, 0.7))])],
    "ten": [("ten states", 100, None, [(0, _ring(10), _symmetric(10, 0.6))])],
    # Methods that split begin to calibrate half-way, and do not see a change there.
    "change": [(f"change at {at}", 200, None, [(0, *EASY), (at, *HARD)]) for at in (100, 150)],
    "figure1-grid": [_grid_spot(point) for point in FIGURE1_POINTS],
    "figure2-grid": [_grid_spot(point) for point in FIGURE2_POINTS],
}


def _drawn(name: str, horizons: Sequence[int]) -> Iterator[Drawn]:
    for title, length, own, laws in DRAWN[name]:
        plain = tuple((at, p.tolist(), b.tolist()) for at, p, b in laws)
        for horizon in horizons if own is None else (own,):
            labels = tuple(range(len(laws[0][1])))
            yield Drawn(title, horizon, labels, "symbols", len(laws) == 1, length, plain)


def _recorded(
    name: str, path: Path, horizons: Sequence[int], repetitions: int
) -> Iterator[Recorded]:
    # The "observation" in the paper's series is the previous state, which the chain has.
    kind = {"sleep": "vectors", "words": "words"}.get(name, "nothing")
    if kind == "nothing":
        series = read_series(path.parent)
        histories = [Recording(None, item.states) for item in series if name in item.name]
    else:
        try:
            histories = read_sleep(path) if name == "sleep" else read_words(path)
        except (KeyError, IndexError, ValueError, EOFError, gzip.BadGzipFile):
            remedy = f"get it from {ORIGINS[path.name]}"
            raise ValueError(f"{path} is not the file that is meant; {remedy}") from None
    labels = tuple(sorted({state for history in histories for state in history.states}))
    rest = min(len(history.states) for history in histories) * (1 - LABELLED)
    for horizon in horizons:
        windows = max(1, min(round(repetitions / len(histories)), int(rest) // horizon))
        yield Recorded(name, horizon, labels, kind, None, tuple(histories), windows)


def _find_file(data: Path | str | None, name: str) -> Path | None:
    """Find a file in a folder, or in a folder in it."""
    places = [] if data is None else [Path(data) / name, *Path(data).glob(f"*/{name}")]
    return next(filter(Path.is_file, places), None)
