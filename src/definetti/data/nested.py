"""A list of sequences, put one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from definetti.data.labels import listed, readable


def is_nested(states: Any) -> bool:
    """Tell whether states are a list of sequences; a tuple is a label.

    >>> is_nested([["sun", "rain"], ["sun"]]), is_nested(["sun", "rain"]), is_nested([(1, 2)])
    (True, False, False)
    """
    if not isinstance(states, (list, tuple)) or not states:
        return False
    first = nw.from_native(states[0], allow_series=True, pass_through=True)
    return isinstance(first, (list, np.ndarray, nw.Series))


def join_states(states: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """Return the labels of all sequences, one after the other, and how many each has.

    >>> join_states([["sun", "rain"], ["sun"]])
    (['sun', 'rain', 'sun'], [2, 1])
    """
    each = [listed(one, f"states[{k}]") for k, one in enumerate(states)]
    return [label for one in each for label in one], list(map(len, each))


def join_observations(sequences: Any, name: str = "observations") -> tuple[Any, list[int]]:
    """Return the observations of a list of sequences, one after the other, and how many each has.

    >>> join_observations([np.zeros((2, 3)), np.ones((1, 3))])[0].shape
    (3, 3)
    """
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
