"""The sum of some readings and the sum of their squares, as mean and variance need them."""

import os

import calyx.builder as cb

COUNT = 12


def add_main(prog):
    main = prog.component("main")
    readings = main.seq_mem_d1("readings", 32, COUNT, 4, is_external=True)
    sums = main.seq_mem_d1("sums", 32, 2, 1, is_external=True)

    index = main.reg(4, "index")
    reading = main.reg(32, "reading")
    square = main.reg(32, "square")
    total = main.reg(32, "total")
    squares = main.reg(32, "squares")

    more = main.lt_use(index.out, COUNT)
    load = main.mem_load_d1(readings, index.out, reading, "load")
    add_reading = main.add_store_in_reg(total.out, reading.out, total)[0]
    multiply = main.mult_pipe(32, "multiply")
    with main.group("square_reading") as square_reading:
        multiply.left = reading.out
        multiply.right = reading.out
        multiply.go = ~multiply.done @ cb.HI
        square.write_en = multiply.done
        square.in_ = multiply.out
        square_reading.done = square.done
    add_square = main.add_store_in_reg(squares.out, square.out, squares)[0]
    step = main.incr(index)

    main.control += [
        cb.while_with(
            more,
            [
                load,
                cb.par(add_reading, [square_reading, add_square]),
                step,
            ],
        ),
        main.mem_store_d1(sums, 0, total.out, "store_total"),
        main.mem_store_d1(sums, 1, squares.out, "store_squares"),
    ]


if __name__ == "__main__":
    prog = cb.Builder(fileinfo_base_path=os.path.dirname(os.path.realpath(__file__)))
    add_main(prog)
    prog.program.emit()
