// Reads a knowledge file. The keys are described for people in docs/adding-knowledge.md.
//
// Reading is strict: a key, type, axis, parameter or formula that is not understood is an error with its
// place and its cure, because an entry that silently says less than its author meant is a bug that nobody
// finds.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/knowledge/formula.h"
#include "analyzer/knowledge/knowledge.h"
#include "analyzer/knowledge/known_names.h"
#include "analyzer/knowledge/replaced.h"
#include "analyzer/knowledge/spelling.h"
#include "analyzer/knowledge/table_reader.h"
#include "analyzer/knowledge/users_file.h"
#include "analyzer/toml/parse.h"

namespace allranks::knowledge {
namespace {

struct NamedOpClass {
  std::string_view name;
  OpClass op_class;
};
constexpr NamedOpClass kOpClasses[] = {
    {"collective", OpClass::Collective},    {"send", OpClass::Send}, {"recv", OpClass::Recv},
    {"group_create", OpClass::GroupCreate}, {"init", OpClass::Init}, {"destroy", OpClass::Destroy},
    {"implicit", OpClass::Implicit}, {"batch", OpClass::Batch}, {"exchange", OpClass::Exchange},
    {"wait", OpClass::Wait}, {"probe", OpClass::Probe}, {"start", OpClass::Start}, {"cancel", OpClass::Cancel},
};

struct NamedStrikes {
  std::string_view name;
  Strikes strikes;
};
constexpr NamedStrikes kStrikes[] = {{"one_rank", Strikes::OneRank}, {"all_ranks", Strikes::AllRanks}};

struct NamedRunBy {
  std::string_view name;
  RunBy run_by;
};
constexpr NamedRunBy kRunBy[] = {
    {"all_ranks", RunBy::AllRanks}, {"workers", RunBy::Workers}, {"one_process", RunBy::OneProcess}};

struct NamedRole {
  std::string_view name;
  Role role;
};
constexpr NamedRole kRoles[] = {
#define ROLE(id, text) {text, Role::id},
#include "analyzer/knowledge/roles.def"
};

// Some errors come without a place (third_party/toml.cpp says why): the line is the first one with which the
// text up to there meets such an error.
uint32_t LineThatIsRefused(std::string_view text) {
  std::vector<size_t> ends;
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    ends.push_back(at + 1);
  }
  const auto is_fine = [&](size_t end) {
    try {
      const toml::table ignored = toml_files::Parse(text.substr(0, end));
    } catch (const toml::parse_error& problem) {
      return problem.source().begin.line != 0;
    }
    return true;
  };
  return static_cast<uint32_t>(std::ranges::partition_point(ends, is_fine) - ends.begin()) + 1;
}

// Numbers with dots between them: 2, 2.6, 0.34.2.
bool IsRelease(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto may_stand = [&](char c) { return c == '.' || is_digit(c); };
  return std::ranges::all_of(text, may_stand) && is_digit(text.front()) && is_digit(text.back()) && text.find("..") == std::string_view::npos;
}

template <class Named>
std::vector<std::string_view> NamesIn(std::span<const Named> list) {
  std::vector<std::string_view> names;
  for (const Named& named : list) names.push_back(named.name);
  return names;
}

// "unknown axis `x`; did you mean `y`?", or all there are.
template <class Named>
std::string UnknownWord(std::string_view what, std::string_view word, std::span<const Named> list) {
  const std::vector<std::string_view> names = NamesIn(list);
  const std::string near = DidYouMean(word, names);
  if (!near.empty()) return fmt::format("unknown {} `{}`{}", what, word, near);
  return fmt::format("unknown {} `{}`; there are {}", what, word, fmt::join(names, ", "));
}

template <class Named>
const Named* FindNamed(std::span<const Named> list, std::string_view name) {
  const auto found = std::ranges::find(list, name, &Named::name);
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

// Reads one file into lists of its own; only a file without an error is added to the knowledge.
class Loader {
 public:
  enum class Origin : uint8_t { BuiltIn, User };

  Loader(Knowledge& knowledge, std::string_view file, Origin origin)
      : knowledge_(knowledge),
        names_(knowledge.names()),
        errors_(file),
        file_(static_cast<uint32_t>(knowledge.files_.size())),
        is_users_(origin == Origin::User),
        formulas_before_(knowledge.formulas_.size()),
        marks_before_(knowledge.marks_.size()) {
    if (!is_users_) return;
    for (const auto& [name, entry] : knowledge.entry_names_) known_names_.Add(names_.View(name));
    for (const auto& [name, class_id] : knowledge.class_names_) known_names_.Add(names_.View(name));
  }

  static const auto& EntryNames(const Knowledge& knowledge) { return knowledge.entry_names_; }
  static const auto& ClassNames(const Knowledge& knowledge) { return knowledge.class_names_; }
  static std::string_view View(const Knowledge& knowledge, NameId name) { return knowledge.names_->View(name); }

  base::Result<bool> Load(std::string_view file_name, std::string_view text) {
    try {
      const toml::table root = toml_files::Parse(text, file_name);
      ReadFile(root);
    } catch (const toml::parse_error& problem) {
      Place place = PlaceOf(problem.source());
      if (place.line == 0) place = {LineThatIsRefused(text), 1};
      errors_.Fail(place, fmt::format("{}; fix the TOML here", problem.description()));
    }
    if (!errors_.ok()) {
      knowledge_.formulas_.resize(formulas_before_);
      knowledge_.marks_.resize(marks_before_);
      return base::Fail(errors_.text());
    }
    Commit(file_name);
    return true;
  }

 private:
  enum class EntryKind : uint8_t { Function, Method, Attribute };

  void ReadFile(const toml::table& root) {
    TableReader reader(root, "the head of the file", errors_);
    library_ = reader.Text("library");
    docs_ = reader.Text("docs");
    if (library_.empty())
      reader.Fail("library", "`library` is missing; write library = \"...\" first in the file");
    if (docs_.empty())
      reader.Fail("docs", "`docs` is missing; give the address of the library's documentation");
    for (const std::string_view literal : reader.Texts("literals")) literals_.emplace_back(literal);
    const bool has_literals = reader.Has("literals");
    ReadLanguages(reader);
    bypasses_torch_ = reader.Flag("bypasses_torch");
    for (const std::string_view release : reader.Texts("seen_in")) {
      if (release.empty() || !IsRelease(release)) reader.Fail("seen_in", fmt::format("`{}` is not a release; write seen_in = [\"2.6\"]", release));
    }
    ReadSections(reader, "module", [this](TableReader& table) { ReadModule(table); });
    ReadSections(reader, "class", [this](TableReader& table) { ReadClass(table); });
    ReadSections(reader, "function", [this](TableReader& table) { ReadEntry(table, EntryKind::Function); });
    ReadSections(reader, "method", [this](TableReader& table) { ReadEntry(table, EntryKind::Method); });
    ReadSections(reader, "attribute", [this](TableReader& table) { ReadEntry(table, EntryKind::Attribute); });
    ReadSections(reader, "hint", [this](TableReader& table) { ReadHint(table); });
    ReadSections(reader, "environment", [this](TableReader& table) { ReadEnvironment(table); });
    ReadSections(reader, "exception", [this](TableReader& table) { ReadException(table); });
    ReadSections(reader, "fallible", [this](TableReader& table) { ReadFallible(table); });
    ReadSections(reader, "buffers_listed", [this](TableReader& table) { ReadBuffersListed(table); });
    ReadSections(reader, "launch", [this](TableReader& table) { ReadLaunch(table); });
    ReadSections(reader, "strategy", [this](TableReader& table) { ReadStrategy(table); });
    ReadSections(reader, "settings", [this](TableReader& table) { ReadSettingsCalls(table); });
    reader.FailUnknownKeys();
    if (!has_literals) DeriveLiterals();
  }

  template <class ReadOne>
  void ReadSections(TableReader& reader, std::string_view key, ReadOne read_one) {
    const toml::array* sections = reader.ArrayOfTables(key);
    if (sections == nullptr) return;
    const std::string section = fmt::format("[[{}]]", key);
    for (const toml::node& node : *sections) {
      TableReader table(*node.as_table(), section, errors_);
      read_one(table);
      table.FailUnknownKeys();
      if (!errors_.ok()) return;
    }
  }

  // In which languages its functions are called; without the key, in Python.
  void ReadLanguages(TableReader& reader) {
    constexpr std::string_view kLanguages[] = {"python", "c++"};
    const std::vector<std::string_view> languages = reader.Texts("languages");
    for (const std::string_view language : languages) {
      if (language == "python") is_python_ = true;
      else if (language == "c++") is_cpp_ = true;
      else reader.Fail("languages", fmt::format("unknown language `{}`; there are {}", language, fmt::join(kLanguages, ", ")));
    }
    if (languages.empty()) is_python_ = true;
  }

  // Every file that uses an in-house library names it.
  void DeriveLiterals() {
    const auto add = [this](NameId name) {
      const std::string_view text = names_.View(name);
      if (!text.starts_with('@') && !text.starts_with('*'))
        literals_.emplace_back(text.substr(0, text.find('.')));
    };
    for (const auto& [name, index] : entry_names_) add(name);
    for (const auto& [name, index] : class_names_) add(name);
    for (const Knowledge::ModuleAlias& alias : module_aliases_) add(alias.name);
    for (const Hint& hint : hints_) add(hint.name);
    for (const auto& [name, formula] : environment_) add(name);
  }

  // ---- Sections
  // ---------------------------------------------------------------------------------------------------

  void ReadModule(TableReader& table) {
    const std::vector<NameId> names = ReadNames(table);
    const NameId same_as = ReadName(table, "same_as");
    if (!same_as)
      table.Fail("same_as", "`same_as` is missing; name the module that this one is another name of");
    if (const std::string meant = known_names_.Meant(names_.View(same_as)); same_as && !meant.empty())
      table.Fail("same_as", fmt::format("unknown module `{}`; did you mean `{}`?", names_.View(same_as), meant));
    for (const NameId name : names) module_aliases_.push_back({.name = name, .same_as = same_as});
  }

  void ReadClass(TableReader& table) {
    const std::vector<NameId> names = ReadNames(table);
    const NameId name = names.empty() ? NameId::None() : names[0];
    CheckReleases(table);
    Class known{.name = name,
                .library = names_.Intern(library_),
                .docs = ReadDocs(table, name),
                .bases = ReadNameList(table, "bases"),
                .is_group = table.Flag("group"),
                .has_axis = table.Has("axis"),
                .axis = ReadGroupAxis(table),
                .is_tensor = table.Flag("tensor"),
                .is_plain = table.Flag("plain"),
                .is_interface = table.Flag("interface"),
                .is_module = table.Flag("module"),
                .has_parameters = table.Flag("parameters"),
                .has_buffers = table.Flag("buffers"),
                .applied_by = ReadName(table, "applied_by"),
                .strategy = ReadName(table, "strategy")};
    if (known.has_axis && !known.is_group) table.Fail("axis", "says along which axis a group lies; add group = true");
    for (const NameId base : known.bases)
      Refer(Knowledge::ReferenceKind::Type, base, table.PlaceOfKey("bases"));
    CheckSpelling(table, names, nullptr);
    for (const NameId each : names) AddName(class_names_, each, classes_.size(), table);
    classes_.push_back(std::move(known));
  }

  void ReadEntry(TableReader& table, EntryKind kind) {
    const std::vector<NameId> names = ReadNames(table);
    const NameId name = names.empty() ? NameId::None() : names[0];
    CheckReleases(table);
    Entry entry{.name = name,
                .library = names_.Intern(library_),
                .docs = ReadDocs(table, name),
                .params = ReadNameList(table, "params"),
                .bypasses_torch = bypasses_torch_,
                .is_attribute = kind == EntryKind::Attribute};
    ReadOperation(table, entry);
    ReadYield(table, entry);
    ReadYields(table, "param_types", entry, entry.param_types);
    ReadYields(table, "stores", entry, entry.stores);
    ReadUniform(table, entry);
    entry.guard = ReadFormula(table, "guard", entry.params);
    entry.size_param = ReadParam(table, "size", entry.params);
    entry.exits = table.Flag("exits");
    entry.raises = table.Flag("raises");
    entry.aborts = table.Flag("aborts");
    ReadRoles(table, entry);
    CheckSpelling(table, names, entry.has_operation ? &entry.operation : nullptr);
    for (const NameId each : names) {
      CheckEntryName(table, each, kind);
      AddName(entry_names_, each, entries_.size(), table);
    }
    entries_.push_back(std::move(entry));
  }

  void ReadHint(TableReader& table) {
    const std::vector<NameId> names = ReadNames(table);
    Hint hint{.name = {},
              .value = ReadFormula(table, "value", {}),
              .type = ReadName(table, "type"),
              .axes = ReadAxes(table, "varies")};
    table.Text("docs");
    const int said = static_cast<int>(hint.value.has_value()) + static_cast<int>(hint.type.has_value()) +
                     static_cast<int>(!hint.axes.empty());
    if (said != 1) table.Fail("", "a hint says one thing; give `value`, `type` or `varies`");
    if (hint.type) Refer(Knowledge::ReferenceKind::Type, hint.type, table.PlaceOfKey("type"));
    for (const NameId name : names) {
      hint.name = name;
      hints_.push_back(hint);
    }
  }

  void ReadEnvironment(TableReader& table) {
    const std::vector<NameId> names = ReadNames(table);
    const FormulaId value = ReadFormula(table, "value", {});
    const NameId local = ReadName(table, "local");
    table.Text("docs");
    if (!value) table.Fail("value", "`value` is missing; write a formula such as value = \"local_rank\"");
    for (const NameId name : names) {
      environment_.emplace_back(name, value);
      if (local) local_ranks_.emplace_back(name, local);
    }
  }

  void ReadException(TableReader& table) {
    const std::vector<NameId> names = ReadNames(table);
    const std::string_view strikes = table.Text("strikes");
    table.Text("docs");
    const std::span<const NamedStrikes> all = kStrikes;
    const NamedStrikes* found = FindNamed(all, strikes);
    if (found == nullptr) {
      table.Fail("strikes", strikes.empty() ? "`strikes` is missing; write strikes = \"one_rank\" or \"all_ranks\""
                                            : UnknownWord("word", strikes, all));
      return;
    }
    for (const NameId name : names) exceptions_.emplace_back(name, found->strikes);
  }

  void ReadBuffersListed(TableReader& table) {
    const std::vector<NameId> names = ReadNames(table);
    table.Text("docs");
    buffers_listed_.insert(buffers_listed_.end(), names.begin(), names.end());
  }

  void ReadFallible(TableReader& table) {
    const std::vector<NameId> names = ReadNames(table);
    table.Text("docs");
    fallible_.insert(fallible_.end(), names.begin(), names.end());
  }

  // A call, a keyword argument of any call, or an option of the command line that shows who runs the program.
  void ReadLaunch(TableReader& table) {
    const std::vector<NameId> calls = ReadNameList(table, "names");
    const std::vector<NameId> options = ReadNameList(table, "options");
    const std::string_view run_by = table.Text("run_by");
    table.Text("docs");
    const std::span<const NamedRunBy> all = kRunBy;
    const NamedRunBy* found = FindNamed(all, run_by);
    if (found == nullptr) {
      table.Fail("run_by", run_by.empty() ? "`run_by` is missing; write run_by = \"all_ranks\", \"workers\" or \"one_process\""
                                          : UnknownWord("word", run_by, all));
      return;
    }
    const LaunchSign sign{.run_by = found->run_by, .keyword = ReadName(table, "keyword"), .values = ReadNameList(table, "values"), .starts_ranks = table.Flag("starts_ranks")};
    if (calls.empty() && options.empty() && !sign.keyword) {
      table.Fail("", "nothing is said to be a sign; give `names`, `keyword` or `options`");
    }
    if (!sign.values.empty() && !sign.keyword) table.Fail("values", "`values` are those of an argument; name it with keyword = \"...\"");
    for (const NameId call : calls) launch_calls_.emplace_back(call, sign);
    for (const NameId option : options) launch_options_.emplace_back(option, sign.run_by);
    if (calls.empty() && sign.keyword) launch_keywords_.emplace_back(sign.keyword, sign);
  }

  void ReadStrategy(TableReader& table) {
    table.Text("docs");
    const Strategy strategy{.name = ReadName(table, "name"),
                            .names = ReadNameList(table, "names"),
                            .members = ReadNameList(table, "members"),
                            .options = ReadNameList(table, "options"),
                            .launched_as = ReadNameList(table, "launched_as"),
                            .one_module_in = ReadNameList(table, "one_module_in"),
                            .never_with = ReadNameList(table, "never_with"),
                            .argument = ReadName(table, "argument"),
                            .argument_values = ReadNameList(table, "argument_values"),
                            .configured_in = ReadNameList(table, "configured_in"),
                            .configured_by = ReadNameList(table, "configured_by"),
                            .configured_at = ReadNameList(table, "configured_at"),
                            .configured_as = ReadNameList(table, "configured_as")};
    if (!strategy.name) table.Fail("name", "`name` is missing; write name = \"...\" as operations call it in `strategies`");
    if (!strategy.argument_values.empty() && !strategy.argument) table.Fail("argument_values", "`argument_values` are those of an argument; name it with argument = \"...\"");
    strategies_.push_back(strategy);
  }

  void ReadSettingsCalls(TableReader& table) {
    table.Text("docs");
    const auto add = [&](std::string_view key, std::vector<NameId>& names) {
      const std::vector<NameId> more = ReadNameList(table, key);
      names.insert(names.end(), more.begin(), more.end());
    };
    add("merges", settings_calls_.merges);
    add("changes", settings_calls_.changes);
    add("same_file", settings_calls_.same_file);
  }

  // ---- Parts of an entry
  // ------------------------------------------------------------------------------------------

  void ReadOperation(TableReader& table, Entry& entry) {
    Operation& operation = entry.operation;
    const auto param = [&](std::string_view key) { return ReadParam(table, key, entry.params); };
    operation = {.kind = ReadName(table, "operation"),
                 .op_class = ReadOpClass(table),
                 .group_param = param("group"),
                 .has_fixed_axis = table.Has("axis"),
                 .axis = ReadGroupAxis(table),
                 .root_param = param("root"),
                 .root_is_group_rank = table.Flag("root_in_group"),
                 .group_root_param = param("group_root"),
                 .tensor_param = param("tensor"),
                 .count_param = param("count"),
                 .dtype_param = param("dtype"),
                 .other_dtype_param = param("other_dtype"),
                 .peer_param = param("peer"),
                 .tag_param = param("tag"),
                 .from_param = param("from"),
                 .from_tag_param = param("from_tag"),
                 .messages_param = param("messages"),
                 .reduce_op_param = param("reduce_op"),
                 .async_param = param("async"),
                 .always_async = table.Flag("always_async"),
                 .opens_batch = table.Flag("opens_batch"),
                 .may_buffer = table.Flag("may_buffer"),
                 .handle_param = param("handle"),
                 .fixed_shape = table.Flag("fixed_shape"),
                 .token_param = param("token"),
                 .own_rank_param = param("own_rank"),
                 .ranks_param = param("ranks"),
                 .only_if_param = ReadOnlyIf(table, entry),
                 .local_if_param = param("local_if"),
                 .strategies = ReadAlternatives(table, "strategies"),
                 .is_kept = table.Flag("kept"),
                 .as_context = table.Flag("context")};
    entry.has_operation = operation.kind.has_value();
    if (entry.has_operation) return;
    constexpr std::string_view kOfOperation[] = {"class",         "group",        "axis",        "root",
                                                 "root_in_group", "group_root", "tensor",       "count",       "dtype",       "other_dtype",
                                                  "peer",          "tag",          "from",        "from_tag",    "messages",    "reduce_op",
                                                 "async",         "always_async", "handle",      "opens_batch", "may_buffer",  "token",       "own_rank",    "ranks",       "fixed_shape", "only_if",
                                                 "local_if",      "strategies",   "kept",        "context"};
    for (const std::string_view key : kOfOperation) {
      if (!table.Has(key)) continue;
      table.Fail(key, fmt::format("`{}` describes an operation; say which with operation = \"...\"", key));
    }
  }

  // What is no name or kind of a file before is most likely misspelt, unless it is far from all, or the entry says that it is meant so.
  void CheckSpelling(TableReader& table, std::span<const NameId> names, const Operation* operation) {
    if (table.Flag("as_written") || !is_users_) return;
    for (const NameId name : names) {
      const std::string meant = known_names_.Meant(names_.View(name));
      if (meant.empty()) continue;
      table.Fail(table.Has("name") ? "name" : "names",
                 fmt::format("unknown name `{}`; did you mean `{}`? If it is meant as written, add as_written = true", names_.View(name), meant));
    }
    if (operation != nullptr) CheckKind(table, *operation);
  }

  // What a library does implicitly is its own; of other operations nearly all kinds are known.
  void CheckKind(TableReader& table, const Operation& operation) {
    std::vector<std::string_view> known;
    for (const Entry& entry : knowledge_.entries()) {
      if (!entry.has_operation) continue;
      if (entry.operation.kind == operation.kind) return;
      known.push_back(names_.View(entry.operation.kind));
    }
    const std::string_view kind = names_.View(operation.kind);
    const auto is_meant = [&](std::string_view name) { return IsSlip(kind, name); };
    if (operation.op_class == OpClass::Implicit && !std::ranges::any_of(known, is_meant)) return;
    const std::string near = DidYouMean(kind, known);
    table.Fail("operation", fmt::format("unknown operation `{}`{} it is one of its own, add as_written = true", kind, near.empty() ? "; if" : near + " If"));
  }

  // A parameter of the call; or, as `made_with:broadcast_buffers`, options of the constructor of its object, by comma.
  NameId ReadOnlyIf(TableReader& table, const Entry& entry) {
    constexpr std::string_view kMadeWith = "made_with:";
    const std::string_view text = table.Text("only_if");
    if (!text.starts_with(kMadeWith)) return ReadParam(table, "only_if", entry.params);
    return names_.Intern(text.substr(kMadeWith.size()));
  }

  OpClass ReadOpClass(TableReader& table) {
    const std::string_view name = table.Text("class");
    if (name.empty()) return OpClass::Collective;
    const std::span<const NamedOpClass> all = kOpClasses;
    if (const NamedOpClass* found = FindNamed(all, name)) return found->op_class;
    table.Fail("class", UnknownWord("class of operations", name, all));
    return OpClass::Collective;
  }

  Axis ReadGroupAxis(TableReader& table) {
    const std::string_view name = table.Text("axis");
    return name.empty() ? Axis() : GroupAxis(name, table.PlaceOfKey("axis"));
  }

  Axis GroupAxis(std::string_view name, Place place) {
    if (const NamedAxis* found = FindNamed(GroupAxes(), name)) return found->axis;
    errors_.Fail(place, UnknownWord("axis", name, GroupAxes()));
    return {};
  }

  Axes VariationAxesOf(std::string_view name, Place place) {
    if (const NamedAxis* found = FindNamed(VariationAxes(), name)) return Axes::Of(found->axis);
    errors_.Fail(place, UnknownWord("axis", name, VariationAxes()));
    return {};
  }

  Axes ReadAxes(TableReader& table, std::string_view key) {
    Axes axes;
    for (const std::string_view name : table.Texts(key))
      axes = axes | VariationAxesOf(name, table.PlaceOfKey(key));
    return axes;
  }

  // What the call yields: at most one of the keys says it.
  void ReadYield(TableReader& table, Entry& entry) {
    Yield& yield = entry.yield;
    const FormulaId formula = ReadFormula(table, "value", entry.params);
    const bool is_uniform = table.Flag("uniform");
    const Axes varies = ReadAxes(table, "varies");
    const std::string_view returns = table.Text("returns");
    const std::vector<std::string_view> tuple = table.Texts("returns_tuple");
    const int said = static_cast<int>(formula.has_value()) + static_cast<int>(is_uniform) +
                     static_cast<int>(!varies.empty()) + static_cast<int>(!returns.empty()) +
                     static_cast<int>(!tuple.empty());
    if (said > 1) {
      table.Fail(
          "",
          "the result is said twice; keep one of `value`, `uniform`, `varies`, `returns`, `returns_tuple`");
    }
    if (!returns.empty()) yield = ParseYield(returns, entry.params, table.PlaceOfKey("returns"));
    if (const std::string_view name = table.Text("communicator"); !name.empty()) {
      yield.type = Type(name, table.PlaceOfKey("communicator"));
      const bool is_group = yield.kind == YieldKind::NewGroup || yield.kind == YieldKind::SplitGroup || yield.kind == YieldKind::SelfGroup ||
                            yield.kind == YieldKind::SubGroup;
      if (!is_group) table.Fail("communicator", "says of which class a new group is; say which group with returns = \"new_group:...\" or the like");
    }
    if (formula) yield = {.kind = YieldKind::Formula, .formula = formula};
    if (is_uniform) yield = {.kind = YieldKind::Uniform};
    if (!varies.empty()) yield = {.kind = YieldKind::Varies, .axes = varies};
    for (const std::string_view name : table.Texts("varies_with")) entry.varies_with.push_back(names_.Intern(name));
    if (!entry.varies_with.empty() && varies.empty()) {
      table.Fail("varies_with", "says when a result varies; say along which axis with varies = [\"data\"]");
    }
    const Axes of_input = ReadAxes(table, "input_varies");
    if (!of_input.empty() && said > 0) table.Fail("input_varies", "speaks of a result that nothing else is said of");
    if (!of_input.empty()) yield.axes = of_input;
    yield.shape = ReadParam(table, "shape", entry.params);
    yield.element_type = ReadParam(table, "element_type", entry.params);
    if (yield.shape && !is_uniform) table.Fail("shape", "speaks of a new tensor that is filled alike on all ranks; add uniform = true");
    entry.keeps_size = table.Flag("keeps_size");
    entry.joins_sizes = table.Flag("joins_sizes");
    entry.changes_type = table.Flag("changes_type");
    entry.of_one = table.Flag("of_one");
    if (entry.of_one && varies.empty()) table.Fail("of_one", "says when a result varies; say along which axis with varies = [\"chance\"]");
    const MarkId mark = ReadMark(table);
    yield.mark = mark;
    for (const std::string_view part : tuple) {
      entry.tuple.push_back(ParseYield(part, entry.params, table.PlaceOfKey("returns_tuple")));
      entry.tuple.back().mark = mark;
    }
  }

  // "arg:model", "arg:self" (the receiver), "copy_of:x", "args:accelerate.Prepared", "group:tensor", "new_group:ranks",
  // "split_group:color" (a parameter), "split_group:node_rank" (a formula),
  // "prepared:MPI_Isend" (a call with the arguments of these names, to be started),
  // "ranks_of:group,n,ranks" (the first n ranks of that list), "rest_of:group,n,ranks" (all others), "rest_of:group" (not known which),
  // "varies:data", "ragged:data" (its size as well), "value:rank == 0", "uniform", "-" (nothing is said) or the name of a class.
  Yield ParseYield(std::string_view text, std::span<const NameId> params, Place place) {
    const size_t colon = text.find(':');
    const std::string_view word = text.substr(0, colon);
    const std::string_view rest =
        colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    if (text == "-") return {};
    if (text == "uniform") return {.kind = YieldKind::Uniform};
    if (text == "none") return {.kind = YieldKind::None};
    if (text == "self_group") return {.kind = YieldKind::SelfGroup};
    if (text == "split_group") return {.kind = YieldKind::SplitGroup};
    if (colon == std::string_view::npos) return {.kind = YieldKind::Object, .type = Type(text, place)};
    if (word == "prepared") {
      Refer(Knowledge::ReferenceKind::Call, names_.Intern(rest), place);
      return {.kind = YieldKind::Prepared, .type = names_.Intern(rest)};
    }
    if (word == "args") return {.kind = YieldKind::Arguments, .type = Type(rest, place)};
    if (word == "arg") {
      const NameId argument = rest == "self" ? names_.Intern(rest) : Param(rest, params, place);
      return {.kind = YieldKind::Argument, .argument = argument};
    }
    if (word == "copy_of") return {.kind = YieldKind::Copy, .argument = Param(rest, params, place)};
    // A parameter of the class's `__init__`, which may be described elsewhere.
    if (word == "made_with") return {.kind = YieldKind::MadeWith, .argument = names_.Intern(rest)};
    if (word == "varies") return {.kind = YieldKind::Varies, .axes = VariationAxesOf(rest, place)};
    if (word == "ragged") {
      return {.kind = YieldKind::Varies, .axes = VariationAxesOf(rest, place), .mark = MarkOf(word)};
    }
    if (word == "value") return {.kind = YieldKind::Formula, .formula = Parse(rest, params, place)};
    if (word == "group") return {.kind = YieldKind::Group, .has_axis = true, .axis = GroupAxis(rest, place)};
    if (word == "new_group") {
      return {.kind = YieldKind::NewGroup,
              .argument = rest.empty() ? NameId::None() : Param(rest, params, place)};
    }
    if (word == "split_group") {
      const bool is_param = std::ranges::find(params, names_.Intern(rest)) != params.end();
      if (is_param) return {.kind = YieldKind::SplitGroup, .argument = names_.Intern(rest)};
      return {.kind = YieldKind::SplitGroup, .formula = Parse(rest, params, place)};
    }
    if (word == "ranks_of" || word == "rest_of") return SubGroup(rest, word == "rest_of", params, place);
    constexpr std::string_view kWords[] = {"arg",       "args",        "varies",    "ragged",   "value",  "group",
                                           "new_group", "split_group", "made_with", "ranks_of", "rest_of",  "copy_of", "prepared"};
    const std::string near = DidYouMean(word, kWords);
    errors_.Fail(place, fmt::format("unknown word `{}` before the colon{}", word,
                                    near.empty() ? "; write a class without one" : near));
    return {};
  }

  // "group,n,ranks"; without a number all that are listed ("self,,ranks"); or the group alone: some of it.
  Yield SubGroup(std::string_view text, bool is_rest, std::span<const NameId> params, Place place) {
    Yield yield{.kind = YieldKind::SubGroup, .is_rest = is_rest};
    NameId* const parts[] = {&yield.of, &yield.count, &yield.argument};
    for (NameId* part : parts) {
      if (text.empty()) break;
      const size_t comma = std::min(text.find(','), text.size());
      const std::string_view name = text.substr(0, comma);
      if (name == "self") *part = names_.Intern(name);
      else if (!name.empty()) *part = Param(name, params, place);
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return yield;
  }

  // What a framework passes to an override of the method: param_types = { trainer = "lightning.Trainer" }; what a
  // function stores through a pointer: stores = { rank = "value:group_rank(comm)" }.
  void ReadYields(TableReader& table, std::string_view section, Entry& entry,
                  std::vector<std::pair<NameId, Yield>>& yields) {
    const toml::table* types = table.Table(section);
    if (types == nullptr) return;
    for (const auto& [key, value] : *types) {
      const NameId param = Param(key.str(), entry.params, PlaceOf(key.source()));
      if (const toml::value<std::string>* type = value.as_string()) {
        yields.emplace_back(param, ParseYield(type->get(), entry.params, PlaceOf(value)));
      } else {
        errors_.Fail(PlaceOf(value), "what an argument gets is a text; put it in quotes");
      }
    }
  }

  // roles = ["set_epoch", "select_device:device"]
  void ReadRoles(TableReader& table, Entry& entry) {
    const std::span<const NamedRole> all = kRoles;
    const Place place = table.PlaceOfKey("roles");
    for (const std::string_view text : table.Texts("roles")) {
      const size_t colon = text.find(':');
      const NamedRole* found = FindNamed(all, text.substr(0, colon));
      if (found == nullptr) {
        errors_.Fail(place, UnknownWord("role", text.substr(0, colon), all));
        return;
      }
      const bool has_param = colon != std::string_view::npos;
      // Of a method the object itself, as in `path.unlink()`, is no parameter.
      const bool is_self = has_param && text.substr(colon + 1) == "self";
      const NameId param = is_self ? names_.Intern("self")
                           : has_param ? Param(text.substr(colon + 1), entry.params, place)
                                       : NameId{};
      entry.roles.push_back({.role = found->role, .param = param});
    }
  }

  void ReadUniform(TableReader& table, Entry& entry) {
    for (const std::string_view name : table.Texts("makes_uniform")) {
      const bool is_param = name != "return" && name != "receiver";
      entry.makes_uniform.push_back(is_param ? Param(name, entry.params, table.PlaceOfKey("makes_uniform"))
                                             : names_.Intern(name));
    }
    entry.uniform_on_root_only = table.Flag("on_root_only");
    if (entry.makes_uniform.empty()) return;
    if (!entry.has_operation) {
      table.Fail("makes_uniform",
                 "only an operation makes values equal; add `operation`, or say uniform = true");
    }
  }

  MarkId ReadMark(TableReader& table) {
    const std::string_view text = table.Text("mark");
    return text.empty() ? MarkId{} : MarkOf(text);
  }

  MarkId MarkOf(std::string_view text) {
    const NameId name = names_.Intern(text);
    const MarkId known = knowledge_.FindMark(name);
    return known ? known : knowledge_.marks_.Add(name);
  }

  // ---- Small parts
  // ------------------------------------------------------------------------------------------------

  // `name = "a"` or `names = ["a", "another name of a"]`; the first is the one that messages use.
  std::vector<NameId> ReadNames(TableReader& table) {
    std::vector<NameId> names = ReadNameList(table, "names");
    const NameId name = ReadName(table, "name");
    if (name && !names.empty()) table.Fail("names", "both `name` and `names`; put all of them into `names`");
    if (name) names.push_back(name);
    if (names.empty()) table.Fail("name", "`name` is missing; write name = \"package.function\"");
    for (const NameId each : names) {
      const std::string_view text = names_.View(each);
      if (text.find_first_of(" \t\r\n()") == std::string_view::npos) continue;
      table.Fail(table.Has("name") ? "name" : "names",
                 fmt::format("`{}` is not a dotted name; write it without blanks and parentheses", text));
    }
    return names;
  }

  NameId ReadName(TableReader& table, std::string_view key) {
    const std::string_view text = table.Text(key);
    return text.empty() ? NameId::None() : names_.Intern(text);
  }

  // "FSDP, DeepSpeed ZeRO-3 or DDP with buffers": the names in it.
  std::vector<NameId> ReadAlternatives(TableReader& table, std::string_view key) {
    constexpr std::string_view kComma = ", ", kOr = " or ";
    std::vector<NameId> names;
    for (std::string_view rest = table.Text(key); !rest.empty();) {
      const size_t comma = rest.find(kComma), either = rest.find(kOr);
      const size_t end = std::min({comma, either, rest.size()});
      names.push_back(names_.Intern(rest.substr(0, end)));
      const size_t joint = end == rest.size() ? 0 : end == comma ? kComma.size() : kOr.size();
      rest.remove_prefix(end + joint);
    }
    return names;
  }

  std::vector<NameId> ReadNameList(TableReader& table, std::string_view key) {
    std::vector<NameId> names;
    for (const std::string_view text : table.Texts(key)) {
      names.push_back(names_.Intern(text));
      if (std::ranges::count(names, names.back()) > 1)
        table.Fail(key, fmt::format("`{}` stands twice; remove one", text));
    }
    return names;
  }

  // The section's own address or that of the file; `{name}` in it stands for the name of what is described.
  std::string ReadDocs(TableReader& table, NameId name) {
    const std::string_view own = table.Text("docs");
    std::string docs(own.empty() ? docs_ : own);
    constexpr std::string_view kName = "{name}";
    const size_t at = docs.find(kName);
    return at == std::string::npos ? docs : docs.replace(at, kName.size(), names_.View(name));
  }

  // The releases of the library of which it is said are for people; the analysis takes it for all.
  void CheckReleases(TableReader& table) {
    for (const std::string_view key : {std::string_view("since"), std::string_view("until")}) {
      const std::string_view text = table.Text(key);
      if (text.empty() || IsRelease(text)) continue;
      table.Fail(key, fmt::format("`{}` is not a release; write {} = \"2.6\"", text, key));
    }
  }

  FormulaId ReadFormula(TableReader& table, std::string_view key, std::span<const NameId> params) {
    const std::string_view text = table.Text(key);
    return text.empty() ? FormulaId::None() : Parse(text, params, table.PlaceOfKey(key));
  }

  FormulaId Parse(std::string_view text, std::span<const NameId> params, Place place) {
    const base::Result<FormulaId> formula = ParseFormula(text, params, names_, knowledge_.formulas_);
    if (formula) return *formula;
    errors_.Fail(place, formula.error().message);
    return {};
  }

  NameId ReadParam(TableReader& table, std::string_view key, std::span<const NameId> params) {
    const std::string_view name = table.Text(key);
    return name.empty() ? NameId::None() : Param(name, params, table.PlaceOfKey(key));
  }

  NameId Param(std::string_view name, std::span<const NameId> params, Place place) {
    const NameId id = names_.Intern(name);
    if (std::ranges::find(params, id) != params.end()) return id;
    std::vector<std::string_view> known;
    for (const NameId param : params) known.push_back(names_.View(param));
    const std::string near = DidYouMean(name, known);
    errors_.Fail(place,
                 fmt::format("`{}` is not in `params`{}", name, near.empty() ? "; add it there" : near));
    return id;
  }

  NameId Type(std::string_view name, Place place) {
    if (name.find('.') == std::string_view::npos && !is_cpp_) {
      errors_.Fail(place,
                   fmt::format("`{}` is not the full name of a class; write package.module.Class", name));
    }
    const NameId id = names_.Intern(name);
    Refer(Knowledge::ReferenceKind::Type, id, place);
    return id;
  }

  void CheckEntryName(TableReader& table, NameId name, EntryKind kind) {
    const std::string_view text = names_.View(name);
    const size_t dot = text.rfind('.');
    const bool is_member = text.starts_with('@') || text.starts_with('*');
    if (dot == std::string_view::npos && (!is_cpp_ || kind == EntryKind::Method)) {
      table.Fail("name", fmt::format("`{}` has no module or class; write the full name", text));
    } else if (kind == EntryKind::Function && is_member) {
      table.Fail("name", "a member of a mark or of any object belongs in [[method]] or [[attribute]]");
    } else if (kind == EntryKind::Method || (kind == EntryKind::Attribute && is_member)) {
      Refer(Knowledge::ReferenceKind::Owner, names_.Intern(text.substr(0, dot)),
            table.PlaceOfKey(table.Has("name") ? "name" : "names"));
    }
  }

  void Refer(Knowledge::ReferenceKind kind, NameId name, Place place) {
    references_.push_back(
        {.kind = kind, .name = name, .file = file_, .line = place.line, .column = place.column});
  }

  using NameIndex = std::vector<std::pair<NameId, uint32_t>>;
  void AddName(NameIndex& list, NameId name, size_t index, TableReader& table) {
    if (!names_seen_.insert(name).second) {
      table.Fail(table.Has("name") ? "name" : "names",
                 fmt::format("`{}` is described twice in this file; keep one of them", names_.View(name)));
    }
    list.emplace_back(name, static_cast<uint32_t>(index));
  }

  // ---- Adding
  // -----------------------------------------------------------------------------------------------------

  void Commit(std::string_view file_name) {
    knowledge_.files_.emplace_back(file_name);
    const auto first_entry = static_cast<uint32_t>(knowledge_.entries_.size());
    const auto first_class = static_cast<uint32_t>(knowledge_.classes_.size());
    for (const auto& [name, index] : entry_names_)
      knowledge_.entry_names_.emplace_back(name, EntryId{first_entry + index});
    for (const auto& [name, index] : class_names_)
      knowledge_.class_names_.emplace_back(name, ClassId{first_class + index});
    for (Entry& entry : entries_) knowledge_.entries_.Add(std::move(entry));
    for (Class& known : classes_) knowledge_.classes_.Add(std::move(known));
    for (const Hint& hint : hints_) knowledge_.hints_[hint.name] = hint;
    for (const auto& [name, value] : environment_) knowledge_.environment_[name] = value;
    for (const auto& [name, local] : local_ranks_) knowledge_.local_ranks_[name] = local;
    for (const auto& [name, strikes] : exceptions_) knowledge_.exceptions_[name] = strikes;
    knowledge_.fallible_.insert(fallible_.begin(), fallible_.end());
    knowledge_.buffers_listed_.insert(buffers_listed_.begin(), buffers_listed_.end());
    for (const auto& [name, sign] : launch_calls_) knowledge_.launch_calls_[name].push_back(sign);
    for (const auto& [name, sign] : launch_keywords_) knowledge_.launch_keywords_[name].push_back(sign);
    for (const auto& [name, run_by] : launch_options_) knowledge_.launch_options_[name] = run_by;
    knowledge_.strategies_.insert(knowledge_.strategies_.end(), strategies_.begin(), strategies_.end());
    const auto append = [](std::vector<NameId>& names, const std::vector<NameId>& more) { names.insert(names.end(), more.begin(), more.end()); };
    append(knowledge_.settings_calls_.merges, settings_calls_.merges);
    append(knowledge_.settings_calls_.changes, settings_calls_.changes);
    append(knowledge_.settings_calls_.same_file, settings_calls_.same_file);
    knowledge_.module_aliases_.insert(knowledge_.module_aliases_.end(), module_aliases_.begin(),
                                      module_aliases_.end());
    knowledge_.references_.insert(knowledge_.references_.end(), references_.begin(), references_.end());
    if (is_python_) knowledge_.literals_.insert(knowledge_.literals_.end(), literals_.begin(), literals_.end());
    if (is_cpp_) knowledge_.cpp_literals_.insert(knowledge_.cpp_literals_.end(), literals_.begin(), literals_.end());
  }

  Knowledge& knowledge_;
  base::Interner& names_;
  ErrorSlot errors_;
  uint32_t file_;
  bool is_users_;
  KnownNames known_names_;  // of the files before, for a user's
  size_t formulas_before_;
  size_t marks_before_;
  bool is_python_ = false;
  bool is_cpp_ = false;
  std::string_view library_;
  bool bypasses_torch_ = false;
  std::string_view docs_;
  std::vector<Entry> entries_;
  std::vector<Class> classes_;
  NameIndex entry_names_;
  NameIndex class_names_;
  std::unordered_set<NameId> names_seen_;
  std::vector<Hint> hints_;
  std::vector<std::pair<NameId, FormulaId>> environment_;
  std::vector<std::pair<NameId, NameId>> local_ranks_;
  std::vector<std::pair<NameId, Strikes>> exceptions_;
  std::vector<NameId> fallible_;
  std::vector<NameId> buffers_listed_;
  std::vector<std::pair<NameId, LaunchSign>> launch_calls_, launch_keywords_;
  std::vector<std::pair<NameId, RunBy>> launch_options_;
  std::vector<Strategy> strategies_;
  SettingsCalls settings_calls_;
  std::vector<Knowledge::ModuleAlias> module_aliases_;
  std::vector<Knowledge::Reference> references_;
  std::vector<std::string> literals_;
};

std::vector<std::string> Replaced::Since(const Knowledge& knowledge) {
  std::vector<std::string> again;
  const auto add = [&](const auto& names, size_t& seen) {
    for (size_t i = seen; i < names.size(); ++i) {
      const auto is_it = [&](const auto& before) { return before.first == names[i].first; };
      const bool was_there = std::ranges::any_of(std::span(names).first(seen), is_it);
      if (was_there) again.emplace_back(Loader::View(knowledge, names[i].first));
    }
    seen = names.size();
  };
  add(Loader::EntryNames(knowledge), entries_);
  add(Loader::ClassNames(knowledge), classes_);
  return again;
}

base::Result<bool> Knowledge::Load(std::string_view file_name, std::string_view toml) {
  return Loader(*this, file_name, Loader::Origin::BuiltIn).Load(file_name, toml);
}

base::Result<bool> LoadUsersFile(Knowledge& knowledge, std::string_view file_name, std::string_view toml) {
  return Loader(knowledge, file_name, Loader::Origin::User).Load(file_name, toml);
}

}  // namespace allranks::knowledge
