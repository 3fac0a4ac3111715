"""allranks is one program; this package is how `python -m allranks` and tools that look for a module find it."""

import os
import shutil
import sys
import sysconfig


def find_program() -> str:
    """The path of the program that was installed with this package; an error names where it was looked for."""
    folders = [sysconfig.get_path("scripts")]
    # pip install --user, and pip install --target. The name of the user scheme is a question of Python 3.10 and later.
    user_scheme = getattr(sysconfig, "get_preferred_scheme", lambda _: "posix_user")("user")
    folders.append(sysconfig.get_path("scripts", scheme=user_scheme))
    folders.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"))
    folders.append(os.path.dirname(sys.executable))
    for folder in folders:
        path = os.path.join(folder, "allranks")
        if os.access(path, os.X_OK):
            return path
    on_path = shutil.which("allranks")
    if on_path:
        return on_path
    raise FileNotFoundError("the program `allranks` is in none of " + ", ".join(folders) + "; install the package again")
