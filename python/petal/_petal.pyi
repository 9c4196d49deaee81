import os
from typing import Any, List, Tuple, Union, final

__version__: str

class Error(Exception):
    """What a command of petal ends with: its message, and in `code` what the command exits with."""

    code: int

@final
class Table:
    """A table of a profile, as a stream of Arrow: Polars, pandas, DuckDB and pyarrow take it."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

def call(arguments: List[str], input: str) -> str: ...
def table_names() -> List[str]: ...
def small_tables(folder: Union[str, "os.PathLike[str]"]) -> List[Tuple[str, Table]]: ...
def long_table(folder: Union[str, "os.PathLike[str]"], name: str) -> Table: ...
