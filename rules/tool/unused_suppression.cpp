#include "rules/rule.h"

namespace allranks::rules {

// Made where comments are applied, after all other rules: only then is it known what a comment silenced.
extern const Rule UnusedSuppression = {
    .code = "AR002",
    .name = "unused-suppression",
    .severity = Severity::Warning,
    .languages = "all",
    .summary = "ignore comment that silences nothing or names an unknown code",
    .explanation = R"md(
## What it finds

A comment `# allranks: ignore[CODE]` that silenced nothing, that names a code which does not exist, or that is
misspelled so that it has no effect, or that is meant for other linters (`# noqa: AR101`). With
`require-reason` in the configuration, also one that does not say why.

## Why it hurts

A comment that outlives its finding hides the next one on that line. A misspelt one looks like a decision and
is none.

## Wrong

```python
dist.barrier()  # allranks: ignore[AR101] every rank comes here since the refactoring
```

## Right

```python
dist.barrier()
```

## When it is silent

* The comment silenced at least one finding in this run.
* The rule it names was not run (`--select`, `--ignore`): then nothing can be said.

## Fix

`--fix` removes the comment, or the code that does nothing from its list. Where a code or the word `ignore` is
misspelt, the nearest one that exists can be put in its place with `--unsafe-fixes`: to be reviewed, because
the comment then hides a finding.

## Proof

There is nothing to replay: the comment is about the tool, not about the program.
)md",
    .has_fix = true,
    .fix = Applicability::Safe};

}  // namespace allranks::rules
