"""Entry point of the command `definetti`, also as `python -m definetti`."""

from __future__ import annotations

import sys

from definetti._system import interrupts, terminal

INTERRUPTED = 130  # exit code of typer on Ctrl-C


def main() -> None:
    """Run the command line; handle Ctrl-C before large modules are loaded."""
    try:
        interrupts.listen_for_interrupts()
        terminal.guard_output()
        run()
    except KeyboardInterrupt:  # also while an error or the exit is handled
        interrupts.end()
    except Exception:
        if not interrupts.is_stopping():
            raise
        interrupts.end()


def run() -> None:
    """Run the command line; exit with its code, or report that output failed."""
    try:
        from definetti.cli import app

        app(prog_name="definetti")
    except SystemExit as end:
        if end.code == INTERRUPTED:
            interrupts.end()
        if terminal.has_failed():  # whatever the exit code is
            sys.exit(terminal.tell_failure())
        raise
    except OSError:
        if not terminal.has_failed():
            raise
        sys.exit(terminal.tell_failure())
    finally:
        interrupts.prepare_exit()


if __name__ == "__main__":
    main()
