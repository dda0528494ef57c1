"""Recorded histories, read from public data: nights of sleep, and words of sentences."""

from __future__ import annotations

import csv
import gzip
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SLEEP = "sleep_edf_epochs_trimmed.csv.gz"
WORDS = "en_pud-ud-test.conllu"
ORIGINS = {
    SLEEP: "PhysioNet Sleep-EDF Expanded, https://physionet.org/content/sleep-edfx, as one row per "
    "30-second epoch with the columns night, epoch, stage and the features",
    WORDS: "Universal Dependencies English-PUD, "
    "https://github.com/UniversalDependencies/UD_English-PUD",
}


class Recording(NamedTuple):
    """A labelled sequence; observations are None where there are none but the states."""

    observations: Any
    states: Any
    name: str = ""

    def piece(self, begin: int, end: int) -> tuple[Any, Any]:
        """Return a segment of it."""
        seen = None if self.observations is None else self.observations[begin:end]
        return seen, self.states[begin:end]


class Night(NamedTuple):
    """One night: its name, when each epoch was, what was measured, and the stages."""

    name: str
    epochs: Any
    observations: Any
    stages: list[str]

    @property
    def subject(self) -> str:
        """Who slept: of a night such as SC4012E0 the first five letters."""
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
    return [
        Recording(
            np.concatenate([night.observations for night in own]),
            [stage for night in own for stage in night.stages],
            subject,
        )
        for subject, group in groupby(read_nights(path), key=lambda night: night.subject)
        for own in [list(group)]
    ]


def read_words(path: Path) -> list[Recording]:
    """Read all sentences of a CoNLL-U file, in their order, as one history."""
    with path.open(encoding="utf-8") as lines:
        fields = [line.rstrip("\n").split("\t") for line in lines]
    # A whole number is a word; 3-4 is a contraction of words that follow, 3.1 a word that nobody
    # said. Comments and the ends of sentences have no number.
    words = [field for field in fields if field[0].isdigit()]
    return [Recording([word[1] for word in words], [word[3] for word in words], "words")]
