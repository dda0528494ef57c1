"""The estimator as its users meet it: labels in, sets of labels out."""

import copy
import datetime
import enum
import io
import pickle
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests.making import drawing
from tests.products import covering

from definetti import HMM, ConformalHMM
from definetti._system import terminal
from definetti.emissions import Gaussian
from definetti.engine.pvalues import miscoverage
from definetti.exceptions import GapWarning, NotExactWarning
from definetti.memory import Order
from definetti.scores import Joint
from definetti.simulate import weather
from definetti.symmetry import BlockGroup, Full, Pairs, Published, Returns, Shifts, Spaced

pytestmark = pytest.mark.filterwarnings("ignore::definetti.exceptions.GapWarning")


def summed(windows):
    """A score that knows no model: how often the state changes, and what is seen."""
    changes = (windows.states[:, 1:] != windows.states[:, :-1]).sum(axis=1)
    return changes + 0.5 * (windows.observations == "umbrella").sum(axis=1)


COUNTED = {
    "full": "full",
    "returns": "returns",
    "pairs": "pairs",
    "spaced": "spaced",
    "own group": BlockGroup([[0, 1, 2], [1, 2, 0], [2, 0, 1]]),
    "own group of pairs": BlockGroup([[0, 1], [1, 0]], blocks="pairs"),
    "shifts": "shifts",
    "published": "published",
}
SAMPLED = {
    "full, sampled": Full(max_windows=0),
    "returns, sampled": Returns(0),
    "pairs, sampled": Pairs(0),
    "published, sampled": Published(0),
}
SYMMETRIES = {**COUNTED, **SAMPLED}
SCORES = {
    "path": "path",
    "filter": "filter",
    "smoother": "smoother",
    "joint": "joint",
    "joint of order 2": Joint(2),
    "band": "band",
    "callable": summed,
}
LEVELS = (0.05, 0.2, 0.5, 0.75, 0.8, 0.9, 0.95, 0.99)
OBSERVATIONS, STATES = weather(80, random_state=3)
NEW = ["umbrella", "hat", "nothing"]


def fitted(observations=OBSERVATIONS, labels=STATES, /, draws=49, **params):
    """Fit to symbols, without the warning of the symmetries that are not exact."""
    params = {"model": HMM(), "random_state": 0, **params}
    params["symmetry"] = drawing(params.get("symmetry", "auto"), draws)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotExactWarning)
        return ConformalHMM(**params).fit(observations, labels)


def candidates(cp, horizon):
    return list(product(cp.states_, repeat=horizon))


def table(predicted):
    return dict(zip(predicted.sequences, predicted.p_values.tolist(), strict=True))


# The example of the README.


def test_the_usual_way_through():
    cp = ConformalHMM(confidence_level=0.9, random_state=0).fit(OBSERVATIONS[:78], STATES[:78])
    s = cp.predict_set(OBSERVATIONS[78:])
    assert len(s) == len(s.sequences) == len(s.p_values) > 0
    assert s.scaled_size == len(s) / 4
    assert all(sequence in s for sequence in s.sequences)
    assert [set(step) for step in s.steps] == [{q[0] for q in s}, {q[1] for q in s}]
    assert s.confidence_level == 0.9
    assert s.exact
    everything = cp.predict_p(OBSERVATIONS[78:])
    assert set(everything.sequences) == set(product(["sun", "rain"], repeat=2))
    assert everything.confidence_level is None
    assert everything.p_value(("sun", "sun")) == cp.p_value(OBSERVATIONS[78:], ["sun", "sun"])
    judged = cp.evaluate(OBSERVATIONS[78:], STATES[78:])
    assert judged.covered.tolist() == [tuple(STATES[78:]) in s]
    assert judged.sizes.tolist() == [len(s)]
    assert judged.scaled_size == s.scaled_size
    assert cp.n_steps_ == 78
    assert cp.partial_fit(OBSERVATIONS[78:], STATES[78:]) is cp
    assert cp.n_steps_ == 80


def test_what_the_attributes_say():
    cp = fitted(symmetry="auto", model=HMM(prior=1))
    assert set(cp.states_) == {"sun", "rain"}
    assert set(cp.symbols_) == {"hat", "nothing", "umbrella"}
    assert cp.symmetry_ == Spaced()
    assert cp.memory_ == Order(1)
    assert cp.model_.prior == 1
    assert cp.n_steps_ == 80
    assert type(cp.conformity_score_).__name__ == "Path"


@pytest.mark.parametrize(
    "attribute", ["states_", "symbols_", "n_steps_", "symmetry_", "conformity_score_", "model_"]
)
def test_fitted_attributes_are_not_there_before_fit(attribute):
    assert not hasattr(ConformalHMM(), attribute)


# Sets, levels and p-values.


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_p_value_is_the_entry_of_predict_p_and_its_set_is_cut_at_the_level(symmetry, score):
    cp = fitted(symmetry=SYMMETRIES[symmetry], conformity_score=SCORES[score])
    everything = cp.predict_p(NEW)
    assert sorted(everything) == sorted(candidates(cp, 3))
    for candidate in candidates(cp, 3):
        assert cp.p_value(NEW, candidate) == everything.p_value(candidate)
    ranks = {c: r for c, r in cp.predict_ranks(NEW).items() if not r.randomised}
    for level in (0.2, 0.5, 0.8, 0.95):
        s = cp.set_params(allow_empty=True).predict_set(NEW, level)
        inside = {c for c, r in ranks.items() if r.exceeds(miscoverage(level))}
        assert inside == set(s) & set(ranks)
        assert table(s).items() <= table(everything).items()


@pytest.mark.parametrize("smoothing", [False, True])
@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_sets_are_nested_in_the_level(symmetry, smoothing):
    cp = fitted(symmetry=SYMMETRIES[symmetry], smoothing=smoothing)
    sets = [set(cp.predict_set(NEW, level)) for level in LEVELS]
    for smaller, larger in pairwise(sets):
        assert smaller <= larger
    assert len(sets[0]) < len(sets[-1])


@pytest.mark.parametrize("smoothing", [False, True])
@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_sequences_come_most_plausible_first_and_ties_by_score(symmetry, smoothing):
    cp = fitted(symmetry=SYMMETRIES[symmetry], smoothing=smoothing)
    everything = cp.predict_p(NEW)
    p = everything.p_values
    assert (p[:-1] >= p[1:]).all()
    s = cp.predict_set(NEW, 0.8)
    assert s.sequences == everything.sequences[: len(s)]
    assert s.p_values.tolist() == p[: len(s)].tolist()


