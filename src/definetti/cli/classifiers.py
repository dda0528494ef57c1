"""Classifiers of scikit-learn by their names: a closed list, and no code from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from definetti.cli.fields import BadTable

if TYPE_CHECKING:
    import polars as pl


def make_classifier(name: str, columns: pl.DataFrame | None, seed: int) -> Any:
    """Return a classifier for columns of numbers and of symbols, with gaps in them or not.

    Parameters
    ----------
    name : one of `choices.ClassifierName`
    columns : what is observed
    seed : where random numbers come from

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"seen": ["hat", "umbrella"], "mm": [0.5, 3.0]})
    >>> made = make_classifier("logistic", rows, 0).fit(rows, ["sun", "rain"])
    >>> made.predict(rows).tolist()
    ['sun', 'rain']
    """
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    if columns is None:
        raise BadTable(
            "--classifier learns from observations, and no column is observed; name some with "
            "--observation-columns, or leave --classifier out"
        )
    last = {
        "random-forest": RandomForestClassifier(min_samples_leaf=5, random_state=seed),
        "logistic": LogisticRegression(max_iter=1000),
        "gradient-boosting": HistGradientBoostingClassifier(random_state=seed),
    }[name]
    numbers = [one for one, kind in columns.schema.items() if kind.is_numeric()]
    symbols = [one for one in columns.columns if one not in numbers]
    filled = make_pipeline(SimpleImputer(), StandardScaler())
    counted = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(make_column_transformer((counted, symbols), (filled, numbers)), last)
