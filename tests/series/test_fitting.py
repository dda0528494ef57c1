"""Groups at the front door: who learns from whom, what is refused, what is kept."""

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from tests.making import grouped

import definetti
from definetti import HMM, ConformalHMM, GroupedConformalHMM, Monitor
from definetti.check import check
from definetti.conformal.series_modes import FOLDS
from definetti.emissions import Gaussian
from definetti.evaluation import SeriesEvaluation, SeriesRecord, backtest_series
from definetti.simulate import weather

NAMES = ("Rome", "Oslo", "Bonn", "Lima")
TOWNS = {name: weather(60 + 20 * k, random_state=k) for k, name in enumerate(NAMES)}
THINGS = [thing for town in TOWNS.values() for thing in town.observations]
SKIES = [sky for town in TOWNS.values() for sky in town.states]
SHARED = ("all", "first")
GROUPS = [name for name, town in TOWNS.items() for _ in town.states]


def fit(series="own", observations=THINGS, **how):
    cp = grouped(series=series, random_state=0, **how)
    return cp.fit(observations, SKIES, groups=GROUPS)


def same(one, other):
    return one.predict_p(["hat", "umbrella"]).sequences == other.predict_p(
        ["hat", "umbrella"]
    ).sequences and np.array_equal(
        one.predict_p(["hat", "umbrella"]).p_values, other.predict_p(["hat", "umbrella"]).p_values
    )


def test_each_by_itself_is_what_it_is_without_the_others():
    cp = fit()
    for name, town in TOWNS.items():
        alone = ConformalHMM(random_state=0).fit(*town)
        assert same(cp.estimators_[name], alone)


def test_rows_in_any_order_come_to_the_same():
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(SKIES))
    times = np.concatenate([np.arange(len(town.states)) for town in TOWNS.values()])
    mixed = grouped(series="others", random_state=0).fit(
        [THINGS[row] for row in rows], [SKIES[row] for row in rows],
        groups=[GROUPS[row] for row in rows], order=times[rows],
    )  # fmt: skip
    cp = fit("others")
    assert all(same(mixed.estimators_[name], cp.estimators_[name]) for name in NAMES)


@pytest.mark.parametrize("kind", ["text", "symbols", "words", "numbers", "rows", "several", "none"])
def test_what_is_left_without_a_series_is_the_model_of_the_others(kind):
    """Sums from which the own part is taken are what training on the others comes to."""
    rng = np.random.default_rng(1)
    observed = {
        "text": THINGS,
        "symbols": [len(thing) for thing in THINGS],
        "words": [f"{thing}{rng.integers(60)}" for thing in THINGS],
        "numbers": rng.normal(size=len(THINGS)),
        "rows": rng.normal(size=(len(THINGS), 2)),
        "several": pl.DataFrame({"thing": THINGS, "heat": rng.normal(size=len(THINGS))}),
        "none": None,
    }[kind]
    promise = fit("others", observed).estimators_.mode
    assert (promise._sums is None) == (kind == "several")
    for place in range(len(NAMES)):
        found = promise.model_for(place)
        wanted = promise.train_on([k for k in range(len(NAMES)) if k != place])
        assert np.array_equal(found.transitions, wanted.transitions)
        new = None if observed is None else observed[:9]
        logs = []
        for model in (found, wanted):
            seen = [None] * 9 if new is None else new
            table, codes = model.emission_.encode(seen, model.table, "observations")
            width = model.emission_.statistics(table, codes[:0], codes[:0], 2).shape
            padded = np.zeros(width)
            padded[tuple(map(slice, model.statistics.shape))] = model.statistics
            logs.append(model.emission_.log_likelihood(table, padded, codes))
        np.testing.assert_allclose(logs[0], logs[1], rtol=1e-9, atol=1e-9)


