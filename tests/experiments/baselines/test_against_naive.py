"""Every baseline against a literal version in plain loops: lists, tuples, paths enumerated."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, pairwise, product
from math import exp, inf, isqrt, log

import numpy as np
import pytest

from definetti import HMM, given_hmm
from definetti.experiments import (
    AdaptiveInference,
    ClassConditional,
    Classical,
    EnsembleSliding,
    LikelihoodRatio,
    NonExchangeable,
    Robust,
    ShiftPermutations,
    Thinned,
    UnionMultiStep,
    UnionOverSequences,
)

CASES = 50


class Chain:
    """A hidden Markov model in loops; every window is scored once."""

    def __init__(self, transition, emission):
        self.P, self.B = transition, emission
        self.n, self.m = len(emission), len(emission[0])
        self.known = {}

    def joint(self, start, path, seen):
        value, last = 1.0, start
        for state, y in zip(path, seen, strict=True):
            value *= self.P[last][state] * (1.0 if y is None else self.B[state][y])
            last = state
        return value

    def path(self, start, path, seen):
        """−log of the probability of a path given its observations."""
        if (start, path, seen) not in self.known:
            every = sum(
                self.joint(start, p, seen) for p in product(range(self.n), repeat=len(path))
            )
            p = self.joint(start, path, seen) / every
            self.known[start, path, seen] = inf if p == 0 else -log(p)
        return self.known[start, path, seen]

    def smoother(self, start, seen, k, state):
        every = list(product(range(self.n), repeat=len(seen)))
        values = [self.joint(start, p, seen) for p in every]
        return sum(v for v, p in zip(values, every, strict=True) if p[k] == state) / sum(values)

    def filter(self, start, seen, k, state):
        return self.smoother(start, seen[: k + 1], k, state)


def laws(rng, n, m):
    transition, emission = (rng.dirichlet(np.ones(k), size=n).tolist() for k in (n, m))
    return transition, emission


def case(seed, longest=22):
    """A random model, a history that has nothing to do with it, and new observations."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    h = int(rng.integers(1, 4 if n == 2 else 3))
    length = int(rng.integers(1, longest))
    model = Chain(*laws(rng, n, m))
    x, y = rng.integers(n, size=length).tolist(), rng.integers(m, size=length).tolist()
    new = tuple(rng.integers(m, size=h).tolist())
    return rng, model, given_hmm(model.P, model.B), x, y, new


def windows(x, y, h):
    """All windows of the past, oldest first: when it ends, state before, states, observations."""
    return [
        (e, x[e - h], tuple(x[e - h + 1 : e + 1]), tuple(y[e - h + 1 : e + 1]))
        for e in range(h, len(x))
    ]


def at_least(a, b):
    """Tell whether a score is as strange as another; rounding does not count."""
    return a >= b - 1e-9


def counted(past, score):
    return Fraction(1 + sum(at_least(s, score) for s in past), 1 + len(past))


def check(cp, new, expected, levels=(0.5, 0.8)):
    """Compare all p-values, and the sets, with what is expected of each candidate."""
    found = cp.predict_p(list(new))
    assert set(found.sequences) == set(expected)
    for sequence, p in expected.items():
        assert found.p_value(sequence) == pytest.approx(float(p), abs=1e-9)
    for sequence in list(expected)[:2]:
        assert cp.p_value(list(new), sequence) == found.p_value(sequence)
    for level in levels:
        alpha = 1 - Fraction(str(level))
        s = cp.predict_set(list(new), level)
        for sequence, p in expected.items():
            on_the_boundary = not isinstance(p, Fraction) and abs(p - alpha) < 1e-9
            assert (sequence in s) == (p > alpha) or on_the_boundary
        assert list(s.p_values) == sorted(s.p_values, reverse=True) or "chain" in s.method


def candidates(model, new):
    return list(product(range(model.n), repeat=len(new)))


