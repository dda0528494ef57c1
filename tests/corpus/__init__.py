"""What the package answers, recorded: sets, p-values, tables, files and pictures' data.

`settings` is the table of what is asked, some fifteen hundred settings: products of short lists.
From the root of the project, with the package installed or ``PYTHONPATH=src``::

    python -m tests.corpus compare            # ask again, and print what differs
    python -m tests.corpus compare lattice    # only settings with this in their name
    python -m tests.corpus list               # the names of the settings
    python -m tests.corpus record             # ask again, and make the answers the record

A change that is to leave the numbers alone is one after which `compare` prints no difference. A
change that is meant to alter some is followed by `record`, and its commit says which and why.
"""
