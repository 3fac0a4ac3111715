#include "rules/rule.h"

namespace allranks::rules {

// The pipeline reports it beside AR001, from the limits that the front ends and the analysis note.
extern const Rule AnalysisLimit = {
    .code = "AR003",
    .name = "analysis-limit",
    .severity = Severity::Info,
    .languages = "all",
    .summary = "function left unanalysed because a bound was reached",
    .explanation = R"md(
## What it finds

A function, or a part of a file, that was not analysed to its end because it is too large for a
bound of the tool: nesting deeper than 500 levels, or a trace of more operations than the analysis
keeps. `--timeout-per-file`, `--max-memory-per-file` and `--max-memory` are such bounds, too; of a file
that comes to one the first function is named, and of a run that `--timeout` ended each file that was
not analysed to its end. So is a shell script that runs or sources more than is followed. The
collectives inside are counted as `unknown` in the ledger that `allranks check --coverage` prints.

Functions that are too large are *possible* findings: the summary of a run counts them, and
`--min-confidence possible` names them.

## Why it hurts

It does not hurt the program. It says where silence means "not looked at" and not "found to be in
order".

## Wrong

```python
x = (((((((((((((((((((value)))))))))))))))))))   # and so on, 500 levels deep: generated code
```

## Right

```python
x = value
```

## When it is silent

* No bound was reached: this holds for nearly every file that people wrote.

## Fix

Split the function where that makes sense for readers, too. Generated code may be left out with
`exclude = ["path/**"]` under `[tool.allranks]`.

## Proof

There is nothing to replay: nothing was found, and nothing was cleared either.
)md"};

}  // namespace allranks::rules
