"""One step ahead with a fixed model: all p-values from a table of counts.

The score of a step takes one value for each previous state, state and symbol. How often the past
has had each is all that a p-value depends on, so the table of all p-values costs the same
whatever the length of the past.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti._system.locking import holding
from definetti.data.history import Completion, History
from definetti.data.labels import MISSING
from definetti.data.sound import ANY, check_indices, check_shape
from definetti.data.windows import Windows
from definetti.memory import Order
from definetti.question import evaluate
from definetti.symmetry import Returns, Spaced

if TYPE_CHECKING:
    from definetti.conformal import ConformalHMM


def step_counts(history: History, n_symbols: int, recent: int | None = None) -> IntArray:
    """Count the steps that a new one is compared with: previous state, state, symbol.

    The first step into a state is left out: it ends the prefix, which stays in place. The last
    column is for missing observations.

    Parameters
    ----------
    recent : how many steps into each state are counted, at most: the latest; all if left out

    Examples
    --------
    >>> history = History(n_states=2)
    >>> history.append(np.array([0, 1, 1, 0]), np.array([0, 0, 1, 0]))
    >>> step_counts(history, 2)[1]
    array([[1, 0, 0],
           [0, 1, 0]])
    """
    n, states = history.n_states, history.states
    codes = np.where(history.observations < 0, n_symbols, history.observations)
    counts = np.zeros((n, n, n_symbols + 1), dtype=np.int64)
    for state in range(n):
        later = history.visits(state)[1:]
        latest = later if recent is None else later[-recent:]
        np.add.at(counts[:, state], (states[latest - 1], codes[latest]), 1)
    return counts


def step_ranks(counts: IntArray, scores: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """Rank each cell among the past steps into the same state, as `ranks.pvalue.ranks` does.

    Parameters
    ----------
    counts, scores : (n, n, m) by previous state, state and symbol

    Returns
    -------
    greater, equal : (n, n, m) past steps that are stranger, and as strange, the new one included
    total : (n,) all steps into a state, the new one included
    """
    check_indices(counts, 0, ANY, "counts")
    check_shape(counts, (len(counts), len(counts), *counts.shape[2:3]), "counts")
    check_shape(scores, counts.shape, "scores")
    return _step_ranks(counts, scores)


@kernel
def _step_ranks(counts: IntArray, scores: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    n, _, m = counts.shape
    greater, equal = np.empty(counts.shape, dtype=np.int64), np.empty(counts.shape, dtype=np.int64)
    total = np.empty(n, dtype=np.int64)
    for i in range(n):
        score = scores[:, i].copy().ravel()
        count = counts[:, i].copy().ravel()
        total[i] = count.sum() + 1
        order = np.argsort(score)
        ranked, below = score[order], np.zeros(len(order) + 1, dtype=np.int64)
        below[1:] = np.cumsum(count[order])
        for cell in range(len(score)):
            low = below[np.searchsorted(ranked, score[cell])]
            high = below[np.searchsorted(ranked, score[cell], side="right")]
            greater[cell // m, i, cell % m] = below[-1] - high
            equal[cell // m, i, cell % m] = high - low + 1
    return greater, equal, total


def p_value_table(predictor: ConformalHMM) -> FloatArray:
    """Return the p-value of each next state for each symbol that may come: ``(m, n)``.

    One step ahead, with a fixed model and symbols, all that can happen is a table: worked out
    now, a set is a look-up when the symbol comes.

    Parameters
    ----------
    predictor : fitted `ConformalHMM` with a fixed model and symmetry "spaced" or "returns", or
        with "auto" where that is "spaced"

    Returns
    -------
    p-values by the predictor's ``symbols_`` and ``states_``; not smoothed

    Examples
    --------
    >>> from definetti import ConformalHMM
    >>> from definetti.simulate import weather
    >>> cp = ConformalHMM(train_size=0.5, symmetry="spaced").fit(*weather(400, random_state=0))
    >>> table = p_value_table(cp)
    >>> hat, rain = cp.symbols_.index("hat"), cp.states_.index("rain")
    >>> float(table[hat, rain]) == cp.p_value(["hat"], ["rain"])
    True
    """
    with holding(predictor):
        return _p_value_table(predictor)


def _p_value_table(predictor: ConformalHMM) -> FloatArray:
    data = predictor._data
    if not data.history.symbols:
        raise ValueError(
            "predictor must have symbols for observations, of which there is a table; name bins, "
            "such as pandas.cut(values, 5).astype(str), or ask p_value"
        )
    if not predictor.model_.fixed:
        raise ValueError("predictor must have a fixed model; set train_size=0.5")
    if predictor.memory_ != Order(1):
        raise ValueError(
            f"memory must be 1 for a table by the previous state, got {predictor.memory!r}"
        )
    question = predictor._question([predictor.symbols_[0]], None)
    if not isinstance(question.symmetry, (Spaced, Returns)):
        raise ValueError(
            f"symmetry must be 'spaced' or 'returns', which agree one step ahead, got "
            f"{type(question.symmetry).__name__.lower()!r}"
        )
    n, m = len(data.alphabet), len(data.table)
    start, state, code = (axis.ravel() for axis in np.indices((n, n, m + 1)))
    code = np.where(code == m, MISSING, code)
    windows = Windows(start, state[:, None], code[:, None])
    completion = Completion(data.history, windows.states[0], windows.observations[0], n)
    estimate = predictor.model_.estimate(
        completion, data.table, data.statistics, data.alphabet.labels
    )
    scores = evaluate(predictor.score_, estimate, windows).reshape(n, n, m + 1)
    greater, equal, total = step_ranks(
        step_counts(data.history, m, question.symmetry.recent), scores
    )
    p_values = (greater + equal) / total[:, None]
    return np.asarray(p_values[data.history.last, :, :m].T)
