"""Alarms: rules by which the capital of martingales is evidence of a change."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from operator import sub
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray
from definetti._system.checks import check_scalar, checked_fraction, checked_number
from definetti._system.mixins import Named, Resumed


@dataclass(eq=False)
class Alarm(Named, Resumed):
    """A rule that raises an alarm for a change by the capital of one or several martingales.

    Each part has its own martingale and alarm. Guarantees for several parts rest on the union
    bound: the thresholds grow with their number.

    Parameters
    ----------
    parts : int, default 1
        The number of martingales.

    Attributes
    ----------
    state : (parts,) the log reference that is subtracted from later log capitals
    statistics : (parts,) the log of the present statistic, which is compared with the threshold
    raised : (parts,) whether each statistic has reached the threshold
    """

    parts: int = field(default=1, kw_only=True)

    _resumed_from = "state", "statistics"

    def __post_init__(self) -> None:
        checked_number(self.parts, "parts")
        self.check()
        self.restart()

    @property
    @abstractmethod
    def log_threshold(self) -> float:
        """The log of the threshold for an alarm."""

    @property
    @abstractmethod
    def promise(self) -> str:
        """The guarantee and its limits, in words."""

    @abstractmethod
    def carry(self, carried: float, log_capital: float) -> float:
        """Return the log reference for the later capital of one part, after a step."""

    def check(self) -> None:
        """Raise for invalid parameters."""

    @property
    def state(self) -> FloatArray:
        return np.array(self._carried)

    @property
    def statistics(self) -> FloatArray:
        return np.array(self._statistics)

    @property
    def raised(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.statistics >= self.log_threshold)

    @classmethod
    def _memory(cls, kept: dict[str, Any]) -> int:
        return 128 * checked_number(kept["settings"]["parts"], "parts")

    def restart(self) -> None:
        """Reset, as for martingales with a capital of one."""
        self._carried, self._statistics = [0.0] * self.parts, [0.0] * self.parts

    def restore(self, state: Any, statistics: Any) -> None:
        """Restore saved `state` and `statistics`."""
        values = np.array([state, statistics], dtype=np.float64)
        if values.shape != (2, self.parts) or not np.isfinite(values).all():
            raise ValueError(
                f"state and statistics must be {self.parts} finite numbers each, one for each part"
            )
        self._carried, self._statistics = values.tolist()

    def update(self, log_capitals: Any) -> npt.NDArray[np.bool_]:
        """Update by the log capital of each part after a step; return which parts are raised."""
        self.update_many(np.reshape(np.asarray(log_capitals, dtype=np.float64), (1, -1)))
        return self.raised

    def hear(self, log_capitals: list[float]) -> list[bool]:
        """Update by plain numbers, unchecked, which is faster in streams than `update`."""
        carried, threshold = self._carried, self.log_threshold
        self._statistics = list(map(sub, log_capitals, carried))
        self._carried = list(map(self.carry, carried, log_capitals))
        return [statistic >= threshold for statistic in self._statistics]

    def update_many(self, log_capitals: Any) -> FloatArray:
        """Update by log capitals after each step, ``(T, parts)``; return the statistics.

        A step raises an alarm where its statistic is at least `log_threshold`.
        """
        logs = np.asarray(log_capitals, dtype=np.float64)
        logs = logs[:, None] if logs.ndim == 1 and self.parts == 1 else logs
        if logs.ndim != 2 or logs.shape[1] != self.parts or np.isnan(logs).any():
            raise ValueError(
                f"log_capitals must have a number for each of {self.parts} parts, step by step, "
                f"got the shape {logs.shape}"
            )
        statistics = np.empty_like(logs)
        for k, row in enumerate(logs.tolist()):
            self.hear(row)
            statistics[k] = self._statistics
        return statistics


@dataclass(eq=False)
class RunLength(Alarm):
    """An alarm with a lower bound of the mean number of steps before a false alarm."""

    run_length: float = 1000.0

    def check(self) -> None:
        check_scalar(self.run_length, "run_length", "give a number of steps")
        if not 1 <= self.run_length < np.inf:
            raise ValueError(
                f"run_length must be a number of steps ≥ 1, got {self.run_length!r}; 1000 allows a "
                "false alarm in 1,000 steps on average"
            )

    @property
    def log_threshold(self) -> float:
        # One part: the Shiryaev–Roberts statistic minus the number of steps is a martingale, so
        # that when stopped its mean equals the mean time. Several: each part has
        # reached c by the step t with a probability of at most t/c (Doob), any of K with Kt/c, so
        # that the mean is at least the sum of 1 − Kt/c over t < c/K, which is (c/K + 1)/2.
        factor = self.run_length if self.parts == 1 else 2 * self.run_length - 1
        return math.log(self.parts * factor)

    @property
    def promise(self) -> str:
        return (
            f"at least {self.run_length:g} steps on average before a false alarm; sooner or later "
            "there is one"
        )


@dataclass(eq=False)
class CUSUM(RunLength, name="cusum"):
    """Raise an alarm when the capital has grown by a factor since it was lowest.

    Capital lost before a change does not count, so late changes are detected as quickly as early
    ones (Volkhonskiy et al. 2017). A false alarm comes sooner or later.

    Parameters
    ----------
    run_length : float, default 1000
        A lower bound of the average number of steps before a false alarm.

    Examples
    --------
    >>> alarm = CUSUM(run_length=20)
    >>> alarm.update([-5.0]), alarm.update([-3.0]), alarm.update([-1.0])
    (array([False]), array([False]), array([ True]))
    """

    def carry(self, carried: float, log_capital: float) -> float:
        return min(carried, log_capital)


@dataclass(eq=False)
class ShiryaevRoberts(RunLength, name="shiryaev_roberts"):
    """Raise an alarm when the sum of the growth factors since each step is large.

    A new bettor starts at every step with a capital of one (Vovk et al. 2021). A false alarm comes
    sooner or later.

    Parameters
    ----------
    run_length : float, default 1000
        A lower bound of the average number of steps before a false alarm.

    Examples
    --------
    >>> alarm = ShiryaevRoberts(run_length=2.5)
    >>> alarm.update([0.0]), alarm.update([0.0]), alarm.update([0.0])
    (array([False]), array([False]), array([ True]))
    """

    def carry(self, carried: float, log_capital: float) -> float:
        # Minus the log of the sum of 1/capital over all capitals so far, from the first, 1, on.
        low, high = sorted((carried, log_capital))
        return low - math.log1p(math.exp(low - high)) if low < high else low - math.log(2.0)


@dataclass(eq=False)
class Ville(Alarm, name="ville"):
    """Raise an alarm when the capital reaches ``parts / alpha``.

    If nothing changes, there is no alarm *ever* with a probability of at least ``1 − alpha``:
    Ville's inequality for each part, the union bound for all. The longer there is no change, the
    more capital may be lost, and the later a change is detected.

    Parameters
    ----------
    alpha : float, default 0.05
        The probability of a false alarm, ever, by any part.

    Examples
    --------
    >>> from definetti.martingales import SimpleJumper
    >>> bet, alarm = SimpleJumper(), Ville(alpha=0.05)
    >>> steps = 0
    >>> while not alarm.update([bet.update(0.03)]).any():
    ...     steps += 1
    >>> steps, bet.capital > 20
    (10, True)
    """

    alpha: float = 0.05

    def check(self) -> None:
        checked_fraction(
            self.alpha, "alpha", "0.05 is a false alarm, ever, in one stream of twenty"
        )

    @property
    def log_threshold(self) -> float:
        return math.log(self.parts / self.alpha)

    @property
    def promise(self) -> str:
        return f"a false alarm, ever, with a probability of at most {self.alpha:g}"

    def carry(self, carried: float, log_capital: float) -> float:
        return 0.0
