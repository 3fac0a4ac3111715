"""The hooks of .pre-commit-hooks.yaml under the real pre-commit, and the steps of action.yml under bash.

usage: hooks.py ALLRANKS REPOSITORY. Without network: a package that holds the built binary stands for the published one.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ALLRANKS = pathlib.Path(sys.argv.pop(1)).resolve()
REPOSITORY = pathlib.Path(sys.argv.pop(1)).resolve()

SETUP = """\
from setuptools import setup
setup(name="allranks", version="0.1.0", py_modules=[], data_files=[("bin", ["allranks"])])
"""
GUARDED = (REPOSITORY / "tests" / "cli" / "support.py").read_text().split('GUARDED = """\\\n')[1].split('"""')[0]
EPOCHS = """\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def main(dataset, optimizer):
    dist.init_process_group("nccl", device_id=torch.device("cuda", 0))
    model = DDP(torch.nn.Linear(8, 1).cuda())
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=32, sampler=sampler)
    for epoch in range(10):
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
"""


@unittest.skipUnless(shutil.which("pre-commit") and shutil.which("git"), "pre-commit is not installed; `make validate` installs it")
class Hooks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = pathlib.Path(cls.folder.name).resolve()
        cls.environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") and k not in ("CI", "PRE_COMMIT")}
        cls.environment.update(HOME=str(cls.root), PRE_COMMIT_HOME=str(cls.root / "cache"), PIP_NO_INDEX="1",
                               PIP_DISABLE_PIP_VERSION_CHECK="1", GIT_CONFIG_GLOBAL=os.devnull, GIT_AUTHOR_NAME="a",
                               GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@b")
        cls.hooks = cls.root / "hooks"
        cls.hooks.mkdir()
        shutil.copy(REPOSITORY / ".pre-commit-hooks.yaml", cls.hooks)
        shutil.copy(ALLRANKS, cls.hooks / "allranks")
        (cls.hooks / "setup.py").write_text(SETUP)
        cls.commit(cls.hooks, "hooks")
        cls.call(cls.hooks, "git", "tag", "v1")

    @classmethod
    def call(cls, cwd, *command):
        return subprocess.run([str(word) for word in command], cwd=cwd, env=cls.environment, capture_output=True, text=True, timeout=300)

    @classmethod
    def commit(cls, folder, message):
        if not (folder / ".git").exists():
            cls.call(folder, "git", "init", "-q", "-b", "main")
        cls.call(folder, "git", "add", "-A")
        return cls.call(folder, "git", "commit", "-qm", message)

    def project(self, name, **files):
        folder = self.root / name
        folder.mkdir()
        self.commit(folder, "empty")
        for path, text in files.items():
            (folder / path.replace("__", ".")).write_text(text)
        return folder

    def test_try_repo(self):
        project = self.project("tried", bad__py=GUARDED)
        self.call(project, "git", "add", "-A")
        for hook in ("allranks", "allranks-project"):
            result = self.call(project, "pre-commit", "try-repo", self.hooks, hook, "--all-files")
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            self.assertIn("bad.py:6:9", result.stdout)
            self.assertIn("AR101", result.stdout)

    def test_a_commit_is_blocked_and_passes_once_fixed(self):
        config = f"repos:\n- repo: {self.hooks}\n  rev: v1\n  hooks:\n  - id: allranks\n"
        project = self.project("real", train__py=EPOCHS)
        (project / ".pre-commit-config.yaml").write_text(config)
        self.assertEqual(self.call(project, "pre-commit", "install").returncode, 0)
        blocked = self.commit(project, "train")
        self.assertNotEqual(blocked.returncode, 0)
        self.assertIn("AR301", blocked.stdout + blocked.stderr)
        fixed = self.call(project, ALLRANKS, "check", "--fix", "train.py")
        self.assertEqual(fixed.returncode, 0, fixed.stdout)
        passed = self.commit(project, "train")
        self.assertEqual(passed.returncode, 0, passed.stdout + passed.stderr)
        self.assertIn("set_epoch", self.call(project, "git", "show", "HEAD:train.py").stdout)
        # A commit of one path has an index of its own, which git names in the environment of the hook.
        (project / "train.py").write_text(EPOCHS)
        partial = self.call(project, "git", "commit", "-qm", "again", "--", "train.py")
        self.assertNotEqual(partial.returncode, 0)

    def test_excluded_files_of_a_commit_are_left_out(self):
        config = f"repos:\n- repo: {self.hooks}\n  rev: v1\n  hooks:\n  - id: allranks\n"
        project = self.project("excluded", bad__py=GUARDED, allranks__toml="exclude = ['bad.py']\n")
        (project / ".pre-commit-config.yaml").write_text(config)
        self.call(project, "pre-commit", "install")
        result = self.commit(project, "bad")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


class Action(unittest.TestCase):
    def steps(self):
        try:
            import yaml
        except ImportError:
            raise unittest.SkipTest("python3-yaml is not installed")
        return yaml.safe_load((REPOSITORY / "action.yml").read_text())["runs"]["steps"]

    def test_the_check_step(self):
        script = next(step["run"] for step in self.steps() if step.get("id") == "check")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "bad.py").write_text(GUARDED)
            environment = {**os.environ, "PATH": f"{ALLRANKS.parent}:{os.environ['PATH']}", "PATHS": "bad.py", "ARGS": "--isolated",
                           "FAIL_ON": "error", "DIFF_BASE": "", "SARIF_FILE": "x.sarif", "SARIF_CATEGORY": "gpu",
                           "GITHUB_OUTPUT": str(folder / "output")}
            result = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(result.stdout.startswith("::error title=allranks (AR101),file="), result.stdout)
            self.assertIn("exit-code=1", (folder / "output").read_text())
            self.assertIn('"id": "gpu/"', (folder / "x.sarif").read_text())


if __name__ == "__main__":
    unittest.main(verbosity=1)
