"""`python -m definetti` is the command `definetti`, and `main` is what its script calls."""

from __future__ import annotations

from definetti import stopping

INTERRUPTED = 130  # what typer makes of Ctrl-C


def main() -> None:
    """Run the command line; Ctrl-C is heard from here on, before anything large is loaded."""
    stopping.listen()
    try:
        from definetti.cli import app

        app(prog_name="definetti")
    except KeyboardInterrupt:
        stopping.leave()
    except SystemExit as end:
        if end.code == INTERRUPTED:
            stopping.leave()
        raise
    finally:
        stopping.ended()


if __name__ == "__main__":
    main()
