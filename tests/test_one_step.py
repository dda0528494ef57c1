"""The table of all p-values one step ahead, against the estimator and against `ranks`."""

import numpy as np
import pytest

from definetti import ConformalHMM
from definetti.one_step import p_value_table, step_ranks
from definetti.ranks.pvalue import ranks
from definetti.simulate import weather


@pytest.mark.parametrize("score", ["path", "filter", "band"])
@pytest.mark.parametrize("symmetry", ["spaced", "returns"])
@pytest.mark.parametrize("length", [12, 40, 300])
def test_the_table_is_that_of_the_estimator(length, symmetry, score):
    y, x = weather(length, random_state=length)
    y[length // 2 + 1] = None
    cp = ConformalHMM(train_size=0.5, symmetry=symmetry, score=score).fit(y, x)
    table = p_value_table(cp)
    assert table.shape == (len(cp.symbols_), len(cp.states_))
    for symbol, row in zip(cp.symbols_, table, strict=True):
        everything = cp.predict_p([symbol])
        for state, p in zip(cp.states_, row, strict=True):
            assert p == everything.p_value([state])


def test_ranks_of_cells_are_those_of_the_windows_they_stand_for():
    rng = np.random.default_rng(0)
    for _ in range(50):
        counts = rng.poisson(0.7, (3, 3, 4))
        grid = rng.integers(0, 6, (3, 3, 4))
        scores = np.where(grid == 5, np.inf, grid + rng.integers(0, 3, grid.shape) * 2.0**-30)
        greater, equal, total = step_ranks(counts, scores)
        for i in range(3):
            past = counts[:, i] > 0
            found = ranks(scores[:, i][past], counts[:, i][past], scores[:, i].ravel(), True)
            assert greater[:, i].ravel().tolist() == [rank.greater for rank in found]
            assert equal[:, i].ravel().tolist() == [rank.equal for rank in found]
            assert {rank.total for rank in found} == {total[i]}


@pytest.mark.parametrize(
    ("params", "message"),
    [({}, "train_size"), ({"train_size": 0.5, "symmetry": "full"}, "spaced")],
)
def test_where_there_is_no_table(params, message):
    cp = ConformalHMM(**params).fit(*weather(40, random_state=0))
    with pytest.raises(ValueError, match=message):
        p_value_table(cp)
