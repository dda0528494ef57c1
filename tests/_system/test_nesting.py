"""The depth of JSON is measured in one pass, whatever the text is."""

import subprocess
import sys

import numpy as np
import pytest

from definetti._system.files import measure_depth

SIZE = 10_000_000
HOSTILE = {
    "escaped quotes, never closed": ('"' + r"\"" * (SIZE // 2), 0),
    "backslashes, never closed": ('"' + "\\" * SIZE, 0),
    "an even run of backslashes": ('"' + "\\" * SIZE + '"[[', 2),
    "an odd run of backslashes": ('"' + "\\" * (SIZE + 1) + '"[[', 0),
    "backslashes before line ends": ('"' + "\\\n" * (SIZE // 2), 0),
    "open brackets": ("[" * SIZE, SIZE),
    "open objects": ('{"":' * (SIZE // 4), SIZE // 4),
    "closed brackets": ("[]" * (SIZE // 2), 1),
    "brackets that were never opened": ("]" * SIZE + "[", 0),
    "empty strings": ('""' * (SIZE // 2) + "[", 1),
    "an odd number of quotes": ('"' * (SIZE + 1) + "[[", 0),
    "strings of brackets": ('"[["' * (SIZE // 4) + "[", 1),
    "letters": ("a" * SIZE, 0),
    "letters outside ASCII": ("é" * (SIZE // 2) + '"[é[" [', 1),
    "surrogates": ("\ud800" * (SIZE // 4) + "[", 1),
}


def by_character(text):
    """Measure the depth character by character, as JSON is defined."""
    depth = deepest = 0
    inside = escaped = False
    for sign in text:
        if inside:
            inside = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        elif sign == '"':
            inside = True
        else:
            depth += (sign in "[{") - (sign in "]}")
            deepest = max(deepest, depth)
    return deepest


TOKENS = [
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "1",
    " ",
    '""',
    '"é["',
    r'"\""',
    r'"\\"',
    r'"{\\\"["',
    r'"\n{\u00e9"',
]


def test_depth_equals_a_definition_by_character(monkeypatch):
    rng = np.random.default_rng(0)
    for piece in (1, 2, 3, 2**16):
        monkeypatch.setattr("definetti._system.files.PIECE", piece)
        for turn in range(500):
            text = "".join(rng.choice(TOKENS, size=rng.integers(12))) + '"[[' * (turn % 2)
            assert measure_depth(text) == by_character(text), text


@pytest.mark.parametrize("name", HOSTILE)
def test_ten_million_hostile_characters_are_measured(name):
    """Quadratic work would take days here; the limit is for a machine that is busy."""
    text, depth = HOSTILE[name]
    code = (
        "import sys\n"
        "from definetti._system.files import measure_depth\n"
        "text = sys.stdin.buffer.read().decode('utf-8', 'surrogatepass')\n"
        "print(measure_depth(text))"
    )
    sent = text.encode("utf-8", "surrogatepass")
    done = subprocess.run(
        [sys.executable, "-c", code], input=sent, capture_output=True, timeout=300, check=True
    )
    assert int(done.stdout) == min(depth, SIZE)
