"""Our sets for many simulated histories at once: those that `make_sets` has for each.

All that a history is asked about is a function of its counts, so that what Python does for one it
does here for all of them together.
"""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import IntArray
from definetti._system.compiled import kernel
from definetti.data.candidates import all_candidates
from definetti.data.labels import Alphabet
from definetti.emissions import Categorical
from definetti.engine.pvalues import Rank
from definetti.engine.rank import rank_in_classes
from definetti.engine.task import evaluate_each
from definetti.models.estimates import estimates_of_counts
from definetti.paper.methods import Method
from definetti.scores import Score
from definetti.symmetry._classes import Pasts, count_classes
from definetti.symmetry.full import Full


def rank_histories(
    method: Method, observations: IntArray, states: IntArray, horizon: int, n_states: int
) -> list[list[Rank]] | None:
    """Rank all candidates of all histories; None where each must be asked about by itself.

    Parameters
    ----------
    observations : (K, T + h) codes, the new ones last
    states : (K, T) codes
    horizon, n_states : how many steps are new, and how many states there are

    Examples
    --------
    >>> from definetti.paper.methods import OURS
    >>> y, x = np.array([[0, 1] * 4 + [0]]), np.array([[0, 1] * 4])
    >>> [[rank.p_value() for rank in ranks] for ranks in rank_histories(OURS, y, x, 1, 2)]
    [[1.0, 0.05]]
    """
    if method.symmetry != "full" or not method.observed:
        return None
    codes, sizes = _coded(observations)
    if sizes.min() < sizes.max():
        return None  # the laws of some are of fewer symbols
    length, symbols = states.shape[1], int(sizes[0])
    transitions, emissions = _counts(states, codes, n_states, symbols)
    first, last = states[:, 0].copy(), states[:, -1].copy()
    pasts = Pasts(transitions, transitions, emissions, first, last, length)
    candidates, new = all_candidates(n_states, horizon), codes[:, length:].copy()
    found = count_classes(pasts, candidates, new, Full().max_windows)
    if found is None:
        return None
    law, table, labels = Categorical(method.prior), Alphabet(range(symbols)), range(n_states)
    priors = float(method.prior), float(method.prior)
    estimates = estimates_of_counts(found.moves, found.pairs, priors, law, table, tuple(labels))
    scores = evaluate_each(Score.named[method.score](), estimates, found.each, found.windows)
    ranks, number = rank_in_classes(scores, found), len(candidates)
    return [ranks[k : k + number] for k in range(0, len(ranks), number)]


@kernel
def _coded(observations: IntArray) -> tuple[IntArray, IntArray]:
    """Number the symbols of each sequence as they come up, and tell how many there are."""
    codes = np.empty_like(observations)
    sizes = np.zeros(len(observations), dtype=np.int64)
    for k in range(len(observations)):
        known = np.full(observations.max() + 1, -1)
        for t in range(observations.shape[1]):
            y = observations[k, t]
            if known[y] < 0:
                known[y] = sizes[k]
                sizes[k] += 1
            codes[k, t] = known[y]
    return codes, sizes


@kernel
def _counts(
    states: IntArray, codes: IntArray, n_states: int, n_symbols: int
) -> tuple[IntArray, IntArray]:
    """Count the transitions of each sequence, and its states with their symbols."""
    number, length = states.shape
    transitions = np.zeros((number, n_states, n_states), dtype=np.int64)
    emissions = np.zeros((number, n_states, n_symbols + 1), dtype=np.int64)
    for k in range(number):
        for t in range(length):
            emissions[k, states[k, t], codes[k, t] + 1] += 1
            if t > 0:
                transitions[k, states[k, t - 1], states[k, t]] += 1
    return transitions, emissions
