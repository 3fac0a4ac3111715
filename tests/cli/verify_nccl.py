"""What `allranks verify --backend nccl` says of a machine that cannot: with a driver that only pretends.

usage: verify_nccl.py ALLRANKS FAKE_DRIVER OLD_NCCL
"""

import shutil
import sys

from support import main
from verify_support import VerifyTest

OLD_NCCL, FAKE_DRIVER = sys.argv.pop(), sys.argv.pop()


class FakeDriverTest(VerifyTest):
    def setUp(self):
        super().setUp()
        shutil.copy(FAKE_DRIVER, self.root / "libcuda.so.1")
        shutil.copy(OLD_NCCL, self.root / "libnccl.so.2")

    def sentence(self, pretended, *args):
        result = self.run_allranks(
            "verify", "--self-test", "--backend", "nccl", *args,
            env={"LANG": self.mark, "LD_LIBRARY_PATH": str(self.root), "CUDA_VISIBLE_DEVICES": pretended})
        self.assertEqual((result.code, result.out), (4, ""), result.err)
        self.assertEqual(len(result.err.splitlines()), 1, result.err)
        self.assertFalse(self.processes())
        return result.err


class Libraries(FakeDriverTest):
    def test_drivers(self):
        self.assertIn("an NVIDIA driver but no device", self.sentence("init=100"))
        self.assertIn("CUDA Toolkit's stub", self.sentence("init=34"))
        self.assertIn("different versions", self.sentence("init=803"))
        self.assertIn("does not start: some error", self.sentence("init=999"))

    def test_a_driver_without_a_function(self):
        shutil.copy(OLD_NCCL, self.root / "libcuda.so.1")
        self.assertIn("too old: it has no cuInit", self.sentence(""))

    def test_libraries(self):
        self.assertIn("NCCL 2.17.3; 2.18 or later is needed", self.sentence("", "--nccl-lib", self.root / "libnccl.so.2"))
        (self.root / "libnccl.so.2").write_bytes(b"no library")
        self.assertIn("NCCL cannot be loaded", self.sentence("", "--nccl-lib", self.root / "libnccl.so.2"))
        (self.root / "libnccl.so.2").chmod(0o777)
        self.assertIn("may be written by anybody", self.sentence("", "--nccl-lib", self.root / "libnccl.so.2"))


class Devices(FakeDriverTest):
    """Behind the libraries: only where there is a real NCCL, which is loaded but never asked for a communicator."""

    def setUp(self):
        super().setUp()
        if "libnccl.so.2 was found" in self.sentence("devices=0"):
            self.skipTest("no NCCL here")

    def test_devices(self):
        self.assertIn("invalid device ordinal", self.sentence("devices=0"))
        self.assertIn("compute capability 5.5; 6.0 or later", self.sentence("capability=5"))
        self.assertIn("more than half of the memory of Fake GPU is in use", self.sentence("free=10"))

    def test_ranks_that_do_not_come_together(self):
        result = self.run_allranks(
            "verify", "--self-test", "--backend", "nccl", "--ranks", "2", "--force",
            env={"LANG": self.mark, "LD_LIBRARY_PATH": str(self.root), "CUDA_VISIBLE_DEVICES": "free=10"})
        self.assertEqual(result.code, 2, result.out + result.err)
        self.assertIn("the ranks did not come together", result.out)
        self.assertFalse(self.processes())


if __name__ == "__main__":
    main()
