"""Runs, and what is known of one: a profile."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _arguments, _notebook, _petal
from ._petal import Error, Table
from ._scratch import Scratch
from ._whatif import whatif


class Flame(str):
    """A flame graph: the text of an SVG. In notebooks a click on a frame makes it as wide as the picture."""

    def _repr_html_(self) -> str:
        return _notebook.picture(self)


class Report(str):
    """The report: the text of an HTML page, which notebooks show."""

    def _repr_html_(self) -> str:
        return _notebook.page(self)


class Profile:
    """A run of a design. Its tables are `petal.Table`s: `polars.DataFrame(profile.statements)`.

    It can be pickled: one that nobody gave a place takes its files along, since its folder stays with it.
    """

    def __init__(self, folder: Union[str, "os.PathLike[str]"], *, _scratch: Optional[Scratch] = None) -> None:
        #: The folder of the profile. One that nobody gave a place is removed when the profile is no longer used.
        self.folder = Path(folder).absolute()
        self._scratch = _scratch
        self._summary: Optional[Dict[str, Any]] = None
        # What `run` made it of: the design, its data, and how it was compiled.
        self._origin: Optional[Dict[str, Any]] = None
        self._small: Optional[Dict[str, Table]] = None
        self._lock = threading.Lock()

    def __reduce__(self) -> Tuple[Any, ...]:
        if self._scratch is None:
            return Profile, (self.folder,), {"_origin": self._origin}
        files = {file.relative_to(self.folder): file.read_bytes() for file in self.folder.rglob("*") if file.is_file()}
        return _unpacked, (files,), {"_origin": self._origin}

    @property
    def summary(self) -> Dict[str, Any]:
        """What is in `summary.json` (docs/formats.md)."""
        if self._summary is None:
            self._summary = json.loads(self._read("summary.json"))
        return self._summary

    @property
    def design(self) -> str:
        """The name of the design."""
        return str(self.summary["design"])

    @property
    def cycles(self) -> int:
        """The length of the run in cycles."""
        return int(self.summary["cycles"])

    @property
    def time_us(self) -> Optional[float]:
        """The length of the run in microseconds; `None` if nobody said the period, and none was found by synthesis."""
        clock = self.summary.get("clock")
        return clock and clock["time_ns"] / 1000

    @property
    def memories(self) -> Dict[str, Any]:
        """The memories after the run, as a data file has them."""
        memories: Dict[str, Any] = json.loads(self._read("memories.json"))
        return memories

    def table(self, name: str) -> Table:
        """The table of this name: `runs`, `statements`, `loops`, `groups`, `cells`, `lines`, `sites`, `trees`, `cycles`, `spans`, or one of what was
        observed (docs/formats.md)."""
        if name in ("trees", "cycles", "spans"):
            return _petal.long_table(self.folder, name)
        with self._lock:
            if self._small is None:
                self._small = dict(_petal.small_tables(self.folder))
        if name in self._small:
            return self._small[name]
        if name not in _petal.table_names():
            raise KeyError(f"there is no table `{name}`; there are {', '.join(self.tables)}")
        raise KeyError(f"this run has nothing for the table `{name}`; it has {', '.join(self.tables)}")

    @property
    def tables(self) -> List[str]:
        """The names of the tables that the run has something for."""
        with self._lock:
            if self._small is None:
                self._small = dict(_petal.small_tables(self.folder))
        there = {*self._small, "trees", "cycles", "spans"}
        return [name for name in _petal.table_names() if name in there]

    @property
    def runs(self) -> Table:
        """One row: what was run, and where its cycles went."""
        return self.table("runs")

    @property
    def statements(self) -> Table:
        """A row for each control statement, with the overhead that is charged to it."""
        return self.table("statements")

    @property
    def loops(self) -> Table:
        """Loops: how often they go round, and how long their iterations take."""
        return self.table("loops")

    @property
    def groups(self) -> Table:
        """A row for each group, with how often and how long it was active."""
        return self.table("groups")

    @property
    def cells(self) -> Table:
        """A row for each component cell, with where its cycles went."""
        return self.table("cells")

    @property
    def lines(self) -> Table:
        """A row for each line of a front end's files; only of designs that name them."""
        return self.table("lines")

    @property
    def sites(self) -> Table:
        """A row for each cell, statement, group and primitive of every instance, by the number that the other tables, the timeline, the graph and
        events have as `site`."""
        return self.table("sites")

    @property
    def trees(self) -> Table:
        """The nodes of the different call trees."""
        return self.table("trees")

    @property
    def spans(self) -> Table:
        """Every slice of the timeline."""
        return self.table("spans")

    def export(self) -> Path:
        """Writes the tables into the folder of the profile as Parquet files; gives the folder that they are in."""
        _petal.call(["export", os.fspath(self.folder)], "")
        return self.folder / "tables"

    def flame(self, *, leaves: bool = False) -> Flame:
        """The flame graph, as wide as the run; with `leaves` every active leaf of a cycle counts 1."""
        return Flame(self._read("flame-leaves.svg" if leaves else "flame.svg"))

    def timeline(self) -> bytes:
        """The timeline, as ui.perfetto.dev opens it."""
        return self._path("timeline.pftrace").read_bytes()

    def report(self) -> Report:
        """The page with everything."""
        return Report(self._read("report.html"))

    def whatif(self, **questions: Any) -> Dict[str, Any]:
        """What the run would take with less: `petal.whatif` of the design that `petal.run` made the profile of, with its data.

        Without `questions` a profile that `petal whatif` wrote has the answers itself.
        """
        if not questions and "what_if" in self.summary:
            known: Dict[str, Any] = self.summary["what_if"]
            return known
        if self._origin is None:
            raise Error(f"{self.folder} does not tell what the design was: ask `petal.whatif(design)`")
        found = whatif(**self._origin, **questions)
        if not questions:
            self.summary["what_if"] = found
        return found

    def bounds(self) -> List[Dict[str, Any]]:
        """What is left of the run if only a part of it took time, what takes longest first."""
        known = self.summary.get("what_if") or self.whatif(budget=1)
        found: List[Dict[str, Any]] = known["bounds"]
        return found

    def _path(self, name: str) -> Path:
        path = self.folder / name
        if not path.exists():
            # Its message is the command's.
            _petal.call(["baseline", os.fspath(self.folder)], "")
            raise Error(f"{path} is not there; make it again with `petal run`")
        return path

    def _read(self, name: str) -> str:
        return self._path(name).read_text(encoding="utf-8")

    def __repr__(self) -> str:
        return f"<petal.Profile of {self.design}: {self.cycles:,} cycles, {self.summary['useful_cycles']:,} useful>"

    def _repr_html_(self) -> str:
        return _notebook.profile(self)


