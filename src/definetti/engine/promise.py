"""What each combination of settings guarantees, or why it is refused.

``docs/limits.md`` prints the table that `promise_of` gives; ``tests/test_combinations.py`` compares
the two, and proves every line of it by enumeration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from definetti._system.checks import checked_limit
from definetti.symmetry import Departures, Remembering, Symmetry, TogetherDepartures
from definetti.symmetry.base import LAST, PRESENT

ANY_TIME, BY_VISITS = "at any time", "by visits"
COVERED = {
    "all": "the true sequence is in the set with at least the probability of the level",
    "steps": "the share of steps whose state is in its set is at least the level on average",
    "errors": "at most max_errors steps are wrong with at least the probability of the level",
}


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
    """A guarantee by name, with the number of wrong steps that "errors" allows."""

    name: str
    max_errors: int = 0


def read_guarantee(guarantee: Any) -> Guarantee:
    """Read the parameter `guarantee` of an estimator.

    >>> read_guarantee("steps"), read_guarantee(Errors(2))
    (Guarantee(name='steps', max_errors=0), Guarantee(name='errors', max_errors=2))
    """
    if isinstance(guarantee, Errors):
        return Guarantee("errors", int(guarantee.max_errors))
    if not isinstance(guarantee, str) or guarantee not in COVERED:
        raise ValueError(
            f"guarantee must be 'all', 'steps', 'errors' or a definetti.Errors, got {guarantee!r}"
        )
    return Guarantee(guarantee)


class Promise(NamedTuple):
    """What a set promises.

    Attributes
    ----------
    exact : whether it holds in finite samples, for every law that the memory allows
    given : the state it is conditional on, whose level applies where states have their own: the
        "last state" of the window or the "present state" before it
    when : "at any time" fixed in advance, or "by visits": at the m-th departure from the state
    says : the promise in a sentence
    recalls : what the future depends on besides the state; empty without a memory
    """

    exact: bool
    given: str
    when: str
    says: str
    recalls: str = ""

    @property
    def state(self) -> str:
        """The state the promise is conditional on, with its memory if it has one."""
        return f"{self.given} with its memory" if self.recalls else self.given

    @property
    def holds_given(self) -> str:
        """The attribute `given` of prediction sets."""
        if self.given == LAST:
            return LAST
        return self.state if self.when == BY_VISITS else f"{self.state}, {ANY_TIME}"


def promise_of(
    symmetry: Symmetry,
    fixed: bool,
    *,
    guarantee: str = "all",
    steps: int = 1,
    unseen: int = 0,
    lag: int = 0,
    gaps: bool = False,
    series: str = "own",
    train_size: Any = None,
    rows: int = 100,
) -> Promise:
    """Return what a prediction promises; refuse settings for which nothing is exact.

    The last `unseen` steps of a window are not observed yet, the first `lag` are not predicted;
    with `gaps`, some observations of the history are missing; `train_size` is the user's and
    amounts to `rows`. Levels by state and earlier segments make no difference.

    >>> from definetti.symmetry import Full, Spaced
    >>> promise_of(Spaced(), fixed=False)[:3]
    (True, 'last state', 'at any time')
    >>> promise_of(Departures(), fixed=True, guarantee="steps", steps=3, lag=1)[:3]
    (True, 'present state', 'by visits')
    >>> promise_of(Full(), fixed=True, lag=1, steps=2)
    Traceback (most recent call last):
    ValueError: lag=1 is exact with a fixed model and symmetry='spaced' or 'departures' only; \
