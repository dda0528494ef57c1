"""Options shared by several commands, each with one name, help text and panel.

Commands take the dataclasses below as parameters; `expand_options` turns fields into options.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from definetti._system.checks import START
from definetti.cli.errors import report_errors

# An option in a panel of the help.
data_option = functools.partial(typer.Option, rich_help_panel="Data")
model_option = functools.partial(typer.Option, rich_help_panel="Model")
guarantee_option = functools.partial(typer.Option, rich_help_panel="Guarantee")
computation_option = functools.partial(typer.Option, rich_help_panel="Computation")
output_option = functools.partial(typer.Option, rich_help_panel="Output")
SCORES = "path, filter, smoother, joint, band, emission, transition"
SYMMETRIES = "auto, spaced, full, returns, pairs, departures, shifts, published"


# Which guarantee a set has.
Guarantee = StrEnum("Guarantee", ["all", "steps", "errors"])
# Classifiers of scikit-learn that can replace the emission model.
ClassifierName = StrEnum(
    "ClassifierName",
    {
        "random_forest": "random-forest",
        "logistic": "logistic",
        "gradient_boosting": "gradient-boosting",
    },
)
# The rows from which each of many series is predicted.
Series = StrEnum("Series", ["own", "others", "all", "first"])


def complete_from(
    module: str, *names: str, first: Iterable[str] = (), but: Iterable[str] = ()
) -> Callable[[str], list[str]]:
    """Return a completer for the last of comma-separated names, from attributes of a module.

    >>> complete_from("definetti.scores", "Score.named")("path,fil")
    ['path,filter']
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        loaded = import_module(module)
        known = [*first, *(name for table in names for name in attrgetter(table)(loaded))]
        taken = {*before.split(","), *but}
        left = (name for name in known if name.startswith(begun) and name not in taken)
        return [f"{before}{comma}{name}" for name in left]

    return complete


LabelledRows = Annotated[str, typer.Argument(help="labelled rows; - for standard input")]
NewRows = Annotated[str | None, typer.Argument(help="new rows, in time order")]
Level = Annotated[
    str, guarantee_option(metavar="LEVEL", help="confidence level; by last state: N1=0.99,0.8")
]
Horizon = Annotated[
    int | None, data_option(min=1, help="number of steps to predict; default: all new rows")
]
Lag = Annotated[int, data_option(min=0, help="label delay in steps: the first steps get no set")]
Score = Annotated[
    str,
    model_option(
        help=f"nonconformity score: {SCORES}",
        autocompletion=complete_from("definetti.scores", "Score.named"),
    ),
]
Seed = Annotated[int, computation_option(min=0, help="random seed")]
NoCheck = Annotated[
    bool, guarantee_option("--no-check", help="skip the quick test of the assumption")
]
Jobs = Annotated[int, computation_option(help="number of processes; -1: one per core")]
Cluster = Annotated[
    str | None, computation_option(help="address of a Dask scheduler, tcp://host:8786")
]
Fresh = Annotated[bool, computation_option("--fresh", help="recompute finished cells")]
Force = Annotated[
    bool, output_option("--force", help="replace a file that this command did not write")
]
StepOutput = Annotated[
    Path | None,
    output_option("--output", "-o", help="file with a row per step: .csv .json .parquet …"),
]
Json = Annotated[bool, output_option("--json", help="print JSON")]
NoObservations = Annotated[
    bool, data_option("--no-observations", help="use the states alone, as a Markov chain")
]


@dataclass(frozen=True)
class Columns:
    """The roles of the columns of a file."""

    state_column: Annotated[str, data_option(help="column with the states")] = "state"
    observation_columns: Annotated[
        str | None,
        data_option(help="observed columns, comma-separated; default: all informative columns"),
    ] = None

    def without_observations(self) -> Columns:
        """Return the same columns of which none is observed."""
        if self.observation_columns:
            raise ValueError(
                "--no-observations and --observation-columns exclude each other; give one"
            )
        return replace(self, observation_columns="")


@dataclass(frozen=True)
class Grouping:
    """The roles of columns in a file of many series, and the rows that predict each series."""

    group_column: Annotated[
        str | None, data_option(help="column that names the series: patient, machine")
    ] = None
    order_column: Annotated[
        str | None, data_option(help="column that sorts the rows of a series; default: file order")
    ] = None
    series: Annotated[
        Series, data_option(help="predict each series from its own rows, a model of the others, …")
    ] = Series.own

    def __post_init__(self) -> None:
        if self.group_column is None:
            check_single_series({
                "--order-column": self.order_column is not None,
                "--series": self.series is not Series.own,
            })  # fmt: skip


