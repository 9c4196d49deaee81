"""A folder that goes with whoever uses it."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path


class Scratch:
    """A temporary folder. It is removed with this object, by the process that made it: a copy in a forked child leaves it alone."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="petal-"))
        weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)
