"""The closed table of the classes that a file can name: no other object is made from a file.

Kernels do not check indices, so each class with values that become indices has a check here that
its arguments fit together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from definetti._system.checks import checked_prior
from definetti._system.files import claim_memory
from definetti._system.mixins import Saved
from definetti.check import Curve, Diagnosis, Finding, MeasuredCoverage, Residuals
from definetti.conformal import ConformalHMM, GroupedConformalHMM
from definetti.conformal.sequences import ConformalSequences
from definetti.conformal.units import Units
from definetti.data.encoded import EncodedHistory, Trained
from definetti.data.encoded_sequence import Part
from definetti.data.labels import (
    Alphabet,
    check_codes,
    check_statistics,
    check_table,
    is_array,
    require,
)
from definetti.emissions import Emission
from definetti.emissions.base import JudgedAlone
from definetti.emissions.choice import Kinds
from definetti.emissions.classifier import TrainedClassifier
from definetti.emissions.gaussian import Centred
from definetti.emissions.mixed import Column, Columns, FixedMixed
from definetti.emissions.symbols import FixedCategorical, FixedLabels, Lexicon
from definetti.emissions.tables import Chunks, Raw, Rows
from definetti.emissions.tempered import Boosted, Classes, Linear, Tempered, TrainedClasses
from definetti.levels import AdaptiveLevel
from definetti.martingales import Alarm, ConfidenceSequence, Martingale
from definetti.memory import Memory
from definetti.models import HMM, Auto, FromHmmlearn, TrainedHMM
from definetti.models.base import Model
from definetti.models.hmmlearn import HmmlearnEmission
from definetti.models.predictors import SequenceSmoother
from definetti.models.selection import ModelSelection, SelectedHMM
from definetti.monitor import Monitor
from definetti.scores import Score
from definetti.sets import Errors, PredictionSet
from definetti.symmetry import BlockGroup, Symmetry, TogetherDepartures
from definetti.symmetry.base import Remembering

Check = Callable[[Any], Any]


class Kind:
    """A class whose objects files hold, with its name in files.

    Its objects are made of the arguments `names`, which are attributes of the same names: those of
    a dataclass or named tuple if left out. `parts` are checks of single arguments; `fits` takes all
    arguments, as attributes, and returns whether they fit together, or raises an error.
    """

    def __init__(
        self,
        name: str,
        target: type[Any],
        fits: Check | None = None,
        names: tuple[str, ...] | None = None,
        **parts: Check,
    ) -> None:
        self.name, self.made, self.fits, self.parts = name, target, fits, parts
        if names is None and is_dataclass(target):
            names = tuple(field.name for field in fields(target) if field.init)
        self.names = getattr(target, "_fields", ()) if names is None else names

    def take(self, thing: Any) -> dict[str, Any]:
        """Return the arguments that make an object."""
        if issubclass(self.made, Saved):
            kept = dict(thing._saved())
        else:
            kept = {name: getattr(thing, name) for name in self.names}
        self._claim(kept)
        return kept

    def make(self, kept: dict[str, Any]) -> Any:
        """Make an object of its arguments; raise any error for ones that `take` never returns."""
        self._claim(kept)
        if issubclass(self.made, Saved):
            return self.made._restored(kept)
        if set(kept) != set(self.names):
            raise ValueError(f"a {self.name} is made of {', '.join(kept)[:80]}")
        for name, sound in self.parts.items():
            require(sound(kept[name]), f"{name} of a {self.name}")
        if self.fits is not None:
            require(self.fits(SimpleNamespace(**kept)) in (None, True), f"a {self.name}")
        return self.made(**kept)

    def _claim(self, kept: dict[str, Any]) -> None:
        """Claim the memory of making an object, when it is saved as when it is loaded."""
        if issubclass(self.made, Saved):
            claim_memory(self.made._memory(kept))
        elif self.made is Alphabet:
            claim_memory(160 * len(kept["labels"]))


def _a(*kinds: type[Any]) -> Check:
    return lambda value: isinstance(value, kinds)


def _array(kind: type[Any], axes: int) -> Check:
    return lambda value: is_array(value, kind, axes)


def _tuple_of(sound: Check) -> Check:
    return lambda value: isinstance(value, tuple) and all(map(sound, value))


def _is_whole(value: Any) -> bool:
    return type(value) is int


NOTHING = type(None)
LAW, FLAG, TUPLE = _a(Emission), _a(bool), _a(tuple)
NUMBERS, MATRIX, CODES = _array(np.float64, 1), _array(np.float64, 2), _array(np.int64, 1)


def _are_rows(own: Any) -> bool:
    """Tell whether rows of numbers are as wide as the table says."""
    arrays = own.chunks.arrays
    named = own.columns is None or (
        isinstance(own.columns, tuple) and len(own.columns) == own.width
    )
    same = all(MATRIX(array) and array.shape[1] == own.width for array in arrays)
    return named and same and (own.width is None) == (not arrays)


def _check_columns(own: Any) -> None:
    """Refuse codes that are not in the tables of their columns."""
    for codes in own.chunks.arrays:
        require(is_array(codes, np.int64, 2) and codes.shape[1] == len(own.columns), "codes")
        for column, column_codes in zip(own.columns, codes.T, strict=True):
            check_codes(column.table, column_codes)


def _is_trained(own: Any) -> bool:
    """Tell whether the parameters have the shapes for the number of states."""
    n = len(own.states)
    checked_prior(own.prior)
    if own.table is None:  # before any observations
        require(np.shape(own.statistics) == (n, 0), "a sum")
    else:
        check_table(own.emission, own.table)
        check_statistics(own.emission, own.table, own.statistics, n, fixed=True)
    return bool(own.transitions.shape == (n, n))


def _is_selected(own: Any) -> bool:
    """Tell whether there is a tempered law for each chosen candidate."""
    require(len(own.laws) == len(own.selection.candidates), "a choice")
    chosen = {own.selection.choice(horizon)[0] for horizon in own.selection.horizons}
    return _is_trained(own) and all(isinstance(own.laws[place], Tempered) for place in chosen)


def _is_selection(own: Any) -> bool:
    """Tell whether tables have a row for each horizon and a column for each candidate."""
    shape = len(own.horizons), len(own.candidates)
    same = own.log_probabilities.shape == own.powers.shape == shape
    return all(shape) and same and len(own.errors) == len(own.horizons)


def _are_trees(own: Any) -> bool:
    """Tell whether children come after their parents, and indices are within bounds."""
    number = len(own.features)
    limits = (own.roots, number), (own.columns, len(own.start)), (own.features, own.width)
    inside = all(part.min(initial=0) >= 0 and part.max(initial=0) < end for part, end in limits)
    require(own.children.shape == (number, 2) and len(own.roots) == len(own.columns), "trees")
    onward = (own.children > np.arange(number)[:, None]) & (own.children < number)
    paths = (onward.all(axis=1) | (own.children == -1).all(axis=1)).all()
    nodes = own.thresholds, own.values, own.missing_left
    return inside and bool(paths) and all(len(part) == number for part in nodes)


def _are_units(own: Any) -> bool:
    """Tell whether states are known, and sequences have scores and a positive share each."""
    known = own.alphabet.labels[: len(own.smoother.labels)] == own.smoother.labels
    whole = all(NUMBERS(scores) and len(scores) for scores in own.steps)
    require(known and whole and 0 < own.number <= len(own.steps), "a unit")
    return len(own.shares) == len(own.steps) and bool(own.shares.min() > 0)


def _is_set(own: Any) -> bool:
    """Tell whether sequences are as long as the horizon, each with its p-value."""
    require(own.horizon > 0 and len(own.p_values) == len(own.sequences), "a p-value")
    require(all(type(path) is tuple for path in own.sequences), "a sequence")
    require(all(len(path) == own.horizon for path in own.sequences), "a sequence")
    known = all(label in own.states for path in own.sequences for label in path)
    if own.all_p_values is None:
        return known
    most = len(own.states) ** own.horizon if own.horizon < 64 else -1
    return known and NUMBERS(own.all_p_values) and len(own.all_p_values) == most


_known = _tuple_of(lambda code: type(code) is int and code >= 0)
_trained = {"transitions": MATRIX, "emission": LAW, "states": TUPLE}
KINDS = [
    Kind("conformal hmm", ConformalHMM),
    Kind("grouped conformal hmm", GroupedConformalHMM),
    Kind("errors", Errors),
    Kind("conformal sequences", ConformalSequences),
    Kind("monitor", Monitor),
    Kind(
        "prediction set", PredictionSet, _is_set,
        sequences=_a(list), p_values=NUMBERS, states=TUPLE, horizon=_is_whole,
    ),
    Kind("labelled", EncodedHistory),
    Kind(
        "units", Units, _are_units,
        alphabet=_a(Alphabet), smoother=_a(SequenceSmoother), shares=CODES, number=_is_whole,
    ),
    Kind("trained segment", Trained),
    Kind("part", Part),
    Kind("diagnosis", Diagnosis),
    Kind("finding", Finding),
    Kind("residuals", Residuals),
    Kind("measured coverage", MeasuredCoverage),
    Kind("curve", Curve),
    Kind("alphabet", Alphabet, names=("labels",)),
    Kind(
        "chunks", Chunks,
        lambda own: len({(array.shape[1], array.dtype) for array in own.arrays}) <= 1,
        arrays=_tuple_of(lambda array: isinstance(array, np.ndarray) and array.ndim == 2),
    ),
    Kind(
        "rows", Rows, _are_rows,
        chunks=_a(Chunks), width=lambda value: value is None or _is_whole(value), flat=FLAG,
    ),
    Kind(
        "centred", Centred, lambda own: len(own.point) in (0, own.rows.width),
        rows=_a(Rows), point=NUMBERS,
    ),
    Kind("lexicon", Lexicon),
    Kind("raw", Raw),
    Kind(
        "column", Column,
        lambda own: None if own.table is None else check_table(own.emission, own.table),
        emission=LAW,
    ),
    Kind(
        "columns", Columns, _check_columns,
        columns=_tuple_of(_a(Column)), chunks=_a(Chunks), named=FLAG,
    ),
    Kind("kinds", Kinds),
    Kind("hmm", HMM, lambda own: HMM(own.prior, own.emission).check(), ("prior", "emission")),
    Kind("auto", Auto, names=()),
    Kind("trained hmm", TrainedHMM, _is_trained, None, **_trained),
    Kind(
        "selected hmm", SelectedHMM, _is_selected, None,
        selection=_a(ModelSelection), laws=TUPLE, **_trained,
    ),
    Kind(
        "model selection", ModelSelection, _is_selection,
        candidates=TUPLE, rows=_is_whole, horizons=_tuple_of(_is_whole), log_probabilities=MATRIX,
        powers=MATRIX, errors=NUMBERS,
    ),
    Kind(
        "tempered", Tempered, names=("coding", "power", "classifier"),
        coding=LAW, power=_a(float), classifier=_a(TrainedClasses, NOTHING),
    ),
    Kind(
        "trained classes", TrainedClasses,
        lambda own: len(own.states) == len(own.log_frequencies) == own.classes.number
        and own.states.min(initial=0) >= 0,
        classes=_a(Classes), states=CODES, log_frequencies=NUMBERS, categories=TUPLE,
    ),
    Kind(
        "linear classes", Linear,
        lambda own: own.weights.shape == (len(own.means), len(own.intercepts)),
        weights=MATRIX, intercepts=NUMBERS, means=NUMBERS,
    ),
    Kind(
        "boosted classes", Boosted, _are_trees,
        width=_is_whole, start=NUMBERS, roots=CODES, columns=CODES, features=CODES,
        children=_array(np.int64, 2), thresholds=NUMBERS, values=NUMBERS,
        missing_left=_array(np.bool_, 1),
    ),
    Kind("from hmmlearn", FromHmmlearn, states=_a(tuple, NOTHING)),
    Kind(
        "whole smoother", SequenceSmoother, lambda own: len(own.initial) == len(own.labels),
        model=_a(Model), labels=TUPLE, initial=NUMBERS,
    ),
    Kind("judged alone", JudgedAlone, names=("emission", "table"), emission=LAW),
    Kind("fixed categorical", FixedCategorical, known=_known),
    Kind("fixed labels", FixedLabels, known=_known),
    Kind("fixed mixed", FixedMixed, fixed=_tuple_of(LAW)),
    Kind(
        "trained classifier", TrainedClassifier, lambda own: checked_prior(own.floor, "floor"),
        frequencies=NUMBERS,
    ),
    Kind(
        "hmmlearn emission", HmmlearnEmission,
        lambda own: sorted(own.order.tolist()) == list(range(len(own.order))), order=CODES,
    ),
    Kind("block group", BlockGroup),
    Kind("together departures", TogetherDepartures),
    Kind("remembering", Remembering, symmetry=_a(Symmetry), memory=_a(Memory)),
]  # fmt: skip
# Named dataclasses of definetti that fulfil one of these contracts are in the table. Those of other
# packages are not: they may be missing where the file is read.
CONTRACTS = (
    Score, Symmetry, Emission, Memory, Martingale, Alarm, ConfidenceSequence, AdaptiveLevel,
)  # fmt: skip
for _contract in CONTRACTS:
    KINDS += [
        Kind(f"{_contract.__name__.lower()} {_name}", _made)
        for _name, _made in _contract.named.items()
        if _made.__module__.startswith("definetti.") and is_dataclass(_made)
    ]
BY_NAME = {kind.name: kind for kind in KINDS}
BY_TYPE = {kind.made: kind for kind in KINDS}
