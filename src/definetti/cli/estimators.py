"""Build an estimator, its levels and its memory from options."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

from definetti.cli.errors import BadTable
from definetti.cli.lazy import pl
from definetti.data.labels import piece

if TYPE_CHECKING:
    from definetti.cli.columns import LabelledTable
    from definetti.cli.options import Settings

LONGEST = 100  # characters of --memory; Python refuses to parse numbers of thousands of digits
MOST = 100_000  # candidates that may be listed: the default of the estimator


def read_confidence(text: str, states: Iterable[Hashable]) -> float | dict[Any, float]:
    """Parse a level, or levels by last state: ``N1=0.99,0.8`` has 0.8 for all other states.

    >>> read_confidence("0.9", ["W", "N1"]), read_confidence("N1=0.99,0.8", ["W", "N1"])
    (0.9, {'N1': 0.99, None: 0.8})
    """
    named = {str(label): label for label in states}
    levels: dict[Any, float] = {}
    for part in text.split(","):
        name, equals, level = part.rpartition("=")
        label = named.get(name.strip(), name.strip()) if equals else None
        if label in levels:
            raise ValueError(
                f"--confidence {text}: {name.strip() or 'a level for all others'!r} is given twice"
                "; give each state one level, and one without a name for all others; for several "
                "levels give --confidence several times"
            )
        try:
            levels[label] = float(level)
        except ValueError:
            raise ValueError(
                f"--confidence {text}: {level.strip()!r} is no number; give a level, 0.9, or "
                "levels by the last state with one for all others, N1=0.99,0.8"
            ) from None
    return levels[None] if list(levels) == [None] else levels


def read_confidences(texts: list[str], states: list[Any]) -> list[Any]:
    """Parse the levels of all ``--confidence`` options; refuse repeated levels."""
    levels = [read_confidence(text, states) for text in texts]
    for place, level in enumerate(levels):
        if level in levels[:place]:
            raise ValueError(f"--confidence {texts[place]} is given twice; leave one out")
    return levels


def read_numbers(texts: list[str], states: list[Any]) -> list[Any]:
    """Parse the levels of one backtest: numbers, or a single set of levels by state."""
    levels = read_confidences(texts, states)
    for text, level in zip(texts, levels, strict=True):
        if isinstance(level, dict) and len(levels) > 1:
            raise ValueError(
                f"--confidence {text} has levels by state, which need a run of their own; leave "
                "the other --confidence out"
            )
    return levels


def write_level(level: float | dict[Any, float]) -> float | str:
    """Return a level as a number, or levels by state as text."""
    if not isinstance(level, dict):
        return level
    return ",".join(
        f"{value:g}" if name is None else f"{name}={value:g}" for name, value in level.items()
    )


def list_levels(confidence_level: Any, states: Iterable[Hashable]) -> list[float]:
    """Return the level of each state."""
    from definetti.levels import read_levels

    return [float(1 - alpha) for alpha in read_levels(confidence_level).alphas(states)]


def name_levels(confidence_level: Any, states: Iterable[Hashable]) -> float | dict[str, float]:
    """Return levels for JSON: a number, or a dict of levels by the names of states."""
    from definetti.evaluation.results import names_of

    if not isinstance(confidence_level, dict):
        return float(confidence_level)
    labels = tuple(dict.fromkeys(states))
    return dict(zip(names_of(labels), list_levels(confidence_level, labels), strict=True))


def make_classifier(name: str, columns: pl.DataFrame | None, seed: int) -> Any:
    """Return a scikit-learn pipeline that classifies rows of numbers and symbols."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    if columns is None:
        raise BadTable(
            "--classifier learns from observations, and no column is observed; name some with "
            "--observation-columns, or leave --classifier out"
        )
    last = {
        "random-forest": RandomForestClassifier(min_samples_leaf=5, random_state=seed),
        "logistic": LogisticRegression(max_iter=1000),
        "gradient-boosting": HistGradientBoostingClassifier(random_state=seed),
    }[name]
    numbers = [column for column, kind in columns.schema.items() if kind.is_numeric()]
    symbols = [column for column in columns.columns if column not in numbers]
    filled = make_pipeline(SimpleImputer(), StandardScaler())
    counted = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(make_column_transformer((counted, symbols), (filled, numbers)), last)


def find_train_size(settings: Settings, data: LabelledTable, steps: int, lag: int) -> Any:
    """Return --train-size, or half of the rows where a model has to be fixed.

    With "departures" the number of rows is not fixed in advance, so half of it is undefined.
    """
    from definetti.engine.task import is_long

    if settings.train_size is not None or settings.symmetry == "departures":
        return settings.train_size
    stepwise = settings.guarantee.value != "all"
    needed = stepwise or 0 < data.new_rows < steps or lag > 0 or settings.classifier is not None
    return 0.5 if needed or is_long(len(set(data.states)), steps, MOST) else None


