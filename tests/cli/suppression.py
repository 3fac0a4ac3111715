"""`# allranks: ignore[CODE]` from comment to exit code."""

import json

from support import GUARDED, CliTest, main


class Suppression(CliTest):
    def lines(self, text):
        self.write("a.py", text)
        result = self.run_allranks("check", "--output-format", "concise", "-q", "a.py")
        self.assertEqual(result.code, 1 if result.out else 0)
        return [line.split(" ")[0:3:2] for line in result.out.splitlines()]

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

    def test_a_reason_can_be_asked_for(self):
        self.write("allranks.toml", "require-reason = true\n")
        self.assertEqual(self.lines(GUARDED.replace("barrier()", "barrier()  # allranks: ignore[AR101]")), [["a.py:6:44:", "AR002"]])
        self.assertEqual(self.lines(GUARDED.replace("barrier()", "barrier()  # allranks: ignore[AR101] alone")), [])

    def test_unused_ones_are_fixed(self):
        path = self.write("a.py", GUARDED.replace("barrier()", "barrier()  # allranks: ignore[AR101, AR104] alone"))
        self.assertEqual(self.run_allranks("check", "--fix").code, 0)
        self.assertEqual(path.read_text(), GUARDED.replace("barrier()", "barrier()  # allranks: ignore[AR101] alone"))

    def test_cpp(self):
        code = "#include <mpi.h>\n\nvoid save(int rank) {\n  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  if (rank == 0) {\n" \
               "    MPI_Barrier(MPI_COMM_WORLD);\n  }\n}\n"
        self.write("a.cpp", code)
        found = self.run_allranks("check", "--output-format", "concise", "-q", "a.cpp")
        if "AR001" in found.out:
            self.skipTest("this build cannot read C++")
        self.assertEqual(found.out.split()[:3], ["a.cpp:6:5:", "error:", "AR101"])
        for comment in ("  // allranks: ignore[AR101] alone", "  /* allranks: ignore[AR101] alone */"):
            self.write("a.cpp", code.replace("(MPI_COMM_WORLD);\n  }", "(MPI_COMM_WORLD);" + comment + "\n  }"))
            self.assertEqual(self.run_allranks("check", "-q", "a.cpp").out, "", comment)
        self.write("a.cpp", code)
        self.assertEqual(self.run_allranks("check", "--add-ignore", "alone", "a.cpp").code, 0)
        self.assertIn("    MPI_Barrier(MPI_COMM_WORLD);  // allranks: ignore[AR101] alone\n", (self.root / "a.cpp").read_text())


class OfOthers(CliTest):
    def test_noqa(self):
        self.write("a.py", GUARDED.replace("dist.barrier()", "dist.barrier()  # noqa: AR101"))
        out = self.run_allranks("check", "--output-format", "concise").out
        self.assertIn("AR101", out)
        self.assertIn("AR002 allranks does not read `noqa`; write `allranks: ignore[AR101]`", out)
        self.write("a.py", GUARDED.replace("dist.barrier()", "dist.barrier()  # noqa: E501, ARG001"))
        self.assertNotIn("AR002", self.run_allranks("check", "--output-format", "concise").out)

    def test_capital_letters(self):
        self.write("a.py", GUARDED.replace("dist.barrier()", "dist.barrier()  # Allranks: Ignore[AR101] one rank"))
        out = self.run_allranks("check", "--output-format", "concise").out
        self.assertIn("AR002 `allranks: Ignore` is no directive", out)
        self.write("a.py", "# Allranks: what it is\n" + GUARDED)
        self.assertNotIn("AR002", self.run_allranks("check", "--output-format", "concise").out)


class AddIgnore(CliTest):
    def test_every_finding_is_accepted(self):
        text = GUARDED + "        dist.all_reduce(\n            loss)\n        x = 1; dist.barrier()  # noqa\n"
        path = self.write("a.py", text)
        self.assertEqual(self.run_allranks("check").code, 1)
        result = self.run_allranks("check", "--add-ignore=one rank only")
        self.assertEqual((result.code, result.err), (0, "Added 1 ignore comment in 1 file.\n"), result.out)
        self.assertIn("dist.barrier()  # allranks: ignore[AR101] one rank only\n", path.read_text())
        again = self.run_allranks("check")
        self.assertEqual(again.code, 0, again.out)

    def test_a_format_without_comments_is_left_alone(self):
        text = '{"zero_optimization": {"stage": 2, "offload_param": {"device": "cpu"}}}\n'
        path = self.write("ds.json", text)
        result = self.run_allranks("check", "--preview", "--select", "AR703", "--add-ignore", "known")
        self.assertEqual((result.code, path.read_text()), (2, text), result.err)
        self.assertIn("AR703 cannot be accepted by a comment: the format has none", result.err)

    def test_what_is_no_reason_is_refused(self):
        path = self.write("a.py", GUARDED)
        self.assert_one_line_error(self.run_allranks("check", "--add-ignore", "see # 3"), "--add-ignore")
        self.assertEqual(path.read_text(), GUARDED)

    def test_a_reason_may_name_an_issue(self):
        path = self.write("a.py", GUARDED)
        self.assertEqual(self.run_allranks("check", "--add-ignore", "legacy, see #12").code, 0)
        self.assertIn("# allranks: ignore[AR101] legacy, see #12\n", path.read_text())
        sarif = json.loads(self.run_allranks("check", "--output-format", "sarif", "--sarif-include", "suppressed").out)
        self.assertEqual(sarif["runs"][0]["results"][0]["suppressions"][0]["justification"], "legacy, see #12")

    def test_many_unknown_codes(self):
        lines = "".join("x = 1  # allranks: ignore[" + ", ".join(f"XY{line}{i}" for i in range(300)) + "]\n" for line in range(300))
        self.write("a.py", GUARDED + lines)
        self.assertEqual(self.run_allranks("check", "-q", "-n", "--select", "AR101", timeout=20).code, 1)


if __name__ == "__main__":
    main()
