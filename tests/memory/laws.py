"""Small laws under which the future depends on more than the state, and how to list them whole."""

from fractions import Fraction
from itertools import product
from math import fsum

import numpy as np

from definetti.memory import Age, Observation, Order

SEEN = np.array([[0.8, 0.2], [0.3, 0.7]])
SHOWN = np.array([[1.0, 0.0], [0.3, 0.7]])  # fewer sequences to list


class Law:
    """The probability of the next state and symbol, given all before; two of each.

    Attributes
    ----------
    memory : what the future depends on
    """

    def __init__(self, memory, move):
        self.memory, self.move = memory, move

    def first(self):
        return {(x, y): 0.25 for x in range(2) for y in range(2)}

    def after(self, token):
        """Return the probability of each next state and symbol after a token."""
        return {
            pair: chance
            for pair in product(range(2), repeat=2)
            if (chance := self.move(token, *pair)) > 0
        }

    def weigh(self, states, observations):
        """Return the probability of one sequence."""
        weight, token = 1.0, None
        for x, y in zip(states, observations, strict=True):
            weight *= (self.first() if token is None else self.after(token)).get((x, y), 0.0)
            token = self.step(token, x, y)
        return weight

    def step(self, token, x, y):
        if token is None:
            return self.memory.begin(x, y)
        return self.memory.follow(token[None], np.array([x]), np.array([y]))[0]

    def until(self, departures, start, token=None, path=(), weight=1.0, met=0):
        """List all ways to the m-th visit to a token, with their probabilities.

        Windows are one step long, so that each visit departs. The way must be sure to end.
        """
        if path and tuple(token.tolist()) == start:
            met += 1
            if met == departures:
                yield path, weight
                return
        for pair, chance in (self.after(token) if path else self.first()).items():
            then = self.step(token, *pair)
            yield from self.until(departures, start, then, (*path, pair), weight * chance, met)


def second(token, x, y):
    stays = {(0, 0): 0.9, (1, 0): 0.3, (0, 1): 0.35, (1, 1): 0.8}.get(tuple(token), 0.6)
    return (stays if x == token[0] else 1 - stays) * SEEN[x, y]


def sojourns(token, x, y):
    """Leave after one, two or three steps: a state lasts for two, the other for one or three."""
    leaves = [[0.05, 0.9, 1.0], [0.5, 0.1, 1.0]][token[0]][min(token[1], 3) - 1]
    return (1 - leaves if x == token[0] else leaves) * SEEN[x, y]


def feedback(token, x, y):
    """What was observed has a say in what comes next, and in what is observed then."""
    rises = [[0.05, 0.7], [0.4, 0.9]][token[0]][token[1]]
    shows = [[0.1, 0.6], [0.7, 0.9]][x][token[1]]
    return (rises if x else 1 - rises) * (shows if y else 1 - shows)


def brief(token, x, y):
    """No state lasts for more than two steps: a chain of order two that is sure to come back."""
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


LAWS = {
    "order two": Law(Order(2), second),
    "sojourns": Law(Age(), sojourns),
    "sojourns, capped": Law(Age(3), sojourns),
    "feedback": Law(Observation(), feedback),
}
# Sure to come back to each of these tokens within a few steps.
RETURNING = {
    "order two": (Law(Order(2), brief), [(0, 1), (1, 0)]),
    "sojourns": (Law(Age(), brief_sojourns), [(0, 1, 0), (1, 1, 0)]),
    "feedback": (Law(Observation(), round_trip), [(0, 0), (1, 0)]),
}


class Listed:
    """All sequences of a length, each with the rank of its last states."""

    def __init__(self, predictor, length, horizon, states=2, symbols=2):
        self.rows = []
        for past in product(range(states), repeat=length):
            for seen in product(range(symbols), repeat=length):
                try:
                    fitted = predictor.fit(seen, past)
                except ValueError as error:  # no state was seen to end, in the whole class
                    if "seen to end" not in str(error):
                        raise
                    continue
                for new in product(range(symbols), repeat=horizon):
                    for candidate, rank in fitted.predict_ranks(new).items():
                        self.rows.append((past + candidate, seen + new, rank))

    def coverage(self, law, level, smoothed):
        """Return the probability that the truth is in the set given each last state."""
        alpha = 1 - Fraction(str(level))
        weights = [law.weigh(states, seen) for states, seen, _ in self.rows]
        chances = [
            float(rank.chance(alpha)) if smoothed else float(rank.exceeds(alpha))
            for *_, rank in self.rows
        ]
        given = [[k for k, row in enumerate(self.rows) if row[0][-1] == last] for last in range(2)]
        return [
            fsum(weights[k] * chances[k] for k in each) / fsum(weights[k] for k in each)
            for each in given
        ]