def test_numbers_of_a_series_never_enter_its_model():
    """Not even in the last bit: a sum is made of those before and of those after it."""
    rng = np.random.default_rng(2)
    numbers = rng.normal(size=len(THINGS))
    other = numbers.copy()
    own = np.array(GROUPS) == "Oslo"
    other[own] = rng.permutation(other[own]) + 1e9
    model = HMM(emission=Gaussian("diagonal"))
    one, two = (fit("others", seen, model=model).estimators_.mode for seen in (numbers, other))
    place = NAMES.index("Oslo")
    point = np.array_equal(one._sums.encoded.point, two._sums.encoded.point)
    assert not point or np.array_equal(
        one.model_for(place).statistics, two.model_for(place).statistics
    )


def test_a_classifier_is_trained_a_few_times_however_many_series_there_are():
    from sklearn.naive_bayes import GaussianNB

    number = FOLDS + 7
    rng = np.random.default_rng(3)
    x = list(np.tile(["a", "b"], 4 * number))
    y = rng.normal(size=(8 * number, 2)) + (np.array(x) == "b")[:, None]
    cp = grouped(GaussianNB(), series="others", random_state=0)
    cp.fit(y, x, groups=np.repeat(np.arange(number), 8))
    promise = cp.estimators_.mode
    models = [promise.model_for(place) for place in range(number)]
    assert len({id(model) for model in models}) == FOLDS
    cp.predict_set([[0.0, 0.0]], group=3)


def test_changed_settings_wait_for_the_next_fit():
    cp = fit("others").set_params(estimator__confidence_level=0.5, series="own")
    assert cp.predict_set(["hat"], group="Rome").confidence_level == 0.9
    assert cp.estimators_.mode.known_as == "others"
    cp.fit(THINGS, SKIES, GROUPS)
    assert cp.predict_set(["hat"], group="Rome").confidence_level == 0.5


@pytest.mark.parametrize(
    ("how", "more"),
    [("own", {}), ("others", {}), ("all", {"train_size": 2}), ("first", {"train_size": 1})],
)
def test_saved_and_read_again_it_says_the_same(how, more, tmp_path):
    cp = fit(how, **more)
    cp.save(tmp_path / "towns.definetti")
    again = definetti.load(tmp_path / "towns.definetti")
    assert all(same(again.estimators_[name], cp.estimators_[name]) for name in NAMES)
    cp.estimators_["Lima"].save(tmp_path / "lima.definetti")
    assert same(definetti.load(tmp_path / "lima.definetti"), cp.estimators_["Lima"])


@pytest.mark.parametrize(("how", "more"), [("own", {}), ("others", {}), ("all", {"train_size": 1})])
def test_labels_that_a_series_learns_later_stay_learned(how, more, tmp_path):
    cp = fit(how, **more)
    held = fit(how, **more).estimators_["Rome"].partial_fit(["hat", "hat"], ["sun", "rain"])
    cp.partial_fit(["hat"], ["sun"], ["Rome"])
    cp.partial_fit(["hat"], ["rain"], groups=["Rome"])
    assert cp.estimators_["Rome"].present_ == "rain"
    assert cp.estimators_["Rome"].n_steps_ == held.n_steps_
    assert same(cp.estimators_["Rome"], held)
    assert cp.predict_set(["hat"], group="Rome") == held.predict_set(["hat"])
    later = weather(20, random_state=9)
    groups = ["Rome"] * 20
    found = cp.evaluate(*later, horizon=1, groups=groups).evaluations["Rome"]
    assert found == held.evaluate(*later, horizon=1)
    assert cp.estimators_["Rome"].n_steps_ == held.n_steps_  # an evaluation learns nothing
    assert same(cp.estimators_["Oslo"], fit(how, **more).estimators_["Oslo"])
    cp.new_segment("Oslo")
    with pytest.raises(ValueError, match="nothing is labelled since the gap"):
        cp.predict_set(["hat"], group="Oslo")
    with pytest.raises(definetti.exceptions.SaveError, match="fit again with all rows"):
        cp.save(tmp_path / "towns.definetti")
    cp.estimators_["Rome"].save(tmp_path / "rome.definetti")
    assert same(definetti.load(tmp_path / "rome.definetti"), held)


