"""Page's CUSUM: capital since it was lowest."""

from __future__ import annotations

from dataclasses import dataclass

from definetti.martingales._run_length import RunLength


@dataclass(eq=False)
class CUSUM(RunLength, name="cusum"):
    """Raise an alarm when the capital has grown by a factor since it was lowest.

    What was lost before a change costs nothing, so that changes are seen quickly however late they
    come. If nothing changes it takes at least `run_length` steps on average until an alarm; *not*
    promised is that there is none: sooner or later there is a false one (Volkhonskiy et al. 2017).

    Parameters
    ----------
    run_length : float, default 1000
        The average number of steps before a false alarm, at least.

    Examples
    --------
    >>> alarm = CUSUM(run_length=20)
    >>> alarm.update([-5.0]), alarm.update([-3.0]), alarm.update([-1.0])
    (array([False]), array([False]), array([ True]))
    """

    def carry(self, carried: float, log_capital: float) -> float:
        return min(carried, log_capital)
