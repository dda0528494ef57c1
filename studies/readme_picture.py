"""Draw the picture of the README, a set over time: `python -m studies.readme_picture`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from definetti import ConformalHMM
from definetti.simulate import sample

PICTURE = Path(__file__).parents[1] / "docs" / "set-over-time.png"
STAGES = ["awake", "light", "deep"]
CHAIN = np.array([[0.80, 0.15, 0.05], [0.10, 0.78, 0.12], [0.04, 0.14, 0.82]])
PULSE = np.array([72.0, 63.0, 55.0])


def main() -> None:
    """Predict eighty minutes one by one, and draw pulse, sets and truth."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(5)
    codes = sample(np.array([1.0, 0.0, 0.0]), CHAIN, np.eye(3), 580, rng).states
    pulse = rng.normal(PULSE[codes], 6.0)
    labels = [STAGES[code] for code in codes]
    cp = ConformalHMM(confidence_level=0.9, random_state=0).fit(pulse[:500], labels[:500])
    found = cp.evaluate(pulse[500:], labels[500:], horizon=1)
    order = [list(found.states).index(stage) for stage in STAGES]
    sets = np.asarray(found.nodes)[:, order]

    figure, (above, below) = plt.subplots(
        2, 1, figsize=(8, 3.6), sharex=True, layout="constrained", height_ratios=[1, 1.3]
    )
    minutes = np.arange(80)
    above.plot(minutes, pulse[500:], color="0.25", linewidth=1)
    above.set_ylabel("pulse")
    for level in range(3):
        inside = minutes[sets[:, level]]
        below.bar(inside, 0.8, width=1.0, bottom=level - 0.4, color="#9ecae1")
    below.step(
        minutes, codes[500:], where="mid", color="#d95f02", linewidth=1.8, label="true stage"
    )
    missed = ~np.asarray(found.covered)
    below.plot(minutes[missed], codes[500:][missed], "kx", markersize=8, label="missed")
    below.bar([0], [0], color="#9ecae1", label="prediction set at 90 %")
    below.set(yticks=range(3), yticklabels=STAGES, xlabel="minute", xlim=(-0.5, 79.5))
    below.legend(loc="upper right", ncols=3, fontsize=8)
    below.set_ylim(-0.6, 3.1)
    figure.savefig(PICTURE, dpi=110)
    print(f"{PICTURE.name}: {found.coverage:.3f} covered, {found.size:.2f} stages in a set")


if __name__ == "__main__":
    main()
