"""A stream lived with: the sets, the labels, the p-values and what is said of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from definetti import HMM, ConformalHMM, Monitor, load
from definetti.conformal.tasks import Origin
from definetti.engine.pvalues import Rank
from definetti.engine.step_counts import PARTS, Stream
from definetti.exceptions import ChangeWarning
from definetti.martingales import CUSUM, Ville
from definetti.monitor.sources import CountsSource, GeneralSource
from definetti.simulate import weather
from definetti.symmetry import Reference, Spaced

Y, X = weather(240, random_state=2)


def fitted(size: int = 60, **settings: Any) -> ConformalHMM:
    return ConformalHMM(**{"symmetry": "full", "random_state": 0, **settings}).fit(
        Y[:size], X[:size]
    )


def live(monitor: Monitor, begin: int = 60, end: int = 120) -> list[Any]:
    return list(monitor.run(Y[begin:end], X[begin:end]))


@pytest.mark.parametrize("symmetry", ["full", "spaced", "returns", Spaced(recent=3)])
@pytest.mark.parametrize("score", ["path", "filter"])
@pytest.mark.parametrize("level", [0.8, {"rain": 0.95, None: 0.6}])
@pytest.mark.parametrize("allow_empty", [False, True])
def test_sets_from_counts_are_those_of_a_prediction(
    symmetry: Any, score: str, level: Any, allow_empty: bool
) -> None:
    cp = fitted(
        symmetry=symmetry, conformity_score=score, confidence_level=level, allow_empty=allow_empty
    )
    monitor = Monitor(cp, random_state=0)
    assert isinstance(monitor._past.source, CountsSource)
    for t in range(60, 100):
        mine, theirs = monitor.observe(Y[t]), cp.predict_set(Y[t : t + 1])
        assert mine == theirs
        assert repr(mine) == repr(theirs)
        assert np.array_equal(mine.all_p_values, theirs.all_p_values)
        monitor.label(X[t])
        cp.partial_fit(Y[t : t + 1], X[t : t + 1])
    assert monitor._past.cp.predict_p(["hat"]) == cp.predict_p(["hat"])


@pytest.mark.parametrize(
    "settings", [{"symmetry": "departures"}, {"train_size": 30}, {"memory": 2}]
)
def test_other_sets_are_the_estimator_s_own(settings: dict[str, Any]) -> None:
    cp = fitted(**{"symmetry": "spaced", **settings})
    monitor = Monitor(cp, random_state=0)
    for t in range(60, 66):
        assert monitor.observe(Y[t]) == cp.predict_set(Y[t : t + 1])
        monitor.label(X[t])
        cp.partial_fit(Y[t : t + 1], X[t : t + 1])


def test_p_values_are_those_of_the_estimator_with_the_same_uniforms() -> None:
    cp = fitted(smoothing=True)
    monitor = Monitor(cp, random_state=3)
    uniforms = np.random.default_rng(3)
    for t in range(60, 110):
        own = uniforms.random(3)
        asked = cp.predict_ranks(Y[t : t + 1])[(X[t],)]
        monitor.observe(Y[t])
        [step] = monitor.label(X[t])
        assert step.p_values["whole window"] == asked.p_value(float(own[2]))
        # One number breaks the ties of the set and of the p-value: they agree.
        assert step.covered == (step.p_values["whole window"] > 0.1)
        cp.partial_fit(Y[t : t + 1], X[t : t + 1])
    assert monitor.p_values["observations"].shape == (50,)
    assert monitor.n_labels == monitor.n_observed == 50


def test_the_general_way_ranks_as_counts_do() -> None:
    """Under a score that counts are not known to tell, the estimator ranks: the same numbers."""
    cp = fitted(model=HMM(), conformity_score="path")
    monitor = Monitor(cp, parts=[*PARTS, "visits"], random_state=0)
    counted = monitor._past.source
    asked = GeneralSource(monitor._past, np.random.default_rng(0), monitor._parts)
    assert len(monitor.parts) == 5
    for state in ("sun", "rain"):
        mine = counted.ranks("hat", counted.code("hat"), state)
        theirs = asked.ranks("hat", 0, state)
        for one, other in zip(mine, theirs, strict=True):
            assert one.greater * other.total == other.greater * one.total
            assert one.equal * other.total == other.equal * one.total


@pytest.mark.slow_cases("observations0-settings0", "observations2-settings2")
@pytest.mark.parametrize(
    ("observations", "settings"),
    [
        ([float(k % 5) + 0.25 * (k % 3) for k in range(60)], {}),
        ([[0.5 * (k % 7), k % 4] for k in range(60)], {"symmetry": "spaced"}),
        ([0.1 * (k % 7) for k in range(60)], {"train_size": 20, "symmetry": "spaced"}),
    ],
)
def test_observations_of_any_kind(observations: list[Any], settings: dict[str, Any]) -> None:
    states = [("a", "b", "b")[(k * k) % 3] for k in range(60)]
    cp = ConformalHMM(**settings, random_state=0).fit(observations[:40], states[:40])
    monitor = Monitor(cp, random_state=0)
    steps = list(monitor.run(observations[40:], states[40:]))
    assert not isinstance(monitor._past.source, CountsSource)
    assert all(len(step.p_values) == 3 for step in steps)
    again = Monitor(cp, random_state=0)
    assert [s.p_values for s in again.run(observations[40:], states[40:])] == [
        s.p_values for s in steps
    ]


def test_data_frames_row_by_row() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {"wind": [0.5 * (k % 5) for k in range(60)], "wet": [k % 2 for k in range(60)]}
    )
    cp = ConformalHMM(random_state=0).fit(frame[:50], X[:50])
    monitor = Monitor(cp, random_state=0)
    assert len(list(monitor.run(frame[50:], pl.Series(X[50:60])))) == 10


def test_a_plain_chain_has_one_part() -> None:
    cp = ConformalHMM(symmetry="full", random_state=0).fit(None, X[:60])
    monitor = Monitor(cp, random_state=0)
    for t in range(60, 80):
        assert monitor.observe() == cp.predict_set(horizon=1)
        monitor.label(X[t])
        cp.partial_fit(None, X[t : t + 1])
    assert monitor.parts == ("transitions",)
    with pytest.raises(ValueError, match="observations=None"):
        monitor.observe("hat")


def test_a_generator_of_rows() -> None:
    monitor = Monitor(fitted(), random_state=0)
    steps = list(monitor.run((y for y in Y[60:70]), iter(X[60:70])))
    assert [step.state for step in steps] == X[60:70]


def test_late_labels_are_bridged_where_that_is_exact() -> None:
    cp = fitted(120, symmetry="spaced", train_size=40)
    monitor = Monitor(cp, random_state=0)
    monitor.observe(Y[120])
    monitor.observe(Y[121])
    present = monitor.observe(Y[122])
    assert present == cp.predict_set(Y[120:123], lag=2)
    steps = monitor.label(X[120:123])
    assert [step.covered for step in steps][2] == (X[122] in present)


def test_late_labels_ask_about_all_steps_since_the_last_label() -> None:
    cp = fitted(120)
    monitor = Monitor(cp, random_state=0)
    monitor.observe(Y[120])
    window = monitor.observe(Y[121])
    assert window == cp.predict_set(Y[120:122])
    first, second = monitor.label(X[120:122])
    assert second.covered == (tuple(X[120:122]) in window)
    assert first.set.horizon == 1
    assert second.set.horizon == 2


def test_labels_so_late_that_nothing_can_be_listed() -> None:
    monitor = Monitor(fitted(max_candidates=7), random_state=0)
    monitor.observe(Y[60])
    monitor.observe(Y[61])
    with pytest.raises(ValueError, match="max_candidates"):
        monitor.observe(Y[62])
    assert monitor.n_observed == 2
    assert monitor.observe(Y[62], predict=False) is None
    steps = monitor.label(X[60:63])
    assert [step.covered for step in steps][2] is None
    assert len(steps[2].p_values) == 3


def test_labels_out_of_order_wait_for_those_before_them() -> None:
    straight, crooked = Monitor(fitted(), random_state=0), Monitor(fitted(), random_state=0)
    for monitor in (straight, crooked):
        for t in range(60, 64):
            monitor.observe(Y[t])
    expected = straight.label(X[60:64])
    assert crooked.label(X[63], time=3) == []
    assert crooked.label(X[61:63], time=1) == []
    assert crooked.n_waiting == 4
    found = crooked.label(X[60])
    assert [s.p_values for s in found] == [s.p_values for s in expected]
    assert crooked.n_waiting == 0


def test_what_cannot_be_labelled() -> None:
    monitor = Monitor(fitted(), random_state=0)
    with pytest.raises(ValueError, match="call observe first"):
        monitor.label("sun")
    monitor.observe("hat")
    with pytest.raises(ValueError, match="call observe first"):
        monitor.label(["sun", "sun"])
    with pytest.raises(ValueError, match="call observe first"):
        monitor.label("sun", time=1)
    monitor.label("sun")
    with pytest.raises(ValueError, match="already"):
        monitor.label("rain", time=0)
    monitor.observe("hat")
    with pytest.raises(ValueError, match=r"skip\(\)"):
        monitor.label(None)
    for time in (-1, "first", 0.5):
        with pytest.raises(ValueError, match="time must be"):
            monitor.label("sun", time=time)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="numbers"):
        monitor.label(3)
    assert monitor.n_labels == 1


def test_a_label_that_never_comes_begins_a_new_segment() -> None:
    monitor = Monitor(fitted(), random_state=0)
    monitor.observe(Y[60])
    monitor.label(X[60])
    monitor.observe(Y[61])
    monitor.skip()
    blank = monitor.observe(Y[62])
    assert len(blank) == 2
    assert "gap" in blank.note
    [step] = monitor.label(X[62])
    assert (step.covered, step.p_values) == (None, {})
    cp = fitted().partial_fit(Y[60:61], X[60:61]).new_segment().partial_fit(Y[62:63], X[62:63])
    for t in range(63, 75):
        assert monitor.observe(Y[t]) == cp.predict_set(Y[t : t + 1])
        monitor.label(X[t])
        cp.partial_fit(Y[t : t + 1], X[t : t + 1])
    assert (monitor.n_skipped, monitor.n_labels) == (1, 14)
    with pytest.raises(ValueError, match="skipped"):
        monitor.label("sun", time=1)


def test_a_gap_in_time() -> None:
    monitor = Monitor(fitted(), random_state=0)
    monitor.observe(Y[60])
    monitor.gap()
    assert (monitor.n_waiting, monitor.n_skipped) == (0, 1)
    states = [*X[61:64], None, *X[65:70]]
    steps = list(monitor.run(Y[61:70], states))
    assert [bool(step.p_values) for step in steps] == [False, True, True, False] + [True] * 4


def test_a_state_and_a_symbol_that_come_up_later() -> None:
    cp = fitted()
    monitor = Monitor(cp, random_state=0)
    monitor.observe("boots")
    [step] = monitor.label("snow")
    assert not step.covered
    cp.partial_fit(["boots"], ["snow"])
    assert monitor.observe("boots") == cp.predict_set(["boots"])
    closed = Monitor(fitted(states=["sun", "rain"]))
    closed.observe("hat")
    with pytest.raises(ValueError, match="known labels"):
        closed.label("snow")


def test_symbols_that_turn_out_to_be_numbers() -> None:
    counts = [k % 3 for k in range(30)]
    cp = ConformalHMM(symmetry="full", random_state=0).fit(counts, X[:30])
    monitor = Monitor(cp, random_state=0)
    assert isinstance(monitor._past.source, CountsSource)
    monitor.observe(1)
    monitor.label(X[30])
    found = monitor.observe(1.5)
    assert isinstance(monitor._past.source, GeneralSource)
    assert found.sequences == cp.partial_fit([1], X[30:31]).predict_set([1.5]).sequences
    assert len(monitor.label(X[31])[0].p_values) == 3


def test_memory_is_bounded_where_asked() -> None:
    whole, brief = Monitor(fitted(), random_state=0), Monitor(fitted(), keep=10, random_state=0)
    expected, found = live(whole), live(brief)
    assert [(s.p_values, s.covered) for s in found] == [(s.p_values, s.covered) for s in expected]
    assert len(brief.p_values["transitions"]) == 10
    assert np.array_equal(brief.history, whole.history[-10:])
    assert (len(brief._log._room) <= 40, len(brief._past._pending)) == (True, 0)
    brief.observe("hat")
    with pytest.raises(ValueError, match="leave keep out"):
        brief.observe("hat")
    with pytest.raises(ValueError, match="keep="):
        Monitor(fitted(symmetry="departures"), keep=10)


def changed(seed: int = 0, length: int = 300) -> tuple[list[int], list[int]]:
    """Draw a sticky chain with a good sensor, then one that hardly stays with a bad one."""
    rng = np.random.default_rng(seed)
    states, seen = [0], []
    for t in range(length):
        stay, right = (0.95, 0.9) if t < length // 2 else (0.4, 0.5)
        states.append(states[-1] if rng.random() < stay else int(rng.integers(3)))
        seen.append(states[-1] if rng.random() < right else int(rng.integers(3)))
    return seen, states[1:]


def restarting(cp: ConformalHMM, begin: str) -> Monitor:
    """Return a monitor that restarts when the law changes."""
    how = {"listen_to": "law", "on_alarm": "restart", "restart_from": begin}
    return Monitor(cp, **how, random_state=1)


def changing(**settings: Any) -> Monitor:
    seen, states = changed()
    cp = ConformalHMM(HMM(), symmetry="full", confidence_level=0.8, random_state=0)
    monitor = Monitor(cp.fit(seen[:50], states[:50]), random_state=1, **settings)
    for _ in monitor.run(seen[50:], states[50:]):
        pass
    return monitor


def test_a_state_that_comes_no_more() -> None:
    rng = np.random.default_rng(5)
    states = [int(rng.integers(4)) for _ in range(600)] + [int(rng.integers(3)) for _ in range(300)]
    seen = [int(rng.random() < 0.3 + 0.1 * state) for state in states]
    cp = ConformalHMM(HMM(), symmetry="full", random_state=0).fit(seen[:50], states[:50])
    found = {}
    for parts in (None, ["visits"]):
        monitor = Monitor(cp, parts=parts, listen_to="law", random_state=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ChangeWarning)
            list(monitor.run(seen[50:], states[50:]))
        found[parts is None] = monitor
    assert sorted(found[False].parts) == [f"visits to {k}" for k in range(4)]
    assert {alert.part for alert in found[False].alarms} == {"visits to 3"}
    assert all(alert.time > 550 for alert in found[False].alarms)
    assert found[False].alarm.log_threshold == pytest.approx(np.log(4 / 0.05))
    assert not found[True].alarms  # the other parts do not see it


def test_rows_and_labels_that_do_not_go_together() -> None:
    monitor = Monitor(fitted(), random_state=0)
    with pytest.raises(ValueError, match="3 rows, and states has 2"):
        list(monitor.run(Y[:3], X[:2]))
    assert monitor.n_observed == 0
    with pytest.raises(ValueError, match="states ended"):
        list(monitor.run(iter(Y[:3]), X[:2]))
    with pytest.raises(ValueError, match="observations ended"):
        list(monitor.run(iter(Y[:2]), iter(X[:3])))
    assert monitor.n_labels == 4


@pytest.mark.parametrize("parts", [3, [], ["roulette"], ["visits", "visits"], "observations"])
def test_parts_that_are_none(parts: Any) -> None:
    with pytest.raises(ValueError, match="leave it out"):
        Monitor(ConformalHMM(symmetry="full").fit(None, X[:60]), parts=parts)


def test_levels_adapt_from_the_beginning_and_through_restarts() -> None:
    monitor = changing(on_alarm="restart", adapt_from="beginning")
    assert monitor.adaptive.n_labels == 250  # a restart loses none
    assert len(monitor.alarms) == 1
    assert monitor.promise.startswith("the level adapts:")
    assert not monitor.observe(1).exact


def test_an_alarm_warns() -> None:
    with pytest.warns(ChangeWarning, match="at most 0.05"):
        monitor = changing(listen_to="law")
    first = monitor.alarms[0]
    assert first.time > 100
    assert first.log_statistic >= first.log_threshold == pytest.approx(np.log(60))
    assert first.part in monitor.parts


def test_a_restart_is_a_history_that_begins_with_the_alarm() -> None:
    monitor = changing(on_alarm="restart")
    seen, states = changed()
    assert len(monitor.alarms) == 1
    time = monitor.alarms[0].time
    assert "exact again" in monitor.promise
    assert f"step {time}" in monitor.promise
    cp = ConformalHMM(HMM(), symmetry="full", confidence_level=0.8, states=range(3), random_state=0)
    # The observation at the alarm helped to raise it.
    cp._fit_from(seen[50 + time :], states[50 + time :], None, Origin(omits_first=True))
    assert monitor.observe(1) == cp.predict_set([1])
    capital = monitor.martingales["whole window"].log_capital
    since = monitor.log_capitals["whole window"][time + 1 :]
    assert since[-1] == capital
    assert abs(since[0]) < 1


def test_a_restart_at_the_change_says_that_it_is_approximate() -> None:
    monitor = changing(on_alarm="restart", restart_from="change", alarm=CUSUM(run_length=1000))
    assert "approximately" in monitor.promise
    assert "restarted" in monitor.alarms[0].done
    assert 60 < monitor._past.since <= monitor.alarms[0].time


def test_levels_adapt_after_an_alarm() -> None:
    monitor = changing(on_alarm="adapt", adaptive="aci", alarm=Ville(alpha=0.1))
    assert monitor.adaptive.n_labels == 249 - monitor.alarms[0].time
    assert "adapts" in monitor.promise
    found = monitor.observe(1)
    assert not found.exact
    assert monitor.adaptive.n_issued == monitor.adaptive.n_labels + 1
    monitor.skip()
    assert not monitor.adaptive.waiting


def test_each_argument_is_checked() -> None:
    cp = fitted()
    with pytest.raises(ValueError, match="on_alarm"):
        Monitor(cp, on_alarm="panic")
    with pytest.raises(ValueError, match="martingale"):
        Monitor(cp, martingale="roulette")
    with pytest.raises(ValueError, match="keep"):
        Monitor(cp, keep=0)
    assert Monitor(cp, keep=2**70).keep >= 2**31 - 1  # more than any stream has
    with pytest.raises(TypeError, match="ConformalHMM"):
        Monitor("cp")  # type: ignore[arg-type]


def test_the_estimator_is_left_alone() -> None:
    cp = fitted()
    before = cp.predict_p(["hat"])
    live(Monitor(cp, random_state=0))
    assert cp.n_steps_ == 60
    assert cp.predict_p(["hat"]) == before


def test_coverage_is_counted_by_state() -> None:
    monitor = Monitor(fitted(), random_state=0)
    steps = live(monitor)
    assert monitor.coverage.overall.held == sum(step.covered for step in steps)
    rain = monitor.coverage.by_state["rain"]
    assert rain.judged == X[60:120].count("rain")
    assert 0 <= rain.low <= rain.share <= rain.high <= 1


def test_p_values_with_gaps_and_skips_are_independent_and_uniform() -> None:
    """Enumerate: two labels, a gap, then three more; every joint probability is the product."""
    start, transition = (0.4, 0.6), ((0.7, 0.3), (0.45, 0.55))
    emission = ((0.8, 0.2), (0.35, 0.65))
    levels, total = np.array([0.2, 0.55, 1.0]), np.zeros((3, 3, 3, 3))

    def walk(steps: list[tuple[int, int]], chance: float) -> None:
        if len(steps) == 5:
            stream, laws = Stream(2, 2), []
            for t, (state, code) in enumerate(steps):
                if t == 2:
                    stream.new_segment()
                if t not in (0, 1, 2):
                    laws.append([below(rank, levels) for rank in stream.ranks(state, code)])
                stream.learn(state, code)
            for part in range(3):
                total[part] += chance * np.multiply.outer(
                    np.ones(3), np.multiply.outer(laws[0][part], laws[1][part])
                )
            return
        for state in range(2):
            for code in range(2):
                # After the gap the chain has gone on for some steps that nobody saw.
                last = steps[-1][0] if steps else 0
                move = np.array(transition)[last] if steps else np.array(start)
                move = move @ np.array(transition) if len(steps) == 2 else move
                walk([*steps, (state, code)], chance * move[state] * emission[state][code])

    walk([], 1.0)
    law = np.multiply.outer(np.ones(3), np.multiply.outer(levels, levels))
    for part in range(3):
        np.testing.assert_allclose(total[part], law, atol=1e-12)


def below(rank: Rank, levels: np.ndarray) -> np.ndarray:
    return np.clip((levels - rank.greater / rank.total) * rank.total / rank.equal, 0.0, 1.0)


def test_no_warning_without_an_alarm() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        live(Monitor(fitted(), random_state=0))


@pytest.mark.parametrize("keep", [None, 20])
def test_a_saved_monitor_goes_on_to_the_last_bit(keep: int | None, tmp_path: Any) -> None:
    import definetti

    parts = None if keep is None else ["transitions", "visits"]
    monitor = Monitor(fitted(smoothing=True), parts=parts, keep=keep, random_state=0)
    live(monitor, 60, 90)
    monitor.gap()
    live(monitor, 90, 100)
    if keep is None:
        monitor.observe("boots")
        monitor.observe("hat")
        monitor.label(X[101], time=monitor.n_observed - 1)
    monitor.save(tmp_path / "m.definetti")
    again = definetti.load(tmp_path / "m.definetti")
    for one in (monitor, again):
        if keep is None:
            one.label("snow")
    mine, theirs = live(monitor, 110, 150), live(again, 110, 150)
    assert [(s.set, s.p_values, s.covered) for s in mine] == [
        (s.set, s.p_values, s.covered) for s in theirs
    ]
    assert again.coverage.overall == monitor.coverage.overall
    assert np.array_equal(again.history, monitor.history, equal_nan=True)
    monitor.save(tmp_path / "a.definetti")
    again.save(tmp_path / "b.definetti")
    assert (tmp_path / "a.definetti").read_bytes() == (tmp_path / "b.definetti").read_bytes()


@pytest.mark.slow
def test_a_picture_has_capitals_coverage_and_sets(tmp_path: Any) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monitor = changing(on_alarm="restart")
    axes = monitor.plot()
    assert [line.get_label() for line in axes[0].lines][:4] == ["coverage", *monitor.parts]
    again = monitor.plot(axes)
    assert again is axes
    assert len(axes[0].lines) == 7  # four capitals, two thresholds, one alarm
    axes[0].figure.savefig(tmp_path / "monitor.png")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChangeWarning)
        many = changing(alarm=CUSUM(10_000), parts=[*PARTS, "visits"])
    told = [line.get_label() for line in many.plot()[0].lines]
    assert told[: 1 + len(many.parts)] == ["coverage", *many.parts]
    assert any("grown" in label for label in told[1 + len(many.parts) :])
    matplotlib.pyplot.close("all")


def test_symbols_met_without_a_label_are_in_the_file(tmp_path):
    """The monitor meets symbols in another order than its estimator, which learns labelled ones."""
    cp = ConformalHMM(symmetry="full", random_state=0).fit(list("abab"), [0, 1, 0, 1])
    monitor = Monitor(cp, random_state=0)
    monitor.observe("c")
    monitor.skip()
    monitor.observe("d")
    monitor.label(0)
    monitor.save(tmp_path / "on.definetti")
    again = load(tmp_path / "on.definetti")
    for symbol, state in zip("abdcea", [0, 1, 1, 0, 1, 0], strict=True):
        assert monitor.observe(symbol).sequences == again.observe(symbol).sequences
        assert monitor.label(state)[0].p_values == again.label(state)[0].p_values


def test_a_second_restart_looks_for_the_change_since_the_first():
    rng, x = np.random.default_rng(1), [0]
    for t in range(3300):
        stays = 0.5 if 2100 <= t < 3100 else 0.95
        x.append(x[-1] if rng.random() < stays else 1 - x[-1])
    cp = ConformalHMM(symmetry="full", random_state=0).fit(None, x[:100])
    monitor = restarting(cp, "change")
    begun = []
    for state in x[100:]:
        monitor.observe()
        if monitor.label(state)[0].alerts:
            begun.append(monitor._past.since)
    assert len(begun) == 2
    assert abs(begun[0] - 2000) < 50
    assert abs(begun[1] - 3000) < 50


def test_a_restart_counts_steps_that_were_skipped():
    rng, x = np.random.default_rng(1), [0]
    for t in range(1000):
        x.append(x[-1] if rng.random() < (0.95 if t < 600 else 0.5) else 1 - x[-1])
    cp = ConformalHMM(symmetry="full", random_state=0).fit(None, x[:100])
    monitor = restarting(cp, "change")
    for k, state in enumerate(x[100:]):
        monitor.observe()
        if k % 7 == 3:
            monitor.skip()
            continue
        if monitor.label(state)[0].alerts:
            break
    kept = len(monitor._past.rows)
    assert kept > 7
    assert monitor._past.since == k - kept + 1 - sum(
        j % 7 == 3 for j in range(monitor._past.since, k + 1)
    )


@pytest.mark.parametrize(
    ("symmetry", "says"),
    [
        ("full", "exact, if the law stays as it is"),
        ("spaced", "exact, if the law stays as it is"),
        ("departures", "exact by visits to the present state, if the law stays as it is"),
        ("shifts", "nothing is guaranteed: symmetry='shifts' is not exact"),
        ("published", "nothing is guaranteed: symmetry='published' is not exact"),
    ],
)
@pytest.mark.filterwarnings("ignore::definetti.exceptions.NotExactWarning")
def test_the_promise_is_that_of_the_symmetry(symmetry: str, says: str) -> None:
    monitor = Monitor(fitted(symmetry=symmetry), random_state=0)
    assert monitor.promise == says
    assert monitor.observe("hat").exact == says.startswith("exact")


@pytest.mark.parametrize("symmetry", ["full", "departures", "shifts"])
@pytest.mark.filterwarnings("ignore::definetti.exceptions.NotExactWarning")
def test_the_promise_after_a_restart_is_that_of_the_symmetry(symmetry: str) -> None:
    seen, states = changed()
    cp = ConformalHMM(HMM(), symmetry=symmetry, random_state=0).fit(seen[:50], states[:50])
    for begin in ("alarm", "change"):
        monitor = restarting(cp, begin)
        list(monitor.run(seen[50:], states[50:]))
        words = {"alarm": "exact again", "change": "approximately exact"}[begin]
        words += " by visits to the present state" * (symmetry == "departures")
        words = "nothing is guaranteed" if symmetry == "shifts" else words
        assert monitor.promise.startswith(words)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"symmetry": "departures"},
        {"symmetry": "spaced", "train_size": 20, "max_candidates": 2},
        {"symmetry": "spaced", "train_size": 20, "guarantee": "steps"},
    ],
    ids=str,
)
def test_sets_after_a_restart_at_the_change_guarantee_nothing(settings: dict[str, Any]) -> None:
    seen, states = changed()
    cp = ConformalHMM(HMM(), **{"symmetry": "full", "random_state": 0, **settings})
    cp.fit(seen[:50], states[:50])
    monitor = restarting(cp, "change")
    assert "holding the truth" in repr(monitor.observe(seen[50])) or settings.get("guarantee")
    monitor.label(states[50])
    list(monitor.run(seen[51:], states[51:]))
    assert monitor.alarms
    for late in range(2):  # of one step, and of two since the last label
        found: Any = monitor.observe(seen[late])
        assert not found.exact
        assert "NOT guaranteed" in repr(found)


def test_a_symmetry_derived_from_ours_has_sets_of_its_own() -> None:
    class Latest(Spaced):
        def reference(self, completion: Any, generator: Any) -> Reference:
            ends = super().reference(completion, generator).ends
            assert ends is not None
            return Reference.past(ends[:3])

    cp = fitted(symmetry=Latest())
    monitor = Monitor(cp, random_state=0)
    for y in ("hat", "umbrella"):
        assert monitor.observe(y) == cp.predict_set([y])
        assert monitor._queue.steps[0].set.all_p_values.min() >= 1 / 4
        monitor.skip()
        monitor = Monitor(cp, random_state=0)
