"""What a report says is what the estimator says, at every level that one can choose on it."""

from __future__ import annotations

import json
from itertools import islice

import numpy as np
import polars as pl
import pytest

from definetti import ConformalHMM, Errors
from definetti.check import check
from definetti.engine.pvalues import entry
from definetti.evaluation.advice import REPEAT, WITHOUT
from definetti.evaluation.backtest import fit_rivals
from definetti.evaluation.intervals import mean_interval
from definetti.evaluation.results import summary
from definetti.experiments import Classical
from definetti.report import make_report
from definetti.report.page import embedded
from definetti.simulate import weather

Y, X = weather(163, random_state=4)
OLD, NEW = slice(0, 160), slice(160, 163)
LABELS = list(dict.fromkeys(X))  # in the order in which they are first met

SETTINGS = {
    "refitted": {},
    "smoothed": {"smoothing": True},
    "counted blocks": {"symmetry": "returns", "conformity_score": "filter"},
    "fixed": {"train_size": 0.4},
    "a lattice": {"train_size": 0.4, "max_candidates": 4},
    "steps": {"train_size": 0.4, "guarantee": "steps"},
    "errors": {"train_size": 0.4, "guarantee": Errors(1)},
    "level of its own": {"confidence_level": 0.777},
    "not exact": {"symmetry": "shifts"},
}


FAST = ("smoothed", "a lattice", "steps")


@pytest.fixture(params=[
    pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in SETTINGS
])  # fmt: skip
def settings(request):
    return {"random_state": 0, **SETTINGS[request.param]}


@pytest.mark.filterwarnings("ignore::definetti.exceptions.NotExactWarning")
def test_sets_at_every_level(settings):
    cp = ConformalHMM(**settings)
    found = make_report(cp, Y[OLD], X[OLD], Y[NEW], windows=5).contents
    cp.fit(Y[OLD], X[OLD])
    assert found["levels"][found["asked"]] == cp.confidence_level
    for place, level in enumerate(found["levels"]):
        s = cp.predict_set(Y[NEW], level)
        there = np.array(found["new"]["first"]) <= place
        assert there.tolist() == s.nodes.tolist(), level
        if found["new"]["counts"] is not None:
            assert found["new"]["counts"][place] == len(s)
        if found["new"]["sequences"]:
            members = [
                tuple(s.states[code] for code in one["codes"])
                for one in found["new"]["sequences"]
                if one["first"] <= place
            ]
            assert members == list(islice(s, 100))
            assert [s.p_value(one) for one in members] == [
                one["p"] for one in found["new"]["sequences"][: len(members)]
            ]


@pytest.mark.slow_cases("a lattice", "smoothed")
@pytest.mark.filterwarnings("ignore::definetti.exceptions.NotExactWarning")
def test_backtest_at_every_level(settings):
    cp = ConformalHMM(**settings)
    found = make_report(cp, Y[OLD], X[OLD], Y[NEW], start=124 / 160, windows=12).contents
    test = found["backtest"]
    begin, horizon = test["first_row"] - 1, test["horizon"]
    assert (horizon, test["windows"], begin) == (3, 12, 124)
    ours = ConformalHMM(**settings, states=LABELS).fit(Y[:begin], X[:begin])
    ways = {"definetti": ours}
    if cp.guarantee == "all":
        ways |= fit_rivals(ours, Y[:begin], X[:begin], None)[0]
    assert set(test["methods"]) == {*ways, REPEAT, WITHOUT}
    for name, way in ways.items():
        for place, level in list(enumerate(found["levels"]))[::5]:
            judged = way.evaluate(Y[begin:160], X[begin:160], level, horizon=horizon)
            judged = judged._replace(begins=judged.begins + begin)
            expected = summary(judged, horizon)
            told = test["methods"][name][place]
            if told["mean_size"] is None:  # not listed
                del expected["mean_size"]
            assert {key: told[key] for key in expected} == expected, level
            if cp.guarantee == "steps":
                assert told["coverage"] == pytest.approx(1 - judged.wrong_share)
                assert (told["low"], told["high"]) == mean_interval(1 - judged.wrong)
            if name == "definetti":
                assert (np.array(test["drawn"]["first"]) <= place).tolist() == judged.nodes.tolist()
                assert told["running"]["coverage"][-1] == told["coverage"]