def test_estimators_of_a_series_learn_for_themselves():
    cp = fit("own")
    one, other = cp.estimators_["Rome"], cp.estimators_["Rome"]
    one.partial_fit(["hat"], ["sun"])
    cp.partial_fit(["hat", "hat"], ["rain", "rain"], ["Rome", "Rome"])
    cp.estimators_["Rome"].partial_fit(["hat"], ["sun"])
    numbers = [each.n_steps_ for each in (one, other, cp.estimators_["Rome"])]
    assert numbers == [61, 60, 62]


def test_series_learn_all_rows_or_none():
    cp = fit("own", states=["sun", "rain"])
    with pytest.raises(ValueError, match="hail"):
        cp.partial_fit(["hat", "hat"], ["sun", "hail"], ["Rome", "Oslo"])
    with pytest.raises(ValueError, match="group 'Nice' is not among the 4 series"):
        cp.partial_fit(["hat", "hat"], ["sun", "sun"], ["Rome", "Nice"])
    assert cp.estimators_["Rome"].n_steps_ == 60


def test_new_rows_of_series_are_sorted_and_cut_at_holes():
    days = [day for town in TOWNS.values() for day in range(len(town.states))]
    cp = grouped(random_state=0).fit(THINGS, SKIES, GROUPS, order=days)
    with pytest.warns(definetti.exceptions.HoleWarning, match="series 'Oslo' begins"):
        cp.partial_fit(
            ["hat"] * 4, ["sun", "rain", "sun", "rain"], ["Rome", "Rome", "Oslo", "Oslo"],
            order=[61, 60, 95, 96],
        )  # fmt: skip
    rome, oslo = cp.estimators_["Rome"], cp.estimators_["Oslo"]
    alone = fit().estimators_["Rome"].partial_fit(["hat", "hat"], ["rain", "sun"])
    assert same(rome, alone)
    alone = fit().estimators_["Oslo"].new_segment().partial_fit(["hat", "hat"], ["sun", "rain"])
    assert same(oslo, alone)


@pytest.mark.parametrize(
    ("how", "more", "rows"),
    [("own", {}, 360), ("own", {"train_size": 20}, 280), ("others", {}, 360),
     ("all", {"train_size": 1}, 300)],
)  # fmt: skip
def test_a_check_of_series_leaves_out_what_trained(how, more, rows):
    cp = fit(how, **more)
    found = cp.check(n_resamples=19)
    trained = {"own": more.get("train_size", 0), "others": 0, "all": 0}[how]
    labels = []
    for k, town in enumerate(TOWNS.values()):
        cut = len(town.states) if how == "all" and k == 0 else trained
        labels += [None] * cut + list(town.states[cut:])
    wanted = check(THINGS, labels, groups=GROUPS, n_resamples=19, random_state=0)
    assert sum(label is not None for label in labels) == rows
    assert found.p_value == wanted.p_value
    assert found.to_dict() == wanted.to_dict()


def test_a_series_that_all_calibrate_may_have_a_gap(tmp_path):
    """What comes after it is as if it had come with the fit, and no window leads over it."""
    cp = fit("all", train_size=1).estimators_["Lima"].new_segment()
    with pytest.raises(ValueError, match="nothing is labelled since the gap"):
        cp.predict_set(["hat"])
    cp.save(tmp_path / "gap.definetti")
    for one in (cp, definetti.load(tmp_path / "gap.definetti")):
        one.new_segment().partial_fit(["hat", "hat"], ["sun", "rain"])
        skies, things = [*SKIES, "sun", "rain"], [*THINGS, "hat", "hat"]
        whole = grouped(series="all", train_size=1, random_state=0).fit(
            things, skies, lengths=[len(SKIES), 2], groups=[*GROUPS, "Lima", "Lima"]
        )
        assert same(one, whole.estimators_["Lima"])


