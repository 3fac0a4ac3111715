#include "analyzer/objects/launch.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzer/ir/walk.h"
#include "analyzer/objects/lightning_calls.h"
#include "analyzer/objects/main_guard.h"
#include "analyzer/objects/named_functions.h"
#include "analyzer/objects/switches.h"
#include "analyzer/objects/test_files.h"
#include "analyzer/objects/unlaunched_programs.h"
#include "analyzer/objects/unmade_groups.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {
namespace {

using variation::ValueKind;

// A set of RunBy.
using RunSet = uint8_t;
constexpr RunSet Only(RunBy run_by) { return static_cast<RunSet>(1u << static_cast<unsigned>(run_by)); }
constexpr bool Has(RunSet set, RunBy run_by) { return (set & Only(run_by)) != 0; }

// Of several that may run a function: where ranks do, it is code for ranks.
RunBy Strongest(RunSet set) {
  for (const RunBy each : {RunBy::AllRanks, RunBy::Workers, RunBy::Unknown, RunBy::OneProcess, RunBy::Tests}) {
    if (Has(set, each)) return each;
  }
  return RunBy::Unknown;
}

// How lines of scripts and pages start a file.
struct Started {
  bool as_ranks = false;
  bool as_one_process = false;
  bool as_job_of_one = false;
  bool on_more_devices = false;  // some line that starts one process says nothing of one device
};

std::vector<Started> StartedBy(const binding::Program& program, std::span<const LaunchLine> lines) {
  std::unordered_map<std::string_view, Started> by_path;
  for (const LaunchLine& line : lines) {
    if (line.unknown_below) continue;
    Started& started = by_path[line.path];
    (line.starts_ranks ? started.as_ranks : started.as_one_process) = true;
    started.as_job_of_one = started.as_job_of_one || line.is_job_of_one;
    started.on_more_devices = started.on_more_devices || (!line.starts_ranks && !line.has_one_device);
  }
  std::vector<Started> started(program.modules.size());
  for (uint32_t m = 0; m < started.size(); ++m) {
    const auto found = by_path.find(program.infos[ir::ModuleId{m}].path);
    if (found != by_path.end()) started[m] = found->second;
  }
  return started;
}

// By ModuleId: the lines, by index, that start ranks of a program that uses it.
std::vector<std::vector<uint32_t>> LinesByModule(const binding::Program& program, std::span<const LaunchLine> lines) {
  std::unordered_map<std::string_view, std::vector<uint32_t>> by_path;
  for (uint32_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_ranks && !lines[i].path.empty()) by_path[lines[i].path].push_back(i);
  }
  std::vector<std::vector<uint32_t>> by_module(program.modules.size());
  if (by_path.empty()) return by_module;
  const binding::Neighbourhood neighbourhood(program);
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const auto starting = by_path.find(program.infos[ir::ModuleId{m}].path);
    if (starting == by_path.end()) continue;
    for (const ir::ModuleId used : neighbourhood.UsedBy(ir::ModuleId{m})) {
      by_module[used.index].insert(by_module[used.index].end(), starting->second.begin(), starting->second.end());
    }
  }
  return by_module;
}

class Solver {
 public:
  // `lines_for`: by ModuleId, the lines that start ranks of a program that uses it.
  Solver(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const ProgramIndex& index,
         std::span<const LaunchLine> lines, std::span<const std::vector<uint32_t>> lines_for)
      : program_(program), knowledge_(knowledge), facts_(facts), index_(index), neighbourhood_(program), started_(StartedBy(program, lines)),
        lines_(lines),
        own_(FindLaunchSigns(program, knowledge, facts, index)), callees_(program.funcs.size()), callers_(program.funcs.size()),
        makers_(program.funcs.size()), for_main_(program.funcs.size()) {
    NoteJoined(lines_for);
  }

  // Before anything is asked.
  void Prepare(std::span<const HandedClass> handed_classes) {
    for (uint32_t m = 0; m < program_.modules.size(); ++m) only_tests_.push_back(IsOnlyForTests(ir::ModuleId{m}));
    for (uint32_t m = 0; m < program_.modules.size(); ++m) left_over_.push_back(IsLeftOver(ir::ModuleId{m}));
    for (uint32_t f = 0; f < program_.funcs.size(); ++f) AddEdges(FuncId{f});
    for (const HandedClass& handed : handed_classes) {
      if (!handed.by_name && IsOfLibrary(handed.class_id)) AddMade(handed.by, handed.class_id);
    }
    AddTrainers();
    for (uint32_t f = 0; f < program_.funcs.size(); ++f) uncalled_.push_back(callers_[f].empty() && makers_[f].empty());
    // Others than those that are seen may make them, too.
    for (const HandedClass& handed : handed_classes) {
      if (handed.by_name) AddMade(handed.by, handed.class_id);
    }
    NoteDealers();
    below_ = own_;
    Climb();
  }