def test_forecast_is_backtested_as_a_forecast():
    cp = ConformalHMM(random_state=0)
    found = make_report(cp, Y[OLD], X[OLD], horizon=2, start=0.875, windows=10).contents
    test = found["backtest"]
    assert (test["horizon"], test["observed"], found["new"]["observed"]) == (2, 0, 0)
    learner = ConformalHMM(random_state=0, states=LABELS).fit(Y[:140], X[:140])
    widths = []
    for begin in range(140, 160, 2):
        widths.append(learner.predict_set(horizon=2).widths.mean())
        learner.partial_fit(Y[begin : begin + 2], X[begin : begin + 2])
    told = test["methods"]["definetti"][found["asked"]]
    assert told["mean_states_per_step"] == pytest.approx(np.mean(widths))


def test_partly_observed_horizon_is_backtested_partly_observed():
    cp = ConformalHMM(train_size=0.4, random_state=0)
    found = make_report(cp, Y[OLD], X[OLD], Y[160:161], horizon=3, windows=10).contents
    assert found["new"]["seen"][1:] == ["not observed yet"] * 2
    assert (found["backtest"]["horizon"], found["backtest"]["observed"]) == (3, 1)
    begin = 160 - 30
    learner = ConformalHMM(train_size=0.4, random_state=0, states=LABELS)
    learner.fit(Y[:begin], X[:begin])
    first = learner.predict_set(Y[begin : begin + 1], horizon=3)
    drawn = np.array(found["backtest"]["drawn"]["first"])[:3] <= found["asked"]
    assert drawn.tolist() == first.nodes.tolist()


def test_columns_without_names_need_states():
    with pytest.raises(ValueError, match="states is not declared"):
        make_report(ConformalHMM(lambda start, seen: np.full((*seen.shape, 2), 0.5)), Y, X)


def test_impossible_backtest_is_left_out_with_its_reason():
    made = make_report(ConformalHMM(random_state=0), Y[:3], X[:3], Y[3:4]).contents
    assert set(made["backtest"]["methods"]) <= {"definetti", WITHOUT, "classical", REPEAT}
    late = make_report(ConformalHMM(train_size=60, random_state=0), Y[:100], X[:100], Y[100:101])
    assert late.contents["backtest"] is None
    assert any("train_size=60" in note for note in late.contents["notes"])


def test_estimates_are_those_of_the_rows_that_the_model_was_fixed_on():
    cp = ConformalHMM(train_size=40, random_state=0)
    found = make_report(cp, Y[OLD], X[OLD], Y[NEW], windows=5).contents["model"]
    fitted = cp.fit(Y[OLD], X[OLD])
    assert found["counts"] == fitted.model_.transitions.astype(int).tolist()
    assert "first 40 rows" in found["from"]


def test_chain_without_observations_states_no_assumption_on_them():
    found = make_report(ConformalHMM(random_state=0), None, X, windows=4).contents
    assert "observation" not in found["assumed"]
    assert found["backtest"]["observed"] == 0


def test_settings_contain_no_memory_address():
    cp = ConformalHMM(lambda start, seen: np.full((*seen.shape, 2), 0.5), states=LABELS)
    found = make_report(cp, Y[OLD], X[OLD], Y[NEW], windows=2).contents
    assert "0x" not in str(found["settings"])


def test_iterators_are_accepted():
    cp = ConformalHMM(random_state=0, states=iter(LABELS))
    once = make_report(cp, iter(Y[OLD]), iter(X[OLD]), iter(Y[NEW]), windows=3).contents
    again = make_report(
        ConformalHMM(random_state=0, states=LABELS), Y[OLD], X[OLD], Y[NEW], windows=3
    ).contents
    assert once["new"] == again["new"]


