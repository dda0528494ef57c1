"""Arguments and options that several commands have, with the same words for each.

A command takes the dataclasses below as parameters, and `spread` makes options of their fields:
what several commands have in common is listed once, and handed on as one thing.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from definetti.cli.choices import ClassifierName
from definetti.cli.choices import Guarantee as Promised
from definetti.cli.choices import Series as Predicted
from definetti.cli.completing import complete_memories, complete_scores, complete_symmetries

LabelledRows = Annotated[str, typer.Argument(help="labelled rows; - for standard input")]
NewRows = Annotated[str | None, typer.Argument(help="new rows, in the order of time")]
StateColumn = Annotated[str, typer.Option(help="the column with the states")]
ObservationColumns = Annotated[
    str | None,
    typer.Option(help="columns with commas between; all that tell something if left out"),
]
Confidence = Annotated[float, typer.Option(help="probability promised")]
Level = Annotated[
    str, typer.Option(metavar="LEVEL", help="probability promised; by last state: N1=0.99,0.8")
]
Levels = Annotated[
    list[str],
    typer.Option(
        metavar="LEVEL",
        help="probability promised; by last state: N1=0.99,0.8; again for a further level",
    ),
]
Horizon = Annotated[
    int | None, typer.Option(min=1, help="steps to predict; all new rows if left out")
]
Lag = Annotated[
    int, typer.Option(min=0, help="first steps not to ask about, their labels being late")
]
Guarantee = Annotated[
    Promised, typer.Option(help="right together, on average, or but for --max-errors")
]
MaxErrors = Annotated[int, typer.Option(min=0, help="wrong steps allowed, for errors")]
Start = Annotated[
    float, typer.Option(min=0.05, max=0.95, help="share of the rows before the first window")
]
Windows = Annotated[
    int | None,
    typer.Option(min=1, help="windows at most, spread over the rows; all that are cheap, or 500"),
]
TrainSize = Annotated[
    float | None, typer.Option(help="share, or number, of rows to fix the model on")
]
States = Annotated[
    str | None, typer.Option(help="all states there can be, with commas between, seen or not")
]
Classifier = Annotated[
    ClassifierName | None,
    typer.Option(help="learn the observations by scikit-learn, on the first rows"),
]
Symmetry = Annotated[
    str,
    typer.Option(
        help="what to compare with: departures holds given the present state",
        autocompletion=complete_symmetries,
    ),
]
Memory = Annotated[
    str,
    typer.Option(
        help="what the future depends on: 1, 2, … states, a name, such as age, age:20",
        autocompletion=complete_memories,
    ),
]
Score = Annotated[
    str, typer.Option(help="how strangeness is measured", autocompletion=complete_scores)
]
Smoothing = Annotated[bool, typer.Option("--smoothing", help="break ties at random")]
AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="no best guess where nothing is plausible")
]
Seed = Annotated[int, typer.Option(min=0, help="where random numbers come from")]
Force = Annotated[
    bool, typer.Option("--force", help="replace a file that this command did not write")
]
Json = Annotated[bool, typer.Option("--json", help="print JSON")]
NoCheck = Annotated[
    bool, typer.Option("--no-check", help="do not test whether the assumption holds")
]
Jobs = Annotated[int, typer.Option(help="processes; -1 for one a core")]
Cluster = Annotated[str | None, typer.Option(help="address of a Dask scheduler, tcp://host:8786")]
Fresh = Annotated[bool, typer.Option("--fresh", help="work out all cells anew")]
GroupColumn = Annotated[
    str | None, typer.Option(help="the column that tells series apart: patients, machines")
]
OrderColumn = Annotated[
    str | None,
    typer.Option(help="the column that sorts the rows of a series; as they come if none"),
]
Series = Annotated[
    Predicted,
    typer.Option(help="what each series is predicted by: its own rows, a model of the others …"),
]
Cells = Annotated[
    Path | None, typer.Option(help="folder for finished series, for a stopped run to go on")
]


@dataclass(frozen=True)
class Columns:
    """What the columns of a file are."""

    state_column: StateColumn = "state"
    observation_columns: ObservationColumns = None


@dataclass(frozen=True)
class Grouping:
    """Which rows belong to which series, and what each of these is predicted by."""

    group_column: GroupColumn = None
    order_column: OrderColumn = None
    series: Series = Predicted.own


@dataclass(frozen=True)
class Spreading:
    """Over how many processes or machines work is spread, and where it is kept."""

    jobs: Jobs = 1
    cluster: Cluster = None
    cells: Cells = None
    fresh: Fresh = False


@dataclass(frozen=True)
class Settings:
    """What an estimator is asked for; `cli.estimators.make_estimator` makes it."""

    confidence: Levels = field(default_factory=lambda: ["0.9"])
    guarantee: Guarantee = Promised.all
    max_errors: MaxErrors = 0
    states: States = None
    train_size: TrainSize = None
    classifier: Classifier = None
    symmetry: Symmetry = "auto"
    memory: Memory = "1"
    score: Score = "path"
    smoothing: Smoothing = False
    allow_empty: AllowEmpty = False
    seed: Seed = 0

    def __post_init__(self) -> None:
        size = self.train_size
        if size is not None and size >= 1 and size.is_integer():  # a number, and no share
            object.__setattr__(self, "train_size", int(size))


def only(*names: str) -> Any:
    """Say in an annotation which fields of `Settings` are options; the others keep defaults."""
    return frozenset(names)


def but(*names: str) -> Any:
    """Say in an annotation which fields of `Settings` are no options."""
    return frozenset(one.name for one in fields(Settings)) - {*names}


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has an option for each field of the dataclasses that it takes."""
    parameters: list[inspect.Parameter] = []
    gathered: dict[str, tuple[Any, list[str]]] = {}
    for given in inspect.signature(command, eval_str=True).parameters.values():
        one = given.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        kind, *chosen = get_args(one.annotation) or [one.annotation]
        if not (isinstance(kind, type) and is_dataclass(kind)):
            parameters.append(one)
            continue
        taken = [part for part in fields(kind) if not chosen or part.name in chosen[0]]
        gathered[one.name] = kind, [part.name for part in taken]
        hints = inspect.get_annotations(kind, eval_str=True)
        parameters += [
            one.replace(name=part.name, annotation=hints[part.name], default=_default(part))
            for part in taken
        ]

    @functools.wraps(command)
    def called(**given: Any) -> None:
        for name, (kind, names) in gathered.items():
            given[name] = kind(**{one: given.pop(one) for one in names})
        command(**given)

    del called.__wrapped__  # or its signature would be looked up there
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def _default(part: Field[Any]) -> Any:
    return part.default if part.default_factory is MISSING else part.default_factory()
