"""What an alarm has to offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray
from definetti._system.checks import checked_number
from definetti._system.registry import Named
from definetti._system.saved import Saved


@dataclass(eq=False)
class Alarm(Named, Saved, ABC):
    """When to say that something has changed, by the capital of one or of several martingales.

    Each part has its own martingale, and an alarm of its own. Martingales that are fed by different
    scores of the same steps are each a martingale by itself, not all together, so that promises
    for several parts rest on the union bound: the thresholds grow with their number.

    Parameters
    ----------
    parts : int, default 1
        How many martingales there are.

    Attributes
    ----------
    state : (parts,) what is remembered of the past
    statistics : (parts,) the log of what is compared with the threshold, as it stands
    raised : (parts,) which of them have reached it
    """

    parts: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        checked_number(self.parts, "parts")
        self.check()
        self.restart()

    @property
    @abstractmethod
    def log_threshold(self) -> float:
        """The log of what must be reached for an alarm."""

    @property
    @abstractmethod
    def promise(self) -> str:
        """What is promised, and what is not, in words."""

    @abstractmethod
    def carry(self, log_capitals: FloatArray) -> FloatArray:
        """Return, after each step, what the capital of later steps is measured by.

        Parameters
        ----------
        log_capitals : (1 + T, parts) the first row is what was carried before
        """

    def check(self) -> None:
        """Refuse parameters that make no sense."""

    @property
    def raised(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.statistics >= self.log_threshold)

    def _saved(self) -> dict[str, Any]:
        return {"settings": self.settings, "state": self.state, "statistics": self.statistics}

    @classmethod
    def _restored(cls, kept: dict[str, Any]) -> Alarm:
        made = cls(**kept["settings"])
        made.restore(kept["state"], kept["statistics"])
        return made

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters by their names: with `state` and `statistics`, all there is to save."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def restart(self) -> None:
        """Begin anew, as the martingales do: their capital is one."""
        self.state, self.statistics = np.zeros(self.parts), np.zeros(self.parts)

    def restore(self, state: Any, statistics: Any) -> None:
        """Go on from `state` and `statistics` that were saved."""
        found = np.array([state, statistics], dtype=np.float64)
        if found.shape != (2, self.parts) or not np.isfinite(found).all():
            raise ValueError(
                f"state and statistics must be {self.parts} finite numbers each, one for each part"
            )
        self.state, self.statistics = found

    def update(self, log_capitals: Any) -> npt.NDArray[np.bool_]:
        """Take in the log of each part's capital after a step, and tell which parts are raised."""
        logs = np.asarray(log_capitals, dtype=np.float64)
        if logs.shape != (self.parts,) or np.isnan(logs).any():
            self.update_many(np.reshape(logs, (1, -1)))
            return self.raised
        carried = self.carry(np.array([self.state, logs]))  # as `update_many` has it, for one step
        self.state, self.statistics = carried[1], logs - carried[0]
        return self.raised

    def update_many(self, log_capitals: Any) -> FloatArray:
        """Take in the logs of the capitals after each step, ``(T, parts)``; return the statistics.

        A step raises an alarm where its statistic is at least `log_threshold`.
        """
        logs = np.asarray(log_capitals, dtype=np.float64)
        logs = logs[:, None] if logs.ndim == 1 and self.parts == 1 else logs
        if logs.ndim != 2 or logs.shape[1] != self.parts or np.isnan(logs).any():
            raise ValueError(
                f"log_capitals must have a number for each of {self.parts} parts, step by step, "
                f"got the shape {logs.shape}"
            )
        if not len(logs):
            return logs
        carried = self.carry(np.vstack([self.state, logs]))
        found = logs - carried[:-1]
        self.state, self.statistics = carried[-1], found[-1]
        return np.asarray(found)
