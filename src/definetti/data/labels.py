"""Labels and codes: alphabets, and checks of labels, lengths, indices and encoded tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sized
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from definetti._system.arrays import IntArray

if TYPE_CHECKING:
    from definetti.emissions.base import Emission


ANY = int(np.iinfo(np.int64).max)  # no upper bound on codes: the user's own emission has the table
NONE: IntArray = np.zeros(0, dtype=np.int64)


def require(sound: Any, what: str) -> None:
    """Refuse data, from a file mostly, that are inconsistent."""
    if not sound:
        raise ValueError(f"{what} does not fit the rest")


def check_indices(values: Any, low: int, end: int, name: str) -> None:
    """Refuse all but an array of whole numbers in [low, end)."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu":
        kind = values.dtype if isinstance(values, np.ndarray) else type(values).__name__
        raise ValueError(f"{name} must be an array of whole numbers, got {kind}")
    if values.size and not (low <= values.min() and values.max() < end):
        outside = values[(values < low) | (values >= end)].flat[0]
        raise ValueError(f"{name} must be whole numbers from {low} to {end - 1}, got {outside}")


def check_shape(values: Any, shape: tuple[int, ...], name: str) -> None:
    """Refuse all but an array of the given shape."""
    given = values.shape if isinstance(values, np.ndarray) else type(values).__name__
    if given != shape:
        raise ValueError(f"{name} must have the shape {shape}, got {given}")


def is_array(value: Any, kind: Any, ndim: int) -> bool:
    """Tell whether a value is an array of a dtype and a number of axes."""
    return isinstance(value, np.ndarray) and value.dtype == kind and value.ndim == ndim


def check_codes(table: Any, codes: IntArray) -> None:
    """Refuse codes of observations outside a table."""
    require(is_array(codes, np.int64, 1), "a code of observations")
    require(codes.min(initial=0) >= -1 and codes.max(initial=-1) < len(table), "a code")


def check_encoded(emission: Emission, table: Any, codes: Any) -> None:
    """Refuse invalid codes from an emission; codes of symbols must be in the table."""
    check_indices(codes, -1, len(table) if emission.symbols else ANY, "codes of the emission")
    check_shape(codes, (len(codes),), "codes of the emission")


def check_table(emission: Emission, table: Any) -> None:
    """Refuse a table that the emission cannot read."""
    with suppress(TypeError, ValueError):  # a table of frames expects a frame
        emission.encode([None], table, "observations")


def check_statistics(
    emission: Emission, table: Any, statistics: Any, n_states: int, fixed: bool = False
) -> None:
    """Refuse statistics of another shape than the emission has; fixed ones may be smaller."""
    # For zero states, so that a wide table takes no memory.
    wanted = (n_states, *emission.statistics(table, NONE, NONE, 0).shape[1:])
    require(is_array(statistics, np.float64, len(wanted)), "a sum")
    sides = list(zip(statistics.shape, wanted, strict=True))
    same = all(own == other for own, other in sides)
    require(same or (fixed and all(own <= other for own, other in sides)), "a sum")
    if same:
        emission.statistics(table, NONE, NONE, n_states)  # which may refuse so many states


MISSING = -1


def is_missing(value: object) -> bool:
    """Tell whether a value is missing: None, NaN, NaT, masked or pandas' NA."""
    if type(value) is int or type(value) is str:  # the common case
        return False
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, (float, complex, np.inexact)) and bool(np.isnan(value))


def plain(values: Any) -> Any:
    """Convert a PyTorch tensor to an array, without importing PyTorch; leave all else.

    The elements of a tensor are tensors, of which no two are equal.
    """
    if type(values).__module__.partition(".")[0] == "torch" and hasattr(values, "detach"):
        return values.detach().cpu().numpy()
    return values


