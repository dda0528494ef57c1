"""Check parameters when they are used; errors and warnings name the remedy."""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from copy import deepcopy
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from definetti._system.arrays import FloatArray

SHAPES = "{} must be (n,), transition (n, n) and emission (n, m)"
RESAMPLES = 999  # draws, where there are too many rearrangements to enumerate
# Defaults of a backtest: the share of labelled rows before the first window, and most windows.
START, WINDOWS = 0.5, 500
MOST_RESAMPLES = 10**6  # each draw costs a pass over the rows
PACKAGE = str(Path(__file__).parent.parent)


def shown(value: Any) -> str:
    """Return the repr of a value for a message; only the type of long values."""
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else f"a {type(value).__name__}"


def checked_number(value: Any, name: str) -> int:
    """Check and return a whole number of at least one."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number ≥ 1, got {shown(value)}")
    return int(value)


def checked_resamples(value: Any) -> int:
    """Check and return a number of draws; refuse more than `MOST_RESAMPLES`."""
    number = checked_number(value, "n_resamples")
    if number > MOST_RESAMPLES:
        raise ValueError(
            f"n_resamples must be at most {MOST_RESAMPLES:,}, got {shown(value)}; a p-value is "
            "known to one part in n_resamples: 9,999 are enough for levels down to 0.001"
        )
    return number


def checked_share(value: Any, name: str) -> float:
    """Check and return a share of rows."""
    return checked_fraction(value, name, "try 0.5")


def checked_fraction(value: Any, name: str, remedy: str) -> float:
    """Check and return a number between 0 and 1, both excluded."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 < value < 1:
        raise ValueError(
            f"{name} must be a number between 0 and 1, got {shown(value)}, and both are excluded; "
            f"{remedy}"
        )
    return float(value)


def checked_jobs(n_jobs: Any, most: int) -> int | None:
    """Check `n_jobs`; return it, limited to the number `most` of tasks."""
    whole = isinstance(n_jobs, (int, np.integer)) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (whole and n_jobs):
        raise ValueError(
            f"n_jobs must be a whole number, such as 2, or −1 for one a core, got {shown(n_jobs)}"
        )
    return None if n_jobs is None else int(min(max(n_jobs, -1000), max(most, 1)))


def checked_model(
    initial: Any, transition: Any, emission: Any, first: str = "initial"
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Check and return the parameters of a hidden Markov model: shapes, and sums of one."""
    laws = {}
    for name, law in ((first, initial), ("transition", transition), ("emission", emission)):
        laws[name] = np.asarray(law, dtype=np.float64)
        if laws[name].ndim != (1 if name == first else 2):
            raise ValueError(f"{name} has the shape {laws[name].shape}; {SHAPES.format(first)}")
        sums = laws[name].sum(axis=-1).reshape(-1)
        odd = ~np.isclose(sums, 1.0, rtol=0, atol=1e-6)
        if odd.any() or not (laws[name] >= 0).all():
            why = f"some sum to {sums[odd.argmax()]:g}" if odd.any() else "some are negative"
            raise ValueError(
                f"{name} must hold probabilities that sum to one along the last axis, and {why}; "
                "divide them by their sums"
            )
    begin, steps, emitted = laws.values()
    if not len(begin) == len(steps) == steps.shape[1] == len(emitted):
        raise ValueError(
            f"{first} {begin.shape}, transition {steps.shape} and emission {emitted.shape} do not "
            f"fit together; {SHAPES.format(first)}"
        )
    return begin, steps, emitted


def check_scalar(value: Any, name: str, remedy: str) -> None:
    """Refuse anything but one number, such as a list or a series."""
    if isinstance(value, (int, float, Real, Decimal, np.number)) or (
        isinstance(value, np.ndarray) and value.ndim == 0
    ):
        return
    raise ValueError(f"{name} must be one number, got a {type(value).__name__}; {remedy}")


def checked_limit(value: Any, name: str) -> None:
    """Refuse anything but a whole number of at least zero."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
        remedy = "; 0 always draws" if name == "max_windows" else ""
        raise ValueError(f"{name} must be a whole number ≥ 0, got {shown(value)}{remedy}")


def is_auto(parameter: Any) -> bool:
    """Return whether a parameter of any type is the text ``auto``."""
    return isinstance(parameter, str) and parameter == "auto"


def checked_choice(value: Any, contract: Any, name: str, others: str = "") -> Any:
    """Return an instance of a base class, given by its name or as an object."""
    if isinstance(value, contract):
        return value
    if isinstance(value, str) and value in contract.named:
        return contract.named[value]()
    raise ValueError(
        f"{name} must be one of {', '.join(map(repr, contract.named))}{others} or a "
        f"{contract.__module__.rpartition('.')[0]}.{contract.__name__}, got {value!r}"
    )


def checked_flag(value: Any, name: str) -> None:
    """Refuse anything but True and False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}")


def entropy_of(random_state: Any, ahead: bool = False) -> int:
    """Return the seed of all random streams of a fit from a random state, as in scikit-learn.

    With `ahead` the state of a generator does not change: the next call returns the same seed.
    """
    if ahead and isinstance(random_state, np.random.RandomState):
        random_state = deepcopy(random_state)
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(random_state, np.random.Generator):
        source = random_state.bit_generator
        before = source.state if ahead else {}
        seed = int(random_state.integers(2**63))
        if ahead:  # resetting takes a tenth of the time of a copy
            source.state = before
        return seed
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if whole and random_state >= 0:
        return int(random_state)
    raise ValueError(
        f"random_state must be None, a whole number ≥ 0 or a NumPy Generator, got {random_state!r}"
    )


def checked_prior(value: Any, name: str = "prior") -> None:
    """Refuse anything but a finite number of pseudo-observations, at least zero."""
    number = np.nan
    if isinstance(value, Real) and not isinstance(value, (bool, np.bool_)):
        with suppress(OverflowError):
            number = float(value)
    if not 0.0 <= number < np.inf:
        raise ValueError(f"{name} must be a finite number ≥ 0, got {value!r}; try 0.5")


def warn_caller(message: str, category: type[Warning]) -> None:
    """Issue a warning that names the first calling line outside of the package."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth + 1)
