"""Hostile JSON in tables and in model files ends in one sentence, in time proportional to it."""

import io
import zipfile
from hashlib import sha256

import pytest

SIZE = 4_000_000
NEVER_CLOSED = '"' + r"\"" * (SIZE // 2)


def as_model(manifest):
    """Return the bytes of a model file with this text for its manifest."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(zipfile.ZipInfo("manifest.json"), manifest)
        archive.comment = sha256(manifest).hexdigest().encode()
    return made.getvalue()


def test_strings_that_are_never_closed_do_not_hang(ask_all, tmp_path):
    """Looking for the end of each string anew would take hours."""
    (tmp_path / "list.json").write_text('[{"state": ' + NEVER_CLOSED)
    (tmp_path / "lines.json").write_text('{"state": ' + "[" * 70 + NEVER_CLOSED)
    (tmp_path / "new.csv").write_text("seen\n1\n")
    (tmp_path / "model.definetti").write_bytes(as_model(b'{"a": ' + NEVER_CLOSED.encode()))
    found = ask_all({
        "list": ("predict", "list.json"),
        "lines": ("predict", "lines.json"),
        "load": ("predict", "new.csv", "--model", "model.definetti"),
        "inspect": ("inspect", "model.definetti"),
    })  # fmt: skip
    for name, done in found.items():
        assert done.returncode == 2, name
        assert done.err.startswith("definetti: "), name
        assert done.err.count("\n") == 1, name
    assert "row 1 has values inside of each other" in found["lines"].err
    for name in ("load", "inspect"):
        assert "model.definetti was altered or is damaged" in found[name].err


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
def test_deep_brackets_are_refused(bracket, ask_all, tmp_path):
    deep = bracket * (SIZE // len(bracket))
    (tmp_path / "list.json").write_text("[{" + deep)
    (tmp_path / "model.definetti").write_bytes(as_model(b'{"a": ' + deep.encode()))
    found = ask_all({
        "list": ("predict", "list.json"),
        "inspect": ("inspect", "model.definetti"),
    })  # fmt: skip
    for done in found.values():
        assert done.returncode == 2
        assert "values inside of each other, more than" in done.err
