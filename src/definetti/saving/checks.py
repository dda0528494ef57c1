"""What must be true of the arguments of the classes in the table, for their parts to fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from definetti._system.checks import checked_prior
from definetti.data.labels import Alphabet
from definetti.data.sound import check_codes, check_statistics, check_table, is_array, require
from definetti.emissions import Emission
from definetti.emissions.mixed import Column
from definetti.emissions.tables import Chunks, Rows
from definetti.memory import Memory
from definetti.models import HMM
from definetti.models.base import Model
from definetti.models.predictors import SequenceSmoother
from definetti.symmetry import Symmetry


def check_chunks(arrays: Any) -> None:
    """Rows of one width and kind."""
    tables = isinstance(arrays, tuple) and all(
        isinstance(one, np.ndarray) and one.ndim == 2 for one in arrays
    )
    require(tables and len({(one.shape[1], one.dtype) for one in arrays}) <= 1, "a table")


def check_rows(chunks: Any, width: Any, columns: Any, flat: Any) -> None:
    """Rows of numbers, as wide as the table says."""
    require(isinstance(chunks, Chunks) and isinstance(flat, bool), "a table of numbers")
    require(width is None or type(width) is int, "a table of numbers")
    require((width is None) == (not chunks.arrays), "the width of a table")
    require(all(is_array(one, np.float64, 2) for one in chunks.arrays), "a table of numbers")
    require(all(one.shape[1] == width for one in chunks.arrays), "the width of a table")
    named = isinstance(columns, tuple) and len(columns) == width
    require(columns is None or named, "the names of columns")


def check_centred(rows: Any, point: Any) -> None:
    """A point as wide as the rows."""
    require(isinstance(rows, Rows) and is_array(point, np.float64, 1), "a table of numbers")
    require(len(point) in ((0,) if rows.width is None else (0, rows.width)), "a centre")


def check_column(name: Any, emission: Any, table: Any) -> None:
    """A column with a law."""
    require(isinstance(emission, Emission), "the law of a column")
    if table is not None:
        check_table(emission, table)


def check_columns(columns: Any, chunks: Any, named: Any) -> None:
    """Codes that the tables of their columns have."""
    whole = isinstance(columns, tuple) and all(isinstance(one, Column) for one in columns)
    require(whole and isinstance(chunks, Chunks) and isinstance(named, bool), "a table of columns")
    for codes in chunks.arrays:
        require(is_array(codes, np.int64, 2) and codes.shape[1] == len(columns), "a table's codes")
        for column, own in zip(columns, codes.T, strict=True):
            check_codes(column.table, own)


def check_trained(
    transitions: Any, statistics: Any, prior: Any, emission: Any, states: Any, table: Any
) -> None:
    """Matrices for the states that there are."""
    n = len(states)
    checked_prior(prior)
    require(isinstance(states, tuple) and isinstance(emission, Emission), "a model")
    require(is_array(transitions, np.float64, 2) and transitions.shape == (n, n), "a matrix")
    if table is None:  # of a law that has met no observations yet, and sums up none
        require(np.shape(statistics) == (n, 0), "a sum")
    else:
        check_table(emission, table)
        check_statistics(emission, table, statistics, n, fixed=True)


def check_hmmlearn(model: Any, states: Any, table: Any) -> None:
    """States with names, or without."""
    require(states is None or isinstance(states, tuple), "the names of states")


def check_hmm(prior: Any, emission: Any) -> None:
    """A prior, and a law or its name."""
    HMM(prior, emission).check()


def check_smoother(model: Any, labels: Any, initial: Any) -> None:
    """A first law for the states that there are."""
    require(isinstance(model, Model) and isinstance(labels, tuple), "a model")
    require(is_array(initial, np.float64, 1) and len(initial) == len(labels), "a first law")


def check_alone(emission: Any, table: Any) -> None:
    """A law."""
    require(isinstance(emission, Emission), "a law")


def check_known(prior: Any, known: Any) -> None:
    """Codes of symbols."""
    require(isinstance(known, tuple), "an alphabet")
    require(all(type(one) is int and one >= 0 for one in known), "an alphabet")


def check_laws(columns: Any, closed: Any, fixed: Any) -> None:
    """Laws of columns."""
    laws = isinstance(fixed, tuple) and all(isinstance(one, Emission) for one in fixed)
    require(laws, "the law of a column")


def check_classifier(estimator: Any, frequencies: Any, floor: Any) -> None:
    """Frequencies of states."""
    require(is_array(frequencies, np.float64, 1), "how often states came")
    checked_prior(floor, "floor")


def check_hmmlearn_emission(model: Any, order: Any) -> None:
    """An order of all states."""
    require(is_array(order, np.int64, 1), "an order of states")
    require(sorted(order.tolist()) == list(range(len(order))), "an order of states")


def check_remembering(symmetry: Any, memory: Any) -> None:
    """A symmetry, and a memory."""
    require(isinstance(symmetry, Symmetry) and isinstance(memory, Memory), "a memory")


def check_units(
    alphabet: Any, closed: Any, smoother: Any, steps: Any, shares: Any, number: Any, gaps: Any
) -> None:
    """Sequences of the states that there are, with a share each."""
    require(isinstance(alphabet, Alphabet) and isinstance(smoother, SequenceSmoother), "a model")
    require(alphabet.labels[: len(smoother.labels)] == smoother.labels, "the states")
    require(type(number) is int and 0 < number <= len(steps), "the number of units")
    require(all(is_array(one, np.float64, 1) and len(one) for one in steps), "a sequence")
    require(is_array(shares, np.int64, 1) and len(shares) == len(steps), "a share")
    require(shares.min() > 0, "a share")


def check_set(sequences: Any, p_values: Any, states: Any, horizon: Any, **others: Any) -> None:
    """Sequences of so many steps, each with its p-value."""
    listed = isinstance(sequences, list) and all(type(one) is tuple for one in sequences)
    require(listed and type(horizon) is int and horizon > 0, "a set")
    require(all(len(one) == horizon for one in sequences), "a sequence")
    require(is_array(p_values, np.float64, 1) and len(p_values) == len(sequences), "a p-value")
    every = others["all_p_values"]
    require(isinstance(states, tuple), "a set")
    most = None if every is None else len(states) ** horizon if horizon < 64 else -1
    require(every is None or (is_array(every, np.float64, 1) and len(every) == most), "a p-value")
