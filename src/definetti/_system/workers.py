"""Worker processes that end when the process that started them has ended, however it did."""

from __future__ import annotations

import os
import sys
import threading
import time

PAUSE = 0.5  # seconds between two looks


def end_with_parent(parent: int) -> None:
    """End this process when its parent has ended, a kill included; called as a worker starts.

    An idle worker waits for more work and does not notice by itself for minutes. Where processes
    keep the number of a parent that is gone (Windows), nothing is done.

    Parameters
    ----------
    parent : the number of the process that started this one
    """
    if sys.platform != "win32":
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PAUSE)
    os._exit(1)  # from a thread, whatever the worker is at; only the parent writes files
