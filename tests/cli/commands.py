"""Subcommands, exit codes and mistakes on the command line."""

import json
import pathlib
import shutil
import subprocess

from support import ALLRANKS, GUARDED, CliTest, main


class Commands(CliTest):
    def test_exit_codes(self):
        self.write("bad.py", GUARDED)
        self.write("good.py", "x = 1\n")
        self.assertEqual(self.run_allranks("check", "bad.py").code, 1)
        self.assertEqual(self.run_allranks("check", "--exit-zero", "bad.py").code, 0)
        self.assertEqual(self.run_allranks("check", "good.py").code, 0)
        self.assertEqual(self.run_allranks("check", "--exit-zero", "nowhere.py").code, 2)

    def test_the_first_example_shows_what_it_is_for(self):
        example = pathlib.Path(__file__).resolve().parents[2] / "examples" / "first-hang"
        shutil.copytree(example, self.root / "example")
        found = self.run_allranks("check", "--output-format", "concise", "example").out
        for place in (r"train\.py:65:\d+: error: AR101", r"utils\.py:24:\d+: error: AR103"):
            self.assertRegex(found, place)
        self.assertNotIn("AR104", found)
        self.assertIn("In preview: 1 finding. `--preview` shows it.", found)
        self.assertRegex(self.run_allranks("check", "--preview", "--output-format", "concise", "example").out, r"train\.py:26:\d+: error: AR104")

    def test_check_is_the_default(self):
        self.write("bad.py", GUARDED)
        self.assertEqual(self.run_allranks("bad.py").out, self.run_allranks("check", "bad.py").out)
        self.assertEqual(self.run_allranks().code, 1)
        self.assertEqual(self.run_allranks("--output-format", "concise", "bad.py").code, 1)

    def test_paths_after_the_options(self):
        self.write("-odd.py", GUARDED)
        self.assertIn("-odd.py", self.run_allranks("check", "--output-format", "concise", "--", "-odd.py").out)
        self.assertEqual(self.run_allranks("check", "--").code, 1)

    def test_version(self):
        for args in (["--version"], ["version"], ["-V"]):
            result = self.run_allranks(*args)
            self.assertEqual(result.code, 0)
            self.assertRegex(result.out, r"^allranks \d+\.\d+\.\d+( \(\w+(-dirty)?\))?\nPython: tree-sitter [\d.]+, tree-sitter-python [\d.]+\nC, C\+\+, CUDA: (LLVM [\d.]+|NOT IN THIS BINARY.*)\n"
                             r"verify --backend sim: always\nverify --backend gloo: (Gloo [\d.]+|NOT IN THIS (?:BINARY|PACKAGE).*)\n"
                             r"verify --backend nccl: with the NCCL and CUDA driver found at run time\n$")

    def test_help(self):
        for args in (["--help"], ["check", "--help"], ["rule", "-h"]):
            result = self.run_allranks(*args)
            self.assertEqual((result.code, result.err), (0, ""))
            self.assertIn("Usage: allranks", result.out)

    def test_misspelt_words(self):
        for args, meant in ((["chekc"], "`allranks check`"), (["sever"], "`allranks server`"), (["--output-format", "sari"], "`sarif`"),
                            (["--fail-on=eror"], "`error`"), (["check", "--selct", "AR1"], "`--select`")):
            self.assert_one_line_error(self.run_allranks(*args), f"did you mean {meant}?")
        self.assert_one_line_error(self.run_allranks("--output-format", "zip"), "none of full, concise, ")
        # What is there is checked.
        self.write("chekc/good.py", "x = 1\n")
        self.assertEqual(self.run_allranks("chekc").code, 0)

    def test_any_word_that_is_no_file(self):
        for word in ("frobnicate", "deploy"):
            result = self.run_allranks(word)
            self.assert_one_line_error(result, f"neither a command nor a file: `{word}`", "allranks --help")
            self.assertEqual(result.out, "")
        self.assertEqual(self.run_allranks("help", "check").out, self.run_allranks("check", "--help").out)
        self.assertIn("Usage", self.run_allranks("help").out)

    def test_help_has_groups(self):
        out = self.run_allranks("check", "--help").out
        groups = ["Which rules", "Which files", "How code is read", "Fixes", "Old findings", "Reports", "Running"]
        places = [out.index(f"\n{group}:\n") for group in groups]
        self.assertEqual(places, sorted(places))

    def test_clean(self):
        self.write("bad.py", GUARDED)
        self.run_allranks("check")
        self.assertTrue((self.root / ".allranks_cache").is_dir())
        self.assertEqual(self.run_allranks("clean").code, 0)
        self.assertFalse((self.root / ".allranks_cache").exists())
        self.assertEqual(self.run_allranks("clean").code, 0)
        self.write(".allranks_cache/precious", "x")
        self.assert_one_line_error(self.run_allranks("clean"), "this is no cache")

    def test_clean_deletes_nothing_but_entries(self):
        """Whatever a repository brings in a folder that is called as ours, with a tag as ours."""
        self.write("bad.py", GUARDED)
        others = ("precious", "runs/precious.py", "ir/" + "0" * 31, "ir/" + "0" * 32 + ".py", "units/deep/" + "0" * 32, "elsewhere/" + "0" * 32)
        for name in others:
            self.write(f".allranks_cache/{name}", "x")
        self.write("out/" + "0" * 32, "x")
        (self.root / ".allranks_cache/runs/" / ("1" * 32)).symlink_to("../../bad.py")
        self.run_allranks("check")
        result = self.run_allranks("clean")
        self.assertEqual((result.code, result.out), (0, ""))
        self.assertIn("other files in it were left", result.err)
        left = sorted(path.relative_to(self.root / ".allranks_cache").as_posix() for path in (self.root / ".allranks_cache").rglob("*") if path.is_file())
        self.assertEqual(left, sorted([*others, ".gitignore", "CACHEDIR.TAG"]))
        self.assertTrue((self.root / "bad.py").exists())
        shutil.rmtree(self.root / ".allranks_cache/units")
        (self.root / ".allranks_cache/units").symlink_to("../out")
        self.run_allranks("clean")
        self.assertTrue((self.root / "out" / ("0" * 32)).exists())

    def test_clean_takes_no_tag_of_others_for_ours(self):
        self.write("bad.py", GUARDED)
        self.write(".allranks_cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n")
        self.write(".allranks_cache/ir/" + "0" * 32, "x")
        self.assert_one_line_error(self.run_allranks("clean"), "this is no cache")
        self.run_allranks("check", "--cache-dir", "real")
        (self.root / "allranks.toml").write_text('cache-dir = "alias"\n')
        (self.root / "alias").symlink_to("real")
        self.assert_one_line_error(self.run_allranks("clean"), "this is no cache")
        self.assertTrue((self.root / "real/ir").exists())

    def test_completions(self):
        for shell in ("bash", "zsh", "fish"):
            out = self.run_allranks("completions", shell)
            self.assertEqual(out.code, 0)
            for word in ("min-confidence", "possible", "server", "update-baseline"):
                self.assertIn(word, out.out, shell)
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=out.out.encode(), check=True)
        bash = self.run_allranks("completions", "bash").out
        for words, completed in (("check --min-confidence p", "possible"), ("rule AR101", "AR101"), ("check --select AR101,AR102", "AR101,AR102")):
            script = f"{bash}COMP_WORDS=(allranks {words}); COMP_CWORD={len(words.split())}; _allranks; echo \"${{COMPREPLY[@]}}\""
            self.assertEqual(subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout, completed + "\n")
        self.assert_one_line_error(self.run_allranks("completions", "tcsh"), "tcsh")

    def test_pages(self):
        man = self.run_allranks("man").out
        self.assertTrue(man.startswith(".TH ALLRANKS 1"), man[:60])
        page = self.run_allranks("man", "--markdown").out
        docs = pathlib.Path(__file__).resolve().parents[2] / "docs" / "cli.md"
        self.assertEqual(page, docs.read_text(), "allranks man --markdown > docs/cli.md")

    def test_licences(self):
        out = self.run_allranks("version", "--licenses").out
        for word in ("Apache License", "tree-sitter", "LLVM", "yaml-cpp"):
            self.assertIn(word, out)

    def test_rule_as_json(self):
        rule = json.loads(self.run_allranks("rule", "AR101", "--output-format", "json").out)
        self.assertEqual((rule["code"], rule["name"], rule["severity"], rule["preview"]), ("AR101", "rank-guarded-collective", "error", False))
        rules = json.loads(self.run_allranks("rule", "--all", "--output-format", "json").out)
        self.assertGreater(len(rules), 60)
        self.assertTrue(next(each for each in rules if each["code"] == "AR809")["preview"])

    def test_watch(self):
        self.write("bad.py", GUARDED)
        process = subprocess.Popen([ALLRANKS, "check", "--watch", "--output-format", "concise"], cwd=self.root, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        self.assertIn("AR101", process.stdout.readline())
        self.assertIn("Watching", process.stderr.readline())
        self.write("bad.py", "import torch.distributed\n")
        lines = [process.stdout.readline() for _ in range(2)]
        self.assertTrue(any(line.startswith("No findings") for line in lines), lines)

    def test_rule(self):
        page = self.run_allranks("rule", "AR101")
        self.assertEqual(page.code, 0)
        self.assertIn("rank-guarded-collective", page.out)
        self.assertEqual(page.out, self.run_allranks("rule", "rank-guarded-collective").out)
        listing = self.run_allranks("rule", "--all").out.splitlines()
        self.assertTrue(any(line.startswith("AR101  rank-guarded-collective") for line in listing))
        self.assert_one_line_error(self.run_allranks("rule", "AR1O1"), "did you mean `AR101`?")
        self.assert_one_line_error(self.run_allranks("rule"), "allranks rule --all")

    def test_ir(self):
        self.write("a.py", GUARDED)
        whole = self.run_allranks("ir", "a.py")
        self.assertEqual(whole.code, 0)
        self.assertIn("barrier", whole.out)
        function = self.run_allranks("ir", "a.py:save")
        self.assertEqual(function.code, 0)
        self.assertNotIn("import", function.out)
        self.assert_one_line_error(self.run_allranks("ir", "a.py:svae"), "did you mean `save`?")
        self.assert_one_line_error(self.run_allranks("ir", "nowhere.py"), "nowhere.py")

    def test_trace(self):
        self.write("a.py", GUARDED)
        result = self.run_allranks("trace", "a.py:save")
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("barrier", result.out)
        self.assertEqual(self.run_allranks("trace", "a.py").code, 0)
        self.assert_one_line_error(self.run_allranks("trace", "a.py:svae"), "did you mean `save`?")
        self.assert_one_line_error(self.run_allranks("trace", "nowhere.py"), "nowhere.py")

    def test_mistakes_are_one_line(self):
        self.assert_one_line_error(self.run_allranks("check", "--selct", "AR1"), "--selct", "did you mean `--select`?")
        self.assert_one_line_error(self.run_allranks("check", "--output-format", "xml"), "xml")
        self.assert_one_line_error(self.run_allranks("check", "--jobs", "many"), "many")
        self.assert_one_line_error(self.run_allranks("check", "--root", "nowhere"), "nowhere")
        self.assert_one_line_error(self.run_allranks("ir"), "target")

    def test_show_files(self):
        self.write("b.py", "")
        self.write("a/x.ipynb", "")
        self.write("notes.txt", "")
        self.assertEqual(self.run_allranks("check", "--show-files").out, "a/x.ipynb\nb.py\n")
        self.assertEqual(self.run_allranks("check", "--show-files", cwd=self.root / "a").out, "x.ipynb\n")

    def test_profile_goes_to_stderr(self):
        self.write("bad.py", GUARDED)
        result = self.run_allranks("check", "--profile", "--output-format", "json")
        self.assertRegex(result.err, r"(?m)^sources parsed: \d+ bytes in 1 files$")
        self.assertRegex(result.err, r"(?m)^peak memory: \d+ bytes$")
        self.assertTrue(result.out.startswith("{"))


if __name__ == "__main__":
    main()