def plain_label(label: Any) -> Any:
    """Convert a NumPy scalar to the Python value that it equals; leave other labels."""
    if isinstance(label, (np.str_, np.bytes_, np.number, np.bool_)) and not isinstance(
        label, np.timedelta64
    ):
        return label.item()
    if type(label) is tuple:
        return tuple(map(plain_label, label))
    return label


def plain_labels(labels: list[Any]) -> list[Any]:
    """Apply `plain_label` to all labels, if any of them needs it."""
    if any(issubclass(kind, (np.generic, tuple)) for kind in set(map(type, labels))):
        return list(map(plain_label, labels))
    return labels


def array_of(labels: Iterable[Hashable]) -> npt.NDArray[Any]:
    """Return labels as an array of their type, or of objects."""
    values = list(labels)
    if len({type(label) for label in values}) == 1 and type(values[0]) in (str, int, float, bool):
        return np.array(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def readable(values: Any, name: str = "observations") -> Any:
    """Return values that can be read more than once: iterators as lists, tensors as arrays.

    Sparse matrices and frames without columns, or with a column twice, are refused.
    """
    if type(values).__module__.startswith("scipy.sparse"):
        raise TypeError(f"{name} is a sparse matrix, which is not read; pass its .toarray()")
    if hasattr(values, "shape") and hasattr(values, "columns"):
        names = list(values.columns)
        if not names:
            raise ValueError(f"{name} is a frame without columns; give None for a plain chain")
        twice = [repeated for repeated, number in Counter(names).items() if number > 1]
        if twice:
            raise ValueError(f"{name} has the column {twice[0]!r} twice; rename one")
    return list(values) if isinstance(values, Iterator) else plain(values)


def listed(values: Any, name: str) -> list[Any]:
    """Read a list, tuple, NumPy array, pandas or polars series as a list of labels."""
    if type(values) in (list, tuple):  # the common case; the checks below are slower
        return plain_labels(list(values))
    values = plain(values)
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise ValueError(
                f"{name} must have one label per step, got an array of shape {values.shape}; "
                "pass one dimension"
            )
        if values.dtype.kind == "M":  # tolist() returns nanoseconds as integers
            coarser = values.astype("datetime64[us]") if values.dtype != "M8[D]" else values
            exact = (coarser == values) | np.isnat(values)
            return list(coarser.tolist() if exact.all() else values)
        elements: list[Any] = values.tolist()
        return plain_labels(elements) if values.dtype == object else elements
    native = nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series):
        return plain_labels(list(native.to_list()))
    refused = (str, bytes, dict, set, frozenset, type, nw.DataFrame, nw.LazyFrame)
    if isinstance(native, refused) or not isinstance(values, Iterable):
        raise TypeError(
            f"{name} must be a sequence with one label per step, got {type(values).__name__}; "
            "pass a list, a NumPy array or a series"
        )
    return plain_labels(list(values))


def all_hashable(labels: list[Any]) -> bool:
    """Tell whether all labels are hashable."""
    return each_once(labels) is not None


def each_once(labels: list[Any]) -> list[Any] | None:
    """Return the distinct labels in order of first occurrence; None if one is not hashable."""
    try:
        return list(dict.fromkeys(labels))
    except TypeError:
        return None


def hashable(label: object) -> bool:
    """Tell whether a value is hashable, its elements included."""
    try:
        hash(label)
    except TypeError:
        return False
    return True


def piece(values: Any, begin: int, end: int) -> Any:
    """Slice the rows of a sequence or frame, keeping its type; None stays None."""
    if values is None:
        return None
    native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, (nw.DataFrame, nw.Series)):
        return native[begin:end].to_native()
    return values[begin:end] if hasattr(values, "__getitem__") else list(values)[begin:end]


def kind_name(label: object) -> str:
    """Name the kind of a label for a message."""
    if isinstance(label, str):
        return "text"
    if isinstance(label, (bool, int, float, np.number, np.bool_)):
        return "numbers"
    if isinstance(label, date):
        return "dates"
    return type(label).__name__


