"""Where nothing is plausible the most plausible is let in, and no promise is hurt by it.

What `definetti.verify` adds up is compared with the sets that users get, history by history and
whatever the uniform is; `test_exactness` has the coverage of all models from there on.
"""

import pickle
import warnings
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from tests.products import covering

from definetti import ConformalHMM, ConformalSequences, LatticeSet, PredictionSet, given_hmm
from definetti.engine.pvalues import Rank, filling_chances, miscoverage
from definetti.engine.task import PredictionTask
from definetti.experiments import Classical
from definetti.report import make_report
from definetti.scores import Score
from definetti.simulate import weather
from definetti.symmetry import Symmetry
from definetti.verify import enumerate_ranks

LEVELS = (0.3, 0.8)
# Probabilities that no two paths share: ties of the score have no order that is promised.
MODEL = given_hmm([[0.71, 0.29], [0.37, 0.63]], [[0.83, 0.17], [0.31, 0.69]])
SHAPE = (2, 2, 2, 2)  # states, symbols, labelled steps, horizon
LONGER = (2, 1, 6, 2)
BY_STEP = [name for name, one in Score.named.items() if one.trellis is not Score.trellis]
FIXED = [name for name, one in Symmetry.named.items() if one.by_last_state]


def turning_points(ranks, alpha):
    """All uniforms at which a p-value meets alpha or another: between two, the set is one."""
    lines = {(Fraction(r.greater, r.total), Fraction(r.equal, r.total)) for r in ranks}
    places = {(alpha - at) / rise for at, rise in lines if rise}
    for (at, rise), (other, climb) in combinations(lines, 2):
        if rise != climb:
            places.add((other - at) / (rise - climb))
    # Where only some p-values are smoothed, they meet what the others are as well.
    for (at, rise), (other, climb) in product(lines, repeat=2):
        places |= {(other + climb - at) / rise} if rise else set()
    return sorted({Fraction(0), Fraction(1), *(u for u in places if 0 < u < 1)})


def chances_by_sets(cp, asked, shape, level, monkeypatch):
    """How probably each candidate is in the set that a user gets, in the order of `verify`."""
    n, m, length, horizon = shape
    found, filled = [], 0
    for past, seen in product(product(range(n), repeat=length), product(range(m), repeat=length)):
        cp.fit(seen, past), asked.fit(seen, past)
        for symbols in product(range(m), repeat=horizon):
            ranks = asked.predict_ranks(symbols)
            inside = dict.fromkeys(ranks, 0.0)
            random = cp.smoothing or any(rank.randomised for rank in ranks.values())
            turns = turning_points(ranks.values(), miscoverage(level)) if random else [0, 1]
            for low, high in pairwise(turns):
                monkeypatch.setattr(
                    PredictionTask, "uniform", lambda _, u=float((low + high) / 2): u
                )
                s = cp.predict_set(symbols, level)
                members = list(iter(s))
                assert members or cp.allow_empty
                plausible = [s.p_value(one) > float(miscoverage(level)) for one in members]
                assert plausible == ([False] if s.filled else [True] * len(members))
                filled += s.filled
                for sequence in members:
                    inside[sequence] += float(high - low)
            found.extend(inside.values())
    return found, filled


def settings(**parameters):
    return {"states": [0, 1], "random_state": 0, **parameters}


@pytest.mark.slow_cases("departures-band-True", "pairs-filter-True")
@pytest.mark.filterwarnings("ignore::definetti.exceptions.FewBlocksWarning")
@pytest.mark.parametrize(
    ("symmetry", "score", "smoothing"), covering(Symmetry.named, Score.named, [True, False], fast=3)
)
def test_listed_sets_are_those_that_verify_adds_up(symmetry, score, smoothing, monkeypatch):
    parameters = settings(conformity_score=score, symmetry=symmetry, smoothing=smoothing)
    let_in = 0
    for allow_empty in (False, True):
        cp = ConformalHMM(**parameters, allow_empty=allow_empty)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of symmetries that are not exact
            everything = enumerate_ranks(cp, *SHAPE)
            for level in LEVELS:
                found, filled = chances_by_sets(cp, cp, SHAPE, level, monkeypatch)
                assert everything.chances(level) == pytest.approx(found, abs=1e-12)
                let_in += filled
                assert not (filled and allow_empty)
    assert let_in or symmetry in ("shifts", "published") or not smoothing


