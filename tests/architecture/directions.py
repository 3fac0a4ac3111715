#!/usr/bin/env python3
"""Who may include whom: compares every #include and every DEPS with the table below.

usage: directions.py REPOSITORY. Prints each offending line as path:line and exits with 1 if there is one.
"""

import re
import sys
from fnmatch import fnmatch
from pathlib import Path

# A folder may use itself, the folders named here, and whatever those may use. Folders are matched from the first line
# down; `X/*` is any folder below X. A file of a folder that stands in no line is an error too.
ALLOWED = {
    "analyzer/base": ["analyzer/platform"],
    # Writing of files, for both halves of the tool.
    "analyzer/files": ["analyzer/platform"],
    # What only one operating system has.
    "analyzer/platform": [],
    "analyzer/toml": [],
    "witness": [],
    "analyzer/source": ["analyzer/base", "analyzer/files"],
    "analyzer/findings": ["analyzer/source", "witness"],
    "analyzer/ir": ["analyzer/findings"],
    "analyzer/knowledge": ["analyzer/findings", "analyzer/toml"],
    "analyzer/launch": ["analyzer/findings", "analyzer/toml"],
    # The one folder that knows what knowledge/ says.
    "analyzer/built_in": ["analyzer/knowledge", "analyzer/launch"],
    "analyzer/binding": ["analyzer/ir", "analyzer/knowledge"],
    "analyzer/variation": ["analyzer/binding"],
    "analyzer/traces": ["analyzer/variation", "witness"],
    "analyzer/objects": ["analyzer/launch", "analyzer/traces"],
    # Front ends never know each other: each stands in a folder of its own and names only the core.
    "frontends/*": ["analyzer/ir", "analyzer/launch", "analyzer/platform"],
    # A family of rules knows RULE_HEADERS and the core, never another family.
    "rules/*": ["rules", "analyzer/objects"],
    "rules": ["analyzer/objects", "analyzer/launch"],
    "driver/config": ["rules", "analyzer/findings", "analyzer/toml"],
    "driver/pipeline": ["analyzer/built_in", "analyzer/platform", "driver/config", "rules", "rules/*", "frontends/*", "analyzer/traces"],
    "driver/reports": ["rules", "analyzer/findings", "witness"],
    "driver/fixes": ["analyzer/findings"],
    "driver/baseline": ["analyzer/findings"],
    "driver/server": ["driver/baseline", "driver/fixes", "driver/pipeline", "driver/config", "driver/reports"],
    # What a job left behind: readers of files that nobody vouches for, and what follows from them; no parser of sources.
    "explain/readers": [],
    "explain/hang": ["explain/readers"],
    "driver/explain": ["explain/hang", "driver/pipeline", "driver/reports"],
    "driver/cli": ["driver/explain", "driver/server", "driver/baseline", "driver/fixes", "driver/pipeline", "driver/config", "driver/reports", "runtime-verify/program"],
    # The half that proves findings on ranks builds without a parser, and knows witnesses only.
    "runtime-verify/simulator": ["witness"],
    "runtime-verify/backends/*": ["runtime-verify/backends", "witness"],
    "runtime-verify/backends": ["witness"],
    "runtime-verify/worker": ["runtime-verify/backends", "witness"],
    "runtime-verify/coordinator": ["runtime-verify/worker", "runtime-verify/simulator", "witness"],
    # The programs of both halves of a run: whoever starts ranks, and the ranks.
    "runtime-verify/program": ["runtime-verify/coordinator", "runtime-verify/backends/*", "analyzer/files"],
}

# What rules of all families start from.
RULE_HEADERS = ("rule.h", "counted_loops.h", "finding_parts.h", "program_calls.h", "reductions.h", "scenario_witness.h", "seed_places.h", "share_uses.h", "source_edits.h", "sure_ends.h", "wrapping.h")

# May use all of the above; nobody may use them.
ABOVE_ALL = ("tests", "bench", "tools")

