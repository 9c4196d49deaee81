#!/usr/bin/env python3
"""Times whole `petal` commands on growing designs, and prints the tables of docs/performance.md.

    cargo build --release && python3 benches/growth.py target/release/petal

Each time is the median of several runs. Peaks include the 15 MB of the script itself, which a process
begins as a copy of. Nothing is asserted: machines differ.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

PETAL = pathlib.Path(sys.argv[1]).resolve()
RUNS = 5

HEAD = 'import "primitives/core.futil";\n'


def timed(*args, runs=RUNS):
    """Median seconds, peak MB and median seconds of the processors of a command."""
    seconds, memory, used = [], 0, []
    for _ in range(runs):
        start = time.monotonic()
        process = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds.append(time.monotonic() - start)
        if status != 0:
            sys.exit(f"failed: {' '.join(map(str, args))}")
        memory = max(memory, usage.ru_maxrss / 1024)
        used.append(usage.ru_utime + usage.ru_stime)
    return statistics.median(seconds), memory, statistics.median(used)


def read_once(path):
    """Median seconds to read a file that is in memory already."""
    return timed("dd", f"if={path}", "of=/dev/null", "bs=1M")[0]


def loop(iterations):
    """A loop of four groups that takes 6 cycles an iteration."""
    groups = "".join(
        f"group g{at} {{ r{at}.in = i.out; r{at}.write_en = 1'd1; g{at}[done] = r{at}.done; }}\n"
        for at in range(4)
    )
    cells = "".join(f"@external r{at} = std_reg(32); " for at in range(4))
    return HEAD + f"""component main() -> () {{
  cells {{ {cells} i = std_reg(32); next = std_add(32); more = std_lt(32); }}
  wires {{
{groups}
    next.left = i.out; next.right = 32'd1; more.left = i.out; more.right = 32'd{iterations};
    group step {{ i.in = next.out; i.write_en = 1'd1; step[done] = i.done; }}
  }}
  control {{ while more.out {{ seq {{ g0; par {{ g1; g2; }} g3; step; }} }} }}
}}
"""


def groups(count, cycles):
    """A loop of so many groups, each of which has a register, that takes about so many cycles."""
    cells = "".join(f"    @external r{at} = std_reg(8);\n" for at in range(count))
    cells += "    i = std_reg(32); next = std_add(32); more = std_lt(32);\n"
    wires = "".join(
        f"    group g{at} {{ r{at}.in = 8'd1; r{at}.write_en = 1'd1; g{at}[done] = r{at}.done; }}\n"
        for at in range(count)
    )
    wires += (
        "    group step { i.in = next.out; i.write_en = 1'd1; step[done] = i.done; }\n"
        "    next.left = i.out; next.right = 32'd1; more.left = i.out; "
        f"more.right = 32'd{cycles // (count + 2)};\n"
    )
    control = " ".join(f"g{at};" for at in range(count))
    return HEAD + (
        f"component main() -> () {{\n  cells {{\n{cells}  }}\n  wires {{\n{wires}  }}\n"
        f"  control {{ while more.out {{ seq {{ {control} step; }} }} }}\n}}\n"
    )


def arms(period, rounds):
    """Two loops beside each other, of `period` and `period + 1` groups: so many pairs of groups,
    and so many different call trees."""
    cells, wires, control = "", "", ""
    for arm, (length, count) in enumerate([(period, rounds * (period + 1)), (period + 1, rounds * period)]):
        cells += f"    i{arm} = std_reg(32); n{arm} = std_add(32); l{arm} = std_lt(32);\n"
        wires += (
            f"    n{arm}.left = i{arm}.out; n{arm}.right = 32'd1; l{arm}.left = i{arm}.out; "
            f"l{arm}.right = 32'd{count};\n"
        )
        names = []
        for at in range(length):
            target = f"i{arm}" if at == 0 else f"r{arm}_{at}"
            source = f"n{arm}.out" if at == 0 else "32'd1"
            if at > 0:
                cells += f"    @external {target} = std_reg(32);\n"
            wires += (
                f"    group g{arm}_{at} {{ {target}.in = {source}; {target}.write_en = 1'd1; "
                f"g{arm}_{at}[done] = {target}.done; }}\n"
            )
            names.append(f"g{arm}_{at};")
        control += f"      while l{arm}.out {{ seq {{ {' '.join(names)} }} }}\n"
    return HEAD + (
        f"component main() -> () {{\n  cells {{\n{cells}  }}\n  wires {{\n{wires}  }}\n"
        f"  control {{\n    par {{\n{control}    }}\n  }}\n}}\n"
    )


def instances(count, rounds):
    """So many instances of a component, of which one counts to `rounds` and the others sleep."""
    cells = "".join(f"    s{at} = worker();\n" for at in range(count))
    sleepers = " ".join(f"invoke s{at}(rounds = 32'd0)();" for at in range(1, count))
    return HEAD + f"""component worker(rounds: 32) -> () {{
  cells {{ i = std_reg(32); next = std_add(32); more = std_lt(32); acc = std_reg(32); sum = std_add(32); }}
  wires {{
    next.left = i.out; next.right = 32'd1; more.left = i.out; more.right = rounds;
    sum.left = acc.out; sum.right = i.out;
    group add {{ acc.in = sum.out; acc.write_en = 1'd1; add[done] = acc.done; }}
    group step {{ i.in = next.out; i.write_en = 1'd1; step[done] = i.done; }}
  }}
  control {{ while more.out {{ seq {{ add; step; }} }} }}
}}
component main() -> () {{
  cells {{
{cells}  }}
  wires {{ }}
  control {{ seq {{ par {{ {sleepers} }} invoke s0(rounds = 32'd{rounds})(); }} }}
}}
"""


def cycles_of(folder):
    return json.loads((folder / "summary.json").read_text())["cycles"]


def megabytes(path):
    return path.stat().st_size / 1e6


def row(*cells):
    print("| " + " | ".join(cells) + " |")


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        design, out, vcd = folder / "design.futil", folder / "out", folder / "trace.vcd"
        run = [PETAL, "run", design, "-q", "--out", out]
        reconstruct = [PETAL, "reconstruct", out / "metadata.json", vcd, "--out", folder / "again", "-q"]

        print("Against cycles:\n")
        row("cycles", "`petal run`", "peak", "waveform", "reading it once", "`petal reconstruct`", "peak")
        row(*["---:"] * 7)
        for cycles in [10_000, 100_000, 1_000_000, 10_000_000]:
            design.write_text(loop(cycles // 4))
            runs = RUNS if cycles < 10_000_000 else 3
            whole, peak, _ = timed(*run, runs=runs)
            cycles = cycles_of(out)
            subprocess.run([*run, "--vcd", vcd], check=True)
            again, again_peak, _ = timed(*reconstruct, runs=runs)
            row(f"{cycles:,}", f"{whole:.2f} s", f"{peak:.0f} MB", f"{megabytes(vcd):,.1f} MB",
                f"{read_once(vcd):.3f} s", f"{again:.2f} s", f"{again_peak:.0f} MB")

        print("\nAgainst groups, each with two probes, in about 100,000 cycles:\n")
        row("groups", "`petal instrument`", "peak", "waveform", "reading it once", "`petal reconstruct`", "peak")
        row(*["---:"] * 7)
        for count in [10, 100, 1_000, 5_000]:
            design.write_text(groups(count, 100_000))
            instrument = [PETAL, "instrument", design, "--verilog", folder / "design.sv", "--metadata", folder / "m.json"]
            compiled, peak, _ = timed(*instrument, runs=RUNS if count < 1_000 else 1)
            subprocess.run([*run, "--vcd", vcd], check=True)
            again, again_peak, _ = timed(*reconstruct)
            row(f"{count:,}", f"{compiled:.2f} s", f"{peak:.0f} MB", f"{megabytes(vcd):,.1f} MB",
                f"{read_once(vcd):.3f} s", f"{again:.2f} s", f"{again_peak:.0f} MB")

        print("\nAgainst different call trees, in about a million cycles:\n")
        row("call trees", "cycles", "`petal run`", "peak")
        row(*["---:"] * 4)
        for period in [3, 10, 30, 100]:
            design.write_text(arms(period, 1_000_000 // (2 * period * (period + 1))))
            trees = [*run, "--passes", "no-opt"]
            whole, peak, _ = timed(*trees)
            trace = subprocess.Popen([PETAL, "trace", out, "--json"], stdout=subprocess.PIPE, text=True)
            different = len({line[line.index('"tree"'):] for line in trace.stdout})
            trace.wait()
            row(f"{different:,}", f"{cycles_of(out):,}", f"{whole:.2f} s", f"{peak:.0f} MB")

        print("\nAgainst the width of systolic arrays; what each of the cycles of 1,000 more products takes of the processors:\n")
        row("array", "`petal run`, short", "long", "per cycle", "per element and cycle", "peak")
        row(*["---:"] * 6)
        for size in [2, 4, 8, 16]:
            times, cycles = [], []
            for products in [100, 1_100]:
                systolic = pathlib.Path(__file__).with_name("systolic.py")
                subprocess.run([sys.executable, systolic, str(size), design, str(products)], check=True)
                _, peak, used = timed(*run, "--unverified", runs=3)
                times.append(used)
                cycles.append(cycles_of(out))
            pathlib.Path(f"{design}.data").unlink()
            each = (times[1] - times[0]) / (cycles[1] - cycles[0]) * 1e9
            row(f"{size} × {size}", f"{times[0]:.2f} s", f"{times[1]:.2f} s", f"{each:,.0f} ns",
                f"{each / size**2:,.0f} ns", f"{peak:.0f} MB")

        print("\nAgainst instances, of which one is awake; what each of its 1,600,000 more cycles takes of the processors:\n")
        row("instances", "`petal run`, short", "long", "per cycle")
        row(*["---:"] * 4)
        for count in [1, 10, 100, 1_000]:
            times, cycles = [], []
            for rounds in [25_000, 425_000]:
                design.write_text(instances(count, rounds))
                times.append(timed(*run, "--passes", "no-opt", "--unverified", runs=3)[2])
                cycles.append(cycles_of(out))
            each = (times[1] - times[0]) / (cycles[1] - cycles[0]) * 1e9
            row(f"{count:,}", f"{times[0]:.2f} s", f"{times[1]:.2f} s", f"{each:,.0f} ns")


main()
