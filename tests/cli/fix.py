"""--fix, --unsafe-fixes, --diff and --show-fixes: what is written, what is left alone, and what is said."""

import json
import os
import subprocess
import time
import unittest

from support import ALLRANKS, GUARDED, CliTest, main

SAFE = """\
import torch
import torch.distributed as dist

rank = dist.get_rank()
local_rank = rank % torch.cuda.device_count()
local_rank = dist.get_node_local_rank()
torch.cuda.set_device(rank)
"""
FIXED = SAFE.replace("set_device(rank)", "set_device(local_rank)")

UNSAFE = """\
import torch.distributed as dist


def report(loss):
    if dist.get_rank() == 0:
        dist.all_reduce(loss)
        print(loss)
"""


# One fix puts a line before the first statement of the loop, the other takes that statement away.
COLLIDING = """\
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, optimizer, n):
    model = DDP(net)
    for i, batch in enumerate(loader):
        optimizer.zero_grad()
        loss = model(batch).mean() / n
        loss.backward()
        if (i + 1) % n == 0:
            optimizer.step()
"""
NO_LONGER_COLLIDING = """\
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, optimizer, n):
    model = DDP(net)
    for i, batch in enumerate(loader):
        model.require_backward_grad_sync = (i + 1) % n == 0
        loss = model(batch).mean() / n
        loss.backward()
        if (i + 1) % n == 0:
            optimizer.step()
            optimizer.zero_grad()
"""


