"""What kind of values a column holds."""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti.hmm.emissions.bernoulli import Bernoulli
from definetti.hmm.emissions.categorical import Categorical
from definetti.hmm.emissions.contract import Emission
from definetti.hmm.emissions.gaussian import Gaussian
from definetti.hmm.emissions.poisson import Poisson
from definetti.sequence import is_missing

DATES = (date, time, timedelta, np.datetime64, np.timedelta64)


def kind(values: Any) -> str:
    """Tell what a series, an array or a list of single values holds.

    >>> kind([3, 0, None, 2]), kind([3, -1]), kind([0.5, 2]), kind([True, None]), kind(["wet"])
    ('counts', 'integers', 'numbers', 'switches', 'text')
    """
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if series.dtype in (nw.Categorical, nw.Enum):
            return "symbols"
        values = series.drop_nulls()
        values = values.to_numpy() if values.dtype.is_numeric() else values.to_list()
    array = values if isinstance(values, np.ndarray) else np.zeros(0, dtype=object)
    if array.size and array.dtype.kind in "biuf":
        return _array_kind(array)
    known = [value for value in values if not is_missing(value)]
    types = {type(value) for value in known}
    if not types:
        return "nothing"
    if all(issubclass(one, (bool, np.bool_)) for one in types):
        return "switches"
    if all(issubclass(one, str) for one in types):
        return "text"
    if all(issubclass(one, DATES) for one in types):
        return "dates"
    if all(issubclass(one, (int, float, np.number)) and one is not bool for one in types):
        return _array_kind(np.array(known))
    return "symbols"


def _array_kind(array: npt.NDArray[Any]) -> str:
    if array.dtype.kind == "b":
        return "switches"
    if array.dtype.kind not in "iu":
        return "numbers"
    return "counts" if array.min() >= 0 else "integers"


def emission_for(found: str) -> Emission:
    """Return an emission for a column of a kind."""
    if found in ("numbers", "integers"):
        return Gaussian()
    if found == "counts":
        return Poisson()
    return Bernoulli() if found == "switches" else Categorical()
