"""What is kept of a run and what the next one makes of it."""

from support import GUARDED, CliTest, main


class Cache(CliTest):
    def setUp(self):
        super().setUp()
        self.write("pyproject.toml", "")
        self.write("train.py", GUARDED)

    def check(self, *args, **options):
        return self.run_allranks("check", "--output-format", "json", *args, **options)

    def entries(self, folder=".allranks_cache"):
        return {path.name: path.read_bytes() for path in (self.root / folder / "ir").glob("*")}

    def test_the_same_findings_from_the_cache(self):
        cold = self.check()
        kept = self.entries()
        self.assertEqual(len(kept), 1)
        self.assertEqual(self.check().out, cold.out)
        self.assertEqual(self.entries(), kept)
        self.assertEqual(self.check("--no-cache").out, cold.out)

    def test_a_changed_file_is_read_anew(self):
        self.check()
        self.write("train.py", GUARDED.replace("== 0", ">= 0"))
        self.assertEqual(self.check().code, 0)
        self.write("train.py", GUARDED)
        self.assertEqual(self.check().code, 1)
        self.assertEqual(len(self.entries()), 1)

    def test_nothing_is_kept_unasked(self):
        self.check("--no-cache")
        self.run_allranks("check", "-", "--stdin-filename", "train.py", stdin=GUARDED.encode())
        self.assertEqual(sorted(path.name for path in self.root.iterdir()), ["pyproject.toml", "train.py"])

    def test_elsewhere(self):
        self.check("--cache-dir", "kept")
        self.assertEqual(len(self.entries("kept")), 1)
        self.check(env={"ALLRANKS_CACHE_DIR": str(self.root / "other")})
        self.assertEqual(len(self.entries("other")), 1)
        self.write("pyproject.toml", '[tool.allranks]\ncache-dir = "by_file"\n')
        self.check()
        self.assertEqual(len(self.entries("by_file")), 1)
        self.assertFalse((self.root / ".allranks_cache").exists())

    def test_a_folder_that_cannot_be_written_is_no_fault(self):
        self.write(".allranks_cache", "a file where the folder would be")
        result = self.check()
        self.assertEqual((result.code, result.err), (1, ""))

    def test_damage_is_no_fault(self):
        cold = self.check()
        for name, bytes_ in self.entries().items():
            self.write(f".allranks_cache/ir/{name}", bytes_[: len(bytes_) // 2])
        self.assertEqual(self.check().out, cold.out)

    def test_git_does_not_see_it(self):
        self.check()
        self.assertIn("*", (self.root / ".allranks_cache" / ".gitignore").read_text().splitlines())
        self.assertTrue((self.root / ".allranks_cache" / "CACHEDIR.TAG").exists())


if __name__ == "__main__":
    main()
