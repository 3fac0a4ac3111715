"""Known findings: the baseline file, and --diff-base."""

import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from hostile import findings, mutual_recursion
from support import ALLRANKS, GUARDED, CliTest, main

SECOND = "\n\ndef load():\n    if dist.get_rank() == 0:\n        dist.barrier()\n"
# The checks below stand for a desk, whatever runs them.
DESK = {"CI": "", "PRE_COMMIT": ""}


class Baseline(CliTest):
    def check(self, *args, env=DESK, **more):
        return self.run_allranks("check", "--output-format", "concise", "-q", *args, env=env, **more)

    def entries(self):
        return [entry["fingerprint"] for entry in json.loads((self.root / "known.json").read_text())["findings"]]

    def make(self):
        self.write("a.py", GUARDED)
        self.write("allranks.toml", "baseline = 'known.json'\n")
        result = self.run_allranks("check", "--update-baseline", env=DESK)
        self.assertEqual((result.code, result.err), (0, f"Baseline {self.root}/known.json: 1 finding (1 added, 0 removed).\n"))

    def test_known_findings_are_not_reported(self):
        self.make()
        self.assertEqual((self.check().code, self.check().out), (0, ""))
        self.assertIn("(1 in the baseline)", self.run_allranks("check").out)

    def test_moved_and_indented_code_is_known_and_new_code_is_not(self):
        self.make()
        moved = GUARDED.replace("\n\ndef", "\n\nX = 1\n\n\ndef").replace("    if", "    if True:\n      if").replace("        dist", "            dist")
        self.write("a.py", moved)
        self.assertEqual(self.check().out, "")
        self.write("a.py", moved + SECOND)
        self.assertEqual([line.split(":")[:2] for line in self.check().out.splitlines()], [["a.py", "15"]])
        self.assertEqual(len(self.entries()), 1)

    def test_it_shrinks_by_itself_but_not_in_ci_and_never_grows(self):
        self.make()
        self.write("a.py", GUARDED + SECOND)
        self.run_allranks("check", "--update-baseline", env=DESK)
        self.assertEqual(len(self.entries()), 2)
        self.write("a.py", GUARDED)
        for variable in ("CI", "PRE_COMMIT"):
            self.assertIn("is fixed; a run outside CI and hooks removes it.", self.run_allranks("check", env={**DESK, variable: "1"}).err)
            self.assertEqual(len(self.entries()), 2)
        # What was not looked at is not gone.
        self.write("b.py", "import torch.distributed\n")
        self.check("b.py")
        self.check("--ignore", "AR101", "a.py")
        self.assertEqual(len(self.entries()), 2)
        self.assertIn("Removed 1 finding from the baseline", self.run_allranks("check", env=DESK).err)
        self.assertEqual(len(self.entries()), 1)
        (self.root / "a.py").unlink()
        self.check("b.py")
        self.assertEqual(self.entries(), [])

    def test_sarif_says_what_is_new(self):
        self.make()
        self.write("a.py", GUARDED + SECOND)
        run = json.loads(self.run_allranks("check", "--output-format", "sarif", "--sarif-include", "known", env=DESK).out)["runs"][0]
        self.assertEqual([result["baselineState"] for result in run["results"]], ["new", "unchanged"])
        # Code scanning would open an alert for what is known: it is not there unless asked for.
        run = json.loads(self.run_allranks("check", "--output-format", "sarif", env=DESK).out)["runs"][0]
        self.assertEqual([result["baselineState"] for result in run["results"]], ["new"])
        self.assertEqual(run["properties"]["known"], 1)

    def test_errors(self):
        self.write("a.py", GUARDED)
        self.assert_one_line_error(self.check("--baseline", "nowhere.json"), "nowhere.json", "--update-baseline")
        self.assert_one_line_error(self.check("--update-baseline"), "--baseline FILE")
        self.write("bad.json", "[]")
        self.assert_one_line_error(self.check("--baseline", "bad.json"), "bad.json: not a baseline")


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class DiffBase(CliTest):
    def git(self, *args, env=None):
        who = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
               "GIT_COMMITTER_EMAIL": "a@b"}
        run = subprocess.run(["git", *args], cwd=self.root, env={**os.environ, **who, **(env or {})}, capture_output=True,
                             text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def lines(self, *args, env=None, cwd=None):
        result = self.run_allranks("check", "--output-format", "concise", "-q", *args, env=env, cwd=cwd)
        self.assertIn(result.code, (0, 1), result.err)
        return [":".join(line.split(":")[:2]) for line in result.out.splitlines()]

    def commit(self):
        self.git("init", "-q", "-b", "main")
        self.write("pkg/a.py", GUARDED)
        self.git("add", ".")
        self.git("commit", "-qm", "first")

    def test_only_what_the_change_brought(self):
        self.commit()
        self.write("pkg/a.py", "\n\n" + GUARDED + SECOND)
        self.write("pkg/new.py", GUARDED)
        self.assertEqual(self.lines("--diff-base", "HEAD"), ["pkg/a.py:13", "pkg/new.py:6"])
        self.assertEqual(self.lines("--diff-base", "HEAD", "new.py", cwd=self.root / "pkg"), ["new.py:6"])
        self.assertEqual(len(self.lines()), 3)

    def test_since_the_branch_was_left(self):
        self.commit()
        self.git("switch", "-qc", "work")
        self.git("switch", "-q", "main")
        self.write("pkg/a.py", "import torch.distributed\n")
        self.git("commit", "-qam", "fixed")
        self.git("switch", "-q", "work")
        self.assertEqual(self.lines("--diff-base", "main"), [])

    def test_inside_a_hook(self):
        self.commit()
        self.write("pkg/a.py", GUARDED + SECOND)
        hook = {"GIT_DIR": "/nowhere", "GIT_INDEX_FILE": ".git/index", "GIT_WORK_TREE": "/nowhere", "PRE_COMMIT": "1"}
        self.assertEqual(self.lines("--diff-base", "HEAD", env=hook), ["pkg/a.py:11"])

    def test_before_the_first_commit(self):
        self.git("init", "-q", "-b", "main")
        self.write("a.py", GUARDED)
        self.assertEqual(self.lines("--diff-base", "HEAD"), ["a.py:6"])
        self.assert_one_line_error(self.run_allranks("check", "--diff-base", "main"), "no commit `main`")

    @unittest.skipUnless(os.geteuid() == 0, "only root may give files away")
    def test_a_repository_of_somebody_else(self):
        self.commit()
        os.chown(self.root, 12345, 12345)
        os.chown(self.root / ".git", 12345, 12345)
        result = self.run_allranks("check", "--diff-base", "HEAD", env={"GIT_CONFIG_GLOBAL": os.devnull})
        self.assert_one_line_error(result, "git config --global --add safe.directory")

    def test_a_hostile_repository_runs_nothing(self):
        self.commit()
        # Behind the one that is missing there is another.
        self.write("pkg/z.py", GUARDED)
        self.git("add", ".")
        self.git("commit", "-q", "-m", "more")
        mark = self.root / "ran"
        programs = {"core.fsmonitor": f"touch {mark}", "core.pager": f"touch {mark}", "core.hooksPath": str(self.root / "hooks"),
                    "credential.helper": f"!touch {mark}", "gpg.program": "touch", "log.showSignature": "true"}
        remotes = ({"remote.origin.url": "ssh://nowhere.invalid/x", "core.sshCommand": f"touch {mark}; false"},
                   {"remote.origin.url": f"ext::sh -c touch% {mark}", "protocol.allow": "always", "protocol.ext.allow": "always"},
                   {"remote.origin.url": "x", "remote.origin.vcs": "ext", "protocol.allow": "always"},
                   {"remote.origin.url": str(self.root), "remote.origin.uploadpack": f"touch {mark}; false", "protocol.file.allow": "always"})
        promised = {"core.repositoryformatversion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true"}
        hook = self.write("hooks/post-index-change", f"#!/bin/sh\ntouch {mark}\n")
        hook.chmod(0o755)
        name = subprocess.run(["git", "rev-parse", "HEAD:pkg/a.py"], cwd=self.root, capture_output=True, text=True, check=True).stdout.strip()
        config = (self.root / ".git/config").read_text()
        (self.root / ".git" / "objects" / name[:2] / name[2:]).unlink()
        for remote in remotes:
            self.write(".git/config", config)
            for key, value in {**programs, **promised, **remote}.items():
                self.git("config", key, value)
            mark.unlink(missing_ok=True)
            # SARIF names the commit.
            for arguments, code in ((("--diff-base", "HEAD"), 2), (("--output-format", "sarif"), 1)):
                with self.subTest(remote=remote, arguments=arguments):
                    result = self.run_allranks("check", *arguments)
                    self.assertFalse(mark.exists(), result.err)
                    self.assertEqual(result.code, code)

    def test_errors(self):
        self.write("a.py", GUARDED)
        self.assert_one_line_error(self.check("--baseline", "nowhere.json"), "nowhere.json", "--update-baseline")
        self.assert_one_line_error(self.check("--update-baseline"), "--baseline FILE")
        self.write("bad.json", "[]")
        self.assert_one_line_error(self.check("--baseline", "bad.json"), "bad.json: not a baseline")


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class DiffBase(CliTest):
    def git(self, *args, env=None):
        who = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
               "GIT_COMMITTER_EMAIL": "a@b"}
        run = subprocess.run(["git", *args], cwd=self.root, env={**os.environ, **who, **(env or {})}, capture_output=True,
                             text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def lines(self, *args, env=None, cwd=None):
        result = self.run_allranks("check", "--output-format", "concise", "-q", *args, env=env, cwd=cwd)
        self.assertIn(result.code, (0, 1), result.err)
        return [":".join(line.split(":")[:2]) for line in result.out.splitlines()]

    def commit(self):
        self.git("init", "-q", "-b", "main")
        self.write("pkg/a.py", GUARDED)
        self.git("add", ".")
        self.git("commit", "-qm", "first")

    def test_only_what_the_change_brought(self):
        self.commit()
        self.write("pkg/a.py", "\n\n" + GUARDED + SECOND)
        self.write("pkg/new.py", GUARDED)
        self.assertEqual(self.lines("--diff-base", "HEAD"), ["pkg/a.py:13", "pkg/new.py:6"])
        self.assertEqual(self.lines("--diff-base", "HEAD", "new.py", cwd=self.root / "pkg"), ["new.py:6"])
        self.assertEqual(len(self.lines()), 3)

    def test_since_the_branch_was_left(self):
        self.commit()
        self.git("switch", "-qc", "work")
        self.git("switch", "-q", "main")
        self.write("pkg/a.py", "import torch.distributed\n")
        self.git("commit", "-qam", "fixed")
        self.git("switch", "-q", "work")
        self.assertEqual(self.lines("--diff-base", "main"), [])

    def test_inside_a_hook(self):
        self.commit()
        self.write("pkg/a.py", GUARDED + SECOND)
        hook = {"GIT_DIR": "/nowhere", "GIT_INDEX_FILE": ".git/index", "GIT_WORK_TREE": "/nowhere", "PRE_COMMIT": "1"}
        self.assertEqual(self.lines("--diff-base", "HEAD", env=hook), ["pkg/a.py:11"])

    def test_before_the_first_commit(self):
        self.git("init", "-q", "-b", "main")
        self.write("a.py", GUARDED)
        self.assertEqual(self.lines("--diff-base", "HEAD"), ["a.py:6"])
        self.assert_one_line_error(self.run_allranks("check", "--diff-base", "main"), "no commit `main`")

    @unittest.skipUnless(os.geteuid() == 0, "only root may give files away")
    def test_a_repository_of_somebody_else(self):
        self.commit()
        os.chown(self.root, 12345, 12345)
        os.chown(self.root / ".git", 12345, 12345)
        result = self.run_allranks("check", "--diff-base", "HEAD", env={"GIT_CONFIG_GLOBAL": os.devnull})
        self.assert_one_line_error(result, "git config --global --add safe.directory")

    def test_a_hostile_repository_runs_nothing(self):
        self.commit()
        # Behind the one that is missing there is another.
        self.write("pkg/z.py", GUARDED)
        self.git("add", ".")
        self.git("commit", "-q", "-m", "more")
        mark = self.root / "ran"
        for key, value in {"core.repositoryformatversion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true",
                           "remote.origin.url": "ssh://nowhere.invalid/x", "core.sshCommand": f"touch {mark}; false",
                           "core.fsmonitor": f"touch {mark}", "core.pager": f"touch {mark}"}.items():
            self.git("config", key, value)
        name = subprocess.run(["git", "rev-parse", "HEAD:pkg/a.py"], cwd=self.root, capture_output=True, text=True, check=True).stdout.strip()
        (self.root / ".git" / "objects" / name[:2] / name[2:]).unlink()
        result = self.run_allranks("check", "--diff-base", "HEAD")
        self.assertFalse(mark.exists(), result.err)
        self.assertEqual(result.code, 2)

    def test_what_git_waits_for_is_not_waited_for(self):
        """A pipe in the place of one of git's files: git opens it and waits for a writer."""
        self.commit()
        self.write("pkg/a.py", GUARDED + SECOND)
        self.write("pipes/.keep", "")
        os.mkfifo(self.root / "pipes/included")
        folder = self.root / ".git"
        for name in ("config", "HEAD", "packed-refs", "objects/info/alternates", "pipes/included"):
            with self.subTest(name):
                shutil.copytree(folder, self.root / "kept")
                if name.startswith("pipes"):
                    self.git("config", "include.path", str(self.root / name))
                else:
                    (folder / name).unlink(missing_ok=True)
                    os.mkfifo(folder / name)
                result = self.run_allranks("check", "-n", "-q", "--timeout", "2", "--output-format", "sarif", timeout=60)
                self.assertIn(result.code, (1, 2), result.err)
                self.assertEqual(len(json.loads(result.out)["runs"][0]["results"]), 2)
                result = self.run_allranks("check", "-n", "-q", "--timeout", "2", "--diff-base", "HEAD", "--output-format", "json", timeout=60)
                if name != "packed-refs":
                    self.assertEqual(result.code, 2, result.err)
                    self.assertIn("--timeout 2: the time was over while at work on `--diff-base HEAD`", result.err)
                    json.loads(result.out)
                shutil.rmtree(folder)
                (self.root / "kept").rename(folder)

    def check_slowly(self, *args):
        """Starts a check of files that were long and are short now, with the report in a file."""
        self.write("h.py", mutual_recursion(20_000))
        self.write("k.py", findings(80_000))
        self.commit()
        self.write("h.py", GUARDED)
        self.write("k.py", GUARDED)
        return subprocess.Popen([ALLRANKS, "check", "-n", "-q", "--output-format", "json", "-o", "r.json", "--diff-base", "HEAD", *args], cwd=self.root,
                                env={**os.environ, "XDG_STATE_HOME": str(self.state)}, stderr=subprocess.PIPE, text=True)

    def test_the_time_of_a_run_holds_for_the_commit(self):
        process = self.check_slowly("--timeout", "1")
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2, err)
        self.assertIn("the time was over while at work on `--diff-base HEAD`", err)
        json.loads((self.root / "r.json").read_text())

    def test_a_signal_ends_the_work_on_the_commit(self):
        process = self.check_slowly()
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 143, err)
        json.loads((self.root / "r.json").read_text())

    def test_large_objects_are_not_inflated(self):
        self.git("init", "-q", "-b", "main")
        with open(self.root / "big.py", "wb") as big:
            big.truncate(400 << 20)
        self.write("t.py", GUARDED)
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        (self.root / "big.py").unlink()
        self.write("t.py", GUARDED + SECOND)
        arguments = ("check", "-n", "-q", "--profile", "--output-format", "concise", "--diff-base", "HEAD")
        result = self.run_allranks(*arguments, "--max-memory", "200", timeout=60)
        self.assertEqual(result.code, 1, result.err)
        self.assertEqual([line.split(":")[:2] for line in result.out.splitlines()], [["t.py", "11"]])
        self.assertLess(int(result.err.rsplit("peak memory: ", 1)[1].split()[0]) >> 20, 220)

    def test_code_that_does_not_fit_is_an_error(self):
        self.git("init", "-q", "-b", "main")
        # One object has many names.
        for i in range(20):
            self.write(f"pkg/f{i}.py", GUARDED + "#" * (10 << 20))
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        result = self.run_allranks("check", "-n", "--diff-base", "HEAD", "--max-memory", "200")
        self.assert_one_line_error(result, "--diff-base: the code of ", " has more than 100 MiB, half of --max-memory")

    def test_errors(self):
        self.commit()
        self.assert_one_line_error(self.run_allranks("check", "--diff-base", "nowhere"), "no commit `nowhere`")
        self.assert_one_line_error(self.run_allranks("check", "--diff-base=--help"), "no commit `--help`")


if __name__ == "__main__":
    main()
