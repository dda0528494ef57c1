"""Labelled histories read from public data."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

SLEEP = Path("sleep_edf", "sleep_edf_epochs_trimmed.csv.gz")
WORDS = Path("ud_english_pud", "en_pud-ud-test.conllu")
ORIGINS = {
    SLEEP: "PhysioNet Sleep-EDF Expanded, https://physionet.org/content/sleep-edfx: one row per "
    "30-second epoch with the columns night, epoch, stage and the features",
    WORDS: "Universal Dependencies English-PUD, "
    "https://github.com/UniversalDependencies/UD_English-PUD",
}


class History(NamedTuple):
    """One labelled sequence: a name, observations and states, one of each per step."""

    name: str
    observations: Any
    states: list[str]


def missing(folder: Path) -> str | None:
    """Say which files a data folder lacks and where they can be had; None if it has all."""
    lacking = [path for path in ORIGINS if not (folder / path).is_file()]
    if not lacking:
        return None
    lines = [f"Skipped: the data are not in {folder}. Name their folder with --data. Missing:"]
    lines += [f"  {folder / path}\n    from {ORIGINS[path]}" for path in lacking]
    return "\n".join(lines)


def sleep(path: Path) -> list[History]:
    """Read the nights of each subject as one history.

    Epochs that were not scored are left out and nights are joined end to end, so a few steps of a
    history are longer than 30 seconds and one of them is a day.
    """
    import pandas as pd  # type: ignore[import-untyped]

    epochs = pd.read_csv(path).sort_values(["night", "epoch"], kind="stable")
    features = [name for name in epochs.columns if name not in ("night", "epoch", "stage")]
    # Of a night such as SC4012E0 the first five letters are the subject.
    return [
        History(str(subject), rows[features].to_numpy(), rows["stage"].tolist())
        for subject, rows in epochs.groupby(epochs["night"].str[:5])
    ]


def words(path: Path) -> list[History]:
    """Read all sentences of a CoNLL-U file, in their order, as one history."""
    forms, tags = [], []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            # A whole number is a word; 3-4 is a contraction of words that follow, and 3.1 a word
            # that nobody said. Comments and the ends of sentences have no number.
            if fields[0].isdigit():
                forms.append(fields[1])
                tags.append(fields[3])
    return [History("PUD", forms, tags)]
