"""What is kept of a run and what the next one makes of it."""

import os
import subprocess

from support import ALLRANKS, GUARDED, CliTest, main


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

    def test_entries_of_somebody_else_do_not_count(self):
        self.write("train.py", GUARDED.replace("== 0", ">= 0"))
        self.check(env={"ALLRANKS_CACHE_KEY": "somebody else"})
        good = self.entries()
        self.write("train.py", GUARDED)
        self.check(env={"ALLRANKS_CACHE_KEY": "somebody else"})
        for name, bytes_ in self.entries().items():
            # The key of the bad text, and what the good one was read as.
            self.write(f".allranks_cache/ir/{name}", bytes_[:64] + good[name][64:])
        self.assertEqual(self.check(env={"ALLRANKS_CACHE_KEY": "somebody else"}).code, 0, "this is what the key is for")
        self.assertEqual(self.check().code, 1)

    def test_the_number_of_the_user_is_made_once(self):
        self.check()
        key = self.state / "allranks" / "cache-key"
        made = key.read_bytes()
        self.assertEqual((len(made), key.stat().st_mode & 0o777), (33, 0o600))
        self.check()
        self.assertEqual(key.read_bytes(), made)
        key.chmod(0o666)
        self.check()
        self.assertNotEqual(key.read_bytes(), made, "others could write it")

    def test_a_linked_folder_is_left_alone(self):
        (self.root / "elsewhere").mkdir()
        (self.root / ".allranks_cache").symlink_to("elsewhere")
        self.check()
        self.assertEqual(list((self.root / "elsewhere").iterdir()), [])

    def test_damage_is_no_fault(self):
        cold = self.check()
        for name, bytes_ in self.entries().items():
            self.write(f".allranks_cache/ir/{name}", bytes_[: len(bytes_) // 2])
        self.assertEqual(self.check().out, cold.out)

    def test_links_are_not_written_through(self):
        victim = self.write("victim", "untouched")
        self.check()
        [path] = (self.root / ".allranks_cache" / "ir").iterdir()
        path.unlink()
        path.symlink_to(victim)
        # `exec` keeps the process id, which the names of temporary files used to hold.
        link = f'ln -s "{victim}" "{path}.tmp$$"; exec "{ALLRANKS}" check -q'
        self.assertEqual(subprocess.run(["sh", "-c", link], cwd=self.root, stdout=subprocess.DEVNULL).returncode, 1)
        self.assertFalse(path.is_symlink())
        self.assertEqual(victim.read_text(), "untouched")

    def test_git_does_not_see_it(self):
        self.check()
        self.assertIn("*", (self.root / ".allranks_cache" / ".gitignore").read_text().splitlines())
        self.assertTrue((self.root / ".allranks_cache" / "CACHEDIR.TAG").exists())

    def test_entries_with_holes_are_not_read(self):
        cold = self.check()
        for entry in (self.root / ".allranks_cache" / "ir").iterdir():
            os.truncate(entry, 3 << 30)
        result = self.check("--profile")
        self.assertEqual(result.out, cold.out)
        peak = int(result.err.rsplit("peak memory: ", 1)[1].split()[0])
        self.assertLess(peak, 1 << 28)


if __name__ == "__main__":
    main()
