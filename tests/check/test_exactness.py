"""Every class of small models, listed: p-values have their size for every statistic and level."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from tests.check.classes import all_classes, as_draws, as_sample, columns_signature, signature
from tests.check.test_draws import of_order_two, up_to_two, with_age, with_observation

from definetti.check import CannotTest, Statistic
from definetti.check.p_values import Extremeness, combine_tests, most_extreme, rank_rows, stop_early
from definetti.memory import Age

LEVELS = [Fraction(1, 20), Fraction(1, 10), Fraction(1, 7), Fraction(1, 3), Fraction(1, 2)]
MODELS = {
    "symbols": ("ab", "01", [5], 1),
    "numbers": ("ab", (0.5, 1.25), [5], 1),
    "three states": ("abc", "01", [4], 1),
    "plain": ("ab", [None], [8], 1),
    "plain, three states": ("abc", [None], [6], 1),
    "gaps": ("ab", (None, 0.5, 1.25), [4], 1),
    "two sequences": ("ab", "01", [3, 2], 1),
    "order two": ("ab", [None], [9], 2),
    "age": ("ab", [None], [8], "age"),
    "age up to two, two sequences": ("ab", [None], [6, 4], Age(2)),
    "observation": ("ab", "01", [6], "observation"),
    "observation, two sequences": ("ab", "01", [4, 2], "observation"),
    "order two, two sequences": ("ab", [None], [6, 4], 2),
}
SEVERAL = {
    "symbols": ("ab", "01", [3, 2], 1),
    "numbers": ("ab", (0.5, 1.25), [2, 3], 1),
    "three": ("ab", [None], [3, 2, 3], 1),
}


def measured(members, lengths, memory, across):
    """Yield the values of every statistic on a whole class, the first of which is the sample."""
    sample = as_sample(members[0], lengths, memory)
    draws = as_draws(sample, members[0], members, memory, lengths)
    for name, statistic in Statistic.named.items():
        if statistic.across == across:
            try:
                parts = statistic().parts(sample)
            except CannotTest:
                continue
            yield name, parts, statistic().measure(sample, draws)


def assert_exact(found: Extremeness):
    """The conservative p-value's size is at most the level, the smoothed one's the level."""
    ranks = [found.rank(*own) for own in zip(*found, strict=True)]
    size = len(ranks)
    for level in [*LEVELS, *(Fraction(k, size) for k in range(1, min(size, 40) + 1))]:
        assert Fraction(sum(not rank.exceeds(level) for rank in ranks), size) <= level
        below = sum(1 - rank.chance(level) for rank in ranks)
        assert abs(float(below / size - level)) <= 1e-9
    assert found.places.tolist() == [rank.greater + rank.equal for rank in ranks]


def classes_of(model, name):
    states, symbols, lengths, memory = model
    tokens = {
        1: None, 2: of_order_two, "age": with_age, Age(2): up_to_two,
        "observation": with_observation,
    }[memory]  # fmt: skip
    found = all_classes(states, symbols, lengths, name, tokens)
    if memory == "observation":  # of which there is none where all are alike
        found = [one for one in found if len({y for _, y in one[0]}) > 1]
    # Labels are alike: of classes that begin with any state, those of the first tell all.
    return [one for one in found if len(one) > 1 and one[0][0][0] == "a"]


@pytest.mark.slow_cases(
    "gaps-False",
    "numbers-False",
    "numbers-True",
    "observation, two sequences-False",
    "observation-False",
    "symbols-False",
    "symbols-True",
    "three states-False",
    "two sequences-False",
)
@pytest.mark.parametrize(
    ("model", "across"),
    [*((name, False) for name in MODELS), *((name, True) for name in SEVERAL)],
)
def test_p_values_have_their_size_on_every_class(model, across):
    chosen = (SEVERAL if across else MODELS)[model]
    seen = set()
    for members in classes_of(chosen, columns_signature if across else signature):
        together = []
        for name, _, values in measured(members, *chosen[2:], across):
            together.append(rank_rows(values))
            assert_exact(together[-1])
            seen.add(name)
        if together:
            assert_exact(most_extreme(together))
    wanted = {name for name, one in Statistic.named.items() if one.across == across}
    if chosen[1] == [None]:
        wanted -= {"autocorrelation", "drift", "one_emission"}
    assert seen == wanted


@pytest.mark.parametrize("model", ["symbols", "numbers", "gaps", "two sequences", "order two"])
def test_statistics_depend_on_the_rearrangement_alone(model):
    """Not on which member of the class is the sample, nor on which state was met first."""
    chosen = MODELS[model]
    largest = max(classes_of(chosen, signature), key=len)
    for name, parts, values in measured(largest, *chosen[2:], False):
        for k in range(0, len(largest), max(1, len(largest) // 20)):
            other = as_sample(largest[k], *chosen[2:])
            statistic = Statistic.named[name]()
            own = statistic.measure(other, other.itself)[0]
            order = [statistic.parts(other).index(part) for part in parts]
            np.testing.assert_allclose(own[order], values[k], atol=1e-9)


def test_the_verdict_is_the_smallest_adjusted_p_value():
    rng = np.random.default_rng(0)
    family = {"one": rng.integers(0, 9, (50, 2)).astype(float), "other": rng.normal(size=(50, 1))}
    for uniform in (None, 0.3):
        p_value, judged = combine_tests([family], uniform)
        assert p_value == min(one.adjusted for one in judged.values())
        assert all(one.adjusted >= one.p_value - 1e-12 for one in judged.values())


@pytest.mark.slow_cases("True")
@pytest.mark.parametrize("across", [False, True])
def test_whichever_row_is_the_sample_p_values_keep_their_level(across):
    """The sample and its draws are exchangeable: each row comes first with the same probability."""
    rng = np.random.default_rng(2)
    rows, steps = 12, 40
    first = {"one": rng.integers(0, 4, (rows, 3)).astype(float), "two": rng.normal(size=(rows, 1))}
    second = {"three": rng.integers(0, 3, (rows, 1)).astype(float)} if across else {}
    found = {"one": [], "two": [], "verdict": [], "smoothed": []}
    for k in range(rows):
        order = [k, *(j for j in range(rows) if j != k)]
        families = [{name: v[order] for name, v in one.items()} for one in (first, second) if one]
        p_value, judged = combine_tests(families, None)
        found["verdict"].append(p_value)
        for name in ("one", "two"):
            found[name].append(judged[name].p_value)
        uniforms = (np.arange(steps) + 0.5) / steps
        found["smoothed"] += [combine_tests(families, u)[1]["one"].p_value for u in uniforms]
    for level in (k / (2 * rows) for k in range(1, 2 * rows + 1)):
        for name in ("one", "two", "verdict"):
            assert np.mean(np.array(found[name]) <= level + 1e-12) <= level + 1e-12, name
        assert np.mean(np.array(found["smoothed"]) <= level) == pytest.approx(level, abs=1 / steps)


@pytest.mark.parametrize("values", [(1, 2, 3, 4, 5, 6, 7), (1, 1, 2, 3, 3, 3, 4)])
@pytest.mark.parametrize("enough", [1, 2, 3])
def test_draws_that_stop_early_keep_the_level(values, enough):
    orders = list(permutations(values))
    found = [stop_early(np.array(order, dtype=float), enough)[0] for order in orders]
    for level in sorted(set(found)):
        assert Fraction(sum(p <= level for p in found), len(orders)) <= Fraction(level) + 1e-12


def test_later_draws_do_not_change_what_is_decided():
    rng = np.random.default_rng(1)
    values = rng.normal(size=200)
    decided = [stop_early(values[:size], 10) for size in range(11, 201)]
    first = next(k for k, one in enumerate(decided) if one[1])
    assert len(set(decided[first:])) == 1
