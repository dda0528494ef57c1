"""An estimator that is monitored: it begins anew, or adapts, where the law has changed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from sklearn.base import clone

from definetti import ConformalHMM
from definetti.data.labels import piece
from definetti.monitor import Monitor
from definetti.monitor.sets import cut_set
from definetti.sets import PredictionSet

FIRST = 20  # labels that a monitor begins with


class Restarting(ConformalHMM):
    """`ConformalHMM` behind a `Monitor` with ``on_alarm="restart"``: it knows what that one kept.

    What it does is an attribute, so that the parameters are those of `ConformalHMM`.
    """

    reaction: ClassVar[dict[str, Any]] = {"on_alarm": "restart"}

    def fit(
        self,
        observations: Any,
        states: Any,
        lengths: Any = None,
        groups: Any = None,
        order: Any = None,
    ) -> Restarting:
        if groups is not None or order is not None:
            raise ValueError("groups is for ConformalHMM; a contestant lives with one stream")
        first = min(FIRST, len(states))
        known = None if observations is None else piece(observations, 0, first)
        cp = ConformalHMM(**clone(self).get_params(deep=False)).fit(known, states[:first], lengths)
        self._monitor = Monitor(cp, **self.reaction, random_state=self.random_state)
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

    def predict_set(self, new_observations: Any = None, *level: Any, **how: Any) -> Any:
        if level or not self._monitor._adapting:
            return super().predict_set(new_observations, *level, **how)
        every = self.predict_p(new_observations, **how)
        assert isinstance(every, PredictionSet)  # contestants with work for each list them
        return cut_set(every, Fraction(self._monitor.adaptive.alpha), bool(self.allow_empty))


class RestartingAtChange(Restarting):
    """The same, beginning with the change as it is estimated: only approximately valid."""

    reaction: ClassVar[dict[str, Any]] = {"on_alarm": "restart", "restart_from": "change"}


class AdaptingAfterAlarm(Restarting):
    """The same, which forgets nothing: after the alarm its level follows the misses."""

    reaction: ClassVar[dict[str, Any]] = {"on_alarm": "adapt"}


class RestartingAndAdapting(Restarting):
    """It begins anew at the alarm, and its level follows the misses all the time."""

    reaction: ClassVar[dict[str, Any]] = {"on_alarm": "restart", "adapt_from": "beginning"}


KINDS = {
    "alarm": Restarting,
    "change": RestartingAtChange,
    "adapt": AdaptingAfterAlarm,
    "both": RestartingAndAdapting,
}
