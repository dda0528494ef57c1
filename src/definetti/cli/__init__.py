"""The command `definetti`: a file per command, and the layers that commands share."""

from definetti.cli.app import app

__all__ = ["app"]
