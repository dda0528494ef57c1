"""What alarms that begin anew all the time promise instead: how long it takes, on average."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from definetti._system.checks import check_scalar
from definetti.martingales.alarm import Alarm


@dataclass(eq=False)
class RunLength(Alarm):
    """An alarm with at least so many steps, on average, before it is false."""

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
        # One part: the Shiryaev–Roberts statistic less the number of steps is a martingale, so
        # that where it stops it is as large, on average, as the time. Several: each part has
        # reached c by the step t with a probability of at most t/c (Doob), any of K with Kt/c, so
        # that the mean is at least the sum of 1 − Kt/c over t < c/K, which is (c/K + 1)/2.
        one = self.run_length if self.parts == 1 else 2 * self.run_length - 1
        return math.log(self.parts * one)

    @property
    def promise(self) -> str:
        return (
            f"at least {self.run_length:g} steps on average before a false alarm; sooner or later "
            "there is one"
        )
