"""Hostile JSON in tables and in model files ends in one sentence, in time proportional to it."""

import io
import zipfile
from hashlib import sha256

import pytest

from definetti.cli.text_tables import parse_table

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
    assert "row 1 has nested values" in found["lines"].err
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
        assert " deep" in done.err


def test_json_rows_with_different_keys_are_refused(ask_all, tmp_path):
    """The table would be a square of them: 4 MB of text for a thousand million cells."""
    rows = [f'{{"state": "a", "note": "\\\\", "{number}": 1}}' for number in range(30_000)]
    (tmp_path / "lines.json").write_text("\n".join(rows))
    (tmp_path / "list.json").write_text(f"[{', '.join(rows)}]")
    (tmp_path / "deep.json").write_text("\n".join(f'{{"state": "a", "b": {row}}}' for row in rows))
    found = ask_all({name: ("predict", f"{name}.json") for name in ("lines", "list", "deep")})
    for name, done in found.items():
        assert done.returncode == 2, name
        assert "30,000 rows have more than" in done.err, name
        assert "give all rows the same names" in done.err, name


def test_json_key_may_come_late():
    rows = [f'{{"state": "a", "seen": {number}}}' for number in range(60_000)]
    found = parse_table("\n".join([*rows, '{"state": "b", "late": 1}']), "x.json")
    assert found.shape == (60_001, 3)