def test_ties_in_p_are_in_the_order_of_the_score():
    """In a history of one state all new sequences have p-value 1; the score tells them apart."""
    cp = fitted(
        ["a"] * 4,
        ["s"] * 4,
        states=["t", "s"],
        conformity_score=lambda w: (w.states == "t").sum(axis=1),
    )
    everything = cp.predict_p(["a", "a"])
    one = [s for s, p in table(everything).items() if p == 1]
    assert one == sorted(one, key=lambda s: s.count("t"))
    assert len(one) > 1


@pytest.mark.parametrize(
    ("new", "level"), [(10, 0.9), (5, 0.8), (4, 0.75), (20, 0.95), (10, 0.7), (10, 0.1)]
)
def test_a_p_value_equal_to_alpha_is_outside(new, level):
    """K windows of distinct scores: the k-th strangest of them has p-value k / K."""
    # Spaced blocks at horizon 1 are the visits themselves, and the state never changes.
    seen = list(range(new))
    cp = fitted(
        seen,
        ["s"] * new,
        symmetry="spaced",
        conformity_score=lambda w: w.observations[:, 0].astype(float),
        allow_empty=True,
    )
    # The first visit only ends the prefix: the blocks are 1 … new − 1 and the new one.
    alpha = miscoverage(level)
    for symbol in range(1, new):
        strange = Fraction(new - symbol + 1, new)
        assert cp.p_value([symbol], ["s"]) == float(strange)
        assert (["s"] in cp.predict_set([symbol], level)) == (strange > alpha)


@pytest.mark.parametrize(
    "level",
    [
        Decimal("0.8"),
        Fraction(4, 5),
        np.float64(0.8),
        np.float32(0.8),
        np.float16(0.8),
        np.array(0.8),
    ],
)
def test_the_level_in_all_spellings(level):
    """The history is such that a p-value is 1/5: 0.8 must be meant to the last digit."""
    score = {"conformity_score": lambda w: w.observations[:, 0] + 0.0, "allow_empty": True}
    cp = fitted(range(5), ["s"] * 5, symmetry="spaced", **score)
    assert cp.p_value([5], ["s"]) == 0.2
    assert len(cp.predict_set([5], 0.8)) == 0
    assert len(cp.predict_set([5], level)) == 0
    assert len(cp.predict_set([5], 0.81)) == 1
    same = fitted(confidence_level=level)
    assert (
        same.predict_set(NEW).sequences == fitted(confidence_level=0.8).predict_set(NEW).sequences
    )


def test_smoothing_breaks_ties_with_one_uniform_for_all_candidates():
    plain, smoothed = fitted(), fitted(smoothing=True)
    ranks = plain.predict_ranks(NEW)
    assert ranks == smoothed.predict_ranks(NEW)
    uniforms = {
        round((p * ranks[c].total - ranks[c].greater) / ranks[c].equal, 6)
        for c, p in table(smoothed.predict_p(NEW)).items()
    }
    assert len(uniforms) == 1
    [u] = uniforms
    assert 0 <= u < 1
    for candidate, rank in ranks.items():
        assert smoothed.p_value(NEW, candidate) <= plain.p_value(NEW, candidate)
        low, high = rank.greater / rank.total, (rank.greater + rank.equal) / rank.total
        assert low - 1e-12 <= smoothed.p_value(NEW, candidate) <= high + 1e-12


def test_the_uniform_is_new_for_every_prediction_and_every_seed():
    def uniform(cp):
        [(candidate, rank), *_] = cp.predict_ranks(horizon=1).items()
        return (cp.p_value(None, candidate) * rank.total - rank.greater) / rank.equal

    seeds = {round(uniform(fitted(smoothing=True, random_state=k)), 9) for k in range(20)}
    assert len(seeds) == 20
    cp = fitted(smoothing=True)
    days = {round(uniform(cp.partial_fit(["hat"], ["sun"])), 9) for _ in range(20)}
    assert len(days) == 20


def test_a_state_never_seen_is_in_every_set():
    cp = fitted(states=["sun", "rain", "snow"])
    for level in LEVELS:
        assert ("snow",) in cp.predict_set(["hat"], level)
        assert ("sun", "snow") in cp.predict_set(["hat", "hat"], level)
    assert cp.p_value(["hat"], ["snow"]) == 1
    assert cp.p_value(["hat", "umbrella"], ["rain", "snow"]) == 1


EXACT = [name for name in SYMMETRIES if not name.startswith(("shifts", "published"))]


@pytest.mark.parametrize("symmetry", EXACT)
def test_p_value_takes_a_label_that_is_nowhere_declared(symmetry):
    cp = fitted(symmetry=SYMMETRIES[symmetry])
    assert cp.p_value(["hat"], ["snow"]) == 1
    assert cp.p_value(["hat"], [("a", "tuple")]) == 1
    assert cp.p_value(["hat", "hat"], ["sun", 17]) == 1
    assert 0 < cp.p_value(["hat", "hat"], ["snow", "sun"]) <= 1
    assert 0 < cp.p_value(["hat", "hat"], ["snow", "snow"]) <= 1
    assert set(cp.states_) == {"sun", "rain"}


# Randomness.


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_every_candidate_has_the_same_p_value_asked_alone_or_among_all(symmetry):
    """Candidates that share their class must share its draws, whoever asks first."""
    rng = np.random.default_rng(0)
    states, observations = rng.integers(0, 2, 40).tolist(), rng.integers(0, 3, 40).tolist()
    cp = fitted(observations, [*states[:-1], 0], symmetry=SYMMETRIES[symmetry], smoothing=True)
    new = [0, 1, 1, 0, 2]
    everything = cp.predict_p(new)
    assert {c: cp.p_value(new, c) for c in candidates(cp, 5)} == table(everything)