  // As commands start the program: one process where all of them do.
  std::vector<RunBy> AsStarted() {
    is_job_of_one_ = JobsOfOne();
    return Solve();
  }

  // As the program could be started: what makes a job is run by ranks, whatever commands say.
  std::vector<RunBy> AsMeant() {
    is_job_of_one_.assign(program_.modules.size(), false);
    return Solve();
  }

  // Once it was solved: who starts the file.
  RunBy StarterOf(ir::ModuleId module) const {
    const uint32_t top = Top(module).index;
    return Strongest(HandedDown(top, as_started_[top]));
  }

  // By FuncId: whether it, or something that it calls, makes a job.
  std::vector<bool> MakersOfJobs() const {
    std::vector<bool> makers;
    for (const LaunchSigns signs : below_) makers.push_back((signs & kMakesJob) != 0);
    return makers;
  }

  // By ModuleId.
  std::vector<bool> UnmadeGroups() const {
    const bool makes_any = std::ranges::any_of(own_, [](LaunchSigns each) { return (each & kMakesGroup) != 0; });
    return makes_any ? FindUnmadeGroups(program_, facts_, index_, neighbourhood_, named(), own_) : std::vector<bool>(program_.modules.size());
  }

  std::vector<bool> JoblessFiles(std::span<const std::vector<uint32_t>> lines_for) const {
    return FindJoblessFiles(program_, neighbourhood_, own_, lines_for);
  }

  std::vector<bool> UnlaunchedPrograms() const {
    return FindUnlaunchedPrograms(program_, neighbourhood_, lines_, [&](ir::ModuleId module) { return StartsRanks(module); });
  }

  // By ModuleId.
  std::vector<bool> UnseenLaunches() const {
    const size_t count = program_.modules.size();
    if (std::ranges::none_of(lines_, [](const LaunchLine& line) { return line.starts_ranks || line.is_job_of_one; })) return std::vector<bool>(count);
    std::vector<bool> unseen(count, true);
    const StartedFiles started(lines_, [](const LaunchLine& line) { return line.starts_ranks; });
    for (uint32_t m = 0; m < count; ++m) {
      const ir::ModuleId module{m};
      const bool may_be_started = started.MayHold(program_.infos[module].path);
      const bool starts_itself = !may_be_started && !only_tests_[m] && StartsRanks(module);
      if (!may_be_started && !starts_itself) continue;
      for (const ir::ModuleId used : may_be_started ? neighbourhood_.UsedBy(module) : neighbourhood_.Of(module)) unseen[used.index] = false;
    }
    return unseen;
  }

  // By ModuleId: whether a program with the file trains on ranks: it deals data out to them, or makes their models alike.
  std::vector<bool> FilesOfTraining() const {
    std::vector<bool> makes_alike(program_.modules.size()), trains(program_.modules.size());
    for (const KnownCall& call : index_.known_calls()) {
      const bool is_wrapping = call.entry->has_operation && program_.text(call.entry->operation.kind) == "module_broadcast";
      if (is_wrapping) makes_alike[program_.funcs[call.function].module.index] = true;
    }
    for (uint32_t m = 0; m < program_.modules.size(); ++m) {
      const std::vector<ir::ModuleId> used = neighbourhood_.UsedBy(ir::ModuleId{m});
      if (std::ranges::none_of(used, [&](ir::ModuleId each) { return deals_out_[each.index] || makes_alike[each.index]; })) continue;
      for (const ir::ModuleId each : used) trains[each.index] = true;
    }
    return trains;
  }

  // By ModuleId: whether a program with it starts its ranks itself.
  std::vector<bool> ProgramsThatStart() const {
    const size_t count = program_.modules.size();
    std::vector<bool> start(count);
    for (uint32_t m = 0; m < count; ++m) {
      if (only_tests_[m] || !StartsRanks(ir::ModuleId{m})) continue;
      for (const ir::ModuleId near : neighbourhood_.Of(ir::ModuleId{m})) start[near.index] = true;
    }
    return start;
  }

  // By FuncId: whether it makes a job itself and starts the processes for it.
  std::vector<bool> StartersOfJobs() const {
    constexpr LaunchSigns kBoth = kMakesJob | kStartsRanks;
    std::vector<bool> starters;
    for (const LaunchSigns signs : own_) starters.push_back((signs & kBoth) == kBoth);
    return starters;
  }

 private:
  using Edges = std::vector<std::vector<uint32_t>>;

  const NamedFunctions& named() const {
    if (!named_) named_.emplace(program_, index_, neighbourhood_);
    return *named_;
  }