@pytest.mark.slow_cases("departures-band-True", "spaced-filter-False")
@pytest.mark.filterwarnings("ignore::definetti.exceptions.FewBlocksWarning")
@pytest.mark.parametrize(
    ("symmetry", "score", "smoothing"), covering(FIXED, BY_STEP, [True, False], fast=2)
)
def test_lattices_are_those_that_verify_adds_up(symmetry, score, smoothing, monkeypatch):
    parameters = settings(
        model=MODEL, conformity_score=score, symmetry=symmetry, smoothing=smoothing
    )
    let_in = 0
    for allow_empty in (False, True):
        asked = ConformalHMM(**parameters, allow_empty=allow_empty)
        cp = ConformalHMM(**parameters, allow_empty=allow_empty, max_candidates=3)
        everything = enumerate_ranks(asked, *LONGER)
        with monkeypatch.context() as patched:
            for level in LEVELS:
                found, filled = chances_by_sets(cp, asked, LONGER, level, patched)
                assert everything.chances(level) == pytest.approx(found, abs=1e-12)
                let_in += filled
    assert isinstance(cp.predict_set([0, 0]), LatticeSet)
    assert let_in or not smoothing  # without it, another test has one


# What a set with a member that was let in says of itself.


def strange_question(**parameters):
    """A fixed model of two states, and what neither of them shows as a rule."""
    rng = np.random.default_rng(2)
    x = (rng.random(400).cumsum() * 0.2).astype(int) % 2
    y = np.where(rng.random(400) < 0.02, 2, x)
    model = given_hmm([[0.9, 0.1], [0.12, 0.88]], [[0.96, 0.01, 0.03], [0.02, 0.95, 0.03]])
    cp = ConformalHMM(model, confidence_level=0.3, random_state=0, **parameters)
    return cp.fit(y.tolist(), x.tolist()), [2, 0, 2, 1, 2, 0]


@pytest.mark.parametrize("score", BY_STEP)
def test_a_lattice_with_a_member_that_was_let_in_is_a_set_of_one(score):
    cp, new = strange_question(conformity_score=score, max_candidates=10)
    s, every = cp.predict_set(new), cp.predict_p(new)
    empty = cp.set_params(allow_empty=True).predict_set(new)
    assert isinstance(s, LatticeSet)
    assert not empty
    assert (len(empty), empty.filled, empty.best) == (0, False, None)
    assert s
    assert s.filled
    assert (len(s), tuple(s.size()), s.scaled_size) == (1, (1, 1), 2.0**-6)
    assert list(s) == s.sequences == [s.best] == [every.best]
    assert s.best in s
    assert sum(path in s for path in product((0, 1), repeat=6)) == 1
    assert s.steps == [(label,) for label in s.best]
    assert s.widths.tolist() == [1] * 6
    assert s.edges.sum(axis=(1, 2)).tolist() == [1] * 5
    assert [tuple(np.argwhere(edge)[0]) for edge in s.edges] == list(pairwise(s.best))
    assert s.p_values.tolist() == [every.p_value(s.best)] == [s.p_value(s.best)]
    for path in product((0, 1), repeat=6):
        assert s.p_value(path) == empty.p_value(path) == every.p_value(path)
    np.testing.assert_array_equal(s.step_p_values, empty.step_p_values)
    assert "nothing is plausible at this level; the most plausible is shown" in repr(s)
    assert "nothing is plausible" in s._repr_html_()
    assert "nothing is plausible" not in repr(empty)
    again = pickle.loads(pickle.dumps(s))
    assert again == s != empty
    assert (again.filled, list(again)) == (True, list(s))
    assert s.to_frame().in_set.sum() == 6


def test_the_lattice_and_the_list_let_in_the_same():
    cp, new = strange_question()
    listed = cp.predict_set(new)
    lattice = cp.set_params(max_candidates=10).predict_set(new)
    assert isinstance(listed, PredictionSet)
    assert listed.sequences == lattice.sequences
    assert listed.p_values.tolist() == lattice.p_values.tolist()
    assert listed.filled
    assert lattice.filled


