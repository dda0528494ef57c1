"""What a prediction gives back: a set of sequences, and how sets fared."""

import copy
import datetime
import enum
import pickle
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest

from definetti import ConformalHMM, Evaluation, PredictionSet
from definetti.sets import base

SEQUENCES = [("sun", "sun"), ("sun", "rain"), ("rain", "rain")]
P_VALUES = np.array([0.8, 0.3, 0.15])


def made(sequences=SEQUENCES, p_values=P_VALUES, states=("rain", "sun"), **changes):
    fields = {
        "sequences": list(sequences),
        "p_values": np.asarray(p_values, dtype=float),
        "states": tuple(states),
        "horizon": 2,
        "confidence_level": 0.9,
        "method": "path score, full symmetry",
        "exact": True,
        **changes,
    }
    return PredictionSet(**fields)


EMPTY = {"sequences": [], "p_values": np.array([])}


def of_labels(*labels, **changes):
    """A set at horizon 1 of some labels."""
    p_values = np.linspace(1, 0.5, len(labels))
    return made([(label,) for label in labels], p_values, labels, horizon=1, **changes)


# Size and members.


def test_size_and_its_share_of_all_sequences():
    assert len(made()) == 3
    assert made().scaled_size == 0.75
    assert len(made(**EMPTY)) == 0
    assert made(**EMPTY).scaled_size == 0.0
    assert type(made().scaled_size) is float


def test_the_share_of_a_long_horizon_is_a_number():
    """There are more sequences than a floating-point number can hold."""
    one = made([("sun",) * 2000], [1.0], horizon=2000)
    assert 0 <= one.scaled_size < 1e-300
    assert made([("s",) * 2000], [1.0], ["s"], horizon=2000).scaled_size == 1.0


def test_iteration_goes_through_the_sequences_in_order():
    assert list(made()) == SEQUENCES
    assert list(made(**EMPTY)) == []


@pytest.mark.parametrize(
    "spelt",
    [
        tuple,
        list,
        np.array,
        lambda s: np.array(s, dtype=object),
        pd.Series,
        lambda s: pd.Series(s, dtype="category"),
        lambda s: pd.Series(s, dtype="string", index=[7, 5]),
        pd.Index,
        pl.Series,
        lambda s: pl.Series(s, dtype=pl.Categorical),
        iter,
    ],
)
def test_membership_in_all_spellings(spelt):
    s = made()
    for sequence in SEQUENCES:
        assert spelt(sequence) in s
    assert spelt(("rain", "sun")) not in s
    assert s.p_value(spelt(("sun", "rain"))) == 0.3


@pytest.mark.parametrize(
    "other",
    [
        (),
        ("sun",),
        ("sun", "sun", "sun"),
        ("sun", "snow"),
        "sun",
        "sunsun",
        3,
        None,
        ("sun", None),
        ("sun", 3),
        object(),
        (["sun"], "sun"),
        [["sun"], "sun"],
        ["sun", {"rain"}],
        {"sun", "rain"},
        np.array([["sun", "sun"]]),
        np.array("sun"),
        pd.DataFrame({"sun": [1], "rain": [2]}),
    ],
)
def test_what_is_no_sequence_of_the_set_is_not_in_it(other):
    assert other not in made()


@pytest.mark.parametrize(
    "label",
    [
        "sun",
        3,
        True,
        2.5,
        b"x",
        ("a", "b"),
        ("a",),
        datetime.date(2020, 1, 1),
        enum.Enum("Sky", ["CLEAR"]).CLEAR,
        frozenset("a"),
    ],
    ids=repr,
)
def test_at_horizon_one_the_bare_label_will_do(label):
    s = of_labels(label, "another")
    assert label in s
    assert (label,) in s
    assert [label] in s
    assert s.p_value(label) == s.p_value((label,)) == 1.0
    assert "a third" not in s
    assert ("a third",) not in s


