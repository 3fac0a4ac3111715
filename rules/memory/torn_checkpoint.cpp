#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/base/folder.h"
#include "rules/finding_parts.h"
#include "rules/memory/written_content.h"
#include "rules/program_calls.h"

namespace allranks::rules {
namespace {

using objects::FileAct;
using objects::FilePath;
using objects::FileUse;
using objects::Site;

constexpr std::string_view kAR808 = "AR808";

class Checkpoints {
 public:
  Checkpoints(const Context& context, FindingSink& sink) : context_(context), sink_(sink), content_(context) {}

  void Run() {
    // A program that has both at one place takes up the numbered ones where the one that is overwritten is not there.
    const std::vector<Saved> all = SavedInTraining();
    for (const Saved& saved : all) VisitOverwritten(saved);
    for (const Saved& saved : all) VisitNewest(saved, all);
  }

 private:
  // A file that a training loop writes, with the calls that lead there.
  struct Saved {
    const FileUse& write;
    std::vector<Site> places;
  };

  std::vector<Saved> SavedInTraining() const {
    std::vector<Saved> all;
    for (const FileUse& use : context_.file_uses.uses()) {
      if (use.act != FileAct::Write || !IsOfData(use) || IsFewNumbers(use) || !use.path.Name().HasText()) continue;
      std::vector<Site> places = use.way;
      const std::vector<Site> above = context_.index.WaysTo(use.way.front());
      places.insert(places.end(), above.begin(), above.end());
      if (IsInTraining(places) && !IsMovedAway(use) && !IsMadeIfAbsent(use)) all.push_back({use, std::move(places)});
    }
    return all;
  }

  void VisitOverwritten(const Saved& saved) {
    const FileUse& write = saved.write;
    if (!IsSameEachRound(write) || IsSavedElsewhere(write)) return;
    for (const FileUse& read : context_.file_uses.uses()) {
      const bool is_it = IsResumed(read) && (objects::IsOneName(write.path, read.path) || IsOneRecord(write, read));
      if (is_it && ResumesBefore(read, saved)) return Report(write, read, write.path.Name(), true);
    }
  }

  void VisitNewest(const Saved& saved, std::span<const Saved> all) {
    for (const FileUse& read : context_.file_uses.uses()) {
      const std::optional<FilePath> newest = IsResumed(read) ? PickedFrom(read, saved.write.path) : std::nullopt;
      if (newest && ResumesBefore(read, saved) && !IsPassedOver(saved, read, all)) return Report(saved.write, read, *newest, false);
    }
  }

  // `if os.path.exists("latest.pt"): ... else: ...`: what reads the newest reads the one that the same loop overwrites, where that is there.
  bool IsPassedOver(const Saved& newest, const FileUse& read, std::span<const Saved> all) const {
    const auto is_read = [&](const FilePath& path) {
      return std::ranges::any_of(context_.file_uses.uses(), [&](const FileUse& other) { return other.call == read.call && objects::IsOneName(path, other.path); });
    };
    return std::ranges::any_of(all, [&](const Saved& other) {
      return PlaceOf(other.write).function == PlaceOf(newest.write).function && IsSameEachRound(other.write) && is_read(other.write.path);
    });
  }

  static bool IsResumed(const FileUse& use) { return use.act == FileAct::Read && IsOfData(use) && !IsCopied(use); }

  // A dump or load of data. A text is written line by line, or is a record of the run or the name of its last checkpoint, and arrays are
  // tables of results: what was trained stays.
  static bool IsOfData(const FileUse& use) {
    const knowledge::Entry& entry = *use.call->entry;
    return !entry.Has(knowledge::Role::OpenFile) && !entry.Has(knowledge::Role::WritesText) && !entry.Has(knowledge::Role::WritesArray);
  }

