"""What kind of values a column holds."""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti._system.arrays import as_float
from definetti.data.labels import is_missing
from definetti.emissions.base import Emission
from definetti.emissions.bernoulli import Bernoulli
from definetti.emissions.categorical import Categorical
from definetti.emissions.gaussian import Gaussian
from definetti.emissions.poisson import Poisson

DATES = (date, time, timedelta, np.datetime64, np.timedelta64)
NUMBERS = ("flags", "counts", "integers", "numbers")  # each holds the one before


def kind(values: Any) -> str:
    """Tell what a series, an array or a list of single values holds.

    Values tell, not their type: 2.0 is a whole number, since a gap among whole numbers makes many
    a library write them so. "flags" are whole numbers, too, of which there are 0 and 1 alone.

    >>> kind([3, 0.0, None, 2]), kind([3, -1]), kind([0.5, 2]), kind([True, None]), kind(["wet"])
    ('counts', 'integers', 'numbers', 'switches', 'text')
    >>> kind([0, 1, None, 1.0])
    'flags'
    """
    series = values
    if not isinstance(values, (nw.Series, list, tuple, np.ndarray)):
        series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if series.dtype in (nw.Categorical, nw.Enum):
            return "symbols"
        values = series.drop_nulls() if series.null_count() else series  # ten times as fast
        values = values.to_numpy() if values.dtype.is_numeric() else values.to_list()
    if isinstance(values, np.ma.MaskedArray):
        values = values.compressed()
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
        try:
            return _array_kind(np.array(known, dtype=np.float64))
        except OverflowError:  # too large for a machine number, and so whole
            return _array_kind(np.array([as_float(value) for value in known]))
    return "symbols"


def _array_kind(array: npt.NDArray[Any]) -> str:
    if array.dtype.kind == "b":
        return "switches"
    known = array[~np.isnan(array)] if array.dtype.kind == "f" else array
    if not known.size:
        return "nothing"
    if known.dtype.kind == "f" and (np.floor(known) != known).any():
        return "numbers"
    if known.min() < 0:
        return "integers"
    return "flags" if known.max() <= 1 else "counts"


def emission_for(found: str) -> Emission:
    """Return an emission for a column of a kind."""
    if found in ("numbers", "integers"):
        return Gaussian()
    if found == "counts":
        return Poisson()
    return Bernoulli() if found in ("switches", "flags") else Categorical()
