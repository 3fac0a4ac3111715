#include "analyzer/objects/script_options.h"

#include <algorithm>
#include <array>
#include <optional>

#include "analyzer/ir/tree.h"
#include "analyzer/objects/main_guard.h"

namespace allranks::objects {
namespace {

using ir::ExprId;
using ir::ExprKind;

// Packages that read the command line themselves.
constexpr std::string_view kOtherParsers[] = {"click", "fire", "hydra", "jsonargparse", "typer", "tyro"};
// https://github.com/Ascend/pytorch, https://docs.habana.ai, https://docs.pytorch.org/xla
constexpr std::string_view kOtherDevices[] = {"torch_npu", "habana_frameworks", "torch_xla"};
constexpr std::string_view kOfBatches[] = {"deepspeed.pipe", "deepspeed.runtime.pipe", "megatron", "torch.distributed.tensor"};
constexpr std::string_view kNccl = "nccl";
constexpr std::string_view kParser = "ArgumentParser";

constexpr std::array<std::string_view, 4> kPartsOfParser = {"add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser"};

// What launchers call the local rank in the environment.
const std::set<std::string_view> kLocalRanks = {"LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"};

const std::set<std::string_view> kRanks = {"RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS", "OMPI_COMM_WORLD_RANK", "PMI_RANK"};

// `NCCL_TIMEOUT`
bool MayNameVariable(std::string_view text) {
  const auto is_of_name = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  return text.find('_') != std::string_view::npos && std::ranges::all_of(text, is_of_name);
}

bool IsPartOfParser(std::string_view method) { return std::ranges::count(kPartsOfParser, method) > 0; }
// Libraries have parsers of their own: `parse_args_into_dataclasses`.
bool IsOfParser(std::string_view method) { return method == "add_argument" || method.starts_with("parse_args") || IsPartOfParser(method); }

class Gatherer {
 public:
  Gatherer(const ir::Module& module, const base::Interner& names) : module_(module), names_(names) {}

  ModuleOptions Run() {
    for (uint32_t f = 0; f < module_.functions.size(); ++f) NoteFunction(module_.functions[ir::FunctionId{f}]);
    for (uint32_t c = 0; c < module_.classes.size(); ++c) NoteClass(module_.classes[ir::ClassId{c}]);
    for (uint32_t i = 0; i < module_.exprs.size(); ++i) NoteParser(ExprId{i});
    for (uint32_t i = 0; i < module_.exprs.size(); ++i) NoteExpr(ExprId{i});
    for (uint32_t i = 0; i < module_.stmts.size(); ++i) NoteAssignment(module_.stmts[ir::StmtId{i}]);
    for (uint32_t i = 0; i < module_.imports.size(); ++i) NoteImport(module_.imports[ir::ImportId{i}]);
    for (const ir::StmtId stmt : module_.statements(module_.functions[ir::kTopLevel].body)) NoteTorch(module_[stmt]);
    return std::move(out_);
  }

 private:
  std::string_view Text(base::NameId name) const { return name ? names_.View(name) : std::string_view(); }
  // The last part of a name: "parse_args" of `parser.parse_args`.
  std::string_view LastPart(ExprId id) const {
    const ir::Expr& expr = module_[id];
    if (expr.kind == ExprKind::Name) return Text(ir::NameOf(expr));
    return expr.kind == ExprKind::Attribute ? Text(ir::AttrOf(expr)) : std::string_view();
  }
  std::string_view Constant(ExprId id) const {
    const ir::Expr& expr = module_[id];
    const bool is_text = expr.kind == ExprKind::Constant && ir::ConstantKindOf(expr) == ir::ConstantKind::Str;
    return is_text ? Text(ir::TextOf(expr)) : std::string_view();
  }
  bool IsParser(ExprId id) const { return parsers_.contains(LastPart(id)); }

  void NoteFunction(const ir::Function& function) {
    if (function.name) out_.functions.emplace(Text(function.name));
  }
  void NoteClass(const ir::Class& of) {
    if (of.name) out_.functions.emplace(Text(of.name));
    if (of.name && !of.bases.empty()) out_.derived.emplace(Text(of.name));
    for (const ir::Arg& base : of.bases) out_.is_open = out_.is_open || (base.value && LastPart(base.value) == kParser);
  }

