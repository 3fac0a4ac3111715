#include "analyzer/objects/required_options.h"

#include <optional>

#include "analyzer/ir/tree.h"
#include "analyzer/objects/main_guard.h"

namespace allranks::objects {
namespace {

using ir::ExprId;
using ir::ExprKind;

class RequiredReader {
 public:
  RequiredReader(const ir::Module& module, const base::Interner& names) : module_(module), names_(names) {}

  RequiredOptions Run() {
    for (uint32_t i = 0; i < module_.exprs.size(); ++i) {
      if (module_[ExprId{i}].kind == ExprKind::Call) Note(ExprId{i});
    }
    return std::move(out_);
  }

 private:
  std::string_view LastPart(ExprId id) const {
    const ir::Expr& expr = module_[id];
    const base::NameId name = expr.kind == ExprKind::Name ? ir::NameOf(expr) : expr.kind == ExprKind::Attribute ? ir::AttrOf(expr) : base::NameId();
    return name ? names_.View(name) : std::string_view();
  }
  std::string_view Constant(ExprId id) const {
    const ir::Expr& expr = module_[id];
    const bool is_text = expr.kind == ExprKind::Constant && ir::ConstantKindOf(expr) == ir::ConstantKind::Str;
    return is_text ? names_.View(ir::TextOf(expr)) : std::string_view();
  }

  void Note(ExprId id) {
    const ir::Expr& call = module_[id];
    const std::string_view name = LastPart(ir::CalleeOf(call));
    if (name == "ArgumentParser") {
      ++out_.parsers;
      for (uint32_t i = 0; i < ir::ArgCount(module_, call); ++i) {
        if (IsKeyword(ir::ArgAt(module_, call, i), "parents")) out_.has_other_ways = true;
      }
    } else if (name == "add_subparsers" || ((name == "parse_args" || name == "parse_known_args") && IsGivenArguments(call))) {
      out_.has_other_ways = true;
    } else if (name == "add_argument") {
      NoteArgument(id);
    }
  }

  bool IsKeyword(const ir::Arg& arg, std::string_view name) const { return arg.keyword && names_.View(arg.keyword) == name; }

  // `parser.parse_args([])`; a name may hold nothing, which stands for the command line.
  bool IsGivenArguments(const ir::Expr& call) const {
    return module_[ir::CalleeOf(call)].kind == ExprKind::Attribute && ir::ArgCount(module_, call) > 0 && module_[ir::ArgAt(module_, call, 0).value].kind != ExprKind::Name;
  }

  void NoteArgument(ExprId id) {
    const ir::Expr& call = module_[id];
    std::set<std::string> option;
    bool is_required = false;
    for (uint32_t i = 0; i < ir::ArgCount(module_, call); ++i) {
      const ir::Arg arg = ir::ArgAt(module_, call, i);
      if (IsKeyword(arg, "required")) is_required = IsTrue(arg.value);
      if (arg.kind == ir::ArgKind::Positional && Constant(arg.value).starts_with('-')) option.emplace(Constant(arg.value));
    }
    if (is_required && !option.empty() && IsAlwaysAdded(id)) out_.options.push_back(std::move(option));
  }

  bool IsTrue(ExprId id) const {
    const ir::Expr& expr = module_[id];
    return expr.kind == ExprKind::Constant && ir::ConstantKindOf(expr) == ir::ConstantKind::True;
  }

  // By whoever comes to its function: no test stands around it, but that of `if __name__ == "__main__":`.
  bool IsAlwaysAdded(ExprId id) {
    if (!tree_) tree_.emplace(module_);
    const ir::StmtId stmt = tree_->StatementOf(id);
    if (!stmt) return false;
    for (ir::StmtId at = tree_->Parent(stmt); at; at = tree_->Parent(at)) {
      const bool is_of_main = module_[at].kind == ir::StmtKind::If && tree_->FunctionOf(at) == ir::kTopLevel && AsksForMain(names_, module_, ir::ValueOf(module_[at]));
      if (!is_of_main) return false;
    }
    return true;
  }

  const ir::Module& module_;
  const base::Interner& names_;
  std::optional<ir::Tree> tree_;  // where it is asked for
  RequiredOptions out_;
};

}  // namespace

RequiredOptions RequiredIn(const ir::Module& module, const base::Interner& names) { return RequiredReader(module, names).Run(); }

std::vector<std::set<std::string>> RequiredBy(const std::vector<const RequiredOptions*>& files) {
  std::vector<std::set<std::string>> options;
  uint32_t parsers = 0;
  for (const RequiredOptions* file : files) {
    parsers += file->parsers;
    if (file->has_other_ways) return {};
    options.insert(options.end(), file->options.begin(), file->options.end());
  }
  if (parsers != 1) options.clear();
  return options;
}

}  // namespace allranks::objects
