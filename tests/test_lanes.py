"""The list of long tests names tests that there are."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONG = (ROOT / "tests" / "long.txt").read_text(encoding="utf-8").splitlines()


def test_each_is_there_once_and_in_order():
    assert sorted(set(LONG)) == LONG


@pytest.mark.parametrize("file", sorted({one.partition("::")[0] for one in LONG}))
def test_they_are_the_tests_of_their_file(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    names = {one.partition("::")[2].partition("[")[0] for one in LONG if one.startswith(f"{file}:")}
    assert [name for name in sorted(names) if f"def {name}(" not in text] == []
