"""Arguments and options that several commands have, with the same words for each."""

from __future__ import annotations

from typing import Annotated

import typer

from definetti.cli.choices import Guarantee as Promised
from definetti.cli.completing import complete_memories, complete_symmetries

LabelledRows = Annotated[str, typer.Argument(help="labelled rows; - for standard input")]
NewRows = Annotated[str | None, typer.Argument(help="new rows, in the order of time")]
StateColumn = Annotated[str, typer.Option(help="the column with the states")]
ObservationColumns = Annotated[
    str | None,
    typer.Option(help="columns with commas between; all that tell something if left out"),
]
Confidence = Annotated[float, typer.Option(help="probability promised")]
Levels = Annotated[
    str, typer.Option(metavar="LEVEL", help="probability promised; by last state: N1=0.99,0.8")
]
Horizon = Annotated[
    int | None, typer.Option(min=1, help="steps to predict; all new rows if left out")
]
Guarantee = Annotated[
    Promised, typer.Option(help="right together, on average, or but for --max-errors")
]
MaxErrors = Annotated[int, typer.Option(min=0, help="wrong steps allowed, for errors")]
Start = Annotated[
    float, typer.Option(min=0.05, max=0.95, help="share of the rows before the first window")
]
TrainSize = Annotated[
    float | None, typer.Option(help="share of rows to fix the model on; for long horizons")
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
        help="what the future depends on: 1, 2, … states, a name, such as age, age:20; or auto",
        autocompletion=complete_memories,
    ),
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
