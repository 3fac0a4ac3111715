#include "rules/launch/spread_model.h"

#include <algorithm>

#include "rules/finding_parts.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;

class SpreadModels {
 public:
  SpreadModels(const Context& context, FindingSink& sink) : context_(context), sink_(sink) {}

  void Run() {
    for (const KnownCall& call : context_.index.known_calls()) {
      for (const knowledge::RoleOf& role : call.entry->roles) {
        if (role.role == knowledge::Role::SelectDevice && AsksForOneProcess(call, role.param)) Visit(call, role.param);
      }
    }
  }

 private:
  // `device_map="auto"`: the layers of one model on all devices of one process.
  bool AsksForOneProcess(const KnownCall& call, base::NameId param) const {
    const std::string_view value = context_.values.Str(context_.index.Arg(call, context_.program.text(param)));
    return !value.empty() && std::ranges::any_of(context_.knowledge.LaunchSignsOfKeyword(param), [&](const knowledge::LaunchSign& sign) {
      const auto is_it = [&](base::NameId one) { return context_.program.text(one) == value; };
      return sign.run_by == knowledge::RunBy::OneProcess && std::ranges::any_of(sign.values, is_it);
    });
  }

  void Visit(const KnownCall& call, base::NameId param) {
    const objects::Site site{call.function, call.expr};
    const ir::ModuleId module = context_.program.funcs[call.function].module;
    const objects::LaunchLine* line = LineOfSeveral(module);
    if (line == nullptr || !Trains(module) || !context_.guards.Of(call.function, context_.index.StatementOf(site)).empty()) return;
    const objects::Site map{call.function, context_.index.ArgExpr(call, context_.program.text(param))};
    Finding finding = FindingAt(context_, "AR904", Severity::Error, Confidence::Likely, map,
                                {"each rank spreads the model over all GPUs of its node, and a launcher starts several: it cannot be trained so", {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"the layers go to all GPUs that this rank sees", {}});
    AddLabel(finding, line->place, LabelRole::Why, {"starts several ranks", {}});
    finding.help = {"give each rank a whole model, `{}={{\"\": local_rank}}`, or start one process", {std::string(context_.program.text(param))}};
    sink_.push_back(std::move(finding));
  }

  // Of the file itself: one that others import may load for them.
  const objects::LaunchLine* LineOfSeveral(ir::ModuleId module) const {
    for (const objects::LaunchLine* line : context_.launch.LinesFor(module)) {
      const bool is_told = line->ranks > 1 || (line->ranks == 0 && !line->strategy.empty());
      if (line->path == context_.program.infos[module].path && is_told && !line->is_job_of_one && !line->has_own_devices && line->place.file) return line;
    }
    return nullptr;
  }

  bool Trains(ir::ModuleId module) const {
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      return call.entry->has_operation && context_.program.text(call.entry->operation.kind) == "fit" && context_.program.funcs[call.function].module == module;
    });
  }

  const Context& context_;
  FindingSink& sink_;
};

}  // namespace

void CheckSpreadModels(const Context& context, FindingSink& sink) { SpreadModels(context, sink).Run(); }

}  // namespace allranks::rules
