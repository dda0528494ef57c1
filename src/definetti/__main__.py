"""`python -m definetti` is the command `definetti`."""

from definetti.cli import app

app(prog_name="definetti")
