"""A Dask cluster of two processes, one of which is killed half-way: the same table."""

from __future__ import annotations

import os
import signal

import pytest
from joblib import parallel_config

from definetti._system.cells import Store
from definetti.cli import experiments
from definetti.cli.experiments import use_cluster
from definetti.experiments import OURS, PAIRS, figure1
from definetti.experiments.grids import FIGURE1_POINTS

distributed = pytest.importorskip(
    "dask.distributed", reason="Dask is not installed; pip install 'dask[distributed]'"
)
pytestmark = [
    pytest.mark.usefixtures("no_pictures"),
    # Dask says farewell to a killed worker in its own words.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
MANY = {"repetitions": 40, "points": FIGURE1_POINTS[::15], "methods": [PAIRS, OURS]}


@pytest.mark.slow  # for the processes that load everything
def test_a_killed_worker_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(experiments, "PATIENCE", 600)  # however busy the machine
    keep = Store.keep
    figure1(tmp_path / "serial", n_jobs=1, **MANY)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        pids, done = list(client.run(os.getpid).values()), []
        assert len(set(pids)) == 2
        assert os.getpid() not in pids

        def kept(self, cell, records):
            """Kill a worker once a few cells are there."""
            keep(self, cell, records)
            done.append(cell)
            if len(done) == 3:
                os.kill(pids[0], signal.SIGKILL)

        with parallel_config("dask"), monkeypatch.context() as patch:
            patch.setattr(Store, "keep", kept)
            figure1(tmp_path / "cluster", n_jobs=-1, **MANY)
        # The same by address, as the command does it.
        with use_cluster(cluster.scheduler_address):
            figure1(tmp_path / "address", n_jobs=-1, **{**MANY, "methods": [OURS]})
    assert len(done) == 2 * len(MANY["points"]) > 3  # it was killed before the end
    tables = [(tmp_path / name / "figure1.csv").read_bytes() for name in ("serial", "cluster")]
    assert tables[0] == tables[1]
    lines = tables[0].decode().splitlines()
    ours = [line for line in lines if "Algorithm" not in line]
    assert (tmp_path / "address" / "figure1.csv").read_text().splitlines() == ours


@pytest.mark.slow  # for the time that a scheduler is given to answer
def test_an_address_where_no_one_answers_is_told_of():
    address = "tcp://127.0.0.1:9"
    with (
        pytest.raises(OSError, match=f"no Dask scheduler answers at {address}"),
        use_cluster(address),
    ):
        pass
