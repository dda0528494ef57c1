"""The checks of an emission and of a model."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.conformal import ConformalHMM
from definetti.data.history import padded
from definetti.emissions import Emission
from definetti.models import HMM, Model
from definetti.testing.exactness import (
    STATES,
    Renamed,
    check_at_once,
    check_object,
    check_two,
    check_uniform,
    make_predictor,
    quiet,
    same,
)


def check_emission(emission: Emission, observations: Sequence[Any]) -> None:
    """Check that an emission depends on sums alone, and that a fixed one does not change.

    Parameters
    ----------
    emission : an object that derives from `definetti.emissions.Emission`
    observations : two or three that it reads, None for a missing one

    Examples
    --------
    >>> from definetti.emissions import Poisson
    >>> check_emission(Poisson(), [0, 3, None])
    """
    check_object(emission, Emission)
    check_two(observations, "observations")
    rng = np.random.default_rng(0)
    values = [observations[k] for k in rng.integers(0, len(observations), 24)]
    values[: len(observations)] = observations
    states = rng.integers(0, 2, len(values))
    whole = _judge(emission, values, states, values)
    assert whole.shape == (len(values), 2), (
        f"log_likelihood has shape {whole.shape} for {len(values)} observations and 2 states; "
        "return codes.shape + (n_states,)"
    )
    gaps = [k for k, value in enumerate(values) if value is None]
    assert not whole[gaps].any(), "a missing observation, code −1, must have log-likelihood 0"
    order = rng.permutation(len(values))
    shuffled = _judge(emission, [values[k] for k in order], states[order], values)
    assert same(whole, shuffled), (
        "the estimate depends on the order of observations, or on which was met first; let it "
        "depend on their sums, state by state, alone"
    )
    cut = len(values) // 2
    table, first = emission.encode(values[:cut], None, "observations")
    early = emission.statistics(table, first, states[:cut], 1 + states.max())
    table, second = emission.encode(values[cut:], table, "observations")
    late = emission.statistics(table, second, states[cut:], 2)
    logs = emission.log_likelihood(
        table, padded(early, *late.shape) + late, np.concatenate([first, second])
    )
    assert same(whole, logs), "statistics of two segments must add up to those of both"
    if not emission.ordered:
        swapped = _judge(emission, values, 1 - states, values)
        assert same(whole[:, ::-1], swapped), (
            "states swap names and their likelihoods do not: set `ordered = True` if columns are "
            "states by their order, else treat all states alike"
        )
    _check_fixed(emission, observations, states, values)
    shown = tuple(observations[:2])
    refitted = make_predictor(HMM(emission=emission), "path", "returns")
    check_uniform(Renamed(refitted, (0, 1), shown), 3, 1, "the emission")
    fixed = make_predictor(_trained(emission, shown[0]), "path", "spaced")
    check_uniform(Renamed(fixed, (0, 1), shown), 3, 2, "the fixed emission", seen=1)
    for share in (None, 20):  # refitted, and fixed
        own = ConformalHMM(HMM(emission=emission), "path", "spaced", train_size=share,
                           states=list(STATES), random_state=0)  # fmt: skip
        check_at_once(own, "the emission", observations)


def _judge(emission: Emission, values: Any, states: Any, judged: Any) -> FloatArray:
    table, codes = emission.encode(values, None, "observations")
    statistics = emission.statistics(table, codes, states, 2)
    table, wanted = emission.encode(judged, table, "observations")
    shape = emission.statistics(table, codes[:0], states[:0], 2).shape
    return emission.log_likelihood(table, padded(statistics, *shape), wanted)


def _check_fixed(emission: Emission, observations: Any, states: Any, values: list[Any]) -> None:
    """Check that later observations do not change a fixed emission."""
    some = [value for value in values if value is None or value == observations[0]]
    labels = states[: len(some)]
    table, codes = emission.encode(some, None, "observations")
    fixed = emission.fix(table, codes, labels, STATES)
    statistics = fixed.statistics(table, codes, labels, 2)

    def judge(table: Any) -> FloatArray:
        shape = fixed.statistics(table, codes[:0], labels[:0], 2).shape
        return fixed.log_likelihood(table, padded(statistics, *shape), codes)

    before = judge(table)
    grown, _ = fixed.encode(list(observations), table, "observations")
    assert same(before, judge(grown)), (
        "a law that was fixed changes when the table of observations grows; leave `fix` out, or "
        "return a law to which what else was observed does not matter"
    )


def _trained(emission: Emission, value: Any) -> Model:
    """Return a model that is fixed on a segment with a single value."""
    states = [0, 0, 1, 1, 0, 1, 0]
    with quiet():
        fitted = ConformalHMM(HMM(emission=emission), train_size=6, states=[0, 1])
        return fitted.fit([None if state else value for state in states], states).model_


def check_model(model: Model, observations: Sequence[Any], states: Sequence[Hashable]) -> None:
    """Check that a model's estimates are functions of statistics that rearrangements share.

    Parameters
    ----------
    model : an object that derives from `definetti.models.Model`
    observations : two symbols that it reads
    states : its two states

    Examples
    --------
    >>> from definetti import given_hmm
    >>> model = given_hmm([[0.9, 0.1], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]], ["calm", "busy"])
    >>> check_model(model, [0, 1], ["calm", "busy"])
    """
    check_object(model, Model)
    check_two(observations, "observations")
    check_two(states, "states")
    model.check()
    # The reference is counted, not drawn, whatever the model reads.
    symmetry = "spaced" if model.fixed else "returns"
    predictor = Renamed(
        make_predictor(model, "filter", symmetry), tuple(states), tuple(observations)
    )
    check_uniform(predictor, 3, 1, "the model")
    if model.fixed:
        check_uniform(predictor, 3, 2, "the fixed model", seen=1)
        check_uniform(predictor, 4, 2, "the fixed model")
