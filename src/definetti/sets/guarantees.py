"""What a set guarantees: all steps right together, a share of them, or all but a few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from definetti._system.checks import checked_limit

NAMES = ("all", "steps", "errors")


@dataclass(frozen=True)
class Errors:
    """Guarantee that at most so many steps of a window are wrong, with the level's probability.

    Parameters
    ----------
    max_errors : int, default 0

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> cp = ConformalHMM(guarantee=Errors(1), train_size=0.5, random_state=0)
    >>> cp.fit(*weather(300, random_state=0)).predict_set(["hat", "nothing", "hat"]).steps
    [('sun',), ('sun',), ('sun',)]
    """

    max_errors: int = 0

    def __post_init__(self) -> None:
        checked_limit(self.max_errors, "max_errors")


class Guarantee(NamedTuple):
    """A guarantee as it is read: its name, and how many steps may be wrong for "errors"."""

    name: str
    max_errors: int = 0


def read_guarantee(guarantee: Any) -> Guarantee:
    """Read the parameter `guarantee` of an estimator.

    >>> read_guarantee("steps"), read_guarantee(Errors(2))
    (Guarantee(name='steps', max_errors=0), Guarantee(name='errors', max_errors=2))
    """
    if isinstance(guarantee, Errors):
        return Guarantee("errors", int(guarantee.max_errors))
    if not isinstance(guarantee, str) or guarantee not in NAMES:
        raise ValueError(
            f"guarantee must be 'all', 'steps', 'errors' or a definetti.Errors, got {guarantee!r}"
        )
    return Guarantee(guarantee)