def test_a_label_that_is_a_tuple_is_not_taken_for_a_sequence():
    s = made([(("a", "b"), ("c", "d"))], [0.5], [("a", "b"), ("c", "d")])
    assert (("a", "b"), ("c", "d")) in s
    assert [("a", "b"), ("c", "d")] in s
    assert ("a", "b") not in s


def test_the_p_value_of_a_member():
    assert [made().p_value(sequence) for sequence in SEQUENCES] == P_VALUES.tolist()
    with pytest.raises(KeyError, match=r"rain.*sun.*not in the set.*ConformalHMM\.p_value"):
        made().p_value(("rain", "sun"))


def test_the_p_value_of_a_sequence_that_is_not_in_the_set():
    every = np.array([0.15, 0.05, 0.3, 0.8])  # rain rain, rain sun, sun rain, sun sun
    s = made(all_p_values=every)
    assert [s.p_value(sequence) for sequence in SEQUENCES] == P_VALUES.tolist()
    assert s.p_value(["rain", "sun"]) == 0.05
    assert s.step_p_values.tolist() == [[0.15, 0.8], [0.3, 0.8]]
    for nonsense in (("rain", "snow"), ("rain",), "rain", 7, [["rain"], "sun"]):
        with pytest.raises(KeyError, match=r"not a sequence of 2 known states; ConformalHMM"):
            s.p_value(nonsense)


def test_the_estimator_notes_the_p_values_of_all():
    cp = ConformalHMM(random_state=0).fit(None, ["sun", "rain", "fog", "sun", "sun"] * 9)
    s, every = cp.predict_set(horizon=3, confidence_level=0.5), cp.predict_p(horizon=3)
    assert 0 < len(s) < len(every) == 27
    assert [s.p_value(one) for one in every] == every.p_values.tolist()
    assert np.array_equal(s.step_p_values, every.step_p_values)
    best = [
        [max(p for one, p in zip(every, every.p_values, strict=True) if one[k] == state)
         for state in s.states]
        for k in range(3)
    ]  # fmt: skip
    assert s.step_p_values.tolist() == best


def test_a_label_that_is_a_tuple_is_not_mistaken_for_a_sequence():
    labels = ("a", ("a",), ("a", "b"))
    s = made([(label,) for label in labels], [0.5, 0.3, 0.2], labels, horizon=1,
             all_p_values=np.array([0.5, 0.3, 0.2]))  # fmt: skip
    assert [s.p_value((label,)) for label in labels] == [0.5, 0.3, 0.2]
    assert s.p_value(("a", "b")) == 0.2


def test_steps_are_the_states_that_some_member_has_there():
    assert made().steps == [("rain", "sun"), ("rain", "sun")]
    assert made(SEQUENCES[:2], P_VALUES[:2]).steps == [("sun",), ("rain", "sun")]
    assert made(**EMPTY).steps == [(), ()]
    assert len(made([("sun",) * 5], [1], horizon=5).steps) == 5


# Equality.


def test_equal_sets_are_equal():
    assert made() == made()
    assert made() == pickle.loads(pickle.dumps(made()))
    assert made() == copy.deepcopy(made())
    assert made(**EMPTY) == made(**EMPTY)


@pytest.mark.parametrize(
    "changes",
    [
        {"sequences": SEQUENCES[:2], "p_values": P_VALUES[:2]},
        {"sequences": SEQUENCES[::-1]},
        {"p_values": P_VALUES / 2},
        {"states": ("sun", "rain")},
        {"states": ("rain", "sun", "snow")},
        {"confidence_level": 0.8},
        {"confidence_level": None},
    ],
)
def test_sets_that_differ_are_not_equal(changes):
    assert made() != made(**changes)


def test_a_set_is_not_equal_to_other_things():
    for other in (SEQUENCES, set(SEQUENCES), None, 3, "sun"):
        assert made() != other


