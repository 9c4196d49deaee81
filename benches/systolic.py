#!/usr/bin/env python3
"""Writes a systolic array that multiplies two matrices, as a front end of Calyx writes them.

    python3 benches/systolic.py 8 systolic-8.futil [600]

The last number is how often the matrices are multiplied: once, if it is not given.
N × N processing elements: static groups, a `static if` for each part of each element, and continuous
assignments between them (for N = 16: 1,226 enables and 1,494 continuous assignments). Row r of the left
matrix is in memory `l{r}`, column c of the other one in `t{c}`; `out` gets the product, row by row. The
data file has entry r * N + c + 1 at row r and column c of both.
"""

import json
import sys

# Of the multiplier, in cycles.
LATENCY = 4


def array(size):
    cells, wires, body, starts = [], [], [], []
    # Times of the wave: when memory streams, when an element has its operands, when it is done.
    last = 3 * size + LATENCY
    width = 32
    address = max(1, (size - 1).bit_length())

    windows = set()

    def during(first, end):
        """The register that is high while the index is in first..end; elements of one diagonal share it."""
        name = f"idx_between_{first}_{end}"
        if name not in windows:
            windows.add(name)
            cells.append(f"{name}_reg = std_reg(1);")
            cells.append(f"{name}_ge = std_ge({width}); {name}_lt = std_lt({width}); {name}_and = std_and(1);")
            wires.append(f"{name}_ge.left = idx_add.out; {name}_ge.right = {width}'d{first};")
            wires.append(f"{name}_lt.left = idx_add.out; {name}_lt.right = {width}'d{end};")
            wires.append(f"{name}_and.left = {name}_ge.out; {name}_and.right = {name}_lt.out;")
            body.append(group(f"{name}_check", f"{name}_reg.in = {name}_and.out; {name}_reg.write_en = 1'd1;"))
            high = int(first == 0)
            starts.append(group(f"{name}_init", f"{name}_reg.in = 1'd{high}; {name}_reg.write_en = 1'd1;"))
        return f"{name}_reg.out"

    def group(name, text):
        wires.append(f"static<1> group {name} {{ {text} }}")
        return f"{name};"

    def when(condition, parts):
        body.append(f"static if {condition} {{ static par {{ {' '.join(parts)} }} }}")

    cells.append(f"idx = std_reg({width}); idx_add = std_add({width}); more = std_reg(1); more_lt = std_lt({width});")
    wires.append(f"idx_add.left = idx.out; idx_add.right = {width}'d1; more_lt.left = idx_add.out; more_lt.right = {width}'d{last};")
    starts.append(group("idx_init", f"idx.in = {width}'d0; idx.write_en = 1'd1;"))
    starts.append(group("more_init", "more.in = 1'd1; more.write_en = 1'd1;"))
    body.append(group("idx_update", "idx.in = idx_add.out; idx.write_en = 1'd1;"))
    body.append(group("more_check", "more.in = more_lt.out; more.write_en = 1'd1;"))
    for side in "tl":
        for at in range(size):
            memory = f"{side}{at}"
            cells.append(f"@external {memory} = comb_mem_d1({width}, {size}, {address});")
            cells.append(f"{memory}_idx = std_reg({address}); {memory}_add = std_add({address});")
            wires.append(f"{memory}_add.left = {memory}_idx.out; {memory}_add.right = {address}'d1;")
            starts.append(group(f"{memory}_init", f"{memory}_idx.in = {address}'d0; {memory}_idx.write_en = 1'd1;"))
            target = f"top_0_{at}" if side == "t" else f"left_{at}_0"
            when(during(at, at + size), [
                group(f"{memory}_move", f"{memory}.addr0 = {memory}_idx.out; {target}.in = {memory}.read_data; {target}.write_en = 1'd1;"),
                group(f"{memory}_update", f"{memory}_idx.in = {memory}_add.out; {memory}_idx.write_en = 1'd1;"),
            ])
    for r in range(size):
        for c in range(size):
            element = f"pe_{r}_{c}"
            cells.append(f"{element} = mac_pe(); top_{r}_{c} = std_reg({width}); left_{r}_{c} = std_reg({width});")
            wires.append(f"{element}.top = top_{r}_{c}.out; {element}.left = left_{r}_{c}.out;")
            begin = r + c + 1
            multiplies = during(begin, begin + size)
            adds = during(begin + LATENCY, begin + LATENCY + size)
            wires.append(f"{element}.mul_ready = {multiplies}; {element}.add_ready = {adds};")
            moves = []
            if c + 1 < size:
                moves.append(group(f"{element}_right", f"left_{r}_{c + 1}.in = left_{r}_{c}.out; left_{r}_{c + 1}.write_en = 1'd1;"))
            if r + 1 < size:
                moves.append(group(f"{element}_down", f"top_{r + 1}_{c}.in = top_{r}_{c}.out; top_{r + 1}_{c}.write_en = 1'd1;"))
            if moves:
                when(multiplies, moves)
            when(during(begin, begin + LATENCY + size), [group(f"{element}_go", f"{element}.go = 1'd1;")])
    wide = max(1, (size * size - 1).bit_length())
    cells.append(f"@external out = comb_mem_d1({width}, {size * size}, {wide});")
    stores = []
    for r in range(size):
        for c in range(size):
            at = r * size + c
            wires.append(
                f"static<1> group store_{r}_{c} {{ out.addr0 = {wide}'d{at}; out.write_data = pe_{r}_{c}.out; out.write_en = 1'd1; }}"
            )
            stores.append(f"store_{r}_{c};")
    return cells, wires, starts, body, stores


