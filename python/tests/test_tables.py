"""The tables, as Parquet files and as streams of Arrow: DuckDB, Polars, pandas and pyarrow read them, and they say what the other
outputs of the profile say."""

import csv
import json
import re

import duckdb
import pandas
import petal
import polars
import pyarrow
import pyarrow.parquet
import pytest
from conftest import EXAMPLES, ROOT

#: The table and the CSV file with the same rows.
OF_CSV = {"statements": "control", "groups": "groups", "cells": "cells", "lines": "lines"}


def column(heading):
    """What a heading of `petal stats` is called as a column."""
    return "_".join(re.findall("[a-z0-9]+", heading.replace("%", "percent").lower()))


def rows_of_csv(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def written(value):
    """A value as a CSV file has it."""
    if value is None:
        return ""
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def frame(profile, name):
    return polars.DataFrame(profile.table(name))


DESIGNS = [
    EXAMPLES / "matmul.futil",
    EXAMPLES / "shared-component.futil",
    EXAMPLES / "switch-case-par.futil",
    EXAMPLES / "neural-layer.futil",
    EXAMPLES / "adl" / "variance.futil",
    ROOT / "tests" / "corpus" / "struct-hostile-names.futil",
]


@pytest.fixture(scope="module", params=DESIGNS, ids=lambda path: path.stem)
def profile(request, tmp_path_factory):
    out = tmp_path_factory.mktemp("profile") / "out"
    profile = petal.run(request.param, out=out)
    assert profile.export() == out / "tables"
    return profile


def test_statistics_are_those_of_the_csv_files(profile):
    for name, file in OF_CSV.items():
        path = profile.folder / "stats" / f"{file}.csv"
        if not path.exists():
            assert name not in profile.tables
            continue
        rows = frame(profile, name)
        listed = rows_of_csv(path)
        assert len(listed) == rows.height > 0
        assert [column(heading) for heading in listed[0]] == rows.columns
        for of_csv, row in zip(listed, rows.iter_rows()):
            # Spreadsheets get an apostrophe before what they would take for a formula.
            texts = [re.sub("^'(?=[-=+@\t\r\n])", "", text) for text in of_csv.values()]
            assert texts == [written(value) for value in row]


def test_the_cycles_add_up_and_are_those_of_the_summary(profile):
    rows = frame(profile, "cycles")
    assert rows["cycles"].sum() == profile.cycles
    # No gap.
    ends = (rows["start"] + rows["cycles"]).to_list()
    assert rows["start"].to_list() == [0, *ends[:-1]]
    by_kind = dict(rows.group_by(polars.col("kind").cast(str)).agg(polars.col("cycles").sum()).iter_rows())
    summary = profile.summary
    assert by_kind.pop("computation", 0) == summary["computation_cycles"]
    assert by_kind.pop("conditions", 0) == summary["condition_cycles"]
    assert by_kind == {kind: cycles for kind, cycles in summary["overhead"].items() if cycles}
    # Each charged statement has what the table of statements says.
    texts = ["component", "statement", "line"]
    charged = rows.filter(polars.col("statement").is_not_null()).with_columns(polars.col(texts).cast(str))
    charged = charged.group_by(texts).agg(polars.col("cycles").sum())
    listed = frame(profile, "statements").filter(polars.col("overhead") > 0)
    listed = listed.with_columns(polars.col(texts).cast(str)).group_by(texts).agg(polars.col("overhead").sum())
    assert sorted(charged.rows(), key=str) == sorted(listed.rows(), key=str)


def test_the_run_is_that_of_the_summary(profile):
    [run] = frame(profile, "runs").to_dicts()
    summary = profile.summary
    assert run["cycles"] == profile.cycles == run["useful"] + run["overhead"]
    assert run["useful"] == run["computation"] + run["conditions"] == summary["useful_cycles"]
    kinds = ["fsm_update", "par_done_update", "fsm_and_par_done_update", "static_wait", "barrier", "start_finish", "other"]
    assert sum(run[kind] for kind in kinds) == run["overhead"] == summary["overhead_cycles"]
    assert (run["design"], run["data"], run["stopped"]) == (summary["design"], summary.get("data"), None)


def test_tables_join_by_the_numbers_of_sites(profile):
    sites = {row["site"]: row for row in polars.DataFrame(profile.sites).to_dicts()}
    spans = frame(profile, "spans").filter(polars.col("site").is_not_null())
    sums = spans.group_by("site").agg(polars.sum("cycles"), polars.sum("activations")).to_dicts()
    whole = [row for row in sums if sites[row["site"]]["cycles"] is not None]
    for row in whole:
        assert (row["cycles"], row["activations"]) == (sites[row["site"]]["cycles"], sites[row["site"]]["times_active"])
    assert whole
    assert all(sites[row["site"]]["path"] == row["cell"] for row in frame(profile, "cells").to_dicts())


def test_the_spans_are_the_slices_of_the_timeline(profile):
    events = json.loads((profile.folder / "timeline.json").read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    spans = frame(profile, "spans").to_dicts()
    assert len(slices) == len(spans)
    for event, span in zip(slices, spans):
        assert (event["ts"], event["dur"], event["cat"]) == (span["start"], span["cycles"], span["kind"])
        assert event["args"].get("activation") == span["activation"]
        # A cell tells its component there, the update of a register its values, and a line its text.
        name = event["name"].split(" [")[0]
        if event["cat"] in ("control register", "line"):
            name = name.split(" ")[0].removesuffix(":")
        if event["cat"] == "control register":
            name = name.split(":")[0]
        assert name in span["path"], (event, span)


def test_the_trees_hold_together(profile):
    rows = frame(profile, "trees").to_dicts()
    depths = {}
    for row in rows:
        parent = row["parent"]
        assert row["depth"] == (0 if parent is None else depths[row["tree"], parent] + 1)
        depths[row["tree"], row["node"]] = row["depth"]
    trees = {row["tree"] for row in rows}
    assert trees == set(range(len(trees)))
    assert set(frame(profile, "cycles")["tree"]) == trees
    # What a tree has is active: with its cycles, the spans of a path add up to them.
    db = duckdb.connect()
    cycles, tree, spans = (frame(profile, name) for name in ["cycles", "trees", "spans"])
    by_tree = db.sql(
        "SELECT path, sum(cycles) FROM (SELECT DISTINCT tree, path, kind FROM tree) nodes JOIN cycles USING (tree) "
        "WHERE nodes.kind IN ('cell', 'control') GROUP BY path ORDER BY path"
    ).fetchall()
    by_span = db.sql(
        "SELECT path, sum(cycles) FROM spans WHERE kind IN ('cell', 'control') GROUP BY path ORDER BY path"
    ).fetchall()
    assert by_tree == by_span


def test_files_and_streams_are_the_same(profile):
    files = {path.stem for path in (profile.folder / "tables").iterdir()}
    assert files == set(profile.tables)
    for name in profile.tables:
        path = profile.folder / "tables" / f"{name}.parquet"
        stream = pyarrow.table(profile.table(name))
        assert stream.schema.metadata[b"petal.schema"] == b"1"
        assert stream.schema.metadata[b"petal.table"] == name.encode()
        file = pyarrow.parquet.read_table(path)
        assert pyarrow.parquet.read_metadata(path).metadata[b"petal.schema"] == b"1"
        assert file.schema.names == stream.schema.names
        assert file.schema.types == stream.schema.types
        assert file.to_pylist() == stream.to_pylist()
        # All of them read all of it.
        rows = stream.num_rows
        assert duckdb.sql(f"SELECT count(*) FROM '{path}'").fetchall() == [(rows,)]
        assert polars.read_parquet(path).height == rows
        assert polars.DataFrame(profile.table(name)).height == rows
        assert len(pandas.read_parquet(path)) == rows
        rows_of = profile.table(name)
        assert duckdb.sql("SELECT count(*) FROM rows_of").fetchall() == [(rows,)]
        # A table can be taken again.
        assert pyarrow.table(rows_of).num_rows == pyarrow.table(rows_of).num_rows == rows


def test_observations_have_tables(observed):
    names = {path.stem for path in (observed.folder / "tables").iterdir()}
    assert {"checkpoints", "latencies", "blame", "changes", "violations", "counters", "samples"} <= names | {"blame"}
    results = json.loads((observed.folder / "observations.json").read_text())
    checkpoints = frame(observed, "checkpoints")
    assert checkpoints["cycle"].to_list() == results["checkpoints"][0]["cycles"]
    whole, fixed = results["checkpoints"][0]["values"]
    assert checkpoints["value_i"].to_list() == whole["bits"]
    assert checkpoints["value_sum"].to_list() == [bits / 256 for bits in fixed["bits"]]
    latencies = frame(observed, "latencies")
    assert [[row["start"], row["cycles"]] for row in latencies.to_dicts()] == results["latencies"][0]["intervals"]
    assert frame(observed, "violations")["cycles"].sum() == results["rules"][0]["cycles"]
    assert frame(observed, "changes")["new"].to_list() == [change["new"] for change in results["watches"][0]["changes"]]
    assert frame(observed, "changes")["by"].to_list() == [change["by"] for change in results["watches"][0]["changes"]]
    [counter] = frame(observed, "counters").to_dicts()
    samples = frame(observed, "samples")
    assert counter["total"] == results["counters"][0]["total"] == samples["sum"].sum()
    assert samples["cycles"].sum() == observed.cycles


def test_a_table_that_is_not_there_is_told(profile):
    with pytest.raises(KeyError, match="statements"):
        profile.table("nonsense")
    with pytest.raises(KeyError, match="nothing for the table `counters`"):
        profile.table("counters")


def test_long_runs_take_few_bytes_and_have_row_groups_by_cycles(tmp_path):
    profile = petal.run(EXAMPLES / "packet-scheduler.futil", out=tmp_path / "out")
    profile.export()
    path = profile.folder / "tables" / "spans.parquet"
    file = pyarrow.parquet.read_metadata(path)
    assert file.num_rows > 5_000_000
    assert path.stat().st_size / file.num_rows < 12
    ends = []
    for group in range(file.num_row_groups):
        start = file.row_group(group).column(0).statistics
        assert file.row_group(group).num_rows <= 1 << 18
        ends.append(start.max)
    assert len(ends) > 10 and ends == sorted(ends)
    found = duckdb.sql(f"SELECT count(*), max(start + cycles) FROM '{path}'").fetchall()
    assert found == [(file.num_rows, profile.cycles)]
    cycles = profile.folder / "tables" / "cycles.parquet"
    assert duckdb.sql(f"SELECT sum(cycles) FROM '{cycles}'").fetchall() == [(profile.cycles,)]
    # The stream is made while it is read, and may be left.
    reader = pyarrow.RecordBatchReader.from_stream(profile.spans)
    assert reader.read_next_batch().num_rows > 0
    del reader