def test_sets_have_no_hash():
    with pytest.raises(TypeError, match="unhashable"):
        hash(made())


def test_a_set_cannot_be_changed():
    with pytest.raises(AttributeError):
        made().horizon = 3


# What a person sees.


def test_repr_of_a_small_set():
    assert repr(made()).splitlines() == [
        "PredictionSet: 3 of 4 sequences of 2 steps, holding the truth with probability ≥ 0.9",
        "  p = 0.8000  sun  sun",
        "  p = 0.3000  sun  rain",
        "  p = 0.1500  rain  rain",
        "  (path score, full symmetry)",
    ]
    assert str(made()) == repr(made())


def test_repr_of_a_large_set_shows_the_first_ten_and_the_number_of_the_others():
    many = [("s", f"{k}") for k in range(1500)]
    lines = repr(made(many, np.linspace(1, 0, 1500), [str(k) for k in range(50)])).splitlines()
    assert lines[0].startswith("PredictionSet: 1,500 of 2,500 sequences")
    assert len(lines) == 13
    assert lines[10] == "  p = 0.9940  s  9"
    assert lines[11] == "  … 1,490 more"


def test_repr_of_an_empty_set_and_of_one_step():
    assert "0 of 4 sequences" in repr(made(**EMPTY))
    assert "1 step," in repr(of_labels("sun"))


def test_repr_of_all_candidates():
    assert "all candidates" in repr(made(confidence_level=None))


def test_repr_says_what_is_not_guaranteed():
    for level in (0.9, None):
        shown = made(confidence_level=level, exact=False)
        assert "NOT" in repr(shown)
        assert "NOT" in shown._repr_html_()
        assert "holding the truth" not in repr(shown)


def test_repr_of_a_horizon_beyond_all_counting():
    """Python refuses to write out numbers of more than 4300 digits."""
    s = made([("sun",) * 20_000], [1.0], horizon=20_000)
    assert repr(s).startswith("PredictionSet: 1 of ")
    assert "<table>" in s._repr_html_()


