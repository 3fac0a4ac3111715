"""--select, --ignore, --min-confidence."""

import json

from support import GUARDED, CliTest, main


class Selection(CliTest):
    def codes(self, *args):
        self.write("bad.py", GUARDED + "# allranks: ignore[AR104] long gone\n")
        result = self.run_allranks("check", "--output-format", "json", *args)
        self.assertIn(result.code, (0, 1), result.err)
        return [finding["code"] for finding in json.loads(result.out)["findings"]]

    def test_select(self):
        self.assertEqual(self.codes(), ["AR101", "AR002"])
        self.assertEqual(self.codes("--select", "AR101"), ["AR101"])
        self.assertEqual(self.codes("--select", "AR1"), ["AR101"])
        self.assertEqual(self.codes("--select", "AR103,AR105"), [])
        self.assertEqual(self.codes("--select", "AR103", "--select", "AR101"), ["AR101"])
        self.assertEqual(self.codes("--select", "rank-guarded-collective"), ["AR101"])

    def test_ignore(self):
        self.assertEqual(self.codes("--ignore", "AR101"), ["AR002"])
        self.assertEqual(self.codes("--select", "ALL", "--ignore", "AR1"), [])

    def test_a_list_does_not_swallow_the_path(self):
        self.assertEqual(self.codes("--select", "AR101", "bad.py"), ["AR101"])

    def test_unknown_codes(self):
        self.write("bad.py", GUARDED)
        self.assert_one_line_error(self.run_allranks("check", "--select", "AR1O1"), "AR1O1", "did you mean `AR101`?")
        self.assert_one_line_error(self.run_allranks("check", "--ignore", "nonsense"), "nonsense", "rule --all")
        self.assert_one_line_error(self.run_allranks("check", "--select", "AR101", "--ignore", "AR101"), "no rules")

    def test_preview(self):
        self.write("log.py", "import torch.distributed as dist\nfrom torch.utils.tensorboard import SummaryWriter\n\n"
                             "dist.init_process_group()\ndist.barrier()\nwriter = SummaryWriter('runs')\nwriter.add_scalar('loss', 0, 0)\n")
        self.assertNotIn("AR809", self.codes("--select", "ALL"))
        self.assertNotIn("AR809", self.codes("--select", "AR8,AR1"))
        for chosen in (["--preview"], ["--select", "AR8", "--preview"], ["--select", "AR809"], ["--select", "tracker-on-every-rank"]):
            self.assertIn("AR809", self.codes(*chosen), chosen)
        self.assert_one_line_error(self.run_allranks("check", "--select", "AR51"), "--preview")

    def test_preview_of_programs_that_no_command_starts(self):
        self.write("train.py", "import torch.distributed as dist\nfrom torchvision.datasets import MNIST\n\n"
                               "dist.init_process_group('gloo')\ndata = MNIST('data', download=True)\ndist.barrier()\n")
        self.assertNotIn("AR810", self.codes())
        self.assertIn("AR810", self.codes("--preview"))
        self.assertIn("AR810", self.codes("--select", "AR810"))
        self.write("README.md", "Start it on one machine:\n\n```sh\ntorchrun --nproc_per_node=8 train.py\n```\n")
        self.assertIn("AR810", self.codes())

    def test_severity(self):
        self.write("bad.py", GUARDED)
        self.assertIn("warning[AR101]", self.run_allranks("check", "--severity", "AR1=info,AR101=warning").out)
        self.assertEqual(self.run_allranks("check", "--severity", "AR101=off").code, 0)
        self.assert_one_line_error(self.run_allranks("check", "--severity", "AR101=fatal"), "none of error, warning, info, off")
        self.assert_one_line_error(self.run_allranks("check", "--severity", "AR1O1=off"), "did you mean `AR101`?")
        self.assert_one_line_error(self.run_allranks("check", "--severity", "AR101"), "RULE=LEVEL")

    def test_per_file_ignores(self):
        self.write("a/bad.py", GUARDED)
        self.write("b/bad.py", GUARDED)
        out = self.run_allranks("check", "--output-format", "concise", "-q", "--per-file-ignores", "a/:AR1").out
        self.assertEqual([line.split(":")[0] for line in out.splitlines()], ["b/bad.py"])
        self.assert_one_line_error(self.run_allranks("check", "--per-file-ignores", "a/"), "PATTERN:RULE")

    def test_min_confidence(self):
        self.assertEqual(self.codes("--min-confidence", "certain"), ["AR002"])
        self.assertEqual(self.codes("--min-confidence", "likely"), ["AR101", "AR002"])
        self.assert_one_line_error(self.run_allranks("check", "--min-confidence", "high"), "high")


if __name__ == "__main__":
    main()
