"""What the package answers is what it answered when the corpus was recorded."""

from __future__ import annotations

import math

import pytest
from tests.corpus.documents import differences, plain, read_record
from tests.corpus.settings import settings

SETTINGS, RECORD = settings(), read_record()
# Of those that are not for the slow tests anyway, every fourth is enough for the fast ones.
NARROW = [name for name, one in SETTINGS.items() if not one.wide][::4]
NARROW.remove("filled/departures/numbers/1")  # takes long
names = [pytest.param(name, marks=() if name in NARROW else pytest.mark.slow) for name in SETTINGS]
AGAIN = "python -m tests.corpus record, if that is what the change was for"


@pytest.mark.parametrize("name", names)
def test_answers_are_those_recorded(name):
    apart = list(differences(name, RECORD[name], plain(SETTINGS[name].document())))
    assert not apart, "\n".join(map(str, [*apart[:10], f"{len(apart)} differences; {AGAIN}"]))


def test_the_record_is_of_these_settings():
    assert set(RECORD) == set(SETTINGS), AGAIN


def test_differences_are_told_with_their_place():
    old = {"p": [0.1, 0.2], "set": {"size": 2}, "text": "p = 0.30000000000000004", "nan": math.nan}
    new = {"p": [0.1 + 1e-15, 0.2], "set": {"size": 2.0}, "text": "p = 0.3000000000000001"}
    found = sorted(differences("one", old, new))
    assert [(one.place, one.old, one.new) for one in found[1:]] == [("set.size", 2, 2.0)]
    assert (found[0].place, found[0].new) == ("nan", "—")
    assert "set.size" in str(found[1])
    assert [one.place for one in differences("one", old, old | {"p": [0.1, 0.2 + 1e-9]})] == [
        "p[1]"
    ]
    assert [one.place for one in differences("one", [1, 2], [1])] == [""]