def test_one_of_many_that_are_equally_strange_is_let_in():
    """All paths cost the same: a limit raised to that would let in all of them."""
    cp = ConformalHMM(
        given_hmm([[0.5, 0.5]] * 2, [[0.5, 0.5]] * 2), smoothing=True, random_state=1,
        confidence_level=0.01, max_candidates=5,
    ).fit([0, 1] * 50, [0, 1, 1, 0] * 25)  # fmt: skip
    assert not cp.set_params(allow_empty=True).predict_set([0, 1, 0, 1, 0, 1])
    s = cp.set_params(allow_empty=False).predict_set([0, 1, 0, 1, 0, 1])
    assert s.filled
    assert len(s) == len(list(s)) == 1


def test_a_listed_set_says_that_its_member_was_let_in():
    cp, new = strange_question()
    s = cp.predict_set(new)
    empty = cp.set_params(allow_empty=True).predict_set(new)
    assert (len(s), s.filled, len(empty), empty.filled) == (1, True, 0, False)
    assert repr(s).splitlines()[-2] == (
        "  nothing is plausible at this level; the most plausible is shown"
    )
    assert "nothing is plausible" in s._repr_html_()
    assert "nothing is plausible" not in repr(empty)
    assert s.best == s.sequences[0] == cp.predict_p(new).best
    assert not cp.predict_set(new, 0.999).filled


def test_steps_say_where_a_state_was_let_in():
    cp, new = strange_question(guarantee="steps")
    s = cp.predict_set(new, 0.97)
    empty = cp.set_params(allow_empty=True).predict_set(new, 0.97)
    assert 0 < s.filled_steps.sum() < len(new)
    assert s.filled_steps.tolist() == [not step for step in empty.steps]
    assert (s.filled, empty.filled) == (True, False)
    assert not empty.filled_steps.any()
    assert f"at {s.filled_steps.sum()} of 6 steps; the most probable is shown" in repr(s)
    assert "nothing is plausible" in s._repr_html_()
    assert "nothing is plausible" not in repr(empty)
    for step, plain, best in zip(s.steps, empty.steps, s.best, strict=True):
        assert step == plain or (not plain and step == (best,))


def test_whole_sequences_have_a_state_at_every_step():
    weeks = [weather(7, random_state=seed) for seed in range(60)]
    observations, states = ([x for week in weeks for x in week[part]] for part in (0, 1))
    cp = ConformalSequences(confidence_level=0.3).fit(observations, states, lengths=[7] * 60)
    new = [x for seed in range(60, 80) for x in weather(7, random_state=seed).observations]
    some = cp.predict_set(new, lengths=[7] * 20)
    bare = cp.set_params(allow_empty=True).predict_set(new, lengths=[7] * 20)
    assert all(step for s in some for step in s.steps)
    assert not all(step for s in bare for step in s.steps)
    for s, other in zip(some, bare, strict=True):
        assert s.filled_steps.tolist() == [not step for step in other.steps]
    with pytest.raises(ValueError, match="allow_empty must be True or False"):
        cp.set_params(allow_empty=1).predict_set(new)


def test_it_is_a_flag():
    with pytest.raises(ValueError, match="allow_empty must be True or False"):
        ConformalHMM(allow_empty="no").fit(["a"], ["b"])


# Judged by the truth.


@pytest.mark.parametrize("allow_empty", [False, True])
@pytest.mark.parametrize("parameters", [{}, {"max_candidates": 3}, {"guarantee": "steps"}])
def test_an_evaluation_counts_the_sets_that_were_filled(allow_empty, parameters):
    cp, _ = strange_question(allow_empty=allow_empty, **parameters)
    rng = np.random.default_rng(7)
    y, x = rng.integers(0, 3, 40).tolist(), rng.integers(0, 2, 40).tolist()
    found = cp.evaluate(y, x, horizon=2)
    rows, sets = [], []
    for k in range(0, 40, 2):
        sets.append(cp.predict_set(y[k : k + 2]))
        rows.append(sets[-1].covers_unfilled(tuple(x[k : k + 2])))
        cp.partial_fit(y[k : k + 2], x[k : k + 2])
    assert found.covered.tolist() == rows
    assert found.filled.tolist() == [s.filled for s in sets]
    assert found.filled.any() == (not allow_empty)
    assert ("before the most plausible was let in" in repr(found)) == (not allow_empty)
    assert (found.widths.min() >= 1) == (not allow_empty)


