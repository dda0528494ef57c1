"""An estimator that is monitored, and begins anew where the law has changed."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from definetti import ConformalHMM
from definetti.data.labels import piece
from definetti.monitor import Monitor

FIRST = 20  # labels that a monitor begins with


class Restarting(ConformalHMM):
    """`ConformalHMM` behind a `Monitor` with ``on_alarm="restart"``: it knows what that one kept.

    Where it restarts is an attribute, so that the parameters are those of `ConformalHMM`.
    """

    restart_from = "alarm"

    def fit(self, observations: Any, states: Any, lengths: Any = None) -> Restarting:
        first = min(FIRST, len(states))
        known = None if observations is None else piece(observations, 0, first)
        cp = ConformalHMM(**clone(self).get_params(deep=False)).fit(known, states[:first], lengths)
        self._monitor = Monitor(
            cp, on_alarm="restart", restart_from=self.restart_from, random_state=self.random_state
        )
        rest = None if observations is None else piece(observations, first, len(states))
        return self._live(rest, states[first:])

    def partial_fit(self, observations: Any, states: Any) -> Restarting:
        return self._live(observations, states)

    def _live(self, observations: Any, states: Any) -> Restarting:
        for _ in self._monitor.run(observations, states):
            pass
        self.__dict__.update(
            {name: value for name, value in vars(self._monitor._follower.cp).items()
             if name.endswith("_") or name.startswith("_")}
        )  # fmt: skip
        return self


class RestartingAtChange(Restarting):
    """The same, beginning with the change as it is estimated: only approximately valid."""

    restart_from = "change"