  // Which variables hold parsers: those whose methods are called.
  void NoteParser(ExprId id) {
    const ir::Expr& expr = module_[id];
    if (expr.kind != ExprKind::Call) return;
    const ir::Expr& callee = module_[ir::CalleeOf(expr)];
    if (callee.kind != ExprKind::Attribute || !IsOfParser(Text(ir::AttrOf(callee)))) return;
    const std::string_view name = LastPart(ir::ObjectOf(callee));
    if (!name.empty()) parsers_.insert(name);
    else NoteMaker(ir::ObjectOf(callee));
  }

  // Whose call a parser comes from.
  void NoteMaker(ExprId value) {
    const ir::Expr& expr = module_[value];
    const std::string_view name = expr.kind == ExprKind::Call ? LastPart(ir::CalleeOf(expr)) : std::string_view();
    if (name.empty() || IsOfOther(value)) out_.is_open = true;
    else if (name != kParser && !IsPartOfParser(name)) out_.helpers.emplace(name);
  }

  // `configargparse.ArgumentParser()`
  bool IsOfOther(ExprId call) const {
    const ir::Expr& callee = module_[ir::CalleeOf(module_[call])];
    if (callee.kind != ExprKind::Attribute || Text(ir::AttrOf(callee)) != kParser) return false;
    const std::string_view object = LastPart(ir::ObjectOf(callee));
    return object != "argparse" && std::ranges::none_of(module_.imports, [&](const ir::Import& import) {
      return Text(import.as_name) == object && Text(import.module ? import.module : import.name) == "argparse";
    });
  }

  void NoteExpr(ExprId id) {
    const ir::Expr& expr = module_[id];
    if (expr.kind == ExprKind::Call) return NoteCall(expr);
    if (const std::string_view text = Constant(id); !text.empty()) {
      out_.names_local_rank = out_.names_local_rank || kLocalRanks.contains(text);
      out_.names_rank = out_.names_rank || kRanks.contains(text);
      if (MayNameVariable(text)) out_.variables.emplace(text);
    }
    if (expr.kind != ExprKind::Attribute) return;
    const std::string_view attr = Text(ir::AttrOf(expr));
    const bool takes_any = attr == "parse_known_args" || attr == "parse_known_intermixed_args";
    if (takes_any && !IsParsedAgain(id)) out_.ignores_others = true;
    if (attr == "REMAINDER" || out_.ignores_others) out_.is_open = true;
    if (attr == "argv" && LastPart(ir::ObjectOf(expr)) == "sys") out_.is_open = true;
    if (attr == "local_rank" && LastPart(ir::ObjectOf(expr)) != "self") out_.reads_local_rank_option = true;
  }

  // `known, _ = parser.parse_known_args()`, to see which options to add, and `parser.parse_args()` below.
  bool IsParsedAgain(ExprId method) {
    if (!tree_) tree_.emplace(module_);
    const ir::StmtId known = tree_->StatementOf(method);
    if (!known || module_[known].kind == ir::StmtKind::Return) return false;
    for (uint32_t i = 0; i < module_.exprs.size(); ++i) {
      const ir::Expr& call = module_[ExprId{i}];
      if (call.kind != ExprKind::Call || ir::ArgCount(module_, call) > 0 || call.begin < module_[method].end) continue;
      const ir::Expr& callee = module_[ir::CalleeOf(call)];
      const bool is_whole = callee.kind == ExprKind::Attribute && Text(ir::AttrOf(callee)) == "parse_args" &&
                            LastPart(ir::ObjectOf(callee)) == LastPart(ir::ObjectOf(module_[method]));
      if (is_whole && FollowsOn(tree_->StatementOf(ExprId{i}), known)) return true;
    }
    return false;
  }
  // In a block around the first, behind it.
  bool FollowsOn(ir::StmtId second, ir::StmtId first) const {
    for (ir::StmtId at = first; at && second; at = tree_->Parent(at)) {
      if (at != second && tree_->BlockOf(at) == tree_->BlockOf(second)) return tree_->FunctionOf(at) == tree_->FunctionOf(second);
    }
    return false;
  }

