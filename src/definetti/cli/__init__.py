"""The command `definetti`: one module per command, and the modules that commands share."""

from __future__ import annotations

import typer

from definetti.cli.backtest import backtest
from definetti.cli.check import check
from definetti.cli.experiments import compare, reproduce
from definetti.cli.fit import fit, inspect
from definetti.cli.monitor import monitor
from definetti.cli.options import expand_options
from definetti.cli.predict import predict
from definetti.cli.report import report
from definetti.cli.simulate import demo, simulate
from definetti.cli.verify import verify

app = typer.Typer(
    help="Conformal prediction sets for hidden states, with exact coverage guarantees.",
    no_args_is_help=True,
    rich_markup_mode="markdown",  # wrap paragraphs
    pretty_exceptions_enable=False,
)
COMMANDS = (
    predict, fit, inspect, backtest, check, monitor, report, simulate, demo, verify, reproduce,
    compare,
)  # fmt: skip
for command in COMMANDS:
    app.command()(expand_options(command))

__all__ = ["app"]
