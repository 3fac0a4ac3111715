#include "analyzer/objects/strategies.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_set>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/gradient_calls.h"
#include "analyzer/objects/test_files.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {
namespace {

using base::NameId;
using knowledge::Strategy;
using variation::ValueKind;

// What one file shows: which names, members and options it uses.
struct Shown {
  std::unordered_set<NameId> names;
  std::unordered_set<NameId> members;
  std::unordered_set<NameId> always;    // of these: where no setting decides
  std::unordered_set<NameId> texts;
  std::set<std::pair<NameId, std::string>> given;  // arguments that choose a strategy, with their texts
};

// By module: whether configurations in the code ask for a strategy, or all of them for others.
struct InCode {
  std::vector<bool> asks;
  std::vector<bool> asks_for_others;
};

bool IsOneOf(const std::vector<NameId>& listed, const std::unordered_set<NameId>& used) {
  return std::ranges::any_of(listed, [&](NameId name) { return used.contains(name); });
}

class Reader {
 public:
  Reader(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
         const ProgramIndex& index, const launch::Launches& launches, const WrittenSettings& written)
      : program_(program), facts_(facts), index_(index), launches_(launches), written_(written), values_(program, knowledge, facts) {
    for (const Strategy& strategy : knowledge.strategies()) {
      if (strategy.argument) choosing_.insert(strategy.argument);
    }
  }

  Shown Read(ir::ModuleId module_id) const {
    const ir::Module& module = program_.modules[module_id];
    Shown shown;
    for (const ValueId value : facts_.exprs[module_id.index]) {
      if (value && facts_.values_store[value].kind == ValueKind::External) shown.names.insert(facts_.values_store[value].name());
      if (value && facts_.values_store[value].kind == ValueKind::Str) shown.texts.insert(facts_.values_store[value].name());
    }
    for (const ir::ExprId expr : index_.ExprsOf(module_id, ir::ExprKind::Attribute)) {
      if (IsStoredAsOff(module_id, expr)) continue;
      shown.members.insert(ir::AttrOf(module[expr]));
      if (!IsBySetting(module_id, expr)) shown.always.insert(ir::AttrOf(module[expr]));
    }
    for (const ir::ExprId call : index_.ExprsOf(module_id, ir::ExprKind::Call)) {
      for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
        const ir::Arg arg = ir::ArgAt(module, module[call], i);
        if (arg.kind == ir::ArgKind::Keyword && arg.value && !IsOff(module_id, arg.value)) shown.members.insert(arg.keyword);
        NoteGiven(module_id, arg, shown);
      }
    }
    return shown;
  }

  // `instantiate(cfg.trainer)`
  void AddBuilt(std::vector<Shown>& shown) const {
    if (written_.empty()) return;
    for (const KnownCall& call : index_.known_calls()) {
      const auto role = std::ranges::find(call.entry->roles, knowledge::Role::Builds, &knowledge::RoleOf::role);
      if (role == call.entry->roles.end()) continue;
      const ir::ModuleId module = program_.funcs[call.function].module;
      NoteSettings(module, index_.Arg(call, program_.text(role->param)), shown[module.index]);
    }
  }

  // A package stands for all that is in it.
  bool Uses(const Shown& shown, const Strategy& strategy) const {
    if (IsOneOf(strategy.members, shown.members) || IsOneOf(strategy.options, shown.texts)) return true;
    const auto is_given = [&](NameId value) { return shown.given.contains({strategy.argument, std::string(program_.text(value))}); };
    if (std::ranges::any_of(strategy.argument_values, is_given)) return true;
    return std::ranges::any_of(strategy.names, [&](NameId name) {
      const std::string_view package = program_.text(name);
      return std::ranges::any_of(shown.names, [&](NameId used) {
        const std::string_view text = program_.text(used);
        return text == package || (text.size() > package.size() && text.starts_with(package) && text[package.size()] == '.');
      });
    });
  }

  // The files in which several modules go into each call that takes but one under the strategy.
  std::vector<bool> WithSeveralModules(const Strategy& strategy) const {
    std::vector<bool> several(program_.modules.size());
    std::vector<bool> one(program_.modules.size());
    for (const KnownCall& call : index_.known_calls()) {
      if (std::ranges::count(strategy.one_module_in, call.entry->name) == 0) continue;
      const ir::ModuleId module_id = program_.funcs[call.function].module;
      const uint32_t count = ModulesIn(module_id, call.expr);
      if (count > 0) (count > 1 ? several : one)[module_id.index] = true;
    }
    for (size_t m = 0; m < several.size(); ++m) several[m] = several[m] && !one[m];
    return several;
  }