@pytest.mark.parametrize("symmetry", SAMPLED)
def test_more_states_than_candidates_asked_do_not_change_the_draws(symmetry):
    """The draws of a candidate depend on it alone: asked in any order, any number of times."""
    cp = fitted(symmetry=SYMMETRIES[symmetry])
    forwards = [cp.p_value(NEW, c) for c in candidates(cp, 3)]
    backwards = [cp.p_value(NEW, c) for c in reversed(candidates(cp, 3))]
    assert forwards == backwards[::-1]


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_the_same_seed_gives_the_same_set(symmetry):
    one, other = (fitted(symmetry=SYMMETRIES[symmetry], smoothing=True) for _ in range(2))
    assert one.predict_p(NEW) == other.predict_p(NEW)
    assert one.predict_p(NEW) == one.predict_p(NEW)


@pytest.mark.parametrize("symmetry", SAMPLED)
def test_another_seed_gives_other_draws(symmetry):
    one, other = (fitted(symmetry=SYMMETRIES[symmetry], random_state=k) for k in range(2))
    assert one.predict_p(NEW) != other.predict_p(NEW)


def test_counted_p_values_do_not_depend_on_the_seed():
    one, other = (fitted(random_state=k) for k in (0, None))
    assert one.predict_p(NEW) == other.predict_p(NEW)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_is_drawn_from_once_a_fit(make):
    generator = make(5)
    first = fitted(symmetry=Full(0), random_state=generator)
    second = fitted(symmetry=Full(0), random_state=generator)
    assert first.predict_p(NEW) != second.predict_p(NEW)
    assert first.predict_p(NEW) == fitted(symmetry=Full(0), random_state=make(5)).predict_p(NEW)


def test_no_seed_is_fresh_at_every_fit_and_steady_within_one():
    one, other = (fitted(symmetry=Full(0), random_state=None) for _ in range(2))
    assert one.predict_p(NEW) == one.predict_p(NEW)
    assert one.predict_p(NEW) != other.predict_p(NEW)


def test_the_global_random_state_is_left_alone():
    before = pickle.dumps(np.random.get_state())  # noqa: NPY002
    fitted(symmetry=Full(0), smoothing=True).predict_set(NEW)
    assert pickle.dumps(np.random.get_state()) == before  # noqa: NPY002


def test_n_resamples_is_the_resolution_of_sampled_p_values():
    everything = fitted(symmetry=Full(0), draws=19).predict_p(NEW)
    assert (np.round(everything.p_values * 20, 9) % 1 == 0).all()
    assert everything.p_values.min() >= 1 / 20


@pytest.mark.parametrize("symmetry", ["full", "returns", "pairs"])
def test_sampled_p_values_are_near_the_counted_ones(symmetry):
    """Five standard errors of 9999 draws; the seed is fixed."""
    counted = fitted(symmetry=symmetry).predict_p(NEW)
    drawn = fitted(symmetry=SAMPLED[f"{symmetry}, sampled"], draws=9999).predict_p(NEW)
    for candidate, p in table(counted).items():
        assert drawn.p_value(candidate) == pytest.approx(p, abs=5 * np.sqrt(0.25 / 9999))


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_threads_get_what_one_after_the_other_gets(symmetry):
    questions = [(NEW[:k], level) for k in (1, 2, 3) for level in (0.5, 0.9)] * 3
    alone = fitted(symmetry=SYMMETRIES[symmetry], smoothing=True)
    expected = [alone.predict_set(*task) for task in questions]
    shared = fitted(symmetry=SYMMETRIES[symmetry], smoothing=True)  # nothing worked out yet
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda task: shared.predict_set(*task), questions))
    assert found == expected


# Labels of all kinds, data of all kinds.


class Sky(enum.Enum):
    CLEAR = 1
    GREY = 2


class Tone(enum.StrEnum):
    LOW = "low"
    HIGH = "high"


