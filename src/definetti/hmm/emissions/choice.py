"""An emission for what is observed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti.arrays import IntArray
from definetti.hmm.emissions.categorical import Categorical
from definetti.hmm.emissions.contract import Emission
from definetti.hmm.emissions.gaussian import Gaussian
from definetti.hmm.emissions.kinds import emission_for, kind
from definetti.hmm.emissions.mixed import Mixed
from definetti.hmm.emissions.text import Text
from definetti.sequence import Alphabet, all_hashable, is_missing, listed


@dataclass(frozen=True)
class Whole(Categorical):
    """Whole numbers, taken for symbols because none has a fraction; one that has is refused.

    Had it been there from the start, all would have been taken for measurements. A choice that
    depends on which numbers came early would not be a function of what a rearrangement keeps.
    """

    def encode(
        self, observations: Any, table: Alphabet | None, name: str
    ) -> tuple[Alphabet, IntArray]:
        table, codes = super().encode(observations, table, name)
        broken = [x for x in table.labels if isinstance(x, (float, np.floating)) and x % 1 > 0]
        if broken:
            row = listed(observations, name).index(broken[0])
            raise ValueError(
                f"{name}[{row}] is {broken[0]!r}, but the fitted ones are whole numbers, taken for "
                "symbols; use model=HMM(emission=Gaussian()) for measurements, HMM() for symbols"
            )
        return table, codes


def choose(observations: Any) -> Emission:
    """Choose an emission by the type of what is observed.

    Single values: `Gaussian` for floating-point numbers, `Text` for text, `Categorical` for all
    others, whole numbers included. Rows: `Gaussian` for floating-point numbers, `Poisson` for
    whole numbers (`Gaussian` if one is negative), `Bernoulli` for True and False, `Mixed` for
    columns of several kinds. A tuple is a symbol, unless it has a floating-point number in it.

    Types, not values: a choice that new observations might have tipped would cost exactness. What
    would have tipped it later on, a fraction among whole numbers or a negative count, is refused.

    Examples
    --------
    >>> choose([3, 1, 3])
    Whole(prior=0.5)
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
        return _for_values(kind(observations))
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
    return _for_values(kind(known))


def _are_rows(values: list[Any]) -> bool:
    """Tell rows from symbols: tuples are symbols unless there is a float in them."""
    if not all(isinstance(value, (tuple, list, np.ndarray)) for value in values):
        return False
    return any(
        not isinstance(value, tuple) or any(isinstance(x, (float, np.floating)) for x in value)
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
    """Choose where columns have no type of their own: one column of reals makes all real."""
    real = bool({"numbers", "integers"} & set(kinds))
    real = real and set(kinds) <= {"numbers", "integers", "counts", "nothing"}
    return Gaussian() if real else _for_columns(kinds)


def _for_values(found: str) -> Emission:
    if found in ("counts", "integers"):
        return Whole()
    if found == "numbers":
        return Gaussian()
    return Text() if found == "text" else Categorical()
