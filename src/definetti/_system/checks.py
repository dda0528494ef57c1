"""Parameters checked whenever they are used, with errors that name the remedy."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from numbers import Real
from typing import Any

import numpy as np


def checked_number(value: Any, name: str) -> int:
    """Return a whole number of at least one."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number ≥ 1, got {value!r}")
    return int(value)


def checked_limit(value: Any, name: str) -> None:
    """Refuse anything but a whole number of at least zero."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
        remedy = "; 0 always draws" if name == "max_windows" else ""
        raise ValueError(f"{name} must be a whole number ≥ 0, got {value!r}{remedy}")


def checked_guarantee(guarantee: Any, max_errors: Any) -> None:
    """Refuse a guarantee that there is none of."""
    if not isinstance(guarantee, str) or guarantee not in ("all", "steps", "errors"):
        raise ValueError(f"guarantee must be 'all', 'steps' or 'errors', got {guarantee!r}")
    checked_limit(max_errors, "max_errors")
    if max_errors and guarantee != "errors":
        raise ValueError(
            f"max_errors={max_errors} is for guarantee='errors', and guarantee is {guarantee!r}"
        )


def is_auto(parameter: Any) -> bool:
    """Tell whether a parameter is left to be chosen; it may be an object of any kind.

    >>> is_auto("auto"), is_auto(1)
    (True, False)
    """
    return isinstance(parameter, str) and parameter == "auto"


def checked_choice(value: Any, contract: Any, name: str, others: str = "") -> Any:
    """Return an object that fulfils a contract, given by its name or as it is.

    Parameters
    ----------
    contract : a class with a registry, see `definetti._system.registry`
    others : what else the parameter may be, in words, for the error
    """
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
    """Turn what scikit-learn calls a random state into the seed of all streams of a fit.

    Parameters
    ----------
    ahead : whether a generator is left as it is, to give the same number again
    """
    if ahead and isinstance(random_state, np.random.RandomState):
        random_state = deepcopy(random_state)
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(random_state, np.random.Generator):
        source = random_state.bit_generator
        before = source.state if ahead else {}
        found = int(random_state.integers(2**63))
        if ahead:  # put back, which takes a tenth of the time of a copy
            source.state = before
        return found
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if whole and random_state >= 0:
        return int(random_state)
    raise ValueError(
        f"random_state must be None, a whole number ≥ 0 or a NumPy Generator, got {random_state!r}"
    )


def checked_prior(value: Any, name: str = "prior") -> None:
    """Refuse what cannot be a number of pseudo-observations."""
    number = np.nan
    if isinstance(value, Real) and not isinstance(value, (bool, np.bool_)):
        with suppress(OverflowError):
            number = float(value)
    if not 0.0 <= number < np.inf:
        raise ValueError(f"{name} must be a finite number ≥ 0, got {value!r}; try 0.5")
