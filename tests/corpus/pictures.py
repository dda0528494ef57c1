"""What a picture shows: its lines, cells and bars, and its words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
from tests.corpus.data import data
from tests.corpus.models import matrices

from definetti import HMM, ConformalHMM, compare_predictors, plots


def read_axes(ax: Any) -> dict[str, Any]:
    """Return the data and the texts of matplotlib axes."""
    legend = ax.get_legend()
    return {
        "texts": [ax.get_title(), ax.get_xlabel(), ax.get_ylabel()]
        + [one.get_text() for one in ax.texts],
        "legend": [one.get_text() for one in legend.get_texts()] if legend else [],
        "rows": [one.get_text() for one in ax.get_yticklabels()],
        "limits": [*ax.get_xlim(), *ax.get_ylim()],
        "lines": [[one.get_label(), *map(_listed, one.get_data())] for one in ax.lines],
        "bars": [[one.get_x(), one.get_height()] for one in ax.patches],
        "cells": [
            _listed(one.get_array()) for one in ax.collections if one.get_array() is not None
        ],
        "areas": [
            [_listed(path.vertices) for path in one.get_paths()]
            for one in ax.collections
            if one.get_array() is None
        ],
    }


def _listed(values: Any) -> Any:
    return np.ma.filled(np.ma.asarray(values, dtype=float), np.nan).tolist()


def read_picture(draw: Callable[[], Any]) -> dict[str, Any]:
    """Draw without a screen, read, and close."""
    mpl.use("agg")
    import matplotlib.pyplot as plt

    try:
        return read_axes(draw())
    finally:
        plt.close("all")


def _drawn_set(steps: int, **params: Any) -> Any:
    long = data("long")
    seen, truth = long.window(steps)
    cp = ConformalHMM(random_state=0, allow_empty=True, **params).fit(*long.history())
    return cp.predict_set(seen).plot(truth)


def _evaluated(**params: Any) -> Any:
    long = data("long")
    cp = ConformalHMM(confidence_level=0.8, random_state=0, allow_empty=True, **params)
    cp.fit(*long.history())
    return cp.evaluate(*long.window(40), horizon=2)


def _compared() -> Any:
    seen, truth = data("long").window(150)
    predictors = {"counted": HMM(), "given": matrices()}
    return compare_predictors(predictors, seen, truth, random_state=0, allow_empty=True)


PICTURES: dict[str, Callable[[], Any]] = {
    "listed set": lambda: _drawn_set(3),
    "lattice": lambda: _drawn_set(20, train_size=0.5),
    "step sets": lambda: _drawn_set(25, train_size=0.5, guarantee="steps"),
    "backtest": lambda: _evaluated().plot(),
    "plot_backtest": lambda: plots.plot_backtest(_evaluated(train_size=0.5)),
    "plot_coverage": lambda: plots.plot_coverage(_evaluated()),
    "plot_sizes": lambda: plots.plot_sizes(_evaluated()),
    "plot_compare": lambda: plots.plot_compare(_compared()),
    "comparison": lambda: _compared().plot(),
}
