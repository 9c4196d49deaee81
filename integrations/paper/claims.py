#!/usr/bin/env python3
"""Holds petal against the artifact of its paper, claim by claim, and prints `docs/paper.md`.

    python3 integrations/paper/claims.py CHECKOUT > docs/paper.md

CHECKOUT is a clone of the artifact, calyxir/calyx-profiler-eval. `--dahlia PROGRAM` names the Dahlia compiler; what needs it is left out without it, and the page
says so.
"""

import argparse
import csv
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ALL_BUT = ["-d", "papercut", "-d", "cell-share", "-d", "group2seq"]

# What the paper and the artifact's README say: design, data, options, cycles.
CYCLES = [
    ("3", "switch-case, `par` of branches", "sec-03/switch-case-par.futil", "sec-03/switch-case.data", [], 9),
    ("3", "switch-case, nested `if`", "sec-03/switch-case-nested-if.futil", "sec-03/switch-case.data", [], 6),
    ("10.1", "FFNN, original", "sec-10/ffnn-original.futil", "sec-10/ffnn.data", ALL_BUT, 409_715),
    ("10.1", "FFNN, optimised", "sec-10/ffnn-optimized.futil", "sec-10/ffnn.data", ALL_BUT, 287_603),
    ("10.2", "packet queue, original", "sec-10/queues-original.futil", "sec-10/queues.data", [], 1_489_329),
    ("10.2", "packet queue, switch-case", "sec-10/queues-switch-case-opt.futil", "sec-10/queues.data", [], None),
    ("10.2", "packet queue, `while`", "sec-10/queues-while-opt.futil", "sec-10/queues.data", [], None),
    ("10.2", "packet queue, static", "sec-10/queues-static-opt.futil", "sec-10/queues.data", [], None),
    ("10.2", "packet queue, optimised", "sec-10/queues-full-opt.futil", "sec-10/queues.data", [], 791_200),
    ("10.2", "`while`, original", "sec-10/while-original.futil", "sec-10/while.data", [], 17),
    ("10.2", "`while`, transformed by hand", "sec-10/while-manual.futil", "sec-10/while.data", [], 16),
    ("10.2", "`while`, optimised", "sec-10/while-optimized.futil", "sec-10/while.data", [], 13),
]

# The stretches of cycles that figures show: design, cycles, the part of the design.
FIGURES = [
    ("5", "switch-case, `par` of branches", "sec-03/switch-case-par.futil", (0, 9), None),
    ("14a", "FFNN, original", "sec-10/ffnn-original.futil", (1855, 1877), "main.forward_instance"),
    ("14b", "FFNN, optimised", "sec-10/ffnn-optimized.futil", (1849, 1866), "main.forward_instance"),
    ("15b", "one call of `myqueue`", "sec-10/queues-original.futil", (305, 375), "main.dataplane.myqueue"),
    ("18", "`while`, original", "sec-10/while-original.futil", (0, 17), None),
    ("19", "`while`, transformed by hand", "sec-10/while-manual.futil", (0, 16), None),
    ("20", "`while`, optimised", "sec-10/while-optimized.futil", (0, 13), None),
]

# Designs in Dahlia: section, what, design, data, options, cycles.
DAHLIA = [
    ("8", "dahlia-example", "sec-08/dahlia-example.fuse", "sec-08/dahlia-example.fuse.data", [], None),
    ("9.1", "2mm without static promotion", "sec-09/linear-algebra-2mm.fuse", "sec-09/linear-algebra-2mm.data",
     ["-d", "static-promotion", "-d", "group2seq"], None),
    ("9.1", "2mm", "sec-09/linear-algebra-2mm.fuse", "sec-09/linear-algebra-2mm.data", ["-d", "group2seq"], None),
    ("9.2", "3mm", "sec-09/linear-algebra-3mm.fuse", "sec-09/linear-algebra-3mm.data", [], None),
    ("9.2", "3mm without resource sharing", "sec-09/linear-algebra-3mm.fuse", "sec-09/linear-algebra-3mm.data",
     ["-d", "cell-share"], None),
    ("11", "sandpile, original", "sec-11/sandpile-original.fuse", "sec-11/sandpile.data", [], 45_536),
    ("11", "sandpile, optimised", "sec-11/sandpile-optimized.fuse", "sec-11/sandpile.data", [], 33_632),
]