@pytest.mark.parametrize("how", ["own", "others"])
def test_a_monitor_lives_with_one_series(how):
    later = weather(30, random_state=50)
    with pytest.raises(TypeError, match="estimators_"):
        Monitor(fit(how))
    monitor = Monitor(fit(how).estimators_["Rome"], random_state=0)
    assert len(list(monitor.run(*later))) == 30


@pytest.mark.parametrize("how", ["own", "others", "all"])
def test_series_are_judged_each_by_itself_and_together(how):
    more = {"train_size": 1} if how == "all" else {}
    cp = fit(how, **more)
    later = {name: weather(40, random_state=9 + k) for k, name in enumerate(NAMES[:3])}
    things = [thing for town in later.values() for thing in town.observations]
    skies = [sky for town in later.values() for sky in town.states]
    names = [name for name in later for _ in range(40)]
    found = cp.evaluate(things, skies, groups=names, horizon=1)
    assert [one.series for one in found] == list(later)
    for name, town in later.items():
        alone = cp.estimators_[name].evaluate(*town, horizon=1)
        assert found.evaluations[name] == alone
    assert found.windows == 120
    assert found.coverage == pytest.approx(np.mean([one.coverage for one in found]))
    assert (
        cp.evaluate(things, skies, groups=names, horizon=1, n_jobs=2).to_dict() == found.to_dict()
    )
    frame = found.to_frame("pandas")
    assert frame.columns.tolist() == found.to_frame("polars").columns


@pytest.mark.parametrize("how", [{}, {"series": "others", "smoothing": True}])
@pytest.mark.parametrize("lag", [0, 1])
def test_several_levels_are_each_by_itself(how, lag):
    """Of a backtest, and of what followed a fit; the rows of series are told."""
    more = {**how, **({"train_size": 0.5} if lag and not how else {})}
    made = [grouped(random_state=0, confidence_level=one, **more) for one in (0.9, 0.6)]
    several = backtest_series(made[0], THINGS, SKIES, GROUPS, horizon=1 + lag, lag=lag,
                              confidence_level=[0.9, 0.6])  # fmt: skip
    for one, cp in zip(several, made, strict=True):
        wanted = backtest_series(cp, THINGS, SKIES, GROUPS, horizon=1 + lag, lag=lag)
        assert one.to_dict() == wanted.to_dict()
        assert one.evaluations == wanted.evaluations
    lima = several[0].evaluations["Lima"]
    rows = several[0].rows["Lima"][lima.begins]
    assert [SKIES[row] for row in rows] == [lima.states[code] for code in lima.truth]
    cp = made[0].fit(THINGS, SKIES, groups=GROUPS)
    asked = {"groups": GROUPS[::-1], "horizon": 1 + lag, "lag": lag}
    found = cp.evaluate(THINGS, SKIES, [0.9, 0.6], **asked)
    for one, level in zip(found, (0.9, 0.6), strict=True):
        assert one.to_dict() == cp.evaluate(THINGS, SKIES, level, **asked).to_dict()


def test_a_backtest_has_a_verdict_and_names_whom_to_look_at():
    wrong = [
        ("sun" if sky == "rain" else "rain") if name == "Oslo" and k % 2 else sky
        for k, (sky, name) in enumerate(zip(SKIES, GROUPS, strict=True))
    ]
    cp = grouped(series="others", random_state=0, confidence_level=0.6)
    found = backtest_series(cp, THINGS, wrong, GROUPS, start=0.2)
    assert found.worst is not None
    assert 0 < found.spread_by_chance < 0.2
    assert "promised 0.6" in found.verdict()
    lonely = backtest_series(cp, [*THINGS, "hat"], [*SKIES, "sun"], [*GROUPS, "Cork"])
    assert lonely[-1].note == "too short for a window"
    assert "1 too short" in lonely.verdict()


