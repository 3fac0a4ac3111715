"""Configuration files and the user's own knowledge."""

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
        self.assert_one_line_error(self.run_allranks("check", "--exclude", "b.py"), "no Python, C or C++ files")

    def test_errors_name_the_place(self):
        self.write("a.py", GUARDED)
        self.write("allranks.toml", "\nselct = ['AR1']\n")
        self.assert_one_line_error(self.run_allranks("check"), "allranks.toml:2:", "did you mean `select`?")
        self.write("allranks.toml", "select = [\n")
        self.assert_one_line_error(self.run_allranks("check"), "allranks.toml:", "TOML")
        self.write("allranks.toml", "select = ['AR999']\n")
        self.assert_one_line_error(self.run_allranks("check"), "allranks.toml", "AR999")
        self.assert_one_line_error(self.run_allranks("check", "--config", "nowhere.toml"), "nowhere.toml")

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
        self.assertEqual(self.codes("src/train.py"), ["AR101"])
        self.assertEqual(self.codes("train.py", cwd=self.root / "src"), ["AR101"])
        self.assertEqual(self.codes("--root", "src", "src/train.py"), ["AR101"])


if __name__ == "__main__":
    main()