  // The files in which some configuration, a dictionary in the code or a file that it names, asks for the strategy, and those in which all do not.
  InCode ConfiguredInCode(const Strategy& strategy) const {
    InCode in_code{.asks = std::vector<bool>(program_.modules.size()), .asks_for_others = std::vector<bool>(program_.modules.size())};
    std::vector<bool> perhaps(program_.modules.size());
    for (const KnownCall& call : index_.known_calls()) {
      if (std::ranges::count(strategy.configured_in, call.entry->name) == 0) continue;
      const uint32_t module = program_.funcs[call.function].module.index;
      const std::optional<bool> asks = AsksFor(call, strategy);
      (asks == false ? in_code.asks_for_others : perhaps)[module] = true;
      if (asks == true) in_code.asks[module] = true;
    }
    for (size_t m = 0; m < perhaps.size(); ++m) in_code.asks_for_others[m] = in_code.asks_for_others[m] && !perhaps[m];
    return in_code;
  }

 private:
  // `sync_dist=False`: that a program does without it.
  bool IsOff(ir::ModuleId module, ir::ExprId expr) const {
    const ValueId value = facts_.value(module, expr);
    return value && (values_.IsFalse(value) || values_.IsNone(value));
  }

  // `plugin.automatic_checkpoint_naming = False`
  bool IsStoredAsOff(ir::ModuleId module_id, ir::ExprId member) const {
    const ir::Module& module = program_.modules[module_id];
    const ir::StmtId stmt = index_.tree(module_id).StatementOf(member);
    if (!stmt || module[stmt].kind != ir::StmtKind::Assign || !IsOff(module_id, ir::AssignedOf(module[stmt]))) return false;
    for (const ir::ExprId target : ir::TargetsOf(module, module[stmt])) {
      if (target == member) return true;
    }
    return false;
  }

  // Whether the configuration of a call asks for the strategy, as far as that is known. Without the key it does not.
  std::optional<bool> AsksFor(const KnownCall& call, const Strategy& strategy) const {
    for (const NameId param : strategy.configured_by) {
      const ValueId config = index_.Arg(call, program_.text(param));
      if (!config) continue;
      const std::string& from = program_.infos[program_.funcs[call.function].module].path;
      const launch::LaunchFile* file = launches_.FileNamed(from, values_.Str(config));
      if (const std::optional<bool> asks = file != nullptr ? AsksFor(*file, strategy) : AsksFor(config, strategy)) return asks;
    }
    return std::nullopt;
  }

  std::optional<bool> AsksFor(const launch::LaunchFile& file, const Strategy& strategy) const {
    launch::ConfigId item = file.tree.root();
    for (const NameId key : strategy.configured_at) {
      if (!item) return std::nullopt;
      const launch::ConfigId inner = file.tree.Member(item, program_.text(key));
      if (!inner) return file.tree[item].kind == launch::ConfigKind::Map ? std::optional(false) : std::nullopt;
      item = inner;
    }
    return IsListed(item ? file.tree.Integer(item) : std::nullopt, strategy);
  }

  std::optional<bool> IsListed(std::optional<int64_t> number, const Strategy& strategy) const {
    if (!number) return std::nullopt;
    return std::ranges::any_of(strategy.configured_as, [&](NameId each) { return program_.text(each) == std::to_string(*number); });
  }

  std::optional<bool> AsksFor(ValueId config, const Strategy& strategy) const {
    for (const NameId key : strategy.configured_at) {
      if (facts_.values_store[config].kind != ValueKind::Dict) return std::nullopt;
      const auto kids = facts_.values_store.Kids(config);
      ValueId item;
      for (size_t i = 0; i + 1 < kids.size(); i += 2) {
        // `**more`
        if (facts_.values_store[kids[i]].kind != ValueKind::Str) return std::nullopt;
        if (facts_.values_store[kids[i]].name() == key) item = kids[i + 1];
      }
      if (!item) return false;
      config = item;
    }
    return IsListed(values_.Int(config), strategy);
  }

