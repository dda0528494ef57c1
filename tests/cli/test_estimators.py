"""Where a model is fixed because to refit it for every candidate would take seconds."""

import json

import numpy as np
import pytest

from definetti import ConformalHMM
from definetti.engine.task import is_slow


@pytest.mark.slow
def test_predict_notes_a_model_that_is_fixed_because_refitting_is_slow(ask, tmp_path):
    rng = np.random.default_rng(0)
    states = np.cumsum(rng.integers(0, 2, 2003)) % 17
    seen = np.round(states + rng.normal(size=2003), 3)
    rows = [
        f"{y},{x if k < 2000 else ''}\n" for k, (y, x) in enumerate(zip(seen, states, strict=True))
    ]
    (tmp_path / "x.csv").write_text("seen,state\n" + "".join(rows))
    asked = ask("predict", "x.csv", "--json", "--no-check")
    assert "the model is fixed on the first half of the rows (--train-size 0.5)" in asked.err
    cp = ConformalHMM(train_size=0.5, random_state=0).fit(seen[:2000], [*map(str, states[:2000])])
    found = cp.predict_set(seen[2000:])
    told = json.loads(asked.out)["sequences"]
    assert [tuple(one["sequence"]) for one in told] == list(found)[: len(told)]


def test_is_slow_is_monotone_in_states_steps_and_rows():
    for shared in (True, False):
        slow = [
            is_slow(n, h, t, shared, None) for n in (5, 40) for h in (2, 3) for t in (100, 10**6)
        ]
        for first, second in ((0, 1), (0, 2), (0, 4), (2, 3), (4, 6), (6, 7)):
            assert slow[first] <= slow[second]
    assert not is_slow(300, 1, 10**6, False, None)
