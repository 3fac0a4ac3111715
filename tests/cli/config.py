"""Configuration files and the user's own knowledge."""

import json

from support import GUARDED, CliTest, main

KNOWLEDGE_OF_SYNC = """\
library = "ours"
docs = "https://example.org"

[[function]]
name = "ours.sync"
operation = "barrier"
"""


class Config(CliTest):
    def codes(self, *args, cwd=None):
        result = self.run_allranks("check", "--output-format", "concise", "-q", *args, cwd=cwd)
        self.assertIn(result.code, (0, 1), result.err)
        return [line.split()[2] for line in result.out.splitlines()]

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

    def test_knowledge_outside_the_project_is_not_quoted(self):
        self.write("secret.toml", "[registry]\ntoken = 'T'\n")
        self.write("project/a.py", GUARDED)
        self.write("project/pyproject.toml", "[tool.allranks]\nknowledge = ['../secret.toml']\n")
        result = self.run_allranks("check", cwd=self.root / "project")
        self.assert_one_line_error(result, "secret.toml: this is no knowledge of allranks; as it lies outside the project")
        self.assertNotIn("registry", result.err)
        self.write("project/pyproject.toml", "")
        named = self.run_allranks("check", "--knowledge", "../secret.toml", cwd=self.root / "project")
        self.assert_one_line_error(named, "unknown key `registry`")

    def test_the_closest_file_counts_and_may_extend_another(self):
        self.write("pkg/a.py", GUARDED)
        self.write("allranks.toml", "ignore = ['AR101']\n")
        self.assertEqual(self.codes("pkg"), [])
        closest = self.write("pkg/allranks.toml", "")
        self.assertEqual(self.codes("pkg"), ["AR101"])
        closest.write_text("extend = '../allranks.toml'\n")
        self.assertEqual(self.codes("pkg"), [])

    def places(self, *args, cwd=None):
        """Of each finding its file in the project and its code, and the exit code."""
        result = self.run_allranks("check", "--output-format", "json", *args, cwd=cwd)
        self.assertIn(result.code, (0, 1), result.err)
        found = [(str((cwd or self.root) / f["location"]["path"]).removeprefix(f"{self.root}/"), f["code"]) for f in json.loads(result.out)["findings"]]
        return sorted(found), result.code

    def test_the_configuration_nearest_to_a_file_counts(self):
        (self.root / ".git").mkdir()
        self.write("allranks.toml", "ignore = ['AR4']\n")
        self.write("tools/a.py", GUARDED.replace("save", "save_tools"))
        self.write("one/train.py", GUARDED.replace("save", "save_one"))
        self.write("one/allranks.toml", "ignore = ['AR101']\n")
        self.write("two/train.py", GUARDED.replace("save", "save_two"))
        self.write("two/deep/train.py", GUARDED.replace("save", "save_deep"))
        self.write("two/gen/train.py", GUARDED.replace("save", "save_gen"))
        self.write("two/pyproject.toml", "[tool.allranks]\nfail-on = 'never'\n[tool.allranks.per-file-ignores]\n'/gen/' = ['AR1']\n")
        self.write("two/deep/.allranks.toml", "extend = '../../one/allranks.toml'\nselect = ['AR101']\n[severity]\nAR101 = 'info'\n")
        whole, code = self.places()
        self.assertEqual(whole, [("tools/a.py", "AR101"), ("two/deep/train.py", "AR101"), ("two/train.py", "AR101")])
        self.assertEqual(code, 1)
        files = ("tools/a.py", "one/train.py", "two/train.py", "two/deep/train.py", "two/gen/train.py")
        for file in files:
            expected = [place for place in whole if place[0] == file]
            self.assertEqual(self.places(file), (expected, int(bool(expected) and file != "two/train.py")), file)
            folder, name = file.rsplit("/", 1)
            self.assertEqual(self.places(name, cwd=self.root / folder)[0], expected, file)
        self.assertEqual(self.places(*files)[0], whole)
        self.assertEqual(self.places("one", "two")[0], [place for place in whole if place[0] != "tools/a.py"])
        self.assertEqual(self.places("two")[1], 1)
        self.assertIn("info[AR101]", self.run_allranks("check", "two").out)
        self.assertEqual(len(self.places("--isolated")[0]), 5)
        self.assertEqual(len(self.places("--config", "allranks.toml")[0]), 5)
        self.assertEqual(self.places("--ignore", "AR101")[0], [])
        self.assertEqual(len(self.places("--select", "AR101")[0]), 4)
        shown = self.run_allranks("check", "--show-settings").out
        self.assertRegex(shown, r"(?m)^# another one for two/deep: .*/two/deep/\.allranks\.toml$")

    def test_confidence_and_reasons_by_folder(self):
        self.write("one/a.py", GUARDED + "\n\nsave()\n")
        self.write("two/a.py", GUARDED.replace("dist.barrier()", "dist.barrier()  # allranks: ignore[AR101]"))
        self.assertEqual(self.places()[0], [("one/a.py", "AR101")])
        self.write("two/allranks.toml", "require-reason = true\n")
        self.assertEqual(self.places()[0], [("one/a.py", "AR101"), ("two/a.py", "AR002")])
        self.write("two/allranks.toml", "ignore = ['AR101']\n")
        self.assertEqual(self.places()[0], [("one/a.py", "AR101")])
        self.write("one/b.py", "import random\nimport torch.distributed as dist\n\nif random.random() < 0.5:\n    dist.barrier()\n")
        self.assertEqual(self.places()[0], [("one/a.py", "AR101")])
        self.write("two/allranks.toml", "min-confidence = 'possible'\n")
        self.write("two/b.py", "import random\nimport torch.distributed as dist\n\nif random.random() < 0.5:\n    dist.barrier()\n")
        self.assertEqual(self.places()[0], [("one/a.py", "AR101"), ("two/b.py", "AR104")])
        likely = self.places("--extend-select", "AR104")[0]
        self.assertEqual(likely, [("one/a.py", "AR101"), ("one/b.py", "AR104"), ("two/b.py", "AR104")])
        (self.root / "two/b.py").unlink()
        likely.pop()
        self.write("one/allranks.toml", "min-confidence = 'certain'\n")
        self.assertEqual(self.places()[0], likely[:1])
        self.assertEqual(self.places("one/b.py")[0], [])
        self.assertEqual(self.places("--min-confidence", "possible")[0], likely)

    def test_what_a_folder_brings_to_the_whole_run(self):
        self.write("a.py", GUARDED)
        self.write("pkg/sync.toml", KNOWLEDGE_OF_SYNC)
        self.write("pkg/train.py", "import torch.distributed as dist\nimport ours\n\nif dist.get_rank() == 0:\n    ours.sync()\n")
        self.write("pkg/gen/a.py", GUARDED)
        self.write("pkg/allranks.toml", "knowledge = ['sync.toml']\nexclude = ['gen/']\n")
        expected = [("a.py", "AR101"), ("pkg/train.py", "AR101")]
        self.assertEqual(self.places()[0], expected)
        self.assertEqual(self.places("pkg/train.py")[0], expected[1:])
        self.assertNotIn("Not used", self.run_allranks("check").out)

    def test_settings_that_only_a_whole_run_has(self):
        self.write("a.py", GUARDED)
        self.write("pkg/b.py", GUARDED)
        self.write("pkg/allranks.toml", "cache-dir = 'cache'\nworld.nodes = 1\n")
        self.assertIn("Not used: cache-dir, world.nodes of pkg/allranks.toml. All files of a run", self.run_allranks("check").out)
        self.assertNotIn("Not used", self.run_allranks("check", cwd=self.root / "pkg").out)
        self.write("pkg/allranks.toml", "slect = []\n")
        result = self.run_allranks("check")
        self.assertEqual((result.code, result.out), (2, ""))
        self.assertIn("pkg/allranks.toml:1:1: unknown key `slect`", result.err)

    def test_configurations_of_other_peoples_code_do_not_count(self):
        (self.root / ".git").mkdir()
        self.write("a.py", GUARDED)
        for folder in ("third_party/lib", "node_modules/lib", "lib"):
            self.write(f"{folder}/b.py", GUARDED)
            self.write(f"{folder}/allranks.toml", "slect = []\n")
        (self.root / "lib" / ".git").mkdir()
        self.assertEqual(self.places()[0], [("a.py", "AR101")])

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
        self.assertEqual(self.codes("a.py"), [])
        self.assertEqual(self.codes("--min-confidence", "possible", "a.py"), ["AR201"])
        self.assertEqual(self.codes("--config", "world.nodes = 2", "a.py"), ["AR201"])
        self.assertEqual(self.codes("--config", "world.nodes = 1", "--min-confidence", "possible", "a.py"), [])
        self.write("b.py", "import os\nimport torch.distributed as dist\n\ndist.init_process_group('gloo')\n"
                           "if dist.get_rank() != 0:\n    dist.barrier()\nif int(os.environ['LOCAL_RANK']) == 0:\n    dist.barrier()\n")
        self.assertEqual(self.codes("--extend-select", "AR106", "b.py"), ["AR106"])
        self.assertEqual(self.codes("--config", "world.nodes = 1", "--extend-select", "AR106", "b.py"), [])

    def test_malformed_knowledge(self):
        self.write("a.py", GUARDED)
        self.write("ours.toml", "[[function]\n")
        self.assert_one_line_error(self.run_allranks("check", "--knowledge", "ours.toml"), "ours.toml:1")
        self.write("ours.toml", "[[function]]\nnonsense = 1\n")
        self.assert_one_line_error(self.run_allranks("check", "--knowledge", "ours.toml"), "ours.toml:")
        self.assert_one_line_error(self.run_allranks("check", "--knowledge", "nowhere.toml"), "nowhere.toml")

    def test_knowledge_that_replaces_what_is_built_in(self):
        self.write("a.py", "x = 1\n")
        head = 'library = "acme"\ndocs = "https://acme.example"\n'
        self.write("ours.toml", head + '[[function]]\nname = "acme.chief"\nvalue = "rank == 0"\n')
        self.assertNotIn("replaces", self.run_allranks("check", "--knowledge", "ours.toml").err)
        self.write("ours.toml", head + '[[function]]\nname = "torch.distributed.all_reduce"\nparams = ["tensor"]\noperation = "barrier"\n')
        result = self.run_allranks("check", "--knowledge", "ours.toml")
        self.assertEqual(result.code, 0)
        self.assertIn("allranks: warning: ours.toml replaces what is known of `torch.distributed.all_reduce`\n", result.err)

    def test_knowledge_that_names_nearly_what_is_built_in(self):
        self.write("a.py", "x = 1\n")
        entry = 'library = "acme"\ndocs = "https://acme.example"\n[[method]]\nname = "accelerate.Accelerator.gathr"\noperation = "all_gather"\n'
        self.write("ours.toml", entry)
        result = self.run_allranks("check", "--knowledge", "ours.toml")
        self.assertEqual(result.code, 2)
        self.assertEqual(result.err, "allranks: error: ours.toml:4:8: unknown name `accelerate.Accelerator.gathr`; did you mean "
                         "`accelerate.Accelerator.gather`? If it is meant as written, add as_written = true\n")
        self.write("ours.toml", entry + "as_written = true\n")
        self.assertEqual(self.run_allranks("check", "--knowledge", "ours.toml").code, 0)

    def test_root(self):
        self.write("src/pkg/__init__.py", "")
        self.write("src/pkg/sync.py", "import torch.distributed as dist\n\ndef sync():\n    dist.barrier()\n")
        self.write("src/train.py", "import torch.distributed as dist\nfrom pkg.sync import sync\n\nif dist.get_rank() == 0:\n    sync()\n")
        self.assertEqual(self.codes("--select", "AR1", "src/train.py"), ["AR101"])
        self.assertEqual(self.codes("--select", "AR1", "train.py", cwd=self.root / "src"), ["AR101"])
        self.assertEqual(self.codes("--select", "AR1", "--root", "src", "src/train.py"), ["AR101"])

    def test_what_a_project_says_of_folders_stays_in_it(self):
        self.write("p/a.py", GUARDED)
        (self.root / "p/.git").mkdir()
        (self.root / "p/out").symlink_to("/")
        self.write("there", "")
        (self.root / "p/link").symlink_to("../there")
        for setting in ('root = "/"', 'root = ".."', 'root = "out"', 'cache-dir = "../x"', 'cache-dir = "out/x/y"', 'cache-dir = "/tmp/x"',
                        'baseline = "../x"', 'baseline = "out/x"', 'baseline = "link"'):
            self.write("p/allranks.toml", setting + "\n")
            result = self.run_allranks("check", "-q", *(["--update-baseline"] if "baseline" in setting else []), cwd=self.root / "p")
            key = setting.split()[0]
            self.assert_one_line_error(result, "allranks.toml:1: `" + key + "` leads out of the project", "--" + key)
            self.assertFalse((self.root / "x").exists())
        self.write("p/allranks.toml", 'root = "."\ncache-dir = "in/x"\n')
        self.assertEqual(self.run_allranks("check", "-q", cwd=self.root / "p").code, 1)
        # Who is at the machine may name any.
        self.write("p/allranks.toml", 'cache-dir = "../x"\n')
        self.assertEqual(self.run_allranks("check", "-q", "--config", "allranks.toml", cwd=self.root / "p").code, 1)

    def test_a_cache_that_a_project_names_holds_nothing_else(self):
        self.write("src/a.py", GUARDED)
        self.write("src/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n")
        (self.root / ".git").mkdir()
        for place, what in ((".", "the project"), ("src", "src/a.py"), ("src/..", "the project")):
            self.write("allranks.toml", f'cache-dir = "{place}"\n')
            for command in ("check", "clean"):
                result = self.run_allranks(command)
                self.assert_one_line_error(result, "allranks.toml:1: `cache-dir` names a folder that holds other things than a cache", what)
        self.assertEqual(sorted(path.name for path in self.root.iterdir()), [".git", "allranks.toml", "src"])
        self.assertEqual(sorted(path.name for path in (self.root / "src").iterdir()), ["CACHEDIR.TAG", "a.py"])
        self.write("allranks.toml", 'cache-dir = "src/cache"\n')
        for _ in range(2):
            self.assertEqual(self.run_allranks("check", "-q").code, 1)
        self.assertTrue((self.root / "src/cache/ir").exists())
        self.assertEqual(self.run_allranks("clean").code, 0)
        self.assertFalse((self.root / "src/cache").exists())

    def test_a_baseline_that_leads_nowhere_is_written_in_the_project(self):
        self.write("p/a.py", GUARDED)
        (self.root / "p/.git").mkdir()
        (self.root / "p/known").symlink_to("../made")
        self.write("p/allranks.toml", 'baseline = "known"\n')
        self.assertEqual(self.run_allranks("check", "-q", "--update-baseline", cwd=self.root / "p").code, 0)
        self.assertFalse((self.root / "made").exists())
        self.assertFalse((self.root / "p/known").is_symlink())
        # Who is at the machine may name any, but knows nothing of a link in the project.
        (self.root / "p/given").symlink_to("../made")
        for name in ("given", "../other"):
            result = self.run_allranks("check", "-q", "--update-baseline", "--baseline", name, cwd=self.root / "p")
            self.assertEqual(result.code, 0, result.err)
        self.assertFalse((self.root / "made").exists() or (self.root / "p/given").is_symlink())
        self.assertTrue((self.root / "other").exists())
        # A link within the project is followed.
        (self.root / "p/tools").mkdir()
        (self.root / "p/known").rename(self.root / "p/tools/known")
        self.write("p/b.py", GUARDED)
        (self.root / "p/known").symlink_to("tools/known")
        self.assertEqual(self.run_allranks("check", "-q", "--update-baseline", cwd=self.root / "p").code, 0)
        self.assertTrue((self.root / "p/known").is_symlink())
        self.assertIn("b.py", (self.root / "p/tools/known").read_text())

    def test_a_long_list_of_unknown_rules(self):
        self.write("a.py", GUARDED)
        self.write("allranks.toml", "ignore = [" + ",".join(f'"XX{i}"' for i in range(60_000)) + "]\n")
        self.assert_one_line_error(self.run_allranks("check", timeout=10), "no rule `XX0`")


if __name__ == "__main__":
    main()
