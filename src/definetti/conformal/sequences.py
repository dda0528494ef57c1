"""The estimator for many labelled sequences: one guarantee for a new sequence as a whole."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from definetti._system.checks import checked_flag, warn_caller
from definetti._system.mixins import Saved
from definetti.conformal.base import BaseConformal
from definetti.conformal.units import Units, check_given, read_sequences, take_units
from definetti.data.labels import MISSING, array_of, check_pairs, piece, read_lengths, readable
from definetti.data.series import join_observations
from definetti.emissions import Gaussian
from definetti.engine.pvalues import miscoverage
from definetti.engine.thresholds import blocks_needed
from definetti.evaluation.results import Evaluation
from definetti.exceptions import FewBlocksWarning, GapWarning
from definetti.models.base import Model
from definetti.models.predictors import Predictor
from definetti.sets import Errors, StepSets, read_guarantee


class ConformalSequences(BaseConformal, Saved):
    """Sets of states for every step of a new sequence, learned from many labelled sequences.

    The first state of the new sequence need not be known, and the hidden states need not be a
    Markov chain: the guarantee assumes that the sequences are exchangeable, as independent ones
    are. The length is part of a sequence: a new length must be exchangeable with the others.
    Where several sequences belong together, as nights of one subject, name their units by
    `groups`; the guarantee is then for one sequence, drawn at random, of a new subject.

    Parameters
    ----------
    model : "auto", HMM, given_hmm, a fitted hmmlearn model, a function or "probabilities"
        The source of the probability of each state at each step. A function is called with the
        observations of one sequence and returns ``(h, n)`` probabilities, its columns in the order
        of `states`, which must be declared; with "probabilities" the observations are the
        probabilities. Both must not depend on the labels that calibrate, and need
        ``train_size=None``.
    guarantee : {"steps", "all", "errors"} or Errors, default "steps"
        The guarantee: the expected share of steps covered in a new sequence is at least the
        level; or, with at least that probability, all steps are covered, or with ``Errors(2)``
        all but at most two; "errors" is short for ``Errors(0)``.
    confidence_level : float, default 0.9
        Excluding any state needs ``1 / (1 - level) - 1`` calibration units: 9 at 0.9.
    train_size : float, int or None, default 0.5
        The share or number of units that train the model; the others calibrate. None for a model
        that is fixed already: all units calibrate.
    allow_empty : bool, default False
        Whether a step may have no state, where none is plausible at the level. If not, the most
        probable state is added, which keeps validity; ``filled_steps`` of the sets marks where.
    states : list of labels, optional
        The state space, if it is larger than the states in the training units.
    random_state : int, numpy Generator or None
        Which units train: None takes the first ones, a number draws them. Exchangeable units
        need not be shuffled for the guarantee to hold.

    Attributes
    ----------
    states_ : the labels of the states
    model_ : the model, fixed on the training units
    n_units_ : the number of calibration units

    Notes
    -----
    The law of the first state and the transition probabilities are estimated from the training
    sequences. A `given_hmm` starts in its stationary law, or the uniform one if it has several.

    An undeclared state that neither the model nor a training unit knows has probability zero. A
    state that no unit has cannot be listed in any set: declare `states` if there may be one.

    Examples
    --------
    >>> from definetti.simulate import weather
    >>> weeks = [weather(7, random_state=seed) for seed in range(60)]
    >>> observations = [thing for week in weeks for thing in week.observations]
    >>> states = [sky for week in weeks for sky in week.states]
    >>> cp = ConformalSequences(confidence_level=0.95).fit(observations, states, lengths=[7] * 60)
    >>> week = ["hat", "hat", "nothing", "umbrella", "hat", "hat", "hat"]
    >>> cp.predict_set(week).steps[:4]
    [('sun',), ('sun',), ('sun', 'rain'), ('sun', 'rain')]
    """

    _fitting = "fit(observations, states, lengths)"

    n_units_: int
    _data: Units

    def __init__(
        self,
        model: Any = "auto",
        guarantee: str | Errors = "steps",
        confidence_level: float = 0.9,
        train_size: float | None = 0.5,
        allow_empty: bool = False,
        states: Iterable[Hashable] | None = None,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.guarantee = guarantee
        self.confidence_level = confidence_level
        self.train_size = train_size
        self.allow_empty = allow_empty
        self.states = states
        self.random_state = random_state

    def fit(
        self,
        observations: Any,
        states: Any,
        lengths: Any = None,
        groups: Any = None,
        order: Any = None,
    ) -> ConformalSequences:
        """Fit on labelled sequences.

        Parameters
        ----------
        observations, states : (T,) all sequences, one after the other, or lists of S sequences
        lengths : (S,) how many steps each sequence has
        groups : (S,) the unit that each sequence belongs to, optional
            Any labels; each sequence is its own unit if left out. With a label for each of the T
            rows, and no lengths, each label is a sequence; rows may come in any order.
        order : (T,) numbers or dates, optional
            The key that sorts the rows of such a sequence; rows keep their order if left out.

        Examples
        --------
        >>> from definetti.simulate import weather
        >>> weeks = [weather(7, random_state=seed) for seed in range(60)]
        >>> cp = ConformalSequences(confidence_level=0.95)
        >>> cp = cp.fit([week.observations for week in weeks], [week.states for week in weeks])
        >>> [s.horizon for s in cp.predict_sets([["hat", "hat"], ["umbrella"]])]
        [2, 1]
        """
        return self._fit(*read_sequences(observations, states, lengths, groups, order))

    def predict_sets(self, sequences: Any, confidence_level: float | None = None) -> list[StepSets]:
        """Return the sets of states for each of several new sequences.

        Parameters
        ----------
        sequences : list of observations, each as in `predict_set`
        confidence_level : as in `predict_set`
        """
        joined, lengths = join_observations(sequences, "sequences")
        return self._sets(joined, lengths, confidence_level)

    def predict_set(
        self, new_observations: Any, lengths: Any = None, confidence_level: float | None = None
    ) -> StepSets | list[StepSets]:
        """Return the set of states at each step of a new sequence.

        Parameters
        ----------
        new_observations : (h,) a sequence without labels, or several one after the other
        lengths : (S,) how many steps each has, if there are several
        confidence_level : float, optional
            Another level than the estimator's.

        Returns
        -------
        `StepSets`, or with `lengths` a list of them; the guarantee is for each sequence
        """
        sets = self._sets(new_observations, lengths, confidence_level)
        return sets[0] if lengths is None else sets

    def predict(self, observations: Any, lengths: Any = None) -> npt.NDArray[Any]:
        """Return the most probable state of each step, without a guarantee.

        Parameters
        ----------
        observations, lengths : as in `predict_set`
        """
        sets = self._sets(observations, lengths, None)
        codes = np.concatenate([s.marginals.argmax(axis=1) for s in sets])
        return array_of([self.states_[code] for code in codes.tolist()])

    def evaluate(
        self,
        observations: Any,
        states: Any,
        lengths: Any = None,
        confidence_level: float | None = None,
        groups: Any = None,
        order: Any = None,
    ) -> Evaluation:
        """Evaluate sets against true states, sequence by sequence.

        Parameters
        ----------
        observations, states : (T,) new sequences, one after the other, and their true states; or
            lists of sequences
        lengths : (S,) how many steps each has, if there are several
        groups, order : (T,) the sequence that each row belongs to, and the key that sorts rows

        Notes
        -----
        A true state that was never seen and not declared, so that no set can list it, counts as a
        miss.

        All sequences are compared with the same calibration sequences, so their errors are not
        independent. `Evaluation.verdict` allows for it: coverage is called short only if it falls
        below the level by more than random calibration and test sequences explain. That margin is
        estimated from the calibration sequences; it was checked by simulation and is not proved.
        """
        observations, states, lengths, units = read_sequences(
            observations, states, lengths, groups, order
        )
        if units is not None:
            raise ValueError(
                "groups names the units of sequences, which sets are not judged by; give a label "
                "for each row, that of its sequence, or leave groups out"
            )
        truth = self._check_truth(states)
        sets = self._sets(observations, lengths, confidence_level)
        horizons = np.array([s.horizon for s in sets])
        guarantee = read_guarantee(self.guarantee)
        check_pairs(int(horizons.sum()), len(truth))
        codes = self._data.alphabet.places_of(truth)
        nodes = np.concatenate([s.nodes for s in sets])
        filled = np.concatenate([s.filled_steps for s in sets])
        with np.errstate(
            over="ignore", under="ignore"
        ):  # the number of sequences may exceed a float
            sizes = [np.prod(s.widths.astype(np.float64)) for s in sets]
            scaled = [np.prod(s.widths / len(s.states)) for s in sets]
        return Evaluation.of_steps(
            horizons, self.states_, codes, nodes, filled, guarantee.max_errors,
            sizes=np.array(sizes),
            scaled_sizes=np.array(scaled),
            confidence_level=sets[0].confidence_level,
            filled=np.array([s.filled for s in sets]),
            guarantee=guarantee.name,
            shared_calibration=True,
            calibration_noise=self._data.noise(sets[0].limit, guarantee),
        )  # fmt: skip

    def _saved(self) -> dict[str, Any]:
        return self._saved_with("n_units_")

    @classmethod
    def _restored(cls, kept: dict[str, Any]) -> ConformalSequences:
        return cls._restored_with(kept, _data=Units, n_units_=int)

    def _resolve_model(self, observations: Any) -> Model:
        if is_given(self.model):
            return Predictor(np.asarray, Gaussian())
        return super()._resolve_model(observations)

    def _check_parameters(self) -> None:
        miscoverage(self.confidence_level)
        read_guarantee(self.guarantee)
        checked_flag(self.allow_empty, "allow_empty")

    def _take_in(
        self,
        model: Model,
        observations: Any,
        states: Any,
        lengths: Any,
        groups: Any,
        entropy: int,
    ) -> dict[str, Any]:
        taken = take_units(
            model, observations, states, lengths, groups, declared=self.states,
            train_size=self.train_size, seed=None if self.random_state is None else entropy,
            given=is_given(self.model),
        )  # fmt: skip
        return {"_data": taken, "n_units_": taken.number}

    def _sets(self, new: Any, lengths: Any, confidence_level: float | None) -> list[StepSets]:
        self._check_fitted()
        self._check_parameters()
        level = self.confidence_level if confidence_level is None else confidence_level
        alpha, guarantee = miscoverage(level), read_guarantee(self.guarantee)
        new = readable(new, "new_observations")
        check_given(new, "new_observations")
        _, codes = self.model_.emission_.encode(new, self.model_.table, "new_observations")
        if not len(codes):
            raise ValueError("new_observations is empty; give at least one")
        if (codes == MISSING).any() and not self._data.gaps:
            warn_caller(
                "new_observations has gaps and the labelled sequences have none: the sets are "
                "valid if gaps come at random",
                GapWarning,
            )
        sequence_lengths = read_lengths(lengths, len(codes), "new_observations")
        needed = blocks_needed(alpha)
        if self.n_units_ < needed:
            warn_caller(
                f"too few units to leave anything out at level {float(1 - alpha):g}: "
                f"{self.n_units_} calibrate of the {needed} that it takes; give more units, train "
                "on fewer, or lower the level",
                FewBlocksWarning,
            )
        limit = self._data.limit(alpha, guarantee)
        method = f"whole sequences, {self.n_units_:,} units calibrate"
        sets, begin = [], 0
        for length in sequence_lengths.tolist():
            own, begin = piece(new, begin, begin + length), begin + length
            marginals = self._data.marginals(own, "new_observations")
            sets.append(
                StepSets(
                    self.states_, float(1 - alpha), *guarantee, limit, method, True, marginals,
                    allow_empty=bool(self.allow_empty),
                )
            )  # fmt: skip
        return sets


def is_given(model: Any) -> bool:
    """Return whether the observations are probabilities of the states."""
    return isinstance(model, str) and model == "probabilities"