  FuncId Top(ir::ModuleId module) const { return program_.func(module, ir::kTopLevel); }
  ir::ModuleId ModuleOf(uint32_t function) const { return program_.funcs[FuncId{function}].module; }
  bool IsTop(uint32_t function) const { return program_.funcs[FuncId{function}].function == ir::kTopLevel; }

  void AddEdge(uint32_t caller, FuncId callee) {
    callees_[caller].push_back(callee.index);
    callers_[callee.index].push_back(caller);
  }

  void AddEdges(FuncId function) {
    const variation::FunctionFacts& facts = facts_.functions[function];
    for (const auto* list : {&facts.calls, &facts.enters, &facts.iterations, &facts.leaves}) {
      for (const auto& [expr, call] : *list) {
        if (IsSwitchedOff(program_, facts_, index_, {function, expr})) continue;
        const size_t before = callees_[function.index].size();
        AddCall(function, call);
        if (!IsTop(function.index) || !IsForMain(function, expr)) continue;
        auto& callees = callees_[function.index];
        for_main_[function.index].insert(for_main_[function.index].end(), callees.begin() + static_cast<ptrdiff_t>(before), callees.end());
        callees.resize(before);
      }
    }
    if (const FuncId parent = program_.funcs[function].parent) AddEdge(parent.index, function);
    if (IsServed(function)) AddEdge(Top(program_.funcs[function].module).index, function);
  }

  // `@app.route("/")`: what something unknown is made of in a file that serves, the file's own program calls.
  bool IsServed(FuncId function) const {
    const ir::ModuleId module_id = program_.funcs[function].module;
    if (IsTop(function.index) || (own_[Top(module_id).index] & kOneByHabit) == 0) return false;
    const ir::Module& module = program_.modules[module_id];
    return std::ranges::any_of(program_.function(function).decorators, [&](ir::ExprId decorator) {
      if (module[decorator].kind != ir::ExprKind::Call) return false;
      const ValueId maker = facts_.value(module_id, ir::CalleeOf(module[decorator]));
      return !maker || facts_.values_store[maker].kind != ValueKind::Function;
    });
  }

  void AddCall(FuncId function, const variation::CallFact& call) {
    if (call.function) AddEdge(function.index, call.function);
    // One of several, picked from a table by a name.
    else if (call.callee) AddHandedOver(function, call.callee, 0);
    for (const ValueId arg : facts_.args(call)) AddHandedOver(function, arg, 0);
    const bool is_made = call.kind == variation::CallKind::Construct && call.callee &&
                         facts_.values_store[call.callee].kind == ValueKind::Class;
    if (is_made) AddMade(function, facts_.values_store[call.callee].class_id());
  }

  // Functions that are passed as values, and objects that can be called: in a table, one of several, or bound to some of their arguments.
  void AddHandedOver(FuncId function, ValueId value, int depth) {
    constexpr int kDeepest = 3;
    if (!value || depth > kDeepest) return;
    const variation::Value& node = facts_.values_store[value];
    if (node.kind == ValueKind::Function) return AddEdge(function.index, node.function());
    if (node.kind == ValueKind::Instance) {
      if (const FuncId called = program_.FindCallMethod(node.class_id())) AddEdge(function.index, called);
      return;
    }
    if (node.kind == ValueKind::Select) {
      const variation::Arms arms = facts_.values_store.ArmsOf(value);
      AddHandedOver(function, arms.then_value, depth + 1);
      return AddHandedOver(function, arms.else_value, depth);
    }
    const bool holds = node.kind == ValueKind::Tuple || node.kind == ValueKind::Dict || node.kind == ValueKind::Partial;
    if (!holds) return;
    for (const ValueId kid : facts_.values_store.Kids(value)) AddHandedOver(function, kid, depth + 1);
  }

  void AddMade(FuncId function, binding::ClassId class_id) {
    for (const binding::ClassId base : program_.classes[class_id].mro) {
      for (const auto& [name, method] : program_.classes[base].methods) {
        callees_[function.index].push_back(method.index);
        makers_[method.index].push_back(function.index);
      }
    }
  }

  // `trainer.fit(model)` runs the hooks of its module. One that a file of settings names, or a factory makes, is not seen
  // there: any trainer whose module is not known may run those that nobody else is seen to make.
  void AddTrainers() {
    const std::vector<binding::ClassId> unmade = UnmadeModules();
    for (const KnownCall& call : FindLightningCalls(program_, index_).runs) {
      const ValueId model = index_.Arg(call, "model");
      if (model && facts_.values_store[model].kind == ValueKind::Instance) {
        AddMade(call.function, facts_.values_store[model].class_id());
        continue;
      }
      for (const binding::ClassId each : unmade) AddMade(call.function, each);
    }
  }

