"""Warnings that definetti gives, to be filtered or caught by their class."""


class NotExactWarning(UserWarning):
    """The symmetry asked for does not guarantee the confidence level."""


class GapWarning(UserWarning):
    """Observations are missing where none was before."""


class FewBlocksWarning(UserWarning):
    """The labelled history is too short to leave anything out of the set."""
