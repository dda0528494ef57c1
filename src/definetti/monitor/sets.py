"""The set for the present: ranked here where that is quick, else as the estimator predicts it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from definetti.conformal import ConformalHMM
from definetti.levels import Levels
from definetti.monitor.sources import Source
from definetti.sets import LatticeSet, PredictionSet, PredictionSets, StepSets
from definetti.sets.wording import note_recent

AnySet = PredictionSet | LatticeSet | StepSets
UNKNOWN = (
    "after a gap nothing is known of the state before: all states are in until one is labelled"
)


def rank_set(
    source: Source, cp: ConformalHMM, code: int, levels: Levels, uniform: float, exact: bool
) -> PredictionSet:
    """Return the set that the estimator would predict one step ahead, by the ranks of a source."""
    found, labels = source.step_ranks(code), source.labels
    uniforms = np.full((1, 1), uniform) if cp.smoothing else None
    alphas = levels.alphas(labels)
    held, fields = np.array([alphas], dtype=object), (labels, 1, levels.written, source.method)
    sets = PredictionSets.of_ranks(found, uniforms, held, not cp.allow_empty, *fields, exact)
    note = note_recent(cp.symmetry_, alphas, int(found.total.max()) - 1)
    return replace(sets[0], note=note)


def ask_set(
    cp: ConformalHMM, new: Any, number: int, levels: Levels, adapted: bool
) -> tuple[AnySet, int]:
    """Return the set that the estimator predicts, and how many of the last steps it is about.

    Of a `number` of observations without a label all but the last are left out if that is exact,
    else the set is about all of them. Levels that are `adapted` may be any numbers.
    """
    by_last_state = cp._data.model.fixed and cp._remembering.by_last_state
    lag = number - 1 if by_last_state else 0
    how: dict[str, Any] = {"horizon": number if new is None else None, "lag": lag}
    if not adapted:
        found: Any = cp.predict_set(new, levels.written, **how)
        return found, number - lag
    every = cp.predict_p(new, **how)
    if not isinstance(every, PredictionSet):
        raise ValueError(
            "on_alarm='adapt' needs sets that can be listed, and there are too many sequences; "
            "label sooner, or raise max_candidates"
        )
    assert levels.other is not None
    return cut_set(every, levels.other, bool(cp.allow_empty)), number - lag


def cut_set(every: PredictionSet, alpha: Fraction, allow_empty: bool) -> PredictionSet:
    """Keep of all candidates those whose p-value is above alpha, which may be any number."""
    number = int(np.count_nonzero(every.p_values > float(alpha)))
    filled = not number and not allow_empty
    number += filled
    return replace(
        every,
        sequences=every.sequences[:number],
        p_values=every.p_values[:number],
        confidence_level=float(1 - alpha),
        exact=False,
        filled=filled,
    )


def last_states(found: AnySet) -> tuple[Hashable, ...]:
    """Return the states that are possible at the last step."""
    if isinstance(found, PredictionSet) and found.horizon == 1:
        return tuple(one for (one,) in found.sequences)
    return tuple(found.steps[-1])


def noted_p_value(found: AnySet, truth: tuple[Hashable, ...]) -> float:
    """Return the p-value that a listed set has noted; 0 of labels that it does not know."""
    assert isinstance(found, PredictionSet)
    try:
        return found.p_value(truth)
    except KeyError:
        return 0.0


def unknown_set(source: Source) -> PredictionSet:
    """Return all states, where nothing is known of the state before."""
    labels = source.labels
    every: list[tuple[Hashable, ...]] = [(label,) for label in labels]
    ones = np.ones(len(labels))
    return PredictionSet(every, ones, labels, 1, None, source.method, True, ones, note=UNKNOWN)