  // With a base that the knowledge base describes, whose methods the library calls.
  bool IsOfLibrary(binding::ClassId class_id) const {
    const auto& bases = program_.classes[class_id].external_bases;
    return std::ranges::any_of(bases, [&](base::NameId base) { return static_cast<bool>(knowledge_.FindClass(base)); });
  }

  std::vector<binding::ClassId> UnmadeModules() const {
    std::vector<binding::ClassId> unmade;
    for (uint32_t c = 0; c < program_.classes.size(); ++c) {
      if (DerivesFrom(program_, knowledge_, binding::ClassId{c}, kLightningModule) && !IsMadeElsewhere(binding::ClassId{c})) unmade.push_back(binding::ClassId{c});
    }
    return unmade;
  }

  // By what is no method of the class: a factory among its methods is called by somebody else.
  bool IsMadeElsewhere(binding::ClassId class_id) const {
    const auto& methods = program_.classes[class_id].methods;
    const auto is_own = [&](uint32_t maker) {
      return std::ranges::any_of(methods, [&](const auto& method) { return method.second.index == maker; });
    };
    return std::ranges::any_of(methods, [&](const auto& method) {
      return std::ranges::any_of(makers_[method.second.index], [&](uint32_t maker) { return !is_own(maker); });
    });
  }

  // A trainer that joins the ranks of a launcher makes a job of them. One that the same function gives a model over all devices refuses
  // to train on several: it works alone, unless a line starts ranks of it.
  void NoteJoined(std::span<const std::vector<uint32_t>> lines_for) {
    for (uint32_t f = 0; f < own_.size(); ++f) {
      const bool joins = (own_[f] & kJoinsJob) != 0;
      const ir::ModuleId module = ModuleOf(f);
      const bool is_alone = (own_[f] & kJobOfOne) != 0 && lines_for[module.index].empty() && !MayBeRanks(module);
      if (joins && !is_alone) own_[f] |= kMakesJob;
    }
  }

