"""Labels in, integers out: the first step on the way of the data.

Everything below this module speaks of codes ``0, 1, 2, …``; a missing observation has the code
``MISSING``. Everything a person sees is translated back by an `Alphabet`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import narwhals as nw
import numpy as np

from definetti.arrays import IntArray

MISSING = -1


def is_missing(value: object) -> bool:
    """Tell whether a value stands for "not known": None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def listed(values: Any, name: str) -> list[Any]:
    """Read a list, tuple, NumPy array, pandas or polars series as a list of labels.

    >>> listed(np.array(["sun", "rain"]), "states")
    ['sun', 'rain']
    """
    if isinstance(values, (str, bytes, dict, set, frozenset)) or not isinstance(values, Iterable):
        raise TypeError(
            f"{name} must be a sequence with one label per step, got {type(values).__name__}; "
            "pass a list, a NumPy array or a series"
        )
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise ValueError(
                f"{name} must have one label per step, got an array of shape {values.shape}; "
                "pass one dimension"
            )
        return list(values.tolist())
    native = nw.from_native(values, series_only=True, pass_through=True)
    return list(native.to_list() if isinstance(native, nw.Series) else values)


def _kind(label: object) -> str:
    if isinstance(label, str):
        return "text"
    if isinstance(label, (bool, int, float, np.number, np.bool_)):
        return "numbers"
    return type(label).__name__


class Alphabet:
    """Labels and their codes, in the order in which they were first met.

    Examples
    --------
    >>> weather = Alphabet(["sun", "rain"])
    >>> weather.encode(["rain", "rain", "sun"], "states")
    array([1, 1, 0])
    >>> weather.extended(["snow"]).labels
    ('sun', 'rain', 'snow')
    """

    def __init__(self, labels: Iterable[Hashable] = ()) -> None:
        self.codes: dict[Hashable, int] = {}
        for label in labels:
            self.codes.setdefault(label, len(self.codes))

    @property
    def labels(self) -> tuple[Hashable, ...]:
        return tuple(self.codes)

    def __len__(self) -> int:
        return len(self.codes)

    def extended(self, labels: Iterable[Hashable]) -> Alphabet:
        """Return an alphabet that has the new labels too, in a stable order."""
        new = {label for label in labels if label not in self.codes and not is_missing(label)}
        return Alphabet([*self.codes, *in_order(new)]) if new else self

    def encode(self, labels: list[Any], name: str) -> IntArray:
        """Translate labels to codes; every label must be known."""
        try:
            return np.fromiter((self.codes[x] for x in labels), dtype=np.int64, count=len(labels))
        except KeyError:
            row = next(k for k, x in enumerate(labels) if x not in self.codes)
            known = ", ".join(map(repr, list(self.codes)[:8]))
            raise ValueError(
                f"{name}[{row}] is {labels[row]!r}, which is not among the known labels ({known}"
                f"{', …' if len(self) > 8 else ''}); declare it with states=[…] or add it to the "
                "labelled history"
            ) from None

    def encode_missing(self, labels: list[Any]) -> IntArray:
        """Translate labels to codes, `MISSING` where a label is missing."""
        return np.fromiter(
            (MISSING if is_missing(x) else self.codes[x] for x in labels),
            dtype=np.int64,
            count=len(labels),
        )

    def decode(self, codes: Iterable[int]) -> tuple[Hashable, ...]:
        """Translate codes back to labels."""
        labels = self.labels
        return tuple(labels[code] for code in codes)

    def check_kind(self, labels: Iterable[Any], name: str) -> None:
        """Refuse labels of a kind never seen: words where numbers were fitted, say."""
        known = {_kind(label) for label in self.codes}
        for row, label in enumerate(labels if known else ()):
            if not is_missing(label) and _kind(label) not in known:
                raise TypeError(
                    f"{name}[{row}] is {label!r} ({_kind(label)}), but the fitted ones are "
                    f"{' and '.join(sorted(known))}; convert it to the same kind"
                )


def in_order(labels: set[Hashable]) -> list[Hashable]:
    """Sort labels where they can be compared, else by their text: the codes are reproducible."""
    try:
        return sorted(labels)  # type: ignore[type-var]
    except TypeError:
        return sorted(labels, key=lambda x: (type(x).__name__, repr(x)))


def checked_states(states: Any, name: str = "states") -> list[Any]:
    """Read state labels; each must be there and be hashable."""
    labels = listed(states, name)
    for row, label in enumerate(labels):
        if is_missing(label):
            raise ValueError(
                f"{name}[{row}] is missing ({label!r}); a labelled history has a state at every "
                "step: drop the step at one of the ends, or fill it in"
            )
        if not isinstance(label, Hashable):
            raise TypeError(
                f"{name}[{row}] is a {type(label).__name__}, which cannot serve as a label; "
                "use text, numbers or tuples"
            )
    return labels
