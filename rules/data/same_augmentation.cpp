#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "analyzer/objects/job_runs.h"
#include "analyzer/objects/lightning_sampling.h"
#include "analyzer/objects/test_files.h"
#include "rules/data/lightning_runs.h"
#include "rules/data/same_noise.h"
#include "rules/seed_places.h"
#include "rules/data/worker_seeds.h"
#include "rules/finding_parts.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

using objects::KnownCall;
using objects::Site;
using variation::ValueId;
using variation::ValueKind;

constexpr std::string_view kAR312 = "AR312";

// What a sample is changed by at random: a call, or an object of a library that does it when it is called.
struct Draw {
  Site site;
  binding::ClassId maker;          // of samples: its `__getitem__` or `__call__` comes to the call, or its methods make the object
  knowledge::ClassId transform;    // of the object; none: a call
  FuncId function;                 // that comes to the call, and may be handed to a loader or data set; none: of an object
};

// What a loader or a data set was made with, as far as it is objects and functions.
struct Held {
  std::vector<ValueId> objects;  // nearest first
  std::set<uint32_t> functions;  // FuncIds
};

class EqualWorkers {
 public:
  EqualWorkers(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), calls_(context),
        runs_(context.program, context.knowledge, context.facts, context.index, context.launch, context.loading), worker_seeds_(context),
        lightning_(context), sampling_(context.program, context.knowledge, context.facts, context.index, context.loading, context.settings) {}

  void Run() {
    NoteDraws();
    VisitWorkersOfTheirNumber();
    if (draws_.empty()) return;
    VisitWorkersOfOneSeed();
    VisitWorkersOfOneGenerator();
    const std::vector<SeedPlace> seeds = SeedPlaces(context_);
    for (const SeedPlace& seed : seeds) {
      if (IsAlike(seed) && IsRunByAll(seed.site) && !IsSeededByRank(seed.site)) Visit(seed);
    }
  }

 private:
  void NoteDraws() {
    NoteBeforehand();
    for (const KnownCall& call : context_.index.known_calls()) {
      if (!call.entry->Has(knowledge::Role::DrawRandom)) continue;
      const Site site{call.function, call.expr};
      const knowledge::ClassId transform = context_.values.ClassOf(context_.facts.value(ModuleOf(site), site.expr));
      if (transform) {
        draws_.push_back({.site = site, .maker = MakerAround(site.function), .transform = transform, .function = {}});
        continue;
      }
      // `except OSError: return torch.rand(3, 224, 224)`: of a sample that cannot be read.
      if (HasGenerator(call) || IsInHandler(context_, site)) continue;
      for (const Site& on_way : context_.index.WaysTo(site)) {
        const binding::Func& function = context_.program.funcs[on_way.function];
        const binding::ClassId maker = MakesSamples(on_way.function) ? function.owner : binding::ClassId::None();
        draws_.push_back({.site = site, .maker = maker, .transform = {}, .function = on_way.function});
      }
    }
  }