class Alphabet:
    """Labels and their codes, in order of first occurrence.

    Examples
    --------
    >>> weather = Alphabet(["sun", "rain"])
    >>> weather.encode(["rain", "rain", "sun"], "states")
    array([1, 1, 0])
    >>> weather.extended(["snow"]).labels
    ('sun', 'rain', 'snow')
    """

    def __init__(self, labels: Iterable[Hashable] = (), known: Alphabet | None = None) -> None:
        self.codes: dict[Hashable, int] = {} if known is None else known.codes.copy()
        for label in labels:
            self.codes.setdefault(plain_label(label), len(self.codes))
        self.labels: tuple[Hashable, ...] = tuple(self.codes)

    def __len__(self) -> int:
        return len(self.codes)

    def extended(self, labels: Iterable[Hashable]) -> Alphabet:
        """Return an alphabet with the new labels added; missing values are ignored."""
        seen = dict.fromkeys(labels)  # each distinct label once
        new = [label for label in seen if not is_missing(label) and label not in self.codes]
        return self.joined(new) if new else self

    def joined(self, labels: Iterable[Hashable]) -> Alphabet:
        """Return an alphabet with the new labels at its end."""
        return Alphabet(labels, self)

    def encode(self, labels: list[Any], name: str) -> IntArray:
        """Translate labels to codes; every label must be known."""
        try:
            return np.fromiter(map(self.codes.__getitem__, labels), np.int64, len(labels))
        except KeyError:
            row = next(k for k, x in enumerate(labels) if x not in self.codes)
            known = ", ".join(map(repr, list(self.codes)[:8]))
            raise ValueError(
                f"{name}[{row}] is {labels[row]!r}, which is not among the known labels ({known}"
                f"{', …' if len(self) > 8 else ''}); declare it with states=[…] or add it to the "
                "labelled history"
            ) from None

    def encode_missing(self, labels: list[Any], met: list[Any] | None = None) -> IntArray:
        """Translate labels to codes, `MISSING` where a label is missing.

        Parameters
        ----------
        met : the distinct labels, if known
        """
        met = list(dict.fromkeys(labels)) if met is None else met
        # A NaN is found in a dict because it is the same object.
        codes = {x: MISSING if is_missing(x) else self.codes[x] for x in met}
        return np.fromiter(map(codes.__getitem__, labels), np.int64, len(labels))

    def places_of(self, labels: list[Any]) -> IntArray:
        """Translate labels to codes, −1 for one that is not known."""
        return np.array([self.codes.get(label, -1) for label in labels], dtype=np.int64)

    def decode(self, codes: Iterable[int]) -> tuple[Hashable, ...]:
        """Translate codes back to labels."""
        labels = self.labels
        return tuple(labels[code] for code in codes)

    def check_kind(self, labels: list[Any], name: str, met: list[Any] | None = None) -> None:
        """Refuse labels of a new kind, such as text where numbers were fitted."""
        met = list(dict.fromkeys(labels)) if met is None else met  # as in `encode_missing`
        known = {kind_name(label) for label in self.codes}
        if all(kind_name(label) in known or is_missing(label) for label in met):
            return
        for row, label in enumerate(labels if known else []):
            if not is_missing(label) and kind_name(label) not in known:
                raise TypeError(
                    f"{name}[{row}] is {label!r} ({kind_name(label)}), but the fitted ones are "
                    f"{' and '.join(sorted(known))}; convert it to the same kind"
                )


def checked_states(states: Any, name: str = "states") -> list[Any]:
    """Read state labels; none may be missing or unhashable."""
    labels = listed(states, name)
    met = each_once(labels)
    if met is not None and not any(map(is_missing, met)):
        return labels
    for row, label in enumerate(labels):
        if is_missing(label):
            raise ValueError(
                f"{name}[{row}] is missing ({label!r}); a labelled history has a state at every "
                "step: drop the step at one of the ends, or fill it in"
            )
        if not hashable(label):
            raise TypeError(
                f"{name}[{row}] is a {type(label).__name__}, {label!r}, which cannot serve as a "
                "label; use text, numbers or tuples"
            )
    return labels


