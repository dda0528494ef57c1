"""The report in a real browser: it loads, the slider moves the sets, and the numbers are ours.

To load a page takes seconds: one on a screen and one on a phone are shared, reports of a kind of
their own are mostly for the slow tests.
"""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from definetti import ConformalHMM
from definetti.check import check
from definetti.evaluation import run_backtest
from definetti.evaluation.results import summary
from definetti.evaluation.series import SeriesEvaluation, SeriesRecord
from definetti.exceptions import NotExactWarning
from definetti.report import make_report, report_series
from definetti.simulate import weather

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FOUND = next(filter(None, map(shutil.which, BROWSERS)), None)
Y, X = weather(163, random_state=1)
OLD, NEW = slice(0, 160), slice(160, 163)
HANG = 600_000  # milliseconds after which something is wrong, on whatever machine
SCREENS = {
    "screen": {"viewport": {"width": 1200, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True},
}
HOSTILE = "<img src=x onerror=\"document.title='broken'\">"


@pytest.fixture(scope="module")
def browser():
    if FOUND is None:
        pytest.skip("no browser found; install one, such as Debian's chromium, to run these tests")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        # As root, as in most containers, Chromium has no sandbox of its own.
        chromium = playwright.chromium.launch(
            executable_path=FOUND, args=["--no-sandbox", "--disable-gpu"], timeout=HANG
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def diagnosis():
    return check(Y[OLD], X[OLD], n_resamples=99, random_state=0)


@pytest.fixture(scope="module")
def report(diagnosis):
    cp = ConformalHMM(random_state=0)
    return make_report(cp, Y[OLD], X[OLD], Y[NEW], windows=20, check=diagnosis)


@pytest.fixture(scope="module")
def cp():
    return ConformalHMM(random_state=0).fit(Y[OLD], X[OLD])


class Opening:
    """Opens reports, and notes what a page complains of, or asks for besides itself."""

    def __init__(self, browser, folder):
        self.browser, self.folder = browser, folder
        self.complaints: list[str] = []

    def __call__(self, report, **how):
        path = report.save(self.folder / "report.html")
        page = self.browser.new_page(**how)
        page.set_default_timeout(HANG)
        page.on("console", lambda message: self.complaints.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on(
            "request",
            lambda one: (
                one.url.startswith(("file:", "data:", "blob:")) or self.complaints.append(one.url)
            ),
        )
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready=yes]")
        return page


@pytest.fixture
def opened(browser, tmp_path):
    """Open a report of one's own; fail if the page complains."""
    pages = []
    opening = Opening(browser, tmp_path)

    def keep(report, **how):
        pages.append(opening(report, **how))
        return pages[-1]

    yield keep
    for page in pages:
        page.close()
    assert not opening.complaints


@pytest.fixture(scope="module")
def screens(browser, report, tmp_path_factory):
    """The report on a screen and on a phone, each opened once for all tests that look at it."""
    opening = Opening(browser, tmp_path_factory.mktemp("screens"))
    pages = {}

    def find(name):
        if name not in pages:
            pages[name] = opening(report, **SCREENS[name])
        return pages[name], opening.complaints

    yield find
    for page in pages.values():
        page.close()


@pytest.fixture
def page(screens):
    """The report on a screen, at the level that was asked for; fail if it has complained."""
    page, complaints = screens("screen")
    yield page
    page.emulate_media(media="screen")
    if page.locator("#reset").is_enabled():
        page.locator("#reset").click()
    assert not complaints


@pytest.fixture
def phone(screens):
    """The report on a phone; fail if it has complained."""
    page, complaints = screens("phone")
    yield page
    assert not complaints


def moved(page, key, times=1):
    """Press a key on the slider; return the level that the page has come to."""
    page.locator("#level").focus()
    for _ in range(times):
        page.keyboard.press(key)
    page.wait_for_selector(f"body[data-place='{page.locator('#level').input_value()}']")
    return float(page.locator("body").get_attribute("data-level"))


def shown_steps(page):
    """Return the states that the table shows as possible, step by step."""
    rows = page.locator("#new-steps tbody tr").all()
    return [tuple(row.locator(".state .name").all_inner_texts()) for row in rows]


@pytest.mark.slow
def test_page_opens_at_the_requested_level(page, cp):
    s = cp.predict_set(Y[NEW])
    assert page.locator("#percent").inner_text() == "90 %"
    assert shown_steps(page) == s.steps
    assert page.locator("#promise").inner_text().startswith("On average, at least 90 of 100")
    assert f"{len(s)} of 8 sequences" in page.locator("#new-summary").inner_text()
    codes = {label: code for code, label in enumerate(s.states)}
    written = page.locator("#new-steps .state small").all_inner_texts()
    own = [s.step_p_values[k, codes[x]] for k, states in enumerate(s.steps) for x in states]
    assert all(len(text) == 6 for text in written)
    # The page has five digits, so that the fourth is rounded twice.
    assert list(map(float, written)) == pytest.approx(own, abs=0.00006)
    assert page.locator("#reset").is_disabled()


@pytest.mark.slow
def test_levels_by_state_are_shown_beside_their_coverage(opened):
    cp = ConformalHMM(confidence_level={"rain": 0.95, None: 0.6}, random_state=0)
    page = opened(make_report(cp, Y[OLD], X[OLD], Y[NEW], windows=20))
    assert page.locator("#percent").inner_text() == "95 % for rain, 60 % for all others"
    assert page.locator("#level").is_hidden()  # there is nothing to choose from
    assert page.locator("#levels-picture").is_hidden()
    assert shown_steps(page) == cp.fit(Y[OLD], X[OLD]).predict_set(Y[NEW]).steps
    assert "Where the last state is rain" in page.locator("#promise").inner_text()
    assert page.locator("#coverage thead th").all_inner_texts()[1] == "promised"
    rows = [row.locator("td").all_inner_texts() for row in page.locator("#coverage tbody tr").all()]
    own = {"sun": "0.600", "rain": "0.950"}
    names = page.locator("#coverage tbody th").all_inner_texts()
    assert [row[0] for row in rows[1:]] == [own[name.split()[2]] for name in names[1:]]


@pytest.mark.slow
def test_keyboard_moves_the_slider_and_the_sets(page, cp):
    slider = page.locator("#level")
    seen = set()
    for key, times in (("Home", 1), ("ArrowRight", 35), ("ArrowLeft", 2), ("End", 1)):
        level = moved(page, key, times)
        s = cp.predict_set(Y[NEW], level)
        assert shown_steps(page) == s.steps, level
        assert f"{len(s)} of 8 sequences" in page.locator("#new-summary").inner_text()
        listed = page.locator("#new-sequences tbody tr").all_text_contents()
        assert listed == [
            f"{p:.4f}{''.join(one)}" for one, p in zip(s.sequences, s.p_values, strict=True)
        ]
        assert slider.get_attribute("aria-valuetext") == page.locator("#percent").inner_text()
        seen.add(len(s))
    assert len(seen) > 2  # it did change
    page.locator("#reset").click()
    assert shown_steps(page) == cp.predict_set(Y[NEW]).steps


def test_hover_shows_the_p_value_of_a_cell(page, cp):
    p_values = cp.predict_p(Y[NEW]).step_p_values
    page.locator("#new-picture").scroll_into_view_if_needed()
    plot = page.locator("#new-picture .nsewdrag").bounding_box()
    # The first step, the first state: the cell at the upper left.
    page.mouse.move(plot["x"] + plot["width"] / 6, plot["y"] + plot["height"] / 4)
    tip = page.locator("#new-picture .hoverlayer .hovertext")
    tip.wait_for()
    text = tip.text_content()
    assert f"step 1: {cp.states_[0]}" in text
    assert f"p-value {p_values[0, 0]:.4f}" in text
    dark, light = (
        tip.locator(part).first.evaluate("one => getComputedStyle(one).fill")
        for part in ("text", "path")
    )
    assert (dark, light) == ("rgb(27, 31, 36)", "rgb(255, 255, 255)")  # can be read


@pytest.mark.slow
def test_page_shows_the_coverage_of_evaluate(page):
    labels = list(dict.fromkeys(X[OLD]))
    for key in ("Shift", "Home", "End"):  # the first of which moves nothing
        level = moved(page, key)
        asked = ConformalHMM(confidence_level=level, random_state=0, states=labels)
        judged = run_backtest(asked, Y[OLD], X[OLD], 3, windows=20)  # of more, those spread evenly
        found = judged.evaluations()["definetti"]
        numbers = summary(found, 3)
        rows = [
            row.locator("td").all_inner_texts() for row in page.locator("#coverage tr").all()[1:]
        ]
        expected = [numbers, *numbers["by_last_state"].values()]
        assert [row[0] for row in rows] == [
            f"{one['coverage']:.3f} [{one['low']:.3f}, {one['high']:.3f}]" for one in expected
        ]
        assert f"{found.width:.2f} of 2 states" in page.locator("#sizes-summary").inner_text()


@pytest.mark.slow
def test_labels_with_markup_are_shown_as_text(opened):
    # Tags, formulas, half an emoji's worth of room, the other direction, a new line.
    odd = [HOSTILE, "$a_1$", "a & b & c & d & e", "👩‍🚀" * 9, "שלום עולם שלום עולם", "two\nlines"]
    page = opened(
        make_report(
            ConformalHMM(random_state=0), odd * 12, odd * 12, odd[:2], windows=5, title=HOSTILE
        )
    )
    page.wait_for_timeout(200)
    assert page.title() == HOSTILE
    assert page.locator("img").count() == 0
    assert shown_steps(page)[0] == (HOSTILE,)
    ticks = "".join(page.locator("#new-picture .ytick").all_text_contents())
    assert "a & b & c & d…" in ticks
    assert "$a_1$" in ticks


@pytest.mark.slow
def test_many_states_keep_their_names(opened):
    rng = np.random.default_rng(0)
    states = [f"a state of the number {k}" for k in rng.integers(40, size=200)]
    page = opened(make_report(ConformalHMM(random_state=0), None, states, horizon=1, windows=3))
    ticks = list(filter(None, page.locator("#new-picture .ytick").all_text_contents()))
    assert 12 <= len(set(ticks)) == len(ticks) <= 24
    assert all(text.startswith("a state") and text[-1].isdigit() for text in ticks)


@pytest.mark.slow
def test_a_state_may_be_called_all(opened):
    states = ["all", "none", "all", "all", "none"] * 20
    report = make_report(ConformalHMM(random_state=0), None, states, horizon=1, windows=15)
    page = opened(report)
    ours = report.contents["backtest"]["methods"]["definetti"][report.contents["asked"]]
    drawn = page.evaluate("document.getElementById('states-picture').data[0].x")
    assert drawn == [ours["coverage"], *(one["coverage"] for one in ours["by_last_state"].values())]


@pytest.mark.slow
def test_page_without_guarantee_says_aimed_at(opened):
    with pytest.warns(NotExactWarning):
        report = make_report(
            ConformalHMM(symmetry="published", random_state=0), Y[OLD], X[OLD], Y[NEW], windows=9
        )
    page = opened(report)
    text = page.locator("main").inner_text()
    assert "No guarantee" in text
    assert "promised" not in text
    assert "aimed at: 90 %" in text


def test_page_without_scripts_shows_the_sets(browser, tmp_path, report, cp):
    path = report.save(tmp_path / "report.html")
    page = browser.new_page(java_script_enabled=False)
    page.set_default_timeout(HANG)
    page.goto(path.as_uri())
    text = page.locator("body").inner_text()
    page.close()
    for k, states in enumerate(cp.predict_set(Y[NEW]).steps, 1):
        assert f"Step {k}: {', '.join(states)}" in text


def test_page_fits_a_screen(page):
    check_width(page, 1200)


@pytest.mark.slow
def test_page_fits_a_phone(phone):
    check_width(phone, 390)


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 390])
def test_page_fits_a_narrow_window(opened, report, width):
    check_width(opened(report, viewport={"width": width, "height": 800}), width)


