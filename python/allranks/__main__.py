import os
import sys

from allranks import find_program


def main() -> None:
    try:
        program = find_program()
    except FileNotFoundError as error:
        sys.exit(f"allranks: error: {error}")
    # The same process: signals, streams and the exit code are the program's own.
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
