"""Sets that list nothing against plain enumeration, and what they say when they cannot help."""

import warnings
from itertools import islice, pairwise

import numpy as np
import pytest

from definetti import HMM, ConformalHMM, given_hmm
from definetti.exceptions import FewBlocksWarning
from definetti.levels import read_levels
from definetti.scores import Joint
from definetti.sets import LatticeSet, PredictionSet
from definetti.sets.batch import all_ranked, listed_set
from definetti.sets.lattice import lattice_set
from definetti.simulate import sample, weather

SCORES = ("path", "filter", "smoother", "joint", "band", Joint(order=0))
LEVELS = (0.3, 0.5, 0.8, 0.9)
MOST = 10**6
BLOCKS, EACH = 10, 60  # random problems
NEAR = {"rel": 1e-9, "abs": 1e-9}


def rows(rng, n, m, zeros):
    """Random probabilities, some of them zero, at least one of each row not."""
    found = rng.dirichlet(np.ones(m), n)
    found[(rng.random((n, m)) < zeros) & (found < found.max(axis=1, keepdims=True))] = 0.0
    return found / found.sum(axis=1, keepdims=True)


def table_lookup(rng, n, m, zeros):
    """A predictor that says anything at all, impossible things too."""
    table = rows(rng, n * (m + 1), n, zeros).reshape(n, m + 1, n)

    def probabilities(start, observations):
        symbols = [[m if y is None else int(y) for y in row] for row in observations.tolist()]
        return table[np.asarray(start, dtype=int)[:, None], np.array(symbols)]

    return probabilities


