"""The Shiryaev–Roberts statistic: capital since any time, added up."""

from __future__ import annotations

import math
from dataclasses import dataclass

from definetti.martingales._run_length import RunLength


@dataclass(eq=False)
class ShiryaevRoberts(RunLength, name="shiryaev_roberts"):
    """Raise an alarm when the factors by which the capital has grown since each step add up.

    Someone new begins to bet at every step, with a capital of one. If nothing changes it takes at
    least `run_length` steps on average until an alarm; *not* promised is that there is none: sooner
    or later there is a false one (Vovk et al. 2021).

    Parameters
    ----------
    run_length : float, default 1000
        The average number of steps before a false alarm, at least.

    Examples
    --------
    >>> alarm = ShiryaevRoberts(run_length=2.5)
    >>> alarm.update([0.0]), alarm.update([0.0]), alarm.update([0.0])
    (array([False]), array([False]), array([ True]))
    """

    def carry(self, carried: float, log_capital: float) -> float:
        # Minus the log of the sum of one over all capitals so far, the first of them, 1, included.
        low, high = sorted((carried, log_capital))
        return low - math.log1p(math.exp(low - high)) if low < high else low - math.log(2.0)