def check_width(page, width):
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for box in page.locator(".picture .main-svg").all():
        if (place := box.bounding_box()) is not None:
            assert place["x"] >= 0
            assert place["x"] + place["width"] <= width + 1


@pytest.mark.slow
def test_touch_moves_the_slider(phone, report):
    place = phone.locator("#level").bounding_box()
    phone.touchscreen.tap(place["x"] + 10, place["y"] + place["height"] / 2)
    phone.wait_for_selector(f"body:not([data-place='{report.contents['asked']}'])")


@pytest.mark.slow
def test_page_prints_without_the_slider(page):
    page.emulate_media(media="print")
    assert not page.locator("#level").is_visible()
    assert page.locator("#percent").is_visible()
    assert page.pdf().startswith(b"%PDF")


def test_every_plot_has_a_text_alternative(page):
    assert page.locator("[role=img]").count() >= 7
    assert all(box.get_attribute("aria-label") for box in page.locator("[role=img]").all())
    assert page.get_by_label("Confidence level", exact=True).count()


@pytest.mark.slow
def test_a_page_without_new_rows_or_backtest_shows_neither(opened):
    page = opened(make_report(ConformalHMM(random_state=0), Y, X, windows=5))
    assert not page.locator("#new").is_visible()
    assert page.locator("#backtest").is_visible()


