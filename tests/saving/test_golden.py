"""Files that earlier versions wrote are read, and answer as they did then."""

import json

import pytest
from tests.saving.golden import FOLDER, answer, make

from definetti import load
from definetti.saving.files import VERSION

FILES = sorted(FOLDER.glob("*.definetti"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_answers_as_it_did(path):
    said = json.loads(path.with_suffix(".json").read_text())
    assert answer(path.stem.rpartition("-")[0], load(path)) == said


def test_this_version_has_its_files():
    names = {f"{name}-{VERSION}" for name in make()}
    assert names <= {path.stem for path in FILES}, "run python -m tests.saving.golden"


def test_it_goes_on_learning():
    again, made = load(FOLDER / f"chosen-{VERSION}.definetti"), make()["chosen"]
    for one in (again, made):
        one.partial_fit([[0.5, 2]], [("rain", 1)])  # under another law
    assert answer("chosen", again) == answer("chosen", made)