  // From callees to callers: what makes a job, or one of one process.
  void Climb() {
    constexpr LaunchSigns kOfCallers = kMakesJob | kHasController | kJobOfOne;
    std::vector<uint32_t> work;
    for (uint32_t f = 0; f < below_.size(); ++f) work.push_back(f);
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      const auto climb = [&](const std::vector<uint32_t>& above) {
        for (const uint32_t caller : above) {
          auto joined = static_cast<LaunchSigns>(below_[caller] | (below_[at] & kOfCallers));
          // Who asks for a job of one gets one from whatever makes it.
          if ((own_[caller] & kAsksForOne) != 0) joined &= static_cast<LaunchSigns>(~kMakesJob);
          if (joined == below_[caller]) continue;
          below_[caller] = joined;
          work.push_back(caller);
        }
      };
      climb(callers_[at]);
      climb(makers_[at]);
    }
  }

  // By ModuleId: whether lines start programs with a file, and all of these as one process that starts no others. A program that no
  // line starts and that makes a job itself may be run by ranks.
  std::vector<bool> JobsOfOne() const {
    std::vector<bool> is_of_one(program_.modules.size()), is_of_more(program_.modules.size());
    for (uint32_t m = 0; m < program_.modules.size(); ++m) {
      const bool has_line = started_[m].as_ranks || started_[m].as_one_process;
      const bool is_not_told = !has_line && IsStarted(ir::ModuleId{m}) && HasSign(ir::ModuleId{m}, kMakesJob, own_);
      if (!has_line && !is_not_told) continue;
      const std::vector<ir::ModuleId> used = neighbourhood_.UsedBy(ir::ModuleId{m});
      const bool is_one = has_line && IsStartedAsOne(ir::ModuleId{m}, used);
      for (const ir::ModuleId each : used) (is_one ? is_of_one : is_of_more)[each.index] = true;
    }
    for (uint32_t m = 0; m < program_.modules.size(); ++m) is_of_one[m] = is_of_one[m] && !is_of_more[m];
    return is_of_one;
  }

  // A launcher that is told to start one says so of just this file, and so does a script that the scheduler gives one device, of a
  // program that starts its ranks itself. Where the program asks for its ranks itself and deals data out to them it is the smallest
  // example, unless the launcher is given one device, too.
  bool IsStartedAsOne(ir::ModuleId module, std::span<const ir::ModuleId> used) const {
    const auto starts = [&](ir::ModuleId each) { return HasSign(each, kStartsRanks | kHasController, own_); };
    const Started started = started_[module.index];
    if (started.as_ranks) return false;
    const bool is_on_one_device = started.as_one_process && !started.on_more_devices;
    if (!started.as_job_of_one && !is_on_one_device) return !MayBeRanks(module) && std::ranges::none_of(used, starts);
    if (started.as_job_of_one && is_on_one_device) return true;
    const auto reads = [&](ir::ModuleId each) { return ReadsRanks(each); };
    const auto deals_out = [&](ir::ModuleId each) { return deals_out_[each.index]; };
    return std::ranges::none_of(used, reads) || std::ranges::none_of(used, deals_out);
  }

  // Whether some line starts ranks of a file, or of one that is not known and may be this.
  bool MayBeRanks(ir::ModuleId module) const {
    const std::string& path = program_.infos[module].path;
    return std::ranges::any_of(lines_, [&](const LaunchLine& line) { return line.starts_ranks && line.MayStart(path); });
  }

  // What a function says by itself; none: its callers decide.
  std::optional<RunBy> Decided(uint32_t function) const {
    if (only_tests_[ModuleOf(function).index]) return RunBy::Tests;
    if (is_job_of_one_[ModuleOf(function).index]) return RunBy::OneProcess;
    const LaunchSigns signs = below_[function];
    if ((signs & kMakesJob) != 0) return OfMaker(ModuleOf(function));
    if ((signs & kHasController) != 0) return RunBy::Workers;
    if ((signs & kJobOfOne) != 0) return RunBy::OneProcess;
    return std::nullopt;
  }

  RunBy OfMaker(ir::ModuleId module) const {
    // A notebook's kernel is one process, with which a framework makes a job of one unless something there starts others.
    const bool is_kernel = program_.infos[module].path.ends_with(".ipynb") && !HasSign(module, kStartsRanks, own_);
    if (is_kernel) return RunBy::OneProcess;
    return left_over_[module.index] ? RunBy::Unknown : RunBy::AllRanks;
  }

  std::vector<RunBy> Solve() {
    std::vector<RunSet> sets = Start();
    Descend(sets);
    KeepToCallers(sets);
    std::vector<RunBy> run_by;
    for (const RunSet set : sets) run_by.push_back(Strongest(set));
    return run_by;
  }

  // Whoever makes an object may call its methods. Those that only others of its methods are seen to call, which one process runs, are that one's.
  void KeepToCallers(std::vector<RunSet>& sets) const {
    const auto is_of_one = [&](uint32_t function) { return sets[function] == Only(RunBy::OneProcess); };
    for (bool changes = true; changes;) {
      changes = false;
      for (uint32_t f = 0; f < sets.size(); ++f) {
        const binding::ClassId owner = program_.funcs[FuncId{f}].owner;
        const bool is_open = owner && !decided_[f] && !is_of_one(f) && !makers_[f].empty() && !callers_[f].empty();
        if (!is_open || IsOfLibrary(owner) || !std::ranges::all_of(callers_[f], is_of_one)) continue;
        sets[f] = Only(RunBy::OneProcess);
        changes = true;
      }
    }
  }

  // What is known before any caller is asked.
  std::vector<RunSet> Start() {
    std::vector<RunSet> sets(program_.funcs.size());
    decided_.assign(sets.size(), false);
    of_uncalled_.assign(program_.modules.size(), std::nullopt);
    as_started_.assign(sets.size(), RunSet{0});
    for (uint32_t f = 0; f < sets.size(); ++f) {
      if (const std::optional<RunBy> decided = Decided(f)) {
        decided_[f] = true;
        sets[f] = as_started_[f] = Only(*decided);
      } else if (IsTop(f)) {
        sets[f] = OfFile(f);
        as_started_[f] = IsSelfTest(f) ? Only(RunBy::OneProcess) : sets[f];
      } else if (uncalled_[f]) {
        sets[f] = OfUncalled(f);
      }
    }
    return sets;
  }

  // A file that is started; nothing where others import it.
  RunSet OfFile(uint32_t top) {
    const ir::ModuleId module = ModuleOf(top);
    const Started started = started_[module.index];
    // A launcher that is told to start one process starts a rank.
    if (started.as_ranks || started.as_job_of_one) return Only(RunBy::AllRanks);
    if (!IsStarted(module)) return neighbourhood_.ImportersOf(module).empty() ? Only(RunBy::Unknown) : RunSet{0};
    if ((own_[top] & kReadsRanks) != 0 || ReadsRanks(module)) return Only(RunBy::AllRanks);
    // Whatever it imports: no line starts it on ranks, and nothing that it calls makes a job.
    if (started.as_one_process) return Only(RunBy::OneProcess);
    if (HasSign(module, kSpeaksToRanks, own_)) return Only(RunBy::Unknown);
    return MayMakeJob(module) ? Only(RunBy::Unknown) : Only(RunBy::OneProcess);
  }

  // A file that others import, that no line starts, and that does nothing of ranks where it is started: it tries its functions out.
  bool IsSelfTest(uint32_t top) const {
    constexpr LaunchSigns kOfRanks = kReadsRanks | kSpeaksToRanks | kMakesJob | kHasController | kStartsRanks;
    const ir::ModuleId module = ModuleOf(top);
    const Started started = started_[module.index];
    const bool has_line = started.as_ranks || started.as_one_process || started.as_job_of_one || MayBeRanks(module);
    if (has_line || !MainOf(program_, module) || neighbourhood_.ImportersOf(module).empty()) return false;
    std::vector<uint32_t> work = for_main_[top];
    std::vector<bool> seen(program_.funcs.size());
    LaunchSigns signs = own_[top];
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      signs |= own_[at];
      work.insert(work.end(), callees_[at].begin(), callees_[at].end());
    }
    return (signs & kOfRanks) == 0;
  }

  // Whether a file that a script imports makes a job, in a function that the script may come to.
  bool MayMakeJob(ir::ModuleId script) const {
    const std::vector<ir::ModuleId> used = neighbourhood_.UsedBy(script);
    if (std::ranges::none_of(used, [&](ir::ModuleId each) { return each != script && MakesJob(each); })) return false;
    const std::vector<bool> reached = named().ReachedIn(used);
    return std::ranges::any_of(used, [&](ir::ModuleId each) {
      const uint32_t first = program_.first_func[each.index];
      for (uint32_t f = first; f < first + program_.modules[each].functions.size(); ++f) {
        if (reached[f] && (own_[f] & kMakesJob) != 0) return true;
      }
      return false;
    });
  }

  // A function that nobody is seen to call: who makes a job beside it is taken to call it.
  RunSet OfUncalled(uint32_t function) {
    const ir::ModuleId module = ModuleOf(function);
    std::optional<RunSet>& known = of_uncalled_[module.index];
    if (!known) {
      const bool is_of_job = !left_over_[module.index] && (MakesJob(module) || ReadsRanks(module));
      known = Only(is_of_job ? RunBy::AllRanks : RunBy::Unknown);
    }
    return *known;
  }

  // Nothing starts it, and no other file imports it: a copy that was left behind, or an offer to users of a library.
  bool IsLeftOver(ir::ModuleId module) const {
    const bool is_started = started_[module.index].as_ranks || started_[module.index].as_one_process || IsStarted(module);
    const bool is_python = program_.modules[module].language == ir::Language::Python;
    return is_python && program_.modules.size() > 1 && !is_started && neighbourhood_.ImportersOf(module).empty();
  }

  // A test, or a file that nobody else imports.
  bool IsOnlyForTests(ir::ModuleId module) const {
    if (IsTestFile(program_, module)) return true;
    // A script beside which a test of its functions lies.
    if (MainOf(program_, module)) return false;
    const std::vector<ir::ModuleId> users = neighbourhood_.UsersOf(module);
    return users.size() > 1 &&
           std::ranges::all_of(users, [&](ir::ModuleId user) { return user == module || IsTestFile(program_, user); });
  }

  bool MakesJob(ir::ModuleId module) const { return HasSign(module, kMakesJob, below_); }
  bool StartsRanks(ir::ModuleId module) const {
    const uint32_t first = program_.first_func[module.index];
    const uint32_t end = first + static_cast<uint32_t>(program_.modules[module].functions.size());
    for (uint32_t f = first; f < end; ++f) {
      if ((own_[f] & kStartsRanks) != 0 && (below_[f] & kMakesJob) != 0) return true;
    }
    return false;
  }
  // A helper that nobody calls any more asks for no ranks.
  bool ReadsRanks(ir::ModuleId module) const {
    const uint32_t first = program_.first_func[module.index];
    for (uint32_t f = first; f < first + program_.modules[module].functions.size(); ++f) {
      const bool is_used = IsTop(f) || !callers_[f].empty() || !makers_[f].empty() || program_.funcs[FuncId{f}].owner;
      if (is_used && (own_[f] & kReadsRanks) != 0) return true;
    }
    return false;
  }
  // Files that make a sampler which deals the data out.
  void NoteDealers() {
    constexpr std::string_view kSampler = "torch.utils.data.distributed.DistributedSampler.__init__";
    deals_out_.resize(program_.modules.size());
    for (const KnownCall& call : index_.known_calls()) {
      if (program_.text(call.entry->name) == kSampler) deals_out_[program_.funcs[call.function].module.index] = true;
    }
  }
  bool HasSign(ir::ModuleId module, LaunchSigns sign, const std::vector<LaunchSigns>& signs) const {
    const uint32_t first = program_.first_func[module.index];
    for (uint32_t i = 0; i < program_.modules[module].functions.size(); ++i) {
      if ((signs[first + i] & sign) != 0) return true;
    }
    return false;
  }

  bool IsStarted(ir::ModuleId module) const { return IsStartedByHand(program_, neighbourhood_, module); }
  // Whether a place at the top of a file is only run where the file is started, and not where it is imported.
  bool IsForMain(FuncId function, ir::ExprId expr) const {
    const ir::ModuleId module_id = program_.funcs[function].module;
    const ir::Module& module = program_.modules[module_id];
    const ir::Tree& tree = index_.tree(module_id);
    for (ir::StmtId at = tree.StatementOf(expr); at; at = tree.Parent(at)) {
      if (module[at].kind == ir::StmtKind::If && AsksForMain(*program_.names, module, ir::ValueOf(module[at]))) return true;
    }
    return false;
  }

  // From callers to callees.
  void Descend(std::vector<RunSet>& sets) {
    // Classes that many make have as many makers of each method: they are looked up.
    for (std::vector<uint32_t>& makers : makers_) {
      std::ranges::sort(makers);
      makers.erase(std::unique(makers.begin(), makers.end()), makers.end());
    }
    std::vector<uint32_t> work;
    for (uint32_t f = 0; f < sets.size(); ++f) {
      if (sets[f] != 0) work.push_back(f);
    }
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      RunSet of_caller = HandedDown(at, sets[at]);
      const auto give = [&](uint32_t callee) {
        // That a test calls a function of a library says nothing about who else does.
        const bool is_tests = only_tests_[ModuleOf(callee).index];
        const auto handed = is_tests ? of_caller : static_cast<RunSet>(of_caller & ~Only(RunBy::Tests));
        const auto joined = static_cast<RunSet>(sets[callee] | handed);
        if (decided_[callee] || joined == sets[callee]) return;
        sets[callee] = joined;
        work.push_back(callee);
      };
      const auto give_to = [&](uint32_t callee) {
        const bool is_made = !makers_[callee].empty();
        if (!is_made || std::ranges::binary_search(makers_[callee], at)) give(callee);
      };
      for (const uint32_t callee : callees_[at]) give_to(callee);
      if (!IsTop(at)) continue;
      // Those that import the file do not come to what it does when it is started.
      of_caller = HandedDown(at, as_started_[at]);
      for (const uint32_t callee : for_main_[at]) give_to(callee);
      of_caller = HandedDown(at, sets[at]);
      // What an imported file does when it is imported is done by those that import it.
      for (const ir::ModuleId imported : neighbourhood_.ImportsOf(ModuleOf(at))) give(Top(imported).index);
    }
    for (uint32_t f = 0; f < sets.size(); ++f) sets[f] = HandedDown(f, sets[f]);
  }

  // Whose callers say nothing follows its own habit.
  RunSet HandedDown(uint32_t function, RunSet set) const {
    // A prompt that the ranks are told about afterwards is theirs.
    const bool is_habit = (own_[function] & kOneByHabit) != 0 && (own_[function] & kSpeaksToRanks) == 0;
    if (!is_habit || decided_[function]) return set;
    if (set == 0 || Has(set, RunBy::Unknown)) set = static_cast<RunSet>((set & ~Only(RunBy::Unknown)) | Only(RunBy::OneProcess));
    return set;
  }

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  binding::Neighbourhood neighbourhood_;
  mutable std::optional<NamedFunctions> named_;  // once it was asked for
  std::vector<Started> started_;    // by ModuleId
  std::span<const LaunchLine> lines_;
  std::vector<LaunchSigns> own_;    // by FuncId
  std::vector<LaunchSigns> below_;  // the same, with those of all that it calls
  Edges callees_, callers_, makers_;
  Edges for_main_;                  // by top level: what it calls only where the file is started
  std::vector<RunSet> as_started_;  // by top level: who starts the file
  std::vector<bool> decided_;
  std::vector<bool> uncalled_;      // by FuncId: nobody is seen to call it, or to make the object of it
  std::vector<std::optional<RunSet>> of_uncalled_;   // by module: of its functions that nobody calls
  std::vector<bool> only_tests_;    // by ModuleId
  std::vector<bool> deals_out_;     // by ModuleId
  std::vector<bool> is_job_of_one_; // by ModuleId
  std::vector<bool> left_over_;     // by ModuleId
};

}  // namespace

