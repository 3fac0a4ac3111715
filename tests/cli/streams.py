"""The standard streams: stdin as a file, readers that leave, closed descriptors."""

import os
import subprocess

from support import ALLRANKS, GUARDED, CliTest, main


class Streams(CliTest):
    def test_stdin(self):
        result = self.run_allranks("check", "--output-format", "concise", "-q", "-", stdin=GUARDED.encode())
        self.assertEqual(result.code, 1, result.err)
        self.assertTrue(result.out.startswith("<stdin>:6:9: error: AR101"), result.out)

    def test_stdin_stands_for_the_file_it_is_named_after(self):
        self.write("pkg/helpers.py", "import torch.distributed as dist\n\ndef sync():\n    dist.barrier()\n")
        self.write("pkg/train.py", "x = 1\n")
        text = b"import torch.distributed as dist\nfrom helpers import sync\n\nif dist.get_rank() == 0:\n    sync()\n"
        result = self.run_allranks("check", "--output-format", "concise", "-q", "--stdin-filename", "pkg/train.py", "-", stdin=text)
        self.assertTrue(result.out.startswith("pkg/train.py:5:5: error: AR101"), result.out + result.err)
        new = self.run_allranks("check", "--output-format", "concise", "-q", "--stdin-filename", "pkg/new.py", "-", stdin=text)
        self.assertTrue(new.out.startswith("pkg/new.py:5:5: error: AR101"), new.out + new.err)

    def test_empty_stdin(self):
        self.assertEqual(self.run_allranks("check", "-").code, 0)

    def test_a_reader_that_leaves(self):
        for i in range(300):
            self.write(f"f{i}.py", GUARDED)
        command = f'"{ALLRANKS}" check; echo $? >code'
        process = subprocess.Popen(["sh", "-c", f"({command}) | head -1 >/dev/null"], cwd=self.root, stderr=subprocess.PIPE)
        self.assertEqual(process.communicate(timeout=60)[1], b"")
        self.assertEqual((self.root / "code").read_text(), "1\n")

    def test_a_pipe_that_nobody_reads(self):
        self.write("a.py", GUARDED)
        os.mkfifo(self.root / "pipe")
        for args in (("-o", "pipe"), ("--output", "sarif=pipe"), ("--baseline", "new", "--update-baseline", "-o", "pipe")):
            result = self.run_allranks("check", "-q", "-n", *args, timeout=20)
            self.assert_one_line_error(result, "cannot write pipe: nobody reads this pipe")
        self.assertEqual([path.name for path in sorted(self.root.iterdir())], ["a.py", "new", "pipe"])

    def test_a_pipe_that_somebody_reads(self):
        self.write("a.py", GUARDED)
        os.mkfifo(self.root / "pipe")
        with subprocess.Popen(["cat", "pipe"], cwd=self.root, stdout=subprocess.PIPE) as reader:
            self.assertEqual(self.run_allranks("check", "-q", "-n", "-o", "pipe", "--output-format", "json").code, 1)
            self.assertIn(b"AR101", reader.stdout.read())

    def test_a_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        self.write("a.py", GUARDED)
        with open("/dev/full", "wb") as full:
            process = subprocess.run([ALLRANKS, "check"], cwd=self.root, stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.returncode, 2)
        self.assertIn("allranks: error: cannot write to the standard output", process.stderr)

    def test_closed_streams(self):
        text = self.write("a.py", GUARDED).read_bytes()
        process = subprocess.run(["sh", "-c", f'"{ALLRANKS}" check <&- >&- 2>&-'], cwd=self.root)
        self.assertEqual(process.returncode, 1)
        self.assertEqual((self.root / "a.py").read_bytes(), text)


if __name__ == "__main__":
    main()
