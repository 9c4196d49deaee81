#!/usr/bin/env python3
"""What a lowered design leaves in its memories, compiled by the Calyx compiler's own driver and simulated by Verilator.

    driver.py LIBRARY CALYX DESIGN.futil OUT.json [--outside]

The data file of the design says which memories there are, and the formats of their words; OUT.json has all their words as numbers without a sign, and the
cycles of the run. With `--outside` the driver makes ports of the memories, and modules around the design have what is behind them.
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "integrations/calyx"))
import table  # noqa: E402


def outside(plain, without, names, library):
    """A design whose `@external` cells are outside, with the same cells around it. `plain` has them inside."""
    main = plain[re.search(r"^module main\b", plain, re.M).start():]
    files = re.search(r"^string DATA;.*?^final begin.*?^end$", main, re.M | re.S)[0]
    cells = re.compile(r"^\w+ # \([^;]*?^\) (\w+) \([^;]*?^\);", re.M)
    inside = cells.findall(without[re.search(r"^module main\b", without, re.M).start():])
    # Registers may be outside, too.
    moved = [cell for cell in cells.finditer(main) if cell[1] not in inside]
    assert {cell[1] for cell in moved} >= set(names), names
    lines = [files]
    for cell in moved:
        for wire in re.findall(r"\.\w+\((\w+)\)", cell[0][cell[0].index(f") {cell[1]} ("):]):
            lines += re.findall(rf"^logic (?:\[\d+:0\] )?{wire};", main, re.M)
        lines.append(cell[0])
    modules = ""
    for file in ("seq", "comb"):
        text = (library / f"primitives/memories/{file}.sv").read_text()
        if f"module {file}_mem_d1" not in without:
            modules += text
    around = "\n".join(lines)
    return f"{without}\n{modules}\nmodule around(input logic go, clk, reset, output logic done);\n{around}\nmain main(.*);\nendmodule\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkout", metavar="LIBRARY", type=Path)
    parser.add_argument("driver")
    parser.add_argument("design", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--outside", action="store_true")
    args = parser.parse_args()
    args.flags = ["-p", "none"]
    design = args.design.resolve()
    data = table.data_of(design)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        text, top = table.compiled(design, args.driver, args, folder), "main"
        if args.outside:
            args.flags = ["-p", "externalize"]
            without = table.compiled(design, args.driver, args, folder)
            text, top = outside(text, without, list(data), args.checkout), "around"
        cycles, memories = table.simulated(text, design, args, folder, top)
    for name, memory in data.items():
        width = table.width(memory["format"])
        form = {"numeric_type": "bitnum", "is_signed": False, "width": width}
        data[name] = {"data": memories[name], "format": form}
    args.out.write_text(json.dumps({"cycles": cycles, "memories": data}))


if __name__ == "__main__":
    main()