  void NoteCall(const ir::Expr& call) {
    const std::string_view name = LastPart(ir::CalleeOf(call));
    if (!name.empty()) out_.calls.emplace(name);
    // `exec(open("configurator.py").read())`, which takes what it finds on the command line.
    if (name == "exec" && module_[ir::CalleeOf(call)].kind == ExprKind::Name) out_.is_open = true;
    if (name == "spawn" && IsOfTorch(ir::CalleeOf(call))) out_.spawns = true;
    // A function of this name parses if one of its files does.
    if (name == "parse_args" && module_[ir::CalleeOf(call)].kind == ExprKind::Attribute) (IsUnderMain(call) ? out_.parses_as_script : out_.parses) = true;
    if (name == "add_argument") return NoteArgument(call);
    if (name == "init_process_group") NoteGroup(call);
    for (uint32_t i = 0; i < ir::ArgCount(module_, call); ++i) {
      const ir::Arg arg = ir::ArgAt(module_, call, i);
      if (name == kParser && Text(arg.keyword) == "parents") NoteParents(arg.value);
      else if (name == kParser && Text(arg.keyword) == "fromfile_prefix_chars") out_.is_open = true;
      else if (IsParser(arg.value)) NoteHandedTo(ir::CalleeOf(call));
    }
  }

  // `if __name__ == "__main__":`
  bool IsUnderMain(const ir::Expr& call) const {
    const auto top = module_.statements(module_.functions[ir::kTopLevel].body);
    return std::ranges::any_of(top, [&](ir::StmtId id) {
      const ir::Stmt& stmt = module_[id];
      const bool is_around = stmt.begin <= call.begin && call.end <= stmt.end;
      return stmt.kind == ir::StmtKind::If && is_around && AsksForMain(names_, module_, ir::ValueOf(stmt));
    });
  }

  void NoteGroup(const ir::Expr& call) {
    std::string backend;
    for (uint32_t i = 0; i < ir::ArgCount(module_, call); ++i) {
      const ir::Arg arg = ir::ArgAt(module_, call, i);
      const bool is_first = arg.kind == ir::ArgKind::Positional && i == 0;
      if (is_first || Text(arg.keyword) == "backend") backend = Constant(arg.value);
    }
    out_.backends.insert(backend);
  }

  // `torch.multiprocessing.spawn`, `mp.spawn`, `spawn`, as they are imported.
  bool IsOfTorch(ExprId callee) const {
    constexpr std::string_view kModule = "torch.multiprocessing";
    const bool is_plain = module_[callee].kind == ExprKind::Name;
    const std::string_view object = is_plain ? LastPart(callee) : LastPart(ir::ObjectOf(module_[callee]));
    return std::ranges::any_of(module_.imports, [&](const ir::Import& import) {
      const std::string_view bound = import.as_name ? Text(import.as_name) : Text(import.name);
      if (is_plain) return Text(import.module) == kModule && bound == object;
      const bool is_part = Text(import.module) == "torch" && Text(import.name) == "multiprocessing";
      return (Text(import.module) == kModule && (bound == object || bound.empty())) || (is_part && bound == object);
    });
  }

  // `add_options(parser)`: by a name, or by what a name stands for.
  void NoteHandedTo(ExprId callee) {
    const ir::Expr& expr = module_[callee];
    const bool is_plain = expr.kind == ExprKind::Name || (expr.kind == ExprKind::Attribute && module_[ir::ObjectOf(expr)].kind == ExprKind::Name);
    if (!is_plain) out_.is_open = true;
    else out_.helpers.emplace(LastPart(callee));
  }

  void NoteParents(ExprId list) {
    const ir::Expr& expr = module_[list];
    if (expr.kind != ExprKind::List && expr.kind != ExprKind::Tuple) {
      out_.is_open = true;
      return;
    }
    for (const ExprId item : ir::Items(module_, expr)) {
      if (!LastPart(item).empty()) parsers_.insert(LastPart(item));
      else NoteMaker(item);
    }
  }

  void NoteArgument(const ir::Expr& call) {
    for (uint32_t i = 0; i < ir::ArgCount(module_, call); ++i) {
      const ir::Arg arg = ir::ArgAt(module_, call, i);
      if (arg.kind == ir::ArgKind::Positional) {
        const std::string_view name = Constant(arg.value);
        if (name.empty()) out_.is_open = true;
        else out_.options.emplace(name);
      } else if (arg.kind != ir::ArgKind::Keyword) {
        out_.is_open = true;
      } else if (Text(arg.keyword) == "nargs" && Constant(arg.value) == "...") {
        out_.is_open = true;
      }
    }
  }