  // `torch.save([epoch], path)`: a record beside the checkpoint, which is written in no time.
  bool IsFewNumbers(const FileUse& write) const {
    const auto is_trained = [&](variation::ValueId part) {
      const variation::Value& node = context_.values[part];
      return node.kind == variation::ValueKind::Object || node.kind == variation::ValueKind::Instance || content_.IsState(part);
    };
    return std::ranges::any_of(write.call->args, [&](variation::ValueId arg) {
      const variation::ValueId saved = Passed(arg, write.frame);
      return saved && context_.values[saved].kind == variation::ValueKind::Tuple && !context_.values.AnyPart(saved, is_trained);
    });
  }

  // `shutil.copyfile("last.pt", "best.pt")` resumes nothing.
  static bool IsCopied(const FileUse& read) {
    const knowledge::Entry& entry = *read.call->entry;
    return entry.Has(knowledge::Role::Write) || entry.Has(knowledge::Role::MoveTo);
  }

  // In a round that others follow: what is saved before `raise` or `break` is written once.
  bool IsInTraining(std::span<const Site> sites) const {
    const auto raises = [&](const Site& site) { return context_.index.tree(context_.program.funcs[site.function].module).RaisesBehind(context_.index.StatementOf(site)); };
    return std::ranges::none_of(sites, raises) && std::ranges::any_of(sites, [&](const Site& site) {
      const ir::ModuleId module = context_.program.funcs[site.function].module;
      const ir::StmtId stmt = context_.index.StatementOf(site);
      const std::vector<ir::StmtId> loops = context_.index.LoopsAround(site);
      return std::ranges::any_of(loops, [&](ir::StmtId loop) {
        return context_.training.Trains(module, loop) && !context_.index.tree(module).LeavesBehind(loop, stmt);
      });
    });
  }

  // `if not os.path.exists(path):` on the way: what is there already stays, or is made anew from what it was made of. A test that asks for
  // another file says nothing of this one.
  bool IsMadeIfAbsent(const FileUse& write) const {
    return std::ranges::any_of(write.way, [&](const Site& site) {
      return std::ranges::any_of(context_.guards.Of(site), [&](const objects::Guard& guard) {
        const variation::ValueId test = context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
        return test && context_.facts.values_store.axes(test).has(knowledge::Axis::Files) && !AsksForOther(guard, write);
      });
    });
  }

  // `if os.path.isfile(results): return`
  bool AsksForOther(const objects::Guard& guard, const FileUse& write) const {
    const source::Span test = context_.program.module_of(guard.function).span(guard.test);
    bool asks_for_other = false;
    for (const objects::KnownCall& call : context_.index.known_calls()) {
      if (call.function != guard.function || !call.entry->Has(knowledge::Role::LooksAtDisk)) continue;
      const source::Span place = SpanOf(context_, {call.function, call.expr});
      if (place.begin < test.begin || place.end > test.end) continue;
      const variation::ValueId asked = call.args.empty() || !call.args[0] ? call.receiver : call.args[0];
      if (MayBeOf(asked, write)) return false;
      asks_for_other = true;
    }
    return asks_for_other;
  }

  // The file, or the folder that it lies in.
  bool MayBeOf(variation::ValueId asked, const FileUse& write) const {
    const std::vector<FilePath> paths = asked ? context_.file_uses.paths().PathsOf(asked, write.frame) : std::vector<FilePath>();
    const std::string spelled = write.path.Spelled();
    return paths.empty() || std::ranges::any_of(paths, [&](const FilePath& path) {
      return path.pieces.empty() || objects::IsOneName(path, write.path) || spelled.starts_with(path.Spelled() + "/");
    });
  }

  // The old file gets another name first, or is copied before; or the folder in which it is written gets its name when it is whole.
  bool IsMovedAway(const FileUse& write) const {
    const std::string spelled = write.path.Spelled();
    return std::ranges::any_of(context_.file_uses.uses(), [&](const FileUse& use) {
      if (use.act == FileAct::MoveFrom && !use.path.pieces.empty() && spelled.starts_with(use.path.Spelled() + "/")) return true;
      if (!objects::IsOneName(use.path, write.path)) return false;
      return use.act == FileAct::MoveFrom || (use.act == FileAct::Read && IsCopied(use) && IsBeforeIn(use.site(), write.site()));
    });
  }

