#!/usr/bin/env python3
"""Holds petal against the Calyx compiler that it was built with: writes the table of docs/compilers.md.

    integrations/calyx/table.py CHECKOUT --petal PETAL --driver CALYX [--petal PETAL --driver CALYX] [--out TABLE.md] [PROGRAM.futil ...]

Each program is compiled by the compiler's own driver and simulated by Verilator, with a testbench of this script; the
cycles and memories of `petal run` have to be the same, and so have those of the program's `.expect`, where it has one.
Without PROGRAM, all of the checkout's tests/correctness. Several compilers, each a driver and a petal, have columns of their own.
Needs the drivers (`cargo build` in the checkout, `cargo install calyx` for the published compiler) and Verilator.
"""

import argparse
import concurrent.futures
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

TESTBENCH = """
module bench;
  logic clk = 0, reset = 1, go = 0, done;
  int cycles = 0;
  %(top)s main(.clk(clk), .reset(reset), .go(go), .done(done));
  always #5 clk = ~clk;
  always @(negedge clk) begin
    if (go && !done) cycles = cycles + 1;
  end
  initial begin
    repeat (3) @(negedge clk);
    #1 reset = 0;
    @(posedge clk); #1 go = 1;
    wait (done);
    @(negedge clk); #1;
    $display("CYCLES %%0d", cycles);
    $finish;
  end
  initial begin #%(limit)d; $display("STUCK"); $finish; end
endmodule
"""


# How many seconds a step may take, and what is said where Verilator takes longer.
TIMEOUT = 300
LATE = "not in time"
# Drivers and Verilator need these for floating point; what is said where they are not there.
FLOATING = re.compile("HardFloat|Morty")
WITHOUT = "without HardFloat"


def run(command):
    """Runs a command; returns what it printed, or raises with its last words. One that takes too long ends with all that it started."""
    pipe = subprocess.PIPE
    words = [str(word) for word in command]
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            out, errors = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode:
        raise RuntimeError((errors or out).strip())
    return out


def bits(value, form, width):
    """A value of a data file as the bits of a word."""
    kind = form.get("numeric_type", "bitnum")
    if kind == "ieee754_float":
        code = ">f" if form["width"] == 32 else ">d"
        return int.from_bytes(struct.pack(code, float(value)), "big")
    if kind == "fixed_point":
        fraction = form.get("frac_width")
        if fraction is None:
            fraction = form["width"] - form["int_width"]
        value = round(Fraction(str(value)) * 2**fraction)
    return int(value) % 2**width


def width(form):
    """The bits of a word of a data file."""
    return max(form.get("width", 0), form.get("int_width", 0) + form.get("frac_width", 0)) or 64


def flat(data):
    """The values of nested lists."""
    return [inner for value in data for inner in flat(value)] if isinstance(data, list) else [data]


def simulate(program, driver, args, folder):
    """The cycles and the words of the memories, by the compiler's own driver and Verilator."""
    return simulated(compiled(program, driver, args, folder), program, args, folder)


def compiled(program, driver, args, folder):
    """The Verilog of the compiler's own driver."""
    # With `-o`, the published compiler leaves out the primitives.
    compiling = ["-l", args.checkout, "-b", "verilog", *args.flags]
    try:
        return run([driver, program, *compiling])
    except RuntimeError:
        plain = folder / program.name
        plain.write_text(as_published(program.read_text()))
        return run([driver, plain, *compiling])


