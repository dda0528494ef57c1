"""What is saved and loaded answers as the original does, to the last bit, and goes on so.

Scores, symmetries, emissions and memories come from the registries: one that is added is saved
here because it is there.
"""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.making import drawing
from tests.saving.answers import answers, check_same, passed

from definetti import (
    HMM,
    ConformalHMM,
    ConformalSequences,
    Errors,
    FromHmmlearn,
    given_hmm,
    load,
)
from definetti.emissions import Categorical, Emission, Gaussian
from definetti.exceptions import NotExactWarning
from definetti.memory import Age, Memory
from definetti.models import TrainedHMM
from definetti.scores import Joint, Score
from definetti.simulate import weather
from definetti.symmetry import BlockGroup, Full, Symmetry

Y, X = weather(120, random_state=5)
MORE = weather(9, random_state=6)
NEW = ["umbrella", "hat"]


def fitted(y=Y, x=X, lengths=None, **params):
    params = {"random_state": 7, "smoothing": True, **params}
    params["symmetry"] = drawing(params.get("symmetry", "auto"), 39)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotExactWarning)
        return ConformalHMM(**params).fit(y, x, lengths)


@pytest.mark.parametrize("train_size", [None, pytest.param(0.5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("score", [*Score.named, Joint(2)], ids=str)
def test_scores(score, train_size, tmp_path):
    check_same(fitted(conformity_score=score, train_size=train_size), tmp_path, [NEW], MORE)


@pytest.mark.parametrize("train_size", [None, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "symmetry",
    [
        *Symmetry.named,
        *(one(**how) for one in Symmetry.named.values() for how in one.examples),
        Full(max_windows=0),
        BlockGroup([[0, 1, 2], [1, 2, 0], [2, 0, 1]], blocks="pairs"),
    ],
    ids=str,
)
def test_symmetries(symmetry, train_size, tmp_path):
    check_same(fitted(symmetry=symmetry, train_size=train_size), tmp_path, [NEW[:1], NEW], MORE)


@pytest.mark.parametrize("symmetry", ["full", pytest.param("departures", marks=pytest.mark.slow)])
@pytest.mark.parametrize("memory", [2, Age(3), *sorted(set(Memory.named) - {"order"})], ids=str)
def test_memories(memory, symmetry, tmp_path):
    check_same(fitted(memory=memory, symmetry=symmetry), tmp_path, [NEW], MORE)


@pytest.mark.parametrize("train_size", [None, 0.5])
@pytest.mark.parametrize("name", sorted(set(Emission.named) - {"classifier"}))
def test_emissions(name, train_size, tmp_path):
    example, rng = Emission.named[name].example, np.random.default_rng(3)
    y = [example[k] for k in rng.integers(len(example), size=60)]
    x = rng.integers(2, size=60).tolist()
    cp = fitted(y, x, model=HMM(emission=name), states=[0, 1], train_size=train_size)
    check_same(cp, tmp_path, [list(example)[:2]], (list(example), [0, 1, 1]))


def tables():
    rng = np.random.default_rng(11)
    columns = {
        "city": rng.choice(["Rome", "Oslo"], 60).tolist(),
        "heat": rng.normal(size=60),
        "visits": rng.integers(5, size=60),
        "open": rng.random(60) < 0.5,
    }
    frame = pl.DataFrame(columns)
    gaps = frame.with_columns(
        pl.when(pl.col("visits") > 3).then(None).otherwise("heat").alias("heat")
    )
    return {
        "polars": frame,
        "polars with gaps": gaps,
        "polars category": frame.with_columns(pl.col("city").cast(pl.Categorical)),
        "polars enumeration": frame.with_columns(pl.col("city").cast(pl.Enum(["Oslo", "Rome"]))),
        "pandas": pd.DataFrame(columns),
        "pandas object": pd.DataFrame(columns).astype({"city": object}),
        "pandas category": pd.DataFrame(columns).astype({"city": "category"}),
        "dictionaries": frame.to_dicts(),
        "tuples": list(frame.iter_rows()),
        "lists": [list(row) for row in frame.select("heat", "visits").iter_rows()],
        "numbers": columns["heat"].tolist(),
        "array": np.column_stack([columns["heat"], columns["visits"]]),
        "one of arrays": list(np.column_stack([columns["heat"], columns["visits"]])),
        "series": frame["heat"],
        "pandas series": pd.Series(columns["city"]),
        "masked": np.ma.masked_greater(columns["heat"], 1.0),
        "text": np.array(columns["city"]),
        "objects": np.array(columns["city"], dtype=object),
        "floats of 32 bits": columns["heat"].astype(np.float32),
        "scalars of NumPy": [np.float64(one) for one in columns["heat"]],
        "symbols of NumPy": list(columns["visits"]),
        "dictionaries of NumPy": [
            {"city": np.str_(row["city"]), "heat": np.float64(row["heat"])}
            for row in frame.iter_rows(named=True)
        ],
        "words": [f"word{k}" if k % 3 else "the" for k in range(60)],
    }


def rows(table, begin, end):
    return (
        table[begin:end]
        if isinstance(table, (list, np.ndarray))
        else (table.iloc[begin:end] if hasattr(table, "iloc") else table[begin:end])
    )


@pytest.mark.slow_cases("polars category-None")
@pytest.mark.parametrize("train_size", [None, pytest.param(0.5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", list(tables()))
def test_tables(name, train_size, tmp_path):
    table = tables()[name]
    x = np.random.default_rng(12).choice(["a", "b"], 60).tolist()
    cp = fitted(rows(table, 0, 50), x[:50], train_size=train_size, symmetry=Full(0))
    check_same(cp, tmp_path, [rows(table, 55, 57)], (rows(table, 50, 55), x[50:55]))


def test_a_model_that_may_choose_again(tmp_path):
    """Counts, until there comes a fraction: the choice is made anew, of all that came in."""
    y = [[k % 3, 1] for k in range(40)]
    x = ["a", "b"] * 20
    cp = fitted(y, x)
    cp.partial_fit([[2, 1]], ["a"])
    again = passed(cp, tmp_path)
    assert answers(again, [[0.5, 1.5]]) == answers(cp, [[0.5, 1.5]])
    for one in (cp, again):
        one.partial_fit([[0.5, 2.25]], ["b"])
    assert repr(again.model_) == repr(cp.model_)
    assert "Gaussian" in repr(again.model_)
    assert answers(again, [[1, 2]]) == answers(cp, [[1, 2]])


def test_lengths_declared_states_and_levels(tmp_path):
    cp = fitted(
        lengths=[50, 30, 40], states=iter(["rain", "sun", "snow"]), symmetry="full",
        confidence_level={"sun": 0.8, None: 0.9},
    )  # fmt: skip
    again = check_same(cp, tmp_path, [NEW], MORE)
    assert again.states_ == ("rain", "sun", "snow")
    assert again.predict_set(NEW).sequences == cp.predict_set(NEW).sequences
    assert again.check(n_resamples=9).p_value == cp.check(n_resamples=9).p_value
    with pytest.raises(ValueError, match="not among the known labels"):
        again.partial_fit(["hat"], ["fog"])


def test_a_plain_chain_with_new_states_to_come(tmp_path):
    cp = fitted(None, X, symmetry="full")
    with_more = check_same(cp, tmp_path, [None], (None, ["fog", "sun"]), horizon=2)
    assert with_more.states_ == ("rain", "sun", "fog")


def test_long_horizons_and_steps(tmp_path):
    cp = fitted(train_size=0.5, max_candidates=100)
    again = passed(cp, tmp_path)
    assert answers(again, NEW * 5) == answers(cp, NEW * 5)
    new = NEW * 3
    for guarantee in ("steps", "errors", Errors(1)):
        cp.set_params(guarantee=guarantee)
        again = passed(cp, tmp_path)
        assert again.guarantee == guarantee
        assert again.predict_set(new, lag=2).steps == cp.predict_set(new, lag=2).steps


LABELS = {
    "numbers": [0, 1], "fractions": [0.5, -0.0], "truth": [True, False],
    "tuples": [("a", 1), ("a", (2, None))],
    "of NumPy": [np.int64(3), np.float32(0.1)], "text of NumPy": [np.str_("a"), np.str_("b")],
    "odd text": ["a\ud800", 'né"\\'], "large": [2**70, -(2**70)],
}  # fmt: skip


@pytest.mark.parametrize("name", LABELS)
def test_labels(name, tmp_path):
    one, two = LABELS[name]
    x = [one if label == "sun" else two for label in X]
    again = check_same(fitted(x=x), tmp_path, [NEW], (["hat", "hat"], [two, one]))
    assert again.states_ == (two, one)
    assert again.p_value(["hat"], [two]) == again.p_value(["hat"], [again.states_[0]])


@pytest.mark.parametrize(
    "seed",
    [
        None, 3, np.int64(3), np.random.default_rng(3), np.random.RandomState(3),
        *(np.random.Generator(one(3)) for one in (
            np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)),
    ],
    ids=lambda seed: type(getattr(seed, "bit_generator", seed)).__name__,
)  # fmt: skip
def test_random_draws(seed, tmp_path):
    """What was drawn at the fit stays, and a fit later draws what the original would have."""
    cp = fitted(symmetry=Full(0), random_state=seed)
    again = check_same(cp, tmp_path, [NEW], MORE)
    if seed is not None:
        for one in (cp, again):
            one.fit(Y, X)
        assert answers(again, NEW) == answers(cp, NEW)


def test_given_models_and_models_of_others(tmp_path):
    given = given_hmm(
        [[0.9, 0.1], [0.2, 0.8]], [[0.2, 0.7, 0.1], [0.7, 0.1, 0.2]],
        states=["sun", "rain"], symbols=["umbrella", "hat", "nothing"],
    )  # fmt: skip
    check_same(fitted(model=given), tmp_path, [NEW], MORE)
    check_same(fitted(model=fitted()), tmp_path, [NEW], MORE)  # that of another estimator


@pytest.mark.parametrize("law", ["CategoricalHMM", "GaussianHMM", "GMMHMM", "PoissonHMM"])
def test_models_of_hmmlearn(law, tmp_path):
    from hmmlearn import hmm

    rng = np.random.default_rng(4)
    y = rng.integers(3, size=(60, 1))
    x = np.where(rng.random(60) < 0.8, y[:, 0] > 0, y[:, 0] > 1).tolist()
    model = getattr(hmm, law)(2, n_iter=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(y)
    more = (y[:4], x[:4])
    check_same(fitted(y, x, model=model, train_size=0.3), tmp_path, [y[:2]], more)
    check_same(fitted(y, x, model=FromHmmlearn(model, (False, True))), tmp_path, [y[:2]], more)


def test_an_emission_judged_alone(tmp_path):
    """One without a `fix` of its own, fixed by the means that every emission has."""
    fixed = fitted(model=HMM(), train_size=0.5)._data.model
    law = Emission.fix(Categorical(), fixed.table, np.zeros(0), np.zeros(0), fixed.states)
    sums = fixed.statistics[:, : len(fixed.table)]
    model = TrainedHMM(fixed.transitions, sums, 0.5, law, fixed.states, fixed.table)
    check_same(fitted(model=model), tmp_path, [NEW], MORE)


SEQUENCES = {
    "as it comes": {},
    "drawn": {"random_state": 4, "states": ["rain", "sun", "snow"]},
    "all right": {"guarantee": "all"},
    "all but one": {"guarantee": Errors(1)},
    "numbers": {"model": HMM(emission=Gaussian("diagonal"))},
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_whole_sequences(name, tmp_path):
    params = {"confidence_level": 0.8, **SEQUENCES[name]}
    weeks = [weather(7, random_state=seed) for seed in range(30)]
    y = [one for week in weeks for one in week.observations]
    x = [one for week in weeks for one in week.states]
    if name == "numbers":
        y = [len(one) + 0.5 * (k % 3) for k, one in enumerate(y)]
    cp = ConformalSequences(**params).fit(y, x, [7] * 30, groups=[k // 2 for k in range(30)])
    again = passed(cp, tmp_path)
    one, two = (each.predict_set(y[:14], lengths=[7, 7]) for each in (cp, again))
    assert [each.steps for each in one] == [each.steps for each in two]
    assert all((a.marginals == b.marginals).all() for a, b in zip(one, two, strict=True))
    assert [each.limit for each in one] == [each.limit for each in two]
    for each in (cp, again):
        each.fit(y, x, [7] * 30)
    assert again.predict_set(y[:7]).limit == cp.predict_set(y[:7]).limit


def test_it_is_loaded_from_paths_of_all_kinds(tmp_path):
    fitted().save(str(tmp_path / "new folder" / "model"))
    assert load(str(tmp_path / "new folder" / "model")).states_ == ("rain", "sun")
