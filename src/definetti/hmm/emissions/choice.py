"""An emission for what is observed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti.hmm.emissions.categorical import Categorical
from definetti.hmm.emissions.contract import Emission
from definetti.hmm.emissions.gaussian import Gaussian
from definetti.hmm.emissions.kinds import emission_for, kind
from definetti.hmm.emissions.mixed import Mixed
from definetti.hmm.emissions.words import Words
from definetti.sequence import all_hashable, is_missing

# The part of words met once only is about the chance that the next word is new (Good 1953).
NEW_WORDS = 0.05
# Fewer distinct words than these are labels, however short the sequence.
FEW_WORDS = 50


def choose(observations: Any) -> Emission:
    """Choose an emission by the kind of values that observations hold.

    Single values: `Gaussian` for numbers with fractions, `Words` for text of which much is met
    once only, `Categorical` for all others. Rows: `Gaussian` for numbers, `Poisson` for whole
    numbers from 0 on, `Bernoulli` for True and False, `Mixed` for columns of several kinds. A
    tuple is a symbol, unless a number in it has a fraction.

    The choice looks at the labelled history alone. Where it hinges on values, not types (are all
    numbers whole, are many words rare), the new observations might have tipped it, and the
    guarantee is exact but for that; name the emission to leave no doubt.

    Examples
    --------
    >>> choose(["wet", "dry", "wet"])
    Categorical(prior=0.5)
    >>> choose([[0.5, 1.0], [0.7, 1.2]])
    Gaussian(covariance='full', prior=0.1, shrinkage=None)
    """
    # What cannot be looked into, or only once, is left to `Categorical` to read or refuse.
    if not isinstance(observations, Iterable) or isinstance(observations, (str, Mapping, Iterator)):
        return Categorical()
    native = nw.from_native(observations, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return _for_columns([kind(series.to_native()) for series in native.iter_columns()])
    if isinstance(native, nw.Series):
        return _for_values(native.to_list(), kind(observations))
    if isinstance(observations, np.ndarray) and observations.ndim != 1:
        return _for_array(observations)
    values = observations.tolist() if isinstance(observations, np.ndarray) else list(observations)
    # Each distinct value is looked at once, where values can be told apart by their hash.
    seen = dict.fromkeys(values) if all_hashable(values) else values
    known = [value for value in seen if not is_missing(value)]
    if any(isinstance(value, Mapping) for value in known):
        return Mixed()
    if _are_rows(known):
        return _for_rows([kind(column) for column in zip(*known, strict=False)])
    return _for_values(values, kind(known))


def _are_rows(values: list[Any]) -> bool:
    """Tell rows from symbols: tuples are symbols unless a number in them has a fraction."""
    if not all(isinstance(value, (tuple, list, np.ndarray)) for value in values):
        return False
    return any(
        not isinstance(value, tuple)
        or any(isinstance(x, (float, np.floating)) and x % 1 != 0 for x in value)
        for value in values
    )


def _for_array(array: npt.NDArray[Any]) -> Emission:
    if array.ndim != 2:
        return Gaussian()  # which says what shape it wants
    return _for_rows([kind(column) for column in array.T])


def _for_columns(kinds: list[str]) -> Emission:
    emissions = [emission_for(found) for found in kinds]
    alike = all(emission == emissions[0] for emission in emissions)
    return emissions[0] if alike and emissions and not emissions[0].symbols else Mixed()


def _for_rows(kinds: list[str]) -> Emission:
    """Choose where columns have no type of their own: a number with a fraction makes all real."""
    numbers = "numbers" in kinds and set(kinds) <= {"numbers", "counts", "nothing"}
    return Gaussian() if numbers else _for_columns(kinds)


def _for_values(values: list[Any], found: str) -> Emission:
    if found not in ("numbers", "text"):
        return Categorical()
    times = Counter(values)
    known = {value: number for value, number in times.items() if not is_missing(value)}
    if found == "numbers" and any(value % 1 != 0 for value in known):
        return Gaussian()
    once = sum(number == 1 for number in known.values())
    if found == "text" and len(known) > FEW_WORDS and once > NEW_WORDS * sum(known.values()):
        return Words()
    return Categorical()
