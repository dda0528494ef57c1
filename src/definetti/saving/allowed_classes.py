"""The closed table of the classes that a file can name: no other object is ever made of a file.

Kernels do not check indices, so each class with parts that become one has a check here that its
arguments fit together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
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
from definetti.data.labels import (
    Alphabet,
    check_codes,
    check_statistics,
    check_table,
    is_array,
    require,
)
from definetti.data.series import Part
from definetti.emissions import Emission
from definetti.emissions.base import JudgedAlone
from definetti.emissions.categorical import FixedCategorical
from definetti.emissions.choice import Kinds
from definetti.emissions.classifier import TrainedClassifier
from definetti.emissions.gaussian import Centred
from definetti.emissions.mixed import Column, Columns, FixedMixed
from definetti.emissions.tables import Chunks, Raw, Rows
from definetti.emissions.tempered import Boosted, Classes, Linear, Tempered, TrainedClasses
from definetti.emissions.words import FixedLabels, Lexicon
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


@dataclass(frozen=True)
class Kind:
    """A class that files hold.

    Attributes
    ----------
    name : its name in files
    made : the class
    names : the arguments that make an object, which are attributes of the same names
    check : called with these arguments before they are used; refuses those that do not fit
    memory : how many bytes an object takes beside these arguments
    """

    name: str
    made: type[Any]
    names: tuple[str, ...] = ()
    check: Callable[..., None] | None = None
    memory: Callable[[dict[str, Any]], int] | None = None

    def take(self, thing: Any) -> dict[str, Any]:
        """Return the arguments that make an object."""
        if issubclass(self.made, Saved):
            kept = dict(thing._saved())
        else:
            kept = {name: getattr(thing, name) for name in self.names}
        self._claim(kept)
        return kept

    def make(self, kept: dict[str, Any]) -> Any:
        """Make an object of its arguments; raise any error for what `take` never returns."""
        self._claim(kept)
        if issubclass(self.made, Saved):
            return self.made._restored(kept)
        if set(kept) != set(self.names):
            raise ValueError(f"a {self.name} is made of {', '.join(kept)[:80]}")
        if self.check is not None:
            self.check(**kept)
        return self.made(**kept)

    def _claim(self, kept: dict[str, Any]) -> None:
        """Claim the memory of making an object, when it is saved as when it is loaded."""
        if issubclass(self.made, Saved):
            claim_memory(self.made._memory(kept))
        elif self.memory is not None:
            claim_memory(self.memory(kept))


def _check_chunks(arrays: Any) -> None:
    """Require arrays of rows of one width and type."""
    tables = isinstance(arrays, tuple) and all(
        isinstance(array, np.ndarray) and array.ndim == 2 for array in arrays
    )
    require(tables and len({(array.shape[1], array.dtype) for array in arrays}) <= 1, "a table")


def _check_rows(chunks: Any, width: Any, columns: Any, flat: Any) -> None:
    """Require rows of numbers as wide as the table says."""
    require(isinstance(chunks, Chunks) and isinstance(flat, bool), "a table of numbers")
    require(width is None or type(width) is int, "a table of numbers")
    require((width is None) == (not chunks.arrays), "the width of a table")
    require(all(is_array(array, np.float64, 2) for array in chunks.arrays), "a table of numbers")
    require(all(array.shape[1] == width for array in chunks.arrays), "the width of a table")
    named = isinstance(columns, tuple) and len(columns) == width
    require(columns is None or named, "the names of columns")


def _check_centred(rows: Any, point: Any) -> None:
    """Require a point as wide as the rows."""
    require(isinstance(rows, Rows) and is_array(point, np.float64, 1), "a table of numbers")
    require(len(point) in ((0,) if rows.width is None else (0, rows.width)), "a centre")


def _check_column(name: Any, emission: Any, table: Any) -> None:
    """Require an emission, and a table that it can have made."""
    require(isinstance(emission, Emission), "the law of a column")
    if table is not None:
        check_table(emission, table)


def _check_columns(columns: Any, chunks: Any, named: Any) -> None:
    """Require codes that are in the tables of their columns."""
    whole = isinstance(columns, tuple) and all(isinstance(column, Column) for column in columns)
    require(whole and isinstance(chunks, Chunks) and isinstance(named, bool), "a table of columns")
    for codes in chunks.arrays:
        require(is_array(codes, np.int64, 2) and codes.shape[1] == len(columns), "a table's codes")
        for column, own in zip(columns, codes.T, strict=True):
            check_codes(column.table, own)


def _check_trained(
    transitions: Any, statistics: Any, prior: Any, emission: Any, states: Any, table: Any
) -> None:
    """Require matrices for as many states as there are."""
    n = len(states)
    checked_prior(prior)
    require(isinstance(states, tuple) and isinstance(emission, Emission), "a model")
    require(is_array(transitions, np.float64, 2) and transitions.shape == (n, n), "a matrix")
    if table is None:  # of an emission that has met no observations yet
        require(np.shape(statistics) == (n, 0), "a sum")
    else:
        check_table(emission, table)
        check_statistics(emission, table, statistics, n, fixed=True)


def _check_selected(laws: Any, selection: Any, **trained: Any) -> None:
    """Require a law for each choice that was made."""
    _check_trained(**trained)
    require(isinstance(selection, ModelSelection) and isinstance(laws, tuple), "a choice")
    require(len(laws) == len(selection.candidates), "a choice")
    chosen = {selection.choice(horizon)[0] for horizon in selection.horizons}
    require(all(isinstance(laws[place], Tempered) for place in chosen), "a law")


def _check_selection(
    candidates: Any, rows: Any, horizons: Any, log_probabilities: Any, powers: Any, errors: Any
) -> None:
    """Require a table of the candidates by horizon."""
    require(isinstance(candidates, tuple) and isinstance(horizons, tuple), "a choice")
    shape = len(horizons), len(candidates)
    require(all(shape) and all(type(one) is int for one in (rows, *horizons)), "a choice")
    for table in (log_probabilities, powers):
        require(is_array(table, np.float64, 2) and table.shape == shape, "a choice")
    require(is_array(errors, np.float64, 1) and len(errors) == len(horizons), "a choice")


def _check_tempered(coding: Any, power: Any, classifier: Any) -> None:
    """Require an emission, a power, and a classifier or none."""
    require(isinstance(coding, Emission) and isinstance(power, float), "a law")
    require(classifier is None or isinstance(classifier, TrainedClasses), "a classifier")


def _check_classes(classes: Any, states: Any, log_frequencies: Any, categories: Any) -> None:
    """Require a classifier of as many states as it was trained on."""
    require(isinstance(classes, Classes) and isinstance(categories, tuple), "a classifier")
    require(is_array(states, np.int64, 1) and states.min(initial=0) >= 0, "a code of states")
    require(is_array(log_frequencies, np.float64, 1), "how often states came")
    require(len(states) == len(log_frequencies) == classes.number, "a classifier")


def _check_linear(weights: Any, intercepts: Any, means: Any) -> None:
    """Require weights for each feature and class."""
    require(is_array(weights, np.float64, 2) and is_array(intercepts, np.float64, 1), "weights")
    require(is_array(means, np.float64, 1), "means")
    require(weights.shape == (len(means), len(intercepts)), "weights")


def _check_boosted(width: Any, start: Any, roots: Any, columns: Any, **nodes: Any) -> None:
    """Require trees whose branches lead on, and to features that there are."""
    children, number = nodes["children"], len(nodes["features"])
    require(type(width) is int and is_array(start, np.float64, 1), "trees")
    for codes, end in ((roots, number), (columns, len(start)), (nodes["features"], width)):
        require(is_array(codes, np.int64, 1), "trees")
        require(codes.min(initial=0) >= 0 and codes.max(initial=0) < end, "trees")
    require(len(roots) == len(columns), "trees")
    require(is_array(children, np.int64, 2) and children.shape == (number, 2), "trees")
    onward = (children > np.arange(number)[:, None]).all(axis=1) & (children < number).all(axis=1)
    require((onward | (children == -1).all(axis=1)).all(), "trees")
    require(all(is_array(nodes[one], np.float64, 1) for one in ("thresholds", "values")), "trees")
    require(is_array(nodes["missing_left"], np.bool_, 1), "trees")
    require(all(len(part) == number for part in nodes.values()), "trees")


def _check_hmmlearn(model: Any, states: Any, table: Any) -> None:
    """Require names of states, or none."""
    require(states is None or isinstance(states, tuple), "the names of states")


def _check_hmm(prior: Any, emission: Any) -> None:
    """Require a prior, and an emission or its name."""
    HMM(prior, emission).check()


def _check_smoother(model: Any, labels: Any, initial: Any) -> None:
    """Require an initial distribution over the states."""
    require(isinstance(model, Model) and isinstance(labels, tuple), "a model")
    require(is_array(initial, np.float64, 1) and len(initial) == len(labels), "a first law")


def _check_alone(emission: Any, table: Any) -> None:
    """Require an emission."""
    require(isinstance(emission, Emission), "a law")


def _check_known(prior: Any, known: Any) -> None:
    """Require codes of symbols."""
    require(isinstance(known, tuple), "an alphabet")
    require(all(type(code) is int and code >= 0 for code in known), "an alphabet")


def _check_mixed(columns: Any, closed: Any, fixed: Any) -> None:
    """Require emissions of columns."""
    emissions = isinstance(fixed, tuple) and all(isinstance(law, Emission) for law in fixed)
    require(emissions, "the law of a column")


def _check_classifier(estimator: Any, frequencies: Any, floor: Any) -> None:
    """Require frequencies of states."""
    require(is_array(frequencies, np.float64, 1), "how often states came")
    checked_prior(floor, "floor")


def _check_hmmlearn_emission(model: Any, order: Any) -> None:
    """Require a permutation of the states."""
    require(is_array(order, np.int64, 1), "an order of states")
    require(sorted(order.tolist()) == list(range(len(order))), "an order of states")


def _check_remembering(symmetry: Any, memory: Any) -> None:
    """Require a symmetry and a memory."""
    require(isinstance(symmetry, Symmetry) and isinstance(memory, Memory), "a memory")


def _check_units(
    alphabet: Any, closed: Any, smoother: Any, steps: Any, shares: Any, number: Any, gaps: Any
) -> None:
    """Require sequences of known states, with a share each."""
    require(isinstance(alphabet, Alphabet) and isinstance(smoother, SequenceSmoother), "a model")
    require(alphabet.labels[: len(smoother.labels)] == smoother.labels, "the states")
    require(type(number) is int and 0 < number <= len(steps), "the number of units")
    require(all(is_array(scores, np.float64, 1) and len(scores) for scores in steps), "a sequence")
    require(is_array(shares, np.int64, 1) and len(shares) == len(steps), "a share")
    require(shares.min() > 0, "a share")


def _check_set(sequences: Any, p_values: Any, states: Any, horizon: Any, **others: Any) -> None:
    """Require sequences as long as the horizon, each with its p-value."""
    listed = isinstance(sequences, list) and all(type(path) is tuple for path in sequences)
    require(listed and type(horizon) is int and horizon > 0, "a set")
    require(all(len(path) == horizon for path in sequences), "a sequence")
    require(is_array(p_values, np.float64, 1) and len(p_values) == len(sequences), "a p-value")
    every = others["all_p_values"]
    require(isinstance(states, tuple), "a set")
    require(all(label in states for path in sequences for label in path), "a sequence")
    most = None if every is None else len(states) ** horizon if horizon < 64 else -1
    require(every is None or (is_array(every, np.float64, 1) and len(every) == most), "a p-value")


def _kind(name: str, made: type[Any], check: Callable[..., None] | None = None) -> Kind:
    """Return the kind of a dataclass, a named tuple, or a `Saved`."""
    if is_dataclass(made):
        return Kind(name, made, tuple(one.name for one in fields(made) if one.init), check)
    return Kind(name, made, tuple(getattr(made, "_fields", ())), check)


KINDS = [
    _kind("conformal hmm", ConformalHMM),
    _kind("grouped conformal hmm", GroupedConformalHMM),
    _kind("errors", Errors),
    _kind("conformal sequences", ConformalSequences),
    _kind("monitor", Monitor),
    _kind("prediction set", PredictionSet, _check_set),
    _kind("labelled", EncodedHistory),
    _kind("units", Units, _check_units),
    _kind("trained segment", Trained),
    _kind("part", Part),
    _kind("diagnosis", Diagnosis),
    _kind("finding", Finding),
    _kind("residuals", Residuals),
    _kind("measured coverage", MeasuredCoverage),
    _kind("curve", Curve),
    Kind("alphabet", Alphabet, ("labels",), memory=lambda kept: 160 * len(kept["labels"])),
    _kind("chunks", Chunks, _check_chunks),
    _kind("rows", Rows, _check_rows),
    _kind("centred", Centred, _check_centred),
    _kind("lexicon", Lexicon),
    _kind("raw", Raw),
    _kind("column", Column, _check_column),
    _kind("columns", Columns, _check_columns),
    _kind("kinds", Kinds),
    Kind("hmm", HMM, ("prior", "emission"), _check_hmm),
    Kind("auto", Auto),
    _kind("trained hmm", TrainedHMM, _check_trained),
    _kind("selected hmm", SelectedHMM, _check_selected),
    _kind("model selection", ModelSelection, _check_selection),
    Kind("tempered", Tempered, ("coding", "power", "classifier"), _check_tempered),
    _kind("trained classes", TrainedClasses, _check_classes),
    _kind("linear classes", Linear, _check_linear),
    _kind("boosted classes", Boosted, _check_boosted),
    _kind("from hmmlearn", FromHmmlearn, _check_hmmlearn),
    _kind("whole smoother", SequenceSmoother, _check_smoother),
    Kind("judged alone", JudgedAlone, ("emission", "table"), _check_alone),
    _kind("fixed categorical", FixedCategorical, _check_known),
    _kind("fixed labels", FixedLabels, _check_known),
    _kind("fixed mixed", FixedMixed, _check_mixed),
    _kind("trained classifier", TrainedClassifier, _check_classifier),
    _kind("hmmlearn emission", HmmlearnEmission, _check_hmmlearn_emission),
    _kind("block group", BlockGroup),
    _kind("together departures", TogetherDepartures),
    _kind("remembering", Remembering, _check_remembering),
]
# Dataclasses of definetti that fulfil one of these contracts under a name are in the table. Those
# of others are not: whoever reads the file does not know them.
CONTRACTS = (
    Score, Symmetry, Emission, Memory, Martingale, Alarm, ConfidenceSequence, AdaptiveLevel,
)  # fmt: skip
for _contract in CONTRACTS:
    KINDS += [
        _kind(f"{_contract.__name__.lower()} {_name}", _made)
        for _name, _made in _contract.named.items()
        if _made.__module__.startswith("definetti.") and is_dataclass(_made)
    ]
BY_NAME = {kind.name: kind for kind in KINDS}
BY_TYPE = {kind.made: kind for kind in KINDS}
