"""`python -m definetti` is the command `definetti`, and `main` is what its script calls."""

from __future__ import annotations

import sys

from definetti._system import interrupts, terminal

INTERRUPTED = 130  # what typer makes of Ctrl-C


def main() -> None:
    """Run the command line; Ctrl-C is heard from here on, before anything large is loaded."""
    try:
        interrupts.listen_for_interrupts()
        terminal.guard_output()
        run()
    except KeyboardInterrupt:  # wherever it came, what follows on an error or an end included
        interrupts.end()
    except Exception:
        if not interrupts.is_stopping():
            raise
        interrupts.end()


def run() -> None:
    """Run the command line, and end as it ended."""
    try:
        from definetti.cli import app

        app(prog_name="definetti")
    except SystemExit as end:
        if end.code == INTERRUPTED:
            interrupts.end()
        if terminal.has_failed():  # whatever others made of it
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
