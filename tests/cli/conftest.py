"""How to run commands as processes, several at a time."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from tests.cli import forked

COMMAND = [sys.executable, "-m", "definetti"]
SOURCE = str(Path(__file__).resolve().parents[2] / "src")
AT_THE_START = ("PYTHON", "LC_")  # what Python reads of the environment, it reads as it starts


def surroundings(**more):
    """The environment of a command, wherever it is run."""
    path = os.pathsep.join([SOURCE, os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, **more}


@pytest.fixture
def ask(tmp_path):
    """Run a command in a folder of its own, with an empty standard input unless told.

    Standard input is bytes, or a file that is open. Where the environment tells Python itself
    something it is a fresh process; otherwise one that was forked, which is sooner ready.
    """

    def asked(*arguments, stdin=b"", **how):
        if any(name.startswith(AT_THE_START) for name in how):
            given = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
            done = subprocess.run(
                [*COMMAND, *map(str, arguments)],
                **given, capture_output=True, timeout=1200, cwd=tmp_path,
                env=surroundings(**how),
            )  # fmt: skip
        else:
            done = forked.run(arguments, stdin, tmp_path, surroundings(**how))
        done.out, done.err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in done.err, done.err
        return done

    return asked


@pytest.fixture
def ask_into(tmp_path):
    """Run a command whose standard output goes to an open file; return its code and its errors."""

    def asked(file, *arguments, fresh=False):
        if fresh:
            done = subprocess.run(
                [*COMMAND, *map(str, arguments)], stdout=file, stderr=subprocess.PIPE, timeout=1200,
                stdin=subprocess.DEVNULL, cwd=tmp_path, env=surroundings(),
            )  # fmt: skip
        else:
            done = forked.run(arguments, b"", tmp_path, surroundings(), stdout=file)
        return done.returncode, done.stderr.decode()

    return asked


@pytest.fixture
def on_terminal(tmp_path):
    """Run a command on a terminal; return its exit code and all that the terminal was sent."""
    pty = pytest.importorskip("pty")

    def asked(*arguments):
        main, side = pty.openpty()

        def run():
            try:
                where = surroundings(TERM="xterm", COLUMNS="400")
                return forked.run(arguments, b"", tmp_path, where, stdout=side, stderr=side)
            finally:
                os.close(side)

        sent = b""
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(run)
            with suppress(OSError):  # which ends it, where the other side is closed
                while piece := os.read(main, 1 << 16):
                    sent += piece
        os.close(main)
        return running.result().returncode, sent.decode()

    return asked


@pytest.fixture
def ask_all(ask):
    """Run many commands, two at a time; return what each did, by name."""

    def asked(commands):
        with ThreadPoolExecutor(2) as pool:
            found = pool.map(lambda arguments: ask(*arguments), commands.values())
            return dict(zip(commands, found, strict=True))

    return asked


@pytest.fixture
def start(tmp_path):
    """Start a command, in a session of its own as from a terminal, in a folder of its own."""
    begun = []

    def started(*arguments, command=COMMAND):
        process = subprocess.Popen(
            [*command, *map(str, arguments)],
            env=surroundings(), cwd=tmp_path, start_new_session=True, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        begun.append(process)
        return process

    yield started
    for process in begun:
        if process.poll() is None:
            os.killpg(process.pid, 9)
        process.communicate()
