"""Promises about steps, about errors and about late labels, by adding up all sequences."""

import warnings
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import floor, fsum
from typing import NamedTuple

import numpy as np
import pytest
from tests.making import promising
from tests.products import covering

import definetti.sets.steps
from definetti import HMM, ConformalHMM, Errors, given_hmm
from definetti.engine.pvalues import miscoverage, ranks
from definetti.engine.thresholds import limit, risk_limit
from definetti.exceptions import FewBlocksWarning
from definetti.scores.nonconformity import round_scores

LAWS = {
    "sticky": ([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.8, 0.2], [0.3, 0.7]]),
    "alternating, meaningless": ([0.5, 0.5], [[0.1, 0.9], [0.9, 0.1]], [[0.5, 0.5], [0.5, 0.5]]),
    "reducible": ([0.9, 0.1], [[0.8, 0.2], [0.0, 1.0]], [[0.7, 0.3], [0.2, 0.8]]),
    "unequal": ([0.3, 0.7], [[0.6, 0.4], [0.3, 0.7]], [[0.9, 0.1], [0.1, 0.9]]),
}
LEVELS = (0.2, 0.6)  # low ones: short histories leave little out at others
ASKED = (*LEVELS, {0: 0.2, 1: 0.6})  # and each last state at a level of its own
# What is promised over all, and given each last state.
PROMISED = np.array([[0.2, 0.6, 0.2], [0.2, 0.6, 0.2], [0.2, 0.6, 0.6]])


def erratic(start, observations):
    """A predictor that says anything, the same for the same input; some states are impossible."""
    first = (np.asarray(start, float)[:, None] * 7.3 + observations.astype(float) * 3.1) % 1.0
    first = np.where((observations == 1) & (np.asarray(start)[:, None] == 0), 0.0, first)
    return np.stack([first, 1 - first], axis=-1)


MODELS = {
    "right": {"model": given_hmm(*LAWS["sticky"][1:])},
    "wrong": {"model": given_hmm([[0.05, 0.95], [0.99, 0.01]], [[0.1, 0.9], [1.0, 0.0]])},
    "callable": {"model": erratic},
    "split": {"train_size": 2},
    "split, no prior": {"model": HMM(prior=0), "train_size": 2},
}


class Everything(NamedTuple):
    """All sequences, and what came of the task about each.

    Attributes
    ----------
    states, observations : (S, T + h)
    outcome : (S, levels) a number for each sequence: a loss, or the chance of being covered
    """

    states: np.ndarray
    observations: np.ndarray
    outcome: np.ndarray

    def expected(self, law):
        """The mean outcome under a law, over all and given each last state that can be."""
        initial, transition, emission = map(np.array, law)
        x, y = self.states, self.observations
        p = initial[x[:, 0]] * transition[x[:, :-1], x[:, 1:]].prod(axis=1)
        if y.any():  # with one symbol, there is nothing to see
            p = p * emission[x, y].prod(axis=1)
        given = [np.ones(len(x), bool), *(x[:, -1] == i for i in range(len(initial)))]
        return np.array(
            [
                [fsum(p[kept] * column[kept]) / fsum(p[kept]) for column in self.outcome.T]
                for kept in given
                if p[kept].sum() > 0
            ]
        )


def enumerated(predictor, length, horizon, asked, n_symbols=2):
    """Ask about every sequence of two states and one or two symbols.

    `asked` gives, from a fitted predictor and new symbols, a function from the true new states
    to one outcome per level.
    """
    rows = []
    for past in product(range(2), repeat=length):
        for seen in product(range(n_symbols), repeat=length):
            fitted = predictor.set_params(states=[0, 1]).fit(seen, past)
            for symbols in product(range(n_symbols), repeat=horizon):
                outcome = asked(fitted, symbols)
                for new in product(range(2), repeat=horizon):
                    rows.append((past + new, seen + symbols, outcome(new)))
    return Everything(*map(np.array, zip(*rows, strict=True)))