  // `strategy="fsdp"`, `strategy=cfg.strategy`, `**cfg.trainer`
  void NoteGiven(ir::ModuleId module, const ir::Arg& arg, Shown& shown) const {
    if (!arg.value) return;
    const ValueId value = facts_.value(module, arg.value);
    if (arg.kind == ir::ArgKind::Keyword) {
      if (!choosing_.contains(arg.keyword)) return;
      const std::optional<launch::WrittenSetting> written = written_.Of(module, value);
      const std::string text(written ? std::string_view(written->text) : values_.Str(value));
      if (!text.empty()) shown.given.emplace(arg.keyword, text);
      return;
    }
    if (arg.kind == ir::ArgKind::DoubleStar) NoteSettings(module, value, shown);
  }
  void NoteSettings(ir::ModuleId module, ValueId settings, Shown& shown) const {
    for (const NameId name : choosing_) {
      const std::optional<launch::WrittenSetting> written = written_.Member(module, settings, program_.text(name));
      if (written) shown.given.emplace(name, written->text);
    }
  }

  // Under an `if`, but for one inside a loop, which asks for the item.
  bool IsBySetting(ir::ModuleId module_id, ir::ExprId expr) const {
    const ir::Module& module = program_.modules[module_id];
    const ir::Tree& tree = index_.tree(module_id);
    bool is_by_setting = false;
    for (ir::StmtId at = tree.StatementOf(expr); at; at = tree.Parent(at)) {
      const ir::StmtKind kind = module[at].kind;
      if (kind == ir::StmtKind::FunctionDef || kind == ir::StmtKind::ClassDef) break;
      if (kind == ir::StmtKind::If) is_by_setting = true;
      if (kind == ir::StmtKind::For || kind == ir::StmtKind::While) is_by_setting = false;
    }
    return is_by_setting;
  }

  uint32_t ModulesIn(ir::ModuleId module_id, ir::ExprId call) const {
    const ir::Module& module = program_.modules[module_id];
    if (module[call].kind != ir::ExprKind::Call) return 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < ir::ArgCount(module, module[call]); ++i) {
      if (IsModule(module_id, ir::ArgAt(module, module[call], i).value)) ++count;
    }
    return count;
  }

  // By its class or, where that is not known, by what the file takes of it: `unet.parameters()`.
  bool IsModule(ir::ModuleId module_id, ir::ExprId expr) const {
    const ir::Module& module = program_.modules[module_id];
    const ValueId value = facts_.value(module_id, expr);
    if (value && values_.IsA(value, "torch.nn.Module")) return true;
    return std::ranges::any_of(index_.ExprsOf(module_id, ir::ExprKind::Attribute), [&](ir::ExprId id) {
      return program_.text(ir::AttrOf(module[id])) == "parameters" && IsSameChain(module, ir::ObjectOf(module[id]), expr);
    });
  }

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const launch::Launches& launches_;
  const WrittenSettings& written_;
  Values values_;
  std::unordered_set<NameId> choosing_;
};

// "DEEPSPEED" of a line may be "DEEPSPEED ZERO-3" as well.
bool MayMean(std::string_view launched_as, std::string_view said) {
  return launched_as == said || (launched_as.starts_with(said) && launched_as.substr(said.size()).starts_with(' '));
}

// What one file shows, its program has: the files that use it and those that they use.
std::vector<bool> InPrograms(const binding::Neighbourhood& neighbourhood, const std::vector<bool>& shows) {
  std::vector<bool> users(shows.size());
  for (uint32_t m = 0; m < shows.size(); ++m) {
    if (!shows[m]) continue;
    for (const ir::ModuleId user : neighbourhood.UsersOf(ir::ModuleId{m})) users[user.index] = true;
  }
  std::vector<bool> in(shows.size());
  for (uint32_t m = 0; m < users.size(); ++m) {
    if (!users[m]) continue;
    for (const ir::ModuleId used : neighbourhood.UsedBy(ir::ModuleId{m})) in[used.index] = true;
  }
  return in;
}

