#include "analyzer/objects/argument_forms.h"

#include <algorithm>
#include <cctype>

namespace allranks::objects {
namespace {

using ir::ExprId;
using ir::ExprKind;

class FormReader {
 public:
  FormReader(const ir::Module& module, const base::Interner& names) : module_(module), names_(names) {}

  ArgumentForms OfParsers() const {
    ArgumentForms forms;
    for (const ir::Expr& expr : module_.exprs) {
      if (expr.kind == ExprKind::Call && LastPart(ir::CalleeOf(expr)) == "add_argument") Add(expr, forms);
    }
    return forms;
  }

  std::map<std::string, ArgumentForms> OfFields() const {
    std::map<std::string, ArgumentForms> classes;
    for (const ir::Class& each : module_.classes) {
      if (!each.name) continue;
      ArgumentForms& forms = classes[std::string(names_.View(each.name))];
      for (const ir::StmtId id : module_.statements(each.body)) {
        const ir::Stmt& stmt = module_[id];
        if (stmt.kind != ir::StmtKind::AnnAssign || module_[ir::ValueOf(stmt)].kind != ExprKind::Name) continue;
        AddForm("--" + std::string(LastPart(ir::ValueOf(stmt))), {.type = TypeOf(ExprId{stmt.c})}, forms);
      }
    }
    return classes;
  }

  std::set<std::string> ClassesHanded() const {
    std::set<std::string> classes;
    for (const ir::Expr& expr : module_.exprs) {
      if (expr.kind != ExprKind::Call || LastPart(ir::CalleeOf(expr)) != "HfArgumentParser" || ir::ArgCount(module_, expr) == 0) continue;
      const ExprId first = ir::ArgAt(module_, expr, 0).value;
      const bool is_list = module_[first].kind == ExprKind::Tuple || module_[first].kind == ExprKind::List;
      if (!is_list) classes.emplace(LastPart(first));
      if (is_list) {
        for (const ExprId item : ir::Items(module_, module_[first])) classes.emplace(LastPart(item));
      }
    }
    return classes;
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

  // `int`, `Optional[int]`
  ArgumentType TypeOf(ExprId id) const {
    const ir::Expr& expr = module_[id];
    if (expr.kind == ExprKind::Subscript && LastPart(ir::ObjectOf(expr)) == "Optional") return TypeOf(ir::IndexOf(expr));
    const std::string_view name = expr.kind == ExprKind::Name ? LastPart(id) : std::string_view();
    return name == "int" ? ArgumentType::Whole : name == "float" ? ArgumentType::Number : ArgumentType::Any;
  }

  // `choices=["a", "b"]`; nothing is known of what is no list of texts.
  std::set<std::string> ChoicesIn(ExprId id) const {
    std::set<std::string> choices;
    const ir::Expr& expr = module_[id];
    if (expr.kind != ExprKind::List && expr.kind != ExprKind::Tuple && expr.kind != ExprKind::Set) return choices;
    for (const ExprId item : ir::Items(module_, expr)) {
      if (Constant(item).empty()) return {};
      choices.emplace(Constant(item));
    }
    return choices;
  }

  void Add(const ir::Expr& call, ArgumentForms& forms) const {
    ArgumentForm form{.needs_value = true};
    bool is_several = false, is_converted = false, may_be_none = false;
    for (uint32_t i = 0; i < ir::ArgCount(module_, call); ++i) {
      const ir::Arg arg = ir::ArgAt(module_, call, i);
      const std::string_view keyword = arg.keyword ? names_.View(arg.keyword) : std::string_view();
      const std::string_view text = Constant(arg.value);
      if (keyword == "type") {
        form.type = TypeOf(arg.value);
        is_converted = LastPart(arg.value) != "str";
      }
      if (keyword == "choices") form.choices = ChoicesIn(arg.value);
      if (keyword == "nargs") {
        is_several = true;
        form.needs_value = false;
        may_be_none = text == "?" || text == "*";
      }
      // One that the program defines may do anything.
      if (keyword == "action") {
        form.may_repeat = text != "store" && !text.starts_with("store_");
        form.needs_value = form.needs_value && text == "store";
      }
      if (!arg.keyword && arg.kind == ir::ArgKind::DoubleStar) form.needs_value = false;
    }
    // A choice is compared with what the type makes of the text.
    if (is_converted || is_several) form.choices.clear();
    // The word behind an argument that may have no value may be another argument.
    if (may_be_none) form.type = ArgumentType::Any;
    for (uint32_t i = 0; i < ir::ArgCount(module_, call); ++i) {
      const ir::Arg arg = ir::ArgAt(module_, call, i);
      const std::string_view name = arg.kind == ir::ArgKind::Positional ? Constant(arg.value) : std::string_view();
      if (name.starts_with("--")) AddForm(std::string(name), form, forms);
    }
  }

  const ir::Module& module_;
  const base::Interner& names_;
};

std::string_view Trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

std::string_view WithoutSign(std::string_view text) { return text.substr(!text.empty() && (text[0] == '+' || text[0] == '-') ? 1 : 0); }

// As Python reads numbers: `1_000` is one.
bool IsWhole(std::string_view text) {
  const std::string_view digits = WithoutSign(Trimmed(text));
  return !digits.empty() && digits.find_first_not_of("0123456789_") == std::string_view::npos && digits.front() != '_' && digits.back() != '_';
}

bool IsNumber(std::string_view text) {
  std::string lower(WithoutSign(Trimmed(text)));
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "inf" || lower == "infinity" || lower == "nan") return true;
  const size_t exponent = lower.find('e');
  if (exponent != std::string::npos && !IsWhole(lower.substr(exponent + 1))) return false;
  const std::string mantissa = lower.substr(0, exponent);
  const bool has_digit = mantissa.find_first_of("0123456789") != std::string::npos;
  return has_digit && mantissa.find_first_not_of("0123456789_.") == std::string::npos && std::ranges::count(mantissa, '.') <= 1;
}

}  // namespace

bool ArgumentForm::Takes(std::string_view value) const {
  if (!choices.empty()) return choices.contains(std::string(value));
  return type == ArgumentType::Any || (type == ArgumentType::Whole ? IsWhole(value) : IsNumber(value));
}

void AddForm(const std::string& name, const ArgumentForm& form, ArgumentForms& forms) {
  const auto [known, is_new] = forms.try_emplace(name, form);
  if (!is_new && known->second != form) known->second = {.may_repeat = true};
}

ArgumentForms FormsOfParsers(const ir::Module& module, const base::Interner& names) { return FormReader(module, names).OfParsers(); }
std::map<std::string, ArgumentForms> FormsOfFields(const ir::Module& module, const base::Interner& names) { return FormReader(module, names).OfFields(); }
std::set<std::string> ClassesOfParsers(const ir::Module& module, const base::Interner& names) { return FormReader(module, names).ClassesHanded(); }

}  // namespace allranks::objects
