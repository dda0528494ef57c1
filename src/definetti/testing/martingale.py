"""The check of a martingale."""

from __future__ import annotations

import numpy as np

from definetti._system.arrays import FloatArray
from definetti.martingales import Martingale

SMALL = 1e-300
CLOSE = 1e-12


def check_martingale(martingale: Martingale, steps: int = 40) -> None:
    """Check that every bet is fair, and that nothing is kept outside of the state.

    Whatever the past, the density that is bet on must integrate to one: pasts of uniform, small,
    large and extreme p-values are tried. The object itself is left as it is.

    Parameters
    ----------
    martingale : an object that derives from `definetti.martingales.Martingale`
    steps : int, default 40
        How long the pasts are.

    Examples
    --------
    >>> from definetti.martingales import SimpleJumper
    >>> check_martingale(SimpleJumper(jumping=0.1))
    """
    assert isinstance(martingale, Martingale), (
        f"{martingale!r} does not derive from definetti.martingales.Martingale"
    )
    kept, name = martingale.state, type(martingale).__name__
    try:
        for past in make_pasts(steps):
            martingale.restart()
            assert martingale.state[0] == 0.0, f"{name} does not begin with a capital of one"
            together = martingale.update_many(past)
            state = martingale.state
            martingale.restart()
            singly = [martingale.update(p) for p in past]
            same = np.array_equal(together, singly) and np.array_equal(state, martingale.state)
            assert same, f"{name} keeps something outside of its state: p-values one by one differ"
            assert np.isfinite(state).all(), f"{name} overflows: keep logarithms"
            assert len(past) == 0 or together[-1] == martingale.log_capital, (
                f"the first number of {name}'s state is not the log of its capital"
            )
            mean = expected_factor(martingale)
            assert abs(mean - 1.0) <= CLOSE, (
                f"{name} is not a martingale: after {len(past)} p-values the next, if uniform, "
                f"multiplies the capital by {mean:.15g} on average, which must be 1"
            )
    finally:
        martingale.state = kept


def make_pasts(steps: int) -> list[FloatArray]:
    """Return several kinds of sequences of past p-values."""
    rng = np.random.default_rng(0)
    uniform = rng.random(steps)
    extremes = np.resize([0.0, 1.0, 0.5, 1e-300], min(steps, 12))
    return [uniform[:0], uniform[:1], uniform, uniform**3, 1 - uniform**3, extremes]


def expected_factor(martingale: Martingale) -> float:
    """Integrate the factor by which the next p-value multiplies the capital, over [0, 1].

    Gauss's rule over the logarithm of p, between the places where the density jumps and from decade
    to decade towards 0, where it may be steep.
    """
    decades = np.linspace(np.log(SMALL), 0.0, 301)
    edges = np.unique(np.concatenate([decades, np.log(martingale.breaks)]))
    nodes, weights = np.polynomial.legendre.leggauss(16)
    half = np.diff(edges)[:, None] / 2
    places = np.exp(edges[:-1, None] + half * (1 + nodes))
    factors = martingale.factors(places.ravel()).reshape(places.shape)
    return float((half * weights * places * factors).sum()) + martingale.tail(SMALL)
