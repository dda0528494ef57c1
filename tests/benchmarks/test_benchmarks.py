"""Every benchmark can be loaded, and the smallest of them run."""

from importlib import import_module
from io import StringIO
from pathlib import Path

import benchmarks
import pytest
from benchmarks import growth
from benchmarks.__main__ import MODULES
from rich.console import Console

NEEDS = {"crepes_p_values": "crepes", "many": "crepes", "rolling": "crepes", "stream": "crepes",
         "online": "crepes", "filter_smoother": "hmmlearn"}  # fmt: skip
FILES = sorted(path.stem for path in Path(benchmarks.__file__).parent.glob("[!_]*.py"))


@pytest.mark.parametrize("name", FILES)
def test_a_benchmark_can_be_imported(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    import_module(f"benchmarks.{name}")


@pytest.mark.parametrize("name", MODULES)
def test_a_named_benchmark_can_be_run(name):
    if MODULES[name] in NEEDS:
        pytest.importorskip(NEEDS[MODULES[name]])
    assert callable(import_module(f"benchmarks.{MODULES[name]}").run)


def test_growth_has_a_row_for_each_length(monkeypatch):
    monkeypatch.setattr(growth, "WINDOWS", {"symbols": 12, "a number": 4})
    console = Console(width=200, file=StringIO())
    growth.run(console, lengths=(100, 200))
    shown = console.file.getvalue()
    assert "monitor step" in shown
    assert (shown.count("symbols "), shown.count("a number "), shown.count(" 200 ")) == (2, 2, 2)