class Fix(CliTest):
    def fix(self, *args, **options):
        # By its name, as no setting says that these programs have several nodes.
        return self.run_allranks("check", "--output-format", "concise", "--extend-select", "AR201", *args, **options)

    def text(self, name):
        return (self.root / name).read_bytes().decode()

    def test_safe_fixes_are_written(self):
        self.write("a.py", SAFE)
        result = self.fix("--fix", "--no-cache")
        self.assertEqual(self.text("a.py"), FIXED)
        self.assertEqual(result.code, 0, result.out + result.err)
        self.assertIn("Fixed 1 finding in 1 file.", result.err)
        self.assertEqual(sorted(p.name for p in self.root.iterdir()), ["a.py"])

    def test_without_the_option_nothing_is_written(self):
        self.write("a.py", SAFE)
        self.assertEqual(self.fix().code, 1)
        self.assertEqual(self.text("a.py"), SAFE)

    def test_show_fixes(self):
        self.write("a.py", SAFE)
        self.assertIn("a.py:7: AR201 select the device by the local rank", self.fix("--fix", "--show-fixes").err)

    def test_unsafe_fixes_only_when_asked_for(self):
        self.write("a.py", UNSAFE)
        self.assertEqual(self.fix("--fix").code, 1)
        self.assertEqual(self.text("a.py"), UNSAFE)
        self.fix("--unsafe-fixes")
        self.assertIn("    dist.all_reduce(loss)\n    if dist.get_rank() == 0:\n", self.text("a.py"))

    def test_diff_changes_nothing_and_applies(self):
        self.write("a.py", SAFE)
        result = self.fix("--diff")
        self.assertEqual(result.code, 1)
        self.assertEqual(self.text("a.py"), SAFE)
        self.assertIn("-torch.cuda.set_device(rank)\n+torch.cuda.set_device(local_rank)\n", result.out)
        subprocess.run(["git", "apply", "-p0"], cwd=self.root, input=result.out.encode(), check=True)
        self.assertEqual(self.text("a.py"), FIXED)
        self.assertEqual(self.fix("--diff").out, "")

    def test_line_ends_mark_and_mode_stay(self):
        path = self.write("a.py", b"\xef\xbb\xbf" + SAFE.replace("\n", "\r\n").encode())
        os.chmod(path, 0o755)
        self.fix("--fix")
        self.assertEqual(path.read_bytes(), b"\xef\xbb\xbf" + FIXED.replace("\n", "\r\n").encode())
        self.assertEqual(path.stat().st_mode & 0o777, 0o755)

    def test_read_only_file(self):
        path = self.write("a.py", SAFE)
        os.chmod(path, 0o444)
        self.write("b.py", SAFE)
        result = self.fix("--fix")
        self.assertEqual(result.code, 2)
        self.assertIn("allranks: error: a.py: not fixed: the file is read-only", result.err)
        self.assertEqual(self.text("a.py"), SAFE)
        self.assertEqual(self.text("b.py"), FIXED)

    def test_file_outside_the_project(self):
        outside = self.write("other/a.py", SAFE)
        self.write("project/pyproject.toml", "")
        result = self.fix("--fix", "--root", ".", str(outside), cwd=self.root / "project")
        self.assert_one_line_error(result, "outside the project")
        self.assertEqual(self.text("other/a.py"), SAFE)

    def test_the_project_is_that_of_what_is_named(self):
        self.write("other/a.py", SAFE)
        self.write("project/a.py", SAFE)
        self.write("project/pyproject.toml", "")
        self.assertEqual(self.fix("--fix", "../other/a.py", cwd=self.root / "project").code, 0)
        self.assertEqual(self.text("other/a.py"), FIXED)
        self.assertEqual(self.text("project/a.py"), SAFE)

    def test_links_out_of_the_project(self):
        self.write("other/a.py", SAFE)
        self.write("project/pyproject.toml", "")
        (self.root / "project" / "file.py").symlink_to("../other/a.py")
        (self.root / "project" / "folder").symlink_to("../other")
        for path in (".", "file.py", "folder", "folder/a.py"):
            for option in (("--fix",), ("--add-ignore", "known")):
                result = self.fix(*option, path, cwd=self.root / "project")
                self.assertEqual(result.code, 2, (path, option))
                self.assertIn("not fixed: it lies outside the project", result.err)
                self.assertNotIn("cannot be accepted", result.err)
                self.assertEqual(self.text("other/a.py"), SAFE, (path, option))
            self.assertNotIn("set_device", self.fix("--diff", path, cwd=self.root / "project").out)

    def test_a_folder_that_is_swapped_for_a_link_meanwhile(self):
        self.write("project/pyproject.toml", "")
        for i in range(100):
            self.write(f"project/slow{i}.py", GUARDED)
        self.write("other/a.py", SAFE)
        self.write("project/sub/a.py", SAFE)
        sub, real = self.root / "project/sub", self.root / "project/real"
        start = time.monotonic()
        self.fix("--diff", "--no-cache", cwd=self.root / "project")
        took = time.monotonic() - start
        tries = 16
        for i in range(tries):
            self.write("project/sub/a.py", SAFE)
            run = subprocess.Popen([ALLRANKS, "check", "-q", "--no-cache", "--fix"], cwd=self.root / "project", stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
            time.sleep(took * (i + 1) / tries)
            sub.rename(real)
            sub.symlink_to("../other")
            run.wait()
            self.assertEqual(self.text("other/a.py"), SAFE, f"after {(i + 1) / tries} of a run")
            sub.unlink()
            real.rename(sub)

    def test_links_within_the_project(self):
        self.write("project/a.py", SAFE)
        self.write("project/pyproject.toml", "")
        (self.root / "alias").symlink_to("project")
        (self.root / "project" / "b.py").symlink_to("a.py")
        self.assertEqual(self.fix("--fix", "--root", "../alias", "b.py", cwd=self.root / "project").code, 0)
        self.assertEqual(self.text("project/a.py"), FIXED)
        self.assertTrue((self.root / "project" / "b.py").is_symlink())

    def test_fixes_that_collide_are_made_one_after_the_other(self):
        self.write("a.py", COLLIDING)
        self.assertEqual([line.split()[2] for line in self.fix("--select", "AR403,AR404").out.splitlines()[:-1]], ["AR404", "AR403"])
        result = self.fix("--unsafe-fixes", "--select", "AR403,AR404")
        self.assertIn("Fixed 2 findings in 1 file.", result.err)
        self.assertEqual(self.text("a.py"), NO_LONGER_COLLIDING)
        self.assertEqual(self.fix("--unsafe-fixes", "--diff", "--select", "AR403,AR404").out, "")

    def test_notebook(self):
        cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None,
                "source": SAFE.splitlines(keepends=True)}
        notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        self.write("a.ipynb", notebook)
        diff = self.fix("--diff")
        self.assertEqual((diff.code, self.text("a.ipynb")), (1, notebook))
        self.assertIn("+++ a.ipynb", diff.out)
        result = self.fix("--fix")
        self.assertEqual(result.code, 0, result.out + result.err)
        self.assertEqual(self.text("a.ipynb"), notebook.replace("set_device(rank)", "set_device(local_rank)"))

    def test_notebook_keeps_what_no_fix_touches(self):
        lines = SAFE.splitlines(keepends=True)
        cells = [{"cell_type": "markdown", "metadata": {}, "source": ["t\u00e9xt"]},
                 {"cell_type": "code", "metadata": {}, "outputs": [{"text": ["1"]}], "execution_count": 3, "source": ["%matplotlib inline\n", *lines]},
                 {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": "x = 1"}]
        before = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False) + "\n"
        self.write("a.ipynb", before)
        self.assertEqual(self.fix("--fix").code, 0)
        self.assertEqual(self.text("a.ipynb"), before.replace("set_device(rank)", "set_device(local_rank)"))

    def test_ignore_comments_in_a_notebook(self):
        cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": GUARDED}]
        self.write("a.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        self.assertEqual(self.run_allranks("check", "--add-ignore", "one rank").code, 0)
        self.assertIn("dist.barrier()  # allranks: ignore[AR101] one rank", json.loads(self.text("a.ipynb"))["cells"][0]["source"])

    def test_standard_input(self):
        result = self.fix("--fix", "-", stdin=SAFE.encode())
        self.assertEqual((result.code, result.out), (0, FIXED), result.err)
        self.assertIn("Fixed 1 finding in 1 file.", result.err)
        # A name is no file to write; what is right already goes through as it is.
        self.write("a.py", SAFE)
        self.assertEqual(self.fix("--fix", "--stdin-filename", "a.py", "-", stdin=FIXED.encode()).out, FIXED)
        self.assertEqual(self.text("a.py"), SAFE)

    def test_fix_only(self):
        self.write("a.py", SAFE + GUARDED)
        result = self.fix("--fix-only")
        self.assertEqual((result.code, result.out), (0, ""))
        self.assertIn("set_device(local_rank)", self.text("a.py"))

    def test_exit_non_zero_on_fix(self):
        self.write("a.py", SAFE)
        self.assertEqual(self.fix("--fix", "--exit-non-zero-on-fix").code, 1)
        self.assertEqual(self.fix("--fix", "--exit-non-zero-on-fix").code, 0)

    def test_what_unsafe_fixes_would_do(self):
        self.write("a.py", UNSAFE)
        for option in ("--fix", "--diff"):
            self.assertIn("1 can be fixed with `--unsafe-fixes`.\n", self.fix(option).err)

    def test_twice_changes_nothing_more(self):
        self.write("a.py", SAFE)
        self.fix("--fix")
        self.assertNotIn("Fixed", self.fix("--fix").err)
        self.assertEqual(self.text("a.py"), FIXED)


if __name__ == "__main__":
    main()
