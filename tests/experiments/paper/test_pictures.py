"""The pictures have the paper's arrangement."""

from __future__ import annotations

import pytest

from definetti.experiments import reproduction
from definetti.experiments.grids import FIGURE1_POINTS as FIRST
from definetti.experiments.grids import FIGURE2_POINTS as SECOND

KNOWN = {"method": "ours", "coverage": 0.8, "scaled_size": 0.5, "oracle_size": 0.4}


def titles(figure):
    return [ax.get_title() for ax in figure.axes]


def test_figure_1_has_lengths_down_and_horizons_across():
    figure = reproduction.draw_figure1([{**KNOWN, **point} for point in FIRST])
    assert titles(figure) == [f"$T$ = {T}, $T_1$ = {h}" for T in (50, 100, 200) for h in (1, 2, 3)]
    assert {line.get_marker() for line in figure.axes[0].lines} >= {"s", "o", "^"}  # one for each b


def test_figure_2_has_two_panels():
    figure = reproduction.draw_figure2([{**KNOWN, **point} for point in SECOND])
    assert titles(figure) == ["(a) Markov chain", "(b) independent states"]
    assert figure.axes[0].get_xticks().tolist() == [60, 90, 120, 150, 180]


def test_table_1_stands_beside_the_paper():
    rows = [{**KNOWN, "series": name, "paper_coverage": 0.8, "paper_size": 0.3} for name in "ab"]
    labels = reproduction.draw_table1(rows).axes[0].get_xticklabels()
    assert [label.get_text() for label in labels] == ["a", "b"]


def test_figure_3_shows_truth_set_and_misses(tmp_path):
    steps = [(300, 0, "0 1", True), (301, 2, "0", False), (302, 1, "", False)]
    rows = [
        {"method": "m", "series": name, "states": 3, "step": t, "truth": x, "set": s, "covered": c}
        for name in ("Delhi", "Punjab")
        for t, x, s, c in steps
    ]
    figure = reproduction.draw_figure3(rows)
    assert titles(figure) == ["Delhi", "Punjab"]
    inside, truth, missed = figure.axes[0].lines
    assert list(zip(*inside.get_data(), strict=True)) == [(300, 0), (300, 1), (301, 0)]
    assert list(truth.get_ydata()) == [0, 2, 1]
    assert list(missed.get_xdata()) == [301, 302]
    figure.savefig(tmp_path / "figure3.png")


def test_without_matplotlib_nothing_is_begun(monkeypatch, tmp_path):
    monkeypatch.setattr(reproduction, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"definetti-hmm\[plot\]"):
        reproduction.check_experiment(tmp_path, 1, 0)
