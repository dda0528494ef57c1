"""The public checks: all that the package has passes them, and what is wrong does not."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.products import some_slow

from definetti import HMM, ConformalHMM, given_hmm
from definetti.emissions import Categorical, Emission, Gaussian, Mixed
from definetti.models import Model
from definetti.scores import Score
from definetti.symmetry import BlockGroup, Pairs, Reference, Returns, Spaced, Symmetry
from definetti.symmetry.block_windows import cut_at_pair
from definetti.symmetry.blocks import spaced_ends
from definetti.testing import (
    check_emission,
    check_memory,
    check_model,
    check_score,
    check_symmetry,
)

SYMBOLS = ["a", "b"]


@pytest.mark.parametrize("name", some_slow(Score.named, set(Score.named) - {"emission"}))
def test_every_score(name):
    check_score(Score.named[name]())


@pytest.mark.parametrize("name", some_slow(Symmetry.named, ["full", "pairs", "returns", "spaced"]))
def test_every_symmetry(name):
    check_symmetry(Symmetry.named[name]())


@pytest.mark.slow
@pytest.mark.parametrize("blocks", ["returns", "pairs"])
def test_a_group_of_ones_own(blocks):
    check_symmetry(BlockGroup([[0, 1], [1, 0]], blocks))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("categorical", "text") else pytest.mark.slow)
        for name, one in Emission.named.items()
        if one.example
    ],
)
def test_every_emission(name):
    check_emission(Emission.named[name](), Emission.named[name].example)


@pytest.mark.parametrize(
    "model",
    [
        HMM(),
        HMM(prior=0),
        pytest.param(
            given_hmm(
                [[0.9, 0.1], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]], ["calm", "busy"], SYMBOLS
            ),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["counted", "no prior", "given"],
)
def test_every_kind_of_model(model):
    check_model(model, SYMBOLS, ["calm", "busy"])


# Plug-ins that are wrong, each in one way.


class ByCodes(Score):
    """Computes with codes as if they were numbers."""

    def __call__(self, estimate, windows):
        return windows.observations.sum(axis=1).astype(float)


class Remembering(Score):
    """Finds strange what it has not met before."""

    def __init__(self):
        self.met = set()

    def __call__(self, estimate, windows):
        rows = [tuple(row) for row in windows.states.tolist()]
        found = [float(row not in self.met) for row in rows]
        self.met.update(rows)
        return np.array(found)


class InBatches(Score):
    """Judges a window by those it comes with."""

    def __call__(self, estimate, windows):
        score = -estimate.log_posterior(windows)
        return score - score.mean()


@pytest.mark.parametrize(
    ("score", "message"),
    [(ByCodes(), "codes"), (Remembering(), "keep nothing"), (InBatches(), "scored with it")],
    ids=["codes", "memory", "batches"],
)
def test_wrong_scores_are_found_out(score, message):
    with pytest.raises(AssertionError, match=message):
        check_score(score)


@dataclass
class Plain(Score):
    """A dataclass like any other, which cannot be hashed."""

    weight: float = 2.0

    def __call__(self, estimate, windows):
        return -self.weight * estimate.log_posterior(windows)


@pytest.mark.slow
def test_a_score_need_not_be_hashable():
    with pytest.raises(TypeError, match="unhashable"):
        hash(Plain())
    check_score(Plain())


def test_a_score_that_knows_no_late_steps_names_those_that_do():
    with pytest.raises(ValueError, match=r"use one of .*, or derive it from") as refused:
        Plain().with_lag(1)
    late = [name for name, one in Score.named.items() if one.with_lag is not Score.with_lag]
    assert late
    assert all(repr(name) in str(refused.value) for name in late)


@dataclass(frozen=True)
class AtPairs(Symmetry):
    """Cuts at pairs, and says of itself only what it must."""

    exact = True

    def reference(self, completion, generator):
        return Pairs().all_orders(cut_at_pair(completion), completion.horizon, generator)


class Blind(AtPairs):
    """Says that it does not look at observations, and does."""

    reads_observations = False


class Sharing(Returns):
    """Gives one name to candidates that are compared with different windows."""

    def orbit(self, completion):
        return ()


class Dropping(Returns):
    """Leaves the candidate out of what it is ranked among."""

    def reference(self, completion, generator):
        found = super().reference(completion, generator)
        return Reference(found.windows, found.weights, joins=True)


@pytest.mark.slow
def test_a_symmetry_that_says_what_it_must_is_safe():
    """A step that is not observed yet might be taken for a gap: it is refused."""
    check_symmetry(AtPairs())
    y, x = ["a", None, "b", "a", None, "b"], ["calm", "busy"] * 3
    with pytest.raises(ValueError, match="not observed yet"):
        ConformalHMM(symmetry=AtPairs()).fit(y, x).predict_set(horizon=1)


@pytest.mark.parametrize(
    ("symmetry", "message"),
    [
        pytest.param(Blind(), "reads_observations", marks=pytest.mark.slow),
        (Sharing(), "share a name"),
        pytest.param(Dropping(), "not valid", marks=pytest.mark.slow),
    ],
    ids=["gaps", "names", "ranks"],
)
def test_wrong_symmetries_are_found_out(symmetry, message):
    with pytest.raises(AssertionError, match=message):
        check_symmetry(symmetry)


@dataclass(frozen=True)
class Lately(Spaced):
    """Keeps the blocks that end within the last few steps: which do depends on their order."""

    steps: int = 100

    def reference(self, completion, generator):
        ends = super().reference(completion, generator).ends
        return Reference.past(ends[ends >= len(completion.history) - self.steps])


class LatelyWithExamples(Lately):
    """Says by which parameters it is found out."""

    examples = ({"steps": 3},)


@pytest.mark.parametrize(
    "symmetry",
    [
        Lately(1),
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in (Lately(2), Lately(3), Lately(5), LatelyWithExamples())
        ),
    ],
    ids=repr,
)
def test_a_symmetry_that_looks_at_the_clock_is_found_out(symmetry):
    with pytest.raises(AssertionError, match="not valid"):
        check_symmetry(symmetry)


@dataclass(frozen=True)
class Gapped(Spaced):
    """Leaves some steps between the windows; exactly valid."""

    gap: int = 1

    def reference(self, completion, generator):
        visits = completion.history.visits(completion.last)
        length = len(completion.history) - self.gap
        return Reference.past(spaced_ends(visits, length, completion.horizon + self.gap))


@pytest.mark.slow
def test_a_symmetry_that_never_compares_is_not_checked():
    check_symmetry(Gapped(3))
    with pytest.raises(AssertionError, match="never compares"):
        check_symmetry(Gapped(4))


class FourMethods(Emission):
    """Another emission, of which it has what the contract demands and no more."""

    def __init__(self, emission):
        self.emission = emission

    def encode(self, observations, table, name):
        return self.emission.encode(observations, table, name)

    def decode(self, table, codes):
        return self.emission.decode(table, codes)

    def statistics(self, table, codes, states, n_states):
        return self.emission.statistics(table, codes, states, n_states)

    def log_likelihood(self, table, statistics, codes):
        return self.emission.log_likelihood(table, statistics, codes)


class Growing(FourMethods):
    """A fixed law that spreads over all that was ever observed."""

    def fix(self, table, codes, states, labels):
        return self


class Ordered(Gaussian):
    """Treats the first state in a way of its own."""

    def log_likelihood(self, table, statistics, codes):
        logs = super().log_likelihood(table, statistics, codes)
        logs[codes >= 0, 0] += 1.0
        return logs


class FromTheFirst(Gaussian):
    """Leans on what was observed first."""

    def log_likelihood(self, table, statistics, codes):
        first = float(table.rows.take(np.array([0]))[0, 0])
        return super().log_likelihood(table, statistics, codes) * (2.0 + first)


@pytest.mark.parametrize(
    ("emission", "observations", "message"),
    [
        (Growing(Categorical()), ["a", "b", None], "grows"),
        (Ordered(), [0.5, 1.5, None], "swap names"),
        (FromTheFirst(), [0.5, 1.5, None], "order"),
    ],
    ids=["growing", "ordered", "first"],
)
def test_wrong_emissions_are_found_out(emission, observations, message):
    with pytest.raises(AssertionError, match=message):
        check_emission(emission, observations)


@pytest.mark.slow
@pytest.mark.parametrize("train_size", [None, 20])
def test_four_methods_are_enough(train_size):
    """Rolling past new symbols gives the p-values of a fresh fit, and those of a fixed law stay."""
    columns = Mixed({0: Categorical(), 1: Gaussian()})
    check_emission(FourMethods(columns), [("a", 0.5), ("b", 1.5), None])
    rng = np.random.default_rng(0)
    symbols = ["abc"[k] for k in rng.integers(0, 2 + np.arange(60) // 45)]
    y = list(zip(symbols, rng.normal(size=60).round(2).tolist(), strict=True))
    x = [["calm", "busy"][k] for k in rng.integers(0, 2, 60)]
    model = HMM(emission=FourMethods(columns))
    rolled = ConformalHMM(model, train_size=train_size, random_state=0).fit(y[:40], x[:40])
    for k in range(40, 59):
        fresh = ConformalHMM(model, train_size=train_size, random_state=0).fit(y[:k], x[:k])
        assert rolled.predict_ranks(y[k : k + 1]) == fresh.predict_ranks(y[k : k + 1])
        rolled.partial_fit(y[k : k + 1], x[k : k + 1])


class FromTheHistory(Model):
    """A model that looks at the order of the labels."""

    @property
    def emission_(self):
        return Categorical()

    def estimate(self, completion, table, statistics, labels):
        found = HMM().estimate(completion, table, statistics, labels)
        if completion.history.states[1] == 0:
            return found
        return replace(found, transition=found.transition[::-1])


@pytest.mark.slow
def test_a_wrong_model_is_found_out():
    with pytest.raises(AssertionError, match="the model is not valid"):
        check_model(FromTheHistory(), SYMBOLS, ["calm", "busy"])


@pytest.mark.parametrize("check", [check_score, check_symmetry, check_memory])
def test_what_fulfils_no_contract(check):
    with pytest.raises(AssertionError, match="does not derive"):
        check("full")


@pytest.mark.parametrize("emission", ["poisson", "gaussian", "bernoulli", "categorical"])
def test_a_model_that_is_right_is_not_refused(emission):
    check_model(HMM(emission=emission), [0, 1], ["calm", "busy"])


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: check_score(ByCodes), "ByCodes is a class; give an object of it"),
        (lambda: check_emission(Categorical(), ["a"]), "observations must be two or more"),
        (lambda: check_model(HMM(), SYMBOLS, ["calm"]), "states must be two or more"),
    ],
)
def test_what_cannot_be_checked_is_said(check, message):
    with pytest.raises(AssertionError, match=message):
        check()
