"""The command, for processes that have the package alone: `python -m petal run design.futil`."""

import sys

from ._petal import Error, call


def main() -> int:
    arguments = sys.argv[1:]
    try:
        sys.stdout.write(call(arguments, sys.stdin.read() if "-" in arguments else ""))
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        return error.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
