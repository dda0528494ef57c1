"""Experiments on data that nobody simulated; run from a checkout, not installed."""