  bool IsBeforeIn(const Site& first, const Site& then) const {
    const ir::Module& module = context_.program.module_of(first.function);
    return first.function == then.function && module[first.expr].end <= module[then.expr].begin;
  }

  // The path is one and the same in each round of the loop that trains: nothing in it counts, and what a function around
  // it is given was given before that loop.
  bool IsSameEachRound(const FileUse& write) const {
    return !write.path.Changes() && !IsNamedByTime(write) && std::ranges::none_of(write.path.pieces, [&](const objects::PathPiece& piece) {
      if (!piece.hole) return false;
      const variation::Value& known = context_.values[context_.file_uses.paths().Resolved(piece.hole, write.frame)];
      if (known.kind != variation::ValueKind::Param) return false;
      const auto of = std::ranges::find(write.way, known.function(), &Site::function);
      return of != write.way.end() && !IsInTraining(std::span(of, write.way.end())) && MayBePassedElse(known, 0);
    });
  }

  // `f"model_{time.asctime()}.pt"`. A folder that is named so is mostly that of the whole run.
  bool IsNamedByTime(const FileUse& write) const {
    return std::ranges::any_of(write.path.Name().pieces, [&](const objects::PathPiece& piece) {
      const knowledge::Axes axes = piece.hole ? context_.facts.values_store.axes(piece.hole) : knowledge::Axes();
      return axes.has(knowledge::Axis::Clock) || axes.has(knowledge::Axis::Chance);
    });
  }

  // Whether the callers of its function may give a parameter another value each time.
  bool MayBePassedElse(const variation::Value& param, int depth) const {
    constexpr int kMostCalls = 4;
    const variation::FuncId function = param.function();
    const auto callers = context_.index.CallersOf(function);
    return callers.empty() || depth == kMostCalls || std::ranges::any_of(callers, [&](const Site& caller) {
      const variation::ValueId passed = context_.index.PassedBy(caller, function, param.param_index());
      const std::vector<FilePath> paths = passed ? context_.file_uses.paths().PathsOf(passed, nullptr) : std::vector<FilePath>();
      return paths.empty() || std::ranges::any_of(paths, [&](const FilePath& path) { return MayDiffer(path, depth + 1); });
    });
  }

  bool MayDiffer(const FilePath& path, int depth) const {
    return path.Changes() || std::ranges::any_of(path.pieces, [&](const objects::PathPiece& piece) {
      return piece.hole && context_.values[piece.hole].kind == variation::ValueKind::Param && MayBePassedElse(context_.values[piece.hole], depth);
    });
  }

  // The same is written whenever this is, to another file, or to one of its own each time: that of this round or of the one before stays whole.
  bool IsSavedElsewhere(const FileUse& write) const {
    return std::ranges::any_of(context_.file_uses.uses(), [&](const FileUse& other) {
      const bool is_another = other.act == FileAct::Write && (other.path.Changes() || (other.path.Name().HasText() && !objects::IsOneName(other.path, write.path)));
      if (!is_another || (!IsOneContent(write, other) && !IsPartOf(write, other))) return false;
      return std::ranges::any_of(write.way, [&](const Site& here) {
        return std::ranges::any_of(other.way, [&](const Site& there) {
          return here.function == there.function && !(here == there) && IsInRoundsOf(here, there) && IsDoneWith(there, here);
        });
      });
    });
  }

  // Two calls that write the same, each under its own name.
  bool IsOneContent(const FileUse& a, const FileUse& b) const {
    if (a.call->entry != b.call->entry || a.call->receiver != b.call->receiver || a.call->args.size() != b.call->args.size()) return false;
    for (size_t i = 0; i < a.call->args.size(); ++i) {
      if (a.call->entry->params[i] != a.param && a.call->args[i] != b.call->args[i]) return false;
    }
    return true;
  }

