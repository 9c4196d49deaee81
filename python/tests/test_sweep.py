"""Sweeps from Python: the same folder however they are run, on one machine or by Dask, whoever dies."""

import glob
import os
import signal
import threading
import time
from pathlib import Path

import duckdb
import petal
import pytest
from conftest import EXAMPLES

SWEEP = """
passes = ["all", "no-opt", {{ name = "dynamic", disable = ["static-promotion"] }}]
data = "{examples}/while-comb.futil.data"
timeout = 60

[[design]]
name = "loop"
generate = '''sed "s/lt.right = 3'd3/lt.right = 3'd{{times}}/" {examples}/while-comb.futil'''
parameters = {{ times = [1, 2, 3, 4, 5, 6, 7] }}

[[design]]
name = "fails"
generate = "echo no such size >&2; exit 3"
"""


def files(folder):
    """All files of a folder, with their contents."""
    paths = (path for path in Path(folder).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The sweep by one process."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "loops.toml").write_text(SWEEP.format(examples=EXAMPLES))
    return petal.sweep(folder / "loops.toml", out=folder / "alone", jobs=1)


def test_a_sweep_has_a_row_for_each_run(alone):
    assert len(alone.rows) == 24
    assert [row["design"] for row in alone.failed] == ["fails"] * 3
    assert "no such size" in alone.failed[0]["error"]
    for row in alone.rows[:21]:
        assert row["figures"]["cycles"] > int(row["parameters"]["times"])
    assert alone.page.is_file()
    assert "24 runs" in repr(alone)
    runs = duckdb.sql(f"select design, passes, cycles, times from '{alone.folder}/runs/**/*.parquet' order by cycles desc").fetchall()
    assert len(runs) == 24
    cycles = {(row["design"], row["passes"]): row.get("figures", {}).get("cycles") for row in alone.rows}
    assert {(design, passes): value for design, passes, value, _ in runs} == cycles
    assert {times for _, _, _, times in runs} == {1, 2, 3, 4, 5, 6, 7, None}


def test_what_makes_no_sense_is_the_command_s_error(tmp_path):
    (tmp_path / "bad.toml").write_text("passses = 'all'")
    with pytest.raises(petal.Error, match="is it `passes`"):
        petal.sweep(tmp_path / "bad.toml", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_dask_gives_the_same_folder_although_a_worker_is_killed(alone, tmp_path):
    distributed = pytest.importorskip("distributed")
    out = tmp_path / "out"
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            workers = client.run(os.getpid)
            assert len(set(workers.values())) == 3
            killed = []

            def kill():
                # Unlike `rglob`, this takes no offence at folders that vanish meanwhile.
                while len(glob.glob(f"{out}/**/row.json", recursive=True)) < 4:
                    time.sleep(0.01)
                # One that is at a run.
                busy = [worker for worker, tasks in client.processing().items() if tasks]
                victim = workers[(busy or list(workers))[0]]
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

            killer = threading.Thread(target=kill)
            killer.start()
            swept = petal.sweep(alone.folder.parent / "loops.toml", out=out, client=client)
            killer.join()
            assert killed and not [pid for pid in client.run(os.getpid).values() if pid in killed]
    assert swept.rows == alone.rows
    assert files(out) == files(alone.folder)


def test_dask_does_nothing_again(alone, tmp_path):
    distributed = pytest.importorskip("distributed")
    times = {path: path.stat().st_mtime_ns for path in alone.folder.rglob("summary.json")}
    with distributed.Client(n_workers=1, threads_per_worker=2, dashboard_address=None) as client:
        petal.sweep(alone.folder.parent / "loops.toml", out=alone.folder, client=client)
    assert times == {path: path.stat().st_mtime_ns for path in alone.folder.rglob("summary.json")}