@pytest.mark.parametrize(
    ("level", "said"),
    [
        (0.9999, "On average, at least 9,999 of 10,000"),
        (np.float32(0.9), "On average, at least 90 of 100"),
        (0.99999999, "On average, at least 99.999999 of 100"),
    ],
)
def test_guarantee_states_the_level(level, said):
    cp = ConformalHMM(confidence_level=level, random_state=0)
    found = make_report(cp, Y[OLD], X[OLD], Y[NEW], windows=2).contents
    assert found["promise"][found["asked"]].startswith(said)
    assert len(set(found["percent"])) == len(found["levels"])


def test_settings_of_random_states_are_reproducible():
    rng = np.random.default_rng(0)
    made = [
        make_report(ConformalHMM(random_state=one), Y[OLD], X[OLD], Y[NEW], windows=2).contents
        for one in (rng, None)
    ]
    assert [one["settings"]["random_state"] for one in made] == [
        "Generator(PCG64)", "None: random draws differ from run to run",
    ]  # fmt: skip


def test_p_value_equal_to_alpha_is_not_in_the_set():
    # 1 − 0.9 is less than 0.1 in floating point.
    assert entry([0.1, 0.1 + 1e-12], [0.9, 0.95]).tolist() == [1, 0]


def test_states_of_two_types_have_different_names():
    states = [1, "1", 1, 1, "1"] * 12
    found = make_report(ConformalHMM(random_state=0), None, states, horizon=2, windows=10).contents
    assert found["states"] == ["1", "'1'"]
    assert set(found["backtest"]["methods"]["definetti"][0]["by_last_state"]) <= {"1", "'1'"}


def test_window_with_an_undeclared_new_state_is_counted_separately():
    states = ["a", "b"] * 40 + ["c", "a"] * 5
    for declared, unseen in ((None, 1), (["a", "b", "c"], 0)):
        cp = ConformalHMM(states=declared, random_state=0)
        found = make_report(cp, None, states, horizon=1).contents
        assert found["states"] == ["a", "b", "c"]
        assert found["backtest"]["drawn"]["truth"].count(-1) == unseen
        ours = found["backtest"]["methods"]["definetti"][found["asked"]]
        assert (ours["unseen"], ours["verdict"]["unseen"]) == (unseen, unseen)


def test_without_new_rows_there_is_a_backtest_only():
    found = make_report(ConformalHMM(random_state=0), Y, X, windows=10).contents
    assert found["new"] is None
    assert found["backtest"]["horizon"] == 1


def test_short_history_has_no_backtest():
    made = make_report(ConformalHMM(random_state=0), Y[:1], X[:1], Y[1:2])
    assert made.contents["backtest"] is None
    assert "no backtest" in repr(made)


def test_estimates():
    frame = pl.DataFrame({"heat": [1.0, 3.0, None, 7.0], "mode": ["x", "x", "y", None]})
    states = ["a", "a", "b", "b"]
    found = make_report(ConformalHMM(random_state=0), frame, states, frame[:1]).contents["model"]
    assert found["counts"] == [[1, 1], [0, 1]]
    assert found["transition"] == pytest.approx(np.array([[0.5, 0.5], [0.25, 0.75]]))
    means, shares = found["emissions"]
    assert (means["columns"], means["values"]) == (["heat"], [[2.0], [7.0]])
    assert (shares["columns"], shares["values"]) == (["x", "y"], [[1.0, 0.0], [0.0, 1.0]])


def test_rare_symbols_share_a_column():
    words = [f"w{k}" for k in range(50)]
    made = make_report(ConformalHMM(random_state=0), words, ["a", "b"] * 25, ["w1"], windows=3)
    table = made.contents["model"]["emissions"][0]
    assert table["columns"][-1] == "30 others"
    assert np.sum(table["values"], axis=1) == pytest.approx(1.0)


def test_warning_is_raised_and_noted_on_the_page():
    cp = ConformalHMM(train_size=0.5, random_state=0)
    with pytest.warns(UserWarning, match="too few blocks"):
        made = make_report(cp, Y[:40], X[:40], Y[40:45], windows=3)
    assert "too few blocks" in made.contents["notes"][0]


