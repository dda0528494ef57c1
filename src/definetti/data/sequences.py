"""Several sequences one after the other: their lengths, nested lists, and training parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from definetti._system.arrays import IntArray
from definetti.data.labels import listed, readable


def read_lengths(lengths: Any, total: int, name: str) -> IntArray:
    """Return how many steps each sequence has; all are one sequence if left out."""
    if lengths is None:
        return np.array([total])
    if not isinstance(lengths, Iterable):
        raise TypeError(f"lengths must be a list of whole numbers, got {lengths!r}")
    found = listed(lengths, "lengths")
    for row, length in enumerate(found):
        if not isinstance(length, (int, np.integer)) or isinstance(length, bool) or length < 1:
            raise ValueError(
                f"lengths[{row}] is {length!r}, and must be a whole number ≥ 1; leave out "
                "sequences without steps"
            )
    if sum(found) != total:
        raise ValueError(
            f"lengths adds up to {sum(found):,} steps and {name} has {total:,}; give the length "
            "of every sequence"
        )
    return np.array(found, dtype=np.int64)


def training_length(train_size: Any, total: int, unit: str = "steps") -> int:
    """Return how many a share, or a number, of steps or units is; some must remain."""
    share = isinstance(train_size, (float, np.floating)) and 0 < train_size < 1
    number = isinstance(train_size, (int, np.integer)) and not isinstance(train_size, bool)
    if not share and not (number and train_size >= 1):
        raise ValueError(
            f"train_size must be a share between 0 and 1 or a whole number ≥ 1, got "
            f"{train_size!r}; 0.5 trains on half of the {unit} and calibrates on the others"
        )
    cut = int(train_size * total) if share else int(train_size)
    if not 1 <= cut < total:
        raise ValueError(
            f"train_size={train_size!r} leaves {cut} of {total} {unit} to train on and "
            f"{max(total - cut, 0)} to calibrate on; each needs at least one"
        )
    return cut


def training_cut(train_size: Any, lengths: IntArray) -> int:
    """Return how many steps of a history in segments train.

    What comes before the last segment cannot calibrate, and trains in any case.
    """
    return max(training_length(train_size, int(lengths.sum())), int(lengths[:-1].sum()))


def is_nested(states: Any) -> bool:
    """Tell whether states are a list of sequences; a tuple is a label."""
    if not isinstance(states, (list, tuple)) or not states:
        return False
    first = nw.from_native(states[0], allow_series=True, pass_through=True)
    return isinstance(first, (list, np.ndarray, nw.Series))


def join_states(states: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """Return the labels of all sequences, one after the other, and how many each has."""
    each = [listed(one, f"states[{k}]") for k, one in enumerate(states)]
    return [label for one in each for label in one], list(map(len, each))


def join_observations(sequences: Any, name: str = "observations") -> tuple[Any, list[int]]:
    """Return the observations of all sequences, one after the other, and how many each has."""
    if not isinstance(sequences, (list, tuple)) or not sequences:
        raise TypeError(f"{name} must be a list of sequences, got {type(sequences).__name__}")
    each = [readable(one, f"{name}[{k}]") for k, one in enumerate(sequences)]
    native = [nw.from_native(one, allow_series=True, pass_through=True) for one in each]
    lengths = list(map(len, each))
    if all(isinstance(one, nw.DataFrame) for one in native):
        return nw.concat(native).to_native(), lengths
    if all(isinstance(one, np.ndarray) for one in each):
        return np.concatenate(each), lengths
    if any(isinstance(one, np.ndarray) and one.ndim > 1 for one in each):
        return [row for one in each for row in np.asarray(one).tolist()], lengths
    return [value for one in each for value in listed(one, name)], lengths
