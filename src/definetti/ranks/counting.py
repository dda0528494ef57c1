"""Ranks one step ahead of all steps of a sequence, under a model refitted on its counts.

All that a step is compared with is in a few tables of counts, which the next label changes in one
place each: what a step costs does not grow with what came before it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from definetti._system.arrays import FloatArray, IntArray
from definetti._system.compiled import kernel
from definetti.ranks._step import count_step, place_in_past


@kernel
def rank_steps(
    pooled: IntArray,
    emissions: IntArray,
    steps: IntArray,
    ring: IntArray,
    entered: IntArray,
    met: npt.NDArray[np.bool_],
    states: IntArray,
    codes: IntArray,
    lengths: IntArray,
    priors: tuple[float, float],
    surprise: bool,
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Rank steps to all states among the latest to each; learn their labels in between.

    Parameters
    ----------
    pooled, emissions, steps, ring, entered : as `Stream` has them, of all before the first step of
        `states`, with room for the steps that come; they are changed
    met : (n,) the states met in the present stretch; changed, too
    states, codes : (L + 1,) the last state so far, and the stretch that follows it
    lengths : (W,) how many steps of the stretch are learned before each ranking
    priors, surprise : as in `Stream`

    Returns
    -------
    greater, equal, total : (W, n) as in `Rank`
    scores : (W, n) how strange each step is
    """
    windows, n = len(lengths), len(pooled)
    greater = np.empty((windows, n), dtype=np.int64)
    equal = np.empty((windows, n), dtype=np.int64)
    total = np.empty((windows, n), dtype=np.int64)
    scores = np.empty((windows, n))
    done = 0
    for w in range(windows):
        while done < lengths[w]:
            done += 1
            earlier, state, code = states[done - 1], states[done], codes[done] + 1
            if met[state]:
                count_step(steps, ring, entered, earlier, state, code)
            met[state] = True
            pooled[earlier, state] += 1
            emissions[state, code] += 1
        placed, strange = place_in_past(
            pooled, emissions, steps, states[done], codes[done + 1], priors, surprise
        )
        for i in range(n):
            greater[w, i], equal[w, i] = placed[i, 0], placed[i, 1]
            total[w, i], scores[w, i] = placed[i, 2], strange[i]
    return greater, equal, total, scores
