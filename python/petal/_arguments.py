"""From what Python hands over to the arguments of the command."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from ._petal import Error

#: A Calyx program: the path of a file, its text, or an object that makes the text, such as calyx-py's builder.
Design = Union[str, "os.PathLike[str]", Any]

#: The contents of memories: the path of a data file, or what is in one.
Data = Union[str, "os.PathLike[str]", Mapping[str, Any]]

#: What to observe: the path of a file, or the options of `petal run` by name, such as `{"count": ["main.mem.writes"]}`.
Observe = Union[str, "os.PathLike[str]", Mapping[str, Any]]


def design(given: Design) -> Tuple[str, str]:
    """The argument that stands for a design, and what is on standard input."""
    if isinstance(given, os.PathLike):
        return os.fspath(given), ""
    if isinstance(given, str):
        # A path has no line breaks, and no program does without braces.
        return ("-", given) if "\n" in given or "{" in given else (given, "")
    # calyx-py: a builder has a program, which has a text.
    program: Any = getattr(given, "program", given)
    text = program.doc() if hasattr(program, "doc") else program
    if not isinstance(text, str):
        raise TypeError(
            f"a design is a path, the text of a Calyx program, or an object with a `program`, and not a {type(given).__name__}"
        )
    return "-", text


def absolute(given: Any) -> Any:
    """The same paths, wherever the process goes; what is no path as it is."""
    if isinstance(given, (list, tuple)):
        return [absolute(path) for path in given]
    return os.path.abspath(given) if isinstance(given, (str, os.PathLike)) else given


@contextlib.contextmanager
def data(given: Optional[Data], scratch: Path) -> Iterator[List[str]]:
    """The arguments for the contents of memories."""
    if given is None:
        yield []
    elif isinstance(given, (str, os.PathLike)):
        yield ["--data", os.fspath(given)]
    else:
        path = scratch / "data.json"
        memories = {name: _memory(memory) for name, memory in given.items()}
        path.write_text(json.dumps(memories, default=_plain), encoding="utf-8")
        try:
            yield ["--data", os.fspath(path)]
        except Error as error:
            # The user has no such file.
            told = Error(str(error).replace(os.fspath(path), "data"))
            told.code = error.code
            raise told from None


def _memory(given: Any) -> Any:
    """A memory as a data file has it; numpy's arrays of integers tell their format."""
    kind = getattr(getattr(given, "dtype", None), "kind", None)
    if kind not in ("b", "u", "i"):
        return given
    width = 1 if kind == "b" else 8 * given.dtype.itemsize
    # numpy makes 64 bits with a sign of plain numbers, so they tell nothing while none is negative.
    is_signed = kind == "i" and (width < 64 or bool((given < 0).any()))
    form = {"numeric_type": "bitnum", "is_signed": is_signed, "width": width}
    return {"data": given, "format": form}


def _plain(given: Any) -> Any:
    """What JSON has no word for: arrays and numbers of numpy."""
    if hasattr(given, "tolist"):
        # JSON's truth values are no numbers.
        return (given.astype(int) if getattr(given.dtype, "kind", "") == "b" else given).tolist()
    raise TypeError(f"data has numbers, lists and numpy's arrays, and not a {type(given).__name__}")


def several(option: str, values: Union[None, str, "os.PathLike[str]", Sequence[Any]]) -> List[str]:
    """An option that may be repeated."""
    if values is None:
        return []
    if isinstance(values, (str, os.PathLike)):
        values = [values]
    return [f"{option}={os.fspath(value)}" for value in values]


def observe(given: Optional[Observe]) -> List[str]:
    """The arguments for observations."""
    if given is None:
        return []
    if isinstance(given, (str, os.PathLike)):
        return ["--observe", os.fspath(given)]
    arguments = []
    if given.get("events") == "-":
        raise ValueError("events need a file to go to: nobody reads them here while the run goes on")
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if isinstance(value, Mapping):
            # What each is called.
            arguments += [f"{option}={called}={expression}" for called, expression in value.items()]
        elif isinstance(value, (list, tuple)):
            arguments += [f"{option}={one}" for one in value]
        elif value is True:
            arguments.append(option)
        elif value is not None and value is not False:
            arguments.append(f"{option}={value}")
    return arguments


def compiling(
    passes: Optional[str],
    disable_pass: Union[None, str, Sequence[str]],
    extra_opt: Union[None, str, Sequence[str]],
    library: Union[None, str, "os.PathLike[str]", Sequence[Any]],
) -> List[str]:
    """The arguments that tell how a design is compiled."""
    return [
        *(["--passes", passes] if passes is not None else []),
        *several("--disable-pass", disable_pass),
        *several("--extra-opt", extra_opt),
        *several("--library", library),
    ]
