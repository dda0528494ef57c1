"""How fast, against what: `python -m benchmarks` prints every figure, `make bench` runs it."""