  // `data.map(tokenize)`: applied to all samples before there is a loader.
  void NoteBeforehand() {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (!call.entry->Has(knowledge::Role::LongWork)) continue;
      for (const ValueId argument : call.args) {
        context_.values.AnyPart(argument, [&](ValueId part) {
          if (context_.values[part].kind == ValueKind::Function) beforehand_.insert(context_.values[part].function().index);
          return false;
        });
      }
    }
  }

  bool HasGenerator(const KnownCall& call) const {
    return static_cast<bool>(KeywordOf(context_, context_.program.funcs[call.function].module, call.expr, "generator"));
  }

  // A data set is asked for one sample at a time by the workers of its loader, and calls the transforms that it was given.
  bool MakesSamples(FuncId function) const {
    const std::string_view name = context_.program.text(context_.program.function(function).name);
    return name == "__getitem__" || name == "__call__" || name == "forward";
  }

  // The class of a method, if its objects make samples.
  binding::ClassId MakerAround(FuncId function) const {
    const binding::ClassId owner = context_.program.funcs[function].owner;
    const bool makes = owner && std::ranges::any_of(context_.program.classes[owner].methods, [&](const auto& each) { return MakesSamples(each.second); });
    return makes ? owner : binding::ClassId::None();
  }

  bool IsAlike(const SeedPlace& place) {
    const KnownCall* call = context_.index.KnownCallAt(place.site);
    if (call != nullptr && IsGiven(context_.index.Arg(*call, "workers"))) return false;
    if (call != nullptr && context_.index.Arg(*call, "device_specific")) return false;
    return stored_.IsAlike(ModuleOf(place.site), place.seed);
  }

  bool IsGiven(ValueId option) const { return option && !context_.values.IsFalse(option); }

  bool IsRunByAll(const Site& site) const {
    if (runs_.IsRunByStarted(site)) return true;
    return runs_.IsRunByRanks(site) && !context_.job_places.IsApart({&site, 1}) && AreAllRanksAt(context_, site);
  }

  // Some other place of the program gives each rank its own seed.
  bool IsSeededByRank(const Site& site) {
    const std::vector<ir::ModuleId>& files = calls_.FilesOf(ModuleOf(site));
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      if (std::ranges::count(files, context_.program.funcs[call.function].module) == 0) return false;
      return std::ranges::any_of(call.entry->roles, [&](const knowledge::RoleOf& role) {
        if (role.role != knowledge::Role::Seed) return false;
        const ValueId seed = context_.index.Arg(call, context_.program.text(role.param));
        return (seed && CountsRanks(context_, seed)) || context_.index.Arg(call, "device_specific");
      });
    });
  }

  // `worker_init_fn` gives every worker the same number, on this rank and all others.
  void VisitWorkersOfOneSeed() {
    std::set<uint32_t> seeded;
    for (const objects::LoaderLoop& loop : context_.loading.loops()) {
      const ValueId init = context_.values.MadeWith(loop.loader, "worker_init_fn");
      if (!init || !HasWorkers(loop.loader) || !IsDealtOut(loop.loader) || !context_.training.TrainsOn(loop)) continue;
      Site seed;
      if (worker_seeds_.Of(init, seed) != WorkerSeed::OneForAll) continue;
      const Draw* draw = SeededDrawOf(loop, seed, WorkerSeed::OneForAll);
      if (draw == nullptr) continue;
      if (seeded.insert(seed.function.index).second) ReportOneSeed(seed, *draw, loop);
    }
  }

  // `worker_init_fn` seeds by the number of the worker alone.
  void VisitWorkersOfTheirNumber() {
    std::set<uint32_t> seeded;
    for (const objects::LoaderLoop& loop : context_.loading.loops()) {
      const ValueId init = context_.values.MadeWith(loop.loader, "worker_init_fn");
      if (!init || !context_.loading.IsDealtOut(loop.loader) || !context_.training.TrainsOn(loop)) continue;
      Site seed;
      if (worker_seeds_.Of(init, seed) != WorkerSeed::OfWorker) continue;
      const Draw* draw = SeededDrawOf(loop, seed, WorkerSeed::OfWorker);
      if (draw == nullptr || !seeded.insert(seed.function.index).second) continue;
      findings::Finding finding = SeededByNumber(context_, kAR312, seed, loop.iterable);
      AddLabel(finding, SpanOf(context_, draw->site), LabelRole::Call, {"drawn for each sample", {}});
      sink_.push_back(std::move(finding));
    }
  }

  // `DataLoader(data, generator=torch.Generator().manual_seed(0))`: a loader draws from it the number from which those of its workers are counted.
  void VisitWorkersOfOneGenerator() {
    for (const KnownCall& call : context_.index.known_calls()) {
      if (!call.entry->Has(knowledge::Role::SeedGenerator) || !call.receiver) continue;
      const Site site{call.function, call.expr};
      const ValueId seed = context_.index.Arg(call, "seed");
      if (!seed || !stored_.IsAlike(ModuleOf(site), seed) || !IsRunByAll(site)) continue;
      for (const objects::LoaderLoop& loop : context_.loading.loops()) {
        if (!context_.training.TrainsOn(loop) || !IsDealtOut(loop.loader) || !HasWorkers(loop.loader)) continue;
        if (!DrawsFrom(loop.loader, call.receiver) || !LeavesWorkersAlike(loop.loader)) continue;
        const Draw* draw = DrawAlikeOf(loop.loader, calls_.FilesOf(ModuleOf(loop.iterable)));
        if (draw == nullptr) continue;
        Report({site, seed, site}, *draw, loop.iterable);
        break;
      }
    }
  }

  bool DrawsFrom(ValueId loader, ValueId generator) const {
    const ValueId given = context_.values.MadeWith(loader, "generator");
    if (!given || context_.values.IsNone(given)) return false;
    const std::vector<ValueId> seeded = context_.values.Leaves(generator);
    return std::ranges::any_of(context_.values.Leaves(given), [&](ValueId leaf) { return std::ranges::count(seeded, leaf) > 0; });
  }

  // Nothing seeds them, or they are seeded of the number that the loader drew.
  bool LeavesWorkersAlike(ValueId loader) const {
    const ValueId init = context_.values.MadeWith(loader, "worker_init_fn");
    Site seed;
    return !init || context_.values.IsNone(init) || worker_seeds_.Of(init, seed) == WorkerSeed::OfLoader;
  }

  // Of the generators that workers are so seeded for.
  const Draw* SeededDrawOf(const objects::LoaderLoop& loop, const Site& seed, WorkerSeed kind) {
    return DrawOf(loop.loader, calls_.FilesOf(ModuleOf(loop.iterable)), [&](const Draw& draw) { return worker_seeds_.ReachesDraw(seed, kind, NameOf(draw.site)); });
  }

  // Of generators that a loader seeds from torch's, or that each rank has seeded alike before its workers were forked.
  const Draw* DrawAlikeOf(ValueId loader, const std::vector<ir::ModuleId>& files) {
    return DrawOf(loader, files, [&](const Draw& draw) {
      const std::string_view name = NameOf(draw.site);
      const ir::ModuleId file = ModuleOf(draw.site);
      return !name.starts_with("numpy.") || !worker_seeds_.KeepsNumPy(file) || IsSeededAlike(context_, file, name);
    });
  }

  std::string_view NameOf(const Site& site) const {
    const KnownCall* call = context_.index.KnownCallAt(site);
    return call == nullptr ? std::string_view() : context_.program.text(call->entry->name);
  }

  void ReportOneSeed(const Site& seed, const Draw& draw, const objects::LoaderLoop& loop) {
    Finding finding = FindingAt(context_, kAR312, Severity::Warning, Confidence::Likely, seed,
                                {"all workers of all ranks draw the same random numbers: each is seeded with the same number", {}});
    AddLabel(finding, finding.span, LabelRole::Primary, {"the same in every worker", {}});
    AddLabel(finding, SpanOf(context_, loop.iterable), LabelRole::Note, {"the loader with these workers", {}});
    AddLabel(finding, SpanOf(context_, draw.site), LabelRole::Call, {"drawn for each sample", {}});
    finding.help = {"use `torch.initial_seed()`, which differs between workers, with another seed on each rank", {}};
    if (!runs_.IsStartedOnRanks(loop.iterable)) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::OwnJob));
    sink_.push_back(std::move(finding));
  }

  void Visit(const SeedPlace& seed) {
    const std::vector<ir::ModuleId>& files = calls_.FilesOf(ModuleOf(seed.site));
    if (std::ranges::any_of(files, [&](ir::ModuleId file) { return std::ranges::count(reported_, file) > 0; })) return;
    for (const objects::LoaderLoop& loop : context_.loading.loops()) {
      if (std::ranges::count(files, ModuleOf(loop.iterable)) == 0 || !context_.training.TrainsOn(loop)) continue;
      if (!IsDealtOut(loop.loader) || !IsOneRun(seed.site, loop)) continue;
      const bool has_workers = HasWorkersAlike(loop.loader);
      if (!has_workers && !IsWithoutWorkers(loop.loader)) continue;
      const Draw* draw = has_workers ? DrawAlikeOf(loop.loader, files) : DrawInLoopOf(loop.loader, files);
      if (draw == nullptr) continue;
      reported_.push_back(ModuleOf(seed.site));
      return has_workers ? Report(seed, *draw, loop.iterable) : ReportInLoop(seed, *draw, loop.iterable);
    }
    if (VisitPrepared(seed, files)) return;
    if (const KnownCall* fit = lightning_.FitAfter(seed.site)) VisitFit(seed, *fit);
  }

  // `loader = accelerator.prepare(loader)`: each rank gets every n-th batch, and its workers are seeded as those of any loader.
  bool VisitPrepared(const SeedPlace& seed, const std::vector<ir::ModuleId>& files) {
    for (const KnownCall& call : context_.index.known_calls()) {
      const ir::ModuleId module_id = ModuleOf({call.function, call.expr});
      if (!call.entry->Has(knowledge::Role::DealsOut) || std::ranges::count(files, module_id) == 0) continue;
      const ir::Module& module = context_.program.modules[module_id];
      for (uint32_t i = 0; i < ir::ArgCount(module, module[call.expr]); ++i) {
        const Site given{call.function, ir::ArgAt(module, module[call.expr], i).value};
        const ValueId value = context_.facts.value(module_id, given.expr);
        const std::vector<ValueId> leaves = value ? context_.values.Leaves(value) : std::vector<ValueId>();
        const auto loader = std::ranges::find_if(leaves, [&](ValueId leaf) {
          return context_.loading.IsLoader(leaf) && context_.values.IsTrue(context_.values.MadeWith(leaf, "shuffle")) && HasWorkersAlike(leaf);
        });
        const Draw* draw = loader == leaves.end() ? nullptr : DrawAlikeOf(*loader, files);
        if (draw == nullptr) continue;
        reported_.push_back(ModuleOf(seed.site));
        Report(seed, *draw, given);
        return true;
      }
    }
    return false;
  }

  // Samples are made by the process that trains, with generators of its own.
  bool IsWithoutWorkers(ValueId loader) const { return !HasWorkers(loader) && !MadeWithOthers(loader); }

  const Draw* DrawInLoopOf(ValueId loader, const std::vector<ir::ModuleId>& files) {
    return DrawOf(loader, files, [&](const Draw& draw) { return IsSeededAlike(context_, ModuleOf(draw.site), NameOf(draw.site)); });
  }

  // Lightning goes over the loader and deals it out.
  void VisitFit(const SeedPlace& seed, const KnownCall& fit) {
    if (SeedsWorkersByRank(seed.site)) return;
    const bool is_open = !lightning_.KnowsModule(fit) && lightning_.MayBeOfSettings(fit);
    for (const KnownCall& made : context_.loading.made_loaders()) {
      const ir::ModuleId file = ModuleOf({made.function, made.expr});
      const bool is_of_program = calls_.IsOneProgram(ModuleOf(seed.site), file);
      const bool may_be_used = is_of_program || (is_open && !objects::IsTestFile(context_.program, file) && !IsSeededByRank({made.function, made.expr}));
      if (!may_be_used || !sampling_.IsForTraining(made)) continue;
      const ValueId loader = context_.loading.ValueOf(made);
      const Draw* draw = HasWorkersAlike(loader) ? DrawAlikeOf(loader, calls_.FilesOf(file)) : nullptr;
      if (draw == nullptr) continue;
      reported_.push_back(ModuleOf(seed.site));
      return Report(seed, *draw, {made.function, made.expr}, !is_of_program);
    }
  }

  // `seed_everything(seed, workers=True)`: Lightning seeds the workers of all its loaders by rank, whatever else the program seeds.
  bool SeedsWorkersByRank(const Site& seed) {
    const std::vector<ir::ModuleId>& files = calls_.FilesOf(ModuleOf(seed));
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      return call.entry->Has(knowledge::Role::Seed) && IsGiven(context_.index.Arg(call, "workers")) &&
             std::ranges::count(files, ModuleOf({call.function, call.expr})) > 0;
    });
  }

  // Some function comes to both, or the seed is set by whoever imports the file.
  bool IsOneRun(const Site& seed, const objects::LoaderLoop& loop) const {
    if (context_.program.funcs[seed.function].function == ir::kTopLevel) return true;
    std::vector<Site> to_loop = context_.index.WaysTo(loop.way.empty() ? loop.place() : loop.way.back());
    to_loop.insert(to_loop.end(), loop.way.begin(), loop.way.end());
    if (std::ranges::any_of(to_loop, [&](const Site& other) { return Excludes(seed, other); })) return false;
    return std::ranges::any_of(context_.index.WaysTo(seed), [&](const Site& site) {
      return std::ranges::find(to_loop, site.function, &Site::function) != to_loop.end();
    });
  }

  // `if args.evaluate: seed()` and `if args.evaluate: return`, behind which it trains.
  bool Excludes(const Site& seed, const Site& other) const {
    const auto asked = [&](const objects::Guard& guard) -> std::pair<ValueId, base::NameId> {
      const ValueId test = context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
      const bool is_field = test && context_.values[test].kind == ValueKind::Derived && context_.values[test].kid_count == 1;
      return {test, is_field ? context_.facts.values_store.OperationOf(context_.values[test]) : base::NameId()};
    };
    const std::vector<objects::Guard> behind = context_.guards.Of(other);
    return std::ranges::any_of(context_.guards.Of(seed), [&](const objects::Guard& guard) {
      const auto [test, field] = asked(guard);
      return test && guard.holds && std::ranges::any_of(behind, [&](const objects::Guard& against) {
        const auto [opposite, same_field] = asked(against);
        return !against.holds && (opposite == test || (field && same_field == field));
      });
    });
  }

  // Also by a sampler of the project's own that asks for the rank.
  bool IsDealtOut(ValueId loader) const {
    if (context_.loading.IsDealtOut(loader)) return true;
    return std::ranges::any_of(context_.loading.SamplersOf(loader), [&](ValueId sampler) {
      return context_.values.AnyPart(sampler, [&](ValueId part) {
        const variation::Value& value = context_.facts.values_store[part];
        return value.kind == ValueKind::Instance && AsksForRank(value.class_id());
      });
    });
  }

  bool AsksForRank(binding::ClassId sampler) const {
    return std::ranges::any_of(context_.index.known_calls(), [&](const KnownCall& call) {
      const binding::ClassId owner = context_.program.funcs[call.function].owner;
      const ValueId value = owner ? context_.facts.value(ModuleOf({call.function, call.expr}), call.expr) : ValueId::None();
      return value && IsOfClass(sampler, owner) && context_.facts.values_store.axes(value).has(knowledge::Axis::Global);
    });
  }

  // Other processes that make the samples, and nothing that tells those of two ranks apart.
  bool HasWorkersAlike(ValueId loader) {
    const std::optional<Site> open = MadeWithOthers(loader);
    if (open ? !MayHaveWorkers(*open) : !HasWorkers(loader)) return false;
    const ValueId generator = context_.values.MadeWith(loader, "generator");
    return LeavesWorkersAlike(loader) && (!generator || context_.values.IsNone(generator));
  }

  // `DataLoader(data, **options)`: the call that takes what is not known here.
  std::optional<Site> MadeWithOthers(ValueId loader) const {
    const std::vector<Site> made = context_.loading.MadeAt(loader);
    const auto takes_others = [&](const Site& site) {
      const ir::Module& module = context_.program.module_of(site.function);
      for (uint32_t i = 0; i < ir::ArgCount(module, module[site.expr]); ++i) {
        if (ir::ArgAt(module, module[site.expr], i).kind == ir::ArgKind::DoubleStar) return true;
      }
      return false;
    };
    const auto found = std::ranges::find_if(made, takes_others);
    return found == made.end() || context_.values.MadeWith(loader, "num_workers") ? std::nullopt : std::optional(*found);
  }

  // The program has that option as a key somewhere, and names no other that tells workers apart.
  bool MayHaveWorkers(const Site& made) {
    const std::vector<ir::ModuleId>& files = calls_.FilesOf(ModuleOf(made));
    const auto has_text = [&](std::string_view option) {
      return std::ranges::any_of(files, [&](ir::ModuleId file) { return HasText(file, option); });
    };
    const auto is_named = [&](std::string_view option) {
      return has_text(option) || std::ranges::any_of(files, [&](ir::ModuleId file) { return HasKeyword(file, option); });
    };
    return has_text("num_workers") && !is_named("worker_init_fn") && !is_named("generator");
  }

  bool HasKeyword(ir::ModuleId file, std::string_view option) const {
    return std::ranges::any_of(context_.index.ExprsOf(file, ir::ExprKind::Call),
                               [&](ir::ExprId call) { return KeywordOf(context_, file, call, option).has_value(); });
  }

  bool HasText(ir::ModuleId file, std::string_view option) const {
    const ir::Module& module = context_.program.modules[file];
    return std::ranges::any_of(context_.index.ExprsOf(file, ir::ExprKind::Constant), [&](ir::ExprId text) {
      return ir::ConstantKindOf(module[text]) == ir::ConstantKind::Str && context_.program.text(ir::TextOf(module[text])) == option;
    });
  }

  bool HasWorkers(ValueId loader) const {
    const ValueId workers = context_.values.MadeWith(loader, "num_workers");
    const std::optional<int64_t> count = workers ? context_.values.Int(workers) : std::optional<int64_t>(0);
    return !count || *count != 0;
  }

  template <class Wanted>
  const Draw* DrawOf(ValueId loader, const std::vector<ir::ModuleId>& files, Wanted wanted) const {
    const ValueId data_set = context_.values.MadeWith(loader, "dataset");
    const ValueId collate = context_.values.MadeWith(loader, "collate_fn");
    if (!data_set && !collate) return nullptr;
    Held held;
    AddHeld(data_set, held);
    AddHeld(collate, held);
    std::set<uint32_t> makers;
    std::set<knowledge::ClassId> transforms;
    for (const ValueId object : held.objects) {
      const variation::Value& value = context_.facts.values_store[object];
      if (const knowledge::ClassId known = context_.values.ClassOf(object)) transforms.insert(known);
      if (value.kind != ValueKind::Instance) continue;
      for (const binding::ClassId base : context_.program.classes[value.class_id()].mro) makers.insert(base.index);
    }
    const auto draw = std::ranges::find_if(draws_, [&](const Draw& each) {
      const bool is_held = (each.maker && makers.contains(each.maker.index)) || (each.transform && transforms.contains(each.transform)) ||
                           (each.function && held.functions.contains(each.function.index));
      return is_held && std::ranges::count(files, ModuleOf(each.site)) > 0 && wanted(each);
    });
    return draw == draws_.end() ? nullptr : &*draw;
  }

  // The objects that something consists of: itself, what it and they were made with, and what their constructors make
  // (`self.transform = Compose([Flip(), Crop(size)])`), or what `__getitem__` makes for each sample.
  void AddHeld(ValueId first, Held& held) const {
    constexpr size_t kMost = 200;
    std::set<uint32_t> seen, classes;
    const auto add = [&](ValueId value) {
      context_.values.AnyPart(value, [&](ValueId part) {
        const variation::Value& node = context_.facts.values_store[part];
        if (node.kind == ValueKind::Function && !beforehand_.contains(node.function().index)) held.functions.insert(node.function().index);
        const bool is_object = node.kind == ValueKind::Instance || node.kind == ValueKind::Object;
        if (is_object && held.objects.size() < kMost && seen.insert(part.index).second) held.objects.push_back(part);
        return false;
      });
    };
    if (first) add(first);
    for (size_t i = 0; i < held.objects.size(); ++i) {
      const variation::Value& value = context_.facts.values_store[held.objects[i]];
      if (value.kind != ValueKind::Instance || !classes.insert(value.class_id().index).second) continue;
      const binding::ClassId owner = value.class_id();
      for (const ValueId argument : context_.index.MadeWith(owner)) add(argument);
      for (const std::string_view method : {"__init__", "__getitem__"}) {
        const base::NameId name = context_.program.names->Find(method);
        const FuncId function = name ? context_.program.FindMethod(owner, name) : FuncId::None();
        if (!function) continue;
        const ir::ModuleId file = context_.program.funcs[function].module;
        for (const auto& [expr, call] : context_.facts.functions[function].calls) add(context_.facts.value(file, expr));
      }
    }
  }

  bool IsOfClass(binding::ClassId made, binding::ClassId wanted) const {
    return std::ranges::count(context_.program.classes[made].mro, wanted) > 0;
  }

  void Report(const SeedPlace& seed, const Draw& draw, const Site& loader, bool is_open = false) {
    Finding finding = FindingFor(seed, draw, {"the loader workers of all ranks draw the same random numbers: every rank uses the same seed", {}});
    AddLabel(finding, SpanOf(context_, loader), LabelRole::Note, {"the loader's workers are seeded from it", {}});
    finding.help = {"keep this call, and seed again with the rank added once the model is wrapped, or seed each worker from its rank and "
                    "its number in `worker_init_fn`", {}};
    if (is_open) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::SettingUnknown));
    sink_.push_back(std::move(finding));
  }

  void ReportInLoop(const SeedPlace& seed, const Draw& draw, const Site& loader) {
    Finding finding = FindingFor(seed, draw, {"all ranks augment their samples with the same random numbers: every rank uses the same seed", {}});
    AddLabel(finding, SpanOf(context_, loader), LabelRole::Note, {"the loader has no workers: each rank draws for its samples itself", {}});
    finding.help = {"keep this call, and seed again with the rank added once the model is wrapped", {}};
    sink_.push_back(std::move(finding));
  }

  Finding FindingFor(const SeedPlace& seed, const Draw& draw, findings::Text message) {
    Finding finding = FindingAt(context_, kAR312, Severity::Warning, Confidence::Likely, seed.site, std::move(message));
    AddLabel(finding, finding.span, LabelRole::Primary, {"the same number on every rank", {}});
    AddLabel(finding, SpanOf(context_, draw.site), LabelRole::Call, {"drawn for each sample", {}});
    // What the project starts it with makes one process.
    if (!runs_.IsStartedOnRanks(seed.site)) findings::Assume(finding, findings::Assumptions::Of(findings::Assumption::OwnJob));
    return finding;
  }

  ir::ModuleId ModuleOf(const Site& site) const { return context_.program.funcs[site.function].module; }

  const Context& context_;
  FindingSink& sink_;
  ProgramCalls calls_;
  objects::JobRuns runs_;
  StoredSeeds stored_{context_};
  WorkerSeeds worker_seeds_;
  LightningRuns lightning_;
  objects::LightningSampling sampling_;
  std::vector<Draw> draws_;
  std::set<uint32_t> beforehand_;  // FuncIds
  std::vector<ir::ModuleId> reported_;
};