@pytest.mark.slow
def test_page_of_a_guarantee_by_steps(opened):
    cp = ConformalHMM(train_size=0.4, guarantee="steps", random_state=0)
    page = opened(make_report(cp, Y[OLD], X[OLD], Y[NEW], windows=5))
    level = moved(page, "Home")
    assert shown_steps(page) == cp.fit(Y[OLD], X[OLD]).predict_set(Y[NEW], level).steps
    assert "of 100 steps have" in page.locator("#promise").inner_text().lower()


TRACES = """(id) => document.getElementById(id).data.filter((one) => one.name === "observed")
.map((one) => one.y)"""


@pytest.mark.slow
def test_page_shows_tests_and_plots_of_the_assumption(page, phone, diagnosis):
    for one in (page, phone):
        assert "No evidence against" in one.locator("#trust-verdict").inner_text()
        rows = one.locator("#trust-tests tbody tr")
        assert [rows.nth(k).locator("th").inner_text() for k in range(rows.count())] == list(
            diagnosis.tests
        )
        for k, ours in enumerate(diagnosis.residuals.values()):
            quantiles, histogram, lags = one.evaluate(TRACES, f"residuals-{k}")
            less = ours.quantiles.observed - ours.quantiles.at
            assert quantiles == pytest.approx(less, abs=1e-4)
            assert histogram[::2] == pytest.approx(ours.histogram.observed, abs=1e-4)
            assert lags == pytest.approx(ours.autocorrelation.observed, abs=1e-4)
        wide = one.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert wide
    assert "Exact tests of 160 rows" in page.locator("#trust-note").inner_text()