def make_estimator(
    settings: Settings, data: LabelledTable, steps: int, lag: int = 0, series: str = "own"
) -> Any:
    """Return the unfitted estimator that the options describe, for up to `steps` steps."""
    from definetti.cli.columns import as_frame
    from definetti.conformal import ConformalHMM
    from definetti.sets import Errors

    guarantee, model, train_size = settings.guarantee.value, "auto", settings.train_size
    check_errors(guarantee, settings.max_errors, steps - lag)
    if series == "own":  # a model of other series is always fixed
        train_size = find_train_size(settings, data, steps, lag)
        if train_size != settings.train_size:
            data.notes.append("the model is fixed on the first half of the rows (--train-size 0.5)")
    if settings.classifier is not None:
        data.observations, data.new = as_frame(data.observations), as_frame(data.new)
        model = make_classifier(settings.classifier.value, data.observations, settings.seed)
    return ConformalHMM(
        model, conformity_score=settings.score, symmetry=settings.symmetry,
        memory=read_memory(settings.memory),
        confidence_level=read_confidence(settings.confidence[0], data.states),
        guarantee=Errors(settings.max_errors) if guarantee == "errors" else guarantee,
        states=read_labels(settings.states, data.states), train_size=train_size,
        smoothing=settings.smoothing, allow_empty=settings.allow_empty,
        random_state=settings.seed,
    )  # fmt: skip


def fit_table(cp: Any, table: LabelledTable) -> Any:
    """Fit an estimator to labelled rows, and set the time of the last row."""
    cp.fit(table.observations, table.states, table.lengths)
    cp._data.clock = table.clock
    return cp


def read_labels(text: str | None, known: list[Any]) -> list[Any] | None:
    """Parse comma-separated states as labels of the same type as in the rows.

    >>> read_labels("W,N1,N2", ["W", "N1"]), read_labels("1, 2, 3", [1, 2]), read_labels(None, [])
    (['W', 'N1', 'N2'], [1, 2, 3], None)
    """
    if text is None:
        return None
    named = {str(label): label for label in known}
    number = all(type(label) is int for label in known)
    labels = [named.get(word.strip(), word.strip()) for word in text.split(",") if word.strip()]
    read = [
        int(label) if number and str(label).lstrip("-").isdecimal() else label for label in labels
    ]
    missing = [label for label in named.values() if label not in read]
    if missing:
        raise ValueError(
            f"--states {text} leaves out {missing[0]!r}, which rows have; name all states there "
            "can be, or leave --states out"
        )
    return read


def cut_new(data: LabelledTable, steps: int) -> tuple[Any, int | None]:
    """Return the first `steps` new observations, and the horizon if it exceeds them."""
    new = None if data.new is None else piece(data.new, 0, min(steps, data.new_rows))
    return new, None if new is not None and len(new) == steps else steps


def read_memory(text: str) -> Any:
    """Parse a memory: an order, a name, or an age with its cap.

    >>> read_memory("2"), read_memory("observation"), read_memory("age:20")
    (2, 'observation', Age(most=20))
    """
    from definetti.memory import Age

    if len(text) > LONGEST:
        raise ValueError(f"--memory {text[:LONGEST]}… is too long; name a memory, such as 2 or age")
    if text.isdecimal():
        return int(text)
    name, colon, most = text.partition(":")
    if colon and name == Age.known_as and most.isdecimal() and int(most):
        return Age(int(most))
    return text


def write_memory(memory: Any) -> str:
    """Write a memory in the format of `read_memory`."""
    from definetti.memory import Age, Order

    if isinstance(memory, Order):
        return str(memory.k)
    most = memory.most if isinstance(memory, Age) else None
    name = memory if isinstance(memory, (int, str)) else memory.known_as
    return str(name) if most is None else f"{name}:{most}"


def check_errors(guarantee: str, max_errors: int, steps: int) -> None:
    """Refuse --max-errors without --guarantee errors, or as large as the number of steps."""
    if max_errors and guarantee != "errors":
        raise ValueError(
            f"--max-errors {max_errors} is for --guarantee errors, and the guarantee is "
            f"{guarantee!r}; add --guarantee errors, or leave --max-errors out"
        )
    if max_errors >= steps:
        few = "the one step" if steps == 1 else f"all {steps} steps"
        raise ValueError(
            f"--guarantee errors with --max-errors {max_errors} lets {few} be wrong, so nothing is "
            f"guaranteed; give --max-errors {steps - 1} at most, or more steps with --horizon"
        )


def check_lag(lag: int, steps: int) -> None:
    """Refuse a lag that leaves no step to predict."""
    if lag >= steps:
        raise ValueError(
            f"--lag {lag} leaves none of {steps} steps to predict; give --lag {steps - 1} at most, "
            "or more steps with --horizon"
        )