class Plain:
    """Hashable by identity, comparable with nothing."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"Plain({self.name})"


LABELS = {
    "text": ("sun", "rain"),
    "empty text": ("", " "),
    "numbers": (7, -3),
    "floats": (1.5, 2.0),
    "numpy numbers": (np.int64(3), np.int64(4)),
    "booleans": (True, False),
    "tuples": (("a", 1), ("b", 2)),
    "tuples of tuples": ((("a",), 1), (("b",), 2)),
    "mixed": ("sun", 3),
    "mixed with tuples": (("sun",), "sun"),
    "enum": (Sky.CLEAR, Sky.GREY),
    "text enum": (Tone.LOW, Tone.HIGH),
    "dates": (datetime.date(2020, 1, 2), datetime.date(2020, 1, 1)),
    "datetimes": (datetime.datetime(2020, 1, 2), datetime.datetime(2020, 1, 1)),
    "timestamps": (pd.Timestamp("2020-01-02"), pd.Timestamp("2020-01-01")),
    "bytes": (b"one", b"two"),
    "frozen sets": (frozenset("ab"), frozenset("bc")),
    "decimals": (Decimal("0.1"), Decimal("0.2")),
    "fractions": (Fraction(1, 3), Fraction(2, 3)),
    "objects": (Plain("x"), Plain("y")),
    "types": (int, float),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind_are_given_back_as_they_came(kind):
    labels = LABELS[kind]
    to = dict(zip(("sun", "rain"), labels, strict=True))
    words = fitted(STATES, STATES).predict_p(["sun", "rain"])
    mine = [to[state] for state in STATES]
    cp = fitted(mine, mine)
    assert set(cp.states_) == set(cp.symbols_) == set(labels)
    plain = {np.int64: int}  # which are shown as what they equal
    assert {type(label) for label in cp.states_} == {
        plain.get(type(label), type(label)) for label in labels
    }
    found = cp.predict_p(list(labels))
    for candidate, p in table(words).items():
        translated = tuple(to[state] for state in candidate)
        assert found.p_value(translated) == pytest.approx(p, abs=1e-12)
        assert translated in found
        assert list(translated) in found
        assert cp.p_value(list(labels), translated) == found.p_value(translated)
    single = cp.predict_set([labels[0]], 0.99)
    assert all(label in single for (label,) in single.sequences)
    assert "PredictionSet" in repr(single)
    assert "<table>" in single._repr_html_()
    assert pickle.loads(pickle.dumps(found)).p_values.tolist() == found.p_values.tolist()


def spellings(values):
    """The same data in every container there is."""
    text = isinstance(values[0], str)
    yield "list", list(values)
    yield "tuple", tuple(values)
    yield "array", np.array(values)
    yield "array of objects", np.array(values, dtype=object)
    yield "pandas", pd.Series(values)
    yield "pandas with an index", pd.Series(values, index=range(100, 100 + len(values)))
    yield "pandas objects", pd.Series(values, dtype=object)
    yield "pandas categorical", pd.Series(values, dtype="category")
    yield "pandas Categorical", pd.Categorical(values)
    yield "pandas string", pd.Series(values, dtype="string" if text else "Int64")
    yield "pandas Index", pd.Index(values)
    yield "polars", pl.Series(values)
    yield "polars categorical", pl.Series(values, dtype=pl.Categorical if text else pl.Int8)
    yield "iterator", iter(list(values))
    yield "generator", (value for value in values)


NUMBERED = (
    [("umbrella", "hat", "nothing").index(o) for o in OBSERVATIONS],
    [("sun", "rain").index(s) for s in STATES],
)


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("name", [name for name, _ in spellings(["a"])])
def test_all_containers_give_equal_results(name, numbers):
    observations, states = NUMBERED if numbers else (OBSERVATIONS, STATES)

    def spelt(values):
        return dict(spellings(values))[name]

    expected = fitted(observations[:70], states[:70])
    found = fitted(spelt(observations[:70]), spelt(states[:70]))
    new, truth = observations[70:73], states[70:73]
    assert found.states_ == expected.states_
    assert found.symbols_ == expected.symbols_
    assert [type(label) for label in found.states_] == [type(label) for label in expected.states_]
    assert found.predict_set(spelt(new)) == expected.predict_set(new)
    assert found.p_value(spelt(new), spelt(truth)) == expected.p_value(new, truth)
    assert spelt(truth) in found.predict_set(new, 0.999)
    judged, judged_too = (
        cp.evaluate(kind(observations[70:]), kind(states[70:]), horizon=2)
        for cp, kind in [(found, spelt), (expected, list)]
    )
    for one, other in zip(judged, judged_too, strict=True):
        np.testing.assert_array_equal(one, other)
    found.partial_fit(spelt(new), spelt(truth))
    expected.partial_fit(new, truth)
    assert found.predict_set(spelt(new)) == expected.predict_set(new)
    declared = fitted(observations, states, states=spelt(list(expected.states_)))
    assert declared.predict_set(new) == fitted(observations, states).predict_set(new)


@pytest.mark.parametrize("name", [name for name, _ in spellings(["a"])])
def test_the_model_chosen_for_words_is_that_for_symbols_whatever_holds_them(name):
    """To look at what is observed must not use it up."""
    found = ConformalHMM(random_state=0)
    found.fit(dict(spellings(OBSERVATIONS))[name], dict(spellings(STATES))[name])
    assert found.predict_p(dict(spellings(NEW))[name]) == fitted().predict_p(NEW)


DAYS = [datetime.datetime(2020, 1, 1 + (s == "sun")) for s in STATES]


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
def test_dates_in_arrays_stay_dates(unit):
    """Numpy turns nanoseconds into plain numbers if one lets it."""
    days = np.array(DAYS, dtype=f"M8[{unit}]")
    cp = fitted(days[:70], days[:70])
    assert not any(isinstance(label, (int, np.integer)) for label in cp.states_)
    assert sorted(str(label)[:10] for label in cp.states_) == ["2020-01-01", "2020-01-02"]
    words = fitted(STATES[:70], STATES[:70])
    np.testing.assert_array_equal(
        np.sort(cp.predict_p(days[70:72]).p_values),
        np.sort(words.predict_p(STATES[70:72]).p_values),
    )
    judged = cp.evaluate(days[70:], days[70:], horizon=2)
    expected = words.evaluate(STATES[70:], STATES[70:], horizon=2)
    np.testing.assert_array_equal(judged.p_values, expected.p_values)
    assert days[70:72] in cp.predict_p(days[70:72])


@pytest.mark.parametrize(
    "spelt",
    [
        lambda days: days,
        pd.Series,
        pl.Series,
        lambda days: np.array(days, dtype="M8[us]"),
        lambda days: list(map(pd.Timestamp, days)),
    ],
    ids=["list", "pandas", "polars", "numpy", "timestamps"],
)
def test_the_same_moments_are_the_same_symbols_from_any_library(spelt):
    cp = fitted(pd.Series(DAYS[:70]), pd.Series(DAYS[:70]))
    expected = cp.predict_p(pd.Series(DAYS[70:72]))
    assert cp.predict_p(spelt(DAYS[70:72])) == expected
    assert cp.p_value(spelt(DAYS[70:72]), spelt(DAYS[70:72])) == expected.p_value(
        tuple(DAYS[70:72])
    )


def test_a_masked_array_is_missing_where_it_is_masked():
    mask = np.arange(80) % 7 == 0
    masked = np.ma.array(NUMBERED[0], mask=mask)
    gaps = [None if gap else o for gap, o in zip(mask, NUMBERED[0], strict=True)]
    found, expected = (fitted(o[:70], NUMBERED[1][:70]) for o in (masked, gaps))
    assert found.predict_p(masked[69:72]) == expected.predict_p(gaps[69:72])
    judged, same = (
        cp.evaluate(o[70:], NUMBERED[1][70:], horizon=2)
        for cp, o in [(found, masked), (expected, gaps)]
    )
    np.testing.assert_array_equal(judged.p_values, same.p_values)


GAPS = {
    "list with None": lambda v: v,
    "list with NaN": lambda v: [float("nan") if x is None else x for x in v],
    "list with NA": lambda v: [pd.NA if x is None else x for x in v],
    "objects": lambda v: np.array(v, dtype=object),
    "pandas": pd.Series,
    "pandas string": lambda v: pd.Series(v, dtype="string"),
    "pandas categorical": lambda v: pd.Series(v, dtype="category"),
    "polars": pl.Series,
    "polars categorical": lambda v: pl.Series(v, dtype=pl.Categorical),
}


@pytest.mark.parametrize("name", GAPS)
def test_missing_observations_in_every_container(name):
    gaps = [None if k % 9 == 4 else o for k, o in enumerate(OBSERVATIONS)]
    cp, expected = fitted(GAPS[name](gaps), STATES), fitted(gaps, STATES)
    assert set(cp.symbols_) == {"hat", "nothing", "umbrella"}
    for new in (["hat", None], [None, None]):
        assert cp.predict_p(GAPS[name](new)) == expected.predict_p(new)


# Missing observations and forecasts.


def test_a_plain_chain_is_one_without_observations():
    for symmetry in SYMMETRIES.values():
        chain = fitted(None, STATES, symmetry=symmetry)
        blank = fitted([None] * len(STATES), STATES, symmetry=symmetry)
        assert chain.symbols_ == ()
        forecast = chain.predict_p(horizon=3)
        assert forecast == blank.predict_p(horizon=3) == blank.predict_p([None] * 3)
        for candidate in candidates(chain, 3):
            assert chain.p_value(None, candidate) == forecast.p_value(candidate)


@pytest.mark.parametrize("symmetry", ["full", "returns", "spaced"])
def test_a_forecast_asks_nothing_of_the_observations_of_the_past(symmetry):
    """Without new observations the sets are those of the chain alone."""
    hidden, chain = fitted(symmetry=symmetry), fitted(None, STATES, symmetry=symmetry)
    assert hidden.predict_p(horizon=2) == chain.predict_p(horizon=2)


def test_a_plain_chain_goes_on():
    chain = fitted(None, STATES[:60], states=["sun", "rain"]).partial_fit(None, STATES[60:])
    expected = fitted(None, STATES, states=["sun", "rain"])
    assert chain.predict_p(horizon=3) == expected.predict_p(horizon=3)
    judged = expected.evaluate(None, ["sun", "rain", "rain", "sun"], horizon=2)
    assert judged.p_values[0] == expected.p_value(None, ["sun", "rain"])
    assert len(judged.p_values) == 2


def test_horizon_and_observations_may_agree():
    cp = fitted()
    assert cp.predict_set(NEW, horizon=3) == cp.predict_set(NEW)
    assert cp.predict_set(horizon=np.int64(2)) == cp.predict_set(horizon=2)


def smoothed_coverages(predictor, symbols, length, horizon, model, levels=(0.5, 0.75, 0.9)):
    """The coverage under a model, by adding up all sequences; `None` is a symbol among others."""
    initial, transition, emission = map(np.array, model)
    total = dict.fromkeys(levels, 0.0)
    code = {symbol: k for k, symbol in enumerate(symbols)}
    for x in product(range(2), repeat=length):
        for y in product(symbols, repeat=length):
            cp = predictor.fit(y, x)
            for new in product(symbols, repeat=horizon):
                for candidate, rank in cp.predict_ranks(new).items():
                    states, seen = [*x, *candidate], [code[o] for o in (*y, *new)]
                    p = initial[states[0]] * emission[states, seen].prod()
                    p *= transition[states[:-1], states[1:]].prod()
                    for level in levels:
                        total[level] += p * float(rank.chance(miscoverage(level)))
    return total


@pytest.mark.parametrize("symmetry", ["full", "returns", "pairs", "spaced"])
def test_gaps_at_random_cost_no_validity(symmetry):
    """An observation is missing now and then: with smoothing the coverage is exactly the level."""
    predictor = ConformalHMM(HMM(), symmetry=symmetry, states=[0, 1])
    model = [0.5, 0.5], [[0.1, 0.9], [0.9, 0.1]], [[0.3, 0.63, 0.07], [0.3, 0.07, 0.63]]
    for level, coverage in smoothed_coverages(predictor, [None, 0, 1], 2, 1, model).items():
        assert coverage == pytest.approx(level, abs=1e-9)


@pytest.mark.parametrize("symmetry", ["full", "returns", "pairs", "spaced"])
def test_a_forecast_is_exact(symmetry):
    """Of new observations none is there yet: with smoothing the coverage is exactly the level."""
    predictor = ConformalHMM(HMM(), symmetry=symmetry, states=[0, 1])
    initial, transition = np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.4, 0.6]])
    emission = np.array([[0.9, 0.1], [0.3, 0.7]])
    alpha, total = Fraction(1, 4), 0.0
    for x in product(range(2), repeat=3):
        for y in product(range(2), repeat=3):
            past = initial[x[0]] * transition[x[:-1], x[1:]].prod() * emission[x, y].prod()
            for candidate, rank in predictor.fit(y, x).predict_ranks(horizon=2).items():
                steps = transition[[x[-1], candidate[0]], list(candidate)].prod()
                total += past * steps * float(rank.chance(alpha))
    assert total == pytest.approx(0.75, abs=1e-9)


@pytest.mark.parametrize("symmetry", ["full", "returns", "spaced"])
def test_a_forecast_beyond_the_observations_is_exact_or_does_not_claim_to_be(symmetry):
    """One observation is there, the next is not yet: a refusal would do as well."""
    predictor = ConformalHMM(HMM(), symmetry=symmetry, states=[0, 1])
    initial, transition = np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.1, 0.9]])
    emission = np.array([[0.9, 0.1], [0.1, 0.9]])
    alpha, total, claimed = Fraction(1, 4), 0.0, True
    for x in product(range(2), repeat=3):
        for y in product(range(2), repeat=3):
            past = initial[x[0]] * transition[x[:-1], x[1:]].prod() * emission[x, y].prod()
            cp = predictor.fit(y, x)
            for seen in range(2):
                try:
                    claimed &= cp.predict_set([seen], horizon=2).exact
                except ValueError:
                    return
                for candidate, rank in cp.predict_ranks([seen], horizon=2).items():
                    steps = transition[[x[-1], candidate[0]], list(candidate)].prod()
                    p = past * steps * emission[candidate[0], seen]
                    total += p * float(rank.chance(alpha))
    assert not claimed or total == pytest.approx(0.75, abs=1e-9)


def test_the_law_of_a_symbol_matters():
    cp = fitted()
    assert cp.p_value(["umbrella"], ["rain"]) > cp.p_value(["hat"], ["rain"])


def test_a_symbol_never_seen_is_a_symbol():
    cp = fitted()
    assert cp.predict_p(["kite"]).p_values.tolist() == cp.predict_p(["scarf"]).p_values.tolist()
    assert len(cp.predict_p(["kite"])) == 2
    assert "kite" not in cp.symbols_


# The history goes on.

ordered = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from([*"uv", None])), min_size=2, max_size=24
)


@pytest.mark.slow_cases("full, sampled", "full", "published")
@pytest.mark.parametrize("symmetry", SYMMETRIES)
@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_fitting_in_parts_is_fitting_at_once(symmetry, data):
    steps = data.draw(ordered)
    cuts = sorted(data.draw(st.lists(st.integers(1, len(steps)), max_size=4)))
    new = data.draw(st.lists(st.sampled_from([*"uv", None]), min_size=1, max_size=3))
    states, seen = (list(part) for part in zip(*steps, strict=True))
    params = {"symmetry": SYMMETRIES[symmetry], "states": list("abc"), "draws": 9}
    begins = [*cuts, len(steps)]
    parts = [slice(a, b) for a, b in pairwise(begins)]
    first = begins[0]
    grown = fitted(seen[:first], states[:first], **params)
    for part in parts:
        if data.draw(st.booleans()):
            grown.predict_p(new)  # what is worked out on the way must not stay behind
        grown.partial_fit(seen[part], states[part])
    whole = fitted(seen, states, **params)
    assert grown.n_steps_ == whole.n_steps_
    assert grown.predict_p(new) == whole.predict_p(new)


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_fitting_in_parts_is_fitting_at_once_where_new_symbols_come_up(symmetry):
    """The later part brings symbols that sort before those of the first."""
    rng = np.random.default_rng(1)
    states = rng.choice(["s", "t"], 60).tolist()
    seen = [*rng.choice(["x", "y"], 30).tolist(), *rng.choice(["a", "x", "y"], 30).tolist()]
    params = {"symmetry": SYMMETRIES[symmetry], "states": ["s", "t"]}
    whole = fitted(seen, states, **params)
    grown = fitted(seen[:30], states[:30], **params).partial_fit(seen[30:], states[30:])
    assert grown.predict_p(["a", "x", "y"]) == whole.predict_p(["a", "x", "y"])


@pytest.mark.parametrize("symmetry", COUNTED)
def test_fitting_in_parts_is_fitting_at_once_where_new_states_come_up(symmetry):
    states, seen = ["s", "t"] * 6 + ["r", "s", "r", "t"] * 3, ["x", "y", "z"] * 8
    whole = fitted(seen, states, symmetry=SYMMETRIES[symmetry])
    grown = fitted(seen[:12], states[:12], symmetry=whole.symmetry)
    grown.partial_fit(seen[12:], states[12:])
    assert set(grown.states_) == set(whole.states_) == {"r", "s", "t"}
    assert table(grown.predict_p(["x", "y"])) == pytest.approx(table(whole.predict_p(["x", "y"])))


def test_partial_fit_of_nothing_changes_nothing():
    cp = fitted()
    assert cp.partial_fit([], []).predict_p(NEW) == fitted().predict_p(NEW)


def test_partial_fit_begins_where_there_is_no_fit():
    cp = ConformalHMM(random_state=0).partial_fit(OBSERVATIONS, STATES)
    assert cp.predict_p(NEW) == fitted().predict_p(NEW)


def test_a_second_fit_forgets_the_first():
    cp = fitted(["k"] * 5, ["q"] * 5)
    cp.fit(OBSERVATIONS, STATES)
    assert cp.predict_p(NEW) == fitted().predict_p(NEW)
    assert set(cp.states_) == {"sun", "rain"}


def test_what_was_passed_in_is_neither_changed_nor_looked_at_again():
    observations, states, new = list(OBSERVATIONS), list(STATES), list(NEW)
    declared = ["sun", "rain", "snow"]
    cp = fitted(observations, states, states=declared)
    before = cp.predict_p(new)
    assert (observations, states, new) == (OBSERVATIONS, STATES, NEW)
    observations[:], states[:], declared[:] = ["?"] * 80, ["?"] * 80, []
    assert cp.predict_p(new) == before


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("train_size", [None, 0.5])
def test_what_was_asked_before_changes_no_p_value(train_size, score):
    """A fixed model scores the past once: what it keeps must not depend on who asked first."""
    seen, states = weather(200, random_state=0)
    params, new = {"train_size": train_size, "conformity_score": SCORES[score]}, ["hat", "umbrella"]
    asked, fresh = (fitted(seen, states, **params) for _ in range(2))
    unknown = [asked.p_value(new, candidate) for candidate in (("snow", "sun"), ("snow", "rain"))]
    asked.predict_p(["kite", "hat"])
    asked.predict_p(horizon=2)
    assert asked.predict_p(new) == fresh.predict_p(new)
    assert [fresh.p_value(new, c) for c in (("snow", "sun"), ("snow", "rain"))] == unknown


MORE = {
    "nothing new": (["hat"], ["sun"]),
    "a new symbol": (["kite", "hat"], ["rain", "sun"]),
    "a new state": (["hat"] * 3, ["sun", "snow", "sun"]),
}


@pytest.mark.parametrize(("score", "more"), covering(SCORES, MORE))
def test_a_fixed_model_goes_on_as_if_all_had_come_at_once(score, more):
    more = MORE[more]
    seen, states = weather(120, random_state=1)
    params = {"train_size": 40, "conformity_score": SCORES[score]}
    grown = fitted(seen, states, **params)
    for new in (NEW[:1], NEW[:2]):
        grown.predict_p(new)
    grown.partial_fit(*more)
    whole = fitted(seen + more[0], states + more[1], **params)
    for new in (NEW[:1], NEW[:2]):
        assert grown.predict_p(new) == whole.predict_p(new)


def test_a_prediction_changes_nothing():
    cp = fitted()
    before = cp.predict_p(NEW)
    cp.predict_set(["kite"] * 4)
    cp.p_value(["kite"], ["snow"])
    cp.evaluate(["kite", "hat"], ["snow", "sun"], horizon=1)
    assert cp.predict_p(NEW) == before
    assert cp.n_steps_ == 80


# Names do not matter.


@pytest.mark.parametrize("symmetry", COUNTED)
@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_relabelling_relabels_the_p_values(symmetry, data):
    steps = data.draw(ordered)
    new = data.draw(st.lists(st.sampled_from([*"uv", None]), min_size=1, max_size=3))
    states, seen = (list(part) for part in zip(*steps, strict=True))
    state = dict(zip("abc", data.draw(st.permutations(["p", 2, ("q",)])), strict=True))
    symbol = dict(zip("uv", data.draw(st.permutations([1, 2])), strict=True)) | {None: None}
    params = {"symmetry": SYMMETRIES[symmetry]}
    plain = fitted(seen, states, **params)
    other = fitted([symbol[o] for o in seen], [state[s] for s in states], **params)
    named = other.predict_p([symbol[o] for o in new])
    renamed = {tuple(map(state.get, c)): p for c, p in table(plain.predict_p(new)).items()}
    assert table(named) == renamed


# Judged by the truth.


@pytest.mark.parametrize("horizon", [1, 2, 3])
@pytest.mark.parametrize("symmetry", ["full", "returns", "full, sampled"])
def test_evaluate_is_a_loop_over_windows(symmetry, horizon):
    params = {"symmetry": SYMMETRIES[symmetry], "smoothing": True, "states": ["sun", "rain"]}
    cp, loop = (fitted(OBSERVATIONS[:68], STATES[:68], **params) for _ in range(2))
    judged = cp.evaluate(OBSERVATIONS[68:], STATES[68:], 0.8, horizon=horizon)
    rows = []
    for begin in range(68, 80, horizon):
        window = slice(begin, begin + horizon)
        s = loop.predict_set(OBSERVATIONS[window], 0.8)
        truth = tuple(STATES[window])
        p = loop.predict_p(OBSERVATIONS[window]).p_value(truth)
        wrong = np.mean([x not in found for x, found in zip(truth, s.steps, strict=True)])
        wrong, held = (1.0, False) if s.filled else (wrong, truth in s)
        rows.append((held, len(s), s.scaled_size, p, wrong, np.mean([*map(len, s.steps)])))
        loop.partial_fit(OBSERVATIONS[window], truth)
    expected = [list(column) for column in zip(*rows, strict=True)]
    assert [part.tolist() for part in judged[:6]] == expected
    assert judged.coverage == np.mean(expected[0])
    assert judged.size == np.mean(expected[1])
    assert judged.scaled_size == pytest.approx(np.mean(expected[2]))
    assert (judged.covered == (judged.p_values > 0.2)).all()
    assert cp.n_steps_ == 68
    assert cp.predict_p(NEW) == fitted(OBSERVATIONS[:68], STATES[:68], **params).predict_p(NEW)


def test_evaluate_takes_the_whole_segment_as_one_window():
    judged = fitted().evaluate(NEW, ["rain", "sun", "sun"])
    assert judged.covered.shape == (1,)
    assert judged.p_values[0] == fitted().p_value(NEW, ["rain", "sun", "sun"])


def test_evaluate_judges_forecasts_of_a_hidden_chain():
    """What `predict_set(horizon=…)` promises can be judged as well."""
    cp = fitted()
    judged = cp.evaluate(None, ["rain", "sun"])
    assert judged.p_values[0] == cp.p_value(None, ["rain", "sun"])
    assert judged.sizes[0] == len(cp.predict_set(horizon=2))


@pytest.mark.parametrize(
    "spelt",
    [np.asarray, lambda rows: rows.tolist(), pd.DataFrame, pl.DataFrame],
    ids=["array", "list", "pandas", "polars"],
)
def test_evaluate_cuts_observations_of_several_columns_into_steps(spelt):
    """The elements of a data frame are its rows, not its columns."""
    rng = np.random.default_rng(0)
    states = rng.integers(0, 2, 40)
    rows = rng.normal(size=(40, 2)) + 3 * states[:, None]
    model = HMM(emission=Gaussian())
    cp = fitted(spelt(rows[:30]), states[:30], model=model)
    judged = cp.evaluate(spelt(rows[30:]), states[30:], horizon=2)
    expected = fitted(rows[:30], states[:30], model=model)
    assert judged.p_values[0] == expected.p_value(rows[30:32], states[30:32])
    assert len(judged.p_values) == 5
    whole = cp.evaluate(spelt(rows[30:32]), states[30:32])
    assert whole.p_values.tolist() == [judged.p_values[0]]


# The conventions of scikit-learn.


def test_parameters_go_in_and_come_out():
    params = {
        "model": HMM(prior=1),
        "conformity_score": "filter",
        "symmetry": Returns(7),
        "confidence_level": 0.7,
        "smoothing": True,
        "train_size": 0.5,
        "states": ["sun", "rain"],
        "max_candidates": 64,
        "random_state": 3,
    }
    cp = ConformalHMM(**params)
    found = cp.get_params(deep=False)
    assert all(found[name] is value for name, value in params.items())
    assert cp.get_params()["model__prior"] == 1
    assert ConformalHMM().set_params(**params).get_params(deep=False) == found
    cp.set_params(model__prior=0)
    assert cp.model.prior == 0
    with pytest.raises(ValueError, match="nonsense"):
        cp.set_params(nonsense=1)


def test_nothing_is_checked_before_fit():
    cp = ConformalHMM(
        model=1, conformity_score=2, symmetry=3, confidence_level=4, max_candidates="many"
    )
    assert cp.get_params()["conformity_score"] == 2


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_a_clone_is_unfitted_and_fits_alike(symmetry):
    cp = fitted(symmetry=SYMMETRIES[symmetry], conformity_score=summed, model=HMM(prior=1))
    copied = clone(cp)
    assert not hasattr(copied, "states_")
    assert copied.get_params()["model__prior"] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotExactWarning)
        copied.fit(OBSERVATIONS, STATES)
    assert copied.predict_p(NEW) == cp.predict_p(NEW)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda cp: pickle.loads(pickle.dumps(cp))])
@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_a_fit_survives_pickling_and_goes_on_alike(symmetry, copied):
    cp = fitted(symmetry=SYMMETRIES[symmetry], conformity_score=summed, smoothing=True)
    first = cp.predict_set(NEW)
    other = copied(cp)
    assert other.predict_set(NEW) == first
    other.partial_fit(["hat", "umbrella"], ["sun", "rain"])
    assert cp.predict_set(NEW) == first
    cp.partial_fit(["hat", "umbrella"], ["sun", "rain"])
    assert other.predict_set(NEW) == cp.predict_set(NEW)


def test_an_unfitted_estimator_pickles():
    cp = pickle.loads(pickle.dumps(ConformalHMM(symmetry=Returns(3))))
    assert cp.symmetry == Returns(3)


def test_repr_shows_what_is_not_the_default():
    assert repr(ConformalHMM()) == "ConformalHMM()"
    shown = repr(ConformalHMM(model=HMM(prior=0), symmetry=Returns(7), confidence_level=0.8))
    assert shown == (
        "ConformalHMM(model=HMM(prior=0), symmetry=Returns(max_windows=7, n_resamples=999), "
        "confidence_level=0.8)"
    )
    assert "ConformalHMM" in fitted()._repr_html_()


def test_the_model_passed_in_is_not_the_one_that_was_fitted():
    """To change a parameter after fit changes nothing until the next fit."""
    model = HMM(prior=0.5)
    cp = fitted(model=model)
    before = cp.predict_p(NEW)
    model.prior = 50.0
    assert cp.predict_p(NEW) == before
    cp.set_params(model__prior=0.0, conformity_score="filter", symmetry="pairs")
    assert cp.predict_p(NEW) == before
    assert cp.fit(OBSERVATIONS, STATES).predict_p(NEW) != before


def test_the_level_may_be_changed_after_fit():
    cp = fitted()
    assert cp.set_params(confidence_level=0.5).predict_set(NEW) == fitted().predict_set(NEW, 0.5)


def test_parameters_change_the_result():
    default = table(fitted().predict_p(NEW))
    for params in [
        {"model": HMM(prior=20.0)},
        {"conformity_score": "filter"},
        {"symmetry": "pairs"},
        {"smoothing": True},
        {"states": ["sun", "rain", "snow"]},
    ]:
        assert table(fitted(**params).predict_p(NEW)) != default, params


# The budget.


@pytest.mark.parametrize("horizon", [17, 40, 5_000, 20_000, 10**6])
def test_too_many_candidates_are_refused_before_any_memory_is_taken(horizon):
    cp = fitted()
    cp.predict_set(horizon=1)
    tracemalloc.start()
    with pytest.raises(ValueError, match="max_candidates=100,000") as error:
        cp.predict_set(horizon=horizon)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000 + 64 * horizon
    for remedy in ("2 states", f"{horizon:,} steps".replace(",", ""), "p_value", "shorten"):
        assert remedy in str(error.value).replace(",", ""), remedy
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("states", [["s"] * 9, ["s", "t"] * 5])
def test_a_horizon_beyond_any_memory_is_refused(states):
    with pytest.raises(ValueError, match="horizon"):
        fitted(None, states).predict_set(horizon=10**18)


def test_the_budget_is_a_parameter():
    cp = fitted(max_candidates=8)
    assert len(cp.predict_p(NEW)) == 8
    with pytest.raises(ValueError, match="16 candidate sequences, more than max_candidates=8"):
        cp.predict_p([*NEW, "hat"])
    assert 0 < cp.p_value(["hat"] * 30, ["sun"] * 30) <= 1


# What is not exact says so.


@pytest.mark.parametrize(
    ("symmetry", "word"), [("shifts", "approximately"), ("published", "not valid")]
)
def test_what_is_not_exact_says_so_everywhere(symmetry, word):
    with pytest.warns(NotExactWarning, match=f"{symmetry}.*does not guarantee") as caught:
        cp = ConformalHMM(symmetry=symmetry).fit(OBSERVATIONS, STATES)
    assert caught[0].filename == __file__
    assert word in {"shifts": Shifts, "published": Published}[symmetry].__doc__
    assert word in ConformalHMM.__doc__
    assert not cp.symmetry_.exact
    for result in (cp.predict_set(NEW), cp.predict_p(NEW)):
        assert not result.exact
        assert "NOT" in repr(result)
        assert "NOT" in result._repr_html_()


@pytest.mark.parametrize("symmetry", ["auto", "full", "returns", "pairs", "spaced", "own group"])
def test_what_is_exact_does_not_warn(symmetry):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cp = ConformalHMM(symmetry=COUNTED.get(symmetry, symmetry)).fit(OBSERVATIONS, STATES)
        s = cp.predict_set(NEW)
    assert s.exact
    assert "NOT" not in repr(s)


def test_the_result_tells_how_it_was_made():
    shown = repr(
        fitted(symmetry="returns", conformity_score="filter", smoothing=True).predict_set(NEW)
    )
    assert "filter score" in shown
    assert "returns symmetry" in shown
    assert "smoothed" in shown


# Progress.


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_quick_prediction_shows_no_progress(monkeypatch):
    monkeypatch.setattr(terminal, "PATIENCE", float("inf"))
    shown = Terminal()
    with redirect_stderr(shown):
        fitted().predict_set(NEW, verbose=True)
    assert shown.getvalue() == ""


def test_a_long_prediction_shows_progress_where_asked(monkeypatch):
    monkeypatch.setattr(terminal, "PATIENCE", -1.0)
    for verbose in (True, False):
        shown = Terminal()
        with redirect_stderr(shown):
            found = fitted().predict_set(NEW, verbose=verbose)
        assert ("ranking candidates" in shown.getvalue()) == verbose
        assert found == fitted().predict_set(NEW)


def test_gaps_where_there_never_were_any_are_pointed_out():
    """They may be steps that are not observed yet, which is another thing than gaps at random."""
    cp = fitted()
    with pytest.warns(GapWarning, match="horizon="):
        cp.predict_set(["hat", None])
    cp.partial_fit([None], ["sun"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cp.predict_set(["hat", None])


def test_late_labels_can_be_judged():
    """Windows of which only the present is asked about."""
    cp = ConformalHMM(train_size=20, confidence_level=0.5, states=["sun", "rain"], random_state=0)
    cp.fit(OBSERVATIONS[:68], STATES[:68])
    judged = cp.evaluate(OBSERVATIONS[68:], STATES[68:], horizon=4, lag=3)
    assert judged.truth.shape == (3,)
    for k, begin in enumerate(range(68, 80, 4)):
        cp = ConformalHMM(
            train_size=20, confidence_level=0.5, states=["sun", "rain"], random_state=0
        )
        cp.fit(OBSERVATIONS[:68], STATES[:68])
        if begin > 68:
            cp.partial_fit(OBSERVATIONS[68:begin], STATES[68:begin])
        s = cp.predict_set(OBSERVATIONS[begin : begin + 4], lag=3)
        assert s.horizon == 1
        assert judged.covered[k] == (STATES[begin + 3] in s and not s.filled)
        p = cp.p_value(OBSERVATIONS[begin : begin + 4], STATES[begin + 3 : begin + 4], lag=3)
        assert judged.p_values[k] == p


def test_p_values_beyond_the_observations():
    cp = ConformalHMM(train_size=20, states=["sun", "rain"]).fit(OBSERVATIONS[:68], STATES[:68])
    every = cp.predict_p(OBSERVATIONS[68:69], horizon=2)
    for states in every:
        p = cp.p_value(OBSERVATIONS[68:69], states, horizon=2)
        assert p == every.p_value(states)