def wrong_steps(lag, share, changed=lambda s: s):
    """Ask for step sets and count the steps at which they are wrong."""

    def asked(fitted, symbols):
        with warnings.catch_warnings():  # some of so short histories have no blocks at all
            warnings.simplefilter("ignore", FewBlocksWarning)
            sets = [changed(fitted.predict_set(symbols, level, lag=lag)) for level in ASKED]

        def outcome(new):
            late = new[lag:]  # labels are codes here
            wrong = [int((~s.nodes[range(len(late)), late]).sum()) for s in sets]
            return [w / len(late) for w in wrong] if share else wrong

        return outcome

    return asked


def chances(lag):
    """Ask whether the steps after the lag are covered, and how probably with smoothing."""

    def asked(fitted, symbols):
        found = fitted.predict_ranks(symbols, lag=lag)
        return lambda new: covered(found[tuple(new[lag:])])

    return asked


@cache
def covered(rank):
    """Whether a rank is inside at each level, then how probably it is with smoothing."""
    alphas = [miscoverage(level) for level in LEVELS]
    plain = [float(rank.exceeds(alpha)) for alpha in alphas]
    return plain + [float(rank.chance(alpha)) for alpha in alphas]


def fixed(name, **parameters):
    return ConformalHMM(**MODELS[name], allow_empty=True, **parameters)


def long_and_varied(name, horizon, predictor, asked):
    """Histories long enough to leave states out after, and short ones with two symbols.

    The sets are as wide as the last state with the fewest blocks makes them, so that short
    histories give full sets, and long ones with two symbols are too many.
    """
    length = 9 if "train_size" in MODELS[name] else 8
    yield enumerated(predictor, length, horizon, asked, n_symbols=1)
    yield enumerated(predictor, 4 if horizon < 3 else 3, horizon, asked)


@pytest.mark.slow_cases("right-asked0", "wrong-asked5")
@pytest.mark.parametrize(
    ("name", "asked"), covering(MODELS, [(2, 1), (1, 0), (2, 0), (3, 2)], fast=2)
)
def test_the_share_of_wrong_steps_is_kept(name, asked):
    horizon, lag = asked
    predictor = fixed(name, guarantee="steps")
    wrong = 0
    for everything in long_and_varied(name, horizon, predictor, wrong_steps(lag, share=True)):
        wrong += everything.outcome.sum()
        for law in LAWS.values():
            assert (everything.expected(law) <= 1 - PROMISED + 1e-12).all()
    assert wrong  # full sets are never wrong, and prove nothing


@pytest.mark.slow_cases("callable-asked12", "right-asked0", "wrong-asked6")
@pytest.mark.parametrize(
    ("name", "asked"),
    covering(MODELS, [(1, 0, 0), (2, 0, 0), (2, 0, 1), (2, 1, 0), (3, 1, 1)], fast=3),
)
def test_no_more_errors_than_promised(name, asked):
    horizon, lag, max_errors = asked
    predictor = fixed(name, guarantee=Errors(max_errors))
    broken = 0
    for everything in long_and_varied(name, horizon, predictor, wrong_steps(lag, share=False)):
        kept = everything._replace(outcome=everything.outcome <= max_errors)
        broken += (~kept.outcome).sum()
        for law in LAWS.values():
            assert (kept.expected(law) >= PROMISED - 1e-12).all()
    assert broken


@pytest.mark.slow_cases("right-path", "wrong-filter")
@pytest.mark.parametrize(
    ("name", "score"), covering(MODELS, ["path", "filter", "smoother", "joint", "band"], fast=2)
)
def test_late_labels_are_covered_exactly(name, score):
    """What is not asked about has any state: only the steps after the lag count."""
    for length, horizon, lag in [(4, 2, 1), (3, 3, 2)]:
        everything = enumerated(fixed(name, conformity_score=score), length, horizon, chances(lag))
        for law in LAWS.values():
            plain, smoothed = np.split(everything.expected(law), 2, axis=1)
            assert (plain >= np.array(LEVELS) - 1e-12).all()
            assert smoothed == pytest.approx(np.tile(LEVELS, (len(smoothed), 1)), abs=1e-9)


