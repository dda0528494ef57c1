"""Fitted hmmlearn models, by what they are estimated to be."""

from __future__ import annotations

from typing import Any

from definetti.exceptions import LoadError
from definetti.saving.forms import Form

CHAIN = ("startprob_", "transmat_", "n_features")
# The law of the observations. How the fit went is left out: nothing is predicted by it.
LAWS = {
    "CategoricalHMM": ("emissionprob_",),
    "GaussianHMM": ("means_", "_covars_"),
    "GMMHMM": ("weights_", "means_", "covars_"),
    "MultinomialHMM": ("emissionprob_",),
    "PoissonHMM": ("lambdas_",),
}


class Hmmlearn(Form):
    """A model of hmmlearn, one of those that it has itself."""

    tag = "hmmlearn"

    def takes(self, value: Any) -> bool:
        kind = type(value)
        return kind.__module__ == "hmmlearn.hmm" and kind.__name__ in LAWS

    def write(self, value: Any, writer: Any, where: str) -> list[Any]:
        name = type(value).__name__
        own, params = vars(value), value.get_params()
        kept = {key: own[key] for key in (*CHAIN, *LAWS[name]) if key in own}
        return [name, writer.write(params, where), writer.write(kept, where)]

    def read(self, node: Any, reader: Any) -> Any:
        name, params, kept = node[0], reader.read(node[1]), reader.read(node[2])
        if name not in LAWS or not set(kept) <= {*CHAIN, *LAWS[name]}:
            raise LoadError("holds an hmmlearn model of a kind that is not known")
        try:
            from hmmlearn import hmm
        except ImportError:
            raise LoadError("holds an hmmlearn model; pip install hmmlearn to load it") from None
        made = getattr(hmm, name)(**params)
        made.__dict__.update(kept)
        return made
