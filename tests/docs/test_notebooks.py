"""The notebooks run, and show what they print: `python -m studies.notebooks` writes it."""

from __future__ import annotations

import pytest
from studies.notebooks import NOTEBOOKS, read_notebook, run_cell, run_notebook

pytestmark = pytest.mark.slow


def texts(notebook):
    """Return what each cell printed, line by line; a figure counts as one."""
    found = []
    for cell in notebook["cells"]:
        shown = []
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            shown += output.get("text") or data.get("text/plain") or sorted(data)
        found.append(shown)
    return found


def test_there_are_three_notebooks():
    names = [path.stem for path in NOTEBOOKS]
    assert names == ["many-series-with-a-forest", "one-history", "stream"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_those_of_cells(path):
    notebook = read_notebook(path)
    assert texts(run_notebook(notebook)) == texts(notebook)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_shows_text_and_a_figure(path):
    shown = [line for lines in texts(read_notebook(path)) for line in lines]
    assert "image/png" in shown
    assert len(shown) > 3


def test_output_is_what_is_printed_and_the_last_value():
    printed, value = run_cell("x = 1\nprint(x)\nx + 1", {}, 1)
    assert printed["text"] == ["1\n"]
    assert value["data"]["text/plain"] == ["2"]