@pytest.mark.parametrize("stride", [1, 3])
def test_classical(stride):
    for seed in range(CASES):
        _, model, given, x, y, new = case(seed)
        h, last = len(new), len(x) + len(new) - 1
        past = [model.path(*w[1:]) for w in windows(x, y, h) if (last - w[0]) % stride == 0]
        expected = {c: counted(past, model.path(x[-1], c, new)) for c in candidates(model, new)}
        check(Classical(given, stride=stride).fit(y, x), new, expected)


def test_classical_with_a_model_counted_on_the_first_half():
    for seed in range(CASES // 4):
        rng, model, _, _, _, new = case(seed)
        n, m, h = model.n, model.m, len(new)
        # All states and symbols come first, so that they are met in the order of their codes.
        x = [*range(n), *rng.integers(n, size=30 - n).tolist()]
        y = [*range(m), *rng.integers(m, size=30 - m).tolist()]
        counts = counted_chain([(x[:15], y[:15])], n, m)
        past = [counts.path(*w[1:]) for w in windows(x[15:], y[15:], h)]
        expected = {c: counted(past, counts.path(x[-1], c, new)) for c in candidates(model, new)}
        check(Classical(HMM()).fit(y, x), new, expected)


def counted_chain(pieces, n, m):
    """Count moves and symbols in pieces, add 1/2 to each, and normalise.

    Symbols that are not in the pieces have one cell, of which each has the probability.
    """
    moves = [[0.5] * n for _ in range(n)]
    symbols = [[0.5] * m for _ in range(n)]
    known = len({symbol for _, y in pieces for symbol in y})
    for x, y in pieces:
        for a, b in pairwise(x):
            moves[a][b] += 1
        for state, symbol in zip(x, y, strict=True):
            symbols[state][symbol] += 1
    moves = [[v / sum(row) for v in row] for row in moves]
    wider = 0.5 * (known + 1 - m)
    return Chain(moves, [[v / (sum(row) + wider) for v in row] for row in symbols])


@pytest.mark.parametrize("classes", ["sequence", "last"])
def test_class_conditional(classes):
    for seed in range(CASES):
        _, model, given, x, y, new = case(seed)
        expected = {}
        for c in candidates(model, new):
            past = [
                model.path(*w[1:])
                for w in windows(x, y, len(new))
                if (w[2] == c if classes == "sequence" else w[2][-1] == c[-1])
            ]
            expected[c] = counted(past, model.path(x[-1], c, new))
        check(ClassConditional(given, classes=classes).fit(y, x), new, expected)


@pytest.mark.parametrize("block", [1, 2, 3])
def test_shift_permutations(block):
    for seed in range(CASES // 2):
        _, model, given, x, y, new = case(seed)
        h, expected = len(new), {}
        for c in candidates(model, new):
            pairs = list(zip([*x, *c], [*y, *new], strict=True))
            pairs = pairs[len(pairs) % block :]
            if len(pairs) <= h:
                expected[c] = Fraction(1)
                continue
            scores = []
            for k in range(0, len(pairs), block):
                turned = pairs[len(pairs) - k :] + pairs[: len(pairs) - k]
                states, seen = zip(*turned, strict=True)
                scores.append(model.path(states[-h - 1], states[-h:], seen[-h:]))
            as_strange = sum(at_least(s, scores[0]) for s in scores)
            expected[c] = Fraction(as_strange, len(scores))
        check(ShiftPermutations(given, block=block).fit(y, x), new, expected)


def weighed(past, weights, score, own):
    above = own + sum(w for s, w in zip(past, weights, strict=True) if at_least(s, score))
    total = own + sum(weights)
    return above / total if total else 1.0


def test_non_exchangeable():
    for seed in range(CASES):
        rng, model, given, x, y, new = case(seed)
        decay = float(rng.choice([0.3, 0.9, 1.0]))
        past = [model.path(*w[1:]) for w in windows(x, y, len(new))]
        weights = [decay ** (len(past) - k) for k in range(len(past))]
        expected = {
            c: weighed(past, weights, model.path(x[-1], c, new), 1.0)
            for c in candidates(model, new)
        }
        check(NonExchangeable(given, decay=decay).fit(y, x), new, expected)


@pytest.mark.parametrize("known", [True, False])
def test_likelihood_ratio(known):
    for seed in range(CASES):
        rng, model, given, x, y, new = case(seed)
        ratios = rng.uniform(0, 2, size=(model.n, model.m))
        half = len(y) // 2

        def share(part, symbol, m=model.m):
            return (part.count(symbol) + 0.5) / (len(part) + 0.5 * m)

        def weight(start, seen, ratios=ratios, y=y, half=half, share=share):
            value = 1.0
            for symbol in seen:
                one = share(y[half:], symbol) / share(y[:half], symbol)
                value *= ratios[start][symbol] if known else one
            return value

        def asked(start, seen, ratios=ratios):
            return ratios[start.astype(int)[:, None], seen.astype(int)].prod(axis=1)

        kept = windows(x, y, len(new))
        past = [model.path(*w[1:]) for w in kept]
        weights = [weight(start, seen) for _, start, _, seen in kept]
        own = weight(x[-1], new)
        expected = {
            c: weighed(past, weights, model.path(x[-1], c, new), own)
            for c in candidates(model, new)
        }
        cp = LikelihoodRatio(given, weight=asked if known else "recent").fit(y, x)
        check(cp, new, expected)


def divergences(z, a):
    """All three, of laws that give an event the probabilities z from one that gives it a."""
    q, p = np.stack([z, 1 - z]), np.array([[a], [1 - a]])
    return {
        "kl": (q * np.log(q / p)).sum(axis=0),
        "chi2": ((q - p) ** 2 / p).sum(axis=0),
        "tv": np.abs(q - p).sum(axis=0) / 2,
    }


@pytest.mark.parametrize("divergence", ["kl", "chi2", "tv"])
def test_robust(divergence):
    for seed in range(CASES // 2):
        rng, model, given, x, y, new = case(seed)
        radius = float(rng.choice([0.0, 0.01, 0.2]))
        past = [model.path(*w[1:]) for w in windows(x, y, len(new))]
        expected = {}
        for c in candidates(model, new):
            p = counted(past, model.path(x[-1], c, new))
            if radius and p < 1:
                # The largest of very many probabilities that is still in the ball.
                low, high = float(p), 1 - 1e-15
                for _ in range(4):
                    grid = np.linspace(low, high, 400)
                    inside = grid[divergences(grid, float(p))[divergence] <= radius]
                    low, step = float(inside.max()), (high - low) / 399
                    high = min(low + step, 1 - 1e-15)
                p = low
            expected[c] = p
        check(Robust(given, radius=radius, divergence=divergence).fit(y, x), new, expected)


def test_adaptive_level():
    for seed in range(CASES // 4):
        rng, model, given, x, y, _ = case(seed)
        h, gamma, level = int(rng.integers(1, 3)), Fraction(1, 10), Fraction(4, 5)
        cp = AdaptiveInference(given, confidence_level=0.8, gamma=0.1).fit(y, x)
        alpha = 1 - level
        for _ in range(12):
            new = tuple(rng.integers(model.m, size=h).tolist())
            truth = tuple(rng.integers(model.n, size=h).tolist())
            past = [model.path(*w[1:]) for w in windows(x, y, h)]
            p = {c: counted(past, model.path(x[-1], c, new)) for c in candidates(model, new)}
            assert cp.alpha_ == alpha
            assert set(cp.predict_set(list(new))) == {c for c in p if p[c] > alpha}
            alpha += gamma * (1 - level - (0 if p[truth] > alpha else 1))
            cp.partial_fit(list(new), list(truth))
            x, y = [*x, *truth], [*y, *new]
        assert cp.rounds_ == 12


@pytest.mark.parametrize("thinning", [1, 4])
def test_thinned(thinning):
    for seed in range(CASES):
        _, model, given, x, y, new = case(seed, longest=40)
        h = len(new)
        # Backwards from the new window: so many steps between it and the one before.
        ends, first = set(), len(x)
        while (end := first - thinning) - h >= 0:
            ends.add(end)
            first = end - h + 1
        past = [model.path(*w[1:]) for w in windows(x, y, h) if w[0] in ends]
        expected = {c: counted(past, model.path(x[-1], c, new)) for c in candidates(model, new)}
        check(Thinned(given, thinning=thinning).fit(y, x), new, expected)


def test_thinned_goes_by_the_second_eigenvalue():
    model = given_hmm([[0.9, 0.1], [0.2, 0.8]], [[1.0], [1.0]])
    rng = np.random.default_rng(0)
    x = rng.integers(2, size=1000).tolist()
    cp = Thinned(model).fit([0] * 1000, x)
    same = Thinned(model, thinning=20).fit([0] * 1000, x)  # 0.7 ** 20 < 1/1000 < 0.7 ** 19
    assert cp.predict_p([0, 0]) == same.predict_p([0, 0])
    short = Thinned(model).fit([0] * 100, x[:100])  # 20 windows are left: every fifth
    assert short.predict_p([0]) == Thinned(model, thinning=5).fit([0] * 100, x[:100]).predict_p([0])


@pytest.mark.parametrize("share", [None, pytest.param(0.6, marks=pytest.mark.slow)])
def test_ensemble_sliding(share):
    for seed in range(CASES // 4):
        rng, model, _, _, _, new = case(seed)
        n, m, h = model.n, model.m, len(new)
        length, models = int(rng.integers(n + m + 4, 24)), 4
        x = [*range(n), *rng.integers(n, size=length - n).tolist()]
        y = [*range(m), *rng.integers(m, size=length - m).tolist()]
        piece = [None, 3][seed % 2]
        cp = EnsembleSliding(
            HMM(), train_size=share, n_models=models, piece=piece, random_state=seed
        ).fit(y, x)

        cut = length if share is None else int(share * length)
        size = piece or isqrt(cut)
        begins = list(range(0, cut, size))
        dice = np.random.default_rng(seed)
        ensemble, drawn = [], []
        for _ in range(models):
            chosen = dice.choice(begins, len(begins)).tolist()
            parts = [(x[b : min(b + size, cut)], y[b : min(b + size, cut)]) for b in chosen]
            ensemble.append(counted_chain(parts, n, m))
            drawn.append({t for b in chosen for t in range(b, min(b + size, cut))})

        for _ in range(3):
            past = []
            for e, *window in windows(x, y, h):
                times = set(range(e - h, e + 1))
                free = [k for k in range(models) if not drawn[k] & times]
                scores = [ensemble[k].path(*window) for k in free]
                past.append(sum(scores) / len(free) if free else None)
            past = [s for s in past[-(length - h) :] if s is not None]
            expected = {}
            for c in candidates(model, new):
                score = sum(one.path(x[-1], c, new) for one in ensemble) / models
                expected[c] = counted(past, score)
            check(cp, new, expected)
            truth = tuple(rng.integers(n, size=h).tolist())
            cp.partial_fit(list(new), list(truth))
            x, y = [*x, *truth], [*y, *new]


def pieces_of(rng, model, h, sequences):
    """Sequences of several lengths, the last with some known steps only."""
    known = int(rng.integers(1, 4))
    each = [int(k) for k in rng.integers(1, known + h + 3, size=sequences - 1)] + [known]
    return [
        (rng.integers(model.n, size=k).tolist(), rng.integers(model.m, size=k).tolist())
        for k in each
    ]


@pytest.mark.parametrize("score", ["smoother", "filter"])
@pytest.mark.parametrize("several", [True, False])
def test_union_multi_step(several, score):
    for seed in range(CASES // 2):
        rng, model, given, x, y, new = case(seed)
        h, scored = len(new), getattr(model, score)
        kept, lengths = [], None
        if several:
            parts = pieces_of(rng, model, h, int(rng.integers(2, 12)))
            lengths, known = [len(states) for states, _ in parts], len(parts[-1][0])
            for states, seen in parts[:-1]:
                kept += [w for w in windows(states, seen, h) if w[0] == known + h - 1]
            x, y = (list(chain(*column)) for column in zip(*parts, strict=True))
        else:  # consecutive pieces, the last of which ends with the history
            kept = [w for w in windows(x, y, h) if (len(x) - 1 - w[0]) % h == 0]
        expected = {}
        for c in candidates(model, new):
            p = []
            for k in range(h):
                past = [1 - scored(start, seen, k, states[k]) for _, start, states, seen in kept]
                p.append(counted(past, 1 - scored(x[-1], new, k, c[k])))
            expected[c] = min(h * min(p), Fraction(1))
        cp = UnionMultiStep(given, conformity_score=score).fit(y, x, lengths)
        assert cp.exact == several
        check(cp, new, expected)


def strange(model, state, symbol):
    """One minus a state's share of the likelihood of an observation."""
    return 1 - model.B[state][symbol] / sum(row[symbol] for row in model.B)


@pytest.mark.parametrize("conditional", [True, False])
def test_union_over_sequences(conditional):
    for seed in range(CASES):
        _, model, given, x, y, new = case(seed)
        h = len(new)

        expected = {}
        for c in candidates(model, new):
            p = []
            for state, symbol in zip(c, new, strict=True):
                pairs = zip(x, y, strict=True)
                past = [strange(model, a, b) for a, b in pairs if a == state or not conditional]
                p.append(counted(past, strange(model, state, symbol)))
            expected[c] = min(h * min(p), Fraction(1))
        cp = UnionOverSequences(given, conditional=conditional).fit(y, x)
        assert cp.exact == conditional
        check(cp, new, expected)
        listed = [exp(-model.path(x[-1], c, new)) for c in cp.predict_set(list(new), 0.5)]
        assert all(a >= b - 1e-9 for a, b in pairwise(listed))


def test_sequences_that_train_are_counted_with_gaps_between_them():
    for seed in range(CASES // 4):
        rng, model, _, _, _, new = case(seed)
        n, m, h = model.n, model.m, len(new)
        parts = pieces_of(rng, model, h, 8)
        parts[0] = (list(range(n)) + [0] * m, [0] * n + list(range(m)))  # codes in their order
        counts = counted_chain(parts[:3], n, m)
        known, expected = len(parts[-1][0]), {}
        kept = [w for part in parts[3:-1] for w in windows(*part, h) if w[0] == known + h - 1]
        last = parts[-1][0][-1]
        for c in candidates(model, new):
            p = []
            for k in range(h):
                past = [1 - counts.smoother(s, seen, k, states[k]) for _, s, states, seen in kept]
                p.append(counted(past, 1 - counts.smoother(last, new, k, c[k])))
            expected[c] = min(h * min(p), Fraction(1))
        x, y = (list(chain(*column)) for column in zip(*parts, strict=True))
        for share in (3, 0.5):  # of the seven before the last
            cp = UnionMultiStep(HMM(), train_size=share).fit(y, x, [len(part[0]) for part in parts])
            check(cp, new, expected)
        # Pairs of all steps that calibrate, those of the last sequence included.
        pairs = [pair for part in parts[3:] for pair in zip(*part, strict=True)]
        past = [strange(counts, *pair) for pair in pairs]
        expected = {}
        for c in candidates(model, new):
            p = [counted(past, strange(counts, *pair)) for pair in zip(c, new, strict=True)]
            expected[c] = min(h * min(p), Fraction(1))
        check(UnionOverSequences(HMM()).fit(y, x, [len(part[0]) for part in parts]), new, expected)
