"""Labelled data as they came in, kept where another model may have to read them again."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from definetti._system.arrays import IntArray
from definetti.data.labels import listed, piece
from definetti.data.series import at_rows


class Part(NamedTuple):
    """Labelled data that came in together, as they came."""

    observations: Any
    labels: list[Any]
    shape: str  # of the observations, in the words of `definetti.emissions.choice.Kinds`


def copied(values: Any) -> Any:
    """Copy observations, so that what becomes of the user's own later is of no concern."""
    if isinstance(values, list):
        return [value.copy() if hasattr(value, "copy") else value for value in values]
    return values.copy() if hasattr(values, "copy") else values


def take_rows(parts: list[Part], rows: IntArray, end: int) -> Iterator[tuple[Any, IntArray]]:
    """Yield the observations of some rows, in rising order, with their rows; the latest first."""
    for part in reversed(parts):
        begin = end - len(part.labels)
        own = rows[np.searchsorted(rows, begin) : np.searchsorted(rows, end)]
        if len(own):
            yield at_rows(part.observations, own - begin), own
        if begin <= rows.min(initial=end):
            break
        end = begin


def split(part: Part, at: int) -> list[Part]:
    """Cut what came in together in two; one of the two may be all of it."""
    seen, labels, shape = part
    if not 0 < at < len(labels):
        return [part]
    ends = (0, at), (at, len(labels))
    cut = [None if seen is None else piece(seen, begin, end) for begin, end in ends]
    return [Part(cut[k], labels[begin:end], shape) for k, (begin, end) in enumerate(ends)]


def joined(parts: Iterable[Part]) -> list[Part]:
    """Put together what came one after the other in the same form."""
    runs: list[list[Part]] = []
    form: Hashable = None
    for part in parts:
        own = _form(part)
        # A list in which all is missing goes with any other.
        empty = "nothing" in (form, own) and isinstance(form, str) and isinstance(own, str)
        if not runs or not (own == form or empty):
            runs.append([])
        form = form if runs[-1] and own == "nothing" else own
        runs[-1].append(part)
    return [run[0] if len(run) == 1 else _joined(run) for run in runs]


def _form(part: Part) -> Hashable:
    """Tell what can be put together: columns of the same names and types, else lists alike."""
    if part.shape != "columns":
        return part.shape
    frame = nw.from_native(part.observations, eager_only=True)
    return frame.implementation, *frame.schema.items()


def _joined(run: list[Part]) -> Part:
    labels = [label for part in run for label in part.labels]
    if run[0].observations is None:  # a plain chain
        return Part(None, labels, run[0].shape)
    shape = next((part.shape for part in run if part.shape != "nothing"), "nothing")
    if shape == "columns":
        frames = [nw.from_native(part.observations, eager_only=True) for part in run]
        return Part(nw.concat(frames).to_native(), labels, shape)
    return Part([value for part in run for value in _listed(part.observations)], labels, shape)


def _listed(values: Any) -> list[Any]:
    if isinstance(values, list):
        return values
    if isinstance(values, np.ndarray) and values.ndim > 1:
        return list(values.tolist())
    return listed(values, "observations")