def test_the_listed_set_is_made_of_the_ranks_that_were_added_up():
    """Enumeration looks at ranks; users look at sets."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        past, seen = rng.integers(2, size=(2, 12)).tolist()
        symbols = rng.integers(2, size=3).tolist()
        fitted = fixed("wrong", states=[0, 1]).fit(seen, past)
        for lag in (1, 2):
            found = fitted.predict_ranks(symbols, lag=lag)
            for level in LEVELS:
                s = fitted.predict_set(symbols, level, lag=lag)
                inside = {x for x, rank in found.items() if rank.exceeds(miscoverage(level))}
                assert set(s) == inside


def test_the_new_block_must_be_reckoned_with(monkeypatch):
    """The check can fail: without the one wrong block that the new one may be, it does."""

    def forgetful(steps, blocks, horizon, alpha):
        wrong = floor(horizon * alpha * (blocks + 1))
        if not blocks:
            return np.inf
        return -np.inf if wrong >= len(steps) else float(steps[len(steps) - 1 - wrong]) + 1e-9

    monkeypatch.setattr(definetti.sets.steps, "risk_limit", forgetful)
    predictor, asked = fixed("right", guarantee="steps"), wrong_steps(lag=0, share=True)
    everything = enumerated(predictor, 8, 2, asked, n_symbols=1)
    excess = [everything.expected(law) - (1 - PROMISED) for law in LAWS.values()]
    assert max(part[0].max() for part in excess) > 0.01


def naive_risk_limit(blocks, alpha):
    """By definition: the smallest value at which the risk, one bad block added, is in order."""
    values = sorted({value for block in blocks for value in block})
    for value in values:
        losses = [Fraction(sum(x > value for x in block), len(block)) for block in blocks]
        if (sum(losses) + 1) / (len(blocks) + 1) <= alpha:
            return float(value)
    return np.inf


def spaced_windows(states, last, horizon):
    """By definition: cut backwards, each time at the latest visit at least a horizon before."""
    cuts, bound = [], len(states) - 1
    while visits := [t for t in range(bound + 1) if states[t] == last]:
        cuts.append(visits[-1])
        bound = visits[-1] - horizon
    return [range(end - horizon + 1, end + 1) for end in cuts[:-1]]


def strangeness(start, symbols, transition, emission):
    """One minus the probability of each state at each step, by adding up all paths."""
    n, h = len(transition), len(symbols)
    weights = np.zeros((h, n))
    for path in product(range(n), repeat=h):
        pairs = zip((start, *path[:-1]), path, symbols, strict=True)
        p = np.prod([transition[i, j] * emission[j, k] for i, j, k in pairs])
        weights[range(h), path] += p
    return 1 - weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.slow_cases("errors-0", "steps-0")
@pytest.mark.parametrize(("guarantee", "max_errors"), [("steps", 0), ("errors", 0), ("errors", 1)])
def test_step_sets_are_those_of_the_definition(guarantee, max_errors):
    """Cuts, probabilities, limits and sets, all in the plainest way."""
    rng = np.random.default_rng(1)
    proper = sharper = let_in = 0
    for _ in range(60):
        n, h = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        lag = int(rng.integers(0, h))
        law = rng.dirichlet(np.ones(n), n), rng.dirichlet(np.ones(2), n)
        x, y = rng.integers(n, size=40).tolist(), rng.integers(2, size=40).tolist()
        new, alpha = rng.integers(2, size=h).tolist(), Fraction(int(rng.integers(3, 9)), 10)
        limits = []
        for last in range(n):
            past = []
            for window in spaced_windows(x, last, h):
                found = strangeness(x[window[0] - 1], [y[t] for t in window], *law)
                past.append([found[k, x[t]] for k, t in enumerate(window)][lag:])
            if guarantee == "steps":
                limits.append(naive_risk_limit(past, alpha))
                continue
            # So many steps may be wrong: the next strangest one decides.
            scores = [([*sorted(block)[::-1], *[0.0] * h])[max_errors] for block in past]
            inside = [
                s for s in scores if 1 + sum(t >= s for t in scores) > alpha * (len(past) + 1)
            ]
            limits.append(np.inf if alpha * (len(past) + 1) < 1 else max(inside, default=-np.inf))
        strange, own = strangeness(x[-1], new, *law)[lag:], np.array(limits) + 2e-9
        expected = strange <= own.max()
        expected[-1] = strange[-1] <= own  # the truth there is the last state itself
        if guarantee == "errors" and max_errors == 0:  # which is lost, or has its limit
            expected[:-1] = strange[:-1] <= own[expected[-1]].max(initial=-np.inf)
        sharper += (expected != (strange <= own.max())).any()
        cp = ConformalHMM(
            given_hmm(*law), guarantee=promising(guarantee, max_errors), states=range(n)
        ).fit(y, x)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewBlocksWarning)
            filled = cp.predict_set(new, float(1 - alpha), lag=lag)
            s = cp.set_params(allow_empty=True).predict_set(new, float(1 - alpha), lag=lag)
        np.testing.assert_array_equal(s.nodes, expected)
        proper += 0 < expected.sum() < expected.size
        empty = ~expected.any(axis=1)
        expected[empty, s.marginals.argmax(axis=1)[empty]] = True
        np.testing.assert_array_equal(filled.nodes, expected)
        assert filled.filled_steps.tolist() == empty.tolist()
        assert (filled.filled, s.filled) == (empty.any(), False)
        let_in += empty.sum()
    assert proper > 20
    assert let_in
    assert sharper > 5


def drop(s):
    """Let the steps before the last forget the limits of states that the last step leaves out."""
    there = s.nodes[-1]
    return replace(s, limit=float(s.last_limits[there].max(initial=-np.inf)))


@pytest.mark.slow_cases("settings1-False")
@pytest.mark.parametrize(("settings", "share"), [
    ({"guarantee": "steps"}, True), ({"guarantee": Errors(1)}, False),
])  # fmt: skip
def test_where_errors_are_allowed_no_limit_may_be_dropped(settings, share):
    """With none allowed a last state that is left out has lost the window; else it has not."""
    predictor, asked = fixed("wrong", **settings), wrong_steps(0, share, drop)
    everything, short = enumerated(predictor, 8, 2, asked, n_symbols=1), []
    for law in LAWS.values():
        if share:
            short.append((everything.expected(law) - (1 - PROMISED)).max())
        else:
            kept = everything._replace(outcome=everything.outcome <= 1)
            short.append((PROMISED - kept.expected(law)).max())
    assert max(short) > 0.01


@pytest.mark.slow_cases("spaced-steps")
@pytest.mark.parametrize(
    ("symmetry", "guarantee"), covering(["spaced", "departures"], ["steps", "errors"])
)
def test_at_one_step_all_guarantees_are_one(guarantee, symmetry):
    """The share of one step that is right is whether it is right, and so is the promise."""
    rng = np.random.default_rng(2)
    proper = 0
    for _ in range(60):
        n = int(rng.integers(2, 5))
        law = rng.dirichlet(np.ones(n), n), rng.dirichlet(np.ones(2), n)
        x, y = rng.integers(n, size=40).tolist(), rng.integers(2, size=40).tolist()
        own = {0: 0.5, None: 0.7}
        for level in (0.6, 0.8, own):
            sets = [
                ConformalHMM(
                    given_hmm(*law),
                    conformity_score=score,
                    guarantee=way,
                    symmetry=symmetry,
                    states=range(n),
                    allow_empty=True,
                )
                .fit(y, x)
                .predict_set([1], level)
                for score, way in (("band", guarantee), ("band", "all"), ("smoother", "all"))
            ]
            assert sets[0].nodes.tolist() == sets[1].nodes.tolist() == sets[2].nodes.tolist()
            proper += 0 < sets[0].nodes.sum() < n
    assert proper > 60


@pytest.mark.parametrize("seed", range(5))
def test_the_risk_limit_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    finite = 0
    for _ in range(100):
        number, horizon = int(rng.integers(0, 14)), int(rng.integers(1, 6))
        # Eighths: many ties, and no rounding in the definition.
        blocks = rng.integers(0, int(rng.choice([2, 9])), (number, horizon)) / 8
        alpha = Fraction(int(rng.integers(1, 20)), 20)
        steps = np.sort(blocks, axis=None)
        expected = naive_risk_limit(blocks.tolist(), alpha)
        assert risk_limit(steps, number, horizon, alpha) == pytest.approx(expected, abs=2e-9)
        # What is equal but for rounding is equal.
        blurred = np.sort(steps + rng.uniform(-1e-13, 1e-13, len(steps)))
        assert risk_limit(blurred, number, horizon, alpha) == pytest.approx(expected, abs=2e-9)
        finite += np.isfinite(expected)
    assert finite > 50


@pytest.mark.parametrize("smoothed", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_limit_separates_what_ranks_let_in_from_what_they_do_not(seed, smoothed):
    rng = np.random.default_rng(seed)
    both = 0
    for _ in range(100):
        scores = rng.integers(0, int(rng.choice([2, 5, 50])), int(rng.integers(0, 25))) / 4 - 1
        scores = round_scores(scores + rng.uniform(-1e-13, 1e-13, len(scores)))
        scores[rng.random(len(scores)) < rng.choice([0, 0.3])] = np.inf
        scores.sort()
        alpha = Fraction(int(rng.integers(1, 20)), 20)
        uniform = float(rng.choice([rng.random(), 0.0, 1e-12])) if smoothed else None
        found = limit(scores, alpha, uniform)
        candidates = np.concatenate([scores, np.arange(-2, 14, 1 / 8), [1e300, np.inf]])
        weights = np.ones(len(scores), dtype=np.int64)
        placed = ranks(scores, weights, candidates, joins=True)
        inside = [rank.exceeds(alpha, uniform) for rank in placed]
        assert (candidates <= found).tolist() == inside
        both += 0 < sum(inside) < len(inside)
    assert both > 40


@pytest.mark.parametrize(
    ("alpha", "blocks", "place"),
    [(Fraction(1, 10), 9, 9), (Fraction(1, 5), 4, 4), (Fraction(1, 10), 19, 18)],
)
def test_boundaries_where_the_level_is_met_exactly(alpha, blocks, place):
    """At K = 10 and α = 0.1 the largest of nine scores is the limit; floats would miss it."""
    scores = np.arange(1.0, blocks + 1)
    assert limit(scores, alpha) == pytest.approx(place)
    assert limit(scores[:-1], Fraction(1, blocks + 1)) == np.inf
    # With one step per block the risk is the chance of an error, and the two limits are one.
    assert risk_limit(scores, blocks, 1, alpha) == limit(scores, alpha)


def test_promises_about_steps_need_a_fixed_model():
    full = {"train_size": 2, "symmetry": "full"}
    for parameters, remedy in (({}, r"train_size=0\.5"), (full, "symmetry='spaced'")):
        for guarantee in ("steps", "errors"):
            cp = ConformalHMM(guarantee=guarantee, **parameters).fit([0, 1] * 5, [0, 1] * 5)
            with pytest.raises(ValueError, match=rf"guarantee='{guarantee}'.*; (set|use) {remedy}"):
                cp.predict_set([0, 1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"guarantee": "some"}, "guarantee must be"),
        ({"guarantee": 2}, "guarantee must be"),
        ({"guarantee": Errors}, "guarantee must be"),
    ],
)
def test_promises_that_there_are_none_of(parameters, message):
    with pytest.raises(ValueError, match=message):
        ConformalHMM(train_size=2, **parameters).fit([0, 1] * 5, [0, 1] * 5)


@pytest.mark.parametrize("number", [-1, 0.5, "1", None, True])
def test_numbers_of_errors_that_are_none(number):
    with pytest.raises(ValueError, match="max_errors must be a whole number ≥ 0"):
        Errors(number)


def test_errors_by_name_are_none_at_all():
    y, x = [0, 1, 1] * 20, [0, 1, 1] * 20
    named, given = (fixed("right", guarantee=one).fit(y, x) for one in ("errors", Errors(0)))
    assert named.predict_set([0, 1, 1], 0.5) == given.predict_set([0, 1, 1], 0.5)


def test_errors_are_counted_where_the_states_are_not():
    y, x = [0, 1, 1] * 20, [0, 1, 1] * 20
    s = fixed("right", guarantee=Errors(1)).fit(y, x).predict_set([0, 1, 1], 0.5)
    for truth in product(range(2), repeat=3):
        wrong = sum(state not in there for state, there in zip(truth, s.steps, strict=True))
        assert s.wrong(truth) == wrong
        assert (truth in s) == (wrong <= 1)
    assert {s.wrong(truth) for truth in product(range(2), repeat=3)} != {0}


def test_more_errors_allowed_than_steps_promises_nothing():
    cp = fixed("right", guarantee=Errors(3)).fit([0, 1] * 20, [0, 1] * 20)
    s = cp.predict_set([0, 1], 0.5)
    assert all(truth in s for truth in product(range(2), repeat=2))