class Table(HTMLParser):
    """The cells of a table, and whether every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.cell = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.cell = ""

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag in ("td", "th"):
            self.rows[-1].append(self.cell)
            self.cell = None


def test_a_notebook_shows_a_table():
    parsed = Table(made()._repr_html_())
    assert parsed.open == []
    assert parsed.rows == [
        ["step 1", "step 2", "p-value"],
        ["sun", "sun", "0.8000"],
        ["sun", "rain", "0.3000"],
        ["rain", "rain", "0.1500"],
    ]


def test_a_notebook_shows_labels_as_text():
    parsed = Table(of_labels("<b>bold", "a & b")._repr_html_())
    assert [row[0] for row in parsed.rows[1:]] == ["<b>bold", "a & b"]
    assert parsed.open == []


def test_a_notebook_shows_ten_rows_of_many():
    many = [("s", f"{k}") for k in range(30)]
    shown = made(many, np.linspace(1, 0, 30))._repr_html_()
    assert len(Table(shown).rows) == 11
    assert "20 more" in shown


# Data frames.


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_to_frame_has_a_row_for_each_sequence(backend):
    frame = made().to_frame(backend)
    assert type(frame) is {"pandas": pd.DataFrame, "polars": pl.DataFrame}[backend]
    assert list(frame.columns) == ["step_1", "step_2", "p_value"]
    assert list(frame["step_1"]) == ["sun", "sun", "rain"]
    assert list(frame["step_2"]) == ["sun", "rain", "rain"]
    assert list(frame["p_value"]) == [0.8, 0.3, 0.15]


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_the_frame_of_an_empty_set_has_its_columns(backend):
    frame = made(**EMPTY).to_frame(backend)
    assert list(frame.columns) == ["step_1", "step_2", "p_value"]
    assert frame.shape == (0, 3)


def test_to_frame_takes_what_is_installed(monkeypatch):
    assert type(made().to_frame()) is pd.DataFrame

    def only(*installed):
        return lambda name: name in installed

    monkeypatch.setattr(base, "find_spec", only("polars"))
    assert type(made().to_frame()) is pl.DataFrame
    monkeypatch.setattr(base, "find_spec", only())
    with pytest.raises(ImportError, match="install pandas, polars or pyarrow"):
        made().to_frame()


@pytest.mark.parametrize("backend", ["dask", "pands", 3])
def test_to_frame_refuses_what_it_does_not_know(backend):
    with pytest.raises((ValueError, TypeError), match="backend"):
        made().to_frame(backend)


NATIVE = [
    ("sun", "rain"),
    (1, 2),
    (True, False),
    (1.5, 2.5),
    (datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)),
    (datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2)),
    (b"a", b"b"),
]
SKY = enum.Enum("SKY", ["CLEAR", "GREY"])
OTHERS = [
    ("sun", 3),
    (3, "sun"),
    (("a", 1), ("b", 2)),
    (("a",), "a"),
    (SKY.CLEAR, SKY.GREY),
    (SKY.CLEAR, "grey"),
    (frozenset("a"), frozenset("b")),
]


@pytest.mark.parametrize("labels", [*NATIVE, *OTHERS], ids=repr)
def test_labels_come_out_of_a_pandas_frame_as_they_went_in(labels):
    assert tuple(of_labels(*labels).to_frame("pandas")["step_1"].to_list()) == labels


@pytest.mark.parametrize("labels", NATIVE, ids=repr)
def test_labels_come_out_of_a_polars_frame_as_they_went_in(labels):
    assert tuple(of_labels(*labels).to_frame("polars")["step_1"].to_list()) == labels


@pytest.mark.parametrize("labels", OTHERS, ids=repr)
def test_labels_that_polars_has_no_type_for_can_still_be_told_apart(labels):
    frame = of_labels(*labels).to_frame("polars")
    assert frame.shape == (2, 2)
    assert len({str(value) for value in frame["step_1"].to_list()}) == 2


# Evaluations.


def judged(
    covered=(True, False, True),
    sizes=(1, 2, 4),
    scaled=(0.25, 0.5, 1.0),
    p=(0.7, 0.05, np.nan),
    wrong=(0.0, 0.5, 0.0),
    widths=(1.0, 1.0, 2.0),
):
    return Evaluation(*map(np.array, (covered, sizes, scaled, p, wrong, widths)))


def test_means_of_an_evaluation():
    e = judged()
    assert e.coverage == pytest.approx(2 / 3)
    assert e.size == pytest.approx(7 / 3)
    assert e.scaled_size == pytest.approx(1.75 / 3)
    assert e.width == pytest.approx(4 / 3)
    assert e.wrong_share == pytest.approx(1 / 6)
    means = (e.coverage, e.size, e.scaled_size, e.width, e.wrong_share)
    assert {type(value) for value in means} == {float}


def test_repr_of_an_evaluation():
    assert repr(judged()) == (
        "Evaluation: covered 2 of 3 (0.667), mean size 2.33, mean scaled size 0.583, "
        "states per step 1.33, steps wrong 0.167"
    )


def test_evaluations_are_equal_where_their_windows_are():
    assert judged() == judged()
    assert judged() == pickle.loads(pickle.dumps(judged()))
    assert judged() != judged(covered=(True, True, True))
    assert judged() != judged(p=(0.7, 0.05, 0.9))
    assert judged() != judged(*((value[0],) for value in judged()[:6]))
    assert judged() != 3


def test_one_window_is_an_evaluation_too():
    e = judged((True,), (3,), (0.75,), (0.4,), (0.0,), (1.5,))
    assert (e.coverage, e.size, e.scaled_size) == (1.0, 3.0, 0.75)
    assert repr(e).startswith("Evaluation: covered 1 of 1")
