"""Warnings and errors that definetti gives, to be filtered or caught by their class."""


class NotExactWarning(UserWarning):
    """The symmetry asked for does not guarantee the confidence level."""


class GapWarning(UserWarning):
    """Observations are missing where none was before."""


class HoleWarning(GapWarning):
    """Rows are missing: times have a hole, at which a history is cut; or they are irregular."""


class FewBlocksWarning(UserWarning):
    """The labelled history is too short to leave anything out of the set."""


class ChangeWarning(UserWarning):
    """The law of a stream has changed, or the chain is not Markov, at the alarm's error rate."""


class UntrainedStateError(ValueError):
    """The rows that a classifier is trained on lack a state, of which it would know nothing."""


class SaveError(ValueError):
    """Something cannot be written to a file, with what it is and what to do instead."""


class LoadError(ValueError):
    """A file is no saved model, is not whole, was altered, or is of another format version."""
