from __future__ import annotations

import numpy as np
import pytest
from studies import checking


def test_chi_square_is_that_of_scipy() -> None:
    from scipy.stats import chi2, chi2_contingency

    path = np.random.default_rng(0).integers(0, 2, 400)
    order, change = checking.judge_by_chi_square(path)
    late = 2 * np.arange(1, 400) >= 400
    total, halves = 0.0, 0.0
    for state in (0, 1):
        here = path[1:-1] == state
        table = np.histogram2d(path[:-2][here], path[2:][here], bins=2)[0]
        total += chi2_contingency(table, correction=False, lambda_="log-likelihood")[0]
        here = path[:-1] == state
        table = np.histogram2d(late[here], path[1:][here], bins=2)[0]
        halves += chi2_contingency(table, correction=False, lambda_="log-likelihood")[0]
    np.testing.assert_allclose([order, change], [chi2.sf(total, 2), chi2.sf(halves, 2)])


@pytest.mark.parametrize("kind", checking.KINDS)
def test_chains_are_what_they_are_called(kind: str) -> None:
    for states in checking.STATES:
        chain = checking.make_chain(kind, states)
        np.testing.assert_allclose(chain.sum(axis=1), 1)
        assert (chain >= 0).all()


@pytest.mark.slow
def test_all_rows_are_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "DRAWS", 9)
    monkeypatch.setattr(checking, "MORE", 9)
    checking.main(["--repetitions", "1"])
    said = capsys.readouterr().out
    assert said.count("sticky") == said.count("rare") == 9
    assert all(name in said for name in ("durations", "autocorrelation", "drift"))