  // `torch.save(model.state_dict(), best)` beside `torch.save({"model": model.state_dict(), "epoch": epoch}, last)`
  bool IsPartOf(const FileUse& part, const FileUse& whole) const {
    const auto is_in = [&](variation::ValueId state, variation::ValueId record) {
      return context_.values[record].kind == variation::ValueKind::Dict && std::ranges::count(context_.facts.values_store.Kids(record), state) > 0;
    };
    return std::ranges::any_of(part.call->args, [&](variation::ValueId arg) {
      const variation::ValueId state = arg ? Passed(arg, part.frame) : arg;
      return state && content_.IsState(state) && std::ranges::any_of(whole.call->args, [&](variation::ValueId other) {
        const variation::ValueId record = other ? Passed(other, whole.frame) : other;
        return record && is_in(state, record);
      });
    });
  }

  // Whether each round that comes to `here` may come to `there`, too: what is saved behind a loop was not there in its rounds.
  bool IsInRoundsOf(const Site& here, const Site& there) const {
    const std::vector<ir::StmtId> loops = context_.index.LoopsAround(there);
    return std::ranges::all_of(context_.index.LoopsAround(here), [&](ir::StmtId loop) { return std::ranges::count(loops, loop) > 0; });
  }

  // Every condition of the first holds where the other is done.
  bool IsDoneWith(const Site& first, const Site& other) const {
    const std::vector<Condition> held = ConditionsOf(other);
    return std::ranges::all_of(ConditionsOf(first), [&](const Condition& condition) { return condition.value && std::ranges::count(held, condition) > 0; });
  }

  struct Condition {
    variation::ValueId value;
    bool holds = true;
    bool operator==(const Condition&) const = default;
  };

  // What has to hold for a place, each part of `a and b` by itself.
  std::vector<Condition> ConditionsOf(const Site& site) const {
    std::vector<Condition> parts, work;
    for (const objects::Guard& guard : context_.guards.Of(site)) {
      work.push_back({context_.facts.value(context_.program.funcs[guard.function].module, guard.test), guard.holds});
    }
    while (!work.empty()) {
      const Condition at = work.back();
      work.pop_back();
      const bool is_and = at.value && at.holds && context_.values[at.value].kind == variation::ValueKind::And;
      if (!is_and) parts.push_back(at);
      for (const variation::ValueId kid : is_and ? context_.facts.values_store.Kids(at.value) : std::span<const variation::ValueId>()) work.push_back({kid, true});
    }
    return parts;
  }

  // The name, or the folder on the way, under which the newest is looked for: by a pattern, or by putting together anew
  // what a listing showed.
  std::optional<FilePath> PickedFrom(const FileUse& read, const FilePath& path) const {
    const bool loads = read.call->entry->Has(knowledge::Role::LoadTensors);
    const std::vector<FilePath> components = path.Components();
    for (size_t i = 0; i < components.size(); ++i) {
      const bool is_name = i + 1 == components.size();
      if (is_name ? !loads : !objects::IsOneName(path, read.path)) continue;
      if (!components[i].IsText() && (IsPickedFrom(read, components[i]) || IsPickedFromFolder(read, path, components[i]))) return components[i];
    }
    return std::nullopt;
  }

  bool IsPickedFrom(const FileUse& read, const FilePath& component) const {
    for (const FilePath& own : read.path.Components()) {
      for (const objects::PathPiece& piece : own.pieces) {
        if (!piece.hole) continue;
        const std::vector<FilePath> patterns = context_.file_uses.ListingsOf(read, piece);
        const bool matches = std::ranges::any_of(patterns, [&](const FilePath& pattern) { return objects::Matches(pattern, component); });
        if (matches || (!patterns.empty() && objects::IsOneShape(own, component))) return true;
      }
    }
    return false;
  }