// Files all of whose starts, directly or through a file that uses them, say a strategy, and never this one.
std::vector<bool> StartedOtherwise(const binding::Program& program, const binding::Neighbourhood& neighbourhood, const Strategy& strategy,
                                   std::span<const LaunchLine> lines) {
  std::vector<bool> started(program.modules.size());
  std::vector<bool> perhaps(program.modules.size());
  for (const LaunchLine& line : lines) {
    const bool is_other = !line.strategy.empty() && std::ranges::none_of(strategy.launched_as, [&](NameId name) {
      return MayMean(program.text(name), line.strategy);
    });
    for (uint32_t m = 0; m < started.size(); ++m) {
      if (line.path != program.infos[ir::ModuleId{m}].path) continue;
      for (const ir::ModuleId used : neighbourhood.UsedBy(ir::ModuleId{m})) {
        started[used.index] = true;
        if (!is_other) perhaps[used.index] = true;
      }
    }
  }
  for (size_t m = 0; m < started.size(); ++m) started[m] = started[m] && !perhaps[m];
  return started;
}

bool AsksFor(const binding::Program& program, const Strategy& strategy, const LaunchLine& line) {
  const auto names_it = [&](NameId name) {
    return program.text(name) == line.strategy || std::ranges::count(line.options, program.text(name), &GivenOption::name) > 0;
  };
  return std::ranges::any_of(strategy.launched_as, names_it) || std::ranges::any_of(strategy.options, names_it);
}

// Files that a line starts so, and what they use.
std::vector<bool> Launched(const binding::Program& program, const binding::Neighbourhood& neighbourhood, const Strategy& strategy,
                           std::span<const LaunchLine> lines) {
  std::vector<bool> launched(program.modules.size());
  for (const LaunchLine& line : lines) {
    if (line.path.empty() || !AsksFor(program, strategy, line)) continue;
    for (uint32_t m = 0; m < launched.size(); ++m) {
      if (line.path != program.infos[ir::ModuleId{m}].path) continue;
      for (const ir::ModuleId used : neighbourhood.UsedBy(ir::ModuleId{m})) launched[used.index] = true;
    }
  }
  return launched;
}

// The scripts in which the name of a configuration stands; whether there are any, and no file that others use names it as well.
bool AddThatName(const binding::Program& program, const binding::Neighbourhood& neighbourhood, std::string_view configuration,
                 std::span<const Shown> shown, std::vector<bool>& named) {
  const std::string_view name = configuration.substr(configuration.rfind('/') + 1);
  const auto is_name = [&](NameId text) {
    const std::string_view path = program.text(text);
    return path == name || (path.ends_with(name) && path[path.size() - name.size() - 1] == '/');
  };
  std::vector<uint32_t> scripts;
  for (uint32_t m = 0; !name.empty() && m < shown.size(); ++m) {
    if (!std::ranges::any_of(shown[m].texts, is_name)) continue;
    if (!neighbourhood.ImportersOf(ir::ModuleId{m}).empty()) return false;
    scripts.push_back(m);
  }
  for (const uint32_t script : scripts) named[script] = true;
  return !scripts.empty();
}

// A configuration may be for any program; one that lines name, for those that none of them starts; and one that scripts name, for
// these (`by_name`).
enum class Configured : uint8_t { No, OfLines, ForAll };

Configured ConfiguredFor(const binding::Program& program, const binding::Neighbourhood& neighbourhood, const Strategy& strategy,
                         std::span<const LaunchLine> lines, std::span<const Shown> shown, std::vector<bool>& by_name) {
  Configured configured = Configured::No;
  for (const LaunchLine& line : lines) {
    if (!line.path.empty() || !AsksFor(program, strategy, line)) continue;
    if (!line.is_of_lines && AddThatName(program, neighbourhood, line.configuration, shown, by_name)) continue;
    configured = std::max(configured, line.is_of_lines ? Configured::OfLines : Configured::ForAll);
  }
  return configured;
}

// Files that belong to programs which lines start, and to no others.
std::vector<bool> StartedByLinesOnly(const binding::Program& program, const binding::Neighbourhood& neighbourhood,
                                     std::span<const LaunchLine> lines) {
  std::vector<bool> used_by_others(program.modules.size());
  for (uint32_t m = 0; m < used_by_others.size(); ++m) {
    const std::string& path = program.infos[ir::ModuleId{m}].path;
    const bool is_named = std::ranges::any_of(lines, [&](const LaunchLine& line) { return line.path == path; });
    const bool is_program = neighbourhood.ImportersOf(ir::ModuleId{m}).empty() && !IsTestFile(program, ir::ModuleId{m});
    if (is_named || !is_program) continue;
    for (const ir::ModuleId used : neighbourhood.UsedBy(ir::ModuleId{m})) used_by_others[used.index] = true;
  }
  used_by_others.flip();
  return used_by_others;
}

