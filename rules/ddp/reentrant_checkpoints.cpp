#include "rules/ddp/reentrant_checkpoints.h"

#include <algorithm>

#include "analyzer/binding/neighbourhood.h"
#include "rules/program_calls.h"

namespace allranks::rules {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;

ReentrantCheckpoints::ReentrantCheckpoints(const Context& context)
    : context_(context), uses_(context.program, context.knowledge, context.facts, context.index, context.guards) {}

std::vector<binding::ClassId> ReentrantCheckpoints::ClassesOfModel(const KnownCall& wrap) const {
  std::vector<binding::ClassId> classes;
  for (const ValueId leaf : context_.values.Leaves(context_.index.Arg(wrap, "module"))) {
    const variation::Value& model = context_.facts.values_store[leaf];
    if (model.kind == variation::ValueKind::Instance) classes.push_back(model.class_id());
  }
  for (size_t i = 0; i < classes.size(); ++i) {
    std::vector<binding::ClassId> more = uses_.PartClasses(classes[i]);
    const auto& bases = context_.program.classes[classes[i]].mro;
    more.insert(more.end(), bases.begin(), bases.end());
    for (const binding::ClassId each : more) {
      if (std::ranges::count(classes, each) == 0) classes.push_back(each);
    }
  }
  return classes;
}

std::vector<ir::ModuleId> ReentrantCheckpoints::FilesAround(const KnownCall& wrap) const {
  std::vector<ir::ModuleId> around = {context_.program.funcs[wrap.function].module};
  for (const Site& caller : context_.index.CallersOf(wrap.function)) around.push_back(context_.program.funcs[caller.function].module);
  const binding::Neighbourhood neighbourhood(context_.program);
  std::vector<ir::ModuleId> files;
  for (const ir::ModuleId each : around) {
    for (const ir::ModuleId used : neighbourhood.UsedBy(each)) files.push_back(used);
  }
  return files;
}

std::vector<binding::ClassId> ReentrantCheckpoints::ClassesAt(const Site& site) const {
  std::vector<binding::ClassId> classes;
  for (const Site& way : context_.index.WaysTo(site)) {
    for (variation::FuncId at = way.function; at; at = context_.program.funcs[at].parent) {
      if (context_.program.funcs[at].owner) classes.push_back(context_.program.funcs[at].owner);
    }
  }
  return classes;
}

std::optional<Site> ReentrantCheckpoints::In(const KnownCall& wrap) const {
  const std::vector<binding::ClassId> model = ClassesOfModel(wrap);
  const std::vector<ir::ModuleId> files = model.empty() ? FilesAround(wrap) : std::vector<ir::ModuleId>();
  for (const KnownCall& call : context_.index.known_calls()) {
    const std::string_view name = context_.program.text(call.entry->name);
    if (name != "torch.utils.checkpoint.checkpoint" && name != "torch.utils.checkpoint.checkpoint_sequential") continue;
    const std::vector<binding::ClassId> at = ClassesAt({call.function, call.expr});
    const bool is_in_model = std::ranges::any_of(at, [&](binding::ClassId each) {
      return model.empty() ? std::ranges::count(files, context_.program.classes[each].module) > 0 : std::ranges::count(model, each) > 0;
    });
    if (!is_in_model || !IsOn({call.function, call.expr})) continue;
    const ir::ModuleId file = context_.program.funcs[call.function].module;
    const ir::ExprId reentrant = KeywordOf(context_, file, call.expr, "use_reentrant");
    if (reentrant && context_.values.IsTrue(context_.facts.value(file, reentrant))) return Site{call.function, call.expr};
    // Without the argument reentrant ones were made until it became an error to leave it out.
    if (!reentrant) return Site{call.function, call.expr};
  }
  return std::nullopt;
}

// No option stands between: most models have one for checkpoints, and it is off.
bool ReentrantCheckpoints::IsOn(const Site& site) const {
  return std::ranges::all_of(context_.guards.Of(site), [&](const objects::Guard& guard) {
    const ir::ModuleId module_id = context_.program.funcs[guard.function].module;
    const ir::Expr& test = context_.program.modules[module_id][guard.test];
    if (test.kind == ir::ExprKind::Attribute && context_.program.text(ir::AttrOf(test)) == "training") return guard.holds;
    const ValueId value = context_.facts.value(module_id, guard.test);
    return value && (guard.holds ? context_.values.IsTrue(value) : context_.values.IsFalse(value));
  });
}

}  // namespace allranks::rules
