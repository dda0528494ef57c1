"""Names of the user's own, drawn as they are."""

from __future__ import annotations

# Drawn as nothing: matplotlib leaves out of a legend what begins with an underscore.
NOTHING = "\N{ZERO WIDTH SPACE}"


def escape_name(name: object) -> str:
    r"""Write a name so that matplotlib draws it letter by letter.

    Between two dollar signs it would read a formula, which not every name is.

    >>> print(escape_name("a$b$c"))
    a\$b\$c
    """
    text = str(name).replace("$", r"\$")
    return NOTHING + text if text.startswith("_") else text