RunBy Launch::Of(const Site& site) const {
  const ir::ModuleId module = program_.funcs[site.function].module;
  const MainBlock& main = main_blocks_[module.index];
  const uint32_t at = program_.modules[module][site.expr].begin;
  const bool is_in = program_.funcs[site.function].function == ir::kTopLevel && main.begin <= at && at < main.end;
  return is_in ? main.run_by : Of(site.function);
}

findings::Assumptions Launch::AssumedOf(FuncId function) const {
  switch (Of(function)) {
    case RunBy::Tests: return findings::Assumptions::Of(findings::Assumption::TestCode);
    case RunBy::OneProcess: return findings::Assumptions::Of(findings::Assumption::OwnJob);
    default: return IsStartedAsOne(function) ? findings::Assumptions::Of(findings::Assumption::OwnJob) : findings::Assumptions();
  }
}

findings::Assumptions Launch::AssumedForRanks(FuncId function) const {
  findings::Assumptions assumed = AssumedOf(function);
  const ir::ModuleId module = program_.funcs[function].module;
  if (NeverMakesGroup(module)) assumed.Add(findings::Assumption::OwnJob);
  // Whoever trains on ranks means to be started on several.
  const auto unseen = trains_on_ranks_[module.index] ? findings::Assumption::LaunchUnseen : findings::Assumption::ProgramUnlaunched;
  if (IsLaunchUnseen(module)) assumed.Add(unseen);
  const binding::ClassId owner = program_.funcs[function].owner;
  if (owner && made_by_name_[owner.index]) assumed.Add(findings::Assumption::CallerUnknown);
  return assumed;
}

