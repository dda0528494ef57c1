"""Loading takes a bounded multiple of a file's size in memory, whatever the file says.

The bound is `FACTOR` bytes for each byte of the file, and `FLOOR` bytes more. Hostile files are
loaded in a process that may not take more; there they end in a `LoadError`, not a `MemoryError`.
"""

import json
import subprocess
import sys
import tracemalloc
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from tests.making import grouped
from tests.saving.test_broken_files import npy, repacked

from definetti import HMM, ConformalHMM, ConformalSequences, Monitor, load
from definetti._system.files import count_memory
from definetti.emissions import Gaussian, Words
from definetti.exceptions import SaveError
from definetti.levels import AdaptiveLevel
from definetti.martingales import Alarm, Martingale, PlugIn
from definetti.saving import archive, files
from definetti.saving.archive import claim_text, memory_limit
from definetti.simulate import weather

Y, X = weather(2_000, random_state=5)
NUMBERS = np.random.default_rng(0).normal(size=(2_000, 2))
ROOM = (
    2**29
)  # bytes of address space that a process may take to load a hostile file, beside its own


def monitored(**settings):
    cp = ConformalHMM(symmetry="full", random_state=1).fit(Y[:1_500], X[:1_500])
    monitor = Monitor(cp, random_state=2, **settings)
    list(monitor.run(Y[1_500:], X[1_500:]))
    monitor.observe(Y[0])
    return monitor


def fitted(observations, states=X, **settings):
    return ConformalHMM(random_state=0, **settings).fit(observations, states)