  // `os.path.join(folder, sorted(os.listdir(folder))[-1])`, where the files, or folders of them, are written into that folder.
  bool IsPickedFromFolder(const FileUse& read, const FilePath& path, const FilePath& component) const {
    const std::string spelled = path.Spelled() + "/";
    return std::ranges::any_of(read.path.Components(), [&](const FilePath& own) {
      if (own.pieces.size() != 1 || !own.pieces[0].hole) return false;
      return std::ranges::any_of(context_.file_uses.ListingsOf(read, own.pieces[0]), [&](const FilePath& folder) {
        return !folder.pieces.empty() && spelled.starts_with(folder.Spelled() + "/" + component.Spelled() + "/");
      });
    });
  }

  // A file that the user names holds, as far as the program takes it apart, what is written here: the states of two or
  // more objects, which is more than weights to begin with.
  bool IsOneRecord(const FileUse& write, const FileUse& read) const {
    // What a listing shows is not for the user to name.
    if (!read.call->entry->Has(knowledge::Role::LoadTensors) || read.path.Name().HasText() || IsListed(read)) return false;
    const std::vector<base::NameId> taken = KeysTaken(read);
    const std::vector<Item> written = ItemsWritten(write);
    const auto is_written = [&](base::NameId key) { return std::ranges::find(written, key, &Item::key) != written.end(); };
    const auto states = std::ranges::count_if(written, [&](const Item& item) {
      return item.is_state && std::ranges::count(taken, item.key) > 0;
    });
    return states > 1 && std::ranges::all_of(taken, is_written);
  }

  bool IsListed(const FileUse& read) const { return !context_.file_uses.ListingsOf(read).empty(); }

  struct Item {
    base::NameId key;
    bool is_state = false;  // what `state_dict()` of some object yields
    bool is_text = false;   // on this way
  };

  std::vector<Item> ItemsWritten(const FileUse& write) const {
    std::vector<Item> items;
    for (const variation::ValueId arg : write.call->args) {
      for (const variation::ValueId leaf : context_.values.Leaves(Passed(arg, write.frame))) AddItems(leaf, write.frame, items);
    }
    return items;
  }

  void AddItems(variation::ValueId record, const objects::CallFrame* frame, std::vector<Item>& items) const {
    if (context_.values[record].kind != variation::ValueKind::Dict) return;
    const auto kids = context_.facts.values_store.Kids(record);
    for (size_t i = 0; i + 1 < kids.size(); i += 2) {
      if (context_.values[kids[i]].kind != variation::ValueKind::Str) continue;
      const variation::ValueId item = Passed(kids[i + 1], frame);
      items.push_back({context_.values[kids[i]].name(), content_.IsState(kids[i + 1]), item && context_.values[item].kind == variation::ValueKind::Str});
    }
  }

  // What an argument is on this way; also one that a helper hands on as `*args`.
  variation::ValueId Passed(variation::ValueId arg, const objects::CallFrame* frame) const {
    const objects::PathReader& paths = context_.file_uses.paths();
    const variation::ValueId known = paths.Resolved(arg, frame);
    if (!known || context_.values[known].kind != variation::ValueKind::Derived) return known;
    const auto kids = context_.facts.values_store.Kids(known);
    const std::optional<int64_t> index = kids.size() == 2 ? context_.values.Int(kids[1]) : std::nullopt;
    const variation::ValueId list = index ? paths.Resolved(kids[0], frame) : variation::ValueId::None();
    if (!list || context_.values[list].kind != variation::ValueKind::Tuple || *index < 0) return known;
    const auto items = context_.facts.values_store.Kids(list);
    return static_cast<size_t>(*index) < items.size() ? paths.Resolved(items[static_cast<size_t>(*index)], frame) : known;
  }

