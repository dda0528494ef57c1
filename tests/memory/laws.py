"""Laws under which the chain is sure to come back to a token within a few steps."""

from itertools import product

import numpy as np

from definetti.memory import Age, Observation, Order
from definetti.verify import HigherOrderLaw

SHOWN = np.array([[1.0, 0.0], [0.3, 0.7]])  # fewer sequences to list


def follow(law, token):
    """Return the probability of each next state and symbol after a token, or of the first."""
    pairs = product(range(2), repeat=2)
    chances = {pair: 0.25 if token is None else law.move(token, *pair) for pair in pairs}
    return {pair: chance for pair, chance in chances.items() if chance > 0}


def until(law, departures, start, token=None, path=(), weight=1.0, met=0):
    """List all ways to the m-th visit to a token, with their probabilities.

    Windows are one step long, so that each visit departs.
    """
    if path and tuple(token.tolist()) == start:
        met += 1
        if met == departures:
            yield path, weight
            return
    for pair, chance in follow(law, token).items():
        then = law.step(token, *pair)
        yield from until(law, departures, start, then, (*path, pair), weight * chance, met)


def brief(token, x, y):
    """No state lasts for more than two steps."""
    stays = 0.0 if token[1] == token[0] else (0.3, 0.6)[token[0]]
    return (stays if x == token[0] else 1 - stays) * SHOWN[x, y]


def brief_sojourns(token, x, y):
    """The same, told by how long a state has lasted."""
    stays = 0.0 if token[1] == 2 else (0.3, 0.6)[token[0]]
    return (stays if x == token[0] else 1 - stays) * SHOWN[x, y]


def round_trip(token, x, y):
    """Pairs in a circle, some of them skipped."""
    ways = {
        (0, 0): {(0, 1): 0.3, (1, 0): 0.7},
        (0, 1): {(1, 0): 1.0},
        (1, 0): {(1, 1): 0.6, (0, 0): 0.4},
        (1, 1): {(0, 0): 1.0},
    }
    return ways[tuple(token.tolist())].get((x, y), 0.0)


RETURNING = {
    "order two": (HigherOrderLaw(Order(2), brief), [(0, 1), (1, 0)]),
    "sojourns": (HigherOrderLaw(Age(), brief_sojourns), [(0, 1, 0), (1, 1, 0)]),
    "feedback": (HigherOrderLaw(Observation(), round_trip), [(0, 0), (1, 0)]),
}
