"""Configuration files and the user's own knowledge."""

import json

from support import GUARDED, CliTest, main

KNOWLEDGE = """\
[[library]]
name = "ours"
"""


class Config(CliTest):
    def codes(self, *args, cwd=None):
        result = self.run_allranks("check", "--output-format", "concise", "-q", *args, cwd=cwd)
        self.assertIn(result.code, (0, 1), result.err)
        return [line.split()[1] for line in result.out.splitlines()]

    def test_three_files(self):
        self.write("a.py", GUARDED)
        for name, text in (("pyproject.toml", "[tool.allranks]\nignore = ['AR101']\n"),
                           ("allranks.toml", "ignore = ['AR1']\n"), (".allranks.toml", "select = ['AR104']\n")):
            path = self.write(name, text)
            self.assertEqual(self.codes(), [], name)
            self.assertEqual(self.codes("--isolated"), ["AR101"])
            path.unlink()

    def test_the_command_line_wins(self):
        self.write("a.py", GUARDED)
        self.write("allranks.toml", "ignore = ['AR101']\n")
        self.assertEqual(self.codes("--select", "AR101"), ["AR101"])
        self.write("other.toml", "")
        self.assertEqual(self.codes("--config", "other.toml"), ["AR101"])

    def test_exclude(self):
        self.write("gen/a.py", GUARDED)
        self.write("b.py", GUARDED)
        self.write("allranks.toml", "exclude = ['gen/']\n")
        self.assertEqual(self.run_allranks("check", "--show-files").out, "b.py\n")
        self.assertIn("warning: no Python, C or C++ files", self.run_allranks("check", "--exclude", "b.py").err)

    def test_errors_name_the_place(self):
        self.write("a.py", GUARDED)
        self.write("allranks.toml", "\nselct = ['AR1']\n")
        result = self.run_allranks("check")
        self.assertEqual((result.code, result.out), (2, ""))
        self.assertEqual(result.err, "allranks: error: allranks.toml:2:1: unknown key `selct`; did you mean `select`?\n"
                                     "  2 | selct = ['AR1']\n    | ^^^^^\n")
        self.write("allranks.toml", "select = [\n")
        self.assertRegex(self.run_allranks("check").err, r"^allranks: error: allranks\.toml:\d+:\d+: not valid TOML")
        self.write("allranks.toml", "[[[")
        self.assertRegex(self.run_allranks("check").err, r"^allranks: error: allranks\.toml:1:\d+: not valid TOML")
        self.write("allranks.toml", "select = ['AR999']\n")
        self.assertIn("allranks.toml:1:11: no rule `AR999`", self.run_allranks("check").err)
        self.assert_one_line_error(self.run_allranks("check", "--config", "nowhere.toml"), "nowhere.toml")

    def test_files_outside_the_project_are_not_quoted(self):
        self.write("project/a.py", GUARDED)
        self.write("secret", "password = 'secret'\n")
        self.write("project/allranks.toml", "extend = '../secret'\n")
        (self.root / "project" / ".git").mkdir()
        extended = self.run_allranks("check", cwd=self.root / "project")
        (self.root / "project" / "allranks.toml").unlink()
        (self.root / "project" / "allranks.toml").symlink_to("../secret")
        linked = self.run_allranks("check", cwd=self.root / "project")
        for result in (extended, linked):
            self.assert_one_line_error(result, "lies outside the project")
            self.assertNotIn("password", result.err)

    def test_toml_of_any_size_and_depth_is_refused_in_words(self):
        self.write("a.py", GUARDED)
        deep = "a" + ".a" * 300_000
        for text in (f"{deep} = 1\n", f"[{deep}]\n"):
            for name in ("allranks.toml", "pyproject.toml"):
                path = self.write(name, "[tool.allranks]\n" * (name == "pyproject.toml") + text)
                result = self.run_allranks("check")
                self.assertEqual((result.code, result.out), (2, ""))
                self.assertIn("not valid TOML: a key of more than 64 dots", result.err)
                path.unlink()
            self.write("k.toml", text)
            result = self.run_allranks("check", "--knowledge", "k.toml")
            self.assertEqual(result.code, 2)
            self.assertIn("k.toml:1:13", result.err)
        self.write("allranks.toml", "#" * 2_000_000)
        self.assertIn("larger than the 1 MiB", self.run_allranks("check").err)

    def test_the_closest_file_counts_and_may_extend_another(self):
        self.write("pkg/a.py", GUARDED)
        self.write("allranks.toml", "ignore = ['AR101']\n")
        self.assertEqual(self.codes("pkg"), [])
        closest = self.write("pkg/allranks.toml", "")
        self.assertEqual(self.codes("pkg"), ["AR101"])
        closest.write_text("extend = '../allranks.toml'\n")
        self.assertEqual(self.codes("pkg"), [])

    def test_a_configuration_further_down_is_named(self):
        self.write("a.py", GUARDED)
        self.write("pkg/b.py", GUARDED)
        self.write("pkg/allranks.toml", 'ignore = ["AR101"]\n')
        self.assertIn("Not used: pkg/allranks.toml. One run has one configuration", self.run_allranks("check").out)
        self.assertNotIn("Not used", self.run_allranks("check", cwd=self.root / "pkg").out)

    def test_per_file_ignores_and_severity(self):
        self.write("tests/a.py", GUARDED)
        self.write("b.py", GUARDED)
        self.write("allranks.toml", "[per-file-ignores]\n'tests/' = ['AR1']\n")
        self.assertEqual(self.codes(), ["AR101"])
        self.write("allranks.toml", "fail-on = 'error'\n[severity]\nrank-guarded-collective = 'warning'\n")
        result = self.run_allranks("check", "b.py")
        self.assertIn("warning[AR101]", result.out)
        self.assertEqual(result.code, 0)
        self.assertEqual(self.run_allranks("check", "--fail-on", "warning").code, 1)
        self.assertEqual(self.codes("--config", "severity.AR101 = 'off'"), [])

    def test_settings_and_their_origins(self):
        self.write("a.py", GUARDED)
        self.write("allranks.toml", "\nmin-confidence = 'certain'\n")
        shown = self.run_allranks("check", "--show-settings", "--ignore", "AR4", "--config", "fail-on='error'")
        self.assertEqual(shown.code, 0, shown.err)
        self.assertRegex(shown.out, r'(?m)^min-confidence = "certain" +# allranks\.toml:2$')
        self.assertRegex(shown.out, r'(?m)^ignore = \["AR4"\] +# --ignore$')
        self.assertRegex(shown.out, r'(?m)^fail-on = "error" +# --config:1$')
        self.assertRegex(shown.out, r'(?m)^# exclude = \[\] +# default$')
        self.write("again.toml", shown.out)
        self.assertEqual(self.codes("--config", "again.toml"), self.codes("--ignore", "AR4"))

    def test_the_config_command(self):
        self.assertIn("per-file-ignores", self.run_allranks("config").out)
        self.assertIn("default: `\"likely\"`", self.run_allranks("config", "min-confidence").out)
        self.assert_one_line_error(self.run_allranks("config", "min-confidense"), "did you mean `min-confidence`?")
        self.assertIn("min-confidence", json.loads(self.run_allranks("config", "--schema").out)["properties"])

    def test_named_files_are_checked_unless_exclusion_is_forced(self):
        self.write("gen/a.py", GUARDED)
        self.write("allranks.toml", "exclude = ['gen/']\n")
        self.assertEqual(self.codes("gen/a.py"), ["AR101"])
        forced = self.run_allranks("check", "--force-exclude", "gen/a.py")
        self.assertEqual((forced.code, forced.err), (0, ""))

    def test_import_roots(self):
        self.write("lib/python/sync.py", "import torch.distributed as dist\n\ndef sync():\n    dist.barrier()\n")
        self.write("train.py", "import torch.distributed as dist\nfrom sync import sync\n\nif dist.get_rank() == 0:\n    sync()\n")
        self.assertEqual(self.codes("--select", "AR1", "train.py"), [])
        self.write("allranks.toml", "import-roots = ['lib/python']\n")
        self.assertEqual(self.codes("--select", "AR1", "train.py"), ["AR101"])

    def test_the_shape_of_jobs(self):
        self.write("a.py", "import torch\nimport torch.distributed as dist\n\ndist.init_process_group('nccl')\n"
                           "torch.cuda.set_device(dist.get_rank())\n")
        self.assertEqual(self.codes("a.py"), ["AR201"])
        self.assertEqual(self.codes("--config", "world.nodes = 1", "a.py"), [])
        self.write("b.py", "import os\nimport torch.distributed as dist\n\ndist.init_process_group('gloo')\n"
                           "if dist.get_rank() != 0:\n    dist.barrier()\nif int(os.environ['LOCAL_RANK']) == 0:\n    dist.barrier()\n")
        self.assertEqual(self.codes("b.py"), ["AR106"])
        self.assertEqual(self.codes("--config", "world.nodes = 1", "b.py"), [])

    def test_malformed_knowledge(self):
        self.write("a.py", GUARDED)
        self.write("ours.toml", "[[function]\n")
        self.assert_one_line_error(self.run_allranks("check", "--knowledge", "ours.toml"), "ours.toml:1")
        self.write("ours.toml", "[[function]]\nnonsense = 1\n")
        self.assert_one_line_error(self.run_allranks("check", "--knowledge", "ours.toml"), "ours.toml:")
        self.assert_one_line_error(self.run_allranks("check", "--knowledge", "nowhere.toml"), "nowhere.toml")

    def test_root(self):
        self.write("src/pkg/__init__.py", "")
        self.write("src/pkg/sync.py", "import torch.distributed as dist\n\ndef sync():\n    dist.barrier()\n")
        self.write("src/train.py", "import torch.distributed as dist\nfrom pkg.sync import sync\n\nif dist.get_rank() == 0:\n    sync()\n")
        self.assertEqual(self.codes("--select", "AR1", "src/train.py"), ["AR101"])
        self.assertEqual(self.codes("--select", "AR1", "train.py", cwd=self.root / "src"), ["AR101"])
        self.assertEqual(self.codes("--select", "AR1", "--root", "src", "src/train.py"), ["AR101"])


if __name__ == "__main__":
    main()