std::vector<const LaunchLine*> Launch::LinesFor(ir::ModuleId module) const {
  std::vector<const LaunchLine*> found;
  for (const uint32_t line : lines_for_[module.index]) found.push_back(&lines_[line]);
  return found;
}

bool Launch::IsOnSeveralNodes(ir::ModuleId module) const {
  return std::ranges::any_of(lines_for_[module.index], [&](uint32_t line) { return lines_[line].nodes > 1; });
}

bool Launch::IsOnOneNode(ir::ModuleId module) const {
  const std::vector<uint32_t>& own = lines_for_[module.index];
  return !own.empty() && std::ranges::all_of(own, [&](uint32_t line) { return lines_[line].nodes == 1; });
}

bool Launch::GivesOwnDevices(ir::ModuleId module) const {
  const auto starts = [&](uint32_t line) { return lines_[line].starts_ranks; };
  const auto gives_none = [&](uint32_t line) { return lines_[line].starts_ranks && !lines_[line].has_own_devices; };
  const std::vector<uint32_t>& own = lines_for_[module.index];
  return std::ranges::any_of(own, starts) && std::ranges::none_of(own, gives_none);
}

bool Launch::LeavesOthers(ir::ModuleId module) const {
  return std::ranges::any_of(lines_for_[module.index], [&](uint32_t line) { return lines_[line].leaves_others; });
}

