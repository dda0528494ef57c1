"""The package as one meets it: `import definetti` costs nothing, and leads to every room."""

import os
import subprocess
import sys
from pathlib import Path

import definetti

SOURCE = str(Path(definetti.__file__).parents[1])
HERE = Path(definetti.__file__).parent
ROOMS = {
    path.stem
    for path in (*HERE.glob("*.py"), *(file.parent for file in HERE.glob("*/__init__.py")))
    if not path.name.startswith("_")
}


def run(script, *arguments):
    """Run a script in a process that has imported nothing yet, and return what it prints."""
    path = os.pathsep.join([SOURCE, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_there_are_rooms():
    assert {"conformal", "data", "models", "report", "sets", "verify"} <= ROOMS


def test_importing_the_package_imports_no_other():
    started = "import sys; before = set(sys.modules); import definetti; "
    told = "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    found = set(run(started + told))
    assert found - set(sys.stdlib_module_names) == {"definetti"}


def test_an_estimator_is_made_without_what_takes_long_to_import():
    """A compiler, say, which is there as soon as something is to be compiled."""
    script = """
import sys
from definetti import ConformalHMM

ConformalHMM(random_state=0)
print(*{name.partition(".")[0] for name in sys.modules})
"""
    assert not {"numba", "llvmlite", "scipy", "sklearn", "joblib", "matplotlib"} & set(run(script))


def test_an_attribute_asks_for_its_room_and_for_no_other():
    """Rooms import one another, so that a name may be there for another's sake: not here."""
    script = """
import sys
import definetti

definetti.import_module = lambda name: name
for room in sys.argv[1:]:
    assert room not in vars(definetti), room
    print(getattr(definetti, room))
"""
    assert run(script, *sorted(ROOMS)) == [f"definetti.{room}" for room in sorted(ROOMS)]


def test_every_room_and_every_name_is_an_attribute_after_one_import():
    script = """
import sys
import definetti

for name in dir(definetti):
    found = getattr(definetti, name)
    if name in sys.argv:
        assert found is sys.modules[f"definetti.{name}"], name
        print(name)
for name in definetti.__all__:
    assert getattr(definetti, name).__name__ == name, name

assert definetti.HMM is definetti.models.HMM
"""
    assert run(script, *ROOMS) == sorted(ROOMS)


def test_what_is_to_be_had_is_listed_before_it_is_loaded():
    found = run("import definetti; print(*dir(definetti))")
    assert {*ROOMS, *definetti.__all__, "__version__"} <= set(found)
    assert set(definetti.__all__) == set(definetti._HOMES)
    assert not hasattr(definetti, "no_such_room")