def test_the_page_is_one_file_and_text_stays_text(tmp_path):
    hostile = '</script><script>alert("x")</script>'
    states = [hostile, "{{ plotly }}"] * 20
    made = make_report(
        ConformalHMM(random_state=0), None, states, horizon=1, windows=5, title=hostile
    )
    path = made.save(tmp_path / "report.html")
    text = path.read_text(encoding="utf-8")
    assert "alert" not in text.split('<script type="application/json"')[0].replace("&quot;", "") \
        .replace("&lt;/script&gt;&lt;script&gt;alert", "")  # fmt: skip
    for outside in ('src="', "<link", "@import", "url("):
        assert outside not in text.split("<body>")[0]
    start = text.index('id="contents">') + len('id="contents">')
    inside = json.loads(text[start : text.index("</script>", start)])
    assert inside == json.loads(json.dumps(made.contents))
    assert list(tmp_path.iterdir()) == [path]


def test_json_cannot_end_its_script_element():
    assert "</" not in embedded({"a": "</script>", "b": "<!--"})


def test_other_predictors_are_refused():
    with pytest.raises(TypeError, match="predictor must be a ConformalHMM"):
        make_report(Classical(), Y, X)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"start": 0}, "start"),
        ({"start": "0.5"}, "start"),
        ({"windows": 0}, "windows"),
        ({"horizon": 0}, "horizon"),
    ],
)
def test_bad_arguments(wrong, named):
    with pytest.raises(ValueError, match=named):
        make_report(ConformalHMM(), Y[OLD], X[OLD], **wrong)


def test_diagnosis_is_shown_unchanged():
    found = check(Y[OLD], X[OLD], n_resamples=99, random_state=0)
    made = make_report(ConformalHMM(random_state=0), Y[OLD], X[OLD], windows=5, check=found)
    said = made.contents["check"]
    json.dumps(said, allow_nan=False)
    assert {key: said[key] for key in found.to_dict()} == found.to_dict()
    assert said["verdict"] in made.html
    assert not any("Does the assumption" in note for note in made.contents["notes"])
    assert list(said["residuals"]) == ["next state", "observations"]
    for name, one in said["residuals"].items():
        ours = found.residuals[name]
        assert one["autocorrelation"]["observed"] == pytest.approx(
            ours.autocorrelation.observed, abs=1e-5
        )
        assert one["quantiles"]["outside"] == ours.quantiles.outside.tolist()
    assert all(sum(one["counts"]) == 99 for one in said["drawn"].values())


def test_infinite_numbers_of_a_diagnosis_become_null():
    """One draw does not vary at all; a function of one's own may be infinite."""
    twos = list("aabb" * 10)
    tests = {"order": "order", "own": lambda x, y: float("inf") if x[1] == "a" else 0.0}
    found = check(None, twos, n_resamples=1, tests=tests, random_state=0)
    assert found.tests["order"].stands_out == found.tests["own"].statistic == float("inf")
    made = make_report(ConformalHMM(random_state=0), None, twos, windows=5, check=found)
    said = made.contents["check"]
    assert said["tests"]["order"]["stands_out"] is None
    assert said["tests"]["own"]["statistic"] is None
    assert not said["testable"]
    json.dumps(said, allow_nan=False)


def test_report_without_diagnosis_has_no_check():
    made = make_report(ConformalHMM(random_state=0), Y[OLD], X[OLD], windows=5)
    assert made.contents["check"] is None
    with pytest.raises(TypeError, match="check must be a Diagnosis"):
        make_report(ConformalHMM(), Y[OLD], X[OLD], windows=5, check=True)


def test_violated_assumption_is_noted_beside_the_guarantee():
    twos = list("aabb" * 30)
    found = check(None, twos, n_resamples=99, random_state=0)
    made = make_report(ConformalHMM(random_state=0), None, twos, windows=5, check=found)
    assert sum("Does the assumption hold?" in note for note in made.contents["notes"]) == 1
    failing = [made.contents["check"]["tests"][name]["verdict"] for name in found.failures]
    assert failing
    assert not any("spaced" in one for one in [*failing, made.contents["check"]["verdict"]])
    assert any("memory='age'" in one for one in failing)
    full = ConformalHMM(symmetry="full", random_state=0)
    made = make_report(full, None, twos, windows=5, check=found)
    assert made.contents["check"]["verdict"] == found.verdict
    assert "or symmetry='spaced'" in found.verdict
