"""Which model "auto" chooses on rows that do not calibrate, and that coverage stays exact."""

import subprocess
import sys

import numpy as np
import pytest

from definetti import HMM, ConformalHMM, GroupedConformalHMM, load
from definetti.emissions.tempered import Boosted, Linear, _log_shares
from definetti.evaluation.window_loop import roll_levels
from definetti.models import TrainedHMM, selection
from definetti.models.selection import SelectedHMM
from definetti.verify import enumerate_ranks

LAWS = {
    "informative": ([0.5, 0.5], [[0.6, 0.4], [0.3, 0.7]], [[0.9, 0.1], [0.2, 0.8]]),
    "useless": ([0.3, 0.7], [[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]),
    "reducible": ([0.5, 0.5], [[0.8, 0.2], [0, 1]], [[0.7, 0.3], [0.2, 0.8]]),
}


def numbers(length, signal=2.0, seed=0, noise=0):
    """Return a sticky chain of three states, and rows of numbers that show it, or do not."""
    rng = np.random.default_rng(seed)
    states, state = [], 0
    for _ in range(length):
        state = state if rng.random() < 0.9 else int(rng.integers(3))
        states.append(state)
    x = np.array(states)
    y = rng.normal(size=(length, 2 + noise))
    y[:, 0] += signal * x
    y[:, 1] += signal * (x == 1)
    return y, x


def fitted(y, x, **others):
    return ConformalHMM(train_size=0.5, random_state=0, **others).fit(y, x)


@pytest.mark.slow_cases("1")
@pytest.mark.parametrize("horizon", [1, 2])
def test_choice_on_training_rows_keeps_coverage_exact(horizon, monkeypatch):
    monkeypatch.setattr(selection, "ROWS", 3)
    monkeypatch.setattr(selection, "FEWEST", 1)
    cp = ConformalHMM(train_size=3, symmetry="spaced", allow_empty=True)
    chosen = []
    select = selection.select

    def spy(*given):
        found = select(*given)
        chosen.append(found.selection.candidates[found.selection.choice(1)[0]])
        return found

    monkeypatch.setattr("definetti.models.selection.select", spy)
    everything = enumerate_ranks(cp, 2, 2, 6 - horizon, horizon)
    assert {*chosen} == {"chain", "HMM"}
    for name, law in LAWS.items():
        model = tuple(np.array(part, dtype=float) for part in law)
        for level in (0.5, 0.8, 0.9):
            assert np.nanmin(everything.coverage_given_last(*model, level)) >= level - 1e-12, name
            smoothed = everything._replace(smoothing=True).coverage_given_last(*model, level)
            assert smoothed[~np.isnan(smoothed)] == pytest.approx(level, abs=1e-9), name


def test_choice_ignores_rows_that_calibrate():
    y, x = numbers(1400)
    cp = fitted(y, x)
    changed_y, changed_x = y.copy(), x.copy()
    changed_y[700:], changed_x[700:] = -y[:699:-1], x[:699:-1]
    other = fitted(changed_y, changed_x)
    assert repr(cp.model_selection_) == repr(other.model_selection_)
    assert np.array_equal(
        cp.model_selection_.log_probabilities, other.model_selection_.log_probabilities
    )


def test_training_of_fewer_than_500_rows_keeps_the_hmm():
    y, x = numbers(998)
    cp = fitted(y, x)
    assert type(cp.model_) is TrainedHMM
    assert cp.model_selection_ is None
    assert isinstance(fitted(*numbers(1000)).model_, SelectedHMM)


def test_named_hmm_is_not_replaced():
    y, x = numbers(1200)
    from definetti.emissions import Gaussian

    assert type(fitted(y, x, model=HMM(emission=Gaussian())).model_) is TrainedHMM


def test_useless_observations_only_break_ties():
    y, x = numbers(1600, signal=0.0, noise=6)
    cp = fitted(y, x)
    assert cp.model_selection_.describe(1).startswith("chain (log-probability a step")
    assert cp.predict_set([[0.0] * 8]).sequences == cp.predict_set([[5.0] * 8]).sequences
    assert "chain (log-probability" in cp.predict_set([[0.0] * 8]).method
    assert cp.model_.describe(["a", "b"]) == ["a Markov chain; a, b only break ties"]
    chain = (
        ConformalHMM(train_size=0.5, random_state=0)
        .fit(None, x[:1400])
        .evaluate(None, x[1400:], 0.97, horizon=1)
    )
    ours = fitted(y[:1400], x[:1400]).evaluate(y[1400:], x[1400:], 0.97, horizon=1)
    assert ours.width < chain.width  # whose sets have all of several equally probable states


def test_classifier_is_chosen_where_no_gaussian_fits():
    rng = np.random.default_rng(3)
    _, x = numbers(2000, seed=3)
    y = rng.normal(size=(2000, 2))
    y[x == 1] = np.sign(y[x == 1]) * (2 + np.abs(y[x == 1]) ** 3)  # four clusters, heavy tails
    y[x == 2, 0] *= 0.01
    cp = fitted(y, x)
    assert "gradient boosting" in repr(cp.model_)
    table = repr(cp.model_selection_)
    assert all(name in table for name in ("chain", "HMM", "logistic regression"))
    named = ConformalHMM(HMM(emission="gaussian"), train_size=0.5, random_state=0)
    ours = cp.fit(y[:1500], x[:1500]).evaluate(y[1500:], x[1500:], 0.98, horizon=2)
    theirs = named.fit(y[:1500], x[:1500]).evaluate(y[1500:], x[1500:], 0.98, horizon=2)
    assert ours.width < theirs.width


def test_each_horizon_is_judged_by_its_own_law():
    y, x = numbers(3000, signal=0.8)
    cp = fitted(y, x)
    for horizon in (1, 3):
        _, power = cp.model_selection_.choice(horizon)
        assert cp.model_.law(horizon).power == power
        assert cp.model_selection_.describe(horizon) in cp.predict_set(y[:horizon]).method
    assert cp.model_selection_.choice(1000) == cp.model_selection_.choice(30)


def test_state_that_training_lacks_is_left_to_the_chain():
    y, x = numbers(1600)
    labels = np.array(["low", "middle", "high"], dtype=object)[x]
    labels[1500:1510] = "never seen before"
    cp = fitted(y, labels)
    s = cp.predict_set(y[:1], 0.99)
    assert ("never seen before",) in s  # there are too few to leave it out
    estimate = cp.model_.law(1)
    logs = estimate.log_likelihood(cp._data.table, np.zeros((4, 7)), np.arange(5))
    assert (logs[:, 3] == 0).all()


@pytest.mark.parametrize("kind", [Linear, Boosted])
def test_classifier_judges_a_row_alike_in_any_batch(kind):
    y, x = numbers(900, noise=3)
    y[::7, 1] = np.nan
    trained = kind.trained(y, x)
    whole = _log_shares(trained.logits(y), 1e-4)
    single = np.concatenate([_log_shares(trained.logits(y[k : k + 1]), 1e-4) for k in range(90)])
    assert np.array_equal(whole[:90], single)


def test_boosted_trees_are_those_of_scikit_learn():
    from sklearn.ensemble import HistGradientBoostingClassifier

    y, x = numbers(600)
    y[::5, 0] = np.nan
    for states in (x, x > 0):
        theirs = HistGradientBoostingClassifier(
            max_iter=60, max_leaf_nodes=15, min_samples_leaf=20, l2_regularization=1.0,
            early_stopping=False, random_state=0,
        ).fit(y, states)  # fmt: skip
        ours = np.exp(_log_shares(Boosted.trained(y, states.astype(np.int64)).logits(y), 0.0))
        assert ours == pytest.approx(theirs.predict_proba(y), abs=1e-12)


@pytest.mark.parametrize("data", ["numbers", "gaps", "mixed", "counts", "symbols"])
def test_saved_and_continued_estimators_answer_alike(data, tmp_path):
    y, x = numbers(1300, signal=1.0)
    new = y[1200:]
    if data == "gaps":
        y[::4, 0] = np.nan
        y[::9] = np.nan
    if data == "mixed":
        y = [(float(a), "wet" if b > 0.5 else "dry") for a, b in y]
    if data == "counts":
        y = np.floor(np.exp(y.clip(-1, 4)))
    if data == "symbols":
        y = ["wet" if b > 0.5 else "dry" for b in y[:, 1]]
    cp, new = fitted(y[:1200], x[:1200]), y[1200:]
    cp.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert repr(again.model_selection_) == repr(cp.model_selection_)
    for horizon in (1, 2):
        assert again.predict_set(new[:horizon]) == cp.predict_set(new[:horizon])
    for one in (cp, again):
        one.partial_fit(new[:50], x[1200:1250])
    assert again.predict_set(new[50:52]) == cp.predict_set(new[50:52])
    judged = [
        roll_levels(cp, new[50:], x[1250:].tolist(), [0.8], 2, at_once=at_once).evaluation(0)
        for at_once in (True, False)
    ]
    assert np.array_equal(judged[0].p_values, judged[1].p_values)


def test_long_horizons_choose_on_the_first_half():
    y, x = numbers(1400)
    cp = ConformalHMM(random_state=0).fit(y, x)
    assert cp.model_selection_ is None
    s = cp.predict_set(y[:30])
    assert cp.model_selection_.describe(30) in s.method
    assert cp.model_selection_.rows == 700


@pytest.mark.parametrize(
    "setting",
    [
        {"memory": 2}, {"guarantee": "steps"}, {"confidence_level": {0: 0.8, None: 0.9}},
        {"conformity_score": "band"}, {"smoothing": True},
    ],
    ids=str,
)  # fmt: skip
def test_settings_go_with_a_choice(setting):
    y, x = numbers(1400)
    cp = fitted(y[:1300], x[:1300], **setting)
    assert isinstance(cp.model_, SelectedHMM)
    assert cp.evaluate(y[1300:], x[1300:], horizon=2).coverage > 0.6


def test_departures_choose_on_a_number_of_rows_and_refuse_a_share():
    y, x = numbers(1400)
    cp = ConformalHMM(train_size=700, symmetry="departures", random_state=0).fit(y, x)
    assert isinstance(cp.model_, SelectedHMM)
    assert cp.evaluate(*numbers(100, seed=5), horizon=1).coverage > 0.6
    with pytest.raises(ValueError, match="train_size"):
        ConformalHMM(train_size=0.5, symmetry="departures").fit(y, x)


def series_of(number, length):
    each = [numbers(length, signal=1.0, seed=seed) for seed in range(number)]
    groups = np.repeat([f"s{k}" for k in range(number)], length)
    return np.concatenate([y for y, _ in each]), np.concatenate([x for _, x in each]), groups


def test_other_series_choose_the_model_without_the_own_rows():
    y, x, groups = series_of(3, 400)
    grouped = GroupedConformalHMM(ConformalHMM(random_state=0), series="others")
    first = grouped.fit(y, x, groups).estimators_["s0"]
    assert isinstance(first.model_, SelectedHMM)
    assert first.model_.selection.rows == 800
    changed = y.copy()
    changed[groups == "s0"] *= -1
    again = grouped.fit(changed, x, groups).estimators_["s0"]
    assert repr(again.model_selection_) == repr(first.model_selection_)
    assert np.array_equal(again.model_.transitions, first.model_.transitions)
    short = GroupedConformalHMM(ConformalHMM(random_state=0), series="others")
    assert type(short.fit(*series_of(3, 100)).estimators_["s0"].model_) is TrainedHMM


def test_first_series_choose_the_model_for_all_together():
    grouped = GroupedConformalHMM(ConformalHMM(train_size=2, random_state=0), series="all")
    found = grouped.fit(*series_of(4, 300)).estimators_["s3"]
    assert isinstance(found.model_, SelectedHMM)
    assert found.model_.selection.rows == 600
    assert len(found.predict_set(numbers(1)[0])) >= 1


def test_symbols_import_no_scikit_learn():
    code = (
        "import sys; from definetti.models.selection import select; from definetti import HMM;"
        "import numpy as np; from definetti.data.history import History; h = History(2);"
        "x = np.arange(900) // 5 % 2; h.append(x, x); a = HMM();"
        "t, c = a.emission_.encode(['ab'[k] for k in x], None, 'y');"
        "print(select(a, h, t, (0, 1)), any(m.startswith('sklearn') for m in sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.startswith("SelectedHMM(")
    assert found.stdout.strip().endswith("False")
