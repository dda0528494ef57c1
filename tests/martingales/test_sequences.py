"""Confidence sequences: never wrong more often than they say, over all streams and in long ones."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom
from tests.products import some_slow

from definetti.martingales import BetaMixture, ConfidenceSequence, NormalMixture

STEPS = 12
STREAMS = np.array(list(product([0, 1], repeat=STEPS)))


def ever_wrong(sequence, target, streams=STREAMS):
    """Tell for each stream, ``(B, T)``, whether the interval of any time leaves out its target."""
    steps = np.arange(streams.shape[1])
    hits, trials = np.meshgrid(np.append(steps, len(steps)), steps + 1, indexing="ij")
    low, high = sequence.interval(np.minimum(hits, trials), trials)  # each pair of counts once
    found = streams.cumsum(axis=1), steps
    return ((target < low[found]) | (target > high[found])).any(axis=1)


@pytest.mark.parametrize("name", ConfidenceSequence.named)
@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.7])
def test_all_streams_of_one_probability(name, alpha):
    """The probability of ever being wrong, added up over all streams."""
    worst = 0.0
    for q in np.linspace(0.02, 0.98, 49):
        chance = np.where(STREAMS == 1, q, 1 - q).prod(axis=1)
        worst = max(worst, chance @ ever_wrong(ConfidenceSequence.named[name](alpha), q))
    assert worst <= alpha
    if name == "beta_mixture" and alpha >= 0.3:
        assert worst > alpha / 10  # it can fail


@pytest.mark.parametrize("alpha", [0.3, 0.7])
@pytest.mark.parametrize("shift", [0.1, 0.4, 0.9])
def test_all_streams_of_changing_probabilities(alpha, shift):
    """Each probability depends on all before it, and works against the interval."""
    before = np.column_stack([np.zeros(len(STREAMS)), STREAMS.cumsum(axis=1)[:, :-1]])
    share = before / np.maximum(np.arange(STEPS), 1)
    q = np.clip(share + np.where(share > 0.5, -shift, shift), 0.01, 0.99)
    chance = np.where(STREAMS == 1, q, 1 - q).prod(axis=1)
    assert chance.sum() == pytest.approx(1)
    mean = q.cumsum(axis=1) / np.arange(1, STEPS + 1)
    assert chance @ ever_wrong(NormalMixture(alpha, best_at=5), mean) <= alpha


@pytest.mark.parametrize("name", some_slow(ConfidenceSequence.named, ["beta_mixture"]))
@pytest.mark.parametrize("q", [0.5, 0.9])
def test_long_streams(name, q):
    """2,000 streams of 500 steps; by chance this fails once in 1,000,000 times."""
    hits = np.random.default_rng(5).random((2_000, 500)) < q
    wrong = ever_wrong(ConfidenceSequence.named[name](0.1), q, hits).sum()
    assert wrong <= binom.ppf(1 - 1e-6, 2_000, 0.1)


@pytest.mark.parametrize("name", ConfidenceSequence.named)
def test_it_narrows(name):
    trials = 10 ** np.arange(2, 8)
    low, high = ConfidenceSequence.named[name]().interval(0.9 * trials, trials)
    assert (np.diff(high - low) < 0).all()
    assert high[-1] - low[-1] < 0.003
    assert ((low < 0.9) & (high > 0.9)).all()


def test_by_state():
    """Counts by state go in together; with parts they hold together, and are wider."""
    alone, together = BetaMixture(), BetaMixture(parts=3)
    low, high = alone.interval([8, 0, 5], [10, 0, 5])
    assert (low[1], high[1]) == (0.0, 1.0)
    assert high[2] == 1.0
    assert low[0] > together.interval(8, 10)[0]
    assert float(alone.interval(8, 10)[0]) == low[0]


def test_as_defined():
    """At either end the mixture has won exactly one over alpha."""
    from scipy.special import betaln

    low, high = BetaMixture(0.2).interval(7, 9)
    for q in (float(low), float(high)):
        won = betaln(7.5, 2.5) - betaln(0.5, 0.5) - 7 * np.log(q) - 2 * np.log(1 - q)
        assert won == pytest.approx(np.log(5), abs=1e-9)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: BetaMixture(1.0), "alpha"),
        (lambda: BetaMixture(parts=0), "parts"),
        (lambda: NormalMixture(best_at=0), "best_at"),
        (lambda: BetaMixture().interval(3, 2), "successes"),
    ],
)
def test_bad_input(wrong, says):
    with pytest.raises(ValueError, match=says):
        wrong()