def random_problem(seed):
    """An estimator that has seen a random history, and a task to it."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 3, 4], p=[0.1, 0.3, 0.3, 0.3]))
    m, h = int(rng.integers(1, 4)), int(rng.integers(1, 6))
    length, zeros = int(rng.integers(5, 201)), rng.choice([0.0, 0.4])
    parameters = {
        "conformity_score": SCORES[seed % len(SCORES)],
        "smoothing": bool(rng.random() < 0.5),
        "states": range(n),
        "random_state": seed,
    }
    kind = rng.choice(["given", "callable", "split"])
    if kind == "given":
        parameters["model"] = given_hmm(rows(rng, n, n, zeros), rows(rng, n, m, zeros))
    elif kind == "callable":
        parameters["model"] = table_lookup(rng, n, m, zeros)
    else:
        parameters["model"] = HMM(prior=0 if zeros else 0.5)
        parameters["train_size"] = int(rng.choice([2, length // 2]))
    law = np.full(n, 1 / n), rows(rng, n, n, zeros), rows(rng, n, m, zeros)
    observed, states = sample(*law, length + h, rng)
    observed = observed.tolist()
    if rng.random() < 0.2:
        observed[0] = observed[length - 1] = observed[-1] = None  # gaps, in the past as well
    estimator = ConformalHMM(**parameters).fit(observed[:length], states[:length])
    seen = h if rng.random() < 0.6 else int(rng.integers(0, h + 1))
    lag = int(rng.integers(0, h)) if rng.random() < 0.4 else 0
    return estimator, (observed[length : length + seen] or None, h, lag)


def both(estimator, new, horizon, lag, level):
    task = estimator._task(new, horizon, lag)
    levels = None if level is None else read_levels(level)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewBlocksWarning)
        found = lattice_set(task, levels, MOST)
    return task, found, listed_set(task, levels, MOST, False)


def used(listed):
    """Which states, and which two in succession, the members of a listed set have."""
    n, h = len(listed.states), listed.horizon
    on_node, on_edge = np.zeros((h, n), bool), np.zeros((h - 1, n, n), bool)
    for path in listed:  # labels are codes here
        on_node[range(h), path] = True
        on_edge[range(h - 1), path[:-1], path[1:]] = True
    return on_node, on_edge


@pytest.mark.parametrize(
    "block", [pytest.param(k, marks=pytest.mark.slow if k else ()) for k in range(BLOCKS)]
)
def test_a_lattice_is_the_set_that_enumeration_lists(block):
    proper = 0
    for seed in range(EACH * block, EACH * (block + 1)):
        estimator, asked = random_problem(seed)
        task, _, every = both(estimator, *asked, None)
        codes, ranked = all_ranked(task, MOST)
        scores = ranked.scores[0]
        score = dict(zip(map(tuple, codes.tolist()), scores.tolist(), strict=True))
        for level in (LEVELS[seed % len(LEVELS)], LEVELS[(seed + 1) % len(LEVELS)]):
            _, lattice, listed = both(estimator, *asked, level)
            assert isinstance(lattice, LatticeSet)
            assert isinstance(listed, PredictionSet)
            proper += 0 < len(listed) < len(every)
            found = list(lattice)
            # Every member once, with the same p-value: quotients of the same whole numbers.
            assert len(found) == len(set(found)) == len(lattice) == len(listed)
            assert set(found) == set(listed)
            assert [listed.p_value(x) for x in found] == lattice.p_values.tolist()
            assert lattice.sequences == found
            # The same order, but for members as plausible as each other.
            assert lattice.p_values.tolist() == listed.p_values.tolist()
            assert [score[x] for x in found] == pytest.approx([score[x] for x in listed], **NEAR)
            on_node, on_edge = used(listed)
            np.testing.assert_array_equal(lattice.nodes, on_node)
            np.testing.assert_array_equal(lattice.edges, on_edge)
            assert lattice.steps == listed.steps
            assert tuple(lattice.size()) == (len(listed), len(listed))
            assert lattice.scaled_size == pytest.approx(listed.scaled_size)
            assert lattice.best == (found[0] if found else None)
            assert bool(lattice) == bool(found)
            assert (lattice.horizon, lattice.states) == (listed.horizon, listed.states)
            assert lattice.confidence_level == listed.confidence_level
            for x in every:
                assert (x in lattice) == (x in listed)
                assert lattice.p_value(x) == every.p_value(x)
    assert proper > EACH  # of 2 EACH sets; full and empty ones hardly test anything


@pytest.mark.slow
def test_without_a_level_every_candidate_is_a_member():
    for seed in range(60):
        estimator, asked = random_problem(seed)
        _, lattice, every = both(estimator, *asked, None)
        assert set(lattice) == set(every)
        assert lattice.p_values.tolist() == every.p_values.tolist()
        assert len(lattice) == len(every)


@pytest.mark.parametrize("score", ["path", "filter", "smoother", "joint", "band"])
def test_the_estimator_takes_the_lattice_where_a_list_is_too_long(score):
    y, x = weather(400, random_state=1)
    short = ConformalHMM(train_size=0.5, conformity_score=score, max_candidates=1).fit(
        y[:392], x[:392]
    )
    long = ConformalHMM(train_size=0.5, conformity_score=score).fit(y[:392], x[:392])
    for lag in (0, 3):
        lattice, listed = (cp.predict_set(y[392:], lag=lag) for cp in (short, long))
        assert isinstance(lattice, LatticeSet)
        assert isinstance(listed, PredictionSet)
        found = list(islice(lattice, len(listed) + 1))
        assert sorted(found) == sorted(listed)  # equally plausible ones come in any order
        assert [lattice.p_value(member) for member in found] == listed.p_values.tolist()
        assert lattice.steps == listed.steps
        assert (tuple(x[392 + lag :]) in lattice) == (tuple(x[392 + lag :]) in listed)
        size = lattice.size()
        assert size.low <= len(listed) <= size.high


def test_many_levels_are_nested():
    y, x = weather(600, random_state=2)
    cp = ConformalHMM(train_size=0.5, max_candidates=10_000).fit(y[:560], x[:560])
    sets = [cp.predict_set(y[560:], level) for level in (0.5, 0.7, 0.8)]
    for small, large in pairwise(sets):
        assert (small.nodes <= large.nodes).all()
        assert all(member in large for member in islice(small, 200))
        assert small.size().low <= large.size().high


def test_a_horizon_beyond_the_history_leaves_nothing_out():
    cp = ConformalHMM(train_size=0.5).fit(*weather(40, random_state=3))
    with pytest.warns(FewBlocksWarning, match=r"has 0 of the 9 that it takes") as caught:
        s = cp.predict_set(horizon=50)
    assert "blocks of 50 steps" in str(caught[0].message)
    assert "lower the level or the horizon" in str(caught[0].message)
    assert s.nodes.all()
    assert s.edges.all()
    assert tuple(s.size()) == (2**50, 2**50)
    assert s.p_value(["sun"] * 50) == 1.0
    assert ["rain"] * 50 in s


def test_too_few_blocks_for_the_level_are_told_with_the_number_it_takes():
    y, x = weather(400, random_state=4)
    cp = ConformalHMM(train_size=0.5).fit(y[:380], x[:380])
    with pytest.warns(FewBlocksWarning, match=r"of the 99 that it takes; give about \d+\.\d times"):
        s = cp.predict_set(y[380:], 0.99)
    assert s.nodes.all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # there is nothing to warn of at this level
        cp.predict_set(y[380:], 0.5)


@pytest.mark.parametrize("guarantee", ["all", "steps", "errors"])
def test_a_warning_names_the_line_that_asked(guarantee):
    cp = ConformalHMM(train_size=0.5, guarantee=guarantee).fit(*weather(40, random_state=3))
    with pytest.warns(FewBlocksWarning) as caught:
        cp.predict_set(horizon=50)
    assert caught[0].filename == __file__


def test_one_state_with_too_few_blocks_is_full_and_the_other_is_not():
    transition, emission = [[0.98, 0.02], [0.9, 0.1]], [[0.9, 0.1], [0.2, 0.8]]
    law = [0.5, 0.5], transition, emission
    y, x = sample(*map(np.array, law), 400, np.random.default_rng(5))
    model = given_hmm(transition, emission)
    cp = ConformalHMM(model, max_candidates=1).fit(y[:390], x[:390])
    with pytest.warns(FewBlocksWarning, match=r"one of 1 of 2 states: 1 has"):
        s = cp.predict_set(y[390:])
    assert np.isfinite(s.limits[0])
    assert s.limits[1] == np.inf
    assert [1] * 10 in s
    assert [1] * 9 + [0] not in s


def test_an_empty_lattice():
    """A low level with smoothing: an unlucky uniform leaves out even the best path."""
    y, x = weather(200, random_state=6)
    empty = 0
    for seed in range(20):
        cp = ConformalHMM(
            train_size=0.5, smoothing=True, random_state=seed, confidence_level=0.01
        ).fit(y[:160], x[:160])
        _, s, listed = both(cp, y[160:164], None, 0, 0.01)
        assert list(s) == listed.sequences
        if listed.sequences:
            continue
        empty += 1
        assert not s
        assert len(s) == 0
        assert tuple(s.size()) == (0, 0)
        assert s.best is None
        assert s.steps == [()] * 4
        assert not s.edges.any()
        assert s.p_values.shape == (0,)
        assert "none" in repr(s)
        assert x[160:164] not in s
    assert empty > 5


@pytest.mark.parametrize(
    "nonsense",
    [
        ["sun"],
        ["sun"] * 29,
        ["sun"] * 31,
        ["snow"] * 30,
        "sun",
        None,
        7,
        [],
        [["sun"]] * 30,
        {"sun": 1},
        np.nan,
    ],
)
def test_nonsense_is_no_member_and_has_no_p_value(nonsense):
    y, x = weather(400, random_state=7)
    s = ConformalHMM(train_size=0.5, confidence_level=0.5).fit(y[:370], x[:370])
    s = s.predict_set(y[370:])
    assert nonsense not in s
    with pytest.raises(KeyError, match="not a sequence of 30 known states"):
        s.p_value(nonsense)


def test_what_is_too_much_to_count_one_by_one():
    y, x = weather(6_000, random_state=8)
    s = ConformalHMM(train_size=0.5).fit(y[:5920], x[:5920]).predict_set(y[5920:])
    for one_by_one in (
        len,
        lambda s: s.sequences[-1],
        lambda s: list(s.sequences),
        lambda s: s.p_values,
    ):
        with pytest.raises(OverflowError, match=r"max_listed=100,000 members; size\(\) gives"):
            one_by_one(s)
    low, high = s.size()
    assert 100_000 < low <= high <= 2 * low
    assert len(list(islice(s, 50))) == 50
    first = s.sequences[:50]
    assert first == list(islice(s.sequences, 50)) == list(islice(s, 50))
    assert (s.sequences[0], s.sequences[49]) == (s.best, first[-1])
    assert first[7] in s.sequences
    assert s.sequences != first
    assert repr(s.sequences).endswith(", …]")
    public = [name for name in dir(s) if not name.startswith("_")]
    assert [name for name in public if not hasattr(s, name)] == ["p_values"]  # and none raises
    with pytest.raises(ValueError, match="ratio must be above 1"):
        s.size(ratio=1)


def test_a_refitted_model_cannot_go_far():
    y, x = weather(300, random_state=9)
    with pytest.raises(ValueError, match=r"max_candidates=100,000; set train_size=0\.5"):
        ConformalHMM(HMM()).fit(y[:250], x[:250]).predict_set(y[250:])
    free = ConformalHMM(random_state=0).fit(y[:250], x[:250]).predict_set(y[250:])
    assert isinstance(free, LatticeSet)  # "auto" goes on with a fixed one
    assert "the model fixed on the first half" in str(free)
    with pytest.raises(ValueError, match=r"set train_size=0\.5"):
        ConformalHMM().fit(y[:250], x[:250]).predict_set(horizon=5, lag=1)
    with pytest.raises(ValueError, match=r"guarantee='steps'.*train_size=0\.5"):
        ConformalHMM(guarantee="steps").fit(y[:250], x[:250]).predict_set(y[250:252])


def test_a_score_that_makes_no_trellis_cannot_go_far():
    """Three states in a row are more than a trellis sees, and a function sees whatever it likes."""
    y, x = weather(300, random_state=10)
    for score in (Joint(order=2), lambda windows: np.zeros(len(windows.start))):
        cp = ConformalHMM(conformity_score=score, train_size=0.5).fit(y[:250], x[:250])
        assert lattice_set(cp._task(y[250:], None), read_levels(0.9), MOST) is None
        with pytest.raises(ValueError, match="max_candidates"):
            cp.predict_set(y[250:])
        assert len(cp.predict_p(y[250:253])) == 8  # few enough are listed


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"lag": 4}, "leaves none of the 4 new steps"),
        ({"lag": -1}, "lag must be a whole number ≥ 0"),
        ({"lag": 1.0}, "lag must be a whole number ≥ 0"),
        ({"horizon": 2}, "let it reach beyond"),
        ({"horizon": 0}, "horizon must be a whole number ≥ 1"),
    ],
)
def test_questions_that_make_no_sense(asked, message):
    y, x = weather(100, random_state=11)
    cp = ConformalHMM(train_size=0.5).fit(y[:96], x[:96])
    with pytest.raises(ValueError, match=message):
        cp.predict_set(y[96:], **asked)
