#include "rules/rule.h"

namespace allranks::rules {

// The pipeline reports it while it reads: a file that cannot be read never gets to a rule.
extern const Rule UnreadableSource = {
    .code = "AR001",
    .name = "unreadable-source",
    .severity = Severity::Error,
    .languages = "all",
    .summary = "file, or a part of one, that could not be read or parsed",
    .explanation = R"md(
## What it finds

A file that could not be opened or decoded, a notebook whose JSON is broken, or a place where the
parser met text that is no valid program. Everything around that place is still analysed.

## Why it hurts

What was not read was not checked. A tool that stays silent about it claims more than it knows: the
function with the syntax error may be the one that hangs.

## Wrong

```python
def reduce(tensor:
    dist.all_reduce(tensor)
```

## Right

```python
def reduce(tensor):
    dist.all_reduce(tensor)
```

## When it is silent

* The file is valid Python of any version from 3.8 to 3.13.
* The file is in another encoding, and says so in a coding line.
* The file holds no word of a library that allranks knows, so that it is not parsed at all (`torch`, `mpi4py`,
  `nccl`, `MPI_`, ...): a broken file without them cannot hide a collective.
* No path on the command line names the file, and nothing imports it.

## Fix

Fix the syntax; the message says what the parser met. For a template or a test input that is meant
to be broken, exclude the file: `exclude = ["path/**"]` under `[tool.allranks]`.

## Proof

There is nothing to replay. `python -m py_compile FILE` refuses the same file.
)md"};

}  // namespace allranks::rules
