"""Names and texts that would steer a terminal, or speak to whoever reads the log of a workflow: none reaches a stream as it is."""

import json
import os
import pty
import re
import subprocess

from support import ALLRANKS, GUARDED, CliTest, main

# The title of the terminal, a line that GitHub would take for a command, and the one-character form of ESC [.
HOSTILE = "x\x1b]0;title\x07\n::error::forged\r\x9b2J"
# Commands as names begin with them, and as they stand in code. Those with `#` count wherever they are in a line.
COMMAND_NAMES = ("::error::forged", "##vso[task.setvariable variable=x]", "##[error]forged", "#\xad#Vso[forged")
IN_LINES = re.compile("##(vso)?\\[", re.IGNORECASE)
# What is no command of ours.
OF_FORMATS = {"azure": re.compile(r"^##vso\[task\.logissue type=(error|warning);"), "github": re.compile(r"^::(error|warning|notice) title=allranks ")}
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
FORMATS = ("full", "concise", "json", "json-lines", "sarif", "github", "gitlab", "junit", "rdjson", "html", "markdown", "azure")
FIXABLE = """\
import os
import torch
import torch.distributed as dist

node = os.environ.get("NODE_RANK")
rank = dist.get_rank()
local_rank = dist.get_node_local_rank()
torch.cuda.set_device(rank)
"""