@dataclass(frozen=True)
class Rolling:
    """The windows of a backtest."""

    lag: Lag = 0
    start: Annotated[
        float, data_option(min=0.05, max=0.95, help="share of rows before the first window")
    ] = START
    windows: Annotated[
        int | None,
        data_option(
            min=1,
            help="maximal number of windows, spread evenly; default: all that are cheap, or 500",
        ),
    ] = None


@dataclass(frozen=True)
class Spreading:
    """Parallel work: processes, cluster, and the folder of finished cells."""

    jobs: Jobs = 1
    cluster: Cluster = None
    cells: Annotated[
        Path | None, computation_option(help="folder of finished series, to resume a stopped run")
    ] = None
    fresh: Fresh = False


@dataclass(frozen=True)
class Settings:
    """Parameters of an estimator; `cli.estimators.make_estimator` builds it."""

    confidence: Annotated[
        list[str],
        guarantee_option(
            metavar="LEVEL",
            help="confidence level; by last state: N1=0.99,0.8; repeat for more levels",
        ),
    ] = field(default_factory=lambda: ["0.9"])
    guarantee: Annotated[
        Guarantee,
        guarantee_option(
            help="covers all steps at once, each step on average, or all but --max-errors"
        ),
    ] = Guarantee.all
    max_errors: Annotated[
        int, guarantee_option(min=0, help="wrong steps allowed by --guarantee errors")
    ] = 0
    states: Annotated[str | None, model_option(help="all possible states, comma-separated")] = None
    train_size: Annotated[
        float | None, model_option(help="share or number of first rows that train a fixed model")
    ] = None
    classifier: Annotated[
        ClassifierName | None,
        model_option(
            help="scikit-learn classifier for the observations, trained on the first rows"
        ),
    ] = None
    symmetry: Annotated[
        str,
        model_option(
            help=f"windows to compare with: {SYMMETRIES}; departures is conditional on the "
            "current state",
            autocompletion=complete_from("definetti.symmetry", "Symmetry.named", first=["auto"]),
        ),
    ] = "auto"
    memory: Annotated[
        str,
        model_option(
            help="what the next state depends on: 1, 2, … states, age, age:20, observation",
            autocompletion=complete_from(
                "definetti.memory", "Memory.named", first=["1", "2"], but=["order"]
            ),
        ),
    ] = "1"
    score: Score = "path"
    smoothing: Annotated[bool, guarantee_option("--smoothing", help="break ties at random")] = False
    allow_empty: Annotated[
        bool,
        guarantee_option(
            "--allow-empty", help="keep empty sets empty instead of adding the most plausible state"
        ),
    ] = False
    seed: Seed = 0

    def __post_init__(self) -> None:
        size = self.train_size
        if size is not None and size >= 1 and float(size).is_integer():  # a number, not a share
            object.__setattr__(self, "train_size", int(size))

    def check_one_level(self, why: str) -> None:
        """Raise ValueError if several levels are given."""
        if len(self.confidence) > 1:
            raise ValueError(f"--confidence is given {len(self.confidence)} times, and {why}")


def only(*names: str) -> Any:
    """Annotate which fields become options; the others keep their defaults."""
    return frozenset(names)


def but(*names: str) -> Any:
    """Annotate which fields of `Settings` do not become options."""
    return frozenset(part.name for part in fields(Settings)) - {*names}


def expand_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with one option for each field of the dataclasses that it takes.

    Errors of the command become one line on standard error.
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for declared in inspect.signature(command, eval_str=True).parameters.values():
        parameter = declared.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        kind, *chosen = get_args(parameter.annotation) or [parameter.annotation]
        if not (isinstance(kind, type) and is_dataclass(kind)):
            parameters.append(parameter)
            continue
        taken = [part for part in fields(kind) if not chosen or part.name in chosen[0]]
        groups[parameter.name] = kind, [part.name for part in taken]
        hints = inspect.get_annotations(kind, eval_str=True)
        parameters += [
            parameter.replace(
                name=part.name,
                annotation=hints[part.name],
                default=part.default if part.default_factory is MISSING else part.default_factory(),
            )
            for part in taken
        ]

    @functools.wraps(command)
    def called(**given: Any) -> None:
        with report_errors():
            for group, (kind, names) in groups.items():
                given[group] = kind(**{name: given.pop(name) for name in names})
            command(**given)

    del called.__wrapped__  # else its signature would be used
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


def given_options(context: typer.Context, names: Iterable[str]) -> list[str]:
    """Return the named options that were given on the command line."""
    sources = {name: context.get_parameter_source(name) for name in names}
    return [name for name, source in sources.items() if source and source.name == "COMMANDLINE"]


def check_single_series(given: dict[str, bool]) -> None:
    """Refuse options for many series where there is no --group-column."""
    if name := next((name for name, is_given in given.items() if is_given), None):
        raise ValueError(
            f"{name} is for many series; name the column of series with --group-column, or leave "
            f"out {name}"
        )
