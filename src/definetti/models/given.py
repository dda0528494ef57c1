"""A hidden Markov model given by its matrices."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from numbers import Real
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.data.labels import Alphabet
from definetti.emissions.categorical import FixedCategorical
from definetti.models.hmm import TrainedHMM


def given_hmm(
    transition: Any,
    emission: Any,
    states: Iterable[Hashable] | None = None,
    symbols: Iterable[Hashable] | None = None,
) -> TrainedHMM:
    """Return a model with the matrices given, which no data changes.

    Parameters
    ----------
    transition : (n, n) probabilities of the next state, in rows that sum to one
    emission : (n, m) probabilities of the symbols of each state, in rows that sum to one
    states, symbols : labels, optional
        In the order of the rows and of the columns; ``0, 1, 2, …`` if left out.

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> model = given_hmm(
    ...     [[0.9, 0.1], [0.2, 0.8]],
    ...     [[0.2, 0.7, 0.1], [0.7, 0.1, 0.2]],
    ...     states=["sun", "rain"],
    ...     symbols=["umbrella", "hat", "nothing"],
    ... )
    >>> cp = ConformalHMM(model).fit(*weather(200, random_state=0))
    >>> cp.predict_set(["umbrella", "umbrella"]).sequences
    [('rain', 'rain')]
    """
    steps = checked_rows(transition, "transition")
    emitted = checked_rows(emission, "emission")
    n, m = emitted.shape
    if steps.shape != (n, n):
        raise ValueError(
            f"transition has shape {steps.shape} and emission {emitted.shape}; they must be "
            "(n, n) and (n, m)"
        )
    labels = Alphabet(range(n) if states is None else states)
    table = Alphabet(range(m) if symbols is None else symbols)
    if (len(labels), len(table)) != (n, m):
        raise ValueError(
            f"states and symbols name {len(labels)} states and {len(table)} symbols, the matrices "
            f"have {n} and {m}; give one label per row of transition and per column of emission"
        )
    law = FixedCategorical(0.0, tuple(range(m)))
    return TrainedHMM(steps, emitted, 0.0, law, labels.labels, table)


def checked_rows(matrix: Any, name: str) -> FloatArray:
    """Read a matrix of probabilities; refuse one that is none, and say where."""
    rows = _numbers(matrix, name)
    if rows.ndim != 2 or not rows.size:
        raise ValueError(f"{name} must be a matrix, got shape {rows.shape}; give a list of rows")
    wrong = ~((rows >= 0) & np.isfinite(rows))
    if wrong.any():
        i, j = np.argwhere(wrong)[0].tolist()
        raise ValueError(
            f"{name}[{i}, {j}] is {rows[i, j]}; probabilities are numbers between 0 and 1"
        )
    off = np.abs(rows.sum(axis=1) - 1.0) > 1e-6
    if off.any():
        i = int(off.argmax())
        raise ValueError(f"{name}[{i}] sums to {rows[i].sum():.6g}; rows must sum to one")
    return rows


def _numbers(matrix: Any, name: str) -> FloatArray:
    try:
        return np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        entries = np.array(matrix, dtype=object)
    widths = [np.size(row) for row in entries] if entries.ndim == 1 else []
    for i, width in enumerate(widths):
        if width != widths[0]:
            raise ValueError(
                f"{name}[{i}] has {width} entries and {name}[0] has {widths[0]}; give all rows the "
                "same length"
            )
    others = ((at, x) for at, x in np.ndenumerate(entries) if not isinstance(x, Real))
    at, entry = next(others, ((), matrix))
    raise ValueError(
        f"{name}{list(at) or ''} is {entry!r}; probabilities are numbers between 0 and 1"
    )
