"""The contract of a martingale, and the check of its parameters."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.checks import check_scalar
from definetti._system.compiled import cut_pieces
from definetti._system.mixins import Named, Resumed

# What p = 0 counts as: half a step of the uniform numbers that break ties. The capital is then
# finite, and no more than what any smaller p-value would have made of it.
ZERO = 2.0**-54


@dataclass(eq=False)
class Martingale(Named, Resumed):
    """A capital that is bet, p-value after p-value, against their being independent and uniform.

    Before each p-value a density on [0, 1] is chosen, by what came before, and the capital, at
    first one, is multiplied by the density at the p-value. If p-values are independent and uniform
    it is a martingale, whatever the densities: ever to exceed ``1/α`` has a probability of at most
    ``α`` (Ville). `definetti.testing.check_martingale` looks whether densities integrate to one.

    Attributes
    ----------
    state : all that is remembered of the past, plain numbers; the first is the log of the capital
    """

    def __post_init__(self) -> None:
        self.check()
        self.state: FloatArray = self.begin()

    @abstractmethod
    def begin(self) -> FloatArray:
        """Return the state before the first p-value: a vector of numbers, the first of them 0."""

    @abstractmethod
    def bet(self, state: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        """Go through p-values, change `state`, write the log of the capital after each to `logs`.

        It must not matter whether they come together or one by one: all is kept in `state`.
        """

    def bet_each(self, states: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        """Do what `bet` does for several who bet alike, ``(K, …)`` states with one p-value each."""
        for k in range(len(states)):
            self.bet(states[k], p_values[k : k + 1], logs[k : k + 1])

    def check(self) -> None:
        """Refuse parameters that make no sense."""

    def check_room(
        self, state: FloatArray, p_values: FloatArray, logs: FloatArray, number: int | None = None
    ) -> None:
        """Refuse arrays of shapes that a compiled bet would read or write beyond."""
        own = self.begin().shape
        wanted = own if number is None else (number, *own)
        if np.shape(state) != wanted:
            raise ValueError(
                f"state must have the shape {wanted}, as a {type(self).__name__} with these "
                f"settings has, got {np.shape(state)}; restart() it where the settings are others"
            )
        if np.ndim(p_values) != 1 or np.shape(logs) != np.shape(p_values):
            raise ValueError(
                f"p_values and logs must be as many numbers, got the shapes {np.shape(p_values)} "
                f"and {np.shape(logs)}"
            )

    def tail(self, p_value: float) -> float:
        """Return the integral of the next density, bounded by default, from 0 to a tiny p-value."""
        return p_value * float(self.factors(np.array([p_value]))[0])

    @property
    def breaks(self) -> tuple[float, ...]:
        """Where on (0, 1) the density may jump; only the check of a martingale asks."""
        return ()

    @property
    def log_capital(self) -> float:
        """The natural logarithm of the capital."""
        return float(self.state[0])

    @property
    def capital(self) -> float:
        """The capital; infinite where it is beyond what a number holds."""
        try:
            return math.exp(self.log_capital)
        except OverflowError:
            return math.inf

    def restore(self, state: Any) -> None:
        """Go on from a `state` that was saved."""
        found = np.array(state, dtype=np.float64)
        if found.shape != self.state.shape or not np.isfinite(found).all():
            raise ValueError(
                f"state must be {len(self.state)} finite numbers, as a {type(self).__name__} with "
                f"these settings has, got the shape {found.shape}"
            )
        self.state = found

    def restart(self) -> None:
        """Forget the past: the capital is one again."""
        self.state = self.begin()

    def update(self, p_value: float) -> float:
        """Take in one p-value, and return the log of the capital."""
        check_scalar(p_value, "p_value", "update_many takes several")
        return float(self.update_many([p_value])[0])

    def update_many(self, p_values: Any) -> FloatArray:
        """Take in p-values, and return the log of the capital after each.

        What comes out is what `update` gives one by one, to the last bit.
        """
        values = checked_p_values(p_values)
        state, logs = self.state.copy(), np.empty(len(values))
        for part in cut_pieces(len(values), 100):
            self.bet(state, values[part], logs[part])
        self.state = state  # only now, so that an interrupt leaves it as it was
        return logs

    def factors(self, p_values: Any) -> FloatArray:
        """Return what each of these p-values would multiply the capital by, if it came next."""
        values, logs = checked_p_values(p_values), np.empty(1)
        found = np.empty(len(values))
        for k in range(len(values)):
            self.bet(self.state.copy(), values[k : k + 1], logs)
            found[k] = logs[0]
        return np.asarray(np.exp(found - self.log_capital))


def show_capital(log_capital: float) -> str:
    """Write a capital by its natural logarithm, however large or small it is.

    >>> show_capital(1.0), show_capital(2_000.0)
    ('2.72', '10^869')
    """
    if abs(log_capital) < 500:
        return f"{math.exp(log_capital):.3g}"
    return f"10^{log_capital / math.log(10):.0f}"


def checked_p_values(p_values: Any) -> FloatArray:
    """Return p-values as numbers above 0."""
    try:
        values = np.array(p_values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"p_values must be a list of numbers: {error}") from None
    if values.ndim != 1:
        raise ValueError(f"p_values must be a list of numbers, got the shape {values.shape}")
    if len(wrong := np.flatnonzero(~((values >= 0) & (values <= 1)))):
        raise ValueError(
            f"p_values[{wrong[0]}] is {float(values[wrong[0]])!r}, which is not between 0 and 1; "
            "give smoothed p-values of the truth"
        )
    return np.where(values == 0.0, ZERO, values)
