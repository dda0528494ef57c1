"""Series on a Dask cluster, one worker of which is killed: equal bytes; and under Spark."""

from __future__ import annotations

import os
import shutil
import signal
import sys

import pytest
from tests.making import grouped

from definetti._system.cells import Store
from definetti.cli import experiments, series_tables
from definetti.cli.backtest import backtest
from definetti.cli.options import Columns, Grouping, Rolling, Settings, Spreading
from definetti.cli.simulate import simulate
from definetti.evaluation import SeriesWork


def judge(table, output, **spread):
    backtest(
        data=str(table), columns=Columns(), settings=Settings(),
        grouping=Grouping("series", "day"), spreading=Spreading(**spread), output=output, json=True,
        rolling=Rolling(windows=20),
    )  # fmt: skip
    return output.read_bytes()


@pytest.mark.slow  # for the processes that load everything
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_killed_worker_and_more_processes_change_no_byte(tmp_path, monkeypatch, capsys):
    distributed = pytest.importorskip("dask.distributed", reason="Dask is not installed")
    monkeypatch.setattr(experiments, "PATIENCE", 600)
    monkeypatch.setattr(series_tables.GroupedTable.parts, "__defaults__", (200,))
    table = tmp_path / "towns.parquet"
    simulate(output=table, rows=60, series=30)
    wanted = judge(table, tmp_path / "one.parquet")
    assert judge(table, tmp_path / "two.parquet", jobs=2) == wanted
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        pids, done, keep = list(client.run(os.getpid).values()), [], Store.keep

        def kept(self, cell, records):
            keep(self, cell, records)
            done.append(cell)
            if len(done) == 2:
                os.kill(pids[0], signal.SIGKILL)

        with monkeypatch.context() as patch:
            patch.setattr(Store, "keep", kept)
            address = cluster.scheduler_address
            assert judge(table, tmp_path / "many.parquet", cluster=address) == wanted
    assert len(done) > 2
    capsys.readouterr()


SCHEMA = (
    "series long, rows long, windows long, covered double, coverage double, low double, "
    "high double, promised double, mean_size double, states_per_step double, states long, "
    "filled long, unknown long, note string, p_value double"
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # PySpark's sockets
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_same_function_under_spark(tmp_path, monkeypatch):
    """Run only where PySpark, which is some 400 MB, and a Java runtime are installed."""
    sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed")
    if not hasattr(sql.GroupedData, "applyInArrow"):
        pytest.skip("applyInArrow came with PySpark 4")
    if shutil.which("java") is None:
        pytest.skip("there is no Java runtime")
    pl = pytest.importorskip("polars")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # or another Python would be asked
    table = tmp_path / "towns.parquet"
    simulate(output=table, rows=60, series=5)
    work = SeriesWork(grouped(random_state=0), "series", "state", "day", ("carried",))
    wanted = work(pl.read_parquet(table)).sort("series")
    made = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", False)
    spark = made.config("spark.driver.host", "127.0.0.1").getOrCreate()
    try:
        groups = spark.read.parquet(str(table)).groupBy("series")
        # A function: of an object that is called, Spark counts the object as an argument.
        rows = groups.applyInArrow(lambda one: work(one), SCHEMA)
        found = sorted(tuple(row) for row in rows.collect())
    finally:
        spark.stop()
    assert found == wanted.rows()