int64_t Launch::RanksFor(ir::ModuleId module) const {
  const std::vector<uint32_t>& own = lines_for_[module.index];
  if (own.empty()) return 0;
  const int64_t ranks = lines_[own[0]].ranks;
  return std::ranges::all_of(own, [&](uint32_t line) { return lines_[line].ranks == ranks; }) ? ranks : 0;
}

Launch::Launch(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
               const ProgramIndex& index, std::span<const LaunchLine> lines)
    : program_(program), handed_classes_(FindHandedClasses(program, knowledge, facts, index)), lines_(lines),
      lines_for_(LinesByModule(program, lines)) {
  Solver solver(program, knowledge, facts, index, lines, lines_for_);
  solver.Prepare(handed_classes_);
  const std::vector<RunBy> as_started = solver.AsStarted();
  run_by_ = solver.AsMeant();
  for (uint32_t f = 0; f < run_by_.size(); ++f) started_as_one_.push_back(as_started[f] == RunBy::OneProcess);
  made_by_name_.resize(program.classes.size());
  for (const HandedClass& handed : handed_classes_) {
    if (handed.by_name) made_by_name_[handed.class_id.index] = true;
  }
  for (uint32_t m = 0; m < program.modules.size(); ++m) {
    const ir::StmtId main = MainOf(program, ir::ModuleId{m});
    const ir::Module& module = program.modules[ir::ModuleId{m}];
    if (main) main_blocks_.push_back({module[main].begin, module[main].end, solver.StarterOf(ir::ModuleId{m})});
    else main_blocks_.emplace_back();
  }
  makes_job_ = solver.MakersOfJobs();
  starts_job_ = solver.StartersOfJobs();
  unmade_groups_ = solver.UnmadeGroups();
  jobless_ = solver.JoblessFiles(lines_for_);
  unlaunched_ = solver.UnlaunchedPrograms();
  unseen_launches_ = solver.UnseenLaunches();
  trains_on_ranks_ = solver.FilesOfTraining();
  starts_itself_ = solver.ProgramsThatStart();
}

}  // namespace allranks::objects
