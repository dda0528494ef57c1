"""What a monitor is given, read."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sized
from itertools import zip_longest
from typing import Any

import narwhals as nw
import numpy as np

from definetti._system.checks import checked_choice
from definetti.adaptive import AdaptiveLevel
from definetti.conformal import ConformalHMM
from definetti.levels import read_levels
from definetti.symmetry import TogetherDepartures


def each_row(values: Any) -> Iterable[Any]:
    """Return the rows of anything, one by one; those of a frame are frames.

    >>> list(each_row(np.array([1, 2])))
    [1, 2]
    """
    native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return (native[k : k + 1].to_native() for k in range(len(native)))
    if isinstance(native, nw.Series):
        return native.to_list()
    rows: Iterable[Any] = values
    return rows.tolist() if isinstance(rows, np.ndarray) and rows.ndim == 1 else rows


def in_pairs(observations: Any, states: Any) -> Iterator[tuple[Any, Any]]:
    """Return rows with their labels, one by one; None for observations that there are not.

    >>> list(in_pairs(None, ["sun", "rain"]))
    [(None, 'sun'), (None, 'rain')]
    """
    labels = each_row(states)
    if observations is None:
        return ((None, label) for label in labels)
    rows = each_row(observations)
    if isinstance(rows, Sized) and isinstance(labels, Sized) and len(rows) != len(labels):
        raise ValueError(
            f"observations has {len(rows)} rows, and states has {len(labels)}; give a state for "
            "each row, None where it is missing"
        )
    return _pair(iter(rows), iter(labels))


def _pair(rows: Iterator[Any], labels: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
    nothing = object()
    for row, label in zip_longest(rows, labels, fillvalue=nothing):
        if row is nothing or label is nothing:
            short, long = ("observations", "states")[:: 1 if row is nothing else -1]
            raise ValueError(
                f"{short} ended, and {long} goes on; give a state for each row, None where it is "
                "missing; the rows before were learned"
            )
        yield row, label


def checked_word(value: Any, words: tuple[str, ...], name: str) -> str:
    """Refuse anything but one of some words."""
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, words))}, got {value!r}")
    return value


def check_one_history(cp: ConformalHMM) -> None:
    """Refuse an estimator whose history is several series, one after the other."""
    if cp._data.together or isinstance(cp._remembering, TogetherDepartures):
        raise ValueError(
            "cp is calibrated by the rows of several series (series='all' or 'first'), which are "
            "not one chain: p-values of its steps would not be uniform, and alarms false; fit with "
            "series='own' or 'others', and monitor one of its series_"
        )


def find_adaptive(adaptive: Any, cp: ConformalHMM) -> AdaptiveLevel:
    """Find an adaptive level; one by name has the estimator's level, if that is one for all."""
    levels = read_levels(cp.confidence_level)
    if isinstance(adaptive, str) and adaptive in AdaptiveLevel.named and not levels.named:
        made: AdaptiveLevel = AdaptiveLevel.named[adaptive](levels.written)
        return made
    return copy.deepcopy(checked_choice(adaptive, AdaptiveLevel, "adaptive"))  # type: ignore[no-any-return]