  // `checkpoint["optimizer"]`: the texts by which items of the loaded file are taken in the function that loads it.
  std::vector<base::NameId> KeysTaken(const FileUse& read) const {
    std::vector<base::NameId> keys;
    const Site site = read.site();
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const variation::ValueId loaded = context_.facts.value(module_id, site.expr);
    if (!loaded) return keys;
    for (const ir::ExprId id : context_.index.ExprsOf(module_id, ir::ExprKind::Subscript)) {
      const variation::ValueId object = context_.facts.value(module_id, ir::LeftOf(module[id]));
      const variation::ValueId key = context_.facts.value(module_id, ir::IndexOf(module[id]));
      const bool is_text = key && context_.values[key].kind == variation::ValueKind::Str;
      if (is_text && object && FunctionAround(context_, module_id, id) == site.function && Holds(object, loaded)) {
        keys.push_back(context_.values[key].name());
      }
    }
    return keys;
  }

  // `save({"epoch": "best"}, ...)` and `start = checkpoint["epoch"] + 1`: the reader fails on what is written on this way, unless it asks for the
  // type first.
  bool IsTextForNumber(const FileUse& write, const FileUse& read) const {
    const std::vector<base::NameId> texts = KeysOfTexts(write);
    if (texts.empty()) return false;
    const Site site = read.site();
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const auto is_text = [&](ir::ExprId item) {
      const bool is_item = module[item].kind == ir::ExprKind::Subscript && FunctionAround(context_, module_id, item) == site.function;
      const variation::ValueId key = is_item ? context_.facts.value(module_id, ir::IndexOf(module[item])) : variation::ValueId::None();
      return key && context_.values[key].kind == variation::ValueKind::Str && std::ranges::count(texts, context_.values[key].name()) > 0;
    };
    const auto is_sum = [&](ir::ExprId sum) {
      const variation::ValueId added = context_.facts.value(module_id, ir::RightOf(module[sum]));
      return added && context_.values.Int(added) && is_text(ir::LeftOf(module[sum]));
    };
    const auto asks_for_type = [&](ir::ExprId call) {
      const ir::Expr& callee = module[ir::CalleeOf(module[call])];
      const std::string_view name = callee.kind == ir::ExprKind::Name ? context_.program.text(ir::NameOf(callee)) : std::string_view();
      return (name == "type" || name == "isinstance") && ir::ArgCount(module, module[call]) > 0 && is_text(ir::ArgAt(module, module[call], 0).value);
    };
    return std::ranges::any_of(context_.index.ExprsOf(module_id, ir::ExprKind::Binary), is_sum) &&
           std::ranges::none_of(context_.index.ExprsOf(module_id, ir::ExprKind::Call), asks_for_type);
  }

  // Under which keys the record holds a text.
  std::vector<base::NameId> KeysOfTexts(const FileUse& write) const {
    std::vector<base::NameId> texts;
    for (const Item& item : ItemsWritten(write)) {
      if (item.is_text) texts.push_back(item.key);
    }
    return texts;
  }

  bool Holds(variation::ValueId object, variation::ValueId loaded) const {
    const std::vector<variation::ValueId> leaves = context_.values.Leaves(object);
    return std::ranges::count(leaves, loaded) > 0;
  }

  // Some function reads first and comes to the loop that writes later: it goes on from what was written.
  bool ResumesBefore(const FileUse& read, const Saved& saved) const {
    std::vector<Site> reads = read.way;
    const std::vector<Site> above = context_.index.WaysTo(read.way.front());
    reads.insert(reads.end(), above.begin(), above.end());
    return std::ranges::any_of(saved.places, [&](const Site& write) {
      return !IsInsideOfRound(saved, write) && std::ranges::any_of(reads, [&](const Site& reading) {
        return reading.function == write.function && reading.expr != write.expr && IsBefore(reading, write);
      });
    });
  }

  // Of a function that is called in each round: what it reads before it writes, it reads each time.
  bool IsInsideOfRound(const Saved& saved, const Site& write) const {
    const auto on_way = std::ranges::find(saved.write.way, write);
    return on_way != saved.write.way.end() && !IsInTraining(std::span(on_way, saved.write.way.end()));
  }

