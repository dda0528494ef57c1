"""The contract of an adaptive level."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from numbers import Real
from typing import Any

from definetti._system.checks import check_scalar
from definetti._system.mixins import Named, Saved
from definetti.engine.pvalues import miscoverage

Number = Fraction | float


@dataclass(eq=False)
class AdaptiveLevel(Named, Saved, ABC):
    """A level that is lowered or raised after each label, by whether the set had the truth.

    A set is made of all candidates whose p-value is above `alpha`, what may be left out now; it is
    everything where ``alpha <= 0`` and nothing where ``alpha >= 1``. Labels may come late: `issue`
    notes what was in force when a set was made, and the number that it returns goes to `update`
    with the p-value of the truth, whenever that is known, in whatever order. Labels that never come
    are passed to `drop`, or left waiting.

    Parameters
    ----------
    confidence_level : float, default 0.9
        The share of sets that are to have the truth, in the long run.

    Attributes
    ----------
    alpha : what may be left out now; below 0 or above 1 where the level had to go so far
    n_labels, n_missed : how many sets were judged, and how many of them had missed
    most_waiting : how many labels were waiting, at most, when another set was made
    bound : how far the share of misses can be from one minus the level, for every sequence of
        p-values whatever; infinite where nothing can be said
    """

    confidence_level: float = 0.9

    def __post_init__(self) -> None:
        self.aim = miscoverage(self.confidence_level)
        self.check()
        self.n_labels = self.n_missed = self.n_issued = self.most_waiting = 0
        self.waiting: dict[int, tuple[Number, ...]] = {}
        self.begin()

    @abstractmethod
    def begin(self) -> None:
        """Set up what is remembered, before the first label."""

    @property
    @abstractmethod
    def in_force(self) -> tuple[Number, ...]:
        """What a set is made by, first of all alpha: all that is needed to learn from its label."""

    @abstractmethod
    def learn(self, p_value: Number, missed: bool, in_force: tuple[Number, ...]) -> None:
        """Adapt to a label, with what was in force when its set was made."""

    @property
    @abstractmethod
    def bound(self) -> float:
        """How far the share of misses can be from one minus the level."""

    @property
    @abstractmethod
    def remembered(self) -> dict[str, Any]:
        """What `begin` sets up, as it stands, in numbers and lists of them."""

    @abstractmethod
    def recall(self, remembered: dict[str, Any]) -> None:
        """Set up what was `remembered`."""

    def check(self) -> None:
        """Refuse parameters that make no sense."""

    @property
    def alpha(self) -> Number:
        return self.in_force[0]

    @property
    def level(self) -> float:
        """The confidence level now, between 0 and 1."""
        return float(1 - min(max(self.alpha, 0), 1))

    @property
    def share(self) -> float:
        """The share of misses so far."""
        return self.n_missed / self.n_labels if self.n_labels else 0.0

    def issue(self) -> int:
        """Record what is in force for a new set; return the number to pass to `update`."""
        self.most_waiting = max(self.most_waiting, len(self.waiting))
        self.waiting[self.n_issued] = self.in_force
        self.n_issued += 1
        return self.n_issued - 1

    def update(
        self, p_value: Number, number: int | None = None, *, missed: bool | None = None
    ) -> bool:
        """Judge a set by the p-value of the truth, adapt, and return whether it had missed.

        Parameters
        ----------
        p_value : a number between 0 and 1
        number : int, optional
            Which set, as `issue` said; one made just now if left out.
        missed : bool, optional
            Whether it had missed, where that was decided in whole numbers.
        """
        check_scalar(p_value, "p_value", "give them one by one")
        if not 0 <= p_value <= 1:
            raise ValueError(f"p_value must be between 0 and 1, got {p_value!r}")
        if number is None:
            self.most_waiting = max(self.most_waiting, len(self.waiting))
            in_force = self.in_force
        elif number in self.waiting:
            in_force = self.waiting.pop(number)
        else:
            raise ValueError(
                f"number={number!r} is not waiting for a label: issue() gives a number for each "
                "set, and each can be judged once"
            )
        alpha = in_force[0]
        said = p_value <= alpha if missed is None else bool(missed)
        # The full set always covers; the empty set never does.
        found = bool(alpha > 0 and (said or alpha >= 1))
        self.learn(p_value, found, in_force)
        self.n_labels += 1
        self.n_missed += found
        return found

    def drop(self, number: int) -> None:
        """Forget a set whose label will never come."""
        if number not in self.waiting:
            raise ValueError(f"number={number!r} is not waiting for a label")
        del self.waiting[number]

    def _saved(self) -> dict[str, Any]:
        return {"settings": self.settings, "state": self.state}

    @classmethod
    def _restored(cls, kept: dict[str, Any]) -> AdaptiveLevel:
        made = cls(**kept["settings"])
        made.restore(kept["state"])
        return made

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters by their names: with `state`, all there is to save."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    def state(self) -> dict[str, Any]:
        """All that has happened, in numbers, text and lists of them, as JSON has them."""
        waiting = [[number, *map(str, held)] for number, held in self.waiting.items()]
        return {**{name: getattr(self, name) for name in COUNTS}, "waiting": waiting} | {
            "remembered": self.remembered
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state` that was saved."""
        self.recall(state["remembered"])
        for name in COUNTS:
            setattr(self, name, int(state[name]))
        kinds = [type(one) for one in self.in_force]
        self.waiting = {
            int(number): tuple(kind(one) for kind, one in zip(kinds, held, strict=True))
            for number, *held in state["waiting"]
        }


COUNTS = ("n_labels", "n_missed", "n_issued", "most_waiting")


def checked_step(gamma: Any, name: str = "gamma") -> None:
    """Refuse anything but a number between 0 and 1."""
    number = isinstance(gamma, Real) and not isinstance(gamma, bool)
    if not number or not 0 < gamma < 1:
        raise ValueError(
            f"{name} must be a number between 0 and 1, got {gamma!r}; 0.005 adapts over some "
            "hundreds of rounds"
        )
