"""A gap that comes up later is the gap that `lengths` of `fit` speaks of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from definetti import HMM, ConformalHMM
from definetti.simulate import weather

Y, X = weather(60, random_state=4)
SETTINGS: list[dict[str, Any]] = [
    {"symmetry": "full"},
    {"symmetry": "spaced", "model": HMM()},
    {"symmetry": "departures"},
    {"symmetry": "full", "memory": 2},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_later_gap_is_one_between_segments(settings: dict[str, Any]) -> None:
    at_once = ConformalHMM(**settings, random_state=0).fit(Y, X, lengths=[20, 15, 25])
    bit_by_bit = ConformalHMM(**settings, random_state=0).fit(Y[:20], X[:20])
    bit_by_bit.new_segment().partial_fit(Y[20:30], X[20:30]).partial_fit(Y[30:35], X[30:35])
    bit_by_bit.new_segment().new_segment().partial_fit(Y[35:], X[35:])
    assert bit_by_bit._data.lengths.tolist() == at_once._data.lengths.tolist() == [20, 15, 25]
    assert bit_by_bit.predict_ranks(["hat", "umbrella"]) == at_once.predict_ranks(
        ["hat", "umbrella"]
    )
    assert bit_by_bit.predict_p(["hat"]) == at_once.predict_p(["hat"])


def test_a_fixed_model_goes_on_after_a_gap() -> None:
    cp = ConformalHMM(train_size=20, random_state=0).fit(Y[:40], X[:40])
    cp.new_segment().partial_fit(Y[40:], X[40:])
    assert cp._data.lengths.tolist() == [20, 20]
    whole = ConformalHMM(model=cp.fixed_model(), random_state=0).fit(Y[40:], X[40:])
    assert cp.predict_ranks(["hat"]) == whole.predict_ranks(["hat"])


def test_a_law_chosen_anew_keeps_the_gaps() -> None:
    counts: list[Any] = [int(k) for k in np.random.default_rng(0).integers(0, 4, 30)]
    rows = [*counts, 2.5, 1.25]
    at_once = ConformalHMM(symmetry="full", random_state=0).fit(rows, X[:32], lengths=[12, 9, 11])
    cp = ConformalHMM(symmetry="full", random_state=0).fit(counts[:12], X[:12])
    cp.new_segment().partial_fit(counts[12:21], X[12:21])
    cp.new_segment().partial_fit(np.array(counts[21:]), X[21:30]).partial_fit(rows[30:], X[30:32])
    assert cp._data.lengths.tolist() == [12, 9, 11]
    assert cp.predict_ranks([0.5]) == at_once.predict_ranks([0.5])


def test_nothing_is_predicted_before_a_label_after_the_gap() -> None:
    cp = ConformalHMM(random_state=0).fit(Y, X).new_segment()
    with pytest.raises(ValueError, match="nothing is labelled since the gap"):
        cp.predict_set(["hat"])