def _unpacked(files: Dict[Path, bytes]) -> Profile:
    """A profile in a folder of its own, of the files of another one."""
    scratch = Scratch()
    folder = scratch.path / "profile"
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return Profile(folder, _scratch=scratch)


def open(folder: Union[str, "os.PathLike[str]"]) -> Profile:
    """The profile in a folder that `petal run` wrote."""
    profile = Profile(folder)
    # Fails with the message of the command if there is none.
    profile.tables
    return profile


def run(
    design: _arguments.Design,
    *,
    data: Optional[_arguments.Data] = None,
    passes: Optional[str] = None,
    disable_pass: Union[None, str, Sequence[str]] = None,
    extra_opt: Union[None, str, Sequence[str]] = None,
    library: Union[None, str, "os.PathLike[str]", Sequence[Any]] = None,
    source_root: Union[None, str, "os.PathLike[str]", Sequence[Any]] = None,
    observe: Optional[_arguments.Observe] = None,
    simulator: Optional[str] = None,
    cycle_limit: Optional[int] = None,
    max_memory: Union[None, int, str] = None,
    control: Optional[str] = None,
    fst: Union[None, str, "os.PathLike[str]"] = None,
    vcd: Union[None, str, "os.PathLike[str]"] = None,
    name: Optional[str] = None,
    out: Union[None, str, "os.PathLike[str]"] = None,
    period: Optional[str] = None,
    exact: bool = False,
    partial: bool = False,
    strict: bool = False,
    unverified: bool = False,
) -> Profile:
    """Profiles a design.

    `design` is the path of a Calyx program, its text, or calyx-py's builder. `data` is the path of a data file or its contents, with
    lists or numpy's arrays (default: `DESIGN.futil.data` if there is one, else zeros), `observe` the path of a file of observations or the options of
    `petal run` by name: `observe={"checkpoint": ["main.read"], "count": {"writes": "main.mem.write_en"}}`, and with values at stamps
    `{"checkpoint": {"read": "main.read; i=main.i.out"}}`. The profile goes to
    `out`, or to a folder that is removed with it. The rest is as for `petal run`.

    Raises `Error` with the message of the command.
    """
    scratch = Scratch()
    folder = Path(out) if out is not None else scratch.path / "profile"
    argument, text = _arguments.design(design)
    with _arguments.data(data, scratch.path) as of_data:
        arguments = [
            "run",
            "--quiet",
            f"--out={os.fspath(folder)}",
            *of_data,
            *_arguments.compiling(passes, disable_pass, extra_opt, library),
            *_arguments.observe(observe),
            *(["--simulator", simulator] if simulator is not None else []),
            *_arguments.several("--source-root", source_root),
            *(["--cycle-limit", str(cycle_limit)] if cycle_limit is not None else []),
            *(["--max-memory", str(max_memory)] if max_memory is not None else []),
            *(["--control", control] if control is not None else []),
            *_arguments.several("--fst", fst),
            *_arguments.several("--vcd", vcd),
            *(["--name", name] if name is not None else []),
            *(["--period", period] if period is not None else []),
            *(["--exact"] if exact else []),
            *(["--partial"] if partial else []),
            *(["--strict"] if strict else []),
            *(["--unverified"] if unverified else []),
            "--",
            argument,
        ]
        _petal.call(arguments, text)
    profile = Profile(folder, _scratch=scratch if out is None else None)
    profile._origin = {
        "design": text or _arguments.absolute(argument),
        "data": _arguments.absolute(data),
        "passes": passes,
        "disable_pass": disable_pass,
        "extra_opt": extra_opt,
        "library": _arguments.absolute(library),
    }
    return profile
