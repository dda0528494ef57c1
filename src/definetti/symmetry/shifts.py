"""Windows that end at every time: the usual way out for time series."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from definetti._system.arrays import IntArray
from definetti.data.history import Completion, windows_at
from definetti.data.windows import Windows
from definetti.symmetry.base import Generator, Reference, Symmetry


@dataclass(frozen=True)
class Shifts(Symmetry, name="shifts"):
    """Compare with the windows that end at every time; **only approximately valid**.

    After Chernozhukov, Wüthrich and Zhu (2018). Shifted windows of a Markov chain are not
    exchangeable: the coverage tends to the level as the sequence grows, if the chain mixes, but
    no finite length guarantees it. Here as a baseline.
    """

    exact = False
    reads_observations = False

    def reference(
        self, completion: Completion, n_resamples: int, generator: Generator
    ) -> Reference:
        past, horizon = completion.history, completion.horizon

        def distinct() -> tuple[Windows, IntArray]:
            ends = np.arange(horizon, len(past))
            windows = windows_at(ends, past.states, past.observations, horizon)
            rows = np.concatenate([windows.start[:, None], *windows[1:]], axis=1)
            _, first, count = np.unique(rows, axis=0, return_index=True, return_counts=True)
            return Windows(*(part[first] for part in windows)), count

        windows, weights = past.present.recall(("shifts", horizon), "windows", distinct)
        # The last windows reach into the candidate.
        offset = max(len(past) - horizon, 0)
        states = np.concatenate([past.states[offset:], completion.states])
        observations = np.concatenate([past.observations[offset:], completion.observations])
        last = np.arange(max(horizon, len(past) - offset), len(states))
        windows = windows + windows_at(last, states, observations, horizon)
        ones = np.ones(len(last), dtype=np.int64)
        return Reference(windows, np.concatenate([weights, ones]), joins=False)