@pytest.mark.slow
def test_violated_assumption_is_noted_at_the_top(opened):
    twos = list("aabb" * 20)
    found = check(None, twos, n_resamples=99, random_state=0)
    made = make_report(ConformalHMM(random_state=0), None, twos, windows=5, check=found)
    page = opened(made)
    assert "Does the assumption hold?" in page.locator("#notes").inner_text()
    assert "Evidence against the assumption" in page.locator("#trust-verdict").inner_text()
    said = page.locator("#trust-remedies li").all_inner_texts()
    assert [one.removeprefix("The other failures may follow from the first: ") for one in said] == [
        made.contents["check"]["tests"][name]["verdict"] for name in found.failures
    ]
    assert said[1].startswith("The other failures may follow from the first: ")


@pytest.mark.slow
def test_inconclusive_check_is_called_inconclusive(opened):
    for states, few, why in (
        ("ab" * 20, 99, "Nothing could be tested: all rearrangements"),
        ("aabb" * 20, 9, "No test can reject at 0.05 with 9"),
    ):
        found = check(None, list(states), n_resamples=few, random_state=0)
        cp = ConformalHMM(random_state=0)
        page = opened(make_report(cp, None, list(states), windows=5, check=found))
        verdict = page.locator("#trust-verdict").inner_text()
        assert verdict.startswith(f"The tests are not conclusive. {why}")
        assert page.locator("#trust-remedies li").count() == 0


@pytest.mark.slow
def test_page_without_check_hides_the_section(opened):
    page = opened(make_report(ConformalHMM(random_state=0), Y[OLD], X[OLD], windows=5))
    assert not page.locator("#trust").is_visible()


@pytest.mark.slow
@pytest.mark.parametrize("full", [False, True])
def test_page_of_many_series_lists_the_worst_first(browser, report, tmp_path, full):
    found = SeriesEvaluation([
        SeriesRecord("Ann", 100, 50, 46.0, 0.9, 1.5, 1.5), SeriesRecord("Cy", 2, note="too short"),
        SeriesRecord(HOSTILE, 100, 50, 30.0, 0.9, 1.2, 1.2),
    ])  # fmt: skip
    made = report_series(found, one=report if full else None, name="Ann", title="Towns")
    made.save(tmp_path / "series.html")
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    page.goto((tmp_path / "series.html").as_uri())
    page.wait_for_selector("body[data-ready=yes]", timeout=HANG)
    names = page.locator("#series-table tbody th").all_text_contents()
    assert names == [HOSTILE, "Ann", "Cy"]
    told = page.locator("#series-table tbody tr").all_inner_texts()
    assert "significantly short by 0.300" in told[0]
    assert "too short" in told[2]
    assert page.title() == "Towns"
    assert page.locator("#series-shown").is_visible() == full
    assert page.locator("#level").count() == page.locator("#backtest").count() == int(full)
    assert errors == []
    page.close()
