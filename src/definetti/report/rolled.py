"""The labelled history predicted window by window, at all levels at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from definetti._system.arrays import FloatArray, IntArray
from definetti.data.labels import piece
from definetti.judging.rolling import learning, places_of
from definetti.report.levels import entries_of_nodes, entry
from definetti.sets import Evaluation, PredictionSet, StepSets


class Rolled(NamedTuple):
    """What a rolling prediction has found, level by level.

    Attributes
    ----------
    levels, states, horizon : the levels, the labels, the steps of a window
    truth : (steps,) the true codes, −1 for a label never seen
    first : (steps, n) from which level on each state is in the set of its step
    covers : (windows,) from which level on the truth is in the set
    p_values : (steps, n) of the best sequence with each state; None where sets have none
    counts : (windows, levels) how many sequences the set holds; NaN where they are not listed
    """

    levels: list[float]
    states: tuple[Any, ...]
    horizon: int
    truth: IntArray
    first: IntArray
    covers: IntArray
    p_values: FloatArray | None
    counts: FloatArray

    def evaluation(self, place: int) -> Evaluation:
        """Return how the sets of one level fared, as `ConformalHMM.evaluate` does."""
        nodes = self.first <= place
        steps = np.arange(len(self.truth))
        right = (nodes[steps, self.truth] & (self.truth >= 0)).reshape(-1, self.horizon)
        counts = self.counts[:, place]
        every = float(len(self.states)) ** self.horizon
        return Evaluation(
            self.covers <= place,
            counts,
            counts / every,
            np.full(len(counts), np.nan),
            1 - right.mean(axis=1),
            nodes.sum(axis=1).reshape(-1, self.horizon).mean(axis=1),
            self.states,
            self.truth,
            nodes,
            self.levels[place],
        )


def rolled(
    predictor: Any,
    observations: Any,
    truth: list[Any],
    horizon: int,
    known: int,
    levels: list[float],
    verbose: bool = False,
) -> Rolled:
    """Predict each window from all that came before it, then learn its labels.

    Parameters
    ----------
    predictor : fitted on what comes before; a copy learns
    observations, truth : what follows, and its true states
    known : how many steps of a window are observed when it is predicted; all are learned from
    """
    codes, first, covers, p_values, counts = [], [], [], [], []
    for learner, whole, window in learning(predictor, observations, truth, horizon, verbose):
        seen = None if whole is None or not known else piece(whole, 0, known)
        if getattr(learner, "guarantee", "all") == "all":
            s = learner.predict_p(seen, horizon=horizon)
            p = s.p_value(window) if window in s else 0.0  # a label that could not be listed
            first.append(entry(s.step_p_values, levels))
            covers.append(int(entry(p, levels)))
            p_values.append(s.step_p_values)
            counts.append(_counts(s, levels))
        else:
            sets = [learner.predict_set(seen, level, horizon=horizon) for level in levels]
            s = sets[-1]
            first.append(entries_of_nodes(sets))
            covers.append(next((k for k, one in enumerate(sets) if window in one), len(levels)))
            counts.append([_product(one) for one in sets])
        codes.append(places_of(window, s.states))
    return Rolled(
        levels,
        s.states,
        horizon,
        np.concatenate(codes),
        np.concatenate(first),
        np.array(covers),
        np.concatenate(p_values) if p_values else None,
        np.array(counts, dtype=np.float64),
    )


def _counts(s: Any, levels: list[float]) -> IntArray | list[float]:
    """Return how many sequences are in at each level, where they are listed."""
    if not isinstance(s, PredictionSet):
        return [np.nan] * len(levels)
    number = np.bincount(entry(s.p_values, levels), minlength=len(levels) + 1)
    return np.asarray(number[:-1].cumsum())


def _product(s: StepSets) -> float:
    return float(np.prod(s.widths.astype(np.float64)))
