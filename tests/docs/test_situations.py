"""Eight situations that people come with: the decision tree leads to a call, and the call runs.

`PATH` of a situation are the first words of the answers that a reader would give; the tree of
docs/decide.md must lead from them to the letter, whose row has the call.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.cli import forked

import definetti
from definetti.simulate import weather

PAGE = (Path(__file__).parents[2] / "docs" / "decide.md").read_text(encoding="utf-8")
QUESTIONS = {
    number: re.findall(r"^- (.+) → (\S+)$", text, re.MULTILINE)
    for number, text in re.findall(r"^## (\d)\. .+\n((?:(?!## ).*\n)*)", PAGE, re.MULTILINE)
}
ROWS = re.findall(r"^\| ([A-Z]) \| (.+?) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
CALLS = {letter: (command, call) for letter, command, call, _ in ROWS}


class Situation(NamedTuple):
    """What a person has and wants, the answers to the questions, and the right call."""

    story: str
    path: tuple[str, ...]
    letter: str
    call: str


SITUATIONS = [
    Situation(
        "The first 297 minutes of one night were scored by hand. Which stages are possible in "
        "the three minutes that follow?",
        ("One", "First rows", "A few observed", "Ordinary"),
        "A",
        "s = ConformalHMM().fit(y, x).predict_set(new)",
    ),
    Situation(
        "One machine was inspected every day of a year. For the sixty days after it there are only "
        "sensors, and the state should be right on nearly all of these days.",
        ("One", "First rows", "Dozens of steps"),
        "B",
        's = ConformalHMM(guarantee="steps", train_size=0.5).fit(y, x).predict_set(long)',
    ),
    Situation(
        "The laboratory needs five days. What is the state today, the sixth day without a result?",
        ("One", "First rows", "Only the newest"),
        "C",
        "s = ConformalHMM(train_size=0.5).fit(y, x).predict_set(six, lag=5)",
    ),
    Situation(
        "What will the weather be on the next three days?",
        ("One", "First rows", "The future"),
        "D",
        "s = ConformalHMM().fit(y, x).predict_set(horizon=3)",
    ),
    Situation(
        "A fault occurred four times in 300 rows. Sets always contain it, and nobody looks at them "
        "any more; that it may be missed is accepted.",
        ("One", "First rows", "A few observed", "Rare"),
        "F",
        's = ConformalHMM(symmetry="departures").fit(y, x).predict_set(new)',
    ),
    Situation(
        "Readings of one sensor arrive every minute and their labels an hour later. Tell the "
        "state now, and raise an alarm when the process changes.",
        ("One", "A stream"),
        "G",
        "monitor = Monitor(ConformalHMM(train_size=0.5).fit(y, x))\n"
        's = monitor.observe(new[0])\nmonitor.label("rain")',
    ),
    Situation(
        "Twelve wards, each with 200 labelled hours and new hours after them. Each ward should get "
        "its guarantee, and wards may differ.",
        ("Many", "A long labelled"),
        "H",
        'cp = GroupedConformalHMM(ConformalHMM(), series="others").fit(things, skies, names)\n'
        's = cp.predict_set(new, group="town 7")',
    ),
    Situation(
        "A hundred sentences of seven words are tagged. A new sentence has no tag at all.",
        ("Many", "Nothing"),
        "K",
        "s = ConformalSequences().fit(sequences, labels).predict_set(sequences[0])",
    ),
]


@pytest.fixture(scope="module")
def data():
    """Make the data that calls are written for."""
    observations, states = weather(360, random_state=0)
    towns = {f"town {k}": weather(200, random_state=k) for k in range(12)}
    trips = [weather(7, random_state=seed) for seed in range(100)]
    return {
        "y": observations[:300],
        "x": states[:300],
        "new": observations[300:303],
        "six": observations[300:306],
        "long": observations[300:],
        "things": [thing for town in towns.values() for thing in town.observations],
        "skies": [sky for town in towns.values() for sky in town.states],
        "names": [name for name, town in towns.items() for _ in town.states],
        "sequences": [list(trip.observations) for trip in trips],
        "labels": [list(trip.states) for trip in trips],
        **{name: getattr(definetti, name) for name in definetti.__all__},
    }


def follow(path):
    """Return the letter that the answers lead to."""
    place = "1"
    for words in path:
        (place,) = {target for answer, target in QUESTIONS[place] if answer.startswith(words)}
    return place


def name_parts(call):
    """Return the classes, methods, and arguments of a call; values that are written out as well."""
    return set(re.findall(r"[A-Z]\w+(?=\()|(?<=\.)\w+(?=\()|\b(?!group\b)\w+=[\"\d][^,)]*", call))


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda one: one.letter)
def test_tree_leads_to_call(situation):
    assert follow(situation.path) == situation.letter
    documented = CALLS[situation.letter][1]
    assert not {part for part in name_parts(situation.call) if part not in documented}


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda one: one.letter)
def test_call_runs(situation, data):
    scope = dict(data)
    exec(situation.call, scope)
    assert scope["s"].steps


def test_there_are_eight_situations_with_answers_of_their_own():
    assert len({situation.letter for situation in SITUATIONS}) == 8


def test_every_answer_leads_to_question_or_call():
    targets = {target for answers in QUESTIONS.values() for _, target in answers}
    assert targets | {"1"} == set(QUESTIONS) | set(CALLS)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Write a table of three series, of which the last three rows have no state."""
    folder = tmp_path_factory.mktemp("table")
    rows = ["patient,carried,state"]
    for patient, seed in (("Ann", 0), ("Bob", 1), ("Cleo", 2)):
        things, skies = weather(120, random_state=seed)
        labels = [*skies[:117], "", "", ""]
        rows += [f"{patient},{thing},{sky}" for thing, sky in zip(things, labels, strict=True)]
    (folder / "many.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    one = [row.partition(",")[2] for row in rows[:121]]
    (folder / "table.csv").write_text("\n".join(one) + "\n", encoding="utf-8")
    labelled = [row for row in one if not row.endswith(",")]
    (folder / "labelled.csv").write_text("\n".join(labelled) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "letter", [one for one, (command, _) in CALLS.items() if command != "none"]
)
def test_command_of_letter_runs(letter, table):
    words = shlex.split(CALLS[letter][0].split("`")[1])[1:]
    name = "many.csv" if "--group-column" in words else "table.csv"
    if "--horizon" in words:  # a forecast begins after the last label
        name = "labelled.csv"
    if "--lag" in words:
        words[words.index("--lag") + 1] = "2"  # of three new rows
    done = forked.run([name if word == "table.csv" else word for word in words], folder=table)
    assert not done.returncode, done.stderr.decode()
