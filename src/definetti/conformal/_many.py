"""Many windows that might follow the labelled history, asked about together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from definetti._system.arrays import IntArray
from definetti.data.candidates import all_candidates, check_listing
from definetti.data.labels import checked_states
from definetti.front_door import check_length
from definetti.question import Question
from definetti.sets.windows import Tied, rank_by_state, rank_each, read_windows

if TYPE_CHECKING:
    from definetti.conformal.estimator import ConformalHMM


def rank_many(
    cp: ConformalHMM, windows: Any, candidates: Any, lag: int
) -> tuple[Question, Tied, IntArray]:
    """Rank candidates of many windows: with a question that stands for all, and the codes."""
    if cp.guarantee != "all":
        raise ValueError(
            f"guarantee={cp.guarantee!r} has no p-values, and sets of one window at a time; "
            "use guarantee='all', or predict_set"
        )
    each, every = read_windows(windows)
    question = cp._question(each[0], None, lag, ranking=True)
    one_law = cp._data.settled(every)  # for all windows
    n_states, steps = len(question.labels), question.steps
    check_listing(n_states, steps, cp.max_candidates, question.way_to_limits)
    codes = all_candidates(n_states, steps)
    if candidates is not None:
        codes = _read_candidates(cp, candidates, steps)
    seen = None
    usable = one_law or not question.settled
    if usable and (question.model.fixed or question.history.symbols):
        new = cp._data_of(question).read_new(every, None)
        seen = new.codes.reshape(len(each), -1)
    if question.by_last_state and seen is not None:
        asked = replace(question, table=new.table)
        return question, rank_by_state(asked, seen, codes), codes
    if not (question.history.symbols and one_law):
        seen = None  # equal codes may mean different things

    def ask(window: int) -> Question:
        return cp._question(each[window], None, lag, ranking=True)

    return question, rank_each(ask, len(each), seen, codes), codes


def _read_candidates(cp: ConformalHMM, candidates: Any, steps: int) -> IntArray:
    rows = [checked_states(one, "candidates") for one in candidates]
    if not rows:
        raise ValueError("candidates is empty; name some, or leave it out for all")
    for row in rows:
        check_length(row, steps)
    return np.array([cp._data.alphabet.encode(row, "candidates") for row in rows])
