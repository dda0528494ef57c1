"""Where too few windows of the past leave nothing out, a set says so, and a warning what helps."""

import warnings

import pytest

from definetti import ConformalHMM
from definetti.exceptions import FewBlocksWarning
from definetti.simulate import weather

# Rain and sun are common; in what calibrates there are three days of fog, and one of snow.
X = ["sun", "sun", "rain", "rain"] * 30 + ["sun"]
for day, sky in ((50, "fog"), (70, "fog"), (90, "fog"), (110, "snow")):
    X[day] = sky
Y = ["wet" if sky == "rain" else "dry" for sky in X]


def asked(level=0.9, steps=2, **settings):
    cp = ConformalHMM(train_size=20, random_state=0, **settings).fit(Y, X)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        s = cp.predict_set(["dry"] * steps, level)
    ours = [str(one.message) for one in heard if one.category is FewBlocksWarning]
    return s, ours[0] if ours else ""


def test_rare_states_are_named_with_what_helps():
    s, told = asked(max_candidates=2)
    assert "one of 2 of 4 states: 'snow' has 0 and 'fog' has 2 of the 9 that it takes" in told
    assert "merge them with states that are like them" in told
    assert "symmetry='departures'" in told
    assert "ask less of them: confidence_level={'fog': 0.66, None: 0.9}" in told
    assert "times the" not in told  # more data are no cure for what is rare
    for text in (repr(s), s._repr_html_().replace("&#x27;", "'")):
        assert "leaves nothing out that ends in 'snow' or 'fog': too few windows" in text


def test_the_level_that_it_names_does_help():
    _, told = asked({"fog": 0.66, None: 0.9}, max_candidates=2)
    assert "'fog'" not in told
    _, told = asked({"fog": 0.67, None: 0.9}, max_candidates=2)
    assert "'snow' has 0 of 9 and 'fog' has 2 of 3 that it takes" in told


@pytest.mark.parametrize(
    "settings",
    [{}, {"max_candidates": 2}, {"guarantee": "steps"}, {"guarantee": "errors"}],
    ids=str,
)
def test_a_set_that_is_everything_says_so(settings):
    s, told = asked(0.99, **settings)
    assert s.nodes.all()
    assert "says nothing: too few windows of the past end in 'snow', 'fog'," in repr(s)
    assert "to calibrate on, or lower the level or the horizon" in told  # all are too few


def test_step_sets_say_of_which_steps_they_say_nothing():
    s, told = asked(0.7, guarantee="steps")
    assert s.nodes[:-1].all()
    assert not s.nodes[-1].all()
    assert "says nothing of the steps before the last: too few windows of the past" in repr(s)
    assert "'snow' has 0" in told
    s, _ = asked(0.7, guarantee="steps", steps=1)
    assert "leaves nothing out that ends in 'snow' or 'fog'" in repr(s)


def test_listed_sets_tell_it_of_each_state_and_warn_where_they_are_everything():
    s, told = asked()
    assert 0 < len(s) < 16
    assert told == ""
    assert {one[-1] for one in s} >= {"snow", "fog"}
    assert "leaves nothing out that ends in 'snow' or 'fog'" in repr(s)
    assert "leaves nothing" in s._repr_html_()


def test_with_departures_the_present_state_is_named():
    s, told = asked(0.99, symmetry="departures")
    assert "says nothing: too few windows of the past begin in 'sun'" in repr(s)
    assert "the present state 'sun' was left" in told


@pytest.mark.parametrize("settings", [{}, {"max_candidates": 2}, {"guarantee": "steps"}], ids=str)
def test_a_set_with_enough_windows_has_nothing_to_add(settings):
    y, x = weather(300, random_state=0)
    s = ConformalHMM(train_size=0.5, **settings).fit(y, x).predict_set(y[:2])
    assert s.note == ""
    assert "says nothing" not in repr(s)
    assert "leaves nothing out" not in repr(s)
    assert ConformalHMM().fit(y, x).predict_p(y[:2]).note == ""
