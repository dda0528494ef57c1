"""Pictures on pages: what a block has drawn is put below it, when the pages are built.

A hook of MkDocs. Blocks are run by markdown-exec; whatever figures are open after a block become
images of the page, described by the block's ``alt="..."``, one description a figure, ``|`` between.
"""

from __future__ import annotations

import base64
import html
import io
import logging
import warnings
from typing import Any

import matplotlib

matplotlib.use("Agg")  # before pyplot is loaded: no windows

import matplotlib.pyplot as plt

STYLE = {
    "svg.hashsalt": "definetti",  # the same picture is the same file
    "font.size": 9,
    "axes.titlesize": 10,
    "figure.figsize": (7, 3.2),
}
WIDE, NARROWEST = 700, 520  # pixels; a wide picture is moved sideways rather than shrunk below

log = logging.getLogger("mkdocs.hooks.figures")


def on_config(config: Any) -> Any:
    """Let every Python block that is run go through `drawn`."""
    for fence in config.mdx_configs["pymdownx.superfences"]["custom_fences"]:
        if fence["name"] == "python":
            fence["format"] = _after(fence["format"])
    return config


def _after(run: Any) -> Any:
    def formatted(
        source: str, language: str, css_class: str, options: Any, md: Any, **more: Any
    ) -> Any:
        alts = options["extra"].pop("alt", "").split("|")
        with plt.rc_context(STYLE), warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # as in the tests: a page has none
            page = run(source, language, css_class, options, md, **more)
            return page + type(page)("".join(drawn(alts)))

    return formatted


def drawn(alts: list[str]) -> list[str]:
    """Return the open figures as images, and close them."""
    numbers = plt.get_fignums()
    if len(alts) < len(numbers) or (numbers and not all(alts)):
        log.warning("a block draws %d pictures and has the descriptions %s", len(numbers), alts)
    found = []
    for number, alt in zip(numbers, alts, strict=False):
        figure, file = plt.figure(number), io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None}, transparent=False)
        data = base64.b64encode(file.getvalue()).decode()
        width = round(figure.get_figwidth() * 96)
        least = f"; min-width: {NARROWEST}px" if width > WIDE else ""
        found.append(
            f'<div style="overflow-x: auto"><img src="data:image/svg+xml;base64,{data}" '
            f'alt="{html.escape(alt.strip())}" '
            f'style="width: {width}px{least}"></div>'
        )
    plt.close("all")
    return found
