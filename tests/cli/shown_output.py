"""What pages of the documentation show as the output of a command is what it prints."""

import pathlib
import re
import shlex

from support import CliTest, main

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```\w+\n(# (\S+\.\w+)\n.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTS = re.compile(r"`allranks ([^`\n]+)` prints:\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class ShownOutput(CliTest):
    maxDiff = None

    def assert_prints(self, page, count):
        """Writes the files that a page shows, and runs the commands of which it says what they print."""
        text = (DOCS / page).read_text(encoding="utf-8")
        for content, name in FILE.findall(text):
            self.write(name, content)
        shown = PRINTS.findall(text)
        self.assertEqual(len(shown), count)
        for command, output in shown:
            self.assertEqual(self.run_allranks(*shlex.split(command)).out, output, command)

    def test_quick_start(self):
        self.assert_prints("quick-start.md", 1)

    def test_how_it_works(self):
        self.assert_prints("how-it-works.md", 3)

    def test_adding_knowledge(self):
        example = (DOCS / "adding-knowledge.md").read_text(encoding="utf-8").split("## A worked example\n")[1]
        (_, train), (_, acme), (_, session), (_, with_typo) = BLOCK.findall(example)[:4]
        self.write("train.py", train)
        self.write("acme.toml", acme)
        command, output = session.split("\n", 1)
        args = shlex.split(command.removeprefix("$ allranks "))
        self.assertEqual(self.run_allranks(*args).out, output)
        self.write("acme.toml", acme.replace("fixed_shape", "fixed_shpe"))
        result = self.run_allranks(*args)
        self.assertEqual((result.code, result.err), (2, with_typo))


if __name__ == "__main__":
    main()