// Scripts of which lines start one process, with a rank's environment or without: a configuration that none of them
// names, and what a library that they use is able to do, say nothing of them. A launcher may read a configuration that
// is not here.
std::vector<bool> StartedScripts(const binding::Program& program, std::span<const LaunchLine> lines) {
  std::vector<bool> started(program.modules.size());
  for (uint32_t m = 0; m < started.size(); ++m) {
    bool is_named = false;
    bool by_launcher = false;
    for (const LaunchLine& line : lines) {
      if (line.path != program.infos[ir::ModuleId{m}].path) continue;
      is_named = true;
      by_launcher = by_launcher || line.starts_ranks;
    }
    started[m] = is_named && !by_launcher;
  }
  return started;
}

}  // namespace

const Strategies& StrategiesOnDemand::Get() const {
  const std::scoped_lock lock(mutex_);
  if (!strategies_) strategies_.emplace(program_, knowledge_, facts_, index_, lines_, launches_, written_);
  return *strategies_;
}

Strategies::Strategies(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                       const ProgramIndex& index, std::span<const LaunchLine> lines, const launch::Launches& launches,
                       const WrittenSettings& written)
    : program_(program) {
  const Reader reader(program, knowledge, facts, index, launches, written);
  const binding::Neighbourhood neighbourhood(program);
  std::vector<Shown> shown;
  for (uint32_t m = 0; m < program.modules.size(); ++m) shown.push_back(reader.Read(ir::ModuleId{m}));
  reader.AddBuilt(shown);
  const std::vector<bool> started = StartedScripts(program, lines);
  const std::vector<bool> by_lines_only = StartedByLinesOnly(program, neighbourhood, lines);
  for (const Strategy& strategy : knowledge.strategies()) {
    std::vector<bool> shows(shown.size());
    const InCode in_code = reader.ConfiguredInCode(strategy);
    for (uint32_t m = 0; m < shown.size(); ++m) {
      shows[m] = !IsTestFile(program, ir::ModuleId{m}) && (reader.Uses(shown[m], strategy) || in_code.asks[m]);
    }
    Known known{.name = program.text(strategy.name), .seen = InPrograms(neighbourhood, shows),
                .ruled_out = StartedOtherwise(program, neighbourhood, strategy, lines)};
    const std::vector<bool> launched = Launched(program, neighbourhood, strategy, lines);
    std::vector<bool> by_name(shown.size());
    const Configured configured = ConfiguredFor(program, neighbourhood, strategy, lines, shown, by_name);
    const std::vector<bool> named = InPrograms(neighbourhood, by_name);
    const std::vector<bool> several = reader.WithSeveralModules(strategy);
    for (uint32_t m = 0; m < shown.size(); ++m) {
      const bool is_configured = named[m] || configured == Configured::ForAll || (configured == Configured::OfLines && !by_lines_only[m]);
      known.seen[m] = shows[m] || launched[m] || ((is_configured || known.seen[m]) && !started[m]);
      if (several[m] || in_code.asks_for_others[m] || IsOneOf(strategy.never_with, shown[m].always)) known.ruled_out[m] = true;
    }
    known_.push_back(std::move(known));
  }
}

// The longest name: "DeepSpeed ZeRO-3" before "DeepSpeed".
const Strategies::Known* Strategies::Find(base::NameId named) const {
  const Known* longest = nullptr;
  for (const Known& known : known_) {
    if (program_.text(named).starts_with(known.name) && (longest == nullptr || known.name.size() > longest->name.size())) longest = &known;
  }
  return longest;
}

StrategyUse Strategies::Of(ir::ModuleId module, std::span<const base::NameId> named) const {
  bool all_ruled_out = true;
  for (const base::NameId each : named) {
    const Known* known = Find(each);
    const bool is_ruled_out = known != nullptr && known->ruled_out[module.index];
    if (known == nullptr || (known->seen[module.index] && !is_ruled_out)) return StrategyUse::Seen;
    all_ruled_out = all_ruled_out && is_ruled_out;
  }
  return all_ruled_out ? StrategyUse::RuledOut : StrategyUse::Unseen;
}

}  // namespace allranks::objects