# Headers of others that only some folders may see: those that decide what a folder is.
ONLY_IN = [
    (r"(clang|llvm)(-c)?/", "Clang", ["frontends/cpp"]),
    # Its parser alone does not survive every text.
    (r"toml\+\+/", "toml++", ["analyzer/toml"]),
    (r"sodium", "libsodium", ["driver/pipeline"]),
    (r"tree_sitter/", "tree-sitter", ["frontends/python", "frontends/launch", "frontends/cpp", *ABOVE_ALL]),
    # Neither the stand-ins of frontends/cpp/headers nor the sources of goldens are part of any program of ours.
    (r"(nccl\.h|nccl/|cuda)", "NCCL and CUDA", ["runtime-verify/backends/nccl", "frontends/cpp/headers", "tests/golden/cpp"]),
    # All of `check` and `server` is meant for every POSIX system; ranks run on Linux only.
    (r"(sys/(auxv|epoll|eventfd|fanotify|inotify|memfd|prctl|random|sendfile|signalfd|statfs|syscall|sysinfo|timerfd|vfs)\.h|linux/|asm/"
     r"|elf\.h|link\.h|malloc\.h|features\.h|sched\.h|mach|libproc\.h|sys/event\.h|sys/sysctl\.h)",
     "one operating system", ["analyzer/platform", "runtime-verify", *ABOVE_ALL]),
    (r"(jsonrpc|json_rpc|json-rpc|lsp|langsvr)", "JSON-RPC", ["driver/server"]),
]

# Nothing of others at all but these, in the folders that everything stands on.
PLAIN = {"analyzer/base": ["tl/", "gtest/", "gmock/"], "analyzer/files": ["sys/", "gtest/", "gmock/"]}

# What POSIX does not have, where the header alone does not tell.
OF_ONE_SYSTEM = re.compile(
    r"\b(pipe2|accept4|getrandom|memfd_create|pidfd_\w+|prctl|epoll_\w+|inotify_\w+|signalfd|eventfd|execvpe|renameat2|copy_file_range"
    r"|sched_getaffinity|malloc_trim|mallopt|SOCK_CLOEXEC|SOCK_NONBLOCK|MSG_NOSIGNAL|O_TMPFILE|O_PATH|st_[acm]tim|ru_maxrss)\b|/proc/self")
PORTABLE = ("analyzer", "frontends", "rules", "witness", "explain", "driver")

