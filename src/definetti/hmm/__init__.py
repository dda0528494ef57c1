"""Hidden Markov models, and what else can stand behind a score."""

from definetti.models import HMM, FromHmmlearn, given_hmm

__all__ = ["HMM", "FromHmmlearn", "given_hmm"]