class HostileText(CliTest):
    def assert_steers_nothing(self, text, where):
        self.assertEqual(CONTROL.findall(text), [], (where, text))

    def assert_clean(self, text, where):
        self.assert_steers_nothing(text, where)
        forged = [line for line in text.splitlines() if line.strip().startswith(("::error::forged", "##vso[forged"))]
        self.assertEqual(forged, [], (where, text))

    def assert_no_commands(self, text, form, where):
        for line in text.splitlines():
            line = OF_FORMATS[form].sub("", line) if form in OF_FORMATS else line
            self.assertFalse(line.strip().startswith("::"), (where, line))
            self.assertIsNone(IN_LINES.search(line.replace("\xad", "")), (where, line))

    def run_clean(self, *args, **options):
        result = self.run_allranks(*args, **options)
        self.assert_clean(result.out, args)
        self.assert_clean(result.err, args)
        return result

    def in_a_terminal(self, *args):
        leader, follower = pty.openpty()
        with subprocess.Popen([ALLRANKS, *args], cwd=self.root, stdout=follower, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL):
            os.close(follower)
            shown = b""
            try:
                while part := os.read(leader, 65536):
                    shown += part
            except OSError:
                # Linux says so when the last writer has left.
                pass
        os.close(leader)
        return shown.decode().replace("\r\n", "\n")

    def test_configuration(self):
        self.write("a.py", GUARDED)
        text = json.dumps(HOSTILE)
        for line in (f"extend = {text}", f"{text} = 1", f"select = [{text}]", f"root = {text}", f"knowledge = [{text}]",
                     f"baseline = {text}", f"fail-on = {text}", f"extend = {text}\x1b"):
            self.write("allranks.toml", line + "\n")
            result = self.run_clean("check")
            self.assertEqual(result.code, 2, (line, result.out))
            self.assertTrue(result.err.startswith("allranks: error: "), result.err)
        self.write("allranks.toml", f"x = {text}\n")
        # An excerpt stays below its message.
        self.assertEqual(len(self.run_clean("check").err.splitlines()), 3)

    def test_flags_of_a_build(self):
        self.write("a.cpp", "#include <mpi.h>\nvoid f(int r) { if (r == 0) MPI_Barrier(MPI_COMM_WORLD); }\n")
        entry = {"directory": str(self.root), "file": "a.cpp", "arguments": ["c++", "@" + HOSTILE, "a.cpp"]}
        self.write("compile_commands.json", json.dumps([entry]))
        self.run_clean("check")

    def test_names_of_files(self):
        self.write(f"{HOSTILE}/a.py", FIXABLE)
        self.write(f"{HOSTILE}/third_party/a.py", GUARDED)
        for form in ("full", "concise", "github", "azure", "markdown"):
            self.assertIn("forged", self.run_clean("check", "--preview", "--output-format", form).out)
        for args in ((), ("--coverage",), ("--statistics",), ("--profile",)):
            self.run_clean("check", *args)
        self.run_clean("check", f"{HOSTILE}/none.py")
        self.run_clean("verify", f"{HOSTILE}/a.py")
        self.run_clean("clean", HOSTILE)
        self.run_clean("ir", f"{HOSTILE}/none.py")
        self.run_clean("explain", f"{HOSTILE}/none.py")
        self.run_clean("check", "--update-baseline", "--baseline", f"{HOSTILE}/b.json")
        self.assertIn("forged", self.run_clean("check", "--preview", "--fix", "--show-fixes").err)

    def test_names_in_every_command(self):
        """Of a project in a folder of that name, with findings of all kinds; what one command prints another one's log repeats."""
        folder = self.root / HOSTILE
        self.write(f"{HOSTILE}/allranks.toml", "")
        self.write(f"{HOSTILE}/nested/allranks.toml", 'ignore = ["AR104"]\n')
        self.write(f"{HOSTILE}/{HOSTILE}.py", FIXABLE + "if rank == 0:\n    dist.barrier()\n")
        self.write(f"{HOSTILE}/{HOSTILE}.cpp", "#include <mpi.h>\nvoid f(int r) { if (r == 0) MPI_Barrier(MPI_COMM_WORLD); }\n")
        self.write(f"{HOSTILE}/{HOSTILE}.sh", "export NCCL_DEBGU=INFO\ntorchrun --nproc_pre_node 2 train.py\n")
        self.write(f"{HOSTILE}/{HOSTILE}.yaml", "distributed_type: MULTI_GPU\nnum_machines: 2\nnum_processes: 3\n")
        self.write(f"{HOSTILE}/third_party/{HOSTILE}.py", GUARDED)
        file = f"{HOSTILE}.py"
        commands = [("check", "--preview", "--output-format", form) for form in FORMATS]
        commands += [("check", option) for option in ("--show-files", "--show-settings", "--diff", "--coverage", "--statistics", "--profile", "-v", "--verify")]
        commands += [("check", "--show-files", "-v"), ("check", "--world", "nodes=2", "-v"), ("check", file + "x"), ("check", "--baseline", file + "x"),
                     ("check", "--output-file", f"{HOSTILE}/x"), ("check", "--config", file), ("check", "--knowledge", file),
                     ("trace", file), ("trace", file + "x"), ("trace", f"{file}:none"), ("ir", file), ("ir", file + "x"), ("ir", f"{file}:none"),
                     ("explain", file), ("explain", file + "x"), ("verify", file), ("verify", file + "x"), ("rule", HOSTILE), ("config", HOSTILE), (HOSTILE,),
                     ("check", "--update-baseline", "--baseline", f"{HOSTILE}.json"), ("check", "--add-ignore", "AR101", file), ("clean",)]
        for command in commands:
            self.run_clean(*command, cwd=folder)
            if command[0] in ("check", "trace", "ir", "explain", "verify", "clean"):
                self.run_clean(*command, *([HOSTILE] if command[-1].startswith("-") or command[-1] in FORMATS or command == ("clean",) else []))

    def test_commands_in_names_and_code(self):
        for name in COMMAND_NAMES:
            self.write(f"{name}.py", FIXABLE + f"if rank == 0:\n    dist.barrier()  # {name}\n    dist.barrier(\"{name}\")\n")
            self.write(f"{name}.cpp", f"#include <mpi.h>\nvoid f(int r) {{ if (r == 0) ::MPI_Barrier(MPI_COMM_WORLD); }} // {name}\n")
            self.write(f"{name}.sh", "export NCCL_DEBGU=INFO\ntorchrun --nproc_pre_node 2 train.py\n")
            self.write(f"third_party/{name}.py", GUARDED)
        self.write("allranks.toml", f"exclude = [{', '.join(json.dumps(name) for name in COMMAND_NAMES)}]\n")
        commands = [("check", "--isolated", "--preview", "--output-format", form) for form in FORMATS]
        commands += [("check", "--isolated", *options) for options in (
            ("--show-files",), ("--show-files", "-v"), ("--coverage", "-v"), ("--statistics",), ("--profile",), ("-v",), ("--preview", "--fix", "--show-fixes"))]
        commands += [("check", "--show-settings"), ("check", "--isolated", "--output-format", "json", "--verify")]
        commands += [(command, *more, f"{name}.py{behind}") for name in COMMAND_NAMES for command, *more in (
            ("trace",), ("ir",), ("explain",), ("check", "--config"), ("check", "--baseline"), ("check", "--output-file", "none/"))
            for behind in ("", "x")]
        for command in commands:
            result = self.run_clean(*command)
            # Listings of a program are as the code is.
            is_listing = command[0] in ("trace", "ir")
            self.assert_no_commands(("" if is_listing else result.out) + result.err, command[-1], command)

    def test_commands_in_reports_that_are_verified(self):
        for name in (*COMMAND_NAMES, HOSTILE):
            file = self.write(f"{name}.py", FIXABLE + "if rank == 0:\n    dist.barrier()\n")
            for form in ("json", "sarif"):
                self.run_clean("check", "--isolated", "-q", "--output-format", form, "-o", f"report.{form}")
            self.write("forged.json", json.dumps({"findings": [{"code": name, "path": name, "message": name, "witness": {"schema": name}}]}))
            commands = [("report.json", "--output-format", form) for form in ("full", "concise", "json")]
            commands += [("report.sarif", "--output-format", "sarif", "-o", "copy.sarif"), ("forged.json",), (name,), (f"{name}.py",)]
            for command in commands:
                result = self.run_clean("verify", "--backend", "sim", *command)
                self.assert_no_commands(result.out + result.err, command[-1], command)
                self.assertTrue(not command[0].startswith("report") or "AR101" in result.out, command)
            copy = (self.root / "copy.sarif").read_text()
            self.assert_clean(copy, "copy.sarif")
            self.assert_no_commands(copy, "", "copy.sarif")
            # It says what the report says.
            of_results = [[place["physicalLocation"] for each in json.loads(text)["runs"][0]["results"] for place in each["locations"]]
                          for text in (copy, (self.root / "report.sarif").read_text())]
            self.assertEqual(*of_results)
            file.unlink()

    def test_a_terminal(self):
        self.write(f"{HOSTILE}/a.py", FIXABLE)
        for option in ("--show-files", "--show-settings", "--diff"):
            shown = self.in_a_terminal("check", "--preview", option)
            self.assertNotEqual(shown, "", option)
            self.assert_steers_nothing(shown, option)

    def test_what_a_job_left(self):
        frames = [{"filename": f"/job/{HOSTILE}.py", "line": 3, "name": HOSTILE}]
        for rank in (0, 1):
            entry = {"record_id": 1, "pg_id": 0, "process_group": ["0", HOSTILE], "profiling_name": f"nccl:{HOSTILE}{rank}", "state": "started",
                     "input_sizes": [[4]], "output_sizes": [[4]], "time_created_ns": 1001, "frames": frames, "collective_seq_id": 1,
                     "p2p_seq_id": 0, "op_id": 1, "is_p2p": False, "input_dtypes": [HOSTILE], "output_dtypes": ["Float"], "retired": False}
            made = {"version": "2.4", "entries": [entry], "pg_config": {"0": {"name": "0", "desc": HOSTILE, "ranks": "[0, 1]"}}}
            self.write(f"traces/trace_rank_{rank}", json.dumps(made))
        for form in ("text", "markdown"):
            self.assertIn("forged", self.run_clean("explain", "--format", form, "traces").out)


if __name__ == "__main__":
    main()
