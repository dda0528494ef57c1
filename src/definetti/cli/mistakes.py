"""A user's mistake ends in one line on standard error, never in a traceback."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer


@contextmanager
def told() -> Iterator[None]:
    """Turn errors into a line and exit code 2, Ctrl-C into 1; warnings into notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        except (ValueError, TypeError, ImportError) as error:
            typer.echo(f"definetti: {error}", err=True)
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            typer.echo("definetti: stopped; nothing was written", err=True)
            raise typer.Exit(1) from None
        finally:
            for message in dict.fromkeys(str(one.message) for one in caught):
                typer.echo(f"note: {message}", err=True)
