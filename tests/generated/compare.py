"""What allranks says of programs, and how that agrees with what they do.

All programs of a batch lie in one folder and are checked by one run, as scripts that have nothing to do with one another. A
program counts as *flagged* if it has a finding of the rules on collectives at default settings, and as *called aligned* if
every operation at which its ranks wait, or do not match, stands in the ledger as proven aligned.
"""

import enum
import json
import os
import re
import subprocess
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from emit_c import Untranslatable, in_c
from execute import truth_of
from match import Fate

# AR112 and later are about handles, threads and NCCL's own calls: nothing that the ranks of these programs could disagree on.
CODES = re.compile(r"AR(10[1-9]|11[01])")
SITE = re.compile(r"(?P<path>[^:]+):(?P<line>\d+):\d+: (?P<verdict>proven aligned|aligned as far as read|flagged|unknown) `")


@dataclass(frozen=True)
class Language:
    ending: str
    # From the program in Python, which is the one that is run, to the one that is checked.
    emit: object
    # Whether lines are the same in both.
    keeps_lines: bool


LANGUAGES = {"python": Language(".py", str, True), "c": Language(".c", in_c, False)}


class Kind(enum.Enum):
    SILENT = "silent"
    FOUND = "found"
    MISSED = "missed"
    FALSE = "false alarm"
    PROVEN = "proven wrong"

    def is_right(self):
        return self in (Kind.SILENT, Kind.FOUND)


@dataclass
class Report:
    """What is said of one program: codes by line, and the verdicts of each line's operations."""

    findings: list = field(default_factory=list)
    sites: dict = field(default_factory=lambda: defaultdict(set))

    def is_flagged(self):
        # What is alike in several programs of a batch is told once; the ledger says it of each.
        return bool(self.findings) or any("flagged" in verdicts for verdicts in self.sites.values())

    def calls_aligned(self, lines):
        """Whether the operations of these lines are proven; of all lines, if it is not known which those are."""
        places = lines if lines is not None else self.sites
        return bool(places) and all(self.sites.get(line) == {"proven aligned"} for line in places)


# Of these, a plain run shows only what is certain in Python.
SHOWN_WHERE_CERTAIN = "AR102,AR103,AR104,AR105"


def run(binary, folder):
    """(JSON report, lines of the ledger) of all files in a folder."""
    with tempfile.TemporaryDirectory() as out:
        report, ledger = Path(out, "report.json"), Path(out, "ledger.txt")
        result = subprocess.run(
            [binary, "check", "--isolated", "--no-cache", "--extend-select", SHOWN_WHERE_CERTAIN, "--coverage", "-v", "--color", "never",
             "--output", f"json={report}", "--output", f"full={ledger}", "."],
            cwd=folder, capture_output=True, text=True, encoding="utf-8", env={**os.environ, "XDG_STATE_HOME": out}, check=False)
        if result.returncode not in (0, 1):
            raise RuntimeError(f"allranks ended with {result.returncode}: {result.stderr.strip()}")
        return json.loads(report.read_text("utf-8")), ledger.read_text("utf-8").splitlines()


def check(binary, texts, ending):
    """{name: Report} of programs by name."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            Path(folder, name + ending).write_text(text, encoding="utf-8")
        report, ledger = run(binary, folder)
    reports = {name: Report() for name in texts}
    for finding in report["findings"]:
        if CODES.fullmatch(finding["code"]):
            place = finding["location"]
            said = f"{finding['code']} at line {place['start']['line']}, {finding['confidence']}: {finding['message']}"
            reports[Path(place["path"]).stem].findings.append(said)
    for match in filter(None, map(SITE.match, ledger)):
        reports[Path(match["path"]).stem].sites[int(match["line"])].add(match["verdict"])
    return reports


def judge(truth, report, language):
    """The Kind of a program of known fate; None if nothing is known of it."""
    if truth.fate is Fate.AGREE:
        return Kind.FALSE if report.is_flagged() else Kind.SILENT
    if truth.fate is not Fate.MISMATCH:
        return None
    if report.is_flagged():
        return Kind.FOUND
    return Kind.PROVEN if report.calls_aligned(truth.lines if language.keeps_lines else None) else Kind.MISSED


def emitted(text, language):
    """The program in the language, or None if that has no counterpart of it."""
    try:
        return language.emit(text)
    except Untranslatable:
        return None


def judged(binary, texts, language):
    """[(text, Truth, Report, Kind)] of those programs that the language can say."""
    sources = {text: source for text in texts if (source := emitted(text, language)) is not None}
    names = {text: f"program_{number}" for number, text in enumerate(sources)}
    reports = check(binary, {names[text]: source for text, source in sources.items()}, language.ending) if sources else {}
    return [(text, *_judged(text, reports[name], language)) for text, name in names.items()]


def _judged(text, report, language):
    truth = truth_of(text)
    kind = judge(truth, report, language)
    if kind is Kind.FALSE:
        # What is found may need a larger job than those that were run.
        truth = truth_of(text, larger=True)
        kind = judge(truth, report, language)
    return truth, report, kind
