#!/usr/bin/env python3
"""An editor as people run it, attached to the built server: it shows the finding and the actions for it.

usage: editors.py ALLRANKS neovim|emacs PROGRAM
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

GUARDED = """\
import torch.distributed as dist


def save():
    rank = dist.get_rank()
    if rank == 0:
        dist.barrier()
"""

NEOVIM = r"""
local out = function(text) io.stdout:write(text .. "\n") end
vim.cmd("edit train.py")
local id = vim.lsp.start_client({ name = "allranks", cmd = { os.getenv("ALLRANKS"), "server" }, root_dir = vim.fn.getcwd() })
vim.lsp.buf_attach_client(0, id)
vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 20)
for _, each in ipairs(vim.diagnostic.get(0)) do
  out(string.format("diagnostic %d:%d %s %s", each.lnum + 1, each.col + 1, each.code, each.message))
end
local place = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = 6, character = 14 } }
for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/hover", place, 10000) or {}) do
  out("hover " .. answer.result.contents.value:gsub("\n", " "))
end
local wanted = { textDocument = place.textDocument, range = { start = place.position, ["end"] = place.position }, context = { diagnostics = {} } }
for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/codeAction", wanted, 10000) or {}) do
  for _, action in ipairs(answer.result) do out("action " .. action.title) end
end
vim.lsp.stop_client(id)
vim.wait(500)
vim.cmd("qa!")
"""

EMACS = r"""
(require 'eglot)
(require 'flymake)
(setq eglot-sync-connect 30)
(add-to-list 'eglot-server-programs (list 'python-mode (getenv "ALLRANKS") "server"))
(find-file "train.py")
(python-mode)
(apply #'eglot (eglot--guess-contact))
(with-timeout (30 (message "no diagnostics"))
  (while (null (flymake-diagnostics)) (accept-process-output nil 0.05)))
(dolist (each (flymake-diagnostics))
  (princ (format "diagnostic %d %s\n" (line-number-at-pos (flymake-diagnostic-beg each)) (flymake-diagnostic-text each))))
(goto-char (point-min))
(search-forward "dist.barr")
(let ((answer (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams))))
  (princ (format "hover %s\n" (plist-get (plist-get answer :contents) :value))))
(eglot-shutdown (eglot-current-server))
(kill-emacs)
"""


def neovim(program, folder):
    (folder / "client.lua").write_text(NEOVIM)
    return [program, "--headless", "-u", "NONE", "-S", "client.lua"]


def emacs(program, folder):
    (folder / "client.el").write_text(EMACS)
    return [program, "--batch", "--eval", "(package-initialize)", "-l", "client.el"]


EXPECTED = {
    "neovim": ["diagnostic 7:9 AR101", "barrier on the default group", "action Ignore AR101", "action Explain AR101"],
    "emacs": ["diagnostic 7 ", "is reached by rank 0 only", "barrier on the default group"],
}


def main():
    server, editor, program = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "train.py").write_text(GUARDED)
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        environment = {**os.environ, "ALLRANKS": server, "HOME": str(folder), "XDG_STATE_HOME": str(folder)}
        run = subprocess.run({"neovim": neovim, "emacs": emacs}[editor](program, folder), cwd=folder, env=environment,
                             capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL)
    told = run.stdout + run.stderr
    missing = [words for words in EXPECTED[editor] if words not in told]
    if missing:
        print(f"{editor} did not show {missing}; it said:\n{told}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
