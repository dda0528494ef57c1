"""Advice appears where an effect is significant, material, and its remedy is feasible."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from definetti.check import check, check_quickly, messages
from definetti.check.messages import use_after
from definetti.check.sample import read_sample
from definetti.check.statistic import Effect, Statistic
from definetti.cli.check import note_broken
from definetti.memory import Age

ROWS = 20_000
EFFECTS = ("near row", "bits of information", "correlate", "where the chain says")


def chain(stays, rng, length=ROWS):
    """A chain of two states; ``stays(t, age)`` is the probability to stay at a time and age."""
    states, age = [0], 1
    coins = rng.random(length)
    for t in range(1, length):
        same = coins[t] < stays(t, age)
        states.append(states[-1] if same else 1 - states[-1])
        age = age + 1 if same else 1
    return np.array(states)


def plain(rng, length=ROWS, stays=0.7):
    return chain(lambda t, age: stays, rng, length)


def order(size, rng):
    coins, states = rng.random(ROWS), [0, 0]
    for t in range(2, ROWS):
        states.append(int(coins[t] < 0.5 + size * (2 * states[-2] - 1)))
    return None, states, {}


def durations(size, rng):
    return None, chain(lambda t, age: 0.7 + size * min(age - 1, 4), rng), {}


def transitions(size, rng):
    return None, chain(lambda t, age: 0.6 + size * (t > ROWS / 2), rng), {}


def drift_of_numbers(size, rng):
    noise = rng.normal(size=ROWS)
    noise[ROWS // 2 :] += size
    return noise, plain(rng), {}


def drift_of_numbers_that_cancels(size, rng):
    states = plain(rng)
    noise = rng.normal(size=ROWS)
    noise[ROWS // 2 :] += np.where(states[ROWS // 2 :] == 1, size, -size)
    return noise, states, {}


def drift_of_spread(size, rng):
    noise = rng.normal(size=ROWS)
    noise[ROWS // 2 :] *= size
    return noise, plain(rng), {}


def drift_of_symbols(size, rng):
    late = np.arange(ROWS) > ROWS / 2
    return np.where(rng.random(ROWS) < 0.5 + size * late, "x", "y"), plain(rng), {}


def lingering_numbers(size, rng):
    noise = rng.normal(size=ROWS)
    for t in range(1, ROWS):
        noise[t] += size * noise[t - 1]
    return noise, plain(rng), {}


def lingering_symbols(size, rng):
    coins, symbols = rng.random(ROWS), [0]
    for t in range(1, ROWS):
        symbols.append(int(coins[t] < 0.5 + size * (2 * symbols[-1] - 1)))
    return [f"s{one}" for one in symbols], plain(rng), {}


def one_chain(size, rng):
    half = ROWS // 2
    states = [*plain(rng, half, 0.6), *plain(rng, half, 0.6 + size)]
    return None, states, {"lengths": [half, half]}


def one_emission_of_numbers(size, rng):
    half, noise = ROWS // 2, rng.normal(size=ROWS)
    noise[half:] += 2 * size  # each sequence is so far from the mean of both
    return noise, plain(rng), {"lengths": [half, half]}


def one_emission_of_symbols(size, rng):
    late = np.arange(ROWS) >= ROWS // 2
    shown = np.where(rng.random(ROWS) < 0.5 + size * late, "x", "y")
    return shown, plain(rng), {"lengths": [ROWS // 2, ROWS // 2]}


@pytest.mark.parametrize(
    ("name", "plant", "small", "large", "remedy"),
    [
        ("order", order, 0.03, 0.06, "memory=2"),
        ("durations", durations, 0.015, 0.04, "memory='age'"),
        ("transitions", transitions, 0.035, 0.07, "use the rows after"),
        ("drift", drift_of_numbers, 0.15, 0.26, "use the rows after"),
        ("drift", drift_of_numbers_that_cancels, 0.15, 0.26, "use the rows after"),
        ("drift", drift_of_spread, 1.07, 1.15, "use the rows after"),
        ("drift", drift_of_symbols, 0.05, 0.12, "use the rows after"),
        ("autocorrelation", lingering_numbers, 0.07, 0.13, "memory='observation'"),
        ("autocorrelation", lingering_symbols, 0.03, 0.06, "memory='observation'"),
        ("one_chain", one_chain, 0.05, 0.13, "fit each sequence by itself"),
        ("one_emission", one_emission_of_numbers, 0.13, 0.26, "fit each sequence by itself"),
        ("one_emission", one_emission_of_symbols, 0.05, 0.13, "fit each sequence by itself"),
    ],
)
def test_advice_needs_the_minimum_effect(name, plant, small, large, remedy):
    """Both effects are significant; the smaller one is below the minimum of its statistic."""
    for size, material in ((small, False), (large, True)):
        observations, states, how = plant(size, np.random.default_rng(0))
        found = check(
            observations, states, tests=[name], n_resamples=99, random_state=0, pictures=False,
            **how,
        )  # fmt: skip
        finding = found.tests[name]
        assert found.failures == (name,)
        assert finding.material == material
        assert (remedy in finding.verdict) == material
        assert ("so no advice is given" in finding.verdict) != material
        assert finding.verdict in found.verdict
        assert ("spaced" in note_broken(found, "full")[0]) <= material


def test_every_statistic_has_a_minimum_effect():
    """The cases above go through all statistics that have a name."""
    own = {name for name, one in Statistic.named.items() if one.__module__.startswith("definetti.")}
    assert own == {
        "order", "durations", "transitions", "drift", "autocorrelation", "one_chain",
        "one_emission",
    }  # fmt: skip


def test_run_lengths_equal_to_the_digit_bring_no_advice_of_age():
    states = chain(lambda t, age: 0.7 + 0.003 * min(age - 1, 4), np.random.default_rng(1), 200_000)
    found = check(None, states, tests=["durations"], n_resamples=39, random_state=0, pictures=False)
    finding = found.tests["durations"]
    assert found.rejected
    assert 1 < finding.size < 1.03
    assert "memory" not in finding.verdict
    assert "less than a ratio of 1.1 of run lengths, so no advice is given" in finding.verdict
    sample = read_sample(None, list("aab" * 20), None, 1)
    values = np.log(np.array([[1.63], [1.57]]) * 60).repeat(6, axis=1)
    effect = Statistic.named["durations"]().effect(sample, values, 0)
    assert effect.words == ("a step is in a run of 1.6 steps on average, where the chain says 1.6")
    assert effect.short_of
    assert not Statistic.named["durations"]().effect(sample, values * [[1.03], [1]], 0).short_of


def test_a_change_close_to_the_end_leaves_too_few_rows_to_use():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=1147)
    noise[1084:] += 3
    states = plain(rng, 1147)
    for found in (check(noise, states, random_state=0), check_quickly(noise, states)):
        finding = found.tests["drift"]
        assert finding.material
        assert abs(finding.row - 1084) < 5
        assert "use the rows after" not in found.verdict
        left = 1147 - finding.row
        assert f"as the {left} rows that follow are too few to fit" in finding.verdict
    noise[700:1084] += 3
    assert "use the rows after 7" in check(noise, states, random_state=0).verdict


def test_effects_that_are_not_significant_are_not_shown():
    rng = np.random.default_rng(3)
    found = check(rng.normal(size=300), plain(rng, 300), random_state=0)
    assert not found.failures
    assert {one.effect for one in found.tests.values()} == {"not significant"}
    assert {one.verdict for one in found.tests.values()} == {"Not significant."}
    for text in (repr(found), found._repr_html_(), found.to_frame().to_string()):
        assert text.count("not significant") == len(found.tests)
        assert not any(words in text for words in EFFECTS)


def short_sequences(length, number, rng):
    """Sequences of which the second half has another chain."""
    states = [plain(rng, length, 0.9 if k < number // 2 else 0.5) for k in range(number)]
    return np.concatenate(states), [length] * number


@pytest.mark.parametrize(("length", "advised"), [(20, False), (79, False), (80, True)])
def test_short_sequences_are_not_to_be_fitted_by_themselves(length, advised):
    states, lengths = short_sequences(length, 40, np.random.default_rng(0))
    found = check(None, states, lengths=lengths, tests=["one_chain"], random_state=0)
    assert found.failures == ("one_chain",)
    assert found.tests["one_chain"].material
    assert ("fit each sequence by itself" in found.verdict) == advised
    assert ("a sequence would need 80 rows to be fitted by itself" in found.verdict) != advised


def with_identifiers(rng, length=600):
    names = [f"ref-{k}" for k in rng.permutation(length)]
    names[:20] = names[20:40]  # nearly all are distinct
    return pd.DataFrame({
        "id": np.arange(length) + 10_000,
        "clock": rng.exponential(size=length).cumsum(),
        "week": np.arange(length) // 7,
        "ref": names,
        "y": rng.normal(size=length),
    })  # fmt: skip


def test_identifiers_are_named_and_not_tested():
    rng = np.random.default_rng(0)
    frame, states = with_identifiers(rng), plain(rng, 600)
    found = check(frame, states, random_state=0)
    assert not found.rejected
    assert {one.part for one in found.tests.values()}.isdisjoint(frame.columns.drop("y"))
    assert set(found.untested) == {"column id", "column clock", "column week", "column ref"}
    assert all(why.endswith("leave it out") for why in found.untested.values())
    assert found.untested["column ref"].startswith("it has 580 distinct values in 600 rows")
    assert found.tests["drift"].p_value == check(frame[["y"]], states, random_state=0).tests[
        "drift"
    ].p_value  # fmt: skip
    assert not check(frame[["id"]], states, random_state=0).rejected


def test_counters_of_each_sequence_are_identifiers():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"t": [*range(300), *range(300)], "y": rng.normal(size=600)})
    found = check(frame, plain(rng, 600), lengths=[300, 300], random_state=0)
    assert "column t" in found.untested
    assert "column t" in check(frame, plain(rng, 600), groups=["a"] * 300 + ["b"] * 300).untested


@pytest.mark.parametrize(
    "column",
    [
        np.arange(600) // 32,
        np.arange(600) >= 300,
        np.random.default_rng(0).permutation(600),
        np.random.default_rng(0).normal(size=600),
        [f"w{k}" for k in np.random.default_rng(0).integers(0, 400, 600)],
    ],
    ids=["19 values", "a switch", "no order", "numbers", "words that come back"],
)
def test_what_is_no_identifier_is_tested(column):
    states = plain(np.random.default_rng(1), 600)
    found = check(pd.DataFrame({"x": column}), states, n_resamples=19)
    assert "drift" in found.tests
    assert not found.untested


def test_rows_that_are_left_are_counted_to_the_row():
    states = np.tile([0, 0, 1, 1], 100)
    sample = read_sample(None, states, None, 1)
    assert use_after(sample, 320) == "use the rows after 320, or watch the stream with a monitor"
    assert use_after(sample, 321) == (
        "watch the stream with a monitor, as the 79 rows that follow are too few to fit"
    )
    several = read_sample(None, states, [200, 200], 1)
    assert use_after(several, 120).startswith("leave out what is before it, or ")
    assert use_after(several, 121).startswith("watch the stream with a monitor, as the 79 rows")
    assert use_after(several, None) == "watch the stream with a monitor"


def test_a_memory_needs_visits_of_its_tokens():
    effect = Effect("", 1.0)
    few, many = list("aabb" * 9), list("aabb" * 12)
    for name, memory in (("order", "memory=2"), ("durations", "memory='age'")):
        remedy = partial(Statistic.named[name]().remedy, effect=effect)
        assert memory in remedy(read_sample(None, many, None, 1))
        assert remedy(read_sample(None, few, None, 1)) == "take symmetry='spaced'"
    remedy = partial(Statistic.named["autocorrelation"]().remedy, effect=effect)
    symbols = list("xxyy" * 12)
    assert "memory='observation'" in remedy(read_sample(symbols, list("ab" * 24), None, 1))
    assert "memory" not in remedy(read_sample(symbols[:36], list("ab" * 18), None, 1))
    numbers = np.arange(48.0) % 19
    assert "name bins" in remedy(read_sample(numbers, list("ab" * 24), None, 1))
    assert "name bins" not in remedy(read_sample(numbers[:36], list("ab" * 18), None, 1))


def test_a_memory_that_is_there_already_is_no_remedy():
    effect, states = Effect("", 1.0), list("aabb" * 50)
    symbols = list("xxyxy" * 40)
    durations, lingering = Statistic.named["durations"](), Statistic.named["autocorrelation"]()
    aged = read_sample(None, states, None, "age")
    assert durations.remedy(aged, effect) == "take symmetry='spaced'"
    assert durations.remedy(read_sample(None, states, None, Age(5)), effect) == (
        "take symmetry='spaced'"
    )
    seen = read_sample(symbols, states, None, "observation")
    assert lingering.remedy(seen, effect) == "take symmetry='spaced'"


def test_what_is_left_to_spaced_sets_is_no_empty_advice():
    few = list("aabb" * 9)
    found = check(None, few, tests=["order"], random_state=0)
    assert found.tests["order"].verdict.endswith(": take symmetry='spaced'.")
    left = found.beyond_spaced().tests["order"].verdict
    assert left.endswith(" bits of information about the next.")


def test_material_failures_come_before_others():
    """A tiny drift that stands out far more than a material order does not lead."""
    rng = np.random.default_rng(0)
    _, states, _ = order(0.06, rng)
    noise = rng.normal(size=ROWS)
    noise[ROWS // 2 :] += 0.17
    found = check(noise, states, tests=["order", "drift"], n_resamples=99, random_state=0)
    assert set(found.failures) == {"order", "drift"}
    assert found.failures[0] == "order"
    assert not found.tests["drift"].material


def test_thresholds_are_those_of_the_documentation():
    assert np.sqrt(messages.MIN_BITS * np.log(2) / 2) == pytest.approx(0.042, abs=5e-4)
    assert messages.below(0.0499, messages.MIN_PROBABILITY_CHANGE, "in probability")
    assert not messages.below(-0.05, messages.MIN_PROBABILITY_CHANGE, "in probability")
