"""Which tasks are ranked from counts: decided by what a task is, not by what plug-ins declare.

Every strategy gives the ranks of `definetti.algorithm.rank_general`. What a class that derives from
one of those named here does is its own affair, so it is ranked in general.
"""

from __future__ import annotations

from typing import Any

from definetti._system.arrays import IntArray
from definetti.data.history import History
from definetti.emissions import Categorical, Text
from definetti.models.base import Model
from definetti.models.hmm import HMM
from definetti.scores import Filter, Joint, Path, Score, Smoother
from definetti.symmetry import Full, Returns, Spaced, Symmetry
from definetti.symmetry._classes import Pasts, count_classes
from definetti.symmetry.base import Classes

LEAST = 1e-9  # a prior below which a probability may be none, or not be told from none


def find_priors(model: Model, table: Any) -> tuple[float, float] | None:
    """Return what is added to counts of transitions and of symbols, if these are the whole model.

    None where the estimate is not a hidden Markov model of relative frequencies, or may become
    something else as symbols of the table come again.
    """
    if not isinstance(model, HMM) or type(model).estimate is not HMM.estimate:
        return None
    emission = model.emission_
    few = type(emission) is Text and len(table) <= emission.few  # labels, and not words
    if type(emission) is not Categorical and not few:
        return None
    return float(model.prior), float(emission.prior)  # type: ignore[attr-defined]


def find_step_score(score: Score) -> str:
    """Tell what a score makes of one step: "surprise", "rest", or nothing that is known here.

    Minus the log-probability of the state given the one before and the observation, or one minus
    the probability.
    """
    if type(score) is Path and not score.lag:
        return "surprise"
    known = isinstance(score, (Filter, Smoother, Joint)) and not score.lag
    return "rest" if known and type(score) in (Filter, Smoother, Joint) else ""


def find_step_reference(symmetry: Symmetry, n_states: int, n_symbols: int) -> str:
    """Tell what one step is compared with, where counts of steps are all it takes.

    "past" for the latest steps to the same state, but the first of all, each counted once; "class"
    for the last steps of all sequences of the same counts; nothing where it is something else, or
    is drawn at random.
    """
    if type(symmetry) in (Spaced, Returns):
        return "past"
    if type(symmetry) is not Full:
        return ""
    most = symmetry.max_windows
    counted = n_states * (n_symbols + 1) <= most and n_states**4 <= 10 * most
    return "class" if counted else ""


def find_classes(
    symmetry: Symmetry,
    history: History,
    candidates: IntArray,
    observations: IntArray,
    n_states: int,
    n_symbols: int,
) -> Classes | None:
    """Return the windows that candidates are compared with, of all at once, where they are counted.

    Parameters
    ----------
    candidates, observations : (C, h) states, and (h,) codes, that follow the history
    n_states, n_symbols : how many there are
    """
    if type(symmetry) is not Full or not history.symbols:
        return None
    pasts = Pasts.of(history, n_states, n_symbols)
    return count_classes(pasts, candidates, observations[None], symmetry.max_windows)
