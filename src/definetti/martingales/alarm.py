"""What an alarm has to offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from operator import sub
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray
from definetti._system.checks import checked_number
from definetti._system.mixins import Named, Saved


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
    state : (parts,) what the capital of later steps is measured by
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
    def carry(self, carried: float, log_capital: float) -> float:
        """Return what the capital of later steps is measured by, of one part after a step.

        Parameters
        ----------
        carried : what it was before the step, at first 0
        log_capital : the log of the capital after the step
        """

    def check(self) -> None:
        """Refuse parameters that make no sense."""

    @property
    def state(self) -> FloatArray:
        return np.array(self._carried)

    @property
    def statistics(self) -> FloatArray:
        return np.array(self._statistics)

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

    @classmethod
    def _memory(cls, kept: dict[str, Any]) -> int:
        return 128 * checked_number(kept["settings"]["parts"], "parts")

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters by their names: with `state` and `statistics`, all there is to save."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def restart(self) -> None:
        """Begin anew, as the martingales do: their capital is one."""
        self._carried, self._statistics = [0.0] * self.parts, [0.0] * self.parts

    def restore(self, state: Any, statistics: Any) -> None:
        """Go on from `state` and `statistics` that were saved."""
        found = np.array([state, statistics], dtype=np.float64)
        if found.shape != (2, self.parts) or not np.isfinite(found).all():
            raise ValueError(
                f"state and statistics must be {self.parts} finite numbers each, one for each part"
            )
        self._carried, self._statistics = found.tolist()

    def update(self, log_capitals: Any) -> npt.NDArray[np.bool_]:
        """Take in the log of each part's capital after a step, and tell which parts are raised."""
        self.update_many(np.reshape(np.asarray(log_capitals, dtype=np.float64), (1, -1)))
        return self.raised

    def hear(self, log_capitals: list[float]) -> list[bool]:
        """Do what `update` does with plain numbers, one for each part, of which nothing is checked.

        For streams: arrays of a few numbers cost more than what is done with them.
        """
        carried, threshold = self._carried, self.log_threshold
        self._statistics = list(map(sub, log_capitals, carried))
        self._carried = list(map(self.carry, carried, log_capitals))
        return [one >= threshold for one in self._statistics]

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
        found = np.empty_like(logs)
        for k, row in enumerate(logs.tolist()):
            self.hear(row)
            found[k] = self._statistics
        return found