class Artifact:
    """The artifact, and the profiles of its designs."""

    def __init__(self, options, folder):
        self.studies = Path(options.checkout) / "case-studies"
        self.petal = options.petal
        self.dahlia = options.dahlia
        self.folder = folder
        self.profiles = {}

    def profile(self, design, data, options):
        """The folder of a profile, the seconds that it took, and what was wrong."""
        key = (design, *options)
        if key not in self.profiles:
            self.profiles[key] = self._run(design, data, options)
        return self.profiles[key]

    def _run(self, design, data, options):
        source = self.studies / design
        if source.suffix == ".fuse":
            if not self.dahlia:
                return None, None, "needs the Dahlia compiler"
            lowered = self.folder / (source.stem + ".futil")
            made = [*self.dahlia.split(), str(source), "-b", "calyx", "--lower", "-l", "error"]
            lowered.write_text(subprocess.run(made, check=True, capture_output=True, text=True).stdout)
            source = lowered
        out = self.folder / f"profile-{len(self.profiles)}"
        command = [self.petal, "run", "-q", str(source), "--data", str(self.studies / data), "--out", str(out)]
        start = time.monotonic()
        run = subprocess.run([*command, *options], capture_output=True, text=True)
        seconds = time.monotonic() - start
        if run.returncode:
            return None, None, run.stderr.strip().splitlines()[0]
        return out, seconds, None

    def ask(self, *words):
        """What a command of petal prints."""
        return subprocess.run([self.petal, *words], check=True, capture_output=True, text=True).stdout


def cycles_of(profile):
    return json.loads((profile / "summary.json").read_text())["cycles"]


def number(value):
    return "" if value is None else f"{value:,}"


def table(headings, rows):
    print("| " + " | ".join(headings) + " |")
    print("| " + " | ".join(["---"] * len(headings)) + " |")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def command(design, data, options):
    return " ".join(["`petal run", Path(design).name, "--data", Path(data).name, *options]) + "`"


def cycles(artifact):
    print("## Cycles\n")
    rows = []
    for section, what, design, data, options, paper in [*CYCLES, *DAHLIA]:
        profile, _, problem = artifact.profile(design, data, options)
        found = cycles_of(profile) if profile else None
        same = "" if paper is None or found is None else "yes" if paper == found else "**no**"
        rows.append([section, what, command(design, data, options), number(paper), number(found) or problem, same])
    table(["section", "design", "command", "paper", "petal", "same"], rows)


def strategies(artifact):
    print("## Table 2: what each strategy saves\n")
    names = ["original", "switch-case-opt", "while-opt", "static-opt", "full-opt"]
    found = []
    for name in names:
        profile, _, problem = artifact.profile(f"sec-10/queues-{name}.futil", "sec-10/queues.data", [])
        if problem:
            print(f"{problem}\n")
            return
        found.append(cycles_of(profile))
    original, switch, loops, static, full = found
    saved = [original - switch, switch - loops, loops - static, static - full, original - full]
    # Each design has the strategies before it, too.
    labels = ["switch-case", "`while`", "static", "other", "total"]
    rows = [[label, "", "", number(cycles), f"{100 * cycles / original:.1f} %"] for label, cycles in zip(labels, saved)]
    for row in rows:
        row[1:3] = [{"total": "698,129"}.get(row[0], ""), {"total": "46.9 %"}.get(row[0], "")]
    table(["strategy", "paper", "paper, of the run", "petal", "petal, of the run"], rows)


def groups(artifact):
    print("## Table 1: groups of the neural network\n")
    profile, _, problem = artifact.profile("sec-10/ffnn-original.futil", "sec-10/ffnn.data", ALL_BUT)
    if problem:
        print(f"{problem}\n")
        return
    with open(profile / "stats" / "groups.csv", newline="", encoding="utf-8-sig") as file:
        wanted = {f"bb0_{at}" for at in range(72, 80)}
        rows = [row for row in csv.DictReader(file) if row["group"] in wanted]
    columns = ["group", "times active", "total cycles", "min", "max", "avg"]
    table(columns, [[row[name] for name in columns] for row in rows])


