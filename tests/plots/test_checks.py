"""Pictures of a diagnosis say what it says."""

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from tests.products import some_slow

mpl.use("agg")
import matplotlib.pyplot as plt

from definetti.check import check
from definetti.plots import plot_residuals, plot_statistic
from definetti.simulate import weather


# Made when they are asked for: whoever only collects tests compiles nothing.
@pytest.fixture(scope="module")
def found():
    return check(*weather(300, random_state=3), n_resamples=99, random_state=0)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    columns = {"$a$": rng.normal(size=200), "_b": rng.integers(0, 3, 200), "c": rng.random(200)}
    return check(
        pl.DataFrame(columns), rng.integers(0, 2, 200), n_resamples=39, random_state=0
    )  # fmt: skip


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("width", [4, 9, 12])
def test_figure_has_all_plots_at_any_width(found, width):
    figure = found.plot(width=width)
    assert figure.get_figwidth() == width
    titles = [ax.get_title() or ax.get_title(loc="left") for ax in figure.axes]
    assert titles[:6] == ["quantiles", "histogram", "autocorrelation"] * 2
    assert [title.split(":")[0] for title in titles[6:]] == list(found.tests)
    figure.canvas.draw()
    boxes = [ax.get_window_extent() for ax in figure.axes]
    assert all(box.width > 60 and box.height > 60 for box in boxes)
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])


@pytest.mark.parametrize(
    "picture", some_slow(["quantiles", "histogram", "autocorrelation"], ["autocorrelation"])
)
def test_plot_shows_the_curve_and_both_bands(found, picture):
    ax = plot_residuals(found, picture, "observations")
    curve = getattr(found.residuals["observations"], picture)
    base = curve.at if picture == "quantiles" else 0.0
    line = next(line for line in ax.lines if line.get_label() == "observed")
    drawn = line.get_ydata()[::2] if picture == "histogram" else line.get_ydata()
    assert drawn == pytest.approx(curve.observed - base)
    for band, bounds in zip(ax.collections, (curve.simultaneous, curve.pointwise), strict=True):
        heights = band.get_paths()[0].vertices[:, 1]
        assert heights.min() == pytest.approx((bounds[0] - base).min())
        assert heights.max() == pytest.approx((bounds[1] - base).max())
    outside = next(line for line in ax.lines if line.get_label() == "outside")
    assert len(outside.get_xdata()) == curve.outside.sum()


def test_statistic_is_drawn_among_its_draws(found):
    for name, one in found.tests.items():
        assert len(one.drawn) == 99
        ax = plot_statistic(found, name)
        bars = sum(bar.get_height() for bar in ax.patches)
        assert bars == 99
        marked = next(line for line in ax.lines if line.get_label() == "observed")
        assert marked.get_xdata()[0] == one.statistic
    # Of one part, the p-value is the share that is as large.
    order = found.tests["order"]
    assert order.p_value == (1 + (np.round(order.drawn - order.statistic, 9) >= 0).sum()) / 100


@pytest.mark.slow
def test_columns_are_found_by_any_name(table):
    assert list(table.residuals) == ["next state", "column $a$", "column _b", "column c"]
    for name in ("$a$", "_b", "column c", "next state"):
        figure = table.plot(name, width=4)
        figure.canvas.draw()
        assert len(figure.axes) == 3 + len(table.tests)
    assert len(table.plot(width=6).axes) == 9 + len(table.tests)
    assert "$" in plot_residuals(table, of="$a$").get_title()


def test_missing_residuals_are_refused_with_a_remedy(found):
    with pytest.raises(ValueError, match="'next state', 'observations'; got 'sky'"):
        found.plot("sky")
    with pytest.raises(ValueError, match="picture must be one of quantiles"):
        plot_residuals(found, "qq")
    with pytest.raises(ValueError, match="test must be one of autocorrelation, drift"):
        plot_statistic(found, "ordre")
    bare = check(None, list("aabab" * 9), n_resamples=19, pictures=False, random_state=0)
    assert len(bare.plot().axes) == len(bare.tests)
    with pytest.raises(ValueError, match="pictures=True"):
        plot_residuals(bare)
    with pytest.raises(ValueError, match="pictures=True"):
        bare.plot("next state")


@pytest.mark.slow
def test_equal_draws_make_one_bin():
    alike = check(None, ["a", "b"] * 20 + ["b"], n_resamples=19, random_state=0)
    alike.plot(width=5).canvas.draw()
