"""Sweeps: on this machine, or on whatever Dask runs on.

A sweep has no state but the rows in its folder, so that any process may do any run of it, and whoever comes later finds what is
done. With Dask, each run is a task; the folder is on storage that all workers share.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _petal

#: What is petal in a process of its own, where there is nothing but the package.
_PROGRAM = [sys.executable, "-m", "petal"]
_WORDS = [f"--program={word}" for word in _PROGRAM]

#: How often Dask tries a run again whose process could not do it, or whose worker died.
_RETRIES = 5


class Sweep:
    """What a sweep gave, in its folder."""

    def __init__(self, folder: Union[str, "os.PathLike[str]"]) -> None:
        #: The folder: `sweep.html` and the dataset `runs` are in it (docs/guide/sweeps.md).
        self.folder = Path(folder)
        #: A dictionary for each run, in the order of the sweep: `design`, `passes`, `data`, `parameters`, and either `figures` or an
        #: `error`.
        self.rows: List[Dict[str, Any]] = _rows(self.folder)

    @property
    def failed(self) -> List[Dict[str, Any]]:
        """The rows of runs that gave no result."""
        return [row for row in self.rows if "error" in row]

    @property
    def page(self) -> Path:
        """The page to explore it."""
        return self.folder / "sweep.html"

    def __repr__(self) -> str:
        return f"<petal.Sweep of {len(self.rows)} runs in {self.folder}, {len(self.failed)} failed>"


def sweep(
    file: Union[str, "os.PathLike[str]"],
    *,
    out: Union[None, str, "os.PathLike[str]"] = None,
    client: Any = None,
    jobs: Optional[int] = None,
) -> Sweep:
    """Does all runs that a file describes, and that have not been done with the same inputs.

    Without a `client` they run on this machine, `jobs` at once [default: as many as there are processors]. With a
    `dask.distributed.Client` each is a task of its own. Then `file`, all that it names and `out` must be at the same path for all workers, which need
    nothing else but this package. A worker that dies takes no result with it: its runs go to others.

    A run that fails is a row with its error. Raises `Error` if the file makes no sense, or a row can't be written.
    """
    path = os.path.abspath(os.fspath(file))
    folder = os.path.abspath(os.fspath(out) if out is not None else Path("petal-out") / Path(path).stem)
    # Tells what is wrong with the file before anything runs.
    listed = _petal.call(["sweep", path, f"--out={folder}", "--dry-run"], "")
    runs = len(listed.splitlines())
    if client is None:
        options = [f"--jobs={jobs}"] if jobs is not None else []
        _unless_runs_failed(["sweep", path, f"--out={folder}", "--quiet", *options, *_WORDS])
        return Sweep(folder)
    name = f"petal-sweep-{os.urandom(8).hex()}"
    tasks = [
        client.submit(_run, path, folder, number, runs, key=(name, number), pure=False, retries=_RETRIES)
        for number in range(1, runs + 1)
    ]
    client.gather(tasks)
    _unless_runs_failed(["sweep", "--merge", folder, f"--out={folder}", "--quiet"])
    return Sweep(folder)


#: How an error ends that says no more than rows do.
_OF_RUNS = ("failed; the same command tries it again", "failed; the same command tries them again")


def _unless_runs_failed(arguments: List[str]) -> None:
    try:
        _petal.call(arguments, "")
    except _petal.Error as error:
        if not str(error).endswith(_OF_RUNS):
            raise


def _run(path: str, folder: str, number: int, of: int) -> None:
    """Does one run of a sweep, on a worker: in a process of its own, so that it needs no more of the worker than a thread."""
    part = [f"--out={folder}", f"--shard={number}/{of}", "--jobs=1", "--quiet"]
    command = [*_PROGRAM, "sweep", path, *part, *_WORDS]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    said = done.stderr.strip()
    if done.returncode != 0 and not said.endswith(_OF_RUNS):
        raise RuntimeError(f"petal ended with {done.returncode}: {said}")


def _rows(folder: Path) -> List[Dict[str, Any]]:
    """The rows of the runs of a sweep that were tried, in its order."""

    def name(row: Dict[str, Any]) -> Tuple[str, str, str]:
        return (row["design"], row["passes"], row["data"])

    runs = json.loads((folder / "sweep.json").read_text(encoding="utf-8"))["runs"]
    files = (folder / "rows").rglob("row.json")
    there = {name(row): row for row in (json.loads(file.read_text(encoding="utf-8")) for file in files)}
    return [there[name(run)] for run in runs if name(run) in there]
