"""Files of the present format version, with what they answered when they were written.

``python -m tests.saving.golden`` writes those of the present version that are not there, with what
they answer. Files that are there are never written again: that they can be read is what is tested.
"""

import json
from pathlib import Path

import numpy as np

from definetti import HMM, ConformalHMM, ConformalSequences, Monitor, load
from definetti.emissions import Categorical, Gaussian, Mixed, Poisson
from definetti.saving.files import VERSION
from definetti.simulate import weather
from definetti.symmetry import Full, Spaced

FOLDER = Path(__file__).parent / "golden"
Y, X = weather(60, random_state=3)
NEW = {
    "refitted": [{"seen": "hat", "heat": 0.25, "visits": 2}, {"seen": "umbrella", "visits": 0}],
    "fixed": ["hat", "umbrella", "nothing"],
    "chosen": [[1, 2.5], [2, 0.5]],
    "sequences": ["hat", "umbrella", "nothing"],
}


def make():
    """Return an estimator for each name."""
    rng = np.random.default_rng(3)
    rows = [{"seen": one, "heat": float(rng.normal()), "visits": int(rng.integers(4))} for one in Y]
    laws = {"seen": Categorical(), "heat": Gaussian("diagonal"), "visits": Poisson()}
    how = {"random_state": 9, "smoothing": True}
    return {
        "refitted": ConformalHMM(
            HMM(emission=Mixed(laws)), symmetry=Full(0, 99), memory=2,
            states=["sun", "rain", "fog"], confidence_level={"sun": 0.8, None: 0.9}, **how,
        ).fit(rows, X, [20, 40]),
        "fixed": ConformalHMM(train_size=0.5, conformity_score="joint", **how).fit(Y, X),
        "chosen": ConformalHMM(symmetry="departures", **how)
        .fit([[k % 3, k % 4] for k in range(60)], [(one, 1) for one in X])
        .partial_fit([[1, 2]], [("sun", 1)]),
        "sequences": ConformalSequences(confidence_level=0.8).fit(Y, X, [3] * 20),
        "monitor": live(Monitor(
            ConformalHMM(symmetry=Full(n_resamples=99), **how).fit(Y[:20], X[:20]),
            parts=["transitions", "observations", "whole window", "visits"], on_alarm="restart",
            random_state=9, adapt_from="beginning",
        )),
        "monitor-spaced": live(Monitor(
            ConformalHMM(symmetry=Spaced(recent=7), **how).fit(Y[:20], X[:20]), random_state=9,
        )),
    }  # fmt: skip


def live(monitor):
    """Take in some steps, and leave one without a label."""
    list(monitor.run(Y[20:], X[20:]))
    monitor.observe(Y[0])
    return monitor


def answer(name, estimator):
    """Return what an estimator says, as JSON."""
    if name.startswith("monitor"):
        steps = [*estimator.label(X[0]), *estimator.run(Y[1:20], X[1:20])]
        told = [{part: p.hex() for part, p in step.p_values.items()} for step in steps]
        return {"p_values": told, "sizes": [len(step.set) for step in steps],
                "log_capitals": {part: round(one.log_capital, 12)
                                 for part, one in estimator.martingales.items()}}  # fmt: skip
    new = NEW[name]
    if name == "sequences":
        found = estimator.predict_set(new)
        return {"steps": [list(one) for one in found.steps], "limit": round(found.limit, 12)}
    ranks = estimator.predict_ranks(new)
    sets = estimator.predict_p(new)
    return json.loads(
        json.dumps({
            "ranks": [[list(one), list(rank)] for one, rank in ranks.items()],
            "p_values": {str(one): sets.p_value(one).hex() for one in sets.sequences},
        })
    )  # fmt: skip


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, estimator in make().items():
        path = FOLDER / f"{name}-{VERSION}.definetti"
        if not path.exists():
            estimator.save(path)
            said = answer(name, load(path))
            path.with_suffix(".json").write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    main()
