#include "rules/program_calls.h"

#include <algorithm>

#include "rules/finding_parts.h"
#include "rules/source_edits.h"

namespace allranks::rules {

using objects::KnownCall;
using objects::Site;

const std::vector<ir::ModuleId>& ProgramCalls::FilesOf(ir::ModuleId module) {
  const auto [known, is_new] = files_.try_emplace(module.index);
  if (is_new) {
    known->second = neighbourhood_.Of(module);
    std::ranges::sort(known->second, {}, [](ir::ModuleId each) { return each.index; });
  }
  return known->second;
}

bool ProgramCalls::IsOneProgram(ir::ModuleId module, ir::ModuleId other) {
  return std::ranges::binary_search(FilesOf(module), other.index, {}, [](ir::ModuleId each) { return each.index; });
}

const KnownCall* ProgramCalls::Find(ir::ModuleId module, std::string_view prefix) {
  return FindIf(module, [&](const KnownCall& call) { return context_.program.text(call.entry->name).starts_with(prefix); });
}

const KnownCall* ProgramCalls::FindInit(ir::ModuleId module) {
  return FindIf(module, [&](const KnownCall& call) {
    return call.entry->has_operation && call.entry->operation.op_class == knowledge::OpClass::Init;
  });
}

bool ProgramCalls::HasAny(ir::ModuleId module, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return Has(module, prefix); });
}

bool ProgramCalls::Names(ir::ModuleId module, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(FilesOf(module), [&](ir::ModuleId file) { return NamesAny(context_, file, words); });
}

std::vector<Site> CallsIn(const Context& context, binding::FuncId function) {
  std::vector<Site> calls;
  const ir::ModuleId module_id = context.program.funcs[function].module;
  for (const ir::ExprId id : context.index.ExprsOf(module_id, ir::ExprKind::Call)) {
    if (FunctionAround(context, module_id, id) == function) calls.push_back({function, id});
  }
  return calls;
}

size_t CountAttribute(const Context& context, binding::FuncId function, std::string_view attribute) {
  const ir::ModuleId module_id = context.program.funcs[function].module;
  const ir::Module& module = context.program.modules[module_id];
  const ir::Function& definition = context.program.function(function);
  return static_cast<size_t>(std::ranges::count_if(context.index.ExprsOf(module_id, ir::ExprKind::Attribute), [&](ir::ExprId id) {
    const bool is_inside = module[id].begin >= definition.begin && module[id].end <= definition.end;
    return is_inside && context.program.text(ir::AttrOf(module[id])) == attribute;
  }));
}

std::string_view MethodOf(const Context& context, const Site& call) {
  const ir::Module& module = context.program.module_of(call.function);
  if (module[call.expr].kind != ir::ExprKind::Call) return {};
  const ir::Expr& callee = module[ir::CalleeOf(module[call.expr])];
  return callee.kind == ir::ExprKind::Attribute ? context.program.text(ir::AttrOf(callee)) : std::string_view();
}

std::vector<Site> MethodCalls(const Context& context, binding::FuncId function, std::string_view method,
                              std::string_view object) {
  std::vector<Site> sites;
  const ir::ModuleId module_id = context.program.funcs[function].module;
  const ir::Module& module = context.program.modules[module_id];
  for (const auto& [expr, fact] : context.facts.functions[function].calls) {
    if (MethodOf(context, {function, expr}) != method) continue;
    const ir::ExprId receiver = ir::ObjectOf(module[ir::CalleeOf(module[expr])]);
    if (TextOf(context, module_id, receiver).find(object) != std::string_view::npos) sites.push_back({function, expr});
  }
  return sites;
}

namespace {

// The name or text of an expression; of a call, the names of its arguments are asked for by themselves.
base::NameId NameIn(const ir::Expr& expr) {
  switch (expr.kind) {
    case ir::ExprKind::Name:
      return ir::NameOf(expr);
    case ir::ExprKind::Attribute:
      return ir::AttrOf(expr);
    case ir::ExprKind::Constant:
      return ir::ConstantKindOf(expr) == ir::ConstantKind::Str ? ir::TextOf(expr) : base::NameId::None();
    default:
      return {};
  }
}

}  // namespace

bool NamesAny(const Context& context, ir::ModuleId module_id, std::initializer_list<std::string_view> words, uint32_t begin, uint32_t end) {
  const ir::Module& module = context.program.modules[module_id];
  const auto holds = [&](base::NameId name) {
    return name && context.program.text(name).find_first_of(" \n") == std::string_view::npos && HoldsWord(context.program.text(name), words);
  };
  const bool is_named = std::ranges::any_of(context.index.ExprsBeginningIn(module_id, begin, end), [&](ir::ExprId id) {
    const ir::Expr& expr = module[id];
    if (expr.end > end) return false;
    if (expr.kind != ir::ExprKind::Call) return holds(NameIn(expr));
    for (uint32_t i = 0; i < ir::ArgCount(module, expr); ++i) {
      if (holds(ir::ArgAt(module, expr, i).keyword)) return true;
    }
    return false;
  });
  return is_named || std::ranges::any_of(module.imports, [&](const ir::Import& import) {
    return import.begin >= begin && import.end <= end && (holds(import.name) || holds(import.module));
  });
}

bool NamesAnyByOrigin(const Context& context, const Site& site, std::initializer_list<std::string_view> words) {
  const ir::ModuleId module_id = context.program.funcs[site.function].module;
  const ir::Module& module = context.program.modules[module_id];
  const auto names = [&](ir::ExprId expr) { return NamesAny(context, module_id, words, module[expr].begin, module[expr].end); };
  if (names(site.expr)) return true;
  if (module[site.expr].kind != ir::ExprKind::Name) return false;
  for (const ir::Stmt& stmt : module.stmts) {
    if (stmt.kind != ir::StmtKind::Assign || !names(ir::AssignedOf(stmt))) continue;
    for (const ir::ExprId target : ir::TargetsOf(module, stmt)) {
      const bool is_it = module[target].kind == ir::ExprKind::Name && ir::NameOf(module[target]) == ir::NameOf(module[site.expr]);
      if (is_it) return true;
    }
  }
  return false;
}

bool HoldsWord(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

ir::ExprId KeywordOf(const Context& context, ir::ModuleId module_id, ir::ExprId call, std::string_view keyword) {
  const ir::Module& module = context.program.modules[module_id];
  if (module[call].kind != ir::ExprKind::Call) return {};
  for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
    const ir::Arg arg = ir::ArgAt(module, module[call], i);
    if (arg.kind == ir::ArgKind::Keyword && context.program.text(arg.keyword) == keyword) return arg.value;
  }
  return {};
}

}  // namespace allranks::rules
