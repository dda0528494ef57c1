"""A word on the terminal while a kernel is compiled, and silence elsewhere."""

import io
import sys

import numba
import numpy as np
import pytest

from definetti._system.compiled import kernel


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.slow_cases("Terminal")
@pytest.mark.parametrize("place", [Terminal, io.StringIO])
def test_a_terminal_is_told_and_wiped_and_a_file_is_not(monkeypatch, tmp_path, place):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))  # where nothing is yet
    monkeypatch.setattr(sys, "stderr", place())

    def grown(values):
        return values + 1

    compiled = kernel(grown)
    assert compiled(np.zeros(2)).tolist() == [1.0, 1.0]
    sent = sys.stderr.getvalue()
    if place is Terminal:
        assert sent.startswith("definetti: compiling")
        assert sent.endswith("\r\x1b[K")
        assert sent.count("compiling") == 1
    else:
        assert sent == ""
    sys.stderr.truncate(0)
    compiled(np.ones(2))
    assert "compiling" not in sys.stderr.getvalue()
