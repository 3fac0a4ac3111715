"""The commands of docs/how-to.md, run as they are written there."""

import json
import os
import pathlib
import re
import subprocess
import unittest

from support import ALLRANKS, CliTest, main

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "how-to.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"^(?:#|//) (\S+\.\w+)\n")

CMAKE = "cmake_minimum_required(VERSION 3.16)\nproject(train CXX)\nadd_executable(train main.cpp)\n"
MAIN = "#include <mpi.h>\nvoid save(int rank) {\n  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);\n}\n"


def blocks(section):
    """Of a section of the page: its blocks as pairs of language and text."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return BLOCK.findall(text)


class HowTo(CliTest):
    def setUp(self):
        super().setUp()
        self.write_files("See a first finding")
        subprocess.run(["git", "init", "-q", "."], cwd=self.root, check=True)

    def write_files(self, section):
        for _, text in blocks(section):
            if name := FILE_NAME.match(text):
                self.write(name[1], text)

    def run_section(self, section):
        """The output of each command of a section, with its exit code; commands that install something are left out."""
        self.write_files(section)
        path = os.path.dirname(ALLRANKS) + os.pathsep + os.environ["PATH"]
        commands = [line[2:] for kind, text in blocks(section) if kind == "console" for line in text.splitlines()]
        results = []
        for command in commands:
            if command.startswith("pip "):
                continue
            process = subprocess.run(["bash", "-c", command], cwd=self.root, env={**os.environ, "PATH": path, "CI": "", "PRE_COMMIT": ""},
                                     capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)
            self.assertNotIn("allranks: error", process.stderr, command)
            results.append((process.returncode, process.stdout))
        return results

    def test_install(self):
        self.assertEqual([code for code, _ in self.run_section("Install")], [0])

    def test_first_finding(self):
        project, file, page = self.run_section("See a first finding")
        self.assertEqual(project, file)
        self.assertEqual((project[0], "AR101" in project[1]), (1, True))
        self.assertIn("# AR101: rank-guarded-collective", page[1])

    def test_accept_with_a_reason(self):
        self.assertEqual([code for code, _ in self.run_section("Accept a finding with a reason")], [0])
        self.assertIn("dist.barrier()  # allranks: ignore[AR101] before the first release\n", (self.root / "train.py").read_text())

    def test_old_repository(self):
        self.assertEqual([code for code, _ in self.run_section("Start on an old repository")], [0, 0, 0])
        with open(self.root / "train.py", "a", encoding="utf-8") as file:
            file.write("\n\ndef load():\n    if dist.get_rank() == 0:\n        dist.barrier()\n")
        code, out = self.run_section("Start on an old repository")[0]
        self.assertEqual((code, "(2 in the baseline)" in out), (0, True), out)

    def test_github(self):
        (code, out), = self.run_section("Show findings on GitHub")
        self.assertEqual((code, out.startswith("::error title=allranks (AR101),file=train.py,line=7")), (1, True), out)
        self.assertIn('"AR101"', (self.root / "allranks.sarif").read_text(encoding="utf-8"))

    def test_fix(self):
        safe_diff, safe, diff, applied = self.run_section("Fix what can be fixed")
        self.assertEqual((safe_diff[1], safe[0]), ("", 1))
        self.assertIn("+    dist.barrier()\n", diff[1])
        self.assertEqual(applied[0], 0, applied[1])

    def test_editor(self):
        """As any client does: what the section says to start is started in the folder, and told which file is open."""
        command, = re.findall(r"language client at `([^`]*)`", PAGE)
        file = self.root / "train.py"
        document = {"uri": file.as_uri(), "languageId": "python", "version": 1, "text": file.read_text(encoding="utf-8")}
        folder = {"uri": self.root.as_uri(), "name": "project"}
        with subprocess.Popen([ALLRANKS, *command.split()[1:]], cwd=self.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            def tell(method, params=None, number=None):
                given = {"method": method, "params": params, "id": number}
                body = json.dumps({"jsonrpc": "2.0", **{name: value for name, value in given.items() if value is not None}}).encode()
                server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
                server.stdin.flush()

            def answer(number):
                while True:
                    length = int(server.stdout.readline().split(b":")[1])
                    server.stdout.readline()
                    message = json.loads(server.stdout.read(length))
                    if message.get("id") == number:
                        return message["result"]

            tell("initialize", {"processId": None, "rootUri": folder["uri"], "capabilities": {}, "workspaceFolders": [folder]}, 1)
            self.assertEqual(answer(1)["serverInfo"]["name"], "allranks")
            tell("initialized", {})
            tell("textDocument/didOpen", {"textDocument": document})
            tell("textDocument/diagnostic", {"textDocument": {"uri": document["uri"]}}, 2)
            self.assertEqual([found["code"] for found in answer(2)["items"]], ["AR101"])
            tell("shutdown", number=3)
            tell("exit")
        self.assertEqual(server.returncode, 0)

    def test_own_wrapper(self):
        (code, out), = self.run_section("Declare your own wrapper")
        self.assertEqual((code, "`our_comm.sync_all` is reached by rank 0 only" in out), (1, True), out)

    def test_verify(self):
        check, self_test = self.run_section("See a finding happen on a GPU runner")
        self.assertEqual((check[0], "verified: hangs in the simulator" in check[1]), (1, True), check[1])
        self.assertEqual(self_test[0], 0, self_test[1])
        self.assertTrue((self.root / "report.html").exists())

    def test_cpp_project(self):
        self.write("CMakeLists.txt", CMAKE)
        self.write("main.cpp", MAIN)
        configured, check = self.run_section("Check a C++ project")
        self.assertEqual((configured[0], check[0]), (0, 1), configured[1] + check[1])
        self.assertIn("--> main.cpp:4:18", check[1])


class Page(unittest.TestCase):
    def test_it_has_ten_sections_and_a_test_for_each(self):
        sections = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
        tests = [name for name in dir(HowTo) if name.startswith("test_")]
        self.assertEqual((len(sections), len(tests)), (10, 10))


if __name__ == "__main__":
    main()
