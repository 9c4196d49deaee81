"""petal: a cycle-level profiler for hardware written in the Calyx intermediate language.

    >>> import petal
    >>> profile = petal.run("design.futil")
    >>> profile.cycles
    60

`run` profiles a design, `open` takes a folder that the command `petal run` wrote. A `Profile` has the tables of the run as Arrow,
which Polars, pandas, DuckDB and pyarrow take without a copy: `polars.DataFrame(profile.statements)`. What goes wrong is an
`Error` with the message of the command. `sweep` does all runs that a file describes, here or on a cluster of Dask.
"""

from ._arguments import Design
from ._petal import Error, Table, __version__
from ._profile import Flame, Profile, Report, open, run
from ._results import Advice, Comparison, advise, compare
from ._sweep import Sweep, sweep
from ._whatif import whatif

__all__ = [
    "Advice",
    "Comparison",
    "Design",
    "Error",
    "Flame",
    "Profile",
    "Report",
    "Sweep",
    "Table",
    "__version__",
    "advise",
    "compare",
    "open",
    "run",
    "sweep",
    "whatif",
]
