// Edits of source text that fixes are made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/rule.h"

namespace allranks::rules {

// The text of a node as written.
std::string_view TextOf(const Context& context, ir::ModuleId module, ir::ExprId expr);
std::string_view TextOf(const Context& context, source::Span span);

findings::Edit Replace(source::Span span, std::string text);
// A statement of its own on the lines before `stmt`, indented as it is; several lines are separated by '\n'.
findings::Edit InsertBefore(const Context& context, ir::ModuleId module, ir::StmtId stmt, std::string_view lines);
findings::Edit InsertAfter(const Context& context, ir::ModuleId module, ir::StmtId stmt, std::string_view lines);
// Takes the lines of a statement away.
findings::Edit RemoveLine(const Context& context, ir::ModuleId module, ir::StmtId stmt);
// Moves the head of a `with` up before an earlier statement of its block, so that it encloses what stands in between
// as well. Empty where lines cannot be moved as they are.
std::vector<findings::Edit> EncloseFrom(const Context& context, ir::ModuleId module, ir::StmtId first, ir::StmtId with);
// A keyword argument behind the last argument of a call.
findings::Edit AddArgument(const Context& context, ir::ModuleId module, ir::ExprId call, std::string_view argument);
// Takes an argument and the comma beside it away.
findings::Edit RemoveArgument(const Context& context, ir::ModuleId module, ir::ExprId call, ir::ExprId argument);
// The argument with its keyword, if it has one.
source::Span ArgumentSpan(const Context& context, ir::ModuleId module, ir::ExprId call, ir::ExprId argument);
// An import statement before the first one of the file, unless the module binds the name already: then no edit.
std::vector<findings::Edit> EnsureImport(const Context& context, ir::ModuleId module, std::string_view name,
                                         std::string_view statement);
// A fix of sorted edits.
findings::Fix MakeFix(std::string title, Applicability applicability, std::vector<findings::Edit> edits);

// Whether a statement begins its line, so that lines can be put before it.
bool BeginsLine(const Context& context, ir::ModuleId module, ir::StmtId stmt);

}  // namespace allranks::rules
