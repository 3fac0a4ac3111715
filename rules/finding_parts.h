// What findings of rules that look at the code itself are put together from.
#pragma once

#include <string>
#include <string_view>

#include "rules/rule.h"

namespace allranks::rules {

using findings::Confidence;
using findings::Finding;
using findings::LabelRole;
using variation::FuncId;

// A finding at an expression of a function: possible at most in tests and where one process runs it, likely where no command starts the program.
Finding FindingAt(const Context& context, std::string_view code, Severity severity, Confidence confidence,
                  const objects::Site& site, findings::Text message);
// The same for what is wrong in a single process as well, so that no command needs to start the program on ranks.
Finding FindingOfAnyProcess(const Context& context, std::string_view code, Severity severity, Confidence confidence,
                            const objects::Site& site, findings::Text message);
// A finding at a statement.
Finding FindingAt(const Context& context, std::string_view code, Severity severity, Confidence confidence,
                  FuncId function, ir::StmtId stmt, findings::Text message);

bool IsInPython(const Context& context, FuncId function);
// Whether a finding in Python code is less than certain.
bool IsUncertainInPython(const Context& context, FuncId function, const Finding& finding);
// Whether it is, and takes more for granted than these, or several ranks are not seen to run its program.
bool BelongsInPreview(const Context& context, FuncId function, const Finding& finding, findings::Assumptions allowed = {});

// Whether it is, and no command of the project starts its program on several ranks. A program that could start ranks itself
// (`mp.spawn`, a trainer) is often run on one device.
bool IsWithoutCommand(const Context& context, FuncId function, const Finding& finding);

void AddLabel(Finding& finding, source::Span span, LabelRole role, findings::Text text);
// The chain of reasons why an expression varies, from here to the source.
void AddReasons(const Context& context, const objects::Site& site, Finding& finding);

source::Span SpanOf(const Context& context, const objects::Site& site);
// The first line of a statement: the head of a loop or a function, not its body.
source::Span HeadOf(const Context& context, ir::ModuleId module, ir::StmtId stmt);
// The source text of an expression on one line, cut where it is long.
std::string Quoted(const Context& context, const objects::Site& site);
// The function in whose body an expression of a module stands; none in defaults and decorators.
FuncId FunctionAround(const Context& context, ir::ModuleId module, ir::ExprId expr);
// Whether a place stands in an `except` of its function.
bool IsInHandler(const Context& context, const objects::Site& site);
// The function of the project that a call runs; none if it is another's, or not known.
FuncId CalledFunction(const Context& context, ir::ModuleId module, ir::ExprId call);
// Whether all ranks of a small job come to a place.
bool AreAllRanksAt(const Context& context, const objects::Site& site);
// Whether a test is one of a type or of an attribute (`hasattr`, `isinstance`, a helper that asks so), and whether such a test stands
// on the way to a place; of this object, if one is given.
bool AsksForAttribute(const Context& context, const objects::Guard& guard, variation::ValueId object = {});
bool AsksForAttributeBefore(const Context& context, const objects::Site& site, variation::ValueId object = {});

}  // namespace allranks::rules
