"""The smallest valid sets when the model is known: a lower bound for every method."""

from __future__ import annotations

from itertools import product

import numpy as np

from definetti._system.arrays import FloatArray
from definetti._system.checks import checked_model, checked_number
from definetti.engine.pvalues import miscoverage


def oracle_size(
    start: FloatArray,
    transition: FloatArray,
    emission: FloatArray,
    horizon: int,
    confidence_level: float,
) -> float:
    """Return the smallest expected scaled size of sets that cover with a given probability.

    With the model known, take the sequences of the largest posterior probability, over all starts
    and observations at once, until the level is reached, the last of them at random (the lemma of
    Neyman and Pearson). No valid method has smaller sets on average.

    Parameters
    ----------
    start : (n,) probabilities of the state before the window
    transition : (n, n) transition probabilities
    emission : (n, m) probabilities of the symbols in each state
    horizon : the number of steps predicted
    confidence_level : the probability that the set contains the truth

    Examples
    --------
    >>> fair = np.full((2, 2), 0.5)
    >>> oracle_size(np.array([0.5, 0.5]), fair, fair, horizon=1, confidence_level=0.8)
    0.8
    """
    checked_number(horizon, "horizon")
    start, transition, emission = checked_model(start, transition, emission, "start")
    n, m = emission.shape
    paths = np.array(list(product(range(n), repeat=horizon)))
    symbols = np.array(list(product(range(m), repeat=horizon)))
    steps = transition[paths[:, :-1], paths[:, 1:]].prod(axis=1)
    likelihood = emission[paths[:, None, :], symbols[None, :, :]].prod(axis=2)
    # joint[i, x, y]: the probability of start i, states x and symbols y
    joint = start[:, None, None] * transition[:, paths[:, 0], None] * (steps[:, None] * likelihood)
    evidence = joint.sum(axis=1, keepdims=True)
    posterior = np.divide(joint, evidence, out=np.zeros_like(joint), where=evidence > 0).ravel()
    order = np.argsort(-posterior, kind="stable")
    covered = np.cumsum(joint.ravel()[order])
    cost = np.cumsum(np.broadcast_to(evidence, joint.shape).ravel()[order]) / n**horizon
    level = float(1 - miscoverage(confidence_level))
    return float(np.interp(level, np.append(0.0, covered), np.append(0.0, cost)))


def stationary(transition: FloatArray) -> FloatArray:
    """Return the stationary distribution of an irreducible chain.

    >>> stationary(np.array([[0.9, 0.1], [0.3, 0.7]])).round(3)
    array([0.75, 0.25])
    """
    n = len(transition)
    equations = np.vstack([transition.T - np.eye(n), np.ones(n)])
    return np.asarray(np.linalg.lstsq(equations, np.append(np.zeros(n), 1.0), rcond=None)[0])