// One seed may have training draw the same noise as well: AR308 says so at the same place.
void LeaveOutNoise(const Context& context, FindingSink& findings) {
  if (findings.empty()) return;
  FindingSink noise;
  CheckSameNoise(context, kAR312, noise);
  std::erase_if(findings, [&](const Finding& each) {
    return std::ranges::any_of(noise, [&](const Finding& other) { return other.span == each.span && other.confidence == each.confidence; });
  });
}

void CheckSameAugmentation(const Context& context, FindingSink& sink) {
  FindingSink findings;
  EqualWorkers(context, findings).Run();
  LeaveOutNoise(context, findings);
  std::ranges::move(findings, std::back_inserter(sink));
  CheckWorkerSeeds(context, kAR312, sink);
}

}  // namespace

extern const Rule SameAugmentation = {
    .code = kAR312,
    .name = "same-augmentation",
    .severity = Severity::Warning,
    .languages = "Python",
    .summary = "samples changed by the same random numbers on every rank",
    .explanation = R"md(
## What it finds

A data-parallel program that seeds torch with the same number on all ranks, nowhere with one that depends on
the rank, and trains on a loader with workers whose data set draws random numbers for each sample: in
`__getitem__` and what that calls, by a transform of torchvision or of the project that it is made with or
makes itself, or where samples are joined (`collate_fn`). The loop may be Lightning's, and the seed may stand
at the top of a file that each process imports which the program starts. Also workers that are seeded by
their number alone, in a `worker_init_fn` or where a sample is made (`random.seed(get_worker_info().id)`),
also with the first word of NumPy's state added (`np.random.get_state()[1][0]`), which since PyTorch 1.9 is
the same in every worker; and workers that a `worker_init_fn` gives one number, the same in all of them. Also
where the loader is given a `generator` that is seeded alike on all ranks, whatever else the program seeds:
the workers are counted from what it draws. A shuffled loader that Accelerate prepares counts as well; and a
loader without workers, where the process that trains draws from a generator that is seeded alike.

## Why it hurts

A loader draws a number from torch's generator and seeds its workers with it: torch, `random` and, since
PyTorch 1.9, NumPy. With one seed on all ranks the workers of all ranks begin alike. The n-th sample of every
rank is cropped, flipped and masked in the same way, in each step. Eight ranks try out as many augmentations
as one.

## Wrong

```python
torch.manual_seed(args.seed)
loader = DataLoader(images, sampler=DistributedSampler(images), num_workers=8)
```

## Right

```python
torch.manual_seed(args.seed + dist.get_rank())
loader = DataLoader(images, sampler=DistributedSampler(images), num_workers=8)
```

## When it is silent

* Some place of the program gives each rank its own seed, or `seed_everything(..., workers=True)` does.
* The loader has no workers, and nothing seeds the generator that its samples are drawn from; or it is given a
  `generator` whose seed is not seen or holds the rank, or a `worker_init_fn` that does more than to seed by
  `torch.initial_seed()` or by the number of the worker.
* No function comes both to the seed and to the loop that trains.
* The data set is not known, or draws nothing that is seen, or draws only in an `except` branch, for a sample
  that cannot be read. Where it draws only if an argument asks for it that no call here passes, the
  finding is *possible*.
* Nothing deals the data out to the ranks.
* Training draws noise behind the same seed: AR308 reports it.
* The program stores another number on each rank into the option that it seeds with (`args.seed += rank`).
* NumPy draws, PyTorch is pinned to a release before 1.9, whose loaders do not seed it, and the program does
  not seed it alike.

## Fix

There is none: the weights of the model must be the same on all ranks, unless DDP sends them.

## Proof

There is nothing to replay: all ranks make the same number of steps.
)md",
    .check = CheckSameAugmentation};

}  // namespace allranks::rules
