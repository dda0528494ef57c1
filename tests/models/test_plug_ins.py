"""Models and emissions written from their contracts alone rank as the built-in ones do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from definetti import HMM, ConformalHMM
from definetti.emissions import Categorical
from definetti.models import Model
from definetti.models.hmm import Parameters


@dataclass(frozen=True)
class Frequencies(Model):
    """Relative frequencies, by what `Model.estimate` is given and nothing else."""

    prior: float = 0.5

    @property
    def emission_(self) -> Categorical:
        return Categorical(self.prior)

    def estimate(self, completion: Any, table: Any, statistics: Any, labels: Any) -> Any:
        added = self.emission_.statistics(
            table, completion.observations, completion.states, len(labels)
        )
        assert statistics.shape == added.shape
        counts = completion.pooled_transitions + self.prior
        transition = counts / counts.sum(axis=1, keepdims=True)
        return Parameters(transition, self.emission_, table, statistics + added, labels)


@dataclass(frozen=True)
class Doubled(Categorical):
    """A law that derives from a built-in one, and judges otherwise."""

    def log_likelihood(self, table: Any, statistics: Any, codes: Any) -> Any:
        return 2 * super().log_likelihood(table, statistics, codes)


@pytest.mark.parametrize("lengths", [None, [5, 7], [4, 4, 4]])
def test_a_model_of_counts_ranks_as_the_built_in_one(lengths):
    x, y = list("ssttstssttst"), list("aabaabbabaab")
    ours, theirs = (
        ConformalHMM(model, states=["s", "t", "u"], random_state=0).fit(y, x, lengths)
        for model in (HMM(), Frequencies())
    )
    for new in (["a"], ["b", "a"], ["c", "a"]):  # the last with a symbol that is new
        assert ours.predict_ranks(new) == theirs.predict_ranks(new)


def test_a_symbol_that_is_new_to_a_history_of_one_symbol():
    ours, theirs = (
        ConformalHMM(model, states=["s", "t"], random_state=0).fit(list("aaa"), list("sss"))
        for model in (HMM(), Frequencies())
    )
    assert ours.predict_ranks(["b"]) == theirs.predict_ranks(["b"])
    assert ours.p_value(["b"], ["t"]) == theirs.p_value(["b"], ["t"])


def test_a_state_that_nobody_declared():
    ours, theirs = (
        ConformalHMM(model, random_state=0).fit(list("abab"), list("stst"))
        for model in (HMM(), Frequencies())
    )
    assert ours.p_value(["c"], ["new"]) == theirs.p_value(["c"], ["new"])


@pytest.mark.parametrize("train_size", [None, 0.5])
def test_a_derived_law_is_judged_by_its_own_likelihood(train_size):
    rng = np.random.default_rng(0)
    x = np.repeat(rng.integers(2, size=40), 3).tolist()
    y = [["a", "b", "c"][(state + int(rng.integers(2))) % 3] for state in x]
    ours, derived = (
        ConformalHMM(HMM(emission=law), train_size=train_size, random_state=0).fit(y, x)
        for law in (Categorical(), Doubled())
    )
    scores = [
        one.predict_sets([[a, b] for a in "abc" for b in "abc"], 0.5).scores
        for one in (ours, derived)
    ]
    assert not np.allclose(*scores)
