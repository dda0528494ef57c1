"""Labelled sequences split into training and calibration units, with nonconformity scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.labels import (
    MISSING,
    Alphabet,
    check_pairs,
    checked_states,
    listed,
    piece,
    read_declared,
    read_lengths,
    training_length,
)
from definetti.data.series import at_rows, is_nested, join_observations, join_states, take_series
from definetti.data.timing import check_aligned
from definetti.engine.promise import Guarantee
from definetti.engine.thresholds import after_errors, read_groups, weighted_limit
from definetti.evaluation.intervals import lower_bound
from definetti.models.base import Model
from definetti.models.predictors import Predictor, SequencePredictor, SequenceSmoother
from definetti.sets.base import BoolArray

Smoother = SequenceSmoother | SequencePredictor


@dataclass(frozen=True, eq=False)
class Units:
    """Calibration sequences, and the model trained on the other sequences."""

    alphabet: Alphabet
    closed: bool  # whether the states were declared, so that no others occur
    smoother: Smoother  # the fixed model, with a law of the first state
    steps: list[FloatArray]  # by sequence, the nonconformity of the true state at each step
    shares: IntArray  # by sequence, the number of sequences in its unit
    number: int  # how many units calibrate
    gaps: bool  # whether some observation is missing
    _limits: dict[Any, float] = field(default_factory=dict, init=False, repr=False)

    @property
    def model(self) -> Model:
        return self.smoother.model

    def marginals(self, observations: Any, name: str) -> FloatArray:
        """Return ``(h, n)`` probabilities of states; zero for a state unknown to the model."""
        marginals = self.smoother.marginals(observations, name)
        return np.pad(marginals, [(0, 0), (0, len(self.alphabet) - marginals.shape[1])])

    def limit(self, alpha: Fraction, guarantee: Guarantee) -> float:
        """Return the largest nonconformity score that a state in a set may have."""
        key = alpha, *guarantee
        if key not in self._limits:
            scores, shares = self._by_sequence(guarantee), self.shares
            if guarantee.name == "steps":
                rows = list(map(len, self.steps))
                scores, shares = np.concatenate(self.steps), np.repeat(self.shares * rows, rows)
            self._limits[key] = weighted_limit(scores, shares, self.number, alpha)
        return self._limits[key]

    def noise(self, limit: float, guarantee: Guarantee) -> float:
        """Return how far coverage may fall short by the random choice of calibration units."""
        if guarantee.name == "steps":
            covered = np.array([(steps <= limit).mean() for steps in self.steps])
        else:
            covered = np.asarray(self._by_sequence(guarantee) <= limit, float)
        noise = float(covered.mean()) - lower_bound(covered)
        return noise * float(
            np.sqrt(len(self.steps) / self.number)
        )  # sequences of a unit are dependent

    def _by_sequence(self, guarantee: Guarantee) -> FloatArray:
        """Return the nonconformity of whole sequences, after removing the errors allowed."""
        return np.array([after_errors(steps, guarantee.max_errors) for steps in self.steps])


def take_units(
    model: Model,
    observations: Any,
    states: Any,
    lengths: Any,
    groups: Any,
    *,
    declared: Any,
    train_size: Any,
    seed: int | None,
    given: bool,
) -> Units:
    """Train a model on some units, drawn with the seed or the first, and calibrate on the rest."""
    check_given(observations, "observations")
    labels = checked_states(states)
    if not labels:
        raise ValueError("states is empty; give at least two labelled sequences")
    sequence_lengths = read_lengths(lengths, len(labels), "states")
    owner = read_groups(groups, len(sequence_lengths))
    if not owner.max():
        remedy = "tell them apart with lengths=" if groups is None else "give more groups"
        raise ValueError(f"there is one unit, and it takes at least two; {remedy}")
    if isinstance(model, Predictor) and declared is None:
        raise ValueError(
            "states is not declared, and the model's columns have no names; give "
            "ConformalSequences(…, states=[…]) the labels in the order of the columns"
        )
    trains = choose_training(model, owner, train_size, seed)
    training_rows = np.flatnonzero(np.repeat(trains, sequence_lengths))
    # Choose by the training rows alone, so that the other units stay exchangeable.
    model = model.choose(model.infer_types(at_rows(observations, training_rows)))
    # Encode all rows at once, so that an error names the row as given.
    _, observed = model.emission_.encode(observations, model.table, "observations")
    check_pairs(len(observed), len(labels))

    trained_labels = [labels[row] for row in training_rows.tolist()]
    if isinstance(declared, Iterator):
        raise TypeError("states is an iterator, which can be read once only; give a list")
    alphabet = (
        Alphabet(model.states or ()).extended(trained_labels)
        if declared is None
        else read_declared(declared, model.states or ())
    )
    smoother: Smoother
    if isinstance(model, Predictor):
        smoother = SequencePredictor(model, alphabet.labels, given)
    elif trains.any():
        codes = alphabet.encode(trained_labels, "states")
        begins = np.cumsum(sequence_lengths[trains]) - sequence_lengths[trains]
        some = at_rows(observations, training_rows)
        smoother = SequenceSmoother.trained(model, some, codes, begins, alphabet.labels)
    else:
        smoother = SequenceSmoother.from_fixed(model)
    alphabet = alphabet.extended(labels) if declared is None else alphabet
    units_of = owner[~trains]
    taken = Units(
        alphabet,
        declared is not None,
        smoother,
        [],
        shares=np.bincount(owner)[units_of],
        number=len(np.unique(units_of)),
        gaps=bool((observed == MISSING).any()),
    )
    codes, ends = alphabet.encode(labels, "states"), np.cumsum(sequence_lengths)
    for k in np.flatnonzero(~trains).tolist():
        begin, end = int(ends[k] - sequence_lengths[k]), int(ends[k])
        marginals = taken.marginals(piece(observations, begin, end), "observations")
        taken.steps.append(1.0 - marginals[np.arange(end - begin), codes[begin:end]])
    return taken


def choose_training(model: Model, owner: IntArray, train_size: Any, seed: int | None) -> BoolArray:
    """Return which sequences train the model, given the unit of each."""
    predicts = isinstance(model, Predictor)
    if model.fixed and model.ordered and not predicts:
        raise TypeError(
            "model has columns without names and no law of the first state; use 'auto', an "
            "HMM, given_hmm, a fitted hmmlearn model, or a function of whole sequences"
        )
    unnamed = (
        model.fixed and model.states is None and not predicts
    )  # its columns are to be matched to labels
    if train_size is None:
        if not model.fixed or unnamed:
            remedy = "0.2 to match its states to the labels" if unnamed else "0.5"
            raise ValueError(
                f"train_size is None, but the model is not trained; set train_size={remedy}"
            )
        return np.zeros(len(owner), dtype=np.bool_)
    if model.fixed and not unnamed:
        raise ValueError(
            f"train_size={train_size!r}, but the model is trained already; set "
            "train_size=None, for all units to calibrate"
        )
    units = int(owner.max()) + 1
    cut, order = training_length(train_size, units, "units"), np.arange(units)
    if seed is not None:
        order = np.random.default_rng(seed).permutation(units)
    return np.isin(owner, order[:cut])


def check_given(observations: Any, name: str) -> None:
    """Refuse a plain chain: new sequences need observations."""
    if observations is None:
        raise ValueError(
            f"{name} is None; give one per step, None in the list where one is missing"
        )


def read_sequences(
    observations: Any, states: Any, lengths: Any, groups: Any, order: Any
) -> tuple[Any, Any, Any, Any]:
    """Return the observations and states of all sequences, joined, their lengths and units."""
    check_aligned({"observations": observations, "states": states})
    if is_nested(states):
        if lengths is not None:
            raise ValueError("states is a list of sequences, which have lengths; leave lengths out")
        if isinstance(observations, (list, tuple)):
            for k, (seen, truth) in enumerate(zip(observations, states, strict=False)):
                check_aligned({f"observations[{k}]": seen, f"states[{k}]": truth})
        joined, sizes = join_observations(observations)
        labels, wanted = join_states(states)
        if sizes != wanted:
            k = next((k for k, (a, b) in enumerate(zip(sizes, wanted, strict=False)) if a != b), 0)
            raise ValueError(
                f"observations has {len(sizes)} sequences and states {len(wanted)}, and number {k} "
                "differs; give lists of equal sequences"
            )
        observations, states, lengths = joined, labels, wanted
    if groups is None:
        if order is not None:
            raise ValueError("order sorts the rows of sequences, and groups is None; name these")
        return observations, states, lengths, None
    labels, whose = listed(states, "states"), listed(groups, "groups")
    if lengths is None:
        if len(whose) != len(labels):
            raise ValueError(
                f"groups has {len(whose):,} labels for {len(labels):,} rows; give one per row, "
                "that of its sequence, or lengths= and one per sequence"
            )
        check_aligned({"states": states, "groups": groups, "order": order})
        return *take_series(observations, labels, whose, order), None
    if order is not None:
        raise ValueError(
            "order sorts the rows of sequences that groups names row by row, and lengths, or a "
            "list of sequences, have an order; leave order out"
        )
    return observations, labels, lengths, groups