SOURCE_ENDINGS = {".h", ".cpp", ".def", ".inc", ".c", ".cc", ".cu"}
OUR_ROOTS = ("analyzer", "frontends", "rules", "witness", "explain", "driver", "runtime-verify", *ABOVE_ALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(path):
    """The folder of the table that a path belongs to, as the table's key, or its root if that is above all."""
    folder = path.parent.as_posix()
    if folder.split("/")[0] in ABOVE_ALL:
        return folder.split("/")[0]
    return next((key for key in ALLOWED if fnmatch(folder, key) or fnmatch(folder, key + "/*")), None)


def place_of(path):
    """The folder itself, which tells two families or two front ends apart."""
    key = folder_of(path)
    if key is None or not key.endswith("/*"):
        return key
    return "/".join(path.parts[: key.count("/") + 1])


def reachable(key):
    seen, waiting = set(), [key]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            waiting.extend(ALLOWED[current])
    return seen


def may_use(user, used):
    """Paths of files, relative to the repository."""
    user_key, used_key = folder_of(user), folder_of(used)
    if user_key in ABOVE_ALL:
        return True
    if user_key is None or used_key is None or used_key in ABOVE_ALL:
        return False
    if place_of(user) == place_of(used):
        return True
    if user_key == used_key and user_key.endswith("/*"):
        return False
    if user_key == "rules/*" and used_key == "rules":
        return used.name in RULE_HEADERS
    # The registry names every rule, so the folder rules/ itself may look into its families.
    if user_key == "rules" and used_key == "rules/*":
        return True
    return used_key in reachable(user_key)


def check_include(root, user, bracket, name):
    """A sentence on what is wrong with this include, or None."""
    used = Path(name)
    if name.split("/")[0] in OUR_ROOTS:
        if bracket == "<":
            return f'write "{name}" in quotes: it is ours'
        if folder_of(user) is None:
            return f"{user.parent} is no folder of the table in tests/architecture/directions.py"
        # A test beside the code may build what it tests with from any folder.
        if user.stem.endswith("_test") or may_use(user, used):
            return None
        return f"{place_of(user)} may not include {used.parent.as_posix()}"
    if bracket == '"' and (root / user.parent / name).exists():
        return f'write "{user.parent.as_posix()}/{name}": includes start at the root of the repository'
    folder = user.parent.as_posix()
    for pattern, what, folders in ONLY_IN:
        if re.match(pattern, name) and not any(folder == f or folder.startswith(f + "/") for f in folders):
            return f"headers of {what} may be included only in {folders[0]}"
    if folder in PLAIN and "/" in name and not name.startswith(tuple(PLAIN[folder])):
        return f"{folder} uses the standard library only"
    return None


def source_files(root):
    for top in OUR_ROOTS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SOURCE_ENDINGS and "node_modules" not in path.parts and path.is_file():
                yield path.relative_to(root)


def offending_includes(root):
    for user in source_files(root):
        lines = (root / user).read_text(encoding="utf-8", errors="replace").splitlines()
        for number, line in enumerate(lines, 1):
            if match := INCLUDE.match(line):
                if wrong := check_include(root, user, match[1], match[2]):
                    yield f"{user.as_posix()}:{number}: {wrong}"


def system_words(root):
    for user in source_files(root):
        folder = user.parent.as_posix()
        if user.parts[0] not in PORTABLE or folder in ("analyzer/platform", "frontends/cpp/headers") or user.stem.endswith("_test"):
            continue
        for number, line in enumerate((root / user).read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if (match := OF_ONE_SYSTEM.search(line)) and not line.lstrip().startswith(("//", "#")):
                yield f"{user.as_posix()}:{number}: not every system has {match[0]}: put it behind analyzer/platform/platform.h"


# Rules ask what the code means, and not for words in its text.
SEARCHES_TEXT = re.compile(r"files\[[^;]*\]\.text\.find\(|HoldsWord\((context_?\.files|Text)")


def source_text(root):
    for user in source_files(root):
        if user.parts[0] != "rules":
            continue
        for number, line in enumerate((root / user).read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if SEARCHES_TEXT.search(line):
                yield f"{user.as_posix()}:{number}: a comment must not change a finding: ask the names in the code (NamesAny), a value or the index"


def libraries(text):
    """(folder, [(dependency, line)]) of every allranks_library call."""
    text = re.sub(r"#[^\n]*", "", text)
    for call in re.finditer(r"allranks_library\(([^)]*)\)", text):
        words = [(w[0], text.count("\n", 0, call.start(1) + w.start()) + 1) for w in re.finditer(r"\S+", call[1])]
        if not words:
            continue
        section, dependencies = "", []
        for word, line in words[1:]:
            if word in ("SOURCES", "DEPS", "LINKS", "PRECOMPILE", "PRECOMPILED_BY", "TESTS", "TEST_DEPS"):
                section = word
            elif section == "DEPS":
                dependencies.append((word, line))
        yield words[0][0], dependencies


def offending_dependencies(root):
    for top in OUR_ROOTS:
        for path in sorted((root / top).rglob("CMakeLists.txt")):
            relative = path.relative_to(root)
            for folder, dependencies in libraries(path.read_text(encoding="utf-8")):
                for name, line in dependencies:
                    if not may_use(Path(folder, "x.h"), Path(name, "rule.h")):
                        yield f"{relative.as_posix()}:{line}: {folder} may not depend on {name}"


def offending(root):
    return [*offending_includes(root), *system_words(root), *source_text(root), *offending_dependencies(root)]


def main():
    root = Path(sys.argv[1])
    wrong = offending(root)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    if not wrong and not any(source_files(root)):
        wrong = [f"{root}: no sources found"]
        print(*wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
