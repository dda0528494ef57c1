"""The four real series of the paper, read from the files and turned into states."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray


class File(NamedTuple):
    """A file that the user brings.

    Attributes
    ----------
    name : as the authors' program has it
    columns : those that are read
    rows : how many there must be
    origin : where it can be had, after the words "get it from"
    """

    name: str
    columns: tuple[str, ...]
    rows: int
    origin: str


AUTHORS = "the authors' program, github.com/ComplexInfo/CP_HMM"
STATES = File(
    "dataset_tk.csv",
    ("Delhi", "Punjab"),
    503,
    f"Kaggle (electricity use by Indian state, T. Khanna 2020) or {AUTHORS}",
)
HOUSEHOLD = File(
    "D202.csv",
    ("DATE", "USAGE"),
    70368,
    f"Kaggle (household electricity in San Jose, J. Gopinadhan 2020) or {AUTHORS}",
)
FUND = File(
    "SPY.csv",
    ("Open", "Close", "State"),
    252,
    f"{AUTHORS} (prices of the SPY fund from Yahoo Finance, 19 January 2022 to 19 January 2023)",
)
FILES = (STATES, HOUSEHOLD, FUND)


class Series(NamedTuple):
    """A series of states, and which of its steps the paper predicts.

    Attributes
    ----------
    name : as in the paper's Table 1
    states : the whole series
    n_states : how many different ones there are
    length : N: step ``N + t`` is predicted from steps ``1 + t … N + t − 1``
    windows : for how many t, from 0 on
    coverage, size : what the paper reports
    """

    name: str
    states: tuple[int, ...]
    n_states: int
    length: int
    windows: int
    coverage: float
    size: float


def read_series(data: Path | str) -> list[Series]:
    """Read the four series from a folder.

    Parameters
    ----------
    data : folder with dataset_tk.csv, D202.csv and SPY.csv

    Notes
    -----
    The settings are those that gave the published numbers, not those that the paper tells: the
    mean and the deviation that make states of electricity are over the whole series, what is to
    be predicted included, and "SP500" is the SPY fund. With them the published numbers come out
    again, as docs/reproduction.md shows.
    """
    folder = Path(data)
    states = _read_columns(folder, STATES)
    delhi, punjab = (_parse_numbers(states[name], STATES, name) for name in STATES.columns)
    home = _read_columns(folder, HOUSEHOLD)
    daily = average_days(home["DATE"], _parse_numbers(home["USAGE"], HOUSEHOLD, "USAGE"))
    fund = _read_columns(folder, FUND)
    opened, closed = (_parse_numbers(fund[name], FUND, name) for name in ("Open", "Close"))
    lost = tuple((opened > closed).astype(int).tolist())
    if [str(x) for x in lost] != [x.strip() for x in fund["State"]]:
        raise ValueError(
            f"{folder / FUND.name}: column State must be 1 on days that closed below their "
            f"opening and 0 on others; get the file again from {FUND.origin}"
        )
    return [
        _make_series(
            "Delhi", round_z_scores(delhi), length=300, windows=170, coverage=0.81, size=0.25
        ),
        _make_series(
            "Punjab", round_z_scores(punjab), length=300, windows=170, coverage=0.80, size=0.28
        ),
        _make_series(
            "household", round_z_scores(daily), length=300, windows=53, coverage=0.78, size=0.22
        ),
        _make_series("SP500 (SPY)", lost, length=100, windows=20, coverage=0.80, size=0.65),
    ]


def round_z_scores(values: FloatArray) -> tuple[int, ...]:
    """Tell how many standard deviations each value is from the mean, rounded, counted from 0.

    >>> round_z_scores(np.array([1.0, 2.0, 3.0, 2.0]))
    (0, 1, 2, 1)
    """
    if not values.std() > 0:
        raise ValueError("a series of the data folder does not vary; get the file anew")
    scores = np.round((values - values.mean()) / values.std()).astype(int)
    return tuple(np.unique(scores, return_inverse=True)[1].tolist())


def average_days(days: list[str], values: FloatArray) -> FloatArray:
    """Average values by day, in the order in which the days come up.

    >>> average_days(["b", "b", "a"], np.array([1.0, 2.0, 4.0]))
    array([1.5, 4. ])
    """
    places: dict[str, int] = {}
    where = np.array([places.setdefault(day, len(places)) for day in days])
    return np.asarray(np.bincount(where, weights=values) / np.bincount(where))


def _make_series(
    name: str, states: tuple[int, ...], *, length: int, windows: int, coverage: float, size: float
) -> Series:
    if len(states) < length + windows:
        raise ValueError(
            f"the series {name} of the data folder has {len(states)} steps and needs "
            f"{length + windows}; get the file anew"
        )
    return Series(
        name=name, states=states, n_states=len(set(states)), length=length, windows=windows,
        coverage=coverage, size=size,
    )  # fmt: skip


def _read_columns(folder: Path, file: File) -> dict[str, list[str]]:
    """Read the columns of a file, and check that it is the one that is meant."""
    path = folder / file.name
    remedy = f"get it from {file.origin}"
    if not path.is_file():
        raise FileNotFoundError(f"data folder {str(folder)!r} has no {file.name}; {remedy}")
    found: dict[str, list[str]] = {name: [] for name in file.columns}
    with path.open(newline="", encoding="utf-8-sig") as lines:
        rows: Iterator[dict[str, str]] = csv.DictReader(lines)
        try:
            for row in rows:
                for name in file.columns:
                    found[name].append(row[name] or "")
        except (KeyError, UnicodeDecodeError, csv.Error):
            raise ValueError(
                f"{path} is not a text file with the columns {', '.join(file.columns)}; {remedy}"
            ) from None
    number = len(found[file.columns[0]])
    if number != file.rows:
        raise ValueError(f"{path} has {number} rows where {file.rows} are expected; {remedy}")
    return found


def _parse_numbers(column: list[str], file: File, name: str) -> FloatArray:
    try:
        values = np.array([float(text) for text in column])
    except ValueError as error:
        raise ValueError(
            f"{file.name}: column {name} must hold numbers ({error}); get it from {file.origin}"
        ) from None
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise ValueError(
            f"{file.name}: column {name} has {values[row]} in row {row + 1}; get it from "
            f"{file.origin}"
        )
    return values
