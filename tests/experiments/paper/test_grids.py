"""Figures 1 and 2 beside the numbers measured on prototypes, and beside the promise."""

from __future__ import annotations

import numpy as np
import pytest

from definetti.experiments import figure1, figure2
from definetti.experiments.grids import FIGURE1_POINTS as FIRST
from definetti.experiments.grids import FIGURE2_POINTS as SECOND
from definetti.experiments.grids import figure2_matrices

# A comparison fails by chance less than once in 100,000; the whole grids make 1,000 of them.
ERRORS = 4.5

pytestmark = pytest.mark.usefixtures("no_pictures")


def agrees(row, coverage, size, repetitions):
    """Whether coverage and size are those of a reference, within the error of both."""
    both = np.sqrt(1 / row["repetitions"] + 1 / repetitions)
    spread = max(row["size_error"] * np.sqrt(row["repetitions"]), 0.05)
    return (
        abs(row["coverage"] - coverage) <= ERRORS * 0.4 * both
        and abs(row["scaled_size"] - size) <= ERRORS * spread * both
    )


def compare_first(found, reference):
    full = {
        (int(r["T"]), int(r["horizon"]), float(r["b"]), float(r["p"])): r
        for r in reference("fig1_full_class.csv")
    }
    program = {
        (int(r["T"]), int(r["T1"]), float(r["b"]), float(r["p"])): r
        for r in reference("fig1_published_code.csv")
    }
    for row in found.rows:
        key = row["T"], row["horizon"], row["b"], row["p"]
        assert row["oracle_size"] == pytest.approx(float(full[key]["oracle_size"]), abs=0.003)
        if row["method"] == "as published":
            expected = program[key]
            pair = float(expected["coverage"]), float(expected["scaled_size"])
            assert agrees(row, *pair, 1000), (row, expected)
        elif row["method"].startswith("ours"):
            name = "full_class_smoothed" if "smoothed" in row["method"] else "full_class"
            # Counted or drawn, ours has a little less to round up than 199 draws have.
            pair = float(full[key][f"{name}_coverage"]), float(full[key][f"{name}_size"])
            assert agrees(row, *pair, 2000), (row, full[key])


def compare_second(found, reference):
    known = {(r["chain"], int(r["T"]), float(r["b"])): r for r in reference("fig2_reference.csv")}
    names = {
        "as published": "published",
        "ours": "full_class",
        "ours, smoothed": "full_class_smoothed",
    }
    for row in found.rows:
        expected = known[row["chain"], row["T"], round(row["b"], 3)]
        assert row["oracle_size"] == pytest.approx(float(expected["oracle_size"]), abs=0.003)
        if name := names.get(row["method"]):
            pair = float(expected[f"{name}_coverage"]), float(expected[f"{name}_size"])
            assert agrees(row, *pair, 500), (row, expected)


def at(points, **where):
    return [p for p in points if all(p[key] == value for key, value in where.items())]


@pytest.mark.slow
def test_a_few_cells_of_figure_1(reference, tmp_path):
    points = [
        *at(FIRST, T=100, horizon=1, b=0.5, p=0.1),
        *at(FIRST, T=50, horizon=2, b=0.75, p=0.3),
        *at(FIRST, T=200, horizon=3, b=0.9, p=0.9),
    ]
    found = figure1(tmp_path, repetitions=150, points=points)
    compare_first(found, reference)
    # The published procedure falls short where the paper saw "approximately 0.7".
    short = [(row["method"], row["p"]) for row in found.rows if row["short"]]
    assert short == [("as published", 0.1)]
    assert found.keeps_promise


@pytest.mark.slow
def test_a_few_cells_of_figure_2(reference, tmp_path):
    points = [*at(SECOND, chain="markov", T=60, b=0.6), *at(SECOND, chain="iid", T=120, b=0.9)]
    compare_second(figure2(tmp_path, repetitions=30, points=points), reference)


def test_the_grids_are_the_papers():
    assert (len(FIRST), len(SECOND)) == (135, 30)
    for chain in ("markov", "iid"):
        steps, emission = figure2_matrices(chain=chain, b=0.6)
        np.testing.assert_allclose(steps.sum(axis=0), 1)  # so all states are equally frequent
        np.testing.assert_allclose(emission.sum(axis=1), 1)


@pytest.mark.slow
@pytest.mark.parametrize("figure", [figure1, figure2])
def test_a_whole_grid(figure, reference, tmp_path):
    found = figure(tmp_path, repetitions=200, n_jobs=2)
    compare = compare_first if figure is figure1 else compare_second
    compare(found, reference)
    short = {line["method"]: line["short"] for line in found.summary}
    assert all(number == 0 for name, number in short.items() if name != "as published")
    assert short["as published"] >= (1 if figure is figure1 else 0)
    assert {line["cells"] for line in found.summary} == {len(found.rows) // 5}
