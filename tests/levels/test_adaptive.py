"""Adaptive levels: what they promise holds for whatever comes, late labels included."""

import json
from fractions import Fraction

import numpy as np
import pytest

from definetti.engine.pvalues import Rank
from definetti.levels import ACI, AdaptiveLevel, DtACI, QuantilePID

RNG = np.random.default_rng(0)
# How the p-value of the truth is chosen by someone who knows what is in force.
ADVERSARIES = {
    "always misses": lambda alpha, t: 0.0,
    "never misses": lambda alpha, t: 1.0,
    "just misses": lambda alpha, t: float(min(max(alpha, 0), 1)),
    "the wrong way": lambda alpha, t: 0.0 if alpha > 0.1 else 1.0,
    "in long turns": lambda alpha, t: float(t // 50 % 2),
    "uniform": lambda alpha, t: RNG.random(),
    "a change": lambda alpha, t: RNG.random() ** (1 if t < 150 else 4),
}
LEVELS = [
    *[ACI(level, gamma) for level, gamma in [(0.5, 0.9), (0.8, 0.005), (0.8, 0.1), (0.99, 0.1)]],
    *[QuantilePID(level, step, c) for level, step, c in [(0.9, 0.1, 3), (0.5, 0.9, 0.1)]],
]


def fresh(level):
    return type(level)(**level.settings)


def play(level, adversary, delay=0, steps=300):
    """Let labels come up to `delay` sets late, in random order; yield after each."""
    rng, held = np.random.default_rng(1), []
    for t in range(steps):
        held.append((level.issue(), adversary(level.alpha, t)))
        while len(held) > delay or (held and rng.random() < 0.3):
            number, p = held.pop(rng.integers(len(held)))
            level.update(p, number)
            yield level


@pytest.mark.parametrize("delay", [0, 7, 40])
@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_the_promise_holds_for_every_sequence(adversary, delay):
    """After every single label, not just at the end."""
    for made in LEVELS:
        level = fresh(made)
        for now in play(level, ADVERSARIES[adversary], delay):
            off = abs(Fraction(now.n_missed, now.n_labels) - now.aim)
            assert off <= now.bound * (1 + 1e-12), (made, now.n_labels)
        assert level.most_waiting <= delay


def test_the_bound_is_the_one_that_is_known():
    """Gibbs and Candès: max(α, 1 − α) + γ over γ n, where labels come at once."""
    aci = ACI(0.8, gamma=0.05)
    for p in RNG.random(200):
        aci.update(p)
    assert aci.bound == pytest.approx((0.8 + 0.05) / (0.05 * 200))
    assert aci.most_waiting == 0


def test_late_labels_need_the_larger_bound():
    """Labels that come together can be beyond the bound for labels that come at once."""
    aci, worst = ACI(0.5, gamma=0.5), 0.0
    for _ in range(40):
        numbers = [aci.issue() for _ in range(20)]
        for number in numbers:
            aci.update(0.0, number)
            off = abs(aci.share - 0.5)
            at_once = (0.5 + 0.5) / (0.5 * aci.n_labels)
            worst = max(worst, off / at_once)
            assert off <= aci.bound
    assert worst > 1


@pytest.mark.parametrize("delay", [0, 5])
@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_each_of_several_steps_keeps_its_promise(adversary, delay):
    level = DtACI(0.8)
    for now in play(level, ADVERSARIES[adversary], delay):
        for misses, bound in zip(now.misses, now.bounds, strict=True):
            assert abs(misses / now.n_labels - 0.2) <= bound
    assert level.weights.sum() == pytest.approx(1)


def test_several_steps_as_they_are_written():
    """The published algorithm, line by line."""
    level, alpha, k, memory = DtACI(0.9, gammas=(0.01, 0.1), memory=50), 0.1, 2, 50
    eta = np.sqrt(3 / memory) * np.sqrt(
        (np.log(k * memory) + 2) / ((1 - alpha) ** 2 * alpha**3 + alpha**2 * (1 - alpha) ** 3)
    )
    sigma = 1 / (2 * memory)
    w, a = np.ones(2), np.full(2, alpha)
    for p in RNG.random(100):
        assert level.alpha == pytest.approx(float(w @ a / w.sum()), abs=1e-9)
        loss = alpha * (p - a) - np.minimum(0, p - a)
        bar = w * np.exp(-eta * loss)
        w = (1 - sigma) * bar + sigma * bar.sum() / k
        a = a + np.array([0.01, 0.1]) * (alpha - (p <= a))
        level.update(p)


@pytest.mark.parametrize("gammas", [(0.02, 0.1), (0.05, 0.06, 0.2)])
def test_the_average_is_kept_where_weights_hardly_move(gammas):
    """The inequality that there is for a step drawn by the weights, over what sequence soever.

    With X the weighted mean of alpha/gamma, misses add up to n (1 − level) but for what X has
    changed by and what the weights have moved (Gibbs & Candès 2022, theorem 4).
    """
    level = DtACI(0.8, gammas=gammas, memory=1e6)
    level.eta, level.sigma = 1e-4, 1e-6
    drawn = moved = 0.0
    first = level.weights @ (level.alphas / gammas)
    for t in range(500):
        alphas, weights = level.alphas, level.weights
        p = ADVERSARIES["the wrong way"](level.alpha, t)
        level.update(p)
        own = (alphas > 0) & ((p <= alphas) | (alphas >= 1))
        drawn += weights @ own
        moved += (level.weights - weights) @ (alphas / gammas - own)
    last = level.weights @ (level.alphas / gammas)
    assert drawn == pytest.approx(500 * 0.2 + first - last + moved, abs=1e-9)
    most, least = max(gammas), min(gammas)
    change = np.exp(level.eta * (1 + most)) - 1 + 2 * level.sigma
    bound = (1 + 2 * most) / least / 500 + ((1 + most) / least + 1) * change
    assert abs(drawn / 500 - 0.2) <= bound < 0.2


@pytest.mark.parametrize("name", AdaptiveLevel.named)
def test_saved_and_restored(name):
    """Through JSON, with labels waiting: the rest is the same."""
    level = AdaptiveLevel.named[name](0.8)
    held = [level.issue() for _ in range(3)]
    for p in RNG.random(50):
        level.update(float(p))
    again = AdaptiveLevel.named[name](**json.loads(json.dumps(level.settings)))
    again.restore(json.loads(json.dumps(level.state)))
    for number in held:
        assert again.update(0.15, number) == level.update(0.15, number)
    for p in RNG.random(50):
        assert again.update(float(p)) == level.update(float(p))
        assert again.alpha == level.alpha
    assert again.bound == level.bound


@pytest.mark.parametrize("name", AdaptiveLevel.named)
def test_uniform_p_values_keep_the_level(name):
    """Where all is as it should be, alpha stays near; by chance this fails once in 10^6 times."""
    rng, level = np.random.default_rng(3), AdaptiveLevel.named[name](0.8)
    alphas = []
    for p in rng.random(3_000):
        level.update(p)
        alphas.append(float(level.alpha))
    assert abs(level.share - 0.2) < 5 * np.sqrt(0.16 / 3_000)
    assert abs(np.median(alphas) - 0.2) < 0.08
    assert 0 <= level.level <= 1


def test_a_tie_is_decided_in_whole_numbers():
    """A rank of one in ten is not above a tenth, whatever a floating-point number says."""
    rank, aci = Rank(0, 1, 10), ACI(0.9)
    assert not aci.update(rank.p_value())  # 0.1 is a little above a tenth
    aci = ACI(0.9)
    assert aci.update(rank.p_value(), missed=not rank.exceeds(aci.alpha))
    assert ACI(0.9).update(Fraction(1, 10))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: ACI(1.0), "confidence_level"),
        (lambda: ACI(gamma=0), "gamma"),
        (lambda: DtACI(gammas=()), "gammas"),
        (lambda: DtACI(gammas=(0.1, 2)), "gammas"),
        (lambda: DtACI(memory=0), "memory"),
        (lambda: QuantilePID(step=0), "step"),
        (lambda: QuantilePID(saturation=0), "saturation"),
        (lambda: ACI().update(1.5), "p_value"),
        (lambda: ACI().update(0.5, 3), "number=3"),
        (lambda: ACI().drop(3), "number=3"),
        (lambda: DtACI().restore(DtACI(gammas=(0.1,)).state), "alphas"),
    ],
)
def test_bad_input(wrong, says):
    with pytest.raises(ValueError, match=says):
        wrong()


def test_a_label_that_never_comes():
    aci = ACI()
    number = aci.issue()
    aci.drop(number)
    assert not aci.waiting
    with pytest.raises(ValueError, match="waiting"):
        aci.update(0.5, number)


@pytest.mark.parametrize("name", AdaptiveLevel.named)
def test_p_values_come_one_by_one(name):
    pd = pytest.importorskip("pandas")
    level = AdaptiveLevel.named[name](0.9)
    for wrong in (pd.Series([0.3]), [0.3], np.array([0.3]), None, "0.3"):
        with pytest.raises(ValueError, match="p_value must be one number"):
            level.update(wrong)
    assert level.n_labels == 0
