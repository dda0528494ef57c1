"""No index from a user's object reaches a compiled kernel unchecked.

Kernels do not look whether an index is within bounds: a wrong one ends the process, or reads what
is there. So each of these is refused by a ValueError before it gets there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from definetti import HMM, ConformalHMM, given_hmm
from definetti.check import check
from definetti.data import Completion, History, Windows
from definetti.emissions import Categorical
from definetti.martingales import Martingale, PlugIn
from definetti.memory import Memory
from definetti.models import Marginals, Model
from definetti.scores import Path, Score
from definetti.simulate import sample, weather
from definetti.symmetry import (
    BlockGroup,
    Reference,
    Remembering,
    Symmetry,
    TogetherDepartures,
)
from definetti.trellis import Trellis, completions, count, count_bounds, headroom, members, nodes

Y, X = weather(80, random_state=1)
FAR = 10**9
FIXED = given_hmm(
    [[0.8, 0.2], [0.3, 0.7]], [[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]],
    states=["sun", "rain"], symbols=["hat", "umbrella", "nothing"],
)  # fmt: skip


def predict(horizon: int = 2, **settings: Any) -> Any:
    cp = ConformalHMM(random_state=0, **settings).fit(Y[:60], X[:60])
    return cp.predict_p(Y[60 : 60 + horizon])


def evaluate(**settings: Any) -> Any:
    cp = ConformalHMM(random_state=0, **settings).fit(Y[:60], X[:60])
    return cp.evaluate(Y[60:], X[60:], horizon=2)


# Symmetries with parameters.


@pytest.mark.parametrize(
    ("begins", "owners"),
    [
        ((0, FAR), (0, 1)),
        ((0, 2**70), (0, 1)),
        ((0, -5), (0, 1)),
        ((-FAR, 5), (0, 1)),
        ((3, 9), (0, 1)),
        ((0, 9), (0,)),
        ((0, 9), (0, 2**70)),
        ((0, 9), (0, -1)),
        ((0.0, 9.5), (0, 1)),
        ((), ()),
    ],
)
@pytest.mark.parametrize("wrap", [lambda one: one, lambda one: Remembering(one, HMMMemory())])
@pytest.mark.parametrize("use", [predict, evaluate])
def test_cuts_of_several_series(
    begins: Any, owners: Any, wrap: Callable[[Any], Any], use: Callable[..., Any]
) -> None:
    symmetry = wrap(TogetherDepartures(begins, owners))
    with pytest.raises(ValueError, match=r"begins does not cut|owners must be"):
        use(model=FIXED, symmetry=symmetry)


def test_cuts_that_a_history_is_too_short_for() -> None:
    symmetry = TogetherDepartures((0, 50), (0, 1))
    history = History(2)
    history.append(np.array([0, 1, 0]), np.array([0, 0, 0]))
    completion = Completion(history, np.array([0]), np.array([0]), 2)
    with pytest.raises(ValueError, match="begins does not cut a history of 3 steps"):
        symmetry.reference(completion, np.random.default_rng)
    with pytest.raises(ValueError, match="begins does not cut a history of 3 steps"):
        symmetry.forward_chain(history.states, 1)


@pytest.mark.parametrize("as_function", [False, True])
def test_permutations_that_change_after_they_were_checked(as_function: bool) -> None:
    group = [[0, 1], [1, 0]]
    symmetry = BlockGroup((lambda _: group) if as_function else group)
    group[1][:] = [FAR, -FAR]
    if as_function:
        with pytest.raises(ValueError, match="not a permutation"):
            predict(symmetry=symmetry)
    else:
        assert predict(symmetry=symmetry) == predict(symmetry=BlockGroup([[0, 1], [1, 0]]))


# Symmetries of one's own.


@dataclass(frozen=True)
class Hostile(Symmetry):
    """Returns whatever it was given."""

    found: Any = None
    taught: Any = None

    exact = True
    reads_observations = False

    def reference(self, completion: Any, generator: Any) -> Reference:
        return self.found(completion) if self.found else Reference.alone(completion)

    def training_subset(self, completion: Any) -> Any:
        return self.taught(completion) if self.taught else None


class Everything(Hostile):
    """The same, which a refitted model learns all from."""

    training_subset = Symmetry.training_subset


def windows(start: Any = (0, 1), states: Any = 0, codes: Any = 0) -> Windows:
    return Windows(
        np.array(start), np.full((2, 2), states, dtype=int), np.full((2, 2), codes, dtype=int)
    )


REFERENCES: dict[str, Callable[[Any], Reference]] = {
    "an end beyond": lambda c: Reference.past(np.array([FAR])),
    "an end below zero": lambda c: Reference.past(np.array([-FAR])),
    "an end without a state before": lambda c: Reference.past(np.array([1])),
    "ends that are no numbers": lambda c: Reference.past(np.array([3.5])),
    "ends in a square": lambda c: Reference.past(np.array([[5, 6], [7, 8]])),
    "neither windows nor ends": lambda c: Reference(None, np.ones(1, dtype=int), True),
    "a start beyond": lambda c: Reference.drawn(windows(start=(0, FAR))),
    "a state beyond": lambda c: Reference.drawn(windows(states=FAR)),
    "a state below zero": lambda c: Reference.drawn(windows(states=-FAR)),
    "a symbol beyond": lambda c: Reference.drawn(windows(codes=FAR)),
    "a symbol below zero": lambda c: Reference.drawn(windows(codes=-FAR)),
    "windows too short": lambda c: Reference.drawn(
        Windows(np.zeros(2, int), np.zeros((2, 1), int), np.zeros((2, 1), int))
    ),
    "too few weights": lambda c: Reference(windows(), np.ones(1, dtype=int), True),
}


@pytest.mark.parametrize("kind", REFERENCES)
@pytest.mark.parametrize("model", [HMM(), FIXED], ids=["refitted", "fixed"])
@pytest.mark.parametrize("score", ["path", "filter"])
def test_references(kind: str, model: Any, score: str) -> None:
    symmetry = Everything(found=REFERENCES[kind])
    with pytest.raises(ValueError, match="of a reference must"):
        predict(model=model, symmetry=symmetry, conformity_score=score)
    with pytest.raises(ValueError, match="of a reference must"):
        predict(model=model, symmetry=Remembering(symmetry, HMMMemory()), conformity_score=score)


@pytest.mark.parametrize("times", [[FAR], [-FAR], [0, 60], [0.5]])
@pytest.mark.parametrize("horizon", [1, 4], ids=["one by one", "together"])
def test_steps_to_learn_from(times: Any, horizon: int) -> None:
    symmetry = Hostile(taught=lambda _: np.array(times))
    with pytest.raises(ValueError, match="steps to learn from must be"):
        predict(horizon, symmetry=symmetry, model=HMM())


# Memories of one's own.


@dataclass(frozen=True)
class HMMMemory(Memory):
    """The state alone, and if asked for something else in its place."""

    put: int | None = None
    short: bool = False

    reads_observations = False

    def begin(self, state: int, observation: int) -> Any:
        return np.array([state, 0])

    def follow(self, tokens: Any, states: Any, observations: Any) -> Any:
        heads = states if self.put is None else np.full(len(states), self.put)
        rows = np.column_stack([heads, np.zeros(len(states), dtype=np.int64)])
        return rows[:0] if self.short else rows

    @property
    def assumption(self) -> str:
        return "the present state"


@pytest.mark.parametrize("memory", [HMMMemory(FAR), HMMMemory(-FAR), HMMMemory(short=True)])
@pytest.mark.parametrize("symmetry", ["full", "spaced", "departures"])
def test_memories(memory: Memory, symmetry: str) -> None:
    for use in (predict, evaluate):
        with pytest.raises((ValueError, IndexError), match=r"memory must give|index 0 is out"):
            use(memory=memory, symmetry=symmetry, model=FIXED)
    with pytest.raises((ValueError, IndexError), match=r"memory must give|index 0 is out"):
        check(Y, X, memory=memory, n_resamples=9)


# Emissions, models and scores of one's own.


@dataclass(frozen=True)
class Odd(Categorical):
    """Symbols, of which something is wrong."""

    coded: Any = None
    likely: Any = None

    def encode(self, observations: Any, table: Any, name: str) -> Any:
        table, codes = super().encode(observations, table, name)
        return table, self.coded(codes) if self.coded else codes

    def log_likelihood(self, table: Any, statistics: Any, codes: Any) -> Any:
        found = super().log_likelihood(table, statistics, codes)
        return self.likely(found) if self.likely else found

    def fix(self, table: Any, codes: Any, states: Any, labels: Any) -> Any:
        return self


@pytest.mark.parametrize(
    "coded",
    [
        lambda codes: codes + FAR,
        lambda codes: codes - FAR,
        lambda codes: codes / 2,
        lambda codes: codes[:, None],
    ],
)
def test_codes_of_an_emission(coded: Any) -> None:
    with pytest.raises(ValueError, match="codes of the emission must"):
        predict(model=HMM(emission=Odd(coded=coded)))


@pytest.mark.parametrize("settings", [{}, {"train_size": 30}, {"symmetry": "full"}], ids=str)
@pytest.mark.parametrize("score", ["path", "filter", "smoother", "band", "joint"])
@pytest.mark.parametrize("likely", [lambda logs: logs[..., :1], lambda logs: logs[:1]])
def test_likelihoods_of_an_emission(settings: dict[str, Any], score: str, likely: Any) -> None:
    model = HMM(emission=Odd(likely=likely))
    with pytest.raises(ValueError, match=r"log_likelihood must|observations must"):
        predict(model=model, conformity_score=score, **settings)


@dataclass(frozen=True)
class OddModel(Model):
    """Probabilities of another shape than asked for."""

    change: Any

    fixed = True

    @property
    def emission_(self) -> Any:
        return Categorical()

    def estimate(self, completion: Any, table: Any, statistics: Any, labels: Any) -> Marginals:
        def give(asked: Windows) -> Any:
            return self.change(np.full((*asked.states.shape, len(labels)), 1 / len(labels)))

        return Marginals(give, lambda codes: table[codes], labels)


@pytest.mark.parametrize("score", ["path", "filter", "smoother", "band", "joint"])
@pytest.mark.parametrize(
    "change", [lambda p: p[..., :1], lambda p: p[:1], lambda p: p[:, :1], lambda p: p[0]]
)
def test_probabilities_of_a_model(score: str, change: Any) -> None:
    with pytest.raises(ValueError, match="must"):
        predict(model=OddModel(change), conformity_score=score, states=["sun", "rain"])


@dataclass(frozen=True)
class OddScore(Path):
    """The path score, with short ways that have the wrong shape."""

    drawn: Any = None

    def trellis(self, estimate: Any, window: Any) -> Any:
        found = super().trellis(estimate, window)
        return self.drawn(found) if self.drawn and found is not None else found


@pytest.mark.parametrize(
    "drawn",
    [
        lambda t: t._replace(first=t.first[:1]),
        lambda t: t._replace(moves=t.moves[:, :, :1]),
        lambda t: t._replace(moves=np.tile(t.moves, (1, 3, 1))),
        lambda t: t._replace(first=np.append(t.first, 0), moves=np.zeros((len(t.moves), 3, 3))),
    ],
    ids=range(4),
)
def test_trellises_of_a_score(drawn: Any) -> None:
    cp = ConformalHMM(
        FIXED, conformity_score=OddScore(drawn=drawn), max_candidates=4, random_state=0
    )
    cp.fit(Y[:60], X[:60])
    with pytest.raises(ValueError, match="must have the shape"):
        cp.predict_set(Y[60:65]).steps  # noqa: B018


def test_windows_that_a_score_makes_up() -> None:
    @dataclass(frozen=True)
    class Asks(Score):
        put: int

        def __call__(self, estimate: Any, asked: Windows) -> Any:
            return estimate.log_posterior(asked._replace(states=asked.states * 0 + self.put))

    for place in (FAR, -FAR, 2):
        for model in (HMM(), FIXED):
            with pytest.raises(ValueError, match="states must be whole numbers"):
                predict(model=model, conformity_score=Asks(place), symmetry="spaced")


# Functions and classes that take arrays.


@pytest.mark.parametrize(
    ("states", "observations"),
    [([0, FAR], [0, 0]), ([0, -1], [0, 0]), ([0, 1], [0, -FAR]), ([0, 1], [0]), ([0.5], [0])],
)
def test_histories(states: Any, observations: Any) -> None:
    history = History(2)
    with pytest.raises(ValueError, match="must"):
        history.append(np.array(states), np.array(observations))
    assert len(history) == 0


@pytest.mark.parametrize("state", [FAR, -FAR, 2])
def test_completions(state: int) -> None:
    history = History(2)
    history.append(np.array([0, 1]), np.array([0, 0]))
    completion = Completion(history, np.array([state]), np.array([0]), 2)
    for name in ("transitions", "left"):
        with pytest.raises(ValueError, match="states must be"):
            getattr(completion, name)
    with pytest.raises(ValueError, match="n_states=1"):
        Completion(history, np.array([0]), np.array([0]), 1).left  # noqa: B018


GOOD = Trellis(np.array([0.0, 1.0]), np.array([[[0.0, 2.0], [3.0, 0.5]]]))
LIMITS = np.array([5.0, 2.0])


@pytest.mark.parametrize(
    "trellis",
    [
        GOOD._replace(first=np.zeros(1)),
        GOOD._replace(first=np.zeros((2, 2))),
        GOOD._replace(moves=GOOD.moves[:, :, :1]),
        GOOD._replace(moves=np.zeros((1, 3, 2))),
        GOOD._replace(moves=np.zeros((2, 2))),
    ],
    ids=range(5),
)
def test_trellises(trellis: Trellis) -> None:
    for use in (
        lambda: nodes(trellis, LIMITS),
        lambda: headroom(trellis, LIMITS),
        lambda: completions(trellis, LIMITS),
        lambda: trellis.cost(np.array([[0, 1]])),
        lambda: list(members(trellis, 1)),
        lambda: count(trellis, LIMITS, 9),
        lambda: count_bounds(trellis, LIMITS, 9),
    ):
        with pytest.raises(ValueError, match=r"shape|broadcast"):
            use()


def test_paths_and_limits_of_a_trellis() -> None:
    for path in ([[0, FAR]], [[0, -FAR]], [[0, 2]], [[0]], [[0.5, 1]]):
        with pytest.raises(ValueError, match="paths must"):
            GOOD.cost(np.array(path))
    for last in (FAR, -FAR, 2):
        with pytest.raises(ValueError, match="last must"):
            list(members(GOOD, last))
    for limits in (np.zeros(1), np.zeros(3)):
        with pytest.raises(ValueError, match="limits must"):
            nodes(GOOD, limits)
    with pytest.raises(ValueError, match="numbers"):
        count_bounds(GOOD, np.array([np.nan, 2.0]), 9)


def test_laws_to_sample() -> None:
    half, rng = np.full((2, 2), 0.5), np.random.default_rng(0)
    for law in (
        (np.ones(3) / 3, half, half),
        (np.ones(2) / 2, np.full((2, 3), 1 / 3), half),
        (np.ones(2) / 2, half, half[:1]),
        (half, half, half),
    ):
        with pytest.raises(ValueError, match="initial must be"):
            sample(*law, 9, rng)


@pytest.mark.parametrize("name", Martingale.named)
def test_states_of_bets(name: str) -> None:
    bet = Martingale.named[name]()
    bet.state = np.zeros(1)
    with pytest.raises(ValueError, match="state must have the shape"):
        bet.update(0.5)
    bet.restart()
    with pytest.raises(ValueError, match="as many numbers"):
        bet.bet(bet.state, np.full(5, 0.5), np.zeros(1))
    with pytest.raises(ValueError, match="state must have the shape"):
        Martingale.named[name]().bet(np.zeros(1), np.full(1, 0.5), np.zeros(1))


def test_a_bet_whose_settings_change() -> None:
    bet = PlugIn()
    bet.bins = FAR
    with pytest.raises((ValueError, MemoryError)):
        bet.update(0.5)
    for value in (np.nan, -FAR, FAR, np.inf):
        bet = PlugIn()
        bet.bet(bet.state, np.array([value]), np.zeros(1))  # in some bin


@pytest.mark.slow
def test_the_same_with_every_access_of_the_kernels_checked(tmp_path: Any) -> None:
    """All of the above with bounds checked by the compiler: nothing is out of them."""
    if "NUMBA_BOUNDSCHECK" in os.environ:
        pytest.skip("they are")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", __file__],
        env=os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, timeout=3600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5000:]
