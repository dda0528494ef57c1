"""Every martingale with a name is fair given any past, runs for ever, and can be saved."""

from fractions import Fraction

import numpy as np
import pytest

from definetti.martingales import Absence, Martingale, Mixture, PlugIn, SimpleJumper, SleeperStayer
from definetti.martingales.mixture import NODES, WEIGHTS, log_mixture
from definetti.testing import check_martingale

OTHERS = [SimpleJumper(0.3), PlugIn(bins=3, prior=0.5, forgetting=0.1), PlugIn(bins=1)]
OTHERS += [SleeperStayer(waking=0.5, cuts=(0.9, 0.01, 0.5)), Absence(0.4, (0.9, 0.01), 0.5)]


@pytest.mark.parametrize("name", Martingale.named)
def test_fair(name):
    check_martingale(Martingale.named[name]())


@pytest.mark.parametrize("martingale", OTHERS, ids=repr)
def test_fair_with_other_settings(martingale):
    check_martingale(martingale)


def test_an_unfair_bet_is_found_out():
    class Greedy(PlugIn):
        def bet(self, state, p_values, logs):
            for k in range(len(p_values)):
                super().bet(state, p_values[k : k + 1], logs[k : k + 1])
                logs[k] += 1e-11
                state[0] = logs[k]

    with pytest.raises(AssertionError, match="not a martingale"):
        check_martingale(Greedy())


@pytest.mark.parametrize("name", Martingale.named)
@pytest.mark.parametrize("p", [0.0, 1e-300, 0.3, 1.0])
def test_a_long_run_neither_overflows_nor_vanishes(name, p):
    martingale = Martingale.named[name]()
    logs = martingale.update_many(np.full(100_000, p))
    assert np.isfinite(logs).all()
    assert np.isfinite(martingale.state).all()
    if p < 0.1 or name == "absence":  # which bets that there are none so small
        assert (martingale.capital == np.inf) == ((name == "absence") == (p > 0.1))


@pytest.mark.slow
@pytest.mark.parametrize("name", Martingale.named)
def test_ten_million_steps(name):
    """Uniform p-values: the logs stay finite, and pieces give the same to the last bit."""
    p = np.random.default_rng(1).random(10_000_000)
    whole, pieces = Martingale.named[name](), Martingale.named[name]()
    logs = whole.update_many(p)
    assert np.isfinite(logs).all()
    assert logs.max() < np.log(1e6)
    parts = [pieces.update_many(part) for part in np.split(p, [1, 2, 1_000, 9_999_999])]
    np.testing.assert_array_equal(np.concatenate(parts), logs)


@pytest.mark.parametrize("name", Martingale.named)
def test_saved_and_restored(name):
    p = np.random.default_rng(2).random(100)
    martingale = Martingale.named[name]()
    martingale.update_many(p[:60])
    again = Martingale.named[name](**martingale.settings)
    again.restore(martingale.state.tolist())
    np.testing.assert_array_equal(again.update_many(p[60:]), martingale.update_many(p[60:]))
    with pytest.raises(ValueError, match="state must be"):
        again.restore([0.0])


def test_simple_jumper_as_it_is_written():
    """Vovk's own lines, with the capital of each gambler in whole fractions."""
    jumping, p = Fraction(1, 100), [Fraction(k % 7, 7) for k in range(1, 40)]
    capital = dict.fromkeys((-1, 0, 1), Fraction(1, 3))
    expected = []
    for value in p:
        whole = sum(capital.values())
        for e in capital:
            capital[e] = (1 - jumping) * capital[e] + jumping / 3 * whole
            capital[e] *= 1 + e * (value - Fraction(1, 2))
        expected.append(float(sum(capital.values())))
    found = SimpleJumper().update_many([1e-300 if value == 0 else float(value) for value in p])
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 30, 400])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.9, 1.0, 1.1, 3.0])
def test_mixture_by_its_series(n, share):
    """The integral is the sum of a^k / ((n+1) … (n+1+k)), here in whole fractions."""
    a = Fraction(share) * n + Fraction(share)
    total = term = Fraction(1, n + 1)
    k = 1
    while term > total * Fraction(1, 10**20):
        term = Fraction(round(term * a / (n + 1 + k) * 10**60), 10**60)
        total += term
        k += 1
    found = log_mixture(float(n), float(a), NODES, WEIGHTS)
    assert found == pytest.approx(np.log(float(total)), abs=1e-12)


def test_mixture_of_many():
    """At ten million p-values: against the normal law that the integrand then is."""
    n = 1e7
    expected = 0.5 * np.log(np.pi / (2 * n))  # half of a peak of width 1/√n, to its first order
    assert log_mixture(n, n, NODES, WEIGHTS) == pytest.approx(expected, abs=1e-3)


def test_plug_in_as_it_is_written():
    p = np.random.default_rng(3).random(50)
    counts, log_capital = np.full(10, 5.0), 0.0
    for value in p:
        log_capital += np.log(counts[int(value * 10)] / counts.sum() * 10)
        counts[int(value * 10)] += 1
    assert PlugIn().update_many(p)[-1] == pytest.approx(log_capital, abs=1e-12)


def test_sleeper_stayer_as_it_is_written():
    """All that sleeps and all that is awake, in whole fractions."""
    cuts, waking = [Fraction(k, 20) for k in (1, 3, 6, 10, 14)], Fraction(3, 1000)
    pairs = [(a, b) for a in cuts for b in cuts if a != b]
    asleep, awake = Fraction(1), dict.fromkeys(pairs, Fraction(0))
    expected, p = [], [Fraction(k * k % 101, 101) for k in range(1, 60)]
    for value in p:
        for a, b in pairs:
            awake[a, b] += asleep * waking / len(pairs)
            awake[a, b] *= b / a if value <= a else (1 - b) / (1 - a)
        asleep *= 1 - waking
        expected.append(float(asleep + sum(awake.values())))
    found = SleeperStayer().update_many([float(value) for value in p])
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: SimpleJumper(jumping=0), "jumping"),
        (lambda: SimpleJumper(jumping=True), "jumping"),
        (lambda: SleeperStayer(waking=0), "waking"),
        (lambda: SleeperStayer(cuts=(0.5, 0.5)), "cuts"),
        (lambda: SleeperStayer(cuts=(0.5, 1.0)), "cuts"),
        (lambda: Absence(shares=()), "shares"),
        (lambda: Absence(shares=(0.1, 1.0)), "shares"),
        (lambda: Absence(left=1), "left"),
        (lambda: PlugIn(bins=0), "bins"),
        (lambda: PlugIn(prior=0), "prior"),
        (lambda: PlugIn(forgetting=1), "forgetting"),
        (lambda: Mixture().update(1.5), r"p_values\[0\] is 1.5"),
        (lambda: Mixture().update(float("nan")), "p_values"),
        (lambda: Mixture().update_many([[0.5]]), "shape"),
    ],
)
def test_bad_input(wrong, says):
    with pytest.raises(ValueError, match=says):
        wrong()


def test_what_is_kept_elsewhere_is_found_out():
    class Impatient(PlugIn):
        def bet(self, state, p_values, logs):
            super().bet(state, p_values, logs)
            state[1] = 0.0  # once a call, not once a step

    with pytest.raises(AssertionError, match="outside of its state"):
        check_martingale(Impatient())
