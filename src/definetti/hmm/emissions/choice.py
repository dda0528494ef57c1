"""An emission for what is observed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from definetti.hmm.emissions.categorical import Categorical
from definetti.hmm.emissions.contract import Emission
from definetti.hmm.emissions.gaussian import Gaussian
from definetti.hmm.emissions.kinds import emission_for, kind
from definetti.hmm.emissions.mixed import Mixed
from definetti.hmm.emissions.words import Words
from definetti.sequence import is_missing

# The part of words met once only is about the chance that the next word is new (Good 1953).
NEW_WORDS = 0.05
# Fewer distinct words than these are labels, however short the sequence.
FEW_WORDS = 50


def choose(observations: Any) -> Emission:
    """Choose an emission by the kind of values that observations hold.

    =========================================  =============
    single values: numbers with fractions      `Gaussian`
    text, much of it met once only             `Words`
    any others                                 `Categorical`
    rows: numbers                              `Gaussian`
    whole numbers from 0 on                    `Poisson`
    True and False                             `Bernoulli`
    columns of several kinds                   `Mixed`
    =========================================  =============

    Where the choice hinges on more than types (are all numbers whole, are words rare) it is made
    from the labelled history alone, and the guarantee is exact given that choice only if the new
    observations could not have changed it. Name the emission to leave no doubt.

    Examples
    --------
    >>> choose(["wet", "dry", "wet"])
    Categorical(prior=0.5)
    >>> choose([[0.5, 1.0], [0.7, 1.2]])
    Gaussian(covariance='full', prior=0.1, shrinkage=None)
    """
    if observations is None:
        return Categorical()
    native = nw.from_native(observations, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return _for_columns([kind(series.to_native()) for series in native.iter_columns()])
    if isinstance(native, nw.Series):
        return _for_values(native.to_list(), kind(observations))
    if isinstance(observations, np.ndarray) and observations.ndim == 2:
        return _for_rows([kind(column) for column in observations.T])
    values = list(observations)
    known = [value for value in values if not is_missing(value)]
    if any(isinstance(value, Mapping) for value in known):
        return Mixed()
    if known and all(_is_row(value) for value in known):
        return _for_rows([kind(column) for column in zip(*known, strict=False)])
    return _for_values(known, kind(known))


def _is_row(value: Any) -> bool:
    """Tell rows from symbols: a tuple is a symbol unless a number in it has a fraction."""
    if isinstance(value, tuple):
        return any(isinstance(x, (float, np.floating)) and x % 1 != 0 for x in value)
    return isinstance(value, (list, np.ndarray)) and np.ndim(value) > 0


def _for_columns(kinds: list[str]) -> Emission:
    emissions = [emission_for(found) for found in kinds]
    alike = all(emission == emissions[0] for emission in emissions)
    return emissions[0] if alike and emissions and not emissions[0].symbols else Mixed()


def _for_rows(kinds: list[str]) -> Emission:
    """Choose where columns have no type of their own: a number with a fraction makes all real."""
    numbers = "numbers" in kinds and set(kinds) <= {"numbers", "counts", "nothing"}
    return Gaussian() if numbers else _for_columns(kinds)


def _for_values(values: list[Any], found: str) -> Emission:
    known = [value for value in values if not is_missing(value)]
    if found == "numbers" and any(value % 1 != 0 for value in known):
        return Gaussian()
    if found == "text":
        times = Counter(known)
        once = sum(number == 1 for number in times.values())
        if len(times) > FEW_WORDS and once > NEW_WORDS * len(known):
            return Words()
    return Categorical()
