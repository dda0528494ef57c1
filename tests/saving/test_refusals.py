"""What a file does not hold is refused by name when it is saved, and nothing is written."""

import datetime
import enum
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import polars as pl
import pytest

from definetti import HMM, ConformalHMM
from definetti._system.mixins import Named
from definetti.emissions import Categorical
from definetti.exceptions import SaveError
from definetti.models import Model, Predictor
from definetti.scores import Path, Score
from definetti.simulate import weather
from definetti.symmetry import BlockGroup, Spaced, Symmetry

Y, X = weather(60, random_state=5)
CODE = "is code of its own, and a file holds none; take"


def changes(windows):
    return (windows.states[:, 1:] != windows.states[:, :-1]).sum(axis=1)


def half(start, observations):
    return np.full((*observations.shape[:2], 2), 0.5)


@dataclass(frozen=True)
class Own(Path):
    """A score of a user's, derived from one of ours."""


@dataclass(frozen=True)
class OwnCategorical(Categorical):
    """An emission of a user's."""


@dataclass(frozen=True)
class OwnSpaced(Spaced):
    """A symmetry of a user's."""


@pytest.fixture
def named():
    """A score of a user's own with a name, which no one else knows."""

    @dataclass(frozen=True)
    class Named_(Path, name="mine"):
        pass

    yield Named_()
    del Score.named["mine"]


class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


def refused(tmp_path, **params):
    cp = ConformalHMM(**params).fit(Y, X)
    path = tmp_path / "model.definetti"
    with pytest.raises(SaveError) as error:
        cp.save(path)
    assert not list(tmp_path.iterdir())
    return str(error.value)


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"conformity_score": changes}, "score is changes"),
        ({"conformity_score": Own()}, "score is Own()"),
        ({"symmetry": OwnSpaced()}, "symmetry is OwnSpaced("),
        ({"symmetry": BlockGroup(lambda number: [[0]])}, "symmetry: permutations is"),
        ({"model": half, "states": ["sun", "rain"]}, "model is half"),
        ({"model": HMM(emission=OwnCategorical())}, "model: emission is OwnCategorical"),
        (
            {"model": Predictor(half, Categorical()), "states": ["sun", "rain"]},
            "model is Predictor(function=<function half",
        ),
    ],
)
def test_code_of_ones_own(params, name, tmp_path):
    said = refused(tmp_path, **params)
    assert name in said
    assert CODE in said


def test_what_a_user_has_named(named, tmp_path):
    assert CODE in refused(tmp_path, conformity_score="mine")
    assert CODE in refused(tmp_path, conformity_score=named)


@pytest.mark.parametrize(
    "label",
    [
        datetime.date(2020, 1, 1), UUID(int=3), frozenset({1}), Colour.RED, 1j, b"sun",
        ("a", datetime.time(3)), np.datetime64("2020-01-01"),
    ],
    ids=str,
)  # fmt: skip
def test_labels(label, tmp_path):
    cp = ConformalHMM().fit(Y, [label if one == "sun" else ("b",) for one in X])
    with pytest.raises(SaveError, match=r"labels is .*(does not hold|code of its own)"):
        cp.save(tmp_path / "model.definetti")


def test_columns_of_dates(tmp_path):
    frame = pl.DataFrame({"seen": Y, "day": [datetime.date(2020, 1, 1 + k % 9) for k in range(60)]})
    cp = ConformalHMM().fit(frame.select("seen", pl.col("day").cast(pl.String)), X)
    cp.save(tmp_path / "model.definetti")
    dated = ConformalHMM().fit(frame["day"], X)
    with pytest.raises(SaveError, match="is of type Date, which a file does not hold"):
        dated.save(tmp_path / "dated.definetti")


def test_nothing_fitted_is_nothing_saved(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        ConformalHMM().save(tmp_path / "model.definetti")


def test_a_torch_module(tmp_path):
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):
        def forward(self, start, observations):
            return torch.full((*observations.shape, 2), 0.5)

    cp = ConformalHMM(Net(), states=[0, 1]).fit(np.arange(20) % 3, np.arange(20) % 2)
    with pytest.raises(SaveError, match=r"model is Net\(\)"):
        cp.save(tmp_path / "model.definetti")


def test_all_that_is_ours_and_has_a_name_is_in_the_table():
    """A contract whose fulfilments may be part of an estimator, and is not listed, is a mistake."""
    from definetti.check import Statistic
    from definetti.conformal import SeriesMode
    from definetti.experiments import Baseline
    from definetti.saving.allowed_classes import BY_TYPE, CONTRACTS

    # Estimators of others, and tests, which nobody saves; and what a parameter has the name of.
    others = {Baseline, Statistic, SeriesMode}
    own = {one for one in Named.__subclasses__() if one.__module__.startswith("definetti.")}
    assert own - others == set(CONTRACTS)
    for contract in CONTRACTS:
        for name, made in contract.named.items():
            if made.__module__.startswith("definetti."):
                assert made in BY_TYPE, name
    assert issubclass(Symmetry, Named)
    assert isinstance(HMM(), Model)


def test_parts_of_another_type_are_refused_when_a_file_is_read():
    from definetti.saving.allowed_classes import KINDS

    checked = [(kind, name) for kind in KINDS for name in kind.parts]
    assert len(checked) > 50
    for kind, name in checked:
        assert name in kind.names, kind.name
        for wrong in (object(), -1.5j, np.zeros(2, dtype=np.int8)):
            kept = {**dict.fromkeys(kind.names), name: wrong}
            with pytest.raises(ValueError, match=f" of a {kind.name} does not fit the rest"):
                kind.make(kept)
