"""Inference on hidden Markov models, for windows that follow a known state.

All functions take batches of ``B`` windows of ``h`` steps as C-contiguous arrays of ``float64``
and ``int64``. States count from 0 to ``n - 1``; none outside is detected.
"""
