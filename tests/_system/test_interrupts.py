"""Signals that come while compiled code is entered, run or left: handled after it, as usual."""

import ctypes
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

import definetti
from definetti._system.compiled import Kernel, kernel

if sys.platform == "win32":
    pytest.skip("there are no such signals", allow_module_level=True)
pytestmark = pytest.mark.filterwarnings("ignore:Cannot cache compiled function")
press = ctypes.CDLL(None)["raise"]
press.argtypes, press.restype = [ctypes.c_int], ctypes.c_int
NOTHING = 0  # a signal that is none
ALL = [signal.SIGINT, signal.SIGTERM, signal.SIGALRM]


class Told(BaseException):
    """What a handler raises, which no one else does."""


def pressing():
    """A kernel during which signals come, and whose results are put together in Python."""

    @kernel
    def pressed(first, second):
        press(first)
        press(second)
        return np.arange(3), np.ones((2, 2))

    return pressed


@pytest.fixture(scope="module")
def pressed():
    pressed = pressing()
    pressed(NOTHING, NOTHING)
    return pressed


@pytest.fixture
def handled():
    """Handle signals by a function, and see to it that the kernel leaves it as it is."""
    before = {}

    def handle(number, handler):
        before.setdefault(number, signal.signal(number, handler))
        return handler

    yield handle
    for number, handler in before.items():
        signal.signal(number, handler)


def complain(number, frame):
    raise Told(number)


def test_ctrl_c_is_a_keyboard_interrupt(pressed):
    before = signal.getsignal(signal.SIGINT)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            pressed(signal.SIGINT, NOTHING)
        assert signal.getsignal(signal.SIGINT) is before
        assert pressed(NOTHING, NOTHING)[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("number", ALL)
def test_whatever_a_handler_raises(pressed, handled, number):
    handled(number, complain)
    with pytest.raises(Told, match=str(int(number))):
        pressed(number, number)
    assert signal.getsignal(number) is complain


@pytest.mark.parametrize("number", ALL)
def test_a_handler_that_raises_nothing_is_called_once_and_the_result_is_there(
    pressed, handled, number
):
    heard = []
    handled(number, lambda *what: heard.append(what))
    numbers, ones = pressed(number, number)
    assert [what[0] for what in heard] == [number]
    assert heard[0][1] is not None  # the frame
    assert (numbers.tolist(), ones.tolist()) == ([0, 1, 2], [[1.0, 1.0], [1.0, 1.0]])


@pytest.mark.parametrize("first", ALL)
@pytest.mark.parametrize("second", ALL)
def test_several_at_once_leave_all_handlers_as_they_were(pressed, handled, first, second):
    for number in ALL:
        handled(number, complain)
    with pytest.raises(Told):
        pressed(first, second)
    assert [signal.getsignal(number) for number in ALL] == [complain] * 3
    pressed(NOTHING, NOTHING)  # and nothing is left over


def test_what_is_ignored_stays_so(pressed, handled):
    handled(signal.SIGINT, signal.SIG_IGN)
    pressed(signal.SIGINT, NOTHING)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads_have_no_handlers(pressed):
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(pressed, NOTHING, NOTHING).result()[0].tolist() == [0, 1, 2]


def test_while_it_is_compiled(monkeypatch):
    real = CPUDispatcher.compile

    def interrupted(self, signature):
        signal.raise_signal(signal.SIGINT)
        return real(self, signature)

    pressed = pressing()
    with monkeypatch.context() as patch:
        patch.setattr(CPUDispatcher, "compile", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pressed(NOTHING, NOTHING)
    assert pressed(NOTHING, NOTHING)[0].tolist() == [0, 1, 2]


def test_an_error_of_ones_own_is_no_signal():
    @kernel
    def refusing(number):
        if number:
            raise ValueError("no")
        return number

    with pytest.raises(ValueError, match="no"):
        refusing(1)
    assert refusing(0) == 0
    assert isinstance(refusing, Kernel)


def test_there_are_no_other_compiled_functions():
    source = Path(definetti.__file__).parent
    users = {path.name for path in source.rglob("*.py") if "numba" in path.read_text("utf-8")}
    assert users == {"compiled.py"}
