"""Whatever lies in a source tree: no crash, no silence, and the rest is still checked."""

import os
import subprocess
import unittest

from support import ALLRANKS, GUARDED, CliTest, main


class BadInput(CliTest):
    def check(self, *args):
        return self.run_allranks("check", "--output-format", "concise", "-q", "--extend-select", "AR101", *args)

    def assert_found_beside(self, name, content, *expected):
        """`name` gives the findings `expected`, and the good file beside it is still checked."""
        self.write("good.py", GUARDED)
        self.write(name, content)
        result = self.check()
        self.assertEqual(result.code, 1, result.err)
        self.assertIn("good.py:6:9: error: AR101", result.out)
        self.assertEqual(result.err, "")
        lines = [line for line in result.out.splitlines() if line.startswith(name)]
        self.assertEqual(len(lines), len(expected), result.out)
        for line, part in zip(lines, expected):
            self.assertIn(part, line)

    def test_empty(self):
        self.assert_found_beside("bad.py", b"")

    def test_binary(self):
        self.assert_found_beside("bad.py", bytes(range(256)) * 40, "bad.py:1:1: error: AR001 file was not analysed: it contains NUL")

    def test_nul(self):
        self.assert_found_beside("bad.py", GUARDED.encode() + b"\0", "AR001")

    def test_utf_16(self):
        self.assert_found_beside("bad.py", GUARDED.encode("utf-16"), "AR001")

    def test_invalid_utf_8(self):
        self.assert_found_beside("bad.py", GUARDED.encode() + b"# \xff\n", "bad.py:6:9: error: AR101", "bad.py:7:3: error: AR001 byte that is not UTF-8")

    def test_declared_encoding(self):
        self.assert_found_beside("bad.py", b"# -*- coding: latin-1 -*-\n# \xff\n" + GUARDED.encode(), "bad.py:8:9: error: AR101")

    def test_byte_order_mark(self):
        self.assert_found_beside("bad.py", b"\xef\xbb\xbf" + GUARDED.encode(), "bad.py:6:9: error: AR101")

    def test_line_ends(self):
        for end in ("\r\n", "\r"):
            self.assert_found_beside("bad.py", GUARDED.replace("\n", end), "bad.py:6:9: error: AR101")

    def test_50_megabytes(self):
        self.assert_found_beside("bad.py", GUARDED.encode() + b"x = 1\n" * (50_000_000 // 6), "AR001 file was not analysed: its 5")

    def test_50_megabytes_that_do_not_concern_us(self):
        self.assert_found_beside("bad.py", b"x = 1\n" * (50_000_000 // 6))

    def test_values_that_double(self):
        double = {"x = [rank]\n": "x = x + x\n", "x = rank\n": "x = x - x\n", "x = ''\n": "x = x + x\n", "x = []\n": "x = list(x) + x\n"}
        for first, again in double.items():
            for lines in (8, 24, 32, 200):
                self.write("bad.py", "import torch.distributed as dist\nrank = dist.get_rank()\n" + first + again * lines +
                           "if x:\n    dist.barrier()\nif rank in x:\n    dist.barrier()\n")
                result = self.check()
                self.assertIn(result.code, (0, 1), (first, lines, result.err))

    def test_deep_nesting(self):
        for left, right in ("()", "[]", "{}", ("f(", ")"), ("-", ""), ("x.y(", ")"), ("lambda: ", "")):
            deep = "f = x = y = len\n" + "x = " + left * 100_000 + "y" + right * 100_000 + "\n"
            self.write("good.py", GUARDED)
            self.write("bad.py", GUARDED + deep)
            result = self.check("--select", "ALL")
            self.assertEqual(result.code, 1, (left, result.err))
            for name in ("bad", "good"):
                self.assertIn(f"{name}.py:6:9: error: AR101", result.out)
            # Brackets around a single name leave no trace; whatever else lies too deep is said.
            if left != "(":
                self.assertRegex(result.out, r"bad\.py:\d+:\d+: (error|note): AR00[13]", left)

    def test_deep_blocks(self):
        deep = "".join(" " * i + "if x:\n" for i in range(2000)) + " " * 2000 + "pass\n"
        self.write("bad.py", GUARDED + deep)
        self.assertEqual(self.check().code, 1)

    def test_syntax_error(self):
        self.assert_found_beside("bad.py", GUARDED + "def f(:\n  pass\n", "bad.py:6:9: error: AR101", "AR001 syntax error")

    def test_broken_notebook(self):
        self.assert_found_beside("bad.ipynb", '{"cells": [torch.distributed', "AR001 file was not analysed")

    def test_what_cannot_hide_a_collective_is_not_parsed(self):
        self.write("bad.ipynb", '{"cells": [')
        self.write("bad.py", "def f(:\n")
        result = self.check()
        self.assertEqual((result.code, result.out, result.err), (0, "", ""))
        self.assertIn("a broken file without them cannot hide a collective", " ".join(self.run_allranks("rule", "AR001").out.split()))

    def test_unreadable_file(self):
        if os.geteuid() == 0:
            self.skipTest("root may read everything")
        self.write("good.py", GUARDED)
        self.write("bad.py", GUARDED).chmod(0)
        result = self.check()
        self.assertEqual(result.code, 1)
        self.assertIn("bad.py:1:1: error: AR001 file was not analysed", result.out)
        self.assertIn("good.py:6:9: error: AR101", result.out)

    def test_a_folder_called_like_a_file(self):
        self.assert_found_beside("bad.py/inner.py", "x = 1\n")

    def test_a_named_pipe(self):
        self.write("good.py", GUARDED)
        os.mkfifo(self.root / "bad.py")
        self.assertIn("good.py", self.check().out)
        self.assertIn("AR001", self.check("bad.py").out)

    def test_symlink_loop(self):
        self.write("good.py", GUARDED)
        (self.root / "sub").mkdir()
        (self.root / "sub" / "loop").symlink_to(self.root)
        (self.root / "self.py").symlink_to("self.py")
        (self.root / "dangling.py").symlink_to("nowhere.py")
        result = self.check()
        self.assertEqual((result.code, result.err), (1, ""))
        self.assertEqual(len(result.out.splitlines()), 1, result.out)

    def test_a_link_to_a_file_of_the_tree_is_checked_once(self):
        self.write("good.py", GUARDED)
        (self.root / "again.py").symlink_to("good.py")
        self.assertEqual(len(self.check().out.splitlines()), 1)

    def test_a_path_that_is_a_broken_link(self):
        (self.root / "dangling.py").symlink_to("nowhere.py")
        self.assert_one_line_error(self.check("dangling.py"), "dangling.py")

    def test_odd_names(self):
        for name in ("a b.py", "-dash.py", "new\nline.py", "\udcff.py", "\u4f60.py"):
            self.write(name, GUARDED)
        for form in ("full", "concise", "json", "sarif"):
            result = self.run_allranks("check", "--output-format", form)
            self.assertEqual((result.code, result.err), (1, ""), form)

    def test_a_path_that_is_not_there(self):
        self.write("good.py", GUARDED)
        result = self.check("nowhere.py", "good.py")
        self.assert_one_line_error(result, "nowhere.py")
        self.assertIn("good.py:6:9: error: AR101", result.out)
        self.assertEqual(self.check("nowhere.py").out, "")

    def test_no_python_at_all(self):
        self.write("README.md", "x")
        result = self.check()
        self.assertEqual((result.code, result.err.count("\n")), (0, 1), result.err)
        self.assertTrue(result.err.startswith("allranks: warning: no Python, C or C++ files in .; "), result.err)

    def test_the_working_directory_is_gone(self):
        gone = self.root / "gone"
        gone.mkdir()
        command = f'cd "{gone}" && rmdir "{gone}" && exec "{ALLRANKS}" check .'
        process = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
        self.assertEqual(process.returncode, 2)
        self.assertEqual(len(process.stderr.splitlines()), 1, process.stderr)

    def test_broken_launch_files(self):
        for name, content, expected in (
            ("bad.yaml", "distributed_type: MULTI_GPU\nb: [1, 2\n", "bad.yaml:3:1: error: AR001"),
            ("bad.json", '{"zero_optimization": {"stage": 2,, }', "bad.json:1:35: error: AR001"),
            ("bad.sh", 'torchrun --nproc_per_node=4 "train.py\n', "bad.sh:1:29: error: AR001"),
            ("bad.sh", "torchrun train.py\nf() {\n  echo\n", "bad.sh:2:5: error: AR001"),
            ("bad.sh", "torchrun train.py\nX=$(echo\n", "bad.sh:2:3: error: AR001"),
            ("Makefile", 'all:\n\ttorchrun "--standalone train.py\n', "Makefile:2:11: error: AR001"),
            ("Dockerfile", 'FROM x\nCMD ["torchrun", "--standalone\n', "Dockerfile:2:5: error: AR001"),
            ("Dockerfile", "FROM x\nCMD ['torchrun', 'train.py']\n", "Dockerfile:2:5: error: AR001"),
        ):
            self.assert_found_beside(name, content, expected)

    def test_binary_launch_files(self):
        for name, content in (("bad.sh", b"torchrun train.py \0\1\xff"), ("bad.yaml", b"distributed_type: \0\xff"), ("bad.json", b'{"zero_optimization": "\0"}')):
            self.assert_found_beside(name, content, name + ":1:1: error: AR001 file was not analysed: it contains NUL")

    def test_launch_files_that_nest_too_deep(self):
        deep = "[" * 100_000 + "]" * 100_000
        self.assert_found_beside("bad.json", '{"zero_optimization": ' + deep + "}", "AR001 not all of this could be read: it nests deeper")
        self.assert_found_beside("bad.yaml", "distributed_type: " + deep, "AR001 not all of this could be read: it nests deeper")
        self.assert_found_beside("bad.sh", "torchrun train.py\n" + "$(" * 5000, "bad.sh:2:1: error: AR001 not all of this could be read: this is not closed")

    def test_templates_in_launch_files(self):
        for name, content in (
            ("bad.json", '{"zero_optimization": {"stage": {{ stage }}, "reduce_bucket_size": <SIZE>}, "steps_per_print": "${{ n }}" {% if x %}{% endif %}}'),
            ("bad.yaml", "distributed_type: <PLACEHOLDER>\nnum_processes: {{ n }}\n"),
            ("bad.sh", "torchrun --nproc_per_node=$1 --nnodes=<N> {{ x }} train.py\n"),
        ):
            self.assert_found_beside(name, content)

    def test_a_configuration_of_10_megabytes(self):
        numbers = ", ".join(["1"] * 4_000_000)
        self.assert_found_beside("bad.json", '{"zero_optimization": {"stage": 2}, "x": [' + numbers + "]}", "AR001 file was not analysed: it is larger")
        self.assert_found_beside("bad.json", '{"x": "{\\"zero_optimization\\": 1}", "y": [' + numbers + "]}")

    def test_aliases_that_explode(self):
        lines = ["a0: &a0 [" + ", ".join(["x"] * 9) + "]"]
        lines += [f"a{i}: &a{i} [" + ", ".join([f"*a{i - 1}"] * 9) + "]" for i in range(1, 30)]
        self.assert_found_beside("bad.yaml", "distributed_type: MULTI_GPU\n" + "\n".join(lines) + "\n")

    def check_settings(self, name, content):
        """A program that reads the file with constant keys; what is said of both."""
        self.write("train.py", f"""from omegaconf import OmegaConf
import lightning.pytorch as pl
cfg = OmegaConf.load("{name}")
trainer = pl.Trainer(devices=cfg.trainer.devices, use_distributed_sampler=cfg.trainer.use_distributed_sampler)
""")
        self.write(name, content)
        return self.check("--select", "ALL", "--preview", ".")

    def test_settings_that_cannot_be_read(self):
        for name, content, expected in (
            ("conf.yaml", "trainer: [1, 2\n", "conf.yaml:2:1: error: AR001"),
            ("conf.toml", "[trainer\ndevices = 1\n", "conf.toml:1:9: error: AR001"),
            ("conf.json", '{"trainer": {]}', "conf.json:1:14: error: AR001"),
            ("conf.yaml", "trainer: \0\n", "AR001 not all of this could be read: it contains NUL bytes"),
            ("conf.yaml", "trainer:\n" + "  a: 1\n" * 100000, "it is larger than the 512 KiB that are read of a file of settings"),
            ("conf.yaml", "trainer: " + "{a: " * 3000 + "}" * 3000 + "\n", "it nests deeper than is read"),
        ):
            with self.subTest(name=name, expected=expected):
                self.assertIn(expected, self.check_settings(name, content).out)

    def test_keys_in_settings_are_not_shown(self):
        self.check_settings("conf.toml", 'api_key = "abcdefsecret123\ntrainer = 1\n')
        out = self.run_allranks("check", "--output-format", "full", ".").out
        self.assertIn('api_key = "***', out)
        self.assertNotIn("abcdefsecret123", out)

    def test_settings_of_which_nothing_is_wrong(self):
        lines = ["a0: &a0 {x: 1}"] + [f"a{i}: &a{i} [" + ", ".join([f"*a{i - 1}"] * 9) + "]" for i in range(1, 60)]
        for content in ("\n".join(lines) + "\ntrainer: {devices: *a59}\n", "trainer: {{ trainer }}\nx: {% if y %}\n", "", "# nothing\n", "1\n"):
            with self.subTest(content=content[:20]):
                self.assertEqual(self.check_settings("conf.yaml", content).out, "")

    def test_defaults_that_name_one_another(self):
        self.write("train.py", """import hydra
import lightning.pytorch as pl
@hydra.main(config_path="conf", config_name="a")
def main(cfg):
    pl.Trainer(**cfg.trainer)
main()
""")
        for name, others in (("a", "ba"), ("b", "ab")):
            self.write(f"conf/{name}.yaml", "defaults:\n" + "".join(f"  - {other}\n" for other in others * 9) + "trainer: {devices: 1}\n")
        self.assertEqual(self.check("--select", "ALL", "--preview", ".").out, "")

    def test_scripts_that_source_one_another(self):
        self.write("other.sh", "source ./bad.sh\nNODES=1\n")
        self.assert_found_beside("bad.sh", "source ./other.sh\ntorchrun --nnodes=$NODES train.py\n", "AR003 this file was not analysed to its end: it sources itself")

    def test_a_crowd_of_scripts_that_source_one_another(self):
        self.write("good.py", GUARDED)
        for count, expected in ((3, 0), (12, 12)):
            names = [f"bad{i}.sh" for i in range(count)]
            for name in names:
                self.write(name, "".join(f"source ./{other}\n" for other in names) + "torchrun --nnodes=2 train.py\n")
            result = self.check()
            self.assertIn("good.py:6:9: error: AR101", result.out)
            limits = [line for line in result.out.splitlines() if "AR003 this file was not analysed to its end: it runs or sources more" in line]
            self.assertEqual(len(limits), expected, result.out)

    def test_holes(self):
        self.write("good.py", GUARDED)
        for name in ("bad.py", "bad.cpp", "bad.ipynb"):
            with open(self.root / name, "wb") as file:
                file.truncate(20 << 30)
        result = self.check()
        self.assertIn("good.py:6:9: error: AR101", result.out)
        self.assertIn("bad.py:1:1: error: AR001 file was not analysed: bad.py: cannot read: larger than the 256 MiB that a file may have", result.out)
        self.assertEqual(result.code, 1)

    def test_nothing_is_proven_beyond_a_bound(self):
        imported = "import torch.distributed as dist\n"
        deep = "".join(f"def f{i}(x):\n  f{i + 1}(x)\n" for i in range(5000)) + "def f5000(x): dist.barrier()\nif dist.get_rank() == 0: f0(1)\n"
        nested = "if " + "not " * 600 + "dist.get_rank(): dist.barrier()\n"
        for text in (imported + deep, imported + nested):
            self.write("a.py", text)
            out = self.run_allranks("check", "--no-cache", "--coverage").out
            self.assertRegex(out, r"proven aligned +0 ")
            self.assertRegex(out, r"unknown +1 +100.0 %\nUnknown because of\n +1  bound reached", text[:100])


if __name__ == "__main__":
    main()
