"""Files that are cut off, altered or made to do harm end in one sentence, and take nothing.

No mutation may lead to a traceback, run code, or take more memory than a small multiple of what
the file has; a file of which only bytes changed that mean nothing may load, as what it was.
"""

import io
import json
import os
import struct
import sys
import tracemalloc
import warnings
import zipfile
from contextlib import suppress
from hashlib import sha256

import numpy as np
import pytest
from click.testing import CliRunner
from tests.saving.answers import answers
from typer.main import get_command

from definetti import ConformalHMM, Monitor, load
from definetti.cli import app
from definetti.exceptions import LoadError
from definetti.saving import read_manifest
from definetti.saving.files import VERSION
from definetti.simulate import weather
from definetti.symmetry import Spaced

NEW = ["umbrella", "hat"]
ROOM = 4_000_000  # bytes that reading a small file may take, whatever it says
FORBIDDEN = (
    "exec",
    "pickle.find_class",
    "subprocess.Popen",
    "os.system",
    "ctypes.dlopen",
    "socket",
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a file, and what it answers."""
    path = tmp_path_factory.mktemp("whole") / "model.definetti"
    y, x = weather(120, random_state=5)
    cp = ConformalHMM(random_state=1, smoothing=True, train_size=0.5).fit(y, x)
    cp.save(path)
    load(path)
    return path.read_bytes(), answers(cp, NEW)


HEARD = []
LISTENING = []


def listen(event, details):
    if LISTENING and event.startswith(FORBIDDEN):
        HEARD.append(event)


sys.addaudithook(listen)


def read(path):
    """Load a file as a stranger's: no code runs, and no memory is taken."""
    HEARD.clear()
    tracemalloc.start()
    LISTENING.append(True)
    try:
        return load(path)
    except LoadError as error:
        text = str(error)
        assert text.startswith(str(path)), text
        assert "\n" not in text
        return None
    finally:
        LISTENING.clear()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < ROOM + 20 * path.stat().st_size, f"{peak:,} bytes taken"
        assert not HEARD


def mutate(content, rng):
    """Change a file as time, a bad line or a bad person might."""
    made = bytearray(content)
    way = rng.integers(6)
    at = int(rng.integers(len(made)))
    if way == 0:
        return bytes(made[:at])
    if way == 1:
        made[at] ^= 1 << int(rng.integers(8))
    elif way == 2:
        made[at : at + 8] = rng.bytes(8)
    elif way == 3:
        other = int(rng.integers(len(made)))
        made[at:at] = made[other : other + 50]
    elif way == 4:
        del made[at : at + int(rng.integers(1, 60))]
    else:
        for one in rng.integers(len(made), size=20):
            made[one] = int(rng.integers(256))
    return bytes(made)


def test_a_thousand_mutated_and_truncated_files(whole, tmp_path):
    content, said = whole
    rng = np.random.default_rng(20)
    path, survived = tmp_path / "model.definetti", 0
    for _ in range(1000):
        path.write_bytes(mutate(content, rng))
        found = read(path)
        if found is not None:
            survived += 1
            assert answers(found, NEW) == said
    assert survived < 100


@pytest.mark.parametrize("number", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_command_says_one_sentence(number, whole, tmp_path):
    rng, runner, command = np.random.default_rng(21), CliRunner(), get_command(app)
    path, new = tmp_path / "model.definetti", tmp_path / "new.csv"
    new.write_text("carried\nhat\n")
    failed = 0
    for turn in range(number):
        path.write_bytes(mutate(whole[0], rng))
        asked = ["predict", str(new), "--observation-columns", "carried", "--model", str(path)]
        done = runner.invoke(command, asked if turn % 2 else ["inspect", str(path)])
        assert done.exit_code in (0, 2), done.exception
        if done.exit_code:
            failed += 1
            assert isinstance(done.exception, SystemExit)
            lines = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
            assert len(lines) == 1
            assert lines[0].startswith(f"definetti: {path}")
    assert failed > 0.8 * number


def repacked(content, change):
    """Write a file anew with other contents, and the checksums that go with them."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(parts.pop("manifest.json"))
    manifest = change(manifest, parts) or manifest
    if isinstance(manifest, dict) and "parts" in manifest:
        manifest["parts"] = {
            name: {"bytes": len(one), "sha256": sha256(one).hexdigest()}
            for name, one in parts.items()
        }
    text = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, one in {"manifest.json": text, **parts}.items():
            archive.writestr(zipfile.ZipInfo(name), one)
        archive.comment = sha256(text).hexdigest().encode()
    return made.getvalue()


def test_repacked_unchanged_it_loads(whole, tmp_path):
    path = tmp_path / "model.definetti"
    path.write_bytes(repacked(whole[0], lambda manifest, parts: None))
    assert answers(read(path), NEW) == whole[1]


def npy(shape, size=8, dtype="<i8"):
    head = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + b"\0" * size


def with_part(content):
    def change(manifest, parts):
        parts["1.npy"] = content

    return change


def with_object(node):
    def change(manifest, parts):
        manifest["object"] = node

    return change


def later(manifest, parts):
    manifest.update(version=VERSION + 1, made_by={"definetti": "9.1"})


def many(manifest, parts):
    parts.update({f"{k}.npy": b"" for k in range(100, 10_200)})


def lists(depth):
    return b'{"object": ' + b"[" * depth + b"]" * depth + b"}"


HOSTILE = {
    "a later version": (later, "fit and save the model again"),
    "an array that claims a terabyte": (with_part(npy((2**37,))), "of another size"),
    "an array of negative length": (with_part(npy((-1, -1))), "another size"),
    "an empty array without end": (with_part(npy((0, 2**40), 0)), "bytes of memory, which"),
    "an array of objects": (with_part(npy((1,), dtype="|O")), "which no file of ours holds"),
    "a header without end": (with_part(npy((1,) * 9000, 8)), "is no array"),
    "a pickle": (with_part(b"\x80\x04cos\nsystem\n(S'true'\ntR."), "is no array"),
    "values without end": (lambda *_: lists(100_000), "more than 200 deep"),
    "a large text": (lambda *_: b'{"a": "' + b"a" * 2**25 + b'"}', "with a manifest"),
    "many parts": (many, "parts, more than"),
    "a thing that is not in the table": (with_object({"thing": ["os.system", {}]}), "not know"),
    "a value of no form": (with_object({"__reduce__": ["os.system"]}), "does not know"),
    "no object": (with_object(None), "holds no model"),
    "a list": (lambda *_: b"[]", "is no table"),
    "no JSON": (lambda *_: b"{", "damaged"),
    "a number that is none": (lambda *_: b'{"version": NaN}', "NaN"),
    "a whole number without end": (with_object(int("9" * 4000)), "has 4,000 digits"),
}


@pytest.mark.slow_cases("values without end")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name, whole, tmp_path):
    change, said = HOSTILE[name]
    path = tmp_path / "model.definetti"
    path.write_bytes(repacked(whole[0], change))
    assert read(path) is None
    with pytest.raises(LoadError, match=said):
        load(path)


def test_archives_of_other_kinds(whole, tmp_path):
    path = tmp_path / "model.definetti"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:  # a bomb
        archive.writestr("manifest.json", b" " * 30_000_000)
        archive.comment = b"0" * 64
    with pytest.raises(LoadError, match="packed in another way"):
        load(path)
    assert read(path) is None
    # Two entries that share bytes: what is read would be more than the file has.
    text = whole[0]
    with zipfile.ZipFile(io.BytesIO(text)) as archive:
        entries = archive.infolist()
    begin = text.index(b"PK\x01\x02")
    large = max(entries, key=lambda one: one.file_size)
    doubled = text[:begin]
    for _ in range(200):
        doubled += struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, large.CRC,
                               large.file_size, large.file_size, 5, 0, 0, 0, 0, 0, 0)  # fmt: skip
        doubled += b"a.npy"
    index = len(doubled) - begin
    doubled += struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 200, 200, index, begin, 64) + b"0" * 64
    path.write_bytes(doubled)
    with pytest.raises(LoadError):
        load(path)
    assert read(path) is None


@pytest.mark.parametrize(
    "content", [b"", b"state,seen\nsun,1\n", b"PK\x03\x04", b"PK\x05\x06" + b"\0" * 18]
)
def test_files_of_others(content, tmp_path):
    path = tmp_path / "days.csv"
    path.write_bytes(content)
    for ask in (load, read_manifest):
        with pytest.raises(LoadError, match="is no file that definetti wrote"):
            ask(path)


def test_no_files(tmp_path):
    with pytest.raises(LoadError, match="a folder, a pipe or a device"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LoadError, match="a folder, a pipe or a device"):
        load(tmp_path / "pipe")


def test_kinds_of_columns_that_are_no_mapping(whole, tmp_path):
    def change(manifest, parts):
        for place in nodes(manifest["object"]):
            if place[-4:] == ("kinds", "thing", 1, "kinds"):
                put(manifest["object"], place, [0])
                return

    path = tmp_path / "model.definetti"
    path.write_bytes(repacked(whole[0], change))
    with pytest.raises(LoadError, match="what is observed"):
        load(path)


def nodes(tree, place=()):
    """Yield the places of all values in JSON."""
    yield place
    if isinstance(tree, (dict, list)):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from nodes(value, (*place, key))


def put(tree, place, value):
    for key in place[:-1]:
        tree = tree[key]
    tree[place[-1]] = value


def spoil(rng):
    """Return a change of one value of a manifest, or of one number of an array."""
    values = [None, -1, 2**40, 0.5, "a", [], {"tuple": []}, {"array": "1.npy"}, {"dict": []}, True]

    def change(manifest, parts):
        if rng.random() < 0.5:
            places = [place for place in nodes(manifest["object"]) if place]
            value = values[rng.integers(len(values))]
            put(manifest["object"], places[rng.integers(len(places))], value)
        else:
            name = sorted(parts)[rng.integers(len(parts))]
            made, content = np.load(io.BytesIO(parts[name])), io.BytesIO()
            at = int(rng.integers(made.size)) if made.size else 0
            if rng.random() < 0.5 and made.size:
                made.flat[at] = np.iinfo(made.dtype).max if made.dtype.kind in "iu" else np.nan
            else:
                made = made[: at // max(made[:1].size, 1)]
            np.save(content, made)
            parts[name] = content.getvalue()

    return change


@pytest.mark.parametrize("number", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_what_becomes_an_index_is_looked_at(number, whole, tmp_path):
    """Files with right checksums and wrong contents: refused, or as harmless as a wrong model."""
    path, loaded, change = tmp_path / "model.definetti", 0, spoil(np.random.default_rng(22))
    for _ in range(number):
        path.write_bytes(repacked(whole[0], change))
        found = read(path)
        if found is not None:
            loaded += 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with suppress(ValueError, TypeError, OverflowError):
                    found.predict_set(NEW)
    assert loaded < number / 2


@pytest.mark.slow_cases("60-full")
@pytest.mark.parametrize("symmetry", ["full", Spaced(recent=5)])
@pytest.mark.parametrize("number", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_monitors_with_wrong_contents(number, symmetry, tmp_path):
    """The same of a monitor, which goes on with counts and bets of its own."""
    y, x = weather(120, random_state=5)
    cp = ConformalHMM(symmetry=symmetry, random_state=1).fit(y[:60], x[:60])
    monitor = Monitor(cp, parts=["transitions", "whole window", "visits"], random_state=2)
    list(monitor.run(y[60:], x[60:]))
    monitor.observe(y[0])
    path, loaded, change = tmp_path / "state.definetti", 0, spoil(np.random.default_rng(23))
    monitor.save(path)
    content = path.read_bytes()
    assert load(path).label(x[0])[0].p_values == monitor.label(x[0])[0].p_values
    for _ in range(number):
        path.write_bytes(repacked(content, change))
        found = read(path)
        if found is not None:
            loaded += 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with suppress(ValueError, TypeError, OverflowError):
                    found.label(x[0])
                    list(found.run(y[:20], x[:20]))
    assert loaded < number
