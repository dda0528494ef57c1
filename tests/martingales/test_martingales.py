"""Every martingale with a name is fair given any past, runs for ever, and can be saved."""

from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from definetti.martingales import (
    CUSUM,
    Absence,
    Martingale,
    Mixture,
    NormalMixture,
    PlugIn,
    SimpleJumper,
    SleeperStayer,
    Ville,
)
from definetti.martingales.bets import log_mixture
from definetti.testing import check_martingale

OTHERS = [SimpleJumper(0.3), PlugIn(bins=3, prior=0.5, forgetting=0.1), PlugIn(bins=1)]
OTHERS += [SleeperStayer(waking=0.5, cuts=(0.9, 0.01, 0.5)), Absence(0.4, (0.9, 0.01), 0.5)]
OTHERS += [SleeperStayer(0.5, (0.9, 0.01), patience=0), Absence(0.9, patience=3)]


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
    found = log_mixture(float(n), float(a))
    assert found == pytest.approx(np.log(float(total)), abs=1e-12)


def test_mixture_of_many():
    """At ten million p-values: against the normal law that the integrand then is."""
    n = 1e7
    expected = 0.5 * np.log(np.pi / (2 * n))  # half of a peak of width 1/√n, to its first order
    assert log_mixture(n, n) == pytest.approx(expected, abs=1e-3)


def test_plug_in_as_it_is_written():
    p = np.random.default_rng(3).random(50)
    counts, log_capital = np.full(10, 5.0), 0.0
    for value in p:
        log_capital += np.log(counts[int(value * 10)] / counts.sum() * 10)
        counts[int(value * 10)] += 1
    assert PlugIn().update_many(p)[-1] == pytest.approx(log_capital, abs=1e-12)


@pytest.mark.parametrize("patience", [0, 1, 2])
def test_sleeper_stayer_as_it_is_written(patience):
    """All that sleeps and all that is awake, in numbers of 28 digits."""
    cuts, waking = [Decimal(k) / 20 for k in (1, 3, 6, 10, 14)], Decimal("0.003")
    pairs = [(a, b) for a in cuts for b in cuts if a != b]
    asleep, awake = Decimal(1), dict.fromkeys(pairs, Decimal(0))
    expected, p = [], [Decimal(k * k % 101) / 101 for k in range(1, 60)]
    for value in p:
        woken = waking * asleep**patience * asleep
        for a, b in pairs:
            awake[a, b] += woken / len(pairs)
            awake[a, b] *= b / a if value <= a else (1 - b) / (1 - a)
        asleep -= woken
        expected.append(float(asleep + sum(awake.values())))
    found = SleeperStayer(patience=patience).update_many([float(value) for value in p])
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("bet", "patience"),
    [
        pytest.param(bet, patience, id=f"{bet.known_as}-{patience}", marks=marks)
        for bet in (SleeperStayer(0.4, (0.1, 0.5)), Absence(0.4, (0.5, 0.1)))
        for patience, marks in ((0, pytest.mark.slow), (1, pytest.mark.slow), (0.5, ()))
    ],
)
def test_all_ways_of_eight_steps(bet, patience):
    """The density is constant between 0, 0.1, 0.5 and 1: capital and Ville's bound, listed."""
    bet = type(bet)(**{**bet.settings, "patience": patience})
    places = {0.05: 0.1, 0.3: 0.4, 0.8: 0.5}  # p-values, and how probable each of the three is
    mean, often = np.zeros(8), dict.fromkeys([1.05, 1.5, 3.0, 20.0], 0.0)
    for way in product(places, repeat=8):
        bet.restart()
        capital, chance = np.exp(bet.update_many(way)), np.prod([places[p] for p in way])
        mean += chance * capital
        for most in often:
            often[most] += chance * (capital.max() >= most)
    np.testing.assert_allclose(mean, 1, rtol=1e-12)
    assert all(found <= 1 / most for most, found in often.items())
    assert often[1.5] > 0.1  # there is something to be bounded


@pytest.mark.parametrize("kind", [SleeperStayer, Absence])
def test_what_sleeps_outlasts_a_long_stream(kind):
    """A tenth of a million quiet steps: by its law, and far more than a constant share leaves."""
    bet, rng = kind(), np.random.default_rng(4)
    bet.update_many(rng.random(100_000))
    share = bet.patience
    law = -np.log1p(share * bet.waking * 100_000) / share
    assert bet.state[-1] == pytest.approx(law, abs=0.02)
    assert bet.log_capital > law
    assert law > 100_000 * np.log1p(-bet.waking) / 20


@pytest.mark.parametrize("quiet", [300, 100_000])
def test_a_change_is_found_soon_however_late_it_comes(quiet):
    p = np.random.default_rng(5).random(quiet + 100)
    p[quiet:] **= 3
    logs = SleeperStayer().update_many(p)
    assert logs[:quiet].max() < np.log(20) <= logs[quiet : quiet + 60].max()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: SimpleJumper(jumping=0), "jumping"),
        (lambda: SimpleJumper(jumping=True), "jumping"),
        (lambda: SleeperStayer(waking=0), "waking"),
        (lambda: SleeperStayer(patience=-1), "patience"),
        (lambda: Absence(patience=float("inf")), "patience"),
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


@pytest.mark.parametrize("name", Martingale.named)
def test_a_series_of_p_values_is_an_array_of_them(name):
    pd = pytest.importorskip("pandas")
    values = [0.2, 0.9, 0.01]
    one, other = Martingale.named[name](), Martingale.named[name]()
    logs = one.update_many(pd.Series(values, index=[7, 3, 7]))
    assert np.array_equal(logs, other.update_many(values))
    with pytest.raises(ValueError, match="p_value must be one number, got a Series; update_many"):
        one.update(pd.Series(values[:1]))
    for wrong in ([0.3], np.array([0.3]), "0.3", None):
        with pytest.raises(ValueError, match="p_value must be one number"):
            one.update(wrong)
    for wrong in (pd.NA, pd.Series(["a"]), pd.DataFrame({"p": values}), 0.5):
        with pytest.raises(ValueError, match="p_values must be a list of numbers"):
            one.update_many(wrong)
    assert one.update(np.array(0.5)) == other.update(0.5)


@pytest.mark.parametrize("made", [CUSUM, PlugIn, NormalMixture, Ville])
def test_a_parameter_that_is_a_series_is_refused(made):
    pd = pytest.importorskip("pandas")
    names = {CUSUM: "run_length", PlugIn: "prior", NormalMixture: "best_at", Ville: "alpha"}
    with pytest.raises(ValueError, match=f"{names[made]} must be"):
        made(**{names[made]: pd.Series([0.5, 2.0])})
