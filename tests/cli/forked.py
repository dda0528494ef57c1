"""Commands as processes that need not load everything anew: `forking.py` is forked for each."""

import atexit
import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Lock

HERE = Path(__file__)
PATIENCE = 1200  # seconds
ASKING = Lock()


@cache
def server():
    """The connection to a process that forks, started when it is first needed."""
    ours, theirs = socket.socketpair()
    source = str(HERE.resolve().parents[2] / "src")
    path = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, HERE.with_name("forking.py"), str(theirs.fileno())],
        pass_fds=[theirs.fileno()], env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    theirs.close()
    atexit.register(process.wait)
    atexit.register(ours.close)  # the last one registered is called first, and ends it
    return ours


def run(arguments, stdin=b"", folder=None, environment=None, stdout=None, stderr=None):
    """Run a command to its end, as `subprocess.run` does.

    Parameters
    ----------
    arguments : what stands after ``definetti``
    stdin : bytes, or a file that is open
    stdout, stderr : numbers of open files; what is written to them is returned if left out
    """
    texts = [str(one) for one in arguments]
    if sys.platform == "win32":  # where nothing can be forked
        given = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
        return subprocess.run(
            [sys.executable, "-m", "definetti", *texts],
            **given, stdout=subprocess.PIPE if stdout is None else stdout,
            stderr=subprocess.PIPE if stderr is None else stderr,
            timeout=PATIENCE, cwd=folder, env=environment,
        )  # fmt: skip
    asked = {"arguments": texts, "folder": str(folder or Path.cwd()),
             "environment": dict(os.environ if environment is None else environment)}  # fmt: skip
    text = json.dumps(asked).encode()
    (ours_out, out), (ours_err, err), (ours_end, end) = (os.pipe() for _ in range(3))
    given, ours_in = os.pipe() if isinstance(stdin, bytes) else (os.dup(stdin.fileno()), None)
    with ASKING:
        connection = server()
        streams = [given, out if stdout is None else stdout, err if stderr is None else stderr, end]
        socket.send_fds(connection, [b"%10d" % len(text)], streams)
        connection.sendall(text)
    for stream in (given, out, err, end):
        os.close(stream)
    with ThreadPoolExecutor(4) as pool:
        if ours_in is not None:
            pool.submit(write, ours_in, stdin)
        read = [pool.submit(drain, stream) for stream in (ours_out, ours_err, ours_end)]
        printed, told, code = (one.result(PATIENCE) for one in read)
    assert code, "forking.py has ended; run it by itself to see why"
    return subprocess.CompletedProcess(texts, int(code), printed, told)


def write(stream, text):
    try:
        with os.fdopen(stream, "wb") as file:
            file.write(text)
    except BrokenPipeError:  # who was to read it has ended
        pass


def drain(stream):
    with os.fdopen(stream, "rb") as file:
        return file.read()
