"""Forward–backward results of one matrix and dense log-likelihoods."""

import numpy as np

from definetti.data.history import Windows
from definetti.models.forward_backward import Chain, ChainWindows


class GivenChain(Chain):
    """A chain with log-likelihoods, ``(B, h, n)``, for the windows that it is asked about."""

    def __init__(self, transition, log_likelihood, start):
        windows, steps, n = log_likelihood.shape
        self.given = ChainWindows(
            np.asarray(transition)[None],
            np.zeros(windows, dtype=np.int64),
            log_likelihood.reshape(-1, n),
            np.arange(windows * steps).reshape(windows, steps),
            start,
        )

    def seen(self, windows):
        return self.given

    def windows(self, states=None):
        return Windows(
            self.given.start, self.given.codes if states is None else states, self.given.codes
        )


def filtering(*model):
    chain = GivenChain(*model)
    return chain.filtering(chain.windows())


def smoothing(*model):
    chain = GivenChain(*model)
    return chain.smoothing(chain.windows())


def pairwise(*model):
    chain = GivenChain(*model)
    return chain.pairwise(chain.windows())


def joint(transition, log_likelihood, start, states, order):
    chain = GivenChain(transition, log_likelihood, start)
    return chain.joint(chain.windows(states), order)


def log_posterior(transition, log_likelihood, start, states):
    chain = GivenChain(transition, log_likelihood, start)
    return chain.log_posterior(chain.windows(states))
