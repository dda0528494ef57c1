"""The filter and the smoother against hmmlearn."""

from __future__ import annotations

import numpy as np
from hmmlearn import _hmmc
from hmmlearn.hmm import CategoricalHMM
from rich.console import Console

from benchmarks.models import Floats, draw_sample, random_model
from benchmarks.tables import format_goal, format_ratio, format_seconds, make_table, show_table
from benchmarks.timing import race
from definetti.data.history import Windows
from definetti.emissions import Categorical
from definetti.models.hmm import Parameters

STATES, SYMBOLS, STEPS, ROUNDS = 5, 5, 100_000, 60
GOAL = 3


def run(console: Console) -> None:
    model = random_model(STATES, SYMBOLS, seed=0)
    data = draw_sample(model, STEPS + 1, seed=1)
    start, symbols = data.states[:1], data.observations[1:]
    windows = Windows(start, data.states[None, 1:], symbols[None])
    theirs, ours = _make_theirs(*model, int(start[0])), _make_ours(*model)

    def our_filter() -> Floats:
        return ours.filtering(windows)

    def our_smoother() -> Floats:
        return ours.smoothing(windows)

    def their_filter() -> Floats:
        likelihood = theirs._compute_likelihood(symbols[:, None])
        _, scaled, _ = _hmmc.forward_scaling(theirs.startprob_, theirs.transmat_, likelihood)
        return np.asarray(scaled)

    def their_smoother() -> Floats:
        return np.asarray(theirs.predict_proba(symbols[:, None]))

    np.testing.assert_allclose(our_filter()[0], their_filter(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(our_smoother()[0], their_smoother(), rtol=0, atol=1e-12)

    made = make_table(
        f"Filter and smoother, {STATES} states × {STEPS:,} steps",
        "from symbols to probabilities",
        "definetti",
        "hmmlearn",
        "ratio",
        "goal",
    )
    sides = {"filter": (our_filter, their_filter), "smoother": (our_smoother, their_smoother)}
    for name, pair in sides.items():
        mine, others = race(*pair, rounds=ROUNDS)
        ratio = others / mine
        made.add_row(
            name,
            format_seconds(mine),
            format_seconds(others),
            format_ratio(ratio),
            format_goal(ratio, GOAL),
        )
    show_table(
        console,
        made,
        "hmmlearn has no filter of its own: its likelihoods and its compiled forward pass are "
        "timed, without the checks of its estimator.",
        'Its smoother is predict_proba, with implementation="scaling". Results agree to 1e-12.',
    )


def _make_ours(transition: Floats, emission: Floats) -> Parameters:
    """Make an estimate of a known model: probabilities are counts that need no prior."""
    law = Categorical(prior=0.0)
    table, _ = law.encode(range(emission.shape[1]), None, "symbols")
    return Parameters(transition, law, table, emission, tuple(range(len(transition))))


def _make_theirs(transition: Floats, emission: Floats, start: int) -> CategoricalHMM:
    model = CategoricalHMM(n_components=len(transition), implementation="scaling")
    model.startprob_ = transition[start]  # the state before the first step is known
    model.transmat_ = transition
    model.emissionprob_ = emission
    model.n_features = emission.shape[1]
    return model
