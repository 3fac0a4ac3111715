#include "analyzer/objects/loading.h"

#include <algorithm>

namespace allranks::objects {

using variation::ValueKind;

Loading::Loading(const binding::Program& program, const knowledge::Knowledge& knowledge,
                 const variation::Facts& facts, const ProgramIndex& index)
    : program_(program), facts_(facts), values_(program, knowledge, facts), index_(index) {
  for (const KnownCall& call : index.known_calls()) {
    const ValueId made = ValueOf(call);
    if (!made || !program.text(call.entry->name).ends_with(".__init__")) continue;
    if (IsLoader(made)) made_loaders_.push_back(call);
    if (IsDistributedSampler(made)) made_samplers_.push_back(call);
  }
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const ir::ModuleId module_id{m};
    const ir::Module& module = program.modules[module_id];
    for (uint32_t i = 0; i < module.stmts.size(); ++i) {
      const ir::StmtId id{i};
      if (module[id].kind != ir::StmtKind::For) continue;
      const ir::ExprId iterable = ir::AssignedOf(module[id]);
      const ValueId value = facts.value(module_id, iterable);
      for (const ValueId loader : LoadersIn(value)) {
        loops_.push_back({{index.FunctionOf(module_id, id), iterable}, id, loader});
      }
    }
  }
}

ValueId Loading::ValueOf(const KnownCall& call) const {
  return facts_.value(program_.funcs[call.function].module, call.expr);
}

std::vector<Site> Loading::MadeAt(ValueId object) const {
  std::vector<Site> sites;
  for (const auto* list : {&made_loaders_, &made_samplers_}) {
    for (const KnownCall& call : *list) {
      const std::vector<ValueId> leaves = values_.Leaves(ValueOf(call));
      const bool is_made = std::ranges::any_of(leaves, [&](ValueId leaf) { return values_.MayBeSame(leaf, object); });
      if (is_made) sites.push_back({call.function, call.expr});
    }
  }
  return sites;
}

std::vector<ValueId> Loading::LoadersIn(ValueId value) const {
  constexpr size_t kMost = 16;
  std::vector<ValueId> loaders;
  std::vector<ValueId> work = values_.Leaves(value);
  for (size_t i = 0; i < work.size() && i < kMost; ++i) {
    const ValueId at = work[i];
    if (IsLoader(at) && std::ranges::find(loaders, at) == loaders.end()) loaders.push_back(at);
    // `enumerate(loader)`: what is computed from it goes on holding it.
    if (facts_.values_store[at].kind != ValueKind::Derived) continue;
    for (const ValueId kid : facts_.values_store.Kids(at)) {
      const ValueKind kind = kid ? facts_.values_store[kid].kind : ValueKind::None;
      if (kind == ValueKind::Dict || kind == ValueKind::Tuple) continue;
      for (const ValueId leaf : values_.Leaves(kid)) work.push_back(leaf);
    }
  }
  return loaders;
}

std::vector<ValueId> Loading::SamplersOf(ValueId loader) const {
  std::vector<ValueId> samplers;
  for (const std::string_view param : {"sampler", "batch_sampler"}) {
    for (const ValueId leaf : values_.Leaves(values_.MadeWith(loader, param))) {
      if (!values_.IsNone(leaf)) samplers.push_back(leaf);
    }
  }
  return samplers;
}

std::vector<ValueId> Loading::DistributedSamplersOf(ValueId loader) const {
  std::vector<ValueId> found;
  for (const ValueId sampler : SamplersOf(loader)) {
    values_.AnyPart(sampler, [&](ValueId part) {
      if (IsDistributedSampler(part) && std::ranges::find(found, part) == found.end()) found.push_back(part);
      return false;
    });
  }
  return found;
}

}  // namespace allranks::objects
