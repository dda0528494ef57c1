"""Inference on hidden Markov models whose state before the first step is known."""