def figures(artifact):
    print("## Stretches of cycles that figures show\n")
    options = {design: (data, rest) for _, _, design, data, rest, _ in CYCLES}
    for figure, what, design, (first, after), cell in FIGURES:
        data, rest = options[design]
        profile, _, problem = artifact.profile(design, data, rest)
        print(f"### Figure {figure}: {what}, cycles {first} to {after - 1}\n")
        if problem:
            print(f"{problem}\n")
            continue
        asked = ["trace", str(profile), "--cycles", f"{first}..{after}", "--json"]
        print(f"`petal trace petal-out/{Path(design).stem} --cycles {first}..{after}`: first cycle, how many are alike, and what is active"
              + (f" in `{cell}`" if cell else "") + ":\n")
        print("```text")
        for line in artifact.ask(*asked).splitlines():
            print(stretch(json.loads(line), cell))
        print("```\n")


def stretch(run, cell):
    """A line for cycles that are alike: the groups and cells below `cell` that nothing else is below, and whose overhead it is."""
    nodes = [node for node in run["tree"] if node["kind"] != "primitive"]
    leaves, inside = [], None
    for node, after in zip(nodes, [*nodes[1:], None]):
        if inside is not None and node["depth"] <= inside:
            inside = None
        is_it = cell is None or (node["kind"] == "cell" and node["label"].split(" ")[0] == cell.rsplit(".", 1)[-1])
        if inside is None and is_it:
            inside = node["depth"]
        if inside is None:
            continue
        if "overhead" in node:
            leaves.append(f"({node['overhead']} of {node.get('statement') or node['label']})")
        elif node["kind"] != "control" and (after is None or after["depth"] <= node["depth"]):
            leaves.append(node["label"])
    cycles = run["end"] - run["start"]
    return f"{run['start']:>6}  {cycles:>2}  {', '.join(leaves) or '-'}"


def times(artifact):
    print("## Section 7: times\n")
    path = artifact.studies / "paper-performance-results.csv"
    with open(path, newline="") as file:
        rows = []
        for row in csv.DictReader(file):
            name = row["benchmark"]
            entries = [entry for entry in [*CYCLES, *DAHLIA] if Path(entry[2]).stem == name]
            if not entries:
                continue
            _, _, design, data, options, _ = entries[0]
            profile, seconds, problem = artifact.profile(design, data, options)
            mine = f"{seconds:.2f}" if profile else problem
            rows.append([name, row["probe-count"], f"{float(row['petal-e2e']):.2f}", mine])
    table(["design", "probes of the authors", "authors, s", "petal, s"], rows)
    print("The authors' seconds are those of their own machine, petal's those of the one that wrote this page: they say how far apart the tools are, "
          "not more. Both are of the whole profile, from the Calyx program to all outputs.\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", help="a clone of calyxir/calyx-profiler-eval")
    parser.add_argument("--petal", default=shutil.which("petal") or "petal", help="the petal to use")
    parser.add_argument("--dahlia", help="the Dahlia compiler")
    parser.add_argument("--times", action="store_true", help="tell how long profiles take, too: of an optimised petal on a quiet machine")
    options = parser.parse_args()
    if not (Path(options.checkout) / "case-studies").is_dir():
        sys.exit(f"error: {options.checkout} has no folder case-studies: name a clone of calyxir/calyx-profiler-eval")
    with tempfile.TemporaryDirectory() as folder:
        artifact = Artifact(options, Path(folder))
        print("# petal and the paper\n")
        print("Numbers of sections, figures and tables are those of the artifact, calyxir/calyx-profiler-eval. "
              "`integrations/paper/claims.py CHECKOUT` writes this page.\n")
        cycles(artifact)
        strategies(artifact)
        groups(artifact)
        figures(artifact)
        if options.times:
            times(artifact)


if __name__ == "__main__":
    main()