def simulated(text, program, args, folder, top=None):
    """The cycles and the words of the memories of a program's Verilog in Verilator."""
    verilog = folder / "design.sv"
    top = top or ("main" if re.search(r"^module main\b", text, re.M) else re.search(r"top=(\w+)", text)[1])
    # Executables of some Verilators ignore their arguments.
    verilog.write_text(re.sub(r"\S+ = \$value\$plusargs\(\"DATA=%s\", DATA\)", f'DATA = "{folder}"', text))
    bench = folder / "bench.sv"
    bench.write_text(TESTBENCH % {"top": top, "limit": 2_000_000_000})
    for memory in re.findall(r'readmemh\(\{DATA, "/(\S+)\.dat"\}', text):
        (folder / f"{memory}.dat").write_text("")
    data = data_of(program)
    for name, memory in data.items():
        form = memory["format"]
        words = [f"{bits(value, form, width(form)):x}" for value in flat(memory["data"])]
        (folder / f"{name}.dat").write_text("\n".join(words) + "\n")
    run(
        ["verilator", "--binary", "--timing", "-j", "1", "-Wno-fatal", "--top", "bench",
         "-CFLAGS", "-O0", "-Mdir", folder / "build", "-o", "bench", *hardfloat(args.checkout), verilog, bench]
    )
    said = run([folder / "build" / "bench"])
    cycles = re.search(r"CYCLES (\d+)", said)
    if not cycles:
        raise RuntimeError("the simulation does not end")
    memories = {}
    for out in sorted(folder.glob("*.out")):
        words = [line.strip() for line in out.read_text().splitlines()]
        memories[out.stem] = [int(word, 16) for word in words if re.fullmatch("[0-9a-f]+", word)]
    return int(cycles[1]), memories


def hardfloat(checkout):
    """What Verilator needs for Berkeley HardFloat, where the checkout has it."""
    source = checkout / "primitives/float/HardFloat-1/source"
    folders = [folder for folder in (source, source / "RISCV") if folder.is_dir()]
    modules = [word for folder in folders for file in sorted(folder.glob("*.v")) for word in ("-v", file)]
    return [*(f"+incdir+{folder}" for folder in folders), *modules]


def as_published(text):
    """A program as the published compiler reads it: without what front ends say of their lines, and with the bits of floating-point constants."""
    text = re.sub(r"\bstd_float_const\(\s*\d+,\s*(\d+),\s*([^)\s]+)\s*\)", constant, text)
    text = re.sub(r"sourceinfo\s*#\{.*?\}#", "", text, flags=re.S)
    text = re.sub(r"@pos\{[^}]*\}", "", text)
    return re.sub(r'<"pos"=\{[^}]*\}>|"pos"=\{[^}]*\},\s*|,\s*"pos"=\{[^}]*\}', "", text)


def constant(found):
    """A constant with the bits of one in floating point."""
    width = int(found[1])
    return f"std_const({width}, {bits(found[2], {'numeric_type': 'ieee754_float', 'width': width}, width)})"


def data_of(program):
    """What is in the data file of a program."""
    for name in (f"{program}.data", f"{program}.data.json"):
        if Path(name).exists():
            return json.loads(Path(name).read_text())
    return {}


def profile(program, petal, args, folder):
    """The cycles and memories of `petal run`."""
    out = folder / "profile"
    data = Path(f"{program}.data")
    flags = ["--passes" if word == "-p" else word for word in args.flags]
    command = [petal, "run", program, "--out", out, "--library", args.checkout, *flags, "-q"]
    run(command + (["--data", data] if data.exists() else []))
    summary = json.loads((out / "summary.json").read_text())
    memories = json.loads((out / "memories.json").read_text())
    return summary["cycles"], memories, summary["verified"]


def words(memories, data):
    """The memories of `petal run` as words."""
    found = {}
    for name, memory in memories.items():
        form = memory["format"]
        found[name] = [bits(value, form, width(form)) for value in flat(memory["data"])]
    return found