use symmetry='spaced' or 'departures', or ask about all new steps
    """
    together = isinstance(symmetry, Remembering) and symmetry.symmetry
    if isinstance(together, TogetherDepartures):  # tokens would cross from one series to the next
        raise ValueError(
            "TogetherDepartures takes the future to depend on the present state alone; use "
            "memory=1, or series='own' or 'others'"
        )
    if series != "own":
        _check_series(series, symmetry, fixed, train_size)
        fixed = True
    elif symmetry.given == PRESENT and isinstance(train_size, (float, np.floating)):
        raise ValueError(
            f"train_size={train_size!r} is a share of the history's length, which depends on the "
            f"windows that calibrate symmetry={symmetry.known_as!r}; give a number of rows that is "
            f"fixed in advance, such as train_size={rows}"
        )
    _check_steps(symmetry, fixed, guarantee, steps, unseen, lag, gaps)
    first = isinstance(symmetry, TogetherDepartures) and symmetry.first
    by_visits = symmetry.given == PRESENT and not (first or series == "first")
    when, recalls = BY_VISITS if by_visits else ANY_TIME, assumption_of(symmetry)
    if not symmetry.exact:
        says = f"nothing is guaranteed: symmetry={symmetry.known_as!r} is not exact"
        return Promise(False, symmetry.given, when, says, recalls)
    promise = Promise(True, symmetry.given, when, "", recalls)
    averaging = "averaged over its visits" if by_visits else when
    says = f"{COVERED[guarantee]}, conditional on the {promise.state}, {averaging}"
    if recalls:
        says += f", where the future depends on {recalls} alone"
    return promise._replace(says=says)


def assumption_of(symmetry: Symmetry) -> str:
    """Describe what the future depends on; empty for the present state alone."""
    return symmetry.memory.assumption if isinstance(symmetry, Remembering) else ""


def _check_steps(
    symmetry: Symmetry,
    fixed: bool,
    guarantee: str,
    steps: int,
    unseen: int,
    lag: int,
    gaps: bool,
) -> None:
    """Refuse windows that are exact only with other settings, and name these."""
    if lag >= steps:
        raise ValueError(
            f"lag={lag} leaves none of the {steps} new steps to ask about; give observations up to "
            "the present"
        )
    limits = fixed and symmetry.by_last_state
    if lag and not limits:
        raise _needs_limits(f"lag={lag}", symmetry, fixed, "ask about all new steps")
    if 0 < unseen < steps and not limits:
        # Unseen observations would be rearranged to rows that must have one.
        what = f"horizon={steps} reaches beyond the {steps - unseen} new_observations, which"
        raise _needs_limits(what, symmetry, fixed, "leave horizon out")
    if unseen and isinstance(symmetry, Remembering) and symmetry.memory.reads_observations:
        needed, taught = symmetry.needs_observations, not (fixed or symmetry.learns_all)
        if needed or taught:
            ways = ["use symmetry='departures'"] * needed
            ways += ["set train_size to a number of rows"] * (not fixed)
            raise ValueError(
                f"horizon={steps} reaches beyond what is observed, and the future is taken to "
                f"depend on {assumption_of(symmetry)}, to the end; {' and '.join(ways)}, so that "
                "the present is enough, or memory=1"
            )
    if unseen and gaps and symmetry.reads_observations:
        raise ValueError(
            f"symmetry={symmetry.known_as!r} takes a step that is not observed yet for a gap, and "
            "the history has gaps; use symmetry='returns' or 'full' with horizon=, or set "
            "reads_observations = False in a symmetry of your own that does not look at them"
        )
    if guarantee != "all" and not limits:
        raise _needs_limits(f"guarantee={guarantee!r}", symmetry, fixed, "guarantee='all'")


def _needs_limits(what: str, symmetry: Symmetry, fixed: bool, instead: str) -> ValueError:
    only = "'departures', or 'spaced' with memory=1,"
    only = only if isinstance(symmetry, Remembering) else "'spaced' or 'departures'"
    return ValueError(
        f"{what} is exact with a fixed model and symmetry={only} only; "
        f"{way_to_limits(symmetry, fixed)}, or {instead}"
    )


def _check_series(series: str, symmetry: Symmetry, trained: bool, train_size: Any) -> None:
    """Refuse settings that a mode of series does not allow."""
    if series == "others":
        if trained:
            raise ValueError(
                "series='others' trains a model on the other series, and model is trained already; "
                "use series='own'"
            )
        if train_size is not None:
            raise ValueError(
                f"train_size={train_size!r} trains a model on the series itself, and "
                "series='others' on the others; leave train_size out"
            )
        return
    if isinstance(symmetry, Remembering):
        raise ValueError(
            f"series={series!r} takes the future to depend on the present state alone, and memory "
            f"says that it depends on {assumption_of(symmetry)}; use memory=1, or series='own' or "
            "'others'"
        )
    if not isinstance(symmetry, Departures):
        raise ValueError(
            f"series={series!r} compares with what followed the present state, and symmetry is "
            f"{symmetry.known_as!r}; use symmetry='departures', or leave it out"
        )
    if trained and train_size is not None:
        raise ValueError(
            f"train_size={train_size!r}, but the model is trained already; leave train_size out"
        )
    if not trained and train_size is None:
        raise ValueError(
            f"series={series!r} needs a fixed model; set train_size=0.5 to train it on the first "
            "half of the series, or give one that is trained"
        )


def way_to_limits(symmetry: Symmetry, fixed: bool) -> str:
    """Name the settings needed for a threshold by last state; empty where they are met."""
    use = ""
    if isinstance(symmetry, Remembering) and not symmetry.by_last_state:
        blocks = "" if symmetry.symmetry.by_last_state else "'spaced' with "
        use = f"use symmetry='departures', or {blocks}memory=1"
    elif not symmetry.by_last_state:
        use = "use symmetry='spaced' or 'departures'"
    # With departures, a share of the history is not fixed in advance.
    rows = use or symmetry.given == PRESENT
    fix = "set train_size to a number of rows" if rows else "set train_size=0.5"
    return " and ".join(step for step in (fix * (not fixed), use) if step)


def write_condition(given: str) -> str:
    """Write the state a promise is conditional on; empty for the last state."""
    if given == LAST:
        return ""
    if given.endswith(ANY_TIME):
        return f" given the {given}"
    return f" given the present state{given.removeprefix(PRESENT)}, averaged over its visits"
