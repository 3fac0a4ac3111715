#include "analyzer/objects/file_path.h"

#include <algorithm>
#include <filesystem>

#include "analyzer/objects/passed_tests.h"

namespace allranks::objects {

using variation::Value;
using variation::ValueKind;

namespace {

constexpr int kDeepestPath = 16;
// Alternatives of one path: more come of long lists, of which one is as good as another.
constexpr size_t kMostPaths = 8;
constexpr size_t kMostPartsOfPath = 400;

// Calls that yield the path they are given, or that open it.
constexpr std::string_view kSamePath[] = {"builtins.str", "os.fspath", "os.path.abspath", "os.path.realpath",
                                          "os.path.normpath", "os.path.expanduser", "os.path.expandvars", "builtins.open",
                                          "resolve", "absolute", "expanduser", "as_posix", "open", "strip", "__str__",
                                          "pathlib.Path.open"};

void Append(FilePath& path, const FilePath& more) {
  for (const PathPiece& piece : more.pieces) {
    if (!piece.hole && !path.pieces.empty() && !path.pieces.back().hole) path.pieces.back().text += piece.text;
    else if (piece.hole || !piece.text.empty()) path.pieces.push_back(piece);
  }
}

FilePath TextPath(std::string_view text) {
  FilePath path;
  if (!text.empty()) path.pieces.push_back({std::string(text), {}});
  return path;
}

// The text of a format up to the next place to fill, and where the format goes on behind that; npos: no more places.
size_t NextPlace(std::string_view format, size_t from, bool is_percent, std::string& text) {
  for (size_t at = from; at < format.size(); ++at) {
    const char c = format[at];
    const bool is_doubled = at + 1 < format.size() && format[at + 1] == c;
    if (is_percent && c == '%') {
      if (is_doubled) { text += c; ++at; continue; }
      const size_t end = format.find_first_of("sdrfgiuxX", at);
      return end == std::string_view::npos ? end : end + 1;
    }
    if (!is_percent && c == '{') {
      if (is_doubled) { text += c; ++at; continue; }
      const size_t end = format.find('}', at);
      return end == std::string_view::npos ? end : end + 1;
    }
    text += c;
    if (!is_percent && c == '}' && is_doubled) ++at;
  }
  return std::string_view::npos;
}

// `./out//last.pt` and `out/last.pt` are one file.
std::string Plain(const FilePath& path) {
  return std::filesystem::path(path.Spelled()).lexically_normal().generic_string();
}

}  // namespace

FilePath FilePath::Name() const {
  FilePath name;
  for (const PathPiece& piece : pieces) {
    const size_t slash = piece.hole ? std::string::npos : piece.text.rfind('/');
    if (slash == std::string::npos) {
      name.pieces.push_back(piece);
      continue;
    }
    name.pieces.clear();
    if (slash + 1 < piece.text.size()) name.pieces.push_back({piece.text.substr(slash + 1), {}});
  }
  return name;
}

bool FilePath::HasText() const {
  return std::ranges::any_of(pieces, [](const PathPiece& piece) { return !piece.hole && !piece.text.empty(); });
}

bool FilePath::IsText() const {
  return !pieces.empty() && std::ranges::all_of(pieces, [](const PathPiece& piece) { return !piece.hole; });
}

bool FilePath::Changes() const {
  return std::ranges::any_of(pieces, [](const PathPiece& piece) { return piece.changes; });
}

std::vector<FilePath> FilePath::Components() const {
  std::vector<FilePath> components(1);
  for (const PathPiece& piece : pieces) {
    if (piece.hole) {
      components.back().pieces.push_back(piece);
      continue;
    }
    std::string_view rest = piece.text;
    for (size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
      Append(components.back(), TextPath(rest.substr(0, slash)));
      components.emplace_back();
      rest.remove_prefix(slash + 1);
    }
    Append(components.back(), TextPath(rest));
  }
  return components;
}

std::string FilePath::Spelled() const {
  std::string text;
  for (const PathPiece& piece : pieces) text += piece.hole ? "<" + piece.text + ">" : piece.text;
  return text;
}

bool IsOneName(const FilePath& a, const FilePath& b) {
  if (a.IsText() && b.IsText()) return Plain(a) == Plain(b);
  const FilePath left = a.Name();
  return left.HasText() && left.Spelled() == b.Name().Spelled();
}

bool IsOneShape(const FilePath& a, const FilePath& b) {
  const auto shape = [](const FilePath& path) {
    std::string text;
    for (const PathPiece& piece : path.pieces) text += piece.hole ? "*" : piece.text;
    return text;
  };
  return a.HasText() && shape(a) == shape(b);
}

bool Matches(const FilePath& pattern, const FilePath& path) {
  const FilePath mask = pattern.Name();
  const FilePath name = path.Name();
  if (!name.HasText()) return false;
  std::string text;
  for (const PathPiece& piece : mask.pieces) text += piece.hole ? "*" : piece.text;
  const size_t star = text.find('*');
  // A folder: its name says nothing of what is in it.
  if (star == std::string::npos) return false;
  const std::string before = text.substr(0, star);
  const std::string after = text.substr(text.rfind('*') + 1);
  const PathPiece& first = name.pieces.front();
  const PathPiece& last = name.pieces.back();
  const bool begins = before.empty() || (!first.hole && first.text.starts_with(before));
  const bool ends = after.empty() || (!last.hole && last.text.ends_with(after));
  return begins && ends && (before.size() + after.size() > 1);
}

std::string_view PathReader::OperationOf(ValueId value) const {
  const base::NameId name = facts_.values_store.DerivedBy(value);
  return name ? program_.text(name) : std::string_view();
}

std::vector<FilePath> PathReader::PathsOf(ValueId value, const CallFrame* frame) const { return Read(value, frame, 0); }

PathReader::Paths PathReader::Read(ValueId id, const CallFrame* frame, int depth) const {
  if (!id) return {};
  if (depth > kDeepestPath) return Hole(id, frame);
  const Value& value = facts_.values_store[id];
  const auto kids = facts_.values_store.Kids(id);
  switch (value.kind) {
    case ValueKind::None:
    case ValueKind::Bool:
      return {};
    case ValueKind::Str:
      return {TextPath(program_.text(value.name()))};
    case ValueKind::Select: {
      const variation::Arms arms = facts_.values_store.ArmsOf(id);
      if (const std::optional<bool> truth = TruthOnWay(arms.condition, frame)) return Read(*truth ? arms.then_value : arms.else_value, frame, depth + 1);
      return EitherOf(arms.then_value, arms.else_value, frame, depth);
    }
    case ValueKind::Or:
      return EitherOf(kids.front(), kids.back(), frame, depth);
    case ValueKind::Param:
      return ReadParam(id, frame, depth);
    case ValueKind::Object: {
      const std::string_view name = program_.text(value.name());
      if (name == "pathlib.Path") return Joined(kids, "/", frame, depth);
      if ((name == "h5py.File" || name == "zipfile.ZipFile") && !kids.empty()) return Read(kids[0], frame, depth + 1);
      return {};
    }
    case ValueKind::Binary:
      switch (value.binary_op()) {
        case ir::BinaryOp::Add:
          return Joined(kids, "", frame, depth);
        case ir::BinaryOp::Div:
          return Joined(kids, "/", frame, depth);
        case ir::BinaryOp::Mod:
          return Filled(id, true, frame, depth);
        default:
          return Hole(id, frame);
      }
    case ValueKind::Derived:
      return ReadDerived(id, frame, depth);
    case ValueKind::External:
      // `io.BytesIO` and what else is no path.
      return {};
    default:
      return Hole(id, frame);
  }
}

// `name = "latest" if is_latest else str(epoch)` where the calls on the way say which.
std::optional<bool> PathReader::TruthOnWay(ValueId condition, const CallFrame* frame) const {
  std::vector<PassedArgs> calls;
  for (const CallFrame* at = frame; at != nullptr; at = at->caller) calls.push_back({at->function, at->args});
  return PassedTests(facts_.values_store, calls).Truth(condition);
}

PathReader::Paths PathReader::EitherOf(ValueId first, ValueId second, const CallFrame* frame, int depth) const {
  Paths all = Read(first, frame, depth + 1);
  for (FilePath& path : Read(second, frame, depth + 1)) {
    if (all.size() < kMostPaths) all.push_back(std::move(path));
  }
  return all;
}

PathReader::Paths PathReader::ReadDerived(ValueId id, const CallFrame* frame, int depth) const {
  const auto kids = facts_.values_store.Kids(id);
  const std::string_view operation = OperationOf(id);
  if (operation.starts_with("io.") || operation.starts_with("tempfile.")) return {};
  if (kids.empty()) return Hole(id, frame);
  if (operation == "f-string") return Joined(kids, "", frame, depth);
  if (operation == "os.path.join" || operation == "joinpath") return Joined(kids, "/", frame, depth);
  if (operation == "format") return Filled(id, false, frame, depth);
  // `NamedTemporaryFile().name`
  if (operation == "name" && OperationOf(Resolved(kids[0], frame)).starts_with("tempfile.")) return {};
  if (operation == "[]" && kids.size() == 2) return Item(kids[0], kids[1], frame, depth);
  if (operation == "with_suffix" && kids.size() == 2) {
    Paths stems = Read(kids[0], frame, depth + 1);
    const Paths suffixes = Read(kids[1], frame, depth + 1);
    for (FilePath& stem : stems) {
      if (stem.pieces.empty() || stem.pieces.back().hole) return Hole(id, frame);
      std::string& text = stem.pieces.back().text;
      text.resize(std::min(text.size(), text.rfind('.')));
      if (!suffixes.empty()) Append(stem, suffixes[0]);
    }
    return stems;
  }
  const bool is_same = std::ranges::find(kSamePath, operation) != std::end(kSamePath);
  if (is_same) return Read(kids[0], frame, depth + 1);
  // Assigned differently on the way here.
  if (operation.empty() && kids.size() == 1) return Read(kids[0], frame, depth + 1);
  return Hole(id, frame);
}

// What the call on the way passes; else what all callers together pass; else anything.
PathReader::Paths PathReader::ReadParam(ValueId id, const CallFrame* frame, int depth) const {
  const Value& value = facts_.values_store[id];
  const FuncId function = value.function();
  for (const CallFrame* at = frame; at != nullptr; at = at->caller) {
    if (at->function != function) continue;
    if (value.param_index() < at->args.size() && at->args[value.param_index()]) return Read(at->args[value.param_index()], at->caller, depth + 1);
    return Hole(id, frame);
  }
  const ValueId assumed = facts_.param(function, value.param_index());
  return assumed && assumed != id ? Read(assumed, nullptr, depth + 1) : Hole(id, frame);
}

PathReader::Paths PathReader::Joined(std::span<const ValueId> parts, std::string_view between, const CallFrame* frame,
                                     int depth) const {
  Paths joined = {FilePath{}};
  bool is_first = true;
  for (const ValueId part : parts) {
    if (!part) continue;
    const Paths next = Read(part, frame, depth + 1);
    if (next.empty()) return {};
    Paths longer;
    for (const FilePath& left : joined) {
      for (const FilePath& right : next) {
        if (longer.size() >= kMostPaths) break;
        FilePath path = left;
        const bool ends_so = path.pieces.empty() || (!path.pieces.back().hole && path.pieces.back().text.ends_with('/'));
        if (!is_first && !(between == "/" && ends_so)) Append(path, TextPath(between));
        Append(path, right);
        longer.push_back(std::move(path));
      }
    }
    joined = std::move(longer);
    is_first = false;
  }
  return joined;
}

std::vector<ValueId> PathReader::ItemsToFill(std::span<const ValueId> parts, bool is_percent) const {
  const bool is_tuple = is_percent && parts.size() == 1 && parts[0] && facts_.values_store[parts[0]].kind == ValueKind::Tuple;
  const std::span<const ValueId> items = is_tuple ? facts_.values_store.Kids(parts[0]) : parts;
  return {items.begin(), items.end()};
}

// `"%s-%d.pt" % (name, step)`, `"{}.pt".format(name)`, `os.path.join(out, "%s.pt") % name`.
PathReader::Paths PathReader::Filled(ValueId id, bool is_percent, const CallFrame* frame, int depth) const {
  const auto kids = facts_.values_store.Kids(id);
  const Paths formats = Read(kids[0], frame, depth + 1);
  const std::vector<ValueId> items = ItemsToFill(kids.subspan(1), is_percent);
  Paths all;
  for (const FilePath& format : formats) {
    const Paths filled = FilledOne(format, items, is_percent, frame, depth);
    if (filled.empty()) return Hole(id, frame);
    for (const FilePath& path : filled) {
      if (all.size() < kMostPaths) all.push_back(path);
    }
  }
  return all.empty() ? Hole(id, frame) : all;
}

// None if an item is no part of a path, or if there are too few.
PathReader::Paths PathReader::FilledOne(const FilePath& format, std::span<const ValueId> items, bool is_percent,
                                        const CallFrame* frame, int depth) const {
  Paths filled = {FilePath{}};
  size_t item = 0;
  const auto append_to_all = [&](const Paths& next) {
    Paths longer;
    for (const FilePath& left : filled) {
      for (const FilePath& right : next) {
        if (longer.size() >= kMostPaths) break;
        longer.push_back(left);
        Append(longer.back(), right);
      }
    }
    filled = std::move(longer);
  };
  for (const PathPiece& piece : format.pieces) {
    if (piece.hole) append_to_all({FilePath{{piece}}});
    for (size_t at = piece.hole ? std::string::npos : 0; at != std::string::npos;) {
      std::string before;
      at = NextPlace(piece.text, at, is_percent, before);
      for (FilePath& path : filled) Append(path, TextPath(before));
      if (at == std::string::npos) break;
      const Paths next = item < items.size() ? Read(items[item], frame, depth + 1) : Paths();
      ++item;
      if (next.empty()) return {};
      append_to_all(next);
    }
  }
  return filled;
}

PathReader::Paths PathReader::Item(ValueId container, ValueId index, const CallFrame* frame, int depth) const {
  const ValueId known = Resolved(container, frame);
  const Value& list = facts_.values_store[known];
  const Value& number = facts_.values_store[index];
  const bool is_known = list.kind == ValueKind::Tuple && number.kind == ValueKind::Int;
  if (!is_known) {
    FilePath hole;
    // What a table holds under a name is a setting, unless that is the name of what is counted: `state["step"]`.
    const bool is_setting = number.kind == ValueKind::Str && !counters_.contains(number.name());
    const std::string spelled = is_setting ? Spell(index, frame, 0) : Spell(container, frame, 0) + "," + Spell(index, frame, 0);
    hole.pieces.push_back({"[" + spelled + "]", container, !is_setting && (MayChange(container, frame) || MayChange(index, frame))});
    return {hole};
  }
  const auto items = facts_.values_store.Kids(known);
  const int64_t written = *number.integer();
  const int64_t at = written < 0 ? written + static_cast<int64_t>(items.size()) : written;
  if (at < 0 || at >= static_cast<int64_t>(items.size())) return {};
  // Items of `*args` are values of the one who calls.
  const CallFrame* outer = frame;
  const Value& passed = facts_.values_store[container];
  if (passed.kind == ValueKind::Param) {
    while (outer != nullptr && outer->function != passed.function()) outer = outer->caller;
    outer = outer != nullptr ? outer->caller : frame;
  }
  return Read(items[static_cast<size_t>(at)], outer, depth + 1);
}

PathReader::Paths PathReader::Hole(ValueId value, const CallFrame* frame) const {
  FilePath path;
  path.pieces.push_back({Spell(value, frame, 0), value, MayChange(value, frame)});
  return {path};
}

// Settings of the program stay what they are: texts, and attributes and items of objects that nobody counts up here.
// Numbers count something, and so may unknowns, which stand for variables of loops, items, results.
bool PathReader::MayChange(ValueId id, const CallFrame* frame) const {
  std::vector<ValueId> work = {id};
  for (size_t seen = 0; !work.empty() && seen < kMostPartsOfPath; ++seen) {
    const ValueId at = Resolved(work.back(), frame);
    work.pop_back();
    if (!at) continue;
    const Value& value = facts_.values_store[at];
    if (value.kind == ValueKind::Unknown) {
      if (!facts_.values_store.OperationOf(value)) return true;
      continue;
    }
    const std::string_view operation = OperationOf(at);
    if (operation == "element" || operation == "key" || operation == "builtins.len") return true;
    if (value.kind == ValueKind::Int || value.kind == ValueKind::Binary || IsCounter(value)) return true;
    const auto kids = facts_.values_store.Kids(at);
    const bool is_named_item = operation == "[]" && kids.size() == 2 && facts_.values_store[kids[1]].kind == ValueKind::Str;
    if (is_named_item && counters_.contains(facts_.values_store[kids[1]].name())) return true;
    // An item of a sequence at a fixed place, or of a table under a fixed name.
    work.insert(work.end(), kids.begin(), operation == "[]" && kids.size() == 2 ? kids.begin() + 1 : kids.end());
    if (operation == "[]" && kids.size() == 2 && facts_.values_store[kids[1]].kind != ValueKind::Int) work.push_back(kids[1]);
  }
  return false;
}

// `state.step`, which is counted up somewhere.
bool PathReader::IsCounter(const Value& value) const {
  const bool is_attribute = value.kind == ValueKind::Derived && value.kid_count == 1;
  const base::NameId name = is_attribute ? facts_.values_store.OperationOf(value) : base::NameId::None();
  return name && counters_.contains(name);
}

ValueId PathReader::Resolved(ValueId id, const CallFrame* frame) const {
  for (int steps = 0; id && steps < kDeepestPath; ++steps) {
    const Value& value = facts_.values_store[id];
    if (value.kind != ValueKind::Param) return id;
    const CallFrame* at = frame;
    while (at != nullptr && at->function != value.function()) at = at->caller;
    if (at == nullptr) {
      const ValueId assumed = facts_.param(value.function(), value.param_index());
      return assumed ? assumed : id;
    }
    if (value.param_index() >= at->args.size() || !at->args[value.param_index()]) return id;
    id = at->args[value.param_index()];
    frame = at->caller;
  }
  return id;
}

bool PathReader::IsOpen(ValueId id, const CallFrame* frame) const {
  std::vector<ValueId> work = {id};
  size_t seen = 0;
  while (!work.empty() && seen++ < kMostPartsOfPath) {
    const ValueId at = work.back();
    work.pop_back();
    if (!at || !facts_.values_store.has_param(at)) continue;
    const Value& value = facts_.values_store[at];
    if (value.kind == ValueKind::Param) {
      const CallFrame* owner = frame;
      while (owner != nullptr && owner->function != value.function()) owner = owner->caller;
      if (owner == nullptr) return true;
      // What a caller passes speaks of its own parameters.
      if (value.param_index() < owner->args.size() && IsOpen(owner->args[value.param_index()], owner->caller)) return true;
      continue;
    }
    for (const ValueId kid : facts_.values_store.Kids(at)) work.push_back(kid);
  }
  return false;
}

// Whether callers of a function may choose what they pass.
bool PathReader::IsChosen(ValueId passed, int depth) const {
  constexpr int kDeepest = 6;
  if (!passed || depth > kDeepest) return false;
  if (facts_.values_store[passed].kind == ValueKind::Select) return true;
  return std::ranges::any_of(facts_.values_store.Kids(passed), [&](ValueId kid) { return IsChosen(kid, depth + 1); });
}

bool PathReader::IsChoiceOpen(ValueId id, const CallFrame* frame, int depth) const {
  constexpr int kDeepest = 12;
  if (!id || depth > kDeepest || !facts_.values_store.has_param(id)) return false;
  const Value& value = facts_.values_store[id];
  if (value.kind == ValueKind::Param) {
    for (const CallFrame* at = frame; at != nullptr; at = at->caller) {
      if (at->function == value.function()) return value.param_index() < at->args.size() && IsChoiceOpen(at->args[value.param_index()], at->caller, depth + 1);
    }
    return IsChosen(facts_.param(value.function(), value.param_index()), 0);
  }
  const auto kids = facts_.values_store.Kids(id);
  if (value.kind == ValueKind::Select && IsOpen(kids[0], frame)) return true;
  return std::ranges::any_of(kids, [&](ValueId kid) { return IsChoiceOpen(kid, frame, depth + 1); });
}

bool PathReader::IsNameOpen(ValueId id, const CallFrame* frame) const {
  if (!id || !facts_.values_store.has_param(id)) return false;
  const Value& value = facts_.values_store[id];
  const auto kids = facts_.values_store.Kids(id);
  const std::string_view operation = OperationOf(id);
  const bool is_join = operation == "os.path.join" || operation == "joinpath" || value.is_binary(ir::BinaryOp::Div);
  if (is_join && !kids.empty()) return IsNameOpen(kids.back(), frame);
  const bool is_sum = operation == "f-string" || value.is_binary(ir::BinaryOp::Add);
  if (is_sum) {
    for (size_t i = kids.size(); i-- > 0;) {
      const Value& part = facts_.values_store[kids[i]];
      if (part.kind == ValueKind::Str && program_.text(part.name()).find('/') != std::string_view::npos) return false;
      if (IsOpen(kids[i], frame)) return true;
    }
    return false;
  }
  const bool is_percent = value.is_binary(ir::BinaryOp::Mod);
  if ((is_percent || operation == "format") && !kids.empty()) return IsFilledNameOpen(kids[0], kids.subspan(1), is_percent, frame);
  if (value.kind == ValueKind::Select) return IsNameOpen(kids[1], frame) || IsNameOpen(kids[2], frame);
  if (value.kind == ValueKind::Param) {
    for (const CallFrame* at = frame; at != nullptr; at = at->caller) {
      if (at->function == value.function()) return value.param_index() < at->args.size() && IsNameOpen(at->args[value.param_index()], at->caller);
    }
    return true;
  }
  const bool is_same = std::ranges::find(kSamePath, operation) != std::end(kSamePath);
  if (is_same && !kids.empty()) return IsNameOpen(kids[0], frame);
  return IsOpen(id, frame);
}

// `"%s/%s.npy" % (out, name)`: only what fills places behind the last slash is a part of the name.
bool PathReader::IsFilledNameOpen(ValueId format, std::span<const ValueId> parts, bool is_percent, const CallFrame* frame) const {
  const ValueId resolved = Resolved(format, frame);
  const std::vector<ValueId> items = ItemsToFill(parts, is_percent);
  if (!resolved || facts_.values_store[resolved].kind != ValueKind::Str) {
    return IsOpen(format, frame) || std::ranges::any_of(items, [&](ValueId item) { return IsOpen(item, frame); });
  }
  const std::string_view text = program_.text(facts_.values_store[resolved].name());
  bool is_open = false;
  size_t item = 0;
  for (size_t at = 0; at != std::string_view::npos; ++item) {
    std::string before;
    at = NextPlace(text, at, is_percent, before);
    if (before.find('/') != std::string::npos) is_open = false;
    if (at == std::string_view::npos) break;
    is_open = is_open || item >= items.size() || IsOpen(items[item], frame);
  }
  return is_open;
}

std::string PathReader::Spell(ValueId id, const CallFrame* frame, int depth) const {
  constexpr int kDeepestSpelled = 5;
  if (!id || depth > kDeepestSpelled) return "..";
  const ValueId known = Resolved(id, frame);
  const Value& value = facts_.values_store[known];
  const auto kids = facts_.values_store.Kids(known);
  if (value.kind == ValueKind::Str) return std::string(program_.text(value.name()));
  if (value.kind == ValueKind::Int) return std::to_string(*value.integer());
  const std::string_view operation = OperationOf(known);
  // `args.tag`: whatever object the arguments are called in another function.
  if (!operation.empty() && kids.size() == 1) return "." + std::string(operation);
  if (!operation.empty()) {
    std::string text(operation);
    for (const ValueId kid : kids) text += "," + Spell(kid, frame, depth + 1);
    return text;
  }
  return "#" + std::to_string(known.index);
}

}  // namespace allranks::objects
