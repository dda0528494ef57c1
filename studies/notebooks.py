"""Run the notebooks of `notebooks/` and write their outputs: `python -m studies.notebooks`.

Cells are run without Jupyter, in one namespace for each notebook. An output is what a cell prints,
the value of its last expression, and the figures that it leaves open. With names of notebooks only
these are run.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def read_notebook(path: Path) -> dict[str, Any]:
    """Read a notebook as it is kept."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def run_notebook(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with new outputs; an error of a cell is raised."""
    import matplotlib as mpl

    mpl.use("Agg")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells = []
    number = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            outputs = run_cell("".join(cell["source"]), namespace, number)
            cell = {**cell, "execution_count": number, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def run_cell(source: str, namespace: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Run one cell and return its outputs as notebooks have them."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, f"cell {number}", "exec"), namespace)
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), namespace)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    pictures = draw_figures()
    if value is not None and not pictures:
        plain = repr(value).splitlines(keepends=True)
        outputs.append(
            {
                "data": {"text/plain": plain},
                "execution_count": number,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return outputs + pictures


def draw_figures() -> list[dict[str, Any]]:
    """Return all open figures as outputs, and close them."""
    import matplotlib.pyplot as plt

    outputs = []
    for number in plt.get_fignums():
        figure, picture = plt.figure(number), io.BytesIO()
        figure.savefig(picture, format="png", dpi=80)
        data = {"image/png": base64.b64encode(picture.getvalue()).decode() + "\n"}
        outputs.append({"data": data, "metadata": {}, "output_type": "display_data"})
    plt.close("all")
    return outputs


def written(notebook: dict[str, Any]) -> str:
    """Return the file that a notebook is kept in."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def main(names: list[str]) -> None:
    """Run the notebooks that are named, or all, and write them."""
    for path in NOTEBOOKS:
        if not names or path.stem in names:
            path.write_text(written(run_notebook(read_notebook(path))), encoding="utf-8")
            print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
