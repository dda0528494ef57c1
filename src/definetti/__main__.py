"""`python -m definetti` is the command `definetti`."""

from definetti.cli import app

if __name__ == "__main__":
    app(prog_name="definetti")
