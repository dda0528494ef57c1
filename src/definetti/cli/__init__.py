"""The command `definetti`: one command a file."""

from definetti.cli.app import app

__all__ = ["app"]
