"""`allranks server` without an editor: no text that is opened keeps it from the next one."""

import json
import queue
import subprocess
import threading
import time

from hostile import mutual_recursion
from support import ALLRANKS, GUARDED, CliTest, main

# Functions that call one another in circles and ask for the rank: an analysis of minutes.
FUNCTIONS = 60000
LONG_WORK = "import torch.distributed as dist\nrank = dist.get_rank()\n" + "".join(
    f"def f{i}(r):\n  if r == {i}: return f{(i + 1) % FUNCTIONS}(r + 1)\n  if r == 0: dist.barrier()\n  f{(i * 7919 + 13) % FUNCTIONS}(r)\n"
    for i in range(FUNCTIONS)) + "f0(rank)\n"
# Only so that a server that never answers fails the test.
PATIENCE = 120


class Server(CliTest):
    def setUp(self):
        super().setUp()
        self.process = subprocess.Popen([ALLRANKS, "server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.root)
        self.messages = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def tearDown(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()
        super().tearDown()

    def read(self):
        while True:
            length = 0
            while line := self.process.stdout.readline().strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            if length == 0:
                return
            self.messages.put(json.loads(self.process.stdout.read(length)))

    def send(self, method, params, **more):
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def wait_for(self, is_wanted):
        until = time.monotonic() + PATIENCE
        while (left := until - time.monotonic()) > 0:
            try:
                message = self.messages.get(timeout=left)
            except queue.Empty:
                break
            if is_wanted(message):
                return message
        return self.fail("the server does not answer")

    def open(self, text):
        uri = (self.root / "train.py").as_uri()
        self.send("initialize", {"processId": None, "rootUri": self.root.as_uri(), "capabilities": {}}, id=1)
        self.wait_for(lambda message: message.get("id") == 1)
        self.send("initialized", {})
        self.send("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": text}})
        return uri

    def wait_for_findings(self, version):
        answer = self.wait_for(lambda message: message.get("method") == "textDocument/publishDiagnostics" and
                               message["params"].get("version") == version and message["params"]["diagnostics"])
        return [each["code"] for each in answer["params"]["diagnostics"]]

    def leave(self):
        self.send("shutdown", None, id=2)
        self.wait_for(lambda message: message.get("id") == 2)
        self.send("exit", None)
        self.assertEqual(self.process.wait(PATIENCE), 0)

    def test_a_file_that_takes_too_long_is_given_up(self):
        self.open(LONG_WORK)
        self.assertIn("AR003", self.wait_for_findings(1))
        self.leave()

    def test_findings_by_the_thousand_do_not_keep_it(self):
        """Ways through callers are many where functions call one another in circles: there was no answer after 43 seconds."""
        uri = self.open(mutual_recursion(50_000))
        self.send("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 5}}, id=3)
        self.wait_for(lambda message: message.get("id") == 3)
        self.leave()

    def test_a_request_that_is_cancelled_is_answered_at_once(self):
        uri = self.open(LONG_WORK)
        for number in (3, 4):
            # The one at hand, for which the analysis of the file is begun, and one that waits behind another.
            if number == 4:
                self.send("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 2, "character": 5}}, id=9)
            self.send("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 2, "character": 5}}, id=number)
            time.sleep(0.3)
            begin = time.monotonic()
            self.send("$/cancelRequest", {"id": number})
            answer = self.wait_for(lambda message: message.get("id") == number)
            self.assertEqual(answer["error"]["code"], -32800)
            self.assertLess(time.monotonic() - begin, 1)
        self.leave()

    def test_an_edit_ends_an_analysis_that_does_not_end(self):
        uri = self.open(LONG_WORK)
        time.sleep(3)
        self.send("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": GUARDED}]})
        self.assertEqual(self.wait_for_findings(2), ["AR101"])
        self.leave()


if __name__ == "__main__":
    main()
