"""The command, as `petal` and as `python -m petal`."""

import sys

from ._petal import main as _main


def main() -> int:
    arguments = sys.argv[1:]
    if arguments[:1] == ["sweep"] and not any(word.startswith("--program=") for word in arguments):
        # What starts the processes of a sweep: the command is no program of its own here.
        arguments[1:1] = [f"--program={word}" for word in (sys.executable, "-m", "petal")]
    return _main(arguments)


if __name__ == "__main__":
    sys.exit(main())
