"""Files of hosts that commands name: which of them are read."""

from support import CliTest, main

TWICE = "a slots=8\na slots=8\n"


class Hosts(CliTest):
    def setUp(self):
        super().setUp()
        self.write("project/pyproject.toml", "")
        self.write("project/scripts/run.sh", "#!/bin/bash\ndeepspeed --hostfile hosts train.py\n")

    def found(self):
        result = self.run_allranks("check", "-q", "-n", "--select", "AR907", "--output-format", "concise", cwd=self.root / "project")
        self.assertEqual(result.err, "")
        return [line.split(" ", 1)[0] for line in result.out.splitlines()]

    def test_beside_the_script_or_from_the_root(self):
        for path in ("project/scripts/hosts", "project/hosts"):
            written = self.write(path, TWICE)
            self.assertEqual(self.found(), ["scripts/run.sh:2:11:"], path)
            written.unlink()
        self.assertEqual(self.found(), [])

    def test_others_are_not_read(self):
        for text in (b"a slots=8\x00\na slots=8\n", b"\xff\xfea slots=8\na slots=8\n", b"# " + b"x" * (1 << 19) + b"\n" + TWICE.encode(), b"<HOST> slots=8\n" * 2):
            self.write("project/hosts", text)
            self.assertEqual(self.found(), [], text[:20])
        (self.root / "project/hosts").unlink()
        (self.root / "project/hosts").mkdir()
        self.assertEqual(self.found(), [])

    def test_a_link_may_not_lead_out_of_the_project(self):
        self.write("elsewhere", TWICE)
        (self.root / "project/hosts").symlink_to("../elsewhere")
        self.assertEqual(self.found(), [])
        self.write("project/inside", TWICE)
        (self.root / "project/hosts").unlink()
        (self.root / "project/hosts").symlink_to("inside")
        self.assertEqual(self.found(), ["scripts/run.sh:2:11:"])


if __name__ == "__main__":
    main()