  void NoteAssignment(const ir::Stmt& stmt) {
    if (stmt.kind != ir::StmtKind::Assign) return;
    for (const ExprId target : ir::TargetsOf(module_, stmt)) {
      const bool is_field = module_[target].kind == ExprKind::Attribute && LastPart(target) == "local_rank";
      out_.sets_local_rank = out_.sets_local_rank || (is_field && LastPart(ir::ObjectOf(module_[target])) != "self");
      const bool is_same = IsParser(target) && !LastPart(ir::AssignedOf(stmt)).empty();
      if (IsParser(target) && !is_same) NoteMaker(ir::AssignedOf(stmt));
      else if (is_same && !IsParser(ir::AssignedOf(stmt))) out_.is_open = true;
    }
  }

  // A parser that another file made, or a module that parses itself.
  void NoteImport(const ir::Import& import) {
    for (const std::string_view name : {Text(import.module), Text(import.name)}) {
      out_.is_of_other_device = out_.is_of_other_device || std::ranges::count(kOtherDevices, name.substr(0, name.find('.'))) > 0;
      out_.shares_batches = out_.shares_batches || std::ranges::any_of(kOfBatches, [&](std::string_view package) { return name.starts_with(package); });
    }
    const base::NameId bound = import.as_name ? import.as_name : import.name ? import.name : import.module;
    const std::string_view name = Text(bound);
    if (parsers_.contains(name.substr(0, name.find('.')))) out_.is_open = true;
    const std::string_view from = Text(import.module ? import.module : import.name);
    if (std::ranges::count(kOtherParsers, from.substr(0, from.find('.'))) > 0) out_.is_open = true;
    // `from simple_parsing import ArgumentParser`, which takes more than `add_argument` says.
    if (Text(import.name) == kParser && Text(import.module) != "argparse") out_.is_open = true;
  }

  // Of the first level of the file: under `try` and `if` another may stand in for it.
  void NoteTorch(const ir::Stmt& stmt) {
    if (stmt.kind != ir::StmtKind::Import) return;
    for (uint32_t i = 0; i < stmt.c; ++i) {
      const ir::Import& import = module_.imports[ir::ImportId{stmt.a + i}];
      const std::string_view module = Text(import.module), name = Text(import.name);
      if (module.starts_with("torch.")) out_.torch_modules.emplace(module);
      else if (module == "torch") out_.torch_modules.insert("torch." + std::string(name));
      else if (module.empty() && import.level == 0 && name.starts_with("torch.")) out_.torch_modules.emplace(name);
    }
  }

