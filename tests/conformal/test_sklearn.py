"""Estimators as scikit-learn takes them: its own checks, parameters of parameters, searches."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from definetti import HMM, ConformalHMM, ConformalSequences, Errors, GroupedConformalHMM, load
from definetti.emissions import Gaussian
from definetti.simulate import weather
from definetti.symmetry import Full

Y, X = weather(200, random_state=0)
# Rows are in the order of time, each predicted from those before it, and have any values.
EXPECTED = {
    "check_fit_score_takes_y": "the second argument is called states",
    "check_requires_y_none": "an error names the argument states",
    "check_fit1d": "observations may be single values, one a step",
    "check_fit2d_predict1d": "the error says how many columns there were, not to reshape",
    "check_n_features_in_after_fitting": "the error names columns, not features",
    "check_complex_data": "the error names the row and the column, and is a TypeError",
    "check_estimators_empty_data_messages": "the error names the row, and is a TypeError",
    "check_methods_sample_order_invariance": "the order of rows is that of time",
    "check_methods_subset_invariance": "rows are predicted together, as one window",
}


@pytest.mark.filterwarnings("ignore:.*does not inherit from `sklearn.base.BaseEstimator`")
def test_checks_of_sklearn_fail_for_known_reasons_alone():
    found = check_estimator(
        ConformalHMM(), expected_failed_checks=EXPECTED, on_skip=None, on_fail="raise"
    )
    assert {one["check_name"] for one in found if one["status"] == "xfail"} == set(EXPECTED)


def test_set_params_reaches_the_parameters_of_parameters():
    cp = ConformalHMM(HMM(emission=Gaussian()), symmetry=Full())
    many = GroupedConformalHMM(cp).set_params(
        series="others", estimator__confidence_level=0.8, estimator__model__prior=1.0
    )
    assert (many.series, cp.confidence_level, cp.model.prior) == ("others", 0.8, 1.0)
    assert many.get_params()["estimator__model__prior"] == 1.0
    with pytest.raises(ValueError, match="'weight' is no parameter of HMM; there are 'prior'"):
        cp.set_params(model__weight=1)
    with pytest.raises(ValueError, match="model='auto' has no parameters, and model__prior is to"):
        ConformalHMM().set_params(model__prior=1)


@pytest.mark.parametrize(
    "estimator",
    [
        ConformalHMM(HMM(emission=Gaussian("diagonal")), guarantee=Errors(2), states=["a", "b"]),
        GroupedConformalHMM(ConformalHMM(symmetry=Full(n_resamples=9)), series="others"),
        ConformalSequences(HMM(), train_size=3),
        HMM(prior=2, emission=Gaussian()),
    ],
    ids=lambda one: type(one).__name__,
)
def test_clones_are_equal_and_apart(estimator):
    copied = clone(estimator)
    assert copied is not estimator
    assert type(copied) is type(estimator)
    assert repr(copied) == repr(estimator)
    for name, value in copied.get_params(deep=False).items():
        if hasattr(value, "set_params") and name in ("estimator", "model"):
            assert value is not getattr(estimator, name)


def test_a_search_finds_a_parameter_of_the_model():
    search = GridSearchCV(
        ConformalHMM(HMM(), random_state=0), {"model__prior": [0.5, 2.0]}, cv=TimeSeriesSplit(2)
    )
    search.fit(np.array(Y), np.array(X))
    assert search.best_params_["model__prior"] in (0.5, 2.0)
    scores = cross_val_score(ConformalHMM(random_state=0), np.array(Y), np.array(X), cv=2)
    assert (scores > 0.5).all()


@pytest.mark.parametrize("columns", [1, 3])
def test_the_number_of_columns_is_told(columns, tmp_path):
    rows = np.random.default_rng(0).normal(size=(len(X), columns))
    cp = ConformalHMM().fit(rows, X)
    assert cp.n_features_in_ == columns
    cp.save(tmp_path / "rows.definetti")
    assert load(tmp_path / "rows.definetti").n_features_in_ == columns
    assert not hasattr(cp.fit(Y, X), "n_features_in_")


def test_sparse_rows_are_refused():
    from scipy.sparse import csr_array

    with pytest.raises(TypeError, match=r"observations is a sparse matrix.*toarray"):
        ConformalHMM().fit(csr_array(np.eye(4)), [0, 1, 0, 1])
