"""What the tests of `allranks verify` share: witnesses, and the processes that a run starts."""

import json
import os
import pathlib
import shutil
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from support import CliTest

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "fixtures"


def op(name, kind="all_reduce", **more):
    return {"id": name, "op": kind, "comm": "world", "count": 64, "at": {"uri": "train.py", "line": 7}, **more}


def witness(first, rest, world=2, **more):
    """Rank 0 does `first`, all others `rest`."""
    return {
        "schema": "allranks.witness/1", "finding": "AR101/1", "world": world,
        "comms": [{"id": "world", "ranks": list(range(world))}],
        "classes": [{"id": "r0", "ranks": [0], "guard": "rank == 0"},
                    {"id": "rest", "ranks": list(range(1, world))}],
        "ops": {"r0": first, "rest": rest}, "expect": {"effect": "deadlock"}, **more,
    }


def without_places(value):
    """A witness, or a part of it, without what no run depends on: names of findings and functions, lines, guards."""
    if isinstance(value, dict):
        return {key: without_places(part) for key, part in value.items() if key not in ("at", "finding", "guard", "source")}
    return [without_places(part) for part in value] if isinstance(value, list) else value


def distinct(findings):
    """One of all whose witnesses run alike."""
    first = {}
    for finding in findings:
        first.setdefault(json.dumps(without_places(finding["witness"]), sort_keys=True), finding)
    return list(first.values())


class VerifyTest(CliTest):
    """A mark in the environment tells the processes of this test from those of others that run beside it."""

    def setUp(self):
        super().setUp()
        self.mark = f"C.{uuid.uuid4().hex}"

    def witness_file(self, *args, name="w.json", **more):
        return self.write(name, json.dumps(witness(*args, **more)))

    def verify(self, *args, **options):
        return self.run_allranks("verify", *args, env={"LANG": self.mark, "LC_ALL": "C.UTF-8"}, **options)

    def verify_on_double(self, cuda, nccl, injected=""):
        """`verify` where these doubles of CUDA and NCCL are the libraries."""
        shutil.copy(cuda, self.root / "libcuda.so.1")
        shutil.copy(nccl, self.root / "libnccl.so.2")
        env = {"LANG": self.mark, "LC_ALL": "C.UTF-8", "LD_LIBRARY_PATH": str(self.root), "CUDA_VISIBLE_DEVICES": injected}
        return lambda *args, **options: self.run_allranks("verify", "--nccl-lib", self.root / "libnccl.so.2", *args, env=env, **options)

    def verdicts_of(self, run, report, *args, shares=1):
        """What `run`, one of the two above, says of each finding. Ranks that hang are waited for: the shares wait at once."""
        findings = report["findings"]
        size = -(-len(findings) // shares)

        def of_share(begin):
            name = f"report_{uuid.uuid4().hex}.json"
            self.write(name, json.dumps({**report, "findings": findings[begin:begin + size]}))
            result = run("--output-format", "json", *args, name, timeout=900)
            self.assertEqual(result.err, "")
            self.assertIn(result.code, (0, 1))
            return [finding["verify"] for finding in json.loads(result.out)["findings"]]

        with ThreadPoolExecutor(shares) as pool:
            return [verdict for share in pool.map(of_share, range(0, len(findings), size)) for verdict in share]

    def check_fixtures(self):
        """The report of all fixtures. Sanitizers make Clang slow."""
        args = ["check", "--output-format", "json", "--isolated", "--no-cache", FIXTURES]
        return self.run_allranks(*args, timeout=600).out

    def needs_gloo(self):
        result = self.verify("--self-test", "--backend", "gloo", "--ranks", "2", "--quiet-time", "0.5")
        if result.code == 4:
            self.skipTest(result.err.strip())
        self.assertEqual(result.code, 0, result.out + result.err)

    def processes(self):
        found = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (folder / "environ").read_bytes() and int(folder.name) != os.getpid():
                    found.append(int(folder.name))
            except OSError:
                continue
        return found

    def wait_for(self, condition, seconds=10):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "waited in vain")
            time.sleep(0.1)