@pytest.mark.slow_cases("steps-True-3")
@pytest.mark.parametrize(
    ("guarantee", "allow_empty", "most"), covering(["all", "steps"], [False, True], [100_000, 3])
)
def test_a_report_has_the_sets_of_every_level(guarantee, allow_empty, most):
    """What a page reads off p-values is what `predict_set` and `evaluate` say, level by level."""
    y, x = weather(120, random_state=3)
    cp = ConformalHMM(
        train_size=0.5, guarantee=guarantee, allow_empty=allow_empty, max_candidates=most,
        random_state=0, states=["sun", "rain"],
    )  # fmt: skip
    contents = make_report(cp, y[:110], x[:110], y[110:112], windows=30).contents
    new, levels = contents["new"], contents["levels"]
    assert contents["allow_empty"] == allow_empty
    begin = contents["backtest"]["first_row"] - 1
    past = ConformalHMM(**cp.get_params()).fit(y[:begin], x[:begin])
    cp.fit(y[:110], x[:110])
    for place, level in enumerate(levels):
        s = cp.predict_set(y[110:112], level)
        assert (np.array(new["first"]) <= place).tolist() == s.nodes.tolist()
        assert new["filled"][place] == s.filled
        if guarantee == "all":
            inside = [one for one in new["sequences"] if one["first"] <= place]
            named = [tuple(s.states[code] for code in one["codes"]) for one in inside]
            assert named == list(iter(s))
            assert new["counts"] is None or new["counts"][place] == len(named)
        judged = past.evaluate(y[begin:110], x[begin:110], level, horizon=2)
        ours = contents["backtest"]["methods"]["definetti"][place]
        assert ours["share_filled"] == judged.filled.mean()
        if guarantee == "all":
            assert ours["coverage"] == judged.coverage
            if ours["mean_size"] is not None:
                assert ours["mean_size"] == judged.size
        assert ours["mean_states_per_step"] == judged.width
    assert any(new["filled"]) <= (not allow_empty)


def test_methods_of_others_are_as_they_were():
    y, x = weather(200, random_state=0)
    sizes = (
        Classical(confidence_level=0.2)
        .fit(y[:150], x[:150])
        .evaluate(y[150:], x[150:], horizon=1)
        .sizes
    )
    assert (sizes == 0).any()


# The uniform and the one that is let in.


@pytest.mark.slow
def test_the_one_that_is_let_in_by_a_plain_search():
    rng = np.random.default_rng(0)
    turns = 0
    for _ in range(150):
        number, alpha = int(rng.integers(1, 6)), Fraction(int(rng.integers(1, 20)), 20)
        ranks = []
        for _ in range(number):
            total = int(rng.integers(1, 12))
            equal = int(rng.integers(1, total + 1))
            greater = int(rng.integers(0, total - equal + 1))
            ranks.append(Rank(greater, equal, total, bool(rng.random() < 0.3)))
        for smoothing in (False, True):
            found = filling_chances(ranks, [alpha] * len(ranks), smoothing)
            counted, grid = np.zeros(number), 500
            for k in range(grid):
                uniform = (k + 0.5) / grid
                broken = [uniform if smoothing or r.randomised else None for r in ranks]
                p_values = [r.p_value(u) for r, u in zip(ranks, broken, strict=True)]
                if not any(r.exceeds(alpha, u) for r, u in zip(ranks, broken, strict=True)):
                    counted[int(np.argmax(p_values))] += 1 / grid
            assert [float(f) for f in found] == pytest.approx(counted, abs=12 / grid)
            turns += sum(f > 0 for f in found) > 1
    assert turns > 20
