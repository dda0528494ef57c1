"""Models trained elsewhere: matrices, functions of windows, and whole-sequence smoothers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from threading import Lock
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.history import Completion, History, Windows, unseen
from definetti.data.labels import Alphabet, plain
from definetti.emissions import Emission
from definetti.emissions.base import Labels
from definetti.emissions.symbols import FixedCategorical
from definetti.models.base import Model, at_states
from definetti.models.forward_backward import ChainWindows, smooth
from definetti.models.hmm import HMM, TrainedHMM, estimated, probabilities, stationary
from definetti.models.hmmlearn import HmmlearnEmission


def given_hmm(
    transition: Any,
    emission: Any,
    states: Iterable[Hashable] | None = None,
    symbols: Iterable[Hashable] | None = None,
) -> TrainedHMM:
    """Return a fixed model with the given matrices.

    Parameters
    ----------
    transition : (n, n) probabilities of the next state, in rows that sum to one
    emission : (n, m) probabilities of the symbols of each state, in rows that sum to one
    states, symbols : labels, optional
        In the order of the rows and of the columns; ``0, 1, 2, …`` if left out.

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> model = given_hmm(
    ...     [[0.9, 0.1], [0.2, 0.8]],
    ...     [[0.2, 0.7, 0.1], [0.7, 0.1, 0.2]],
    ...     states=["sun", "rain"],
    ...     symbols=["umbrella", "hat", "nothing"],
    ... )
    >>> cp = ConformalHMM(model).fit(*weather(200, random_state=0))
    >>> cp.predict_set(["umbrella", "umbrella"]).sequences
    [('rain', 'rain')]
    """
    steps = checked_rows(transition, "transition")
    emitted = checked_rows(emission, "emission")
    n, m = emitted.shape
    if steps.shape != (n, n):
        raise ValueError(
            f"transition has shape {steps.shape} and emission {emitted.shape}; they must be "
            "(n, n) and (n, m)"
        )
    labels = Alphabet(range(n) if states is None else states)
    table = Alphabet(range(m) if symbols is None else symbols)
    if (len(labels), len(table)) != (n, m):
        raise ValueError(
            f"states and symbols name {len(labels)} states and {len(table)} symbols, the matrices "
            f"have {n} and {m}; give one label per row of transition and per column of emission"
        )
    law = FixedCategorical(0.0, tuple(range(m)))
    return TrainedHMM(steps, emitted, 0.0, law, labels.labels, table)


def checked_rows(matrix: Any, name: str) -> FloatArray:
    """Read a matrix of probabilities; raise an error that names the first invalid entry."""
    rows = _numbers(matrix, name)
    if rows.ndim != 2 or not rows.size:
        raise ValueError(f"{name} must be a matrix, got shape {rows.shape}; give a list of rows")
    wrong = ~((rows >= 0) & np.isfinite(rows))
    if wrong.any():
        i, j = np.argwhere(wrong)[0].tolist()
        raise ValueError(
            f"{name}[{i}, {j}] is {rows[i, j]}; probabilities are numbers between 0 and 1"
        )
    off = np.abs(rows.sum(axis=1) - 1.0) > 1e-6
    if off.any():
        i = int(off.argmax())
        raise ValueError(f"{name}[{i}] sums to {rows[i].sum():.6g}; rows must sum to one")
    return rows


def _numbers(matrix: Any, name: str) -> FloatArray:
    try:
        return np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        entries = np.array(matrix, dtype=object)
    widths = [np.size(row) for row in entries] if entries.ndim == 1 else []
    for i, width in enumerate(widths):
        if width != widths[0]:
            raise ValueError(
                f"{name}[{i}] has {width} entries and {name}[0] has {widths[0]}; give all rows the "
                "same length"
            )
    others = ((at, x) for at, x in np.ndenumerate(entries) if not isinstance(x, Real))
    at, entry = next(others, ((), matrix))
    raise ValueError(
        f"{name}{list(at) or ''} is {entry!r}; probabilities are numbers between 0 and 1"
    )


_EVALUATING = Lock()


class Marginals(NamedTuple):
    """State probabilities from a function, taken as independent between steps.

    A run of states has the product of its probabilities: a poor estimate of the joint law makes
    sets larger, not invalid.

    Attributes
    ----------
    probabilities : function from `Windows` to ``(B, h, n)``
    """

    probabilities: Callable[[Windows], FloatArray]
    decoded: Callable[[IntArray], npt.NDArray[Any]]
    labels: Labels

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
        posterior, prior = (self.log_posterior(part) for part in (windows, unseen(windows)))
        with np.errstate(invalid="ignore"):  # impossible with and without observations
            return np.asarray(np.where(np.isneginf(posterior), -np.inf, posterior - prior))

    def pairwise(self, windows: Windows) -> FloatArray:
        p = self.probabilities(windows)
        return np.asarray(p[:, :-1, :, None] * p[:, 1:, None, :])

    def log_kernels(self, windows: Windows) -> tuple[FloatArray, FloatArray]:
        with np.errstate(divide="ignore"):
            logs = np.log(self.probabilities(windows))
        # States are independent.
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
        Codes the observations; its law is not used.
    columns : the number of states; that at the fit if left out

    Notes
    -----
    The function must not depend on the calibration labels. Then the sets are valid, however poor
    the function is; a poor function makes them large.
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
        return True  # columns are matched to states by order alone

    def with_states(self, labels: Labels) -> Predictor:
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
            returned = from_torch(self.function, windows.start, observations)
        else:
            returned = self.function(_natural(labels)[windows.start], observations)
        probabilities = checked_probabilities(returned, (*windows.states.shape, known))
        # A label unknown to the estimator has probability zero.
        return np.pad(probabilities, [(0, 0), (0, 0), (0, len(labels) - known)])


def _natural(labels: Labels) -> Any:
    """Return labels as an array, of their common type if they share one."""
    if len({type(label) for label in labels}) == 1 and isinstance(labels[0], (str, int, float)):
        return np.array(labels)
    return np.fromiter(labels, dtype=object, count=len(labels))


def checked_probabilities(returned: Any, shape: tuple[int, ...]) -> FloatArray:
    """Return a model's probabilities; raise an error that names the first invalid entry."""
    try:
        values = np.asarray(returned, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            f"model returned a {type(returned).__name__} that is no array of numbers; return "
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
    """Return whether a function is a PyTorch module, without importing PyTorch."""
    return any(f"{c.__module__}.{c.__name__}" == "torch.nn.modules.module.Module"
               for c in type(function).__mro__)  # fmt: skip


def from_torch(module: Any, start: Any, observations: Any) -> Any:
    """Call a PyTorch module without gradients, in evaluation mode."""
    import torch

    try:
        numbers = np.array(observations, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise TypeError(
            "model is a PyTorch module, which takes numbers, and some observations are none; code "
            "them as numbers, or wrap the module in a function that does"
        ) from error
    # One thread at a time: resetting the mode would turn on dropout in another thread's call.
    with _EVALUATING:
        training = module.training
        module.eval()
        try:
            with torch.no_grad():
                returned = module(torch.as_tensor(start), torch.as_tensor(numbers))
        finally:
            module.train(training)
    return returned.cpu().double().numpy() if isinstance(returned, torch.Tensor) else returned


@dataclass(frozen=True, eq=False)
class SequenceSmoother:
    """A fixed hidden Markov model with an initial distribution."""

    model: Model
    labels: Labels
    initial: FloatArray

    @classmethod
    def trained(
        cls,
        model: Model,
        observations: Any,
        states: IntArray,
        begins: IntArray,
        labels: Labels,
    ) -> SequenceSmoother:
        """Fix a model on concatenated labelled sequences that begin at given positions."""
        table, observed = model.emission_.encode(observations, model.table, "observations")
        history = History(len(labels), model.emission_.symbols)
        for sequence, seen in zip(
            np.split(states, begins[1:]), np.split(observed, begins[1:]), strict=True
        ):
            history.append(sequence, seen, gap=True)
        fixed = model.trained(history, table, labels)
        if not isinstance(model, HMM):  # its matrices were not estimated here
            return cls.from_fixed(fixed, labels)
        first = np.bincount(states[begins], minlength=len(labels)).astype(np.float64)
        return cls(fixed, labels, probabilities(first[None], float(model.prior))[0])

    @classmethod
    def from_fixed(cls, model: Model, labels: Labels = ()) -> SequenceSmoother:
        """Return a smoother of a fixed model, with the model's initial or else stationary law."""
        labels = tuple(model.states or labels)
        emission = model.emission_
        if isinstance(emission, HmmlearnEmission):
            return cls(model, labels, np.asarray(emission.model.startprob_)[emission.order])
        return cls(model, labels, stationary(estimated(model, model.table, labels).transition))

    def marginals(self, observations: Any, name: str) -> FloatArray:
        """Return the probability of each state at each step, given the whole sequence: (h, n).

        The table holds the observations of the training data and of this sequence alone, so that
        the result does not depend on other sequences.
        """
        table, codes = self.model.emission_.encode(observations, self.model.table, name)
        n = len(self.labels)
        estimate = estimated(self.model, table, self.labels)
        # A virtual state comes before the first step, and nothing returns to it.
        steps = np.zeros((n + 1, n + 1))
        steps[:n, :n], steps[n, :n] = estimate.transition, self.initial
        logs = np.full((len(codes), n + 1), -np.inf)
        logs[:, :n] = estimate.log_likelihood(codes)
        steps_seen = np.arange(len(codes))[None]
        seen = ChainWindows(
            steps[None], np.zeros(1, dtype=np.int64), logs, steps_seen, np.array([n])
        )
        return smooth(seen)[0, :, :n]


@dataclass(frozen=True, eq=False)
class SequencePredictor:
    """Probabilities of each state at each step of a sequence, from a function or given."""

    model: Predictor
    labels: Labels
    given: bool = False  # whether the observations are the probabilities themselves

    def marginals(self, observations: Any, name: str) -> FloatArray:
        """Return the probability of each state at each step: (h, n)."""
        seen = plain(observations)
        steps, function = len(seen), cast(Any, self.model.function)
        returned = seen if self.given else function(seen)
        values = np.asarray(plain(returned))
        if values.shape[:1] == (steps,):
            values = values[None]
        shape = 1, steps, len(self.labels)
        return np.asarray(checked_probabilities(values, shape)[0])
