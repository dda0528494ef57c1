"""Cells in any order, by any number of processes, from any half-done folder: the same numbers."""

from __future__ import annotations

import json
import random
from functools import partial

import numpy as np
import pytest
from tests.products import some_slow

from definetti._system.cells import Cell, Store, run_cells
from definetti.experiments import OURS, PAIRS, PUBLISHED, figure1
from definetti.experiments.grids import FIGURE1_POINTS as POINTS
from definetti.experiments.grids import figure1_matrices, repeat_cell

pytestmark = pytest.mark.usefixtures("no_pictures")
work = partial(repeat_cell, figure1_matrices)
FEW = {"repetitions": 5, "points": POINTS[::40], "methods": [PUBLISHED, PAIRS, OURS]}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, no_pictures):
    folder = tmp_path_factory.mktemp("undisturbed")
    figure1(folder, n_jobs=1, **FEW)
    return (folder / "figure1.csv").read_bytes()


@pytest.mark.slow
def test_the_number_of_jobs_changes_nothing(undisturbed, tmp_path):
    figure1(tmp_path, n_jobs=2, **FEW)
    assert (tmp_path / "figure1.csv").read_bytes() == undisturbed


def test_the_order_of_the_work_changes_nothing(undisturbed, tmp_path):
    shuffled = list(FEW["points"])
    random.Random(1).shuffle(shuffled)
    figure1(tmp_path, n_jobs=1, **{**FEW, "points": shuffled, "methods": [OURS, PUBLISHED]})
    figure1(tmp_path, n_jobs=1, **FEW)
    assert (tmp_path / "figure1.csv").read_bytes() == undisturbed


def cells(**changed):
    parts = {"repetitions": 7, "seed": 3, **changed}
    return [Cell("figure1", tuple(point.items()), OURS.settings, **parts) for point in POINTS[:3]]


@pytest.mark.parametrize("chunk", some_slow([1, 3, 100], [3]))
def test_the_size_of_chunks_changes_nothing(tmp_path, chunk):
    assert run_cells(cells(), work, tmp_path, n_jobs=1, chunk=chunk) == [
        work(cell, range(7)) for cell in cells()
    ]


def refuse(cell, part):
    raise AssertionError("a finished cell was worked out again")


def test_finished_cells_are_not_worked_out_again(tmp_path):
    found = run_cells(cells(), work, tmp_path, n_jobs=1)
    assert run_cells(cells()[::-1], refuse, tmp_path, n_jobs=1) == found[::-1]
    with pytest.raises(AssertionError, match="again"):
        run_cells(cells(), refuse, tmp_path, n_jobs=1, fresh=True)


@pytest.mark.parametrize("changed", [{"seed": 4}, {"repetitions": 8}, {"version": "0.0.0"}])
def test_a_cell_is_known_by_all_that_its_numbers_depend_on(tmp_path, changed):
    run_cells(cells(), work, tmp_path, n_jobs=1)
    with pytest.raises(AssertionError, match="again"):
        run_cells(cells(**changed), refuse, tmp_path, n_jobs=1)


@pytest.mark.parametrize("spoil", [
    lambda text: text[:-5],
    lambda text: "",
    lambda text: "[]",
    lambda text: json.dumps({**json.loads(text), "records": []}),
    lambda text: text.replace('"seed": 3', '"seed": 4'),
])  # fmt: skip
def test_a_file_that_is_not_whole_is_worked_out_again(tmp_path, spoil):
    cell = cells()[0]
    (found,) = run_cells([cell], work, tmp_path, n_jobs=1)
    (path,) = tmp_path.glob("*.json")
    path.write_text(spoil(path.read_text()))
    assert Store(tmp_path).find(cell) is None
    assert run_cells([cell], work, tmp_path, n_jobs=1) == [found]


def test_no_half_of_a_file_is_left_when_writing_fails(tmp_path):
    with pytest.raises(TypeError):
        Store(tmp_path).keep(cells()[0], [object()])
    assert not list(tmp_path.iterdir())


def test_methods_see_the_same_data_and_repetitions_do_not():
    first, second = (Cell("x", (("T", 5),), m.settings, 9, 1) for m in (OURS, PAIRS))
    assert np.array_equal(first.generator(2).random(4), second.generator(2).random(4))
    assert not np.array_equal(first.generator(2).random(4), first.generator(3).random(4))
