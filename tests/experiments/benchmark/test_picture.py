"""The picture has room for however many methods there are, and tells them apart."""

from __future__ import annotations

import pytest
from tests.products import some_slow

from definetti.experiments.contestants import CONTESTANTS, Contestant
from definetti.experiments.standings import COLOURS, MARKERS, assign_looks, picture


def row(one, k, world="w", repetitions=10):
    return {"world": world, "horizon": 1, "method": one.name, "by": one.by, "coverage": 0.8,
            "repetitions": repetitions, "low": 0.7, "high": 0.9, "scaled_size": 0.3 + k / 100,
            "oracle_size": None, "size_over_oracle": None}  # fmt: skip


def appearance(look):
    return look["marker"], look["color"], look.get("markerfacecolor")


def test_no_two_contestants_look_alike():
    looks = assign_looks(CONTESTANTS.values())
    assert list(looks) == list(CONTESTANTS)
    assert len(set(map(appearance, looks.values()))) == len(CONTESTANTS)
    assert {len(COLOURS[by]) for by in MARKERS} == {3}


@pytest.mark.parametrize("by", MARKERS)
@pytest.mark.parametrize("more", some_slow([1, 4, 60], [60]))
def test_contestants_may_be_added(by, more, monkeypatch):
    before = assign_looks(CONTESTANTS.values())
    for k in range(more):
        monkeypatch.setitem(CONTESTANTS, f"new {k}", Contestant(f"new {k}", by))
    looks = assign_looks(CONTESTANTS.values())
    assert {name: looks[name] for name in before} == before  # a newcomer changes nobody's look
    if more <= 4:
        assert len(set(map(appearance, looks.values()))) == len(CONTESTANTS)
    figure = picture([row(one, k) for k, one in enumerate(CONTESTANTS.values())])
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(CONTESTANTS)
    figure.canvas.draw()  # every marker and colour is one that can be drawn


def test_where_nobody_could_be_run_there_is_nothing_to_draw():
    figure = picture([row(one, 0, repetitions=0) for one in CONTESTANTS.values()])
    assert [ax.containers for ax in figure.axes] == [[]]
