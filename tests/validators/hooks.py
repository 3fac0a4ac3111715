"""The hooks of packaging/pre-commit under the real pre-commit, and the steps of action.yml under bash.

usage: hooks.py ALLRANKS REPOSITORY. pre-commit clones a tagged repository and installs it with its own build isolation, as users
have it; only the wheel comes from a folder instead of the package index. Without an index for setuptools the hooks are skipped.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

# Debian's packages, which `make validate` installs, also for a Python that is not Debian's.
sys.path.append("/usr/lib/python3/dist-packages")
ALLRANKS = pathlib.Path(sys.argv.pop(1)).resolve()
REPOSITORY = pathlib.Path(sys.argv.pop(1)).resolve()
VALIDATOR = REPOSITORY / "tests" / "validators" / "node_modules" / ".bin" / "action-validator"
WORKFLOWS = REPOSITORY / ".github" / "workflows"

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
        cls.environment.update(HOME=str(cls.root), PRE_COMMIT_HOME=str(cls.root / "cache"), PIP_FIND_LINKS=str(cls.root / "wheels"),
                               PIP_DISABLE_PIP_VERSION_CHECK="1", GIT_CONFIG_GLOBAL=os.devnull, GIT_AUTHOR_NAME="a",
                               GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@b")
        reaches = cls.call(cls.root, sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", cls.root / "index", "setuptools>=61")
        if reaches.returncode != 0:
            raise unittest.SkipTest("pip reaches no package index, so it cannot isolate a build")
        packed = cls.call(cls.root, sys.executable, REPOSITORY / "tools" / "pack_wheel", "--binary", ALLRANKS, cls.root / "wheels")
        assert packed.returncode == 0, packed.stderr
        origin, cls.hooks = cls.root / "origin", cls.root / "hooks"
        shutil.copytree(REPOSITORY / "packaging" / "pre-commit", origin)
        cls.commit(origin, "hooks")
        cls.call(origin, "git", "tag", "v1")
        cls.call(cls.root, "git", "clone", "-q", origin, cls.hooks)

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
        # Of a repository that is tried out pre-commit makes one environment a run: both hooks in one run.
        result = self.call(project, "pre-commit", "try-repo", self.hooks, "--all-files")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertEqual(len(re.findall(r"AR101.*\n.*bad\.py:6:9", result.stdout)), 2, result.stdout)

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
    """action.yml: read by a validator, and its steps run under bash in their order, with what one hands to the next."""

    @classmethod
    def setUpClass(cls):
        try:
            import yaml
        except ImportError:
            raise unittest.SkipTest("python3-yaml is not installed; `make validate` installs it")
        cls.action = yaml.safe_load((REPOSITORY / "action.yml").read_text())
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = pathlib.Path(cls.folder.name).resolve()
        packed = subprocess.run([sys.executable, REPOSITORY / "tools" / "pack_wheel", "--binary", ALLRANKS, cls.root / "wheels"],
                                capture_output=True, text=True)
        assert packed.returncode == 0, packed.stderr

    def run_steps(self, text, **given):
        """The exit code of the last step and what the steps put out; `uses` steps are named, not run."""
        project = pathlib.Path(tempfile.mkdtemp(dir=self.root))
        (project / "bad.py").write_text(text)
        inputs = {name: str(value["default"]) for name, value in self.action["inputs"].items()}
        values = {f"inputs.{name}": value for name, value in {**inputs, **{k.replace("_", "-"): v for k, v in given.items()}}.items()}

        def filled(text):
            return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda match: values.get(match[1], ""), text)

        lines, code, path = [], 0, f"{pathlib.Path(sys.executable).parent}:/usr/bin:/bin"
        for step in self.action["runs"]["steps"]:
            if "uses" in step:
                lines.append(f"uses {step['uses']} of {filled(step['with'].get('sarif_file', ''))}")
                continue
            output = project / "github_output"
            output.write_text("")
            environment = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "PYTHON", "VIRTUAL_ENV"))}
            # An index of packages that holds the one that was just packed.
            environment.update({name: filled(value) for name, value in step.get("env", {}).items()}, GITHUB_OUTPUT=str(output),
                               GITHUB_PATH=str(project / "github_path"), GITHUB_STEP_SUMMARY=str(project / "summary.md"),
                               RUNNER_TEMP=str(project),
                               PATH=path, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(self.root / "wheels"),
                               PIP_DISABLE_PIP_VERSION_CHECK="1")
            folder = project / filled(step.get("working-directory", "."))
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=folder, env=environment,
                                  capture_output=True, text=True, timeout=120)
            lines.append(done.stdout + done.stderr)
            if (project / "github_path").exists():
                path = ":".join([*(project / "github_path").read_text().split(), path])
            code = done.returncode
            values.update({f"steps.{step['id']}.outputs.{line.split('=', 1)[0]}": line.split("=", 1)[1]
                           for line in output.read_text().splitlines() if "id" in step})
            if code != 0:
                break
        return code, "\n".join(lines), project

    def test_steps_in_order(self):
        code, output, project = self.run_steps(GUARDED, paths="bad.py", args="--isolated", sarif_category="gpu")
        self.assertEqual(code, 1, output)
        self.assertIn("::error title=allranks (AR101),file=", output)
        self.assertIn(f"uses github/codeql-action/upload-sarif@v4 of {project / 'allranks.sarif'}", output)
        self.assertIn('"id": "gpu/"', (project / "allranks.sarif").read_text())
        self.assertIn("| error | [AR101](", (project / "summary.md").read_text())
        self.assertEqual(self.run_steps(GUARDED, fail_on="never")[0], 0)
        self.assertEqual(self.run_steps("x = 1\n")[0], 0)

    def test_inputs_are_data(self):
        code, output, project = self.run_steps(GUARDED, paths="bad.py $(touch hacked) ; touch hacked")
        self.assertEqual(code, 2, output)
        self.assertFalse((project / "hacked").exists())

    def test_lists_have_one_item_a_line(self):
        code, output, _ = self.run_steps(GUARDED, paths="nowhere\nbad.py\n")
        self.assertEqual(code, 2, output)
        self.assertIn("nowhere", output)
        code, output, _ = self.run_steps(GUARDED, paths="bad.py\n.\n", args='--config\nfail-on = "never"\n')
        self.assertEqual(code, 0, output)

    @unittest.skipUnless(VALIDATOR.exists(), f"{VALIDATOR} is not installed; `make validate` installs it")
    def test_the_validator_of_actions_and_workflows(self):
        def verdict(name, text):
            file = self.root / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
            return subprocess.run([VALIDATOR, file], capture_output=True, text=True, timeout=60)

        action = (REPOSITORY / "action.yml").read_text()
        result = verdict("good/action.yml", action)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertNotEqual(verdict("bad/action.yml", action.replace("using: composite", "using: composit")).returncode, 0)
        blocks = re.findall(r"^```yaml\n(.*?)^```", (REPOSITORY / "docs" / "ci.md").read_text(), re.M | re.S)
        workflows = [block if block.startswith("name:") else f"on: push\njobs:\n{block}" for block in blocks if "runs-on:" in block]
        self.assertEqual(len(workflows), 2)
        # Its newest version (0.6.0) does not know this permission; actionlint does.
        workflows += [path.read_text().replace("      attestations: write\n", "") for path in sorted(WORKFLOWS.glob("*.yml"))]
        for index, workflow in enumerate(workflows):
            result = verdict(f"good/{index}.yml", workflow)
            self.assertEqual(result.returncode, 0, result.stdout + workflow)

    @unittest.skipUnless(shutil.which("actionlint"), "actionlint is not installed (go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12)")
    def test_workflows_of_our_own(self):
        result = subprocess.run(["actionlint", *sorted(WORKFLOWS.glob("*.yml"))], capture_output=True, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main(verbosity=1)
