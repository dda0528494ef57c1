"""Predictors trained elsewhere, through one door: a function that gives probabilities."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.history import Completion
from definetti.data.windows import Windows, unseen
from definetti.emissions import Emission
from definetti.models.base import Model
from definetti.models.estimate import at_states

_EVALUATING = Lock()


class Marginals(NamedTuple):
    """Probabilities of each state by itself, from a function that knows no chain.

    A run of states has the product of its probabilities: a poor estimate of the joint law makes
    larger sets, not invalid ones.

    Attributes
    ----------
    probabilities : function from `Windows` to ``(B, h, n)``
    """

    probabilities: Callable[[Windows], FloatArray]
    decoded: Callable[[IntArray], npt.NDArray[Any]]
    labels: tuple[Hashable, ...]

    def filtering(self, windows: Windows) -> FloatArray:
        return self.probabilities(windows)

    def smoothing(self, windows: Windows) -> FloatArray:
        return self.probabilities(windows)

    def joint(self, windows: Windows, order: int) -> FloatArray:
        at = at_states(self.probabilities(windows), windows.states)
        runs = np.lib.stride_tricks.sliding_window_view(at, order + 1, axis=1)
        return np.asarray(runs.prod(axis=2))

    def log_posterior(self, windows: Windows) -> FloatArray:
        with np.errstate(divide="ignore"):  # an impossible state makes an impossible path
            logs = np.log(at_states(self.probabilities(windows), windows.states))
        return np.asarray(logs.sum(axis=1))

    def log_emission(self, windows: Windows) -> FloatArray:
        told, untold = (self.log_posterior(one) for one in (windows, unseen(windows)))
        with np.errstate(invalid="ignore"):  # what is impossible either way
            return np.asarray(np.where(np.isneginf(told), -np.inf, told - untold))

    def pairwise(self, windows: Windows) -> FloatArray:
        p = self.probabilities(windows)
        return np.asarray(p[:, :-1, :, None] * p[:, 1:, None, :])

    def log_kernels(self, windows: Windows) -> tuple[FloatArray, FloatArray]:
        with np.errstate(divide="ignore"):
            logs = np.log(self.probabilities(windows))
        # No state tells of another.
        return logs[:, -1], np.repeat(logs[:, :-1, :, None], logs.shape[2], axis=3)

    def decode(self, codes: IntArray) -> npt.NDArray[Any]:
        return self.decoded(codes)


@dataclass(frozen=True, eq=False)
class Predictor(Model):
    """Any function from start states and observation windows to state probabilities.

    Parameters
    ----------
    function : callable
        Called with the states before ``B`` windows, ``(B,)`` labels, and the observations of
        these windows, ``(B, h)`` symbols or ``(B, h, d)`` numbers; returns ``(B, h, n)``
        probabilities, in the order of the estimator's ``states``. A PyTorch module is called, in
        evaluation mode, with tensors: the positions of the states, and the observations.
    emission : Emission
        How the observations are read; only its coding is used.
    columns : how many states it knows of; those there are at the fit

    Notes
    -----
    It must have been made without the labels that calibrate it. Then, however bad it is, the sets
    are valid; they are large where it is bad.
    """

    function: Callable[[Any, Any], Any]
    emission: Emission
    columns: int | None = None

    fixed = True

    @property
    def emission_(self) -> Emission:
        return self.emission

    @property
    def ordered(self) -> bool:
        return True  # its columns are states by their order alone

    def told_states(self, labels: tuple[Hashable, ...]) -> Predictor:
        return replace(self, columns=len(labels))

    def estimate(
        self, completion: Completion, table: Any, statistics: FloatArray, labels: Any
    ) -> Marginals:
        known = completion.history.n_states if self.columns is None else self.columns
        asked = partial(self._asked, table=table, labels=labels, known=known)
        return Marginals(asked, partial(self.emission.decode, table), labels)

    def _asked(self, windows: Windows, *, table: Any, labels: Any, known: int) -> FloatArray:
        observations = self.emission.decode(table, windows.observations)
        if is_torch(self.function):
            found = from_torch(self.function, windows.start, observations)
        else:
            found = self.function(_natural(labels)[windows.start], observations)
        probabilities = checked_probabilities(found, (*windows.states.shape, known))
        # A label that the estimator has never seen has no probability.
        return np.pad(probabilities, [(0, 0), (0, 0), (0, len(labels) - known)])


def _natural(labels: tuple[Hashable, ...]) -> Any:
    """Labels as an array of their own type where they share one."""
    if len({type(label) for label in labels}) == 1 and isinstance(labels[0], (str, int, float)):
        return np.array(labels)
    return np.fromiter(labels, dtype=object, count=len(labels))


def checked_probabilities(found: Any, shape: tuple[int, ...]) -> FloatArray:
    """Refuse what are not probabilities, and say where."""
    try:
        values = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            f"model returned a {type(found).__name__} that is no array of numbers; return "
            f"probabilities of shape {shape} (windows, steps, states)"
        ) from error
    if values.shape != shape:
        raise ValueError(
            f"model returned shape {values.shape} where {shape} was expected (windows, steps, "
            "states); give one probability per state, and declare states=[…] in the order of its "
            "columns"
        )
    wrong = ~(values >= 0) | ~np.isfinite(values)
    if wrong.any():
        window, step, state = np.argwhere(wrong)[0].tolist()
        raise ValueError(
            f"model returned {values[window, step, state]} for window {window}, step {step}, "
            f"column {state}; probabilities are numbers between 0 and 1"
        )
    off = np.abs(values.sum(axis=2) - 1.0) > 1e-3  # float16 networks are welcome
    if off.any():
        window, step = np.argwhere(off)[0].tolist()
        raise ValueError(
            f"model returned probabilities that sum to {values[window, step].sum():.6g} for window "
            f"{window}, step {step}; they must sum to one (a network's logits need a softmax)"
        )
    return values


def is_torch(function: Any) -> bool:
    """Tell whether something is a PyTorch module, without importing PyTorch."""
    return any(f"{c.__module__}.{c.__name__}" == "torch.nn.modules.module.Module"
               for c in type(function).__mro__)  # fmt: skip


def from_torch(module: Any, start: Any, observations: Any) -> Any:
    """Ask a PyTorch module, without gradients and with dropout off."""
    import torch

    try:
        numbers = np.array(observations, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise TypeError(
            "model is a PyTorch module, which takes numbers, and some observations are none; code "
            "them as numbers, or wrap the module in a function that does"
        ) from error
    # One thread at a time: it would turn dropout on again while another one is asking.
    with _EVALUATING:
        training = module.training
        module.eval()
        try:
            with torch.no_grad():
                found = module(torch.as_tensor(start), torch.as_tensor(numbers))
        finally:
            module.train(training)
    return found.cpu().double().numpy() if isinstance(found, torch.Tensor) else found
