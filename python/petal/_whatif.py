"""What a run would take with less."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Mapping, Optional, Sequence, Union

from . import _arguments, _petal
from ._scratch import Scratch


def whatif(
    design: _arguments.Design,
    *,
    data: Optional[_arguments.Data] = None,
    primitive: Optional[Mapping[str, int]] = None,
    cycles: Optional[Mapping[str, int]] = None,
    overhead: Union[str, Sequence[str]] = (),
    condition: Union[str, Sequence[str]] = (),
    balance: Union[str, Sequence[str]] = (),
    order: Union[str, Sequence[str]] = (),
    budget: Union[None, int, str] = None,
    passes: Optional[str] = None,
    disable_pass: Union[None, str, Sequence[str]] = None,
    extra_opt: Union[None, str, Sequence[str]] = None,
    library: Union[None, str, "os.PathLike[str]", Sequence[Any]] = None,
) -> Dict[str, Any]:
    """What a run would take with less, as `petal whatif` prints it: its `cycles`, the `answers`, those that save most first, the
    `bounds`, what takes longest first, and the `parts`, the same of loops and cells.

    `primitive` asks for the latencies of multipliers and dividers instead: `{"std_mult_pipe": 1}`; and so do the others for what their
    options say: `cycles={"main.load": 2}, condition="main.while@L12"`. `budget` is how long to try what is simulated, in seconds or as
    the command takes it.

    Raises `Error` with the message of the command.
    """
    scratch = Scratch()
    argument, text = _arguments.design(design)
    with _arguments.data(data, scratch.path) as of_data:
        arguments = [
            "whatif",
            "--quiet",
            "--format=json",
            f"--out={os.fspath(scratch.path / 'profile')}",
            *of_data,
            *_arguments.compiling(passes, disable_pass, extra_opt, library),
            *(f"--primitive={name}={latency}" for name, latency in (primitive or {}).items()),
            *(f"--cycles={name}={each}" for name, each in (cycles or {}).items()),
            *_arguments.several("--overhead", overhead),
            *_arguments.several("--condition", condition),
            *_arguments.several("--balance", balance),
            *_arguments.several("--order", order),
            *([f"--budget={budget}"] if budget is not None else []),
            "--",
            argument,
        ]
        found: Dict[str, Any] = json.loads(_petal.call(arguments, text))
    return found