  const ir::Module& module_;
  const base::Interner& names_;
  std::set<std::string_view> parsers_;
  std::optional<ir::Tree> tree_;  // where it is asked for
  ModuleOptions out_;
};

// Of a script whose parsers are all known, and of one that has its arguments from dataclasses. Of classes with one name nothing is known.
ArgumentForms FormsIn(const std::vector<const ModuleOptions*>& modules, bool is_known) {
  ArgumentForms forms;
  if (is_known) {
    for (const ModuleOptions* module : modules) {
      for (const auto& [name, form] : module->forms) AddForm(name, form, forms);
    }
    return forms;
  }
  for (const std::string& name : modules.front()->handed) {
    const auto has_it = [&](const ModuleOptions* module) { return module->fields.contains(name); };
    if (std::ranges::count_if(modules, has_it) != 1) continue;
    for (const auto& [field, form] : (*std::ranges::find_if(modules, has_it))->fields.at(name)) AddForm(field, form, forms);
  }
  return forms;
}

// The functions of all files make and fill their parsers.
bool IsClosed(const std::vector<const ModuleOptions*>& modules) {
  std::set<std::string_view> functions, derived;
  for (const ModuleOptions* module : modules) {
    functions.insert(module->functions.begin(), module->functions.end());
    derived.insert(module->derived.begin(), module->derived.end());
  }
  // `class Arguments(tap.Tap)`, which makes arguments of its fields.
  const auto is_unseen = [&](const std::string& helper) { return !functions.contains(helper) || derived.contains(helper); };
  return std::ranges::none_of(modules, [&](const ModuleOptions* module) { return module->is_open || std::ranges::any_of(module->helpers, is_unseen); });
}

std::vector<const RequiredOptions*> FilesOf(const std::vector<const ModuleOptions*>& modules) {
  std::vector<const RequiredOptions*> files;
  for (const ModuleOptions* module : modules) files.push_back(&module->required);
  return files;
}

// The script parses its arguments, itself or by a function of a file that does. A name that it defines is its own.
bool Parses(const std::vector<const ModuleOptions*>& modules) {
  const ModuleOptions& script = *modules.front();
  return script.parses || script.parses_as_script || std::ranges::any_of(modules, [&](const ModuleOptions* module) {
    return module->parses && std::ranges::any_of(module->functions, [&](const std::string& name) { return script.calls.contains(name) && !script.functions.contains(name); });
  });
}

}  // namespace

ModuleOptions OptionsOf(const ir::Module& module, const base::Interner& names) {
  ModuleOptions options = Gatherer(module, names).Run();
  options.forms = FormsOfParsers(module, names);
  options.required = RequiredIn(module, names);
  options.fields = FormsOfFields(module, names);
  options.handed = ClassesOfParsers(module, names);
  return options;
}

// argparse takes a beginning of an option that is unique; whether it is unique is not asked here. `--no-x` is that of
// `BooleanOptionalAction`.
bool ScriptOptions::Takes(std::string_view option) const {
  constexpr std::string_view kNo = "--no-";
  const bool is_off = option.starts_with(kNo) && options.contains("--" + std::string(option.substr(kNo.size())));
  // argparse adds that itself.
  const bool is_help = std::string_view("--help").starts_with(option);
  const auto first = options.lower_bound(std::string(option));
  return is_off || is_help || (first != options.end() && first->starts_with(option));
}

ScriptOptions OptionsOf(const std::vector<const ModuleOptions*>& modules) {
  const bool is_closed = IsClosed(modules);
  const bool parses = Parses(modules);
  ScriptOptions script{.is_known = is_closed && parses, .options = {}};
  for (const ModuleOptions* module : modules) {
    script.options.insert(module->options.begin(), module->options.end());
    script.variables.insert(module->variables.begin(), module->variables.end());
    script.torch_modules.insert(module->torch_modules.begin(), module->torch_modules.end());
  }
  script.forms = FormsIn(modules, script.is_known);
  if (script.is_known) script.required = RequiredBy(FilesOf(modules));
  // The name of a subcommand has none either.
  script.has_positional = std::ranges::any_of(script.options, [](const std::string& name) { return !name.starts_with('-'); }) ||
                          std::ranges::any_of(modules, [](const ModuleOptions* module) { return module->required.has_other_ways; });
  const auto any = [&](bool ModuleOptions::*sign) { return std::ranges::any_of(modules, [&](const ModuleOptions* module) { return module->*sign; }); };
  const bool has_option = script.options.contains("--local_rank") || script.options.contains("--local-rank");
  const bool has_other = any(&ModuleOptions::sets_local_rank) || any(&ModuleOptions::names_local_rank);
  const bool passes_over = any(&ModuleOptions::ignores_others) && !any(&ModuleOptions::parses) && !modules.front()->parses_as_script;
  const bool looks_at_none = is_closed && !parses && script.options.empty();
  const bool does_without = any(&ModuleOptions::names_local_rank) || !any(&ModuleOptions::reads_local_rank_option);
  script.ignores_local_rank = (passes_over || looks_at_none) && does_without;
  script.starts_its_ranks = modules.front()->spawns && !any(&ModuleOptions::names_rank) && !any(&ModuleOptions::names_local_rank);
  std::set<std::string_view> backends;
  for (const ModuleOptions* module : modules) backends.insert(module->backends.begin(), module->backends.end());
  const auto names_nccl = [](std::string_view backend) { return backend.find(kNccl) != std::string_view::npos; };
  script.works_in_ranks = any(&ModuleOptions::spawns) || !backends.empty();
  script.communicates_on_gpus = std::ranges::any_of(backends, names_nccl);
  script.shares_batches = any(&ModuleOptions::shares_batches);
  script.has_no_nccl = any(&ModuleOptions::is_of_other_device) || (!backends.empty() && std::ranges::none_of(backends, [&](std::string_view backend) { return backend.empty() || names_nccl(backend); }));
  script.has_local_rank_of_option = has_option && any(&ModuleOptions::reads_local_rank_option) && !has_other;
  return script;
}

}  // namespace allranks::objects