def read_declared(states: Any, known: Iterable[Hashable]) -> Alphabet:
    """Read the declared states; those of the model come first."""
    declared = checked_states(states)
    if not declared:
        raise ValueError(
            "states is empty; give a list of the labels there are (an iterator is empty when it "
            "was read before), or leave it out"
        )
    alphabet = Alphabet(known)
    named = set(declared)
    missing = [label for label in alphabet.codes if label not in named]
    if missing:
        raise ValueError(
            f"states does not have {missing[0]!r}, a state that the model knows; declare all of "
            "the model's states, or none"
        )
    return alphabet.joined(declared)


def count_rows(values: Any, name: str) -> int:
    """Return how many rows a sequence, an array or a frame has."""
    if getattr(values, "shape", ()):
        return int(values.shape[0])
    if isinstance(values, Sized) and not isinstance(values, (str, bytes, dict, set)):
        return len(values)
    raise TypeError(
        f"{name} must have one row per step, got {type(values).__name__}; pass a list, an array "
        "or a data frame that is in memory"
    )


def check_pairs(number: int, wanted: int, name: str = "observations") -> None:
    """Refuse observations and states of different numbers."""
    if number != wanted:
        raise ValueError(
            f"{name} has {number} elements and states has {wanted}; they must be of equal "
            "length, one pair per step"
        )


def check_length(labels: list[Any], length: int) -> None:
    """Refuse a sequence of labels whose length is not the number of steps."""
    if len(labels) != length:
        raise ValueError(
            f"states has {len(labels)} labels for {length} new_observations; give one label "
            "per observation"
        )


def read_lengths(lengths: Any, total: int, name: str) -> IntArray:
    """Return the length of each sequence; without `lengths` there is one."""
    if lengths is None:
        return np.array([total])
    if not isinstance(lengths, Iterable):
        raise TypeError(f"lengths must be a list of whole numbers, got {lengths!r}")
    values = listed(lengths, "lengths")
    for row, length in enumerate(values):
        if not isinstance(length, (int, np.integer)) or isinstance(length, bool) or length < 1:
            raise ValueError(
                f"lengths[{row}] is {length!r}, and must be a whole number ≥ 1; leave out "
                "sequences without steps"
            )
    if sum(values) != total:
        raise ValueError(
            f"lengths adds up to {sum(values):,} steps and {name} has {total:,}; give the length "
            "of every sequence"
        )
    return np.array(values, dtype=np.int64)


def training_length(train_size: Any, total: int, unit: str = "steps") -> int:
    """Turn a share or number of training steps or units into a number; some must remain."""
    share = isinstance(train_size, (float, np.floating)) and 0 < train_size < 1
    number = isinstance(train_size, (int, np.integer)) and not isinstance(train_size, bool)
    if not share and not (number and train_size >= 1):
        raise ValueError(
            f"train_size must be a share between 0 and 1 or a whole number ≥ 1, got "
            f"{train_size!r}; 0.5 trains on half of the {unit} and calibrates on the others"
        )
    cut = int(train_size * total) if share else int(train_size)
    if not 1 <= cut < total:
        raise ValueError(
            f"train_size={train_size!r} leaves {cut} of {total} {unit} to train on and "
            f"{max(total - cut, 0)} to calibrate on; each needs at least one"
        )
    return cut


def training_cut(train_size: Any, lengths: IntArray) -> int:
    """Return how many rows of a history in segments train the model.

    Rows before the last segment cannot calibrate, so they always train.
    """
    return max(training_length(train_size, int(lengths.sum())), int(lengths[:-1].sum()))
