"""Comparisons and advice."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _arguments, _notebook, _petal
from ._profile import Profile
from ._scratch import Scratch

Side = Union[Profile, str, "os.PathLike[str]"]


class Comparison:
    """What takes more cycles than before, and what fewer. Its text is that of `petal compare`.

    It can be pickled, as its profiles can.
    """

    def __init__(self, sides: Sequence[Side], force: bool) -> None:
        # Their folders are there as long as they are, and others where this is unpickled.
        self._sides = sides
        self._force = force
        #: What `petal compare --format json` prints.
        self.data: Dict[str, Any] = json.loads(self._in("json"))

    def _in(self, form: str) -> str:
        paths = [os.fspath(side.folder if isinstance(side, Profile) else side) for side in self._sides]
        force = ["--force"] if self._force else []
        return _petal.call(["compare", f"--format={form}", *force, "--", *paths], "")

    def markdown(self) -> str:
        """The comparison for a comment."""
        return self._in("markdown")

    def __str__(self) -> str:
        return self._in("text")

    def _repr_markdown_(self) -> str:
        return self.markdown()


def compare(before: Side, after: Side, *, force: bool = False) -> Comparison:
    """Compares two runs: profiles, folders of profiles, or baseline files.

    Raises `Error` if they are of designs that have nothing in common, unless `force` is set.
    """
    return Comparison([before, after], force)


class Advice:
    """Which changes of a design save cycles."""

    def __init__(self, data: Dict[str, Any], profile: Profile) -> None:
        #: What `petal advise --format json` prints (docs/formats.md).
        self.data = data
        #: The run of the design as it is.
        self.profile = profile

    @property
    def cycles(self) -> int:
        """Cycles of the design as it is, on all data together."""
        return int(self.data["cycles"])

    @property
    def changes(self) -> List[Dict[str, Any]]:
        """The changes: first what is proved, then what is checked, in the order in which they are to be applied."""
        return list(self.data["advice"])

    def __str__(self) -> str:
        lines = [f"{self.data['design']}: {self.cycles:,} cycles, {self.data['with_all']:,} with all advice"]
        for change in self.changes:
            saved = f"{change['on_top']:,} cycles less, {change['class']}"
            lines.append(f"{change['number']}. {change['what']} ({saved})")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return _notebook.advice(self)


def advise(
    design: _arguments.Design,
    *,
    data: Union[None, str, "os.PathLike[str]", Sequence[Any]] = None,
    budget: Union[int, str] = 60,
    candidates: Optional[int] = None,
    jobs: Optional[int] = None,
    passes: Optional[str] = None,
    disable_pass: Union[None, str, Sequence[str]] = None,
    extra_opt: Union[None, str, Sequence[str]] = None,
    library: Union[None, str, "os.PathLike[str]", Sequence[Any]] = None,
    proved: bool = False,
    search: bool = False,
    out: Union[None, str, "os.PathLike[str]"] = None,
) -> Advice:
    """Tries changes of a design, keeps those that save cycles, and proves them where it can, as `petal advise` does.

    `data` are the paths of data files that every change is tried on, `budget` is how long to search, in seconds or as the command
    takes it; with `candidates` so many programs are tried instead, with the same advice on every machine.

    Raises `Error` with the message of the command.
    """
    scratch = Scratch()
    folder = Path(out) if out is not None else scratch.path / "profile"
    argument, text = _arguments.design(design)
    arguments = [
        "advise",
        "--quiet",
        "--format=json",
        f"--out={os.fspath(folder)}",
        f"--budget={budget}" if candidates is None else f"--candidates={candidates}",
        *_arguments.several("--data", data),
        *_arguments.compiling(passes, disable_pass, extra_opt, library),
        *(["--jobs", str(jobs)] if jobs is not None else []),
        *(["--proved"] if proved else []),
        *(["--search"] if search else []),
        "--",
        argument,
    ]
    printed = _petal.call(arguments, text)
    profile = Profile(folder, _scratch=scratch if out is None else None)
    return Advice(json.loads(printed), profile)
