"""`# allranks: ignore[CODE]` from comment to exit code."""

from support import GUARDED, CliTest, main


class Suppression(CliTest):
    def lines(self, text):
        self.write("a.py", text)
        result = self.run_allranks("check", "--output-format", "concise", "-q", "a.py")
        self.assertEqual(result.code, 1 if result.out else 0)
        return [line.split(" ", 2)[:2] for line in result.out.splitlines()]

    def test_places(self):
        barrier = "        dist.barrier()\n"
        for silenced in (barrier.replace("\n", "  # allranks: ignore[AR101] rank 0 runs alone\n"),
                         "        # allranks: ignore[AR101] rank 0 runs alone\n" + barrier,
                         barrier.replace("()", "(\n        )  # allranks: ignore[AR101] rank 0 runs alone")):
            self.assertEqual(self.lines(GUARDED.replace(barrier, silenced)), [], silenced)
        self.assertEqual(self.lines("# allranks: ignore-file[AR101] an example\n" + GUARDED), [])
        self.assertEqual(self.lines(GUARDED.replace("== 0:", "== 0:  # allranks: ignore[AR101] alone")), [])

    def test_the_comment_has_to_name_the_code(self):
        self.assertEqual(self.lines(GUARDED.replace("barrier()", "barrier()  # allranks: ignore")),
                         [["a.py:6:9:", "AR101"], ["a.py:6:25:", "AR002"]])

    def test_a_string_is_no_comment(self):
        self.assertEqual(self.lines(GUARDED + 'x = "# allranks: ignore[AR101]"\n'), [["a.py:6:9:", "AR101"]])

    def test_unused(self):
        self.assertEqual(self.lines(GUARDED + "x = 1  # allranks: ignore[AR101]\n"),
                         [["a.py:6:9:", "AR101"], ["a.py:7:27:", "AR002"]])

    def test_the_summary_counts_them(self):
        self.write("a.py", GUARDED.replace("barrier()", "barrier()  # allranks: ignore[AR101] alone"))
        self.assertIn("(1 suppressed)", self.run_allranks("check").out)


if __name__ == "__main__":
    main()
