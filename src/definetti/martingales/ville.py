"""An alarm that is false, ever, with a small probability only."""

from __future__ import annotations

import math
from dataclasses import dataclass

from definetti.martingales._checks import checked_share
from definetti.martingales.alarm import Alarm


@dataclass(eq=False)
class Ville(Alarm, name="ville"):
    """Raise an alarm when the capital reaches ``parts / alpha``.

    If nothing changes, there is no alarm *ever* with a probability of at least ``1 − alpha``:
    Ville's inequality for each part, the union bound for all. The longer nothing has changed, the
    more capital may have been lost, and the longer a change takes to be seen.

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
        checked_share(self.alpha, "alpha", "0.05 is a false alarm, ever, in one stream of twenty")

    @property
    def log_threshold(self) -> float:
        return math.log(self.parts / self.alpha)

    @property
    def promise(self) -> str:
        return f"a false alarm, ever, with a probability of at most {self.alpha:g}"

    def carry(self, carried: float, log_capital: float) -> float:
        return 0.0
