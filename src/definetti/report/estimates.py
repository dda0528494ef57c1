"""What labelled rows say of transitions and of observations."""

from __future__ import annotations

from typing import Any

import numpy as np

from definetti.data.labels import Alphabet, piece
from definetti.data.splitting import training_length
from definetti.models.hmm import HMM, TrainedHMM, probabilities
from definetti.report.observed import emission_tables


def estimates(cp: Any, observations: Any, labels: list[Any]) -> dict[str, Any]:
    """Return transition probabilities and a table for each kind of observation.

    They are those that the model goes by: of the rows that it was fixed on, if it was.
    """
    rows, told = len(labels), "all labelled rows"
    if cp.train_size is not None:
        rows = training_length(cp.train_size, rows)
        told = f"the first {rows:,} rows, on which the model was fixed"
    elif cp.model_.fixed:
        told += "; the model itself was made elsewhere"
    n = len(cp.states_)
    codes = Alphabet(cp.states_).encode(labels[:rows], "states")
    counts = np.zeros((n, n))
    np.add.at(counts, (codes[:-1], codes[1:]), 1)
    data, model = cp._data, cp.model_
    chosen = data.rule.choose(data.kinds)
    prior = 0.0 if model.fixed and cp.train_size is None else _prior(chosen)
    transition = probabilities(counts, prior)
    if isinstance(chosen, HMM) and isinstance(model, TrainedHMM):  # which may not know all states
        transition = probabilities(model.transitions, model.prior)
    seen = None if observations is None else piece(observations, 0, rows)
    tables, left_out = emission_tables(seen, codes, n)
    return {
        "from": told,
        "counts": counts.astype(int).tolist(),
        "transition": transition.tolist(),
        "prior": prior,
        "emissions": tables,
        "columns_left_out": left_out,
    }


def _prior(model: Any) -> float:
    """Return what is added to each count; other models have no counts of their own."""
    return float(model.prior) if isinstance(model, (HMM, TrainedHMM)) else 0.0
