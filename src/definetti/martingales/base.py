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

# The value used for p = 0: half a step of the uniform numbers that break ties. The capital is then
# finite, and no larger than for any smaller p-value.
ZERO = 2.0**-54


@dataclass(eq=False)
class Martingale(Named, Resumed):
    """Capital that is bet against p-values being independent and uniform, one after the other.

    Before each p-value a density on [0, 1] is chosen from earlier p-values, and the capital, at
    first one, is multiplied by the density at the p-value. If p-values are independent and uniform,
    it is a martingale for any densities: it ever exceeds ``1/α`` with a probability of at most
    ``α`` (Ville). `definetti.testing.check_martingale` tests that densities integrate to one.

    Attributes
    ----------
    state : the whole memory of the past, as numbers; the first is the log of the capital
    """

    def __post_init__(self) -> None:
        self.check()
        self.state: FloatArray = self.begin()

    @abstractmethod
    def begin(self) -> FloatArray:
        """Return the state before the first p-value: a vector of numbers, the first of them 0."""

    @abstractmethod
    def bet(self, state: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        """Bet on each p-value: update `state`, and write the log capitals to `logs`.

        Results must not depend on how p-values are split into calls: all memory is in `state`.
        """

    def bet_each(self, states: FloatArray, p_values: FloatArray, logs: FloatArray) -> None:
        """Bet with several states of the same martingale, ``(K, …)``, on one p-value each."""
        for k in range(len(states)):
            self.bet(states[k], p_values[k : k + 1], logs[k : k + 1])

    def check(self) -> None:
        """Raise for invalid parameters."""

    def check_room(
        self, state: FloatArray, p_values: FloatArray, logs: FloatArray, number: int | None = None
    ) -> None:
        """Raise for arrays whose shapes a compiled bet would exceed."""
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
        """The points in (0, 1) where the density may jump, used by the check of a martingale."""
        return ()

    @property
    def log_capital(self) -> float:
        """The natural logarithm of the capital."""
        return float(self.state[0])

    @property
    def capital(self) -> float:
        """The capital; infinite where it exceeds a float."""
        try:
            return math.exp(self.log_capital)
        except OverflowError:
            return math.inf

    def restore(self, state: Any) -> None:
        """Restore a saved `state`."""
        values = np.array(state, dtype=np.float64)
        if values.shape != self.state.shape or not np.isfinite(values).all():
            raise ValueError(
                f"state must be {len(self.state)} finite numbers, as a {type(self).__name__} with "
                f"these settings has, got the shape {values.shape}"
            )
        self.state = values

    def restart(self) -> None:
        """Reset the state: the capital is one again."""
        self.state = self.begin()

    def update(self, p_value: float) -> float:
        """Bet on one p-value; return the log of the capital."""
        check_scalar(p_value, "p_value", "update_many takes several")
        return float(self.update_many([p_value])[0])

    def update_many(self, p_values: Any) -> FloatArray:
        """Bet on several p-values; return the log of the capital after each.

        The results equal those of `update` one by one, to the last bit.
        """
        values = checked_p_values(p_values)
        state, logs = self.state.copy(), np.empty(len(values))
        for part in cut_pieces(len(values), 100):
            self.bet(state, values[part], logs[part])
        self.state = state  # assigned last, so that an interrupt changes nothing
        return logs

    def factors(self, p_values: Any) -> FloatArray:
        """Return the factor of the capital for each p-value, if it came next."""
        values, logs = checked_p_values(p_values), np.empty(1)
        after = np.empty(len(values))
        for k in range(len(values)):
            self.bet(self.state.copy(), values[k : k + 1], logs)
            after[k] = logs[0]
        return np.asarray(np.exp(after - self.log_capital))


def show_capital(log_capital: float) -> str:
    """Format a capital of any size, given its natural logarithm.

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