HEAD = """import "primitives/core.futil";
import "primitives/binary_operators.futil";
import "primitives/pipelined.futil";
import "primitives/memories/comb.futil";

// Takes its operands where `mul_ready` is high, and adds the product that leaves the pipeline where `add_ready` is.
static<1> component mac_pe(top: 32, left: 32, mul_ready: 1, add_ready: 1) -> (out: 32) {
  cells { acc = std_reg(32); add = std_add(32); mul = pipelined_mult(32); }
  wires {
    static<1> group do_mul { mul.left = mul_ready ? top; mul.right = mul_ready ? left; }
    static<1> group do_add {
      add.left = acc.out;
      add.right = mul.out;
      acc.in = add.out;
      acc.write_en = add_ready ? 1'd1;
    }
    out = acc.out;
  }
  control { static par { do_mul; do_add; } }
}

component main() -> () {
"""


def data(size):
    matrix = [[r * size + c + 1 for c in range(size)] for r in range(size)]
    rows = {f"l{r}": matrix[r] for r in range(size)}
    columns = {f"t{c}": [row[c] for row in matrix] for c in range(size)}
    form = {"numeric_type": "bitnum", "is_signed": False, "width": 32}
    memories = rows | columns | {"out": [0] * size**2}
    return {name: {"data": words, "format": form} for name, words in memories.items()}


def main():
    size, path = int(sys.argv[1]), sys.argv[2]
    times = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    cells, wires, starts, body, stores = array(size)
    lines = [HEAD + "  cells {"]
    lines += ["    " + cell for cell in cells]
    lines += ["  }", "  wires {"]
    lines += ["    " + wire for wire in wires]
    begin = "seq {" if times == 1 else f"repeat {times} {{ seq {{"
    lines += ["  }", "  control {", f"    {begin}", "      static par { " + " ".join(starts) + " }"]
    lines += ["      while more.out {", "        static par {"]
    lines += ["          " + statement for statement in body]
    lines += ["        }", "      }"]
    lines += ["      " + store for store in stores]
    lines += ["    }" if times == 1 else "    } }", "  }", "}"]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    with open(f"{path}.data", "w") as file:
        json.dump(data(size), file)


main()