def test_states_that_no_set_could_hold_are_counted_apart():
    cp = fit().estimators_["Lima"]
    skies = ["sun"] * 10 + ["hail"] + ["sun"] * 9
    alone = cp.evaluate(["hat"] * 20, skies, horizon=1)
    found = fit().evaluate(["hat"] * 20, skies, groups=["Lima"] * 20, horizon=1)
    assert (found[0].windows, found[0].unknown, found[0].judged) == (20, 1, 19)
    assert found[0].covered == alone.covered.sum()
    assert found.coverage == found[0].coverage == alone.covered.sum() / 19
    assert "of 19 windows in 1 series" in found.verdict()
    assert "counted apart: 1 with a state that had not come up before" in found.verdict()
    none = fit().evaluate(["hat"], ["hail"], groups=["Lima"], horizon=1)
    assert none.verdict() == "cannot tell: no window has states that had come up before"


def test_a_verdict_says_when_sets_say_nothing_and_when_it_may_be_chance():
    full = [SeriesRecord(name, 9, 5, 5.0, 0.9, 2.0, 2.0, 2) for name in NAMES]
    said = SeriesEvaluation(full).verdict()
    assert said.startswith("kept, but the sets say nothing: 2 of 2 states a step: 1.000 of 20")
    few = SeriesEvaluation([SeriesRecord("Rome", 99, 50, 44.0, 0.9, 1.0, 1.0, 2)])
    assert few.verdict().startswith("kept within chance: 0.880 of 50 windows")
    many = SeriesEvaluation([SeriesRecord("Rome", 9999, 5000, 4400.0, 0.9, 1.0, 1.0, 2)])
    assert many.verdict().startswith("short: 0.880 of 5,000 windows")


@pytest.mark.parametrize("covered", [43.0, 43.5, 44.0, 44.5])
def test_shares_of_steps_are_no_counts_of_windows_even_if_they_add_up_to_one(covered):
    """Fewer steps covered never look better."""

    def record(name, covered):
        ordered = np.clip(covered - np.arange(50), 0, 1)  # as many ones as there can be
        shares = tuple(np.random.default_rng(0).permutation(ordered).tolist())
        return SeriesRecord(name, 99, 50, covered, 0.9, 1.0, 1.0, 2, shares=shares)

    few, more, short = record("Rome", covered), record("Oslo", 49.5), record("Bonn", covered - 20)
    assert few.interval[0] < few.coverage < few.interval[1]
    assert 0.05 < few.p_value <= more.p_value == 1.0
    found = SeriesEvaluation([more, few])
    assert found.worst is few
    assert SeriesEvaluation([few]).verdict().startswith("kept within chance")
    assert SeriesEvaluation([more, short]).look_at == [short]