  bool IsBefore(const Site& reading, const Site& write) const {
    const ir::Module& module = context_.program.module_of(write.function);
    const std::vector<ir::StmtId> loops = context_.index.LoopsAround(write);
    if (loops.empty()) return module[reading.expr].begin < module[write.expr].begin && !LeavesAfter(reading);
    const ir::Stmt& loop = module[loops.back()];
    // `for epoch in range(resume(path), epochs)`
    const bool is_at_head = loop.kind == ir::StmtKind::For && module[reading.expr].end <= module[ir::AssignedOf(loop)].end;
    return (module[reading.expr].begin < loop.begin || is_at_head) && !LeavesAfter(reading);
  }

  // `if args.eval: load(path); evaluate(); return`
  bool LeavesAfter(const Site& site) const {
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Tree& tree = context_.index.tree(module_id);
    for (ir::StmtId at = tree.StatementOf(site.expr); at; at = tree.Parent(at)) {
      if (module[at].kind == ir::StmtKind::Return) return !tree.Parent(at) ? false : module[tree.Parent(at)].kind == ir::StmtKind::If;
      const ir::StmtId outer = tree.Parent(at);
      if (!outer || module[outer].kind != ir::StmtKind::If) continue;
      const auto block = module.statements(tree.BlockOf(at));
      if (!block.empty() && module[block.back()].kind == ir::StmtKind::Return) return true;
    }
    return false;
  }

  // The call in the loop that trains, or where the way to it begins.
  const Site& PlaceOf(const FileUse& write) const {
    const auto in_loop = std::ranges::find_if(write.way, [&](const Site& site) { return IsInTraining({&site, 1}); });
    return in_loop == write.way.end() ? write.way.front() : *in_loop;
  }

  void Report(const FileUse& write, const FileUse& read, const FilePath& picked, bool is_same_each_time) {
    if (IsTextForNumber(write, read)) return;
    const std::string name = NameOf(picked);
    const Site& place = PlaceOf(write);
    if (!reported_.insert({SpanOf(context_, place).file.index, SpanOf(context_, place).begin}).second) return;
    const Cause cause{place.function, FolderOf(write.path), is_same_each_time, sink_.size()};
    const auto before = std::ranges::find_if(causes_, [&](const Cause& other) { return IsOneCause(cause, other); });
    if (before != causes_.end()) return AddLabel(sink_[before->finding], SpanOf(context_, place), LabelRole::Note, {"so is `{}` here", {name}});
    causes_.push_back(cause);
    findings::Text message =
        is_same_each_time
            ? findings::Text{"`{}` is overwritten in place: a job killed while writing loses both the "
                             "old checkpoint and the new one", {name}}
            : findings::Text{"`{}` is written under the name by which the newest checkpoint is picked: a job "
                             "killed while writing leaves half a file and resumes from it", {name}};
    Finding finding = FindingAt(context_, kAR808, Severity::Warning, Confidence::Likely, place, std::move(message));
    AddLabel(finding, finding.span, LabelRole::Primary,
             {is_same_each_time ? "the previous checkpoint is lost as soon as this starts to write" : "after a crash, half a file is the newest checkpoint", {}});
    if (!(place == write.site())) AddLabel(finding, SpanOf(context_, write.site()), LabelRole::Call, {"written here", {}});
    AddLabel(finding, SpanOf(context_, read.site()), LabelRole::Call, {"the job can resume from it here", {}});
    finding.help = {"save under a temporary name in the same folder, then move it into place with `os.replace`", {}};
    finding.is_in_preview = IsWithoutCommand(context_, place.function, finding);
    sink_.push_back(std::move(finding));
  }

  // What writes a checkpoint in one of both ways.
  struct Cause {
    FuncId function;     // of the place
    std::string folder;  // empty: not known
    bool is_same_each_time = false;
    size_t finding = 0;  // in `sink_`
  };