FRAME = {"a": NUMBERS[:, 0], "b": Y}
TEXT = [f"the {one} {k % 100}" for k, one in enumerate(Y)]
GROUPS = [k // 50 for k in range(len(Y))]
MODELS = {
    "symbols": lambda: fitted(Y),
    "a plain chain": lambda: fitted(None),
    "a fixed model": lambda: fitted(Y, train_size=0.5),
    "whole numbers": lambda: fitted(np.random.default_rng(0).integers(-100, 100, 2_000).tolist()),
    "lists of numbers": lambda: fitted(NUMBERS.tolist()),
    "arrays": lambda: fitted(NUMBERS, model=HMM(emission=Gaussian())),
    "pandas": lambda: fitted(pd.DataFrame(FRAME)),
    "polars": lambda: fitted(pl.DataFrame(FRAME)),
    "words": lambda: fitted([f"w{k % 700}" for k in range(2_000)], model=HMM(emission=Words())),
    "text": lambda: fitted(
        TEXT, model=make_pipeline(CountVectorizer(), LogisticRegression()), train_size=0.5
    ),
    "tuples for states": lambda: fitted(Y, [(one, 1) for one in X]),
    "a memory": lambda: fitted(Y, memory=2),
    "series": lambda: grouped(random_state=0).fit(Y, X, GROUPS),
    "series of all": lambda: grouped(series="all", train_size=0.5, random_state=0).fit(
        NUMBERS, X, GROUPS
    ),
    "sequences": lambda: ConformalSequences(LogisticRegression(), random_state=0).fit(
        NUMBERS, X, [10] * 200
    ),
    "a monitor": lambda: monitored(parts=["transitions", "whole window", "visits"]),
    "a monitor that adapts": lambda: monitored(
        martingale=PlugIn(), adaptive=AdaptiveLevel.named["dtaci"]()
    ),
    **{f"martingale {name}": made for name, made in Martingale.named.items()},
    **{f"alarm {name}": made for name, made in Alarm.named.items()},
}


@pytest.mark.parametrize("name", MODELS)
def test_saving_counts_what_loading_takes(name, tmp_path, monkeypatch):
    """No less than loading takes, and the same on both sides: what is saved can be loaded."""
    budgets = []

    @contextmanager
    def noted(*limit):
        with count_memory(*limit) as budget:
            yield budget
        budgets.append(budget)

    for module in (files, archive):
        monkeypatch.setattr(module, "count_memory", noted)
    path = tmp_path / "model.definetti"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        thing = MODELS[name]()
    thing.save(path)
    load(path)  # what is imported and compiled is no matter of the file
    tracemalloc.start()
    try:
        load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    saved, _, loaded = budgets
    assert saved.claimed == loaded.claimed
    assert peak <= loaded.claimed + 500_000
    assert loaded.limit == memory_limit(path.stat().st_size)


TEXTS = {
    "empty objects": lambda n: "{}," * n + "{}",
    "empty lists": lambda n: "[]," * n + "[]",
    "objects": lambda n: '{"":0},' * n + "0",
    "objects of objects": lambda n: '{"":{"":[]}},' * n + "0",
    "distinct keys": lambda n: ",".join(f'{{"{k:x}":0}}' for k in range(n)),
    "one large object": lambda n: "{" + ",".join(f'"{k:x}":[]' for k in range(n)) + "}",
    "short texts": lambda n: '"ab",' * n + "0",
    "texts outside ASCII": lambda n: r'"a\ud83d\ude00bcdefghijklmno",' * n + "0",
    "numbers": lambda n: "1.5," * n + "0",
    "whole numbers": lambda n: "1000," * n + "0",
    "tuples": lambda n: '{"tuple":["a",1]},' * n + "0",
    "one text": lambda n: '"' + "a" * 10 * n + r'\ud83d\ude00"',
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_takes_no_more_than_is_claimed(name):
    text = "[" + TEXTS[name](20_000) + "]"
    with count_memory() as budget:
        claim_text(text)
    tracemalloc.start()
    try:
        parsed = json.loads(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert parsed
    assert peak <= budget.claimed / 2


def test_what_could_not_be_loaded_is_not_saved(tmp_path, monkeypatch):
    cp = fitted(Y)
    monkeypatch.setattr(archive, "FLOOR", 0)
    monkeypatch.setattr(archive, "FACTOR", 2)
    with pytest.raises(SaveError, match=r"would take .* bytes of memory when loaded, and a file"):
        cp.save(tmp_path / "model.definetti")
    monkeypatch.setattr(archive, "TEXT_FACTOR", 1)
    with pytest.raises(SaveError, match=r"bytes of text that take .* bytes of memory; give"):
        cp.save(tmp_path / "model.definetti")
    assert not list(tmp_path.iterdir())


# Hostile files.


def part(content, node):
    """Return a change that adds a part, called `x.npy`, and puts a value in the place of all."""

    def change(manifest, parts):
        parts["x.npy"] = content
        manifest["object"] = node

    return change


def text(inside):
    return lambda *_: b'{"format":"definetti","version":3,"parts":{},"object":[' + inside + b"]}"


ARRAY = {"array": "x.npy"}
BYTES, MILLION = npy((2**20,), 2**20, "|i1"), npy((2**17,), 2**20)
LISTED = {"list": {"numbers": "x.npy"}}
CODED = {"list": {"values": ["a" * 2**20], "codes": "x.npy"}}
PLACES = ("thing", 1, "_data", "thing", 1)  # of a labelled sequence, in an estimator


def column(backend, dtype="String"):
    return {"frame": {"backend": backend, "single": False, "columns": [["a", dtype, None, CODED]]}}


def field(name, value, **parts):
    """Return a change of one field of the labelled sequence."""

    def change(manifest, found):
        found.update(parts)
        manifest["object"]["thing"][1]["_data"]["thing"][1][name] = value

    return change


def many_labels(number):
    """An alphabet of labels that never came up: transitions would be counted in a square of it."""
    labels = [f"{k:x}" for k in range(number)]
    return {"thing": ["alphabet", {"labels": {"tuple": labels}}]}


def bets(name, **settings):
    pairs = [[key, value] for key, value in settings.items()]
    fields = {"settings": {"dict": pairs}, "state": ARRAY, "statistics": ARRAY}
    return part(npy((1,)), {"thing": [name, fields]})


FORGED = {
    "2**25 empty rows": part(npy((2**25, 0), 0), {"list": {"arrays": ARRAY}}),
    "2**25 empty rows as numbers": part(npy((2**25, 0), 0), LISTED),
    "2**32 - 1 empty rows": part(npy((2**32 - 1, 0), 0), {"list": {"arrays": ARRAY}}),
    "2**60 empty columns": part(npy((0, 2**60), 0), ARRAY),
    "empty text without end": part(npy((2**25, 0), 0, "<U9999999"), {"list": {"arrays": ARRAY}}),
    "an array of objects without elements": part(b"", {"objects": [[2**30, 0], []]}),
    "one array 3,000 times": part(MILLION, {"tuple": [ARRAY] * 3_000}),
    "one mask 3,000 times": part(
        npy((2**20,), 2**20, "|b1"), {"tuple": [{"masked": [ARRAY, "x.npy"]}] * 3_000}
    ),
    "one list 3,000 times": part(BYTES, {"tuple": [LISTED] * 3_000}),
    "one list of codes 3,000 times": part(
        BYTES, {"tuple": [{"list": {"values": ["a"], "codes": "x.npy"}}] * 3_000}
    ),
    "3,000 columns of one array": part(BYTES, {"list": {"tuple": [LISTED] * 3_000}}),
    "columns of columns": part(
        BYTES, {"list": {"list": [{"list": {"list": [{"list": {"list": [LISTED] * 9}}] * 9}}] * 9}}
    ),
    "a million arrays of one element": part(
        npy((2**20, 1), 2**20, "|i1"), {"tuple": [{"list": {"arrays": ARRAY}}] * 9}
    ),
    "a long text a million times, polars": part(BYTES, column("polars")),
    "a long text a million times, pandas": part(BYTES, column("pandas")),
    "a long text a million times, pyarrow": part(BYTES, column("pyarrow")),
    "a long text a million times, categories": part(BYTES, column("polars", "Categorical")),
    "a square of labels": field("alphabet", many_labels(30_000)),
    "3,000 histories of one array": part(BYTES, None),
    "a martingale of 10**10 bins": bets("martingale plug_in", bins=10**10),
    "an alarm for 10**9 parts": bets("alarm ville", parts=10**9),
    "33 MB of {}": text(b"{}," * 11_000_000 + b"0"),
    "9 MB of []": text(b"[]," * 3_000_000 + b"0"),
    "9 MB of objects": text(b'{"":0},' * 1_300_000 + b"0"),
    "a whole number of 100,000 digits": text(b"9" * 100_000),
    "a number beyond all numbers": text(b"1e400"),
}  # fmt: skip


def histories(manifest, parts):
    """Many labelled sequences, all of one array of a megabyte."""
    parts["x.npy"] = BYTES
    data = manifest["object"]["thing"][1]["_data"]
    data["thing"][1].update(states=ARRAY, observations=ARRAY)
    manifest["object"] = {"tuple": [data] * 3_000}


FORGED["3,000 histories of one array"] = histories


def wide_rows(manifest, parts):
    """No rows, but so wide that a square of their width takes 32 GB."""
    parts["x.npy"], parts["y.npy"] = npy((0, 2**16), 0, "<f8"), npy((2**16,), 2**19, "<f8")
    parts["z.npy"] = npy((len(Y),), 0, "|i1") + b"\xff" * len(Y)  # all are missing
    chunks = {"thing": ["chunks", {"arrays": {"tuple": [ARRAY]}}]}
    rows = {"thing": ["rows", {"chunks": chunks, "width": 2**16, "columns": None, "flat": False}]}
    table = {"thing": ["centred", {"rows": rows, "point": {"array": "y.npy"}}]}
    own = manifest["object"]["thing"][1]["_data"]["thing"][1]
    own.update(table=table, observations={"array": "z.npy"})


def many_counts(manifest, parts):
    """Steps of a monitored stream between so many states and symbols that no memory holds them."""
    counted = dict(manifest["object"]["thing"][1]["counted"]["dict"])
    counted["labels"] = counted["symbols"] = list(range(5_000))
    manifest["object"]["thing"][1]["counted"]["dict"] = [list(pair) for pair in counted.items()]


def node(loader, name, content, **more):
    module = "numpy" if name in ("ndarray", "dtype") else "builtins"
    return {"__class__": name, "__module__": module, "__loader__": loader, "content": content,
            **more}  # fmt: skip


TEXT_NODE = node("JsonNode", "str", '"a"')


def with_attribute(made):
    """Return a change that gives a scikit-learn model one attribute more."""

    def change(manifest, parts):
        name = max(
            (name for name in parts if name.endswith(".json")), key=lambda one: len(parts[one])
        )
        tree = json.loads(parts[name])
        own = tree["content"]
        own["content"]["more"] = made
        own["key_types"]["content"].append(
            {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}
        )
        parts[name] = json.dumps(tree).encode()

    return change


def one_array(manifest, parts):
    """An array of a megabyte that 3,000 nodes of a scikit-learn model name."""
    own = manifest["object"]["thing"][1]["_data"]["thing"][1]["model"]["thing"][1]
    arrays = own["emission"]["thing"][1]["estimator"]["estimator"][1]
    parts["x.npy"] = MILLION
    named = {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode",
             "type": "numpy", "file": f"{len(arrays)}.npy"}  # fmt: skip
    arrays.append("x.npy")
    with_attribute(node("ListNode", "list", [named] * 3_000))(manifest, parts)


def laughs(loader, name):
    """Lists of two lists each, all of which are one: 2**40 elements in all."""
    made = [node("ListNode", "list", [TEXT_NODE] * 2, __id__=10**6)]
    for k in range(1, 40):
        short = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode",
                 "__id__": 10**6 + k - 1, "content": []}  # fmt: skip
        made.append(node("ListNode", "list", [short, short], __id__=10**6 + k))
    last = {**made[-1], "content": made[-1]["content"]}
    return node("ListNode", "list", [*made, node(loader, name, [last, last])])


FORGED_TREES = {
    "lists as text": node("ListNode", "str", [TEXT_NODE]),
    "shared lists as text": laughs("ListNode", "str"),
    "JSON inside of JSON": node("JsonNode", "str", "[" + "{}," * 1_000_000 + "{}]"),
    "deep JSON inside of JSON": node("JsonNode", "str", " [" * 1_000_000),
    "a stub of a node": node("ListNode", "list", [{"__id__": 1}]),
}  # fmt: skip


def test_shared_nodes_are_copied_and_cannot_contain_themselves(tmp_path):
    """Nodes of one number were one object; now each is what it says, and no more."""
    path = tmp_path / "model.definetti"
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    fitted(TEXT, model=model, train_size=0.5).save(path)

    def change(manifest, parts):
        for name in [one for one in parts if one.endswith(".json")]:
            tree = json.loads(parts[name])
            again = {**node("DictNode", "dict", {}), "key_types": node("ListNode", "list", [])}
            tree["__id__"] = again["__id__"] = 7  # the whole model, inside of itself
            own = tree["content"]
            own["content"]["more"] = again
            own["key_types"]["content"].append(
                {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}
            )
            parts[name] = json.dumps(tree).encode()

    path.write_bytes(repacked(path.read_bytes(), change))
    assert load(path)._data.model.emission.estimator.more == {}


LOAD = """
import resource, sys, warnings
warnings.simplefilter("ignore")
import pandas, polars, pyarrow, definetti, skops.io
from definetti.exceptions import LoadError
definetti.load(sys.argv[2])  # which imports whatever loading takes
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = taken + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for path in sys.argv[3:]:
    try:
        definetti.load(path)
        print("loaded", path)
    except LoadError as error:
        print("refused", error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and RLIMIT_AS")
def test_hostile_files_are_refused_in_little_memory(tmp_path):
    whole, rows, stream, classes = (tmp_path / name for name in ("whole", "rows", "stream", "text"))
    fitted(Y).save(whole)
    fitted(NUMBERS, model=HMM(emission=Gaussian())).save(rows)
    monitored().save(stream)
    fitted(NUMBERS, model=LogisticRegression(), train_size=0.5).save(classes)
    forged = {name: (whole, change) for name, change in FORGED.items()}
    forged["wide rows"], forged["many counts"] = (rows, wide_rows), (stream, many_counts)
    forged["one array for 3,000 nodes"] = classes, one_array
    for name, tree in FORGED_TREES.items():
        forged[f"a model with {name}"] = classes, with_attribute(tree)
    paths = []
    for number, (source, change) in enumerate(forged.values()):
        path = tmp_path / f"{number}.definetti"
        path.write_bytes(repacked(source.read_bytes(), change))
        paths.append(path)
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(ROOM), str(classes), *map(str, paths)],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = dict(zip(forged, done.stdout.splitlines(), strict=True))
    assert [name for name, line in said.items() if not line.startswith("refused")] == []
    assert "a sum does not fit the rest" in said["wide rows"]