def first(error):
    """The first telling line of an error."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if re.search("rror|refuse|cannot|not", line)]
    return (told or lines or [""])[0].strip()[:150].replace("|", "\\|")


def row(program, args):
    """A row of the table, and whether it is as it should be."""
    name = program.relative_to(args.root) if program.is_relative_to(args.root) else program.name
    found = [cells(program, *compiler, args) for compiler in zip(args.driver, args.petal)]
    columns = [cell for pair, _, _ in found for cell in pair]
    rest = []
    for at in range(2):
        told = list(dict.fromkeys(other[at] for _, other, _ in found))
        rest.append("; ".join(told))
    return f"| `{name}` | {' | '.join(columns + rest)} |", all(good for _, _, good in found)


def cells(program, driver, petal, args):
    """The cycles by a compiler's driver and by petal, what is told of memories and proof, and whether all agree."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        try:
            cycles, memories = simulate(program, driver, args, folder)
        except RuntimeError as error:
            cycles, memories = WITHOUT if FLOATING.search(str(error)) else first(error), None
        except subprocess.TimeoutExpired:
            # Verilator and the C++ compiler have to get through the whole design.
            cycles, memories = LATE, None
        try:
            own, own_memories, verified = profile(program, petal, args, folder)
            own_words = words(own_memories, data_of(program))
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            own, own_words, verified = first(error), None, "–"
    if memories is None and own_words is None:
        return ["refused", "refused"], ["–", f"the compiler's: {cycles}"], True
    expected = program.with_suffix(".expect")
    if cycles in (LATE, WITHOUT) and own_words is not None and expected.exists():
        good = agrees(own_memories, expected)
        return [cycles, str(own)], ["as `.expect` says" if good else "NOT AS EXPECTED", verified], good
    if memories is None or own_words is None:
        return [str(cycles), str(own)], ["–", "DIFFERS"], False
    same = memories == own_words
    held = "same"
    if expected.exists():
        held = "same, as `.expect` says" if agrees(own_memories, expected) else "NOT AS EXPECTED"
    good = same and cycles == own and "NOT" not in held
    return [str(cycles), str(own)], [held if same else "DIFFER", verified], good


def agrees(memories, expected):
    """Whether an `.expect` file has the same memories."""
    text = re.sub(r"^---(CODE|STDERR)---.*?(?=^\{|\Z)", "", expected.read_text(), flags=re.M | re.S)
    try:
        wanted = json.loads(text[text.index("{"):])
    except ValueError:
        return True
    wanted = wanted.get("memories", wanted)
    found = {name: memory["data"] for name, memory in memories.items()}
    near = lambda a, b: str(a) == str(b) or (
        isinstance(a, (int, float)) and isinstance(b, (int, float, str)) and abs(float(a) - float(b)) < 1e-9
    )
    return all(
        name in found
        and len(flat(data)) == len(flat(found[name]))
        and all(near(a, b) for a, b in zip(flat(found[name]), flat(data)))
        for name, data in wanted.items()
        if isinstance(data, list)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("programs", type=Path, nargs="*")
    parser.add_argument("--petal", action="append", default=[])
    parser.add_argument("--driver", action="append", default=[])
    parser.add_argument("--flags", default="", help="flags for both, such as `-p no-opt`")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    args = parser.parse_intermixed_args()
    args.petal, args.driver = args.petal or ["petal"], args.driver or ["calyx"]
    if len(args.petal) != len(args.driver):
        parser.error("each petal needs the driver of its compiler")
    args.flags = args.flags.split()
    # Where upstream's driver looks for HardFloat.
    os.environ.setdefault("CALYX_PRIMITIVES_DIR", str(args.checkout.resolve()))
    args.root = args.checkout / "tests" / "correctness"
    programs = args.programs or sorted(args.root.rglob("*.futil"))
    out = args.out.open("w") if args.out else sys.stdout
    names = [run([petal, "--version"]).splitlines()[1] for petal in args.petal]
    columns = [f"{name}: cycles in Verilator | of petal" for name in names]
    out.write(f"| program | {' | '.join(columns)} | memories | verified by |\n")
    out.write(f"| --- |{' ---: | ---: |' * len(names)} --- | --- |\n")
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for line, good in pool.map(lambda program: row(program, args), programs):
            out.write(line + "\n")
            out.flush()
            bad += not good
    print(f"{len(programs)} programs, {bad} differ", file=sys.stderr)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