  // The parts of a checkpoint, or the last one and the best one: what one function writes, and what a file writes into one folder.
  bool IsOneCause(const Cause& a, const Cause& b) const {
    if (a.is_same_each_time != b.is_same_each_time || context_.program.funcs[a.function].module != context_.program.funcs[b.function].module) return false;
    return a.function == b.function || (!a.folder.empty() && a.folder == b.folder);
  }

  static std::string FolderOf(const FilePath& path) {
    const std::string spelled = path.Spelled();
    return std::string(base::FolderOf(spelled));
  }

  // The name as a person would write it.
  static std::string NameOf(const FilePath& path) {
    std::string text;
    for (const objects::PathPiece& piece : path.pieces) {
      const bool repeats = piece.hole && text.ends_with('*');
      if (!repeats) text += piece.hole ? "*" : piece.text;
    }
    return text;
  }

  const Context& context_;
  FindingSink& sink_;
  WrittenContent content_;
  std::set<std::pair<uint32_t, uint32_t>> reported_;
  std::vector<Cause> causes_;
};

void CheckTornCheckpoint(const Context& context, FindingSink& sink) { Checkpoints(context, sink).Run(); }

}  // namespace

extern const Rule TornCheckpoint = {
    .code = kAR808,
    .name = "torn-checkpoint",
    .severity = Severity::Warning,
    .preview_in_part = "findings in programs that no command here starts on several ranks: 11 of the 14 that were read were right, and 34 of 39 of the others",
    .languages = "Python",
    .summary = "checkpoint that is overwritten in place, and from which the program resumes",
    .explanation = R"md(
## What it finds

A checkpoint that a training loop writes, directly or through helpers, under a name that is the same each
time, where the same program reads a file of this name before the loop: it resumes from what it overwrites.
Also one whose name, or whose folder, counts, if the program picks the newest of such names to go on from.

Where the name of the file to resume from is left to the user, the file is known by what the program takes
out of it: the states of two or more objects, all of them under keys that the checkpoint has. What one file of
the program writes into a folder, or in a function, is one finding with all places.

Names are compared as values: `os.path.join`, `/`, f-strings, `%`, `format`, lists of paths,
parameters of helpers, and what is assigned to the options of the command line.

## Why it hurts

Writing begins with truncating the file. A job that is preempted, runs out of time or out of memory meanwhile
leaves half a file, and the last good checkpoint is what was overwritten: `PytorchStreamReader failed reading
zip archive`, and days are lost. The larger the model, the longer the moment.

## Wrong

```python
torch.save(state, "last.pt")
```

## Right

```python
torch.save(state, "last.pt.tmp")
os.replace("last.pt.tmp", "last.pt")
```

## When it is silent

* It is written only where it, or its folder, is not there yet, as a cache is.
* What is written is a text, `latest.write_text(name)` or `json.dump(...)`: the checkpoint that it names or
  describes stays. So does it where numbers alone are saved beside it (`torch.save([epoch], path)`).
* The file, or the folder that it is in, is written under another name and then renamed, or the old one is
  moved away first.
* The name or a folder on the way changes from one time to the next, and nothing picks the newest: it holds
  the step, in a variable, a field that is counted up, what a checkpoint holds under the name of such a
  field, or a parameter that is another one in each call.
* The same is written whenever this is, under another name or in a folder of its own each time, as the best
  model is beside the last one: then one of both is always whole.
* A `raise` or `break` stands behind the call: it is made once.
* What is saved holds a text where the reader counts on (`"epoch": "best"`): nobody can resume from it.
* The file is read behind the loop, in a branch that only evaluates, in another script, or in the function
  that writes it in each round: it is a result, not a checkpoint to go on from.
* The newest is picked only where the one that the same loop overwrites is not there: that one is reported.

## Fix

There is none: whether the name is a file or something like one is not known.

## Proof

There is nothing to replay: it takes a job that is killed at the wrong moment.
)md",
    .check = CheckTornCheckpoint};

}  // namespace allranks::rules
