"""Many windows that might follow one history, ranked together where they can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.algorithm import rank
from definetti.data.labels import plain
from definetti.data.windows import Windows
from definetti.levels import Levels
from definetti.models.estimate import Estimate
from definetti.question import Question
from definetti.ranks.membership import Ranked, membership, p_values_of
from definetti.ranks.pvalue import Rank, count_ranks
from definetti.sets.making import past_by_state
from definetti.sets.many import PredictionSets
from definetti.symmetry.base import PRESENT

ROWS = 2**20  # candidates that are written out to be scored
# Ranks, and what breaks their ties: None where they are not broken, NaN where some are not.
Tied = tuple[Ranked, FloatArray | None]


def read_windows(windows: Any) -> tuple[list[Any], Any]:
    """Return windows one by one, and the observations of all of them one after the other.

    Examples
    --------
    >>> read_windows([["hat", None], ["hat", "hat"]])
    ([['hat', None], ['hat', 'hat']], ['hat', None, 'hat', 'hat'])
    >>> read_windows(np.zeros((2, 3, 4)))[1].shape
    (6, 4)
    """
    windows = plain(windows)
    if isinstance(windows, np.ndarray) and windows.ndim >= 2 and len(windows):
        return list(windows), windows.reshape(-1, *windows.shape[2:])
    single = isinstance(windows, (str, bytes, dict)) or not np.iterable(windows)
    each = [] if single else list(windows)
    if not each or any(not isinstance(one, (list, tuple, np.ndarray)) for one in each):
        raise TypeError(
            "windows must be a list of windows, each a list or an array of observations, or an "
            f"array of shape (windows, steps), got {type(windows).__name__}; for one step each "
            "write [[first], [second]]"
        )
    if len(set(map(len, each))) > 1:
        raise ValueError("windows have different lengths; ask about those of each length at once")
    if isinstance(each[0], np.ndarray):
        return each, np.concatenate(each)
    return each, [observation for one in each for observation in one]


def rank_by_state(question: Question, codes: IntArray, candidates: IntArray) -> Tied:
    """Rank candidates of many windows that a fixed model compares with the same past.

    Parameters
    ----------
    question : that of the first window, with a table that has the observations of all
    codes : (B, h) the observations of all windows
    candidates : (C, steps)
    """
    estimate = question.estimate(question.complete_with(0))
    scores = _score(question, estimate, codes, candidates)
    greater, equal, total = (np.empty(scores.shape, dtype=np.int64) for _ in range(3))
    past = past_by_state(question, estimate)
    for last in np.unique(candidates[:, -1]).tolist():
        own, shape = candidates[:, -1] == last, (len(codes), -1)
        weights = np.ones(len(past[last]), dtype=np.int64)
        above, tied, number = count_ranks(past[last], weights, scores[:, own].ravel(), True)
        greater[:, own], equal[:, own] = above.reshape(shape), tied.reshape(shape)
        total[:, own] = number
    uniforms = np.full((1, 1), question.uniform()) if question.smoothing else None
    return Ranked(greater, equal, total, scores), uniforms


def rank_each(
    ask: Callable[[int], Question], number: int, codes: IntArray | None, candidates: IntArray
) -> Tied:
    """Rank candidates of many windows by themselves, those that are equal once.

    Parameters
    ----------
    ask : from the place of a window to its question
    codes : (B, h) where equal codes mean equal windows
    """
    first, places = np.arange(number), np.arange(number)
    if codes is not None:
        _, first, places = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    every: list[list[Rank]] = []
    scores, broken = [], []
    for window in first.tolist():
        question = ask(window)
        ranks, own = rank(question, candidates)
        every.append(ranks)
        scores.append(own)
        ties = question.tie_breakers(ranks)
        broken.append([np.nan if tie is None else tie for tie in ties])
    back = places.reshape(-1)
    greater, equal, total = (
        np.array([[one[k] for one in row] for row in every], dtype=object)[back] for k in range(3)
    )
    return Ranked(greater, equal, total, np.array(scores)[back]), np.array(broken)[back]


def sets_of(
    question: Question,
    ranked: Ranked,
    uniforms: FloatArray | None,
    candidates: IntArray,
    levels: Levels,
    allow_empty: bool,
) -> PredictionSets:
    """Return the sets of all windows at a level, as `listed_set` makes one."""
    if question.symmetry.given == PRESENT:
        levels = levels.at(question.labels[question.history.last])
    alphas = np.array(levels.alphas(question.labels), dtype=object)[candidates[:, -1]]
    p_values = p_values_of(ranked, uniforms)
    inside, filled = membership(ranked, p_values, alphas[None], uniforms, fill=not allow_empty)
    promised = question.promise()
    return PredictionSets(
        p_values,
        inside,
        question.labels,
        question.steps,
        levels.written,
        question.describe(),
        promised.exact,
        ranked.scores,
        filled,
        promised.holds_given,
    )


def _score(
    question: Question, estimate: Estimate, codes: IntArray, candidates: IntArray
) -> FloatArray:
    number, steps = len(candidates), codes.shape[1]
    states = np.pad(candidates, [(0, 0), (question.lag, 0)])
    scores = np.empty((len(codes), number))
    most = max(1, ROWS // (number * steps))
    for begin in range(0, len(codes), most):
        part = codes[begin : begin + most]
        windows = Windows(
            np.full(len(part) * number, question.history.last),
            np.tile(states, (len(part), 1)),
            part.repeat(number, axis=0),
        )
        scores[begin : begin + most] = question.score_windows(estimate, windows).reshape(-1, number)
    return scores
