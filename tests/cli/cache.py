"""What is kept of a run and what the next one makes of it."""

import itertools
import os
import random
import shutil
import signal
import subprocess
import time

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

    def forget_runs(self):
        """What is kept of files stays: the next run is one over files that are known."""
        shutil.rmtree(self.root / ".allranks_cache" / "runs", ignore_errors=True)

    def is_known(self, *args, **options):
        """Whether a run is told by an earlier one that it is over."""
        return "compare" in self.check("--profile", *args, **options).err

    def test_the_same_findings_from_the_cache(self):
        cold = self.check()
        kept = self.entries()
        self.assertEqual(len(kept), 1)
        self.forget_runs()
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
        """Nor those that are put together of what the user's own entries show."""
        stranger = {"ALLRANKS_CACHE_KEY": "somebody else"}
        self.write("train.py", GUARDED.replace("== 0", ">= 0"))
        self.check(env=stranger)
        clean = self.entries()
        self.check()
        own = self.entries()
        self.write("train.py", GUARDED)
        self.check()
        # Before the bytes stand the mark and the number of the text that they were made of; once they were shorter.
        for seal, head in ((40, 72), (32, 64)):
            for name, bad in self.entries().items():
                known = (own[name], bad, clean[name])
                for mark, text, bytes_ in itertools.product(known, known, known):
                    self.write(f".allranks_cache/ir/{name}", mark[:seal] + text[seal:head] + bytes_[head:])
                    self.forget_runs()
                    self.assertEqual(self.check().code, 1)
                self.write(f".allranks_cache/ir/{name}", bad)

    def test_git_does_not_see_what_is_kept_in_a_folder_that_was_there(self):
        for text in (None, "!*\n"):
            shutil.rmtree(self.root / ".allranks_cache", ignore_errors=True)
            self.write(".allranks_cache/brought", "x")
            if text:
                self.write(".allranks_cache/.gitignore", text)
            self.check()
            self.assertEqual((self.root / ".allranks_cache/.gitignore").read_text().splitlines()[-1], "*")

    def test_a_folder_of_the_users_choice_stays_as_it_is(self):
        self.write("kept/train.py", "x = 1\n")
        self.write("kept/runs/events", "x")
        os.utime(self.root / "kept/runs/events", times=(0, 0))
        self.check("--cache-dir", "kept")
        self.assertEqual(sorted(path.name for path in (self.root / "kept").iterdir()), ["ir", "runs", "train.py"])
        self.assertTrue((self.root / "kept/runs/events").exists())
        self.assertEqual(len(self.entries("kept")), 1)

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
        self.assertEqual(key.stat().st_mode & 0o777, 0o600)
        made = key.read_bytes()
        key.chmod(0o640)
        self.check()
        self.assertNotEqual(key.read_bytes(), made, "others could read it")

    def test_a_linked_folder_is_left_alone(self):
        (self.root / "elsewhere").mkdir()
        (self.root / ".allranks_cache").symlink_to("elsewhere")
        self.check()
        self.assertEqual(list((self.root / "elsewhere").iterdir()), [])

    def test_a_folder_that_is_swapped_for_a_link_meanwhile(self):
        for i in range(100):
            self.write(f"pkg/file{i}.py", GUARDED + f"# {i}\n")
        (self.root / "elsewhere").mkdir()
        cache = self.root / ".allranks_cache"
        for i in range(10):
            cache.mkdir()
            run = subprocess.Popen([ALLRANKS, "check", "-q"], cwd=self.root, stdout=subprocess.DEVNULL)
            time.sleep(0.01 * i)
            cache.rename(self.root / "moved")
            cache.symlink_to("elsewhere")
            self.assertEqual(run.wait(), 1)
            self.assertEqual(list((self.root / "elsewhere").rglob("*")), [])
            cache.unlink()
            shutil.rmtree(self.root / "moved")

    def test_damage_is_no_fault(self):
        cold = self.check()
        for name, bytes_ in self.entries().items():
            self.write(f".allranks_cache/ir/{name}", bytes_[: len(bytes_) // 2])
        self.forget_runs()
        self.assertEqual(self.check().out, cold.out)

    def test_links_are_not_written_through(self):
        victim = self.write("victim", "untouched")
        self.check()
        [path] = (self.root / ".allranks_cache" / "ir").iterdir()
        path.unlink()
        path.symlink_to(victim)
        self.forget_runs()
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
        self.forget_runs()
        result = self.check("--profile")
        self.assertEqual(result.out, cold.out)
        peak = int(result.err.rsplit("peak memory: ", 1)[1].split()[0])
        self.assertLess(peak, 1 << 28)

    def test_a_run_for_which_nothing_changed_is_over(self):
        cold = self.check()
        self.assertTrue(self.is_known())
        self.assertEqual(self.check().out, cold.out)
        self.assertEqual(self.check("--jobs", "2").out, cold.out)
        self.assertFalse(self.is_known("--no-cache"))

    def test_whatever_a_run_reads_is_compared(self):
        self.write("pkg/__init__.py", "")
        self.write("run.sh", "torchrun --nproc-per-node 2 train.py\n")
        self.write("ours.toml", 'library = "ours"\ndocs = "https://example.org"\n[[function]]\nname = "ours.f"\nuniform = true\n')
        args = ("--knowledge", "ours.toml")
        changes = {
            "the text of a file": lambda: self.write("train.py", GUARDED + "\n"),
            "a new file": lambda: self.write("pkg/new.py", "x = 1\n"),
            "a file that is gone": lambda: (self.root / "pkg/new.py").unlink(),
            "what is ignored": lambda: self.write(".gitignore", "pkg\n"),
            "what starts it": lambda: self.write("run.sh", "torchrun --nproc-per-node 4 train.py\n"),
            "knowledge": lambda: self.write("ours.toml", (self.root / "ours.toml").read_text().replace("ours.f", "ours.g")),
            "settings": lambda: self.write("pyproject.toml", '[tool.allranks]\nmin-confidence = "possible"\n'),
        }
        for what, change in changes.items():
            self.check(*args)
            self.assertTrue(self.is_known(*args), what)
            change()
            self.assertFalse(self.is_known(*args), what)
        self.assertFalse(self.is_known(*args, "--ignore", "AR104"))
        self.assertFalse(self.is_known(*args, "pkg"))

    def test_the_time_of_a_file_says_nothing(self):
        self.check()
        before = (self.root / "train.py").stat()
        self.write("train.py", GUARDED.replace("== 0", "!= 0"))
        os.utime(self.root / "train.py", ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertFalse(self.is_known())
        os.utime(self.root / "train.py", ns=(0, 0))
        self.assertTrue(self.is_known())

    def test_every_format_is_the_same_from_a_known_run(self):
        self.write("other.py", GUARDED + "\n\ndef load():\n    dist.barrier()  # allranks: ignore[AR101] not needed\n")
        for format_ in ("full", "concise", "json", "gitlab", "junit", "github", "azure", "rdjson", "html", "markdown"):
            with self.subTest(format_):
                args = ("check", "--output-format", format_, "--min-confidence", "possible", "--statistics", "--coverage")
                anew = self.run_allranks(*args, "--no-cache")
                self.run_allranks(*args)
                known = self.run_allranks(*args)
                self.assertEqual((known.code, known.out, known.err), (anew.code, anew.out, anew.err))
        self.assertTrue(self.is_known("--min-confidence", "possible"))

    def test_fixes_are_those_of_a_run_anew(self):
        self.write("ignored.py", "import torch.distributed as dist\n\ndist.barrier()  # allranks: ignore[AR101]\n")
        anew = self.run_allranks("check", "--diff", "--unsafe-fixes", "--no-cache")
        self.run_allranks("check", "--diff", "--unsafe-fixes")
        self.assertEqual(self.run_allranks("check", "--diff", "--unsafe-fixes").out, anew.out)

    def test_known_runs_of_somebody_else_do_not_count(self):
        self.check(env={"ALLRANKS_CACHE_KEY": "somebody else"})
        self.assertFalse(self.is_known())

    def test_damaged_records_are_no_fault(self):
        cold = self.check()
        [record] = (self.root / ".allranks_cache" / "runs").iterdir()
        good = record.read_bytes()
        chosen = random.Random(7)
        for _ in range(30):
            damaged = bytearray(good)
            damaged[chosen.randrange(len(good))] ^= 1 << chosen.randrange(8)
            record.write_bytes(damaged[: chosen.choice([len(good), chosen.randrange(len(good))])])
            result = self.check()
            self.assertEqual((result.code, result.out, result.err), (cold.code, cold.out, cold.err))

    def test_runs_at_once_and_runs_that_are_killed(self):
        for i in range(40):
            self.write(f"pkg/file{i}.py", GUARDED)
        cold = self.check("--no-cache")
        chosen = random.Random(7)
        for _ in range(12):
            runs = [subprocess.Popen([ALLRANKS, "check", "-q"], cwd=self.root, stdout=subprocess.DEVNULL) for _ in range(3)]
            time.sleep(chosen.random() / 20)
            runs[0].send_signal(signal.SIGKILL)
            self.assertEqual([run.wait() for run in runs[1:]], [1, 1])
            runs[0].wait()
        self.assertEqual(self.check().out, cold.out)
        self.assertTrue(self.is_known())

    def test_there_are_not_ever_more(self):
        for i in range(40):
            self.check("--exclude", f"x{i}")
        self.assertLessEqual(len(list((self.root / ".allranks_cache" / "runs").iterdir())), 32)

    def test_what_belongs_to_files_that_are_gone_goes_with_time(self):
        self.write("gone.py", GUARDED)
        self.check()
        old = self.entries()
        (self.root / "gone.py").unlink()
        for name in old:
            os.utime(self.root / ".allranks_cache" / "ir" / name, times=(0, 0))
        self.write("new.py", GUARDED)
        self.check()
        # That of train.py was used.
        self.assertEqual(len(self.entries()), 2)
        self.assertEqual(len(set(self.entries()) & set(old)), 1)


if __name__ == "__main__":
    main()
