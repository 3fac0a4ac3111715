#include "analyzer/objects/first_process.h"

#include <algorithm>

#include "analyzer/objects/lightning_calls.h"
#include "analyzer/objects/process_starts.h"
#include "analyzer/objects/two_arms.h"

namespace allranks::objects {

FirstProcess::FirstProcess(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const ProgramIndex& index)
    : program_(program), knowledge_(knowledge), index_(index) {
  for (const KnownCall& run : FindLightningCalls(program, index).runs) {
    const std::vector<Site> ways = index.WaysTo({run.function, run.expr});
    starts_.insert(starts_.end(), ways.begin(), ways.end());
  }
  const ProcessStarts started(program, facts, index);
  for (const ProcessStart& start : started.starts()) {
    if (start.is_one) continue;
    const std::vector<Site> ways = index.WaysTo(start.site);
    starts_.insert(starts_.end(), ways.begin(), ways.end());
    starts_.push_back(start.site);
  }
}

bool FirstProcess::IsThroughWith(std::span<const Site> way) const {
  std::vector<Site> sites = index_.WaysTo(way.front());
  sites.insert(sites.end(), way.begin(), way.end());
  bool is_before = false;
  for (const Site& site : sites) {
    const ir::Module& module = program_.module_of(site.function);
    for (const Site& start : starts_) {
      if (start.function != site.function || start.expr == site.expr) continue;
      // `if args.test: test(args) else: train(args)`, which both come to a trainer.
      if (AreInTwoArms(program_, index_, start, site)) continue;
      if (module[start.expr].begin < module[site.expr].begin) return false;
      is_before = true;
    }
  }
  return is_before;
}

bool FirstProcess::IsLeftToIt(FuncId function) const {
  const binding::ClassId owner = program_.funcs[function].owner;
  if (!owner) return false;
  const base::NameId name = program_.function(function).name;
  return std::ranges::any_of(program_.classes[owner].external_bases, [&](base::NameId base) {
    const knowledge::ClassId known = knowledge_.FindClass(base);
    const knowledge::EntryId entry = known ? knowledge_.FindMember(known, name) : knowledge::EntryId::None();
    return entry && knowledge_[entry].guard;
  });
}

}  // namespace allranks::objects
