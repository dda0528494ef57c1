"""Pipelines that want frames or text get them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from definetti import HMM, ConformalHMM
from definetti.emissions import Classifier
from definetti.exceptions import GapWarning

RNG = np.random.default_rng(0)
X = RNG.choice(["calm", "storm"], 80)
WIND = np.where(X == "storm", 20.0, 3.0) + RNG.normal(size=80)
SKY = np.where(X == "storm", "black", "blue").astype(object)
SKY[RNG.random(80) < 0.2] = "grey"
COLUMNS = make_pipeline(
    ColumnTransformer(
        [("sky", OneHotEncoder(handle_unknown="ignore"), ["sky"]), ("w", SimpleImputer(), ["wind"])]
    ),
    LogisticRegression(),
)


def fitted(frame, estimator=COLUMNS):
    return ConformalHMM(HMM(emission=Classifier(estimator)), train_size=0.5).fit(frame, X[:79])


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_columns_by_name(library):
    frame = library({"wind": WIND, "sky": list(SKY)})
    cp = fitted(frame[:79])
    s = cp.predict_set(frame[79:])
    assert s.sequences == [(X[79],)]
    other = frame[["sky", "wind"]]  # in another order
    assert cp.predict_p(other[79:]) == cp.predict_p(frame[79:])
    with pytest.raises(ValueError, match=r"new_observations has columns 'sky'.*add 'wind'"):
        cp.predict_set(frame[["sky"]][79:])
    with pytest.raises(TypeError, match="must be a data frame with the columns wind, sky"):
        cp.predict_set(["black"])


def test_gaps_reach_the_pipeline():
    wind = WIND.copy()
    wind[[3, 60]] = np.nan
    frame = pd.DataFrame({"wind": wind, "sky": SKY})
    assert len(fitted(frame[:79]).predict_set(frame[79:])) >= 1
    with pytest.raises(
        ValueError, match="row 4, column 'wind' is nan; the classifier takes no gaps"
    ):
        fitted(pd.DataFrame({"wind": wind, "rain": WIND})[:79], LogisticRegression())


def test_text():
    words = [f"a {sky} sky" for sky in SKY]
    cp = fitted(words[:79], make_pipeline(CountVectorizer(), LogisticRegression()))
    assert cp.predict_set(["a black sky"]).sequences == [("storm",)]
    with pytest.warns(GapWarning):
        assert len(cp.predict_p([None])) == 2


def test_a_split_is_the_same_however_it_came():
    frame = pd.DataFrame({"wind": WIND})
    named = fitted(frame[:79], LogisticRegression()).predict_p(frame[79:])
    plain = fitted(WIND[:79, None], LogisticRegression()).predict_p(WIND[79:, None])
    assert named == plain
