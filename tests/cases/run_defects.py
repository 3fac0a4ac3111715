"""Runs allranks on defects that public projects fixed, and prints how many it finds before the fix and flags after it.

usage: run_defects.py --allranks BINARY --clones DIR [--cases FILE...] [--everything] [--verbose]

A case names a repository, the last commit with the defect, the fix, a file and lines; none holds code of the project. Clones
are looked for as DIR/<owner>+<name>/repo or DIR/<owner>/<name>; nothing is downloaded, and a case without a clone is counted
apart. A defect is found if a finding, a label of it or a step of its witness touches the lines; the fixed version is flagged if
a finding with a code that found the defect stands on the fixed lines. `defects.json` may be read while the analysis is worked on;
`defects_held.json` is run to measure and read by nobody who works on it; `launch_fixes.json` holds fixes of launch files, each
with the rule that finds it before. Not part of a plain ctest: it needs the clones.
"""

import argparse
import collections
import json
import os
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENDINGS = (".py", ".ipynb", ".c", ".cc", ".cpp", ".cu", ".h", ".hpp", ".cuh", ".toml", ".cfg", ".sh", ".yaml", ".yml", ".json", ".md")


def clone_of(repo, clones):
    owner, name = repo.split("/")
    return next((path for path in (clones / f"{owner}+{name}" / "repo", clones / owner / name) if path.exists()), None)


def blobs(clone, names):
    """The contents of blobs by name, read by one process; those that the clone lacks are left out."""
    request = b"".join(name + b"\n" for name in names)
    environment = os.environ | {"GIT_NO_LAZY_FETCH": "1"}
    reply = subprocess.run(["git", "-C", clone, "cat-file", "--batch"], input=request, capture_output=True, env=environment).stdout
    at = 0
    while at < len(reply):
        end = reply.index(b"\n", at)
        head = reply[at:end].split()
        at = end + 1
        if head[1:] == [b"missing"]:
            continue
        size = int(head[2])
        yield head[0], reply[at:at + size]
        at += size + 1


def check_out(clone, commit, folder):
    """The sources of one commit; a clone may lack large files, which are passed over."""
    listing = subprocess.run(["git", "-C", clone, "ls-tree", "-r", "-z", commit], capture_output=True, check=True).stdout
    paths = collections.defaultdict(list)
    for entry in listing.split(b"\0"):
        meta, _, path = entry.partition(b"\t")
        if path.endswith(tuple(ending.encode() for ending in ENDINGS)) and meta.startswith(b"100"):
            paths[meta.split()[2]].append(path.decode("utf-8", "surrogateescape"))
    for name, content in blobs(clone, list(paths)):
        for path in paths[name]:
            target = Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


EVERYTHING = ["--select", "ALL", "--preview", "--min-confidence", "possible"]


def options_of(case, everything):
    """A case that names a rule asks for that one, in preview or not."""
    if "rule" in case:
        return ["--select", case["rule"], "--preview", "--min-confidence", "possible"]
    return EVERYTHING if everything else []


def findings(binary, folder, options):
    command = [binary, "check", "--isolated", "--no-cache", "--output-format", "json", *options, "."]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=900)
    if run.returncode not in (0, 1):
        raise RuntimeError(run.stderr.strip()[-300:])
    return json.loads(run.stdout)["findings"]


def places(finding, with_labels):
    yield finding["location"]["path"], finding["location"]["start"]["line"]
    for label in finding.get("labels", []) if with_labels else []:
        yield label["location"]["path"], label["location"]["start"]["line"]


def codes_at(found, file, lines, with_labels):
    return {f["code"] for f in found if any(path == file and lines[0] <= line <= lines[1] for path, line in places(f, with_labels))}


def judge(binary, clone, case, options):
    with tempfile.TemporaryDirectory() as folder:
        check_out(clone, case["buggy_commit"], folder)
        codes = codes_at(findings(binary, folder, options), case["file"], case["lines"], True)
    flagged = set()
    if codes and case.get("fixed_lines"):
        with tempfile.TemporaryDirectory() as folder:
            check_out(clone, case["fixed_commit"], folder)
            flagged = codes & codes_at(findings(binary, folder, options), case["file"], case["fixed_lines"], False)
    return codes, flagged


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--allranks", required=True, type=Path)
    parser.add_argument("--clones", required=True, type=Path)
    parser.add_argument("--cases", nargs="*", type=Path, default=[HERE / "defects.json"])
    parser.add_argument("--everything", action="store_true", help="all rules, at every confidence")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    count = collections.defaultdict(collections.Counter)
    for case in (case for file in arguments.cases for case in json.loads(file.read_text("utf-8"))):
        clone = clone_of(case["repo"], arguments.clones)
        if clone is None:
            count[case["category"]]["no clone"] += 1
            continue
        codes, flagged = judge(arguments.allranks.resolve(), clone, case, options_of(case, arguments.everything))
        count[case["category"]]["found" if codes else "missed"] += 1
        count[case["category"]]["still flagged"] += bool(flagged)
        if arguments.verbose:
            print(f"{'found ' if codes else 'missed'} {case['id']:60} {','.join(sorted(codes)) or '-'}", flush=True)
    total = collections.Counter()
    for category, numbers in sorted(count.items()):
        total.update(numbers)
        print(f"{category:36} {dict(numbers)}")
    print(f"found {total['found']} of {total['found'] + total['missed']}, still flagged after the fix {total['still flagged']}, "
          f"without a clone {total['no clone']}")


if __name__ == "__main__":
    main()