def test_means_are_over_windows_and_what_is_left_out_is_told_apart():
    found = SeriesEvaluation(
        [
            SeriesRecord("Rome", 1000, 500, 480.0, 0.9, 1.2, 1.1, 3),
            SeriesRecord("Oslo", 20, 10, 10.0, 0.9, 3.0, 3.0, 3),
            SeriesRecord("Lima", 1, note="too short for a window"),
            SeriesRecord("Kyiv", 0, note="no row has a state"),
        ]
    )
    assert found.mean_size == pytest.approx((500 * 1.2 + 10 * 3) / 510)
    assert found.states_per_step == pytest.approx((500 * 1.1 + 10 * 3) / 510)
    assert found.verdict().endswith("; 1 too short for a window; of 1 no row has a state")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"groups": GROUPS[1:]}, "groups has 359 labels for 360 rows; give one per row"),
        ({"groups": [None, *GROUPS[1:]]}, r"groups\[0\] is None, which names no series"),
        ({"groups": [1, *GROUPS[1:]]}, "groups has numbers and text, 1 and 'Lima'; make them of"),
        ({"order": [0] * 360}, "order is the same in rows 1 and 2 of the series 'Rome'"),
        ({"order": [None, *range(359)]}, r"order\[0\] is missing"),
        ({"order": ["a", *range(359)]}, "order has entries that cannot be compared"),
        ({"order": [1]}, "order has 1 entries for 360 rows"),
        ({"groups": None}, "groups"),
    ],
)
def test_what_names_no_series_is_refused_in_a_sentence(wrong, message):
    with pytest.raises((ValueError, TypeError), match=message):
        grouped().fit(THINGS, SKIES, **{"groups": GROUPS, **wrong})


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"series": "mine"}, "series must be one of 'all', 'first', 'others', 'own', got 'mine'"),
        ({"series": "others", "train_size": 0.5}, "leave train_size out"),
        ({"series": "all"}, "series='all' needs a fixed model; set train_size=0.5"),
        ({"series": "all", "train_size": 0.5, "symmetry": "full"}, "use symmetry='departures'"),
        ({"series": "first", "train_size": 0.5, "memory": 2}, "use memory=1"),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_sentence(how, message):
    with pytest.raises(ValueError, match=message):
        grouped(**how).fit(THINGS, SKIES, groups=GROUPS)


def test_one_of_the_series_has_to_be_named():
    cp = fit()
    assert set(cp.states_) == {"rain", "sun"}
    for ask in (lambda: cp.predict_set(["hat"]), lambda: cp.evaluate(["hat"], ["sun"])):
        with pytest.raises(TypeError, match="group"):
            ask()
    with pytest.raises(ValueError, match="group 'Nice' is not among the 4 series"):
        cp.predict_set(["hat"], group="Nice")
    with pytest.raises(NotFittedError, match="call fit"):
        grouped().predict_set(["hat"], group="Rome")


def test_an_estimator_of_one_history_says_where_series_go():
    message = r"use GroupedConformalHMM\(ConformalHMM\(…\)\)\.fit\(observations, states, groups\)"
    with pytest.raises(TypeError, match=message):
        ConformalHMM().fit(THINGS, SKIES, groups=GROUPS)
    with pytest.raises(TypeError, match="estimator must be a ConformalHMM, got str"):
        GroupedConformalHMM("mine").fit(THINGS, SKIES, GROUPS)


def test_a_series_of_one_row_has_a_set_of_all():
    cp = grouped(random_state=0).fit([*THINGS, "hat"], [*SKIES, "sun"], groups=[*GROUPS, "x"])
    assert len(cp.predict_set(["hat"], group="x")) == 2


def test_a_state_that_only_another_series_has_may_come():
    cp = grouped(random_state=0).fit(
        ["a", "b", "a", "c"], ["sun", "rain", "sun", "snow"], groups=[0, 0, 0, 1]
    )
    assert ("snow",) in cp.predict_set(["a"], group=0)
    found = cp.evaluate(["a"], ["hail"], groups=[0], horizon=1)
    assert (found[0].unknown, found[0].covered) == (1, 0)


def test_share_with_departures_is_refused_at_fit_with_rows_that_every_series_has():
    with pytest.raises(ValueError, match=r"share of the history's length.*such as train_size=30$"):
        fit(symmetry="departures", train_size=0.5)
    cp = fit(symmetry="departures", train_size=30)
    assert all(cp.estimators_[name].n_steps_ == len(TOWNS[name].states) - 30 for name in NAMES)


def test_a_set_says_when_it_holds():
    """By visits over all series, or at any time by the first window of each other."""
    sets = {how: fit(how, train_size=1).predict_set(["hat"], group="Rome") for how in SHARED}
    assert "given the present state, averaged over its visits" in repr(sets["all"])
    assert "given the present state, at any time" in repr(sets["first"])
    assert "visits" not in repr(sets["first"])
