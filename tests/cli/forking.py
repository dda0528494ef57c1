"""Runs commands for `forked.py`: a process that has loaded what they load, and forks for each.

A command is still a process of its own, with its own streams, folder and environment, and all that
is to be done at its end is done. Only what Python does before its first line, and the loading of
libraries and of compiled kernels, is done once for all of them; and none takes down what it holds.
"""

import atexit
import gc
import json
import os
import runpy
import socket
import sys
import threading
import warnings
from importlib import import_module
from pkgutil import iter_modules

# Loaded by commands when they are needed. To load polars starts none of its threads.
LATER = ["definetti.experiments", "definetti.evaluation", "definetti.report", "definetti.verify",
         "narwhals._polars.namespace", "plotly.offline", "polars"]  # fmt: skip


def load():
    """Load what commands load, and compiled kernels; start no thread that a fork would lose."""
    from definetti import ConformalHMM, cli
    from definetti.simulate import weather

    for module in (*(f"definetti.cli.{one.name}" for one in iter_modules(cli.__path__)), *LATER):
        import_module(module)
    seen, states = weather(60, random_state=0)
    for fixed in ({}, {"train_size": 0.5}):
        cp = ConformalHMM(random_state=0, **fixed).fit(seen[:50], states[:50])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # or commands would think that they had been told
            cp.evaluate(seen[50:], states[50:], horizon=2)
    cli.app(["predict", "--help"], standalone_mode=False)  # with what options and tables need
    gc.freeze()  # or each of them would look through all of it as it ends


def serve(asked):
    """Fork for each command that is asked for; return what it is in a new process."""
    while True:
        head, streams, _, _ = socket.recv_fds(asked, 10, 4)
        if not head:
            os._exit(0)  # nobody is left to ask
        text = b""
        while len(text) < int(head):
            text += asked.recv(int(head) - len(text))
        if os.fork() == 0:
            asked.close()
            command = os.fork()
            if command:  # waits for it, and tells how it ended
                for stream in streams[:3]:
                    os.close(stream)
                _, status = os.waitpid(command, 0)
                os.write(streams[3], str(os.waitstatus_to_exitcode(status)).encode())
                os._exit(0)
            for number, stream in enumerate(streams[:3]):
                os.dup2(stream, number)
            for stream in streams:
                os.close(stream)
            return json.loads(text)
        for stream in streams:
            os.close(stream)
        while True:  # those that waited and told have ended
            try:
                if os.waitpid(-1, os.WNOHANG) == (0, 0):
                    break
            except ChildProcessError:
                break


def reopen(number, mode, old):
    """Return a stream as Python makes it at its start, which looks at what it is opened to."""
    return open(
        number, mode, encoding=old.encoding, errors=old.errors, closefd=False,
        buffering=1 if old.line_buffering else -1,
    )  # fmt: skip


def leave(code):
    """End as Python does, but for freeing what is loaded: memory would be copied to be freed."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    load()
    command = serve(socket.socket(fileno=int(sys.argv[1])))
    sys.stdin = sys.__stdin__ = reopen(0, "r", sys.stdin)
    sys.stdout = sys.__stdout__ = reopen(1, "w", sys.stdout)
    sys.stderr = sys.__stderr__ = reopen(2, "w", sys.stderr)
    os.environ.clear()
    os.environ.update(command["environment"])
    os.chdir(command["folder"])
    sys.argv = ["definetti", *command["arguments"]]
    try:
        runpy.run_module("definetti", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if isinstance(end.code, int):
            leave(end.code)
        raise
