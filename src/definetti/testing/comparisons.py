"""The checks of a score, a symmetry and a memory."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from definetti._system.arrays import IntArray
from definetti.conformal import ConformalHMM
from definetti.data.history import Completion, History, Windows
from definetti.emissions import Categorical
from definetti.engine.task import evaluate
from definetti.memory import Memory
from definetti.models import HMM
from definetti.scores import Score
from definetti.symmetry import Symmetry
from definetti.testing.exactness import (
    STATES,
    Renamed,
    check_at_once,
    check_lattice,
    check_object,
    check_rolling,
    check_uniform,
    make_predictor,
    same,
)


def check_score(score: Score) -> None:
    """Check that a score is a function of the model and of each window alone.

    Parameters
    ----------
    score : an object that derives from `definetti.scores.Score`

    Examples
    --------
    >>> from definetti.scores import Joint
    >>> check_score(Joint(order=2))
    """
    check_object(score, Score)
    scored = []
    for states, symbols in product([STATES, STATES[::-1]], [("a", "b"), ("b", "a")]):
        estimate, windows = _windows(states, symbols)
        values = evaluate(score, estimate, windows)
        parts = [Windows(*(part[[k]] for part in windows)) for k in range(len(values))]
        alone = [evaluate(score, estimate, part)[0] for part in parts]
        assert same(values, alone), (
            "a window's score depends on the windows that are scored with it, or on those before; "
            "score each by itself, and keep nothing between calls"
        )
        scored.append(values)
    assert all(same(scored[0], other) for other in scored[1:]), (
        "the score computes with codes as if they were numbers: other codes for the same states "
        "or symbols give other scores; use codes only to look things up"
    )
    for horizon in (1, 2):
        check_uniform(make_predictor(HMM(), score, "returns"), 3, horizon, "the score")
    check_rolling(ConformalHMM(HMM(), score, train_size=20, random_state=0), "score")
    for symmetry in ("spaced", "departures"):
        fixed = ConformalHMM(
            HMM(), score, symmetry, train_size=20, allow_empty=True, random_state=0
        )
        check_at_once(fixed, "the score")
        check_lattice(fixed, "the score")


def _windows(states: tuple[str, ...], symbols: tuple[str, ...]) -> tuple[Any, Windows]:
    """Return an estimate and windows: the same whatever the codes of states and symbols."""
    emission = Categorical()
    table, _ = emission.encode(symbols, None, "observations")
    past = [states.index(state) for state in ("calm", "calm", "busy", "calm", "busy", "busy")]
    _, seen = emission.encode(["a", "b", "b", "a", "b", "b"], table, "observations")
    history = History(2)
    history.append(np.array(past), seen)
    statistics = emission.statistics(table, seen, np.array(past), 2)
    completion = Completion(history, np.array([states.index("calm")]), seen[:1], 2)
    estimate = HMM().estimate(completion, table, statistics, states)
    rows = list(product(("calm", "busy"), repeat=3))
    codes = np.array([[states.index(state) for state in row] for row in rows])
    shown = [symbol for row in product("ab", "ab", "ab") for symbol in row[1:]]
    observed = emission.encode(shown, table, "observations")[1].reshape(-1, 2)
    return estimate, Windows(codes[:, 0], codes[:, 1:], observed)


def check_symmetry(symmetry: Symmetry) -> None:
    """Check that a symmetry keeps what it declares, in every sequence of small models.

    Sequences have four labelled steps, or eight without observations: a parameter that has no
    effect on these is not checked. Give small parameters, such as ``check_symmetry(Latest(1))`` for
    a symmetry of the latest blocks, or list them in its `examples`.

    Parameters
    ----------
    symmetry : an object that derives from `definetti.symmetry.Symmetry`

    Examples
    --------
    >>> from definetti.symmetry import Returns
    >>> check_symmetry(Returns())
    """
    check_object(symmetry, Symmetry)
    _check(symmetry)
    for parameters in symmetry.examples:
        _check(type(symmetry)(**parameters))


def _check(symmetry: Symmetry) -> None:
    for horizon in (1, 2):
        _check_orbits(symmetry, horizon)
    if not symmetry.exact:
        return
    if symmetry.given == "last state":  # others hold by visits, not at a fixed time
        compared = [
            check_uniform(
                make_predictor(HMM(), "filter", symmetry), length, horizon, "the symmetry",
                n_symbols=symbols,
            )
            for length, horizon, symbols in ((4, 1, 2), (3, 2, 2), (8, 1, 1))
        ]  # fmt: skip
        assert any(compared), (
            f"{symmetry!r} never compares a candidate with anything in sequences of up to eight "
            "labelled steps, so that nothing is checked; use smaller parameters"
        )
        if not symmetry.reads_observations:  # unobserved future steps differ from gaps
            plain = make_predictor(HMM(emission=Categorical()), "filter", symmetry)
            what = "reads_observations is False, and the symmetry"
            check_uniform(Renamed(plain, (0, 1), ("a", None)), 3, 2, what, seen=0)
    fixed = ConformalHMM(HMM(), "path", symmetry, train_size=20, random_state=0)
    check_rolling(fixed)
    for predictor in (fixed, ConformalHMM(HMM(), "path", symmetry, random_state=0)):
        check_at_once(predictor, "the symmetry")


def _check_orbits(symmetry: Symmetry, horizon: int) -> None:
    """Check that candidates of one orbit, or with one last state, have the same reference."""
    history = History(2)
    history.append(np.array([0, 1, 0, 0, 1, 1, 0]), np.array([0, 1, 1, 0, 1, 0, 0]))
    seen: dict[Any, Any] = {}
    for states in product(range(2), repeat=horizon):
        completion = Completion(history, np.array(states), np.zeros(horizon, dtype=np.int64), 2)
        reference = symmetry.reference(completion, lambda: np.random.default_rng(0))
        if symmetry.by_last_state:
            assert reference.ends is not None, (
                "by_last_state is True, and the reference has no ends"
            )
        content = _content(reference)
        for key in [symmetry.orbit(completion), *[("last", states[-1])] * symmetry.by_last_state]:
            assert seen.setdefault(key, content) == content, (
                "two candidates share a name (`orbit`, or the last state with by_last_state) and "
                "not their reference; leave `orbit` out, or name all that it depends on"
            )


def _content(reference: Any) -> Any:
    if reference.ends is not None:
        return tuple(reference.ends.tolist())
    rows = np.column_stack([reference.windows.start, *reference.windows[1:]]).tolist()
    weights = reference.weights.tolist()
    return reference.joins, sorted(zip(map(tuple, rows), weights, strict=True))


def check_memory(memory: Memory) -> None:
    """Check that each token follows from the previous one, with the same meaning at all times.

    Parameters
    ----------
    memory : an object that derives from `definetti.memory.Memory`

    Examples
    --------
    >>> from definetti.memory import Age
    >>> check_memory(Age(most=3))
    """
    assert isinstance(memory, Memory), f"{memory!r} does not derive from definetti.memory.Memory"
    for states, seen in _sequences():
        tokens = Memory.trace(memory, states, seen)  # by `begin` and `follow`
        assert same(tokens[:, 0], states), "a token must begin with the code of its state"
        assert same(memory.follow(tokens[:-1], states[1:], seen[1:]), tokens[1:]), (
            "a token depends on more than the one before it and what is new: the same come out "
            "otherwise when they are computed together; keep nothing between calls"
        )
        assert same(memory.trace(states, seen), tokens), "`trace` is not `begin` and then `follow`"
        for cut in (1, len(states) // 2):
            later = memory.trace(states[cut:], seen[cut:], tokens[cut - 1])
            assert same(later, tokens[cut:]), "`trace` after a token is not `follow`"
        other = memory.trace(np.array([2, 0, 1])[states], 1 - seen)
        assert same(_alike(tokens), _alike(other)), (
            "tokens compute with codes as if they were numbers: with other codes for the same "
            "states or symbols, other steps share a token; use codes only to tell them apart"
        )
        for cut in range(1, len(states)):
            alone = memory.trace(states[cut:], seen[cut:])
            assert not (_alike(alone) & ~_alike(tokens[cut:])).any(), (
                "`begin` gives a token that a later step may have, though the past, which is not "
                "known, makes a difference to it; give it a token of its own, as Age does"
            )
        if not memory.reads_observations:
            assert same(tokens, memory.trace(states, 1 - seen)), (
                "reads_observations is False, and tokens depend on observations; leave it out"
            )


def _sequences() -> Any:
    """Yield all short sequences of two states, and longer ones of three; of two symbols."""
    rng = np.random.default_rng(0)
    for states in product(range(2), repeat=6):
        yield np.array(states), rng.integers(0, 2, 6)
    for _ in range(40):
        yield rng.integers(0, 3, 12), rng.integers(0, 2, 12)


def _alike(tokens: IntArray) -> Any:
    """Tell which steps share a token, ``(T, T)``."""
    return (tokens[:, None] == tokens[None]).all(axis=2)
