"""A model in words, for people who do not read Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def described(model: Any, columns: Sequence[str] = (), fixed_on: int = 0) -> str:
    """Say what a model takes each column for, and what it was fixed on.

    Parameters
    ----------
    model : the ``model_`` of an estimator
    columns : the observed columns; none where there is nothing to observe
    fixed_on : the number of rows that the model was fixed on, the first ones

    Examples
    --------
    >>> from definetti import HMM
    >>> from definetti.emissions import Gaussian, Mixed, Poisson
    >>> described(HMM(emission=Mixed({"heat": Gaussian(), "alarms": Poisson()})))
    'Gaussian for heat; Poisson for alarms; fitted anew with each candidate'
    >>> described(HMM(), ["carried"])
    'frequencies for carried; fitted anew with each candidate'
    """
    parts = model.emission_.describe(columns) or ["a Markov chain, nothing observed"]
    if fixed_on:
        parts.append(f"fixed on the first {fixed_on:,} rows")
    elif not model.fixed:
        parts.append("fitted anew with each candidate")
    return "; ".join(parts)
