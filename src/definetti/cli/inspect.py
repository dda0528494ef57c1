"""`definetti inspect`: the contents of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from definetti.cli import options
from definetti.cli.fit import check_there
from definetti.cli.printing import console, print_json

LONGEST = 60  # characters of a value that are shown


def inspect(
    model: Annotated[Path, typer.Argument(help="a file that definetti fit or save wrote")],
    json: options.Json = False,
) -> None:
    """Show the contents of a model file and verify its checksums, without loading it.

    Exit code 2: the file is no model, is cut off, was altered, or has a later version.

    Example: definetti inspect model.definetti
    """
    from definetti.saving.files import read_manifest

    check_there(model)
    found = read_manifest(model)
    if json:
        print_json(found)
    else:
        _show(model, found)


def _show(model: Path, found: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(title=f"{model}: whole, {len(found['parts'])} parts", title_justify="left")
    table.add_column("what")
    table.add_column("value")
    for name, value in list_rows(found):
        table.add_row(name, value)
    console().print(table)


def list_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return a manifest as readable pairs of a name and a value."""
    rows = [("format", f"{found['version']}")]
    made = found.get("made_by")
    for name, version in made.items() if isinstance(made, dict) else ():
        rows.append((f"made by {name}", shorten(version)))
    notes = found.get("notes")
    for name, value in notes.items() if isinstance(notes, dict) else ():
        text = ", ".join(value) if isinstance(value, dict) else shorten(value)
        rows.append((name.replace("_", " "), text))
    kind, fields = name_thing(found.get("object"))
    rows.append(("holds", kind))
    for name, value in fields.items():
        rows += [(f"  {key}", text) for key, text in list_fields(name, value)]
    size = sum(part["bytes"] for part in found["parts"].values())
    rows.append(("size of parts", f"{size:,} bytes"))
    return rows


def list_fields(name: str, value: Any) -> list[tuple[str, str]]:
    """Return the rows of one field; parameters and data have several."""
    if isinstance(value, dict) and isinstance(value.get("dict"), list):
        return [(str(pair[0]), shorten(pair[1])) for pair in value["dict"]]
    kind, fields = name_thing(value)
    if kind == "labelled":
        used = {"model": "model used", "alphabet": "states"}
        return [(text, shorten(fields[key])) for key, text in used.items() if key in fields]
    return [(f"{name.strip('_')} used", shorten(value))]


def name_thing(value: Any) -> tuple[str, dict[str, Any]]:
    """Return the name of an object in a manifest, and its fields."""
    thing = value.get("thing") if isinstance(value, dict) else None
    if isinstance(thing, list) and len(thing) == 2 and isinstance(thing[1], dict):
        return str(thing[0]), thing[1]
    return "", {}


def shorten(value: Any) -> str:
    """Write a value of a manifest in a few characters, objects by their names."""
    kind, fields = name_thing(value)
    if kind:
        inside = ", ".join(f"{name} {shorten(one)}" for name, one in fields.items())
        text = f"{kind} ({inside})" if inside else kind
    elif isinstance(value, list):
        text = ", ".join(map(shorten, value[:LONGEST]))
    elif isinstance(value, dict) and len(value) == 1:
        tag, inner = next(iter(value.items()))
        text = shorten(inner) if tag in ("tuple", "number") else f"a {tag}"
    else:
        text = str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
