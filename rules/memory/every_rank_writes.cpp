#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/objects/claims.h"
#include "analyzer/objects/job_runs.h"
#include "analyzer/objects/one_process_modes.h"
#include "analyzer/objects/settings.h"
#include "rules/finding_parts.h"
#include "rules/memory/shared_paths.h"
#include "rules/memory/written_content.h"
#include "rules/program_calls.h"
#include "rules/source_edits.h"

namespace allranks::rules {
namespace {

using objects::FileAct;
using objects::FileUse;
using objects::Site;
using variation::ValueId;

constexpr std::string_view kAR802 = "AR802";

// Of loggers and handlers of `logging`, by name.
constexpr std::string_view kSetLevel = ".setLevel";

class Writers {
 public:
  Writers(const Context& context, FindingSink& sink)
      : context_(context), sink_(sink), world_(objects::SmallJob(context.facts.job)),
        runs_(context.program, context.knowledge, context.facts, context.index, context.launch, context.loading), paths_(context),
        content_(context),
        modes_(context.program, context.facts, context.index, context.guards, context.launch, context.options), settings_(context.program, context.knowledge, context.facts, context.file_uses.paths()), calls_(context) {}

  void Run() {
    for (const FileUse& use : context_.file_uses.uses()) {
      if (IsAsked(use) && !paths_.IsOnePath(use) && !IsNamedInGroup(use)) held_apart_.insert(KeyOf(use));
    }
    for (const FileUse& use : context_.file_uses.uses()) {
      if (IsAsked(use) && paths_.IsOnePath(use) && !held_apart_.contains(KeyOf(use))) Visit(use);
    }
    Tell();
  }

 private:
  struct Found {
    Site place;
    FileAct act;
    bool by_all;  // by every rank, and not by one of each node
    std::string name;
    Finding finding;
  };

  bool IsAsked(const FileUse& use) const {
    // What is moved into place when it is there is whole at any time, whoever comes last.
    const bool is_whole = use.call->entry->Has(knowledge::Role::MoveTo);
    const bool changes_files = (use.act == FileAct::Write && !use.is_once && !is_whole) || IsRemovalThatFails(use) || AppendsTheSame(use);
    return changes_files && !IsLeftToOne(use) && !IsLock(use) && !paths_.IsMadeFirst(use.way) && runs_.IsRunByRanks(use.way) && !runs_.IsInTurn(use.way) &&
           !context_.job_places.IsApart(use.way);
  }

  // `with open("results.txt", "a") as file: file.write(f"{accuracy}\n")` of an accuracy that all ranks have: once for each rank. A
  // text without any value (`"started\n"`) is a log, and what differs from rank to rank may be what each has to add.
  bool AppendsTheSame(const FileUse& use) const {
    if (use.act != FileAct::WriteLog || !use.call->entry->Has(knowledge::Role::OpenFile) || content_.IsOneText(use)) return false;
    const std::vector<ValueId> written = content_.Of(use);
    const bool is_kept = std::ranges::any_of(context_.file_uses.WritesInto(use), [&](const Site& write) { return write.function != use.site().function; });
    return !written.empty() && !is_kept && !IsInLoopOfItsOwn(use) && std::ranges::none_of(written, [&](ValueId value) { return Varies(value, use); });
  }

  // `for line in summary: file.write(line)` of lines that one rank has collected.
  bool IsInLoopOfItsOwn(const FileUse& use) const {
    const ir::ModuleId module_id = context_.program.funcs[use.site().function].module;
    const ir::Module& module = context_.program.modules[module_id];
    return std::ranges::any_of(context_.file_uses.WritesInto(use), [&](const Site& write) {
      return std::ranges::any_of(context_.index.LoopsAround(write), [&](ir::StmtId loop) {
        return module[loop].kind == ir::StmtKind::For && Varies(context_.facts.value(module_id, ir::AssignedOf(module[loop])), use);
      });
    });
  }

  bool Varies(ValueId value, const FileUse& use) const {
    const auto varies = [&](ValueId part) { return !context_.facts.values_store.axes(context_.file_uses.paths().Resolved(part, use.frame)).empty(); };
    return !value || context_.values.AnyPart(value, varies);
  }

  // `lock = open(path, "w")`, then `fcntl.lockf(lock, LOCK_EX)`.
  bool IsLock(const FileUse& use) const {
    const ValueId opened = context_.facts.value(context_.program.funcs[use.site().function].module, use.site().expr);
    return opened && std::ranges::any_of(context_.index.KnownCallsIn(use.site().function), [&](const objects::KnownCall& call) {
      return call.entry->Has(knowledge::Role::LockFile) && context_.index.Arg(call, "fd") == opened;
    });
  }

  // `model.save_pretrained(path, is_main_process=rank == 0)`, `save_function=accelerator.save`: an argument says who writes.
  bool IsLeftToOne(const FileUse& use) const {
    return std::ranges::any_of(use.call->args, [&](ValueId arg) {
      if (!arg) return false;
      const variation::Value& value = context_.values[arg];
      if (value.kind == variation::ValueKind::BoundExternal) return context_.knowledge[value.entry()].Has(knowledge::Role::WriteOnce);
      return IsTest(arg) && IsOfRank(arg);
    });
  }

  bool IsTest(ValueId value) const {
    return context_.values.TruthAsRankTest(value, world_, 0).has_value() && context_.values.TruthAsRankTest(value, world_, 1).has_value();
  }

  void Visit(const FileUse& use) {
    const traces::RankSet ranks = RanksOf(use);
    const bool all = ranks == traces::RankSet::All(world_.size());
    const bool one_a_node = ranks.count() == world_.nodes && ranks.has(0) && ranks.has(world_.per_node);
    if ((!all && !one_a_node) || (!all && SharedPaths::IsOfNode(use.path))) return;
    const Site& place = PlaceOf(use);
    const source::Span span = SpanOf(context_, place);
    const std::string name = SharedPaths::NameOf(use);
    // Somebody may well have asked whether it is still there.
    const bool removes = use.act == FileAct::Remove || use.act == FileAct::MoveFrom;
    const bool is_launched = (!all || runs_.IsSharedWork(use.way)) && runs_.IsStartedOnRanks(use.way.front());
    const bool is_data = !content_.IsOneText(use) && !IsRecordOfOne(use) && !IsQuietElsewhere(use);
    const bool is_sure = !removes && is_launched && is_data && IsNameKnown(use) && !IsLeftToOneOfGroup(use) && !IsLeftOpen(use);
    Finding finding = FindingAt(
        context_, kAR802, Severity::Warning, is_sure ? Confidence::Likely : Confidence::Possible, place,
        {MessageOf(use.act), {all ? "every rank" : "one rank of each node", name}});
    const std::optional<Site> guard = all ? std::nullopt : GuardOf(use, ranks);
    findings::Assume(finding, AssumedOf(use, all, guard.has_value()));
    AddLabel(finding, finding.span, LabelRole::Primary, {"the same path on all of them", {}});
    if (use.site() != place) AddLabel(finding, SpanOf(context_, use.site()), LabelRole::Note, {use.act == FileAct::Remove ? "removed here" : removes ? "moved here" : "written here", {}});
    if (guard) AddLabel(finding, SpanOf(context_, *guard), LabelRole::Why, {"true on one rank of each node", {}});
    finding.help = {use.act == FileAct::Remove ? "remove it on rank 0 only" : removes ? "move it on rank 0 only" : "write on rank 0 only, or put the rank into the file name", {}};
    if (!removes) AddFix(place, finding);
    const FileUse* read = ReadOfCache(use);
    if (read != nullptr) AddLabel(finding, SpanOf(context_, read->site()), LabelRole::Note, {"read here, perhaps before it is complete", {}});
    const auto [kept, is_new] = found_.try_emplace({span.file.index, span.begin}, Found{place, use.act, all, name, finding});
    if (!is_new && finding.confidence > kept->second.finding.confidence) kept->second = {place, use.act, all, name, std::move(finding)};
  }

  // The caller that hands the path over; where it hands over settings, the function that takes the path out of these.
  const Site& PlaceOf(const FileUse& use) const {
    size_t place = use.way.size() - 1;
    ValueId path = use.value;
    for (const objects::CallFrame* frame = use.frame; frame != nullptr && place > 0; frame = frame->caller) {
      const std::optional<uint32_t> param = path ? ParamIn(path, frame->function) : std::nullopt;
      if (!param || *param >= frame->args.size()) break;
      path = frame->args[*param];
      --place;
    }
    return use.way[place];
  }

  // Of which parameter a path is made, itself or put together with others; none if it is an attribute or item of one.
  std::optional<uint32_t> ParamIn(ValueId value, FuncId function) const {
    const variation::Value& node = context_.values[value];
    if (node.kind == variation::ValueKind::Param) return node.function() == function ? std::optional(node.param_index()) : std::nullopt;
    const base::NameId name = context_.facts.values_store.DerivedBy(node);
    const std::string_view by = name ? context_.program.text(name) : std::string_view();
    const bool is_part = by == "[]" || (node.kid_count == 1 && by.find('.') == std::string_view::npos);
    if (is_part) return std::nullopt;
    for (const ValueId kid : context_.facts.values_store.Kids(value)) {
      if (const std::optional<uint32_t> param = kid ? ParamIn(kid, function) : std::nullopt) return param;
    }
    return std::nullopt;
  }

  // What statements next to each other do alike has one cause.
  void Tell() {
    const Found* before = nullptr;
    for (auto& [place, found] : found_) {
      if (before != nullptr && IsOneCause(*before, found)) {
        AddLabel(sink_.back(), found.finding.span, LabelRole::Note, {"and `{}` here", {found.name}});
      } else {
        sink_.push_back(found.finding);
      }
      before = &found;
    }
  }

  bool IsOneCause(const Found& a, const Found& b) const {
    if (a.act != b.act || a.by_all != b.by_all || a.finding.confidence != b.finding.confidence || a.place.function != b.place.function) return false;
    const auto [block, first] = PositionOf(a.place);
    const auto [other, second] = PositionOf(b.place);
    return block && block == other && second - first <= 1;
  }

  // The block that a place stands in, and which of its statements it belongs to; those of a `with` count as its own.
  std::pair<ir::BlockId, size_t> PositionOf(const Site& site) const {
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Tree& tree = context_.index.tree(module_id);
    ir::StmtId stmt = context_.index.StatementOf(site);
    if (!stmt) return {ir::BlockId::None(), 0};
    while (tree.Parent(stmt) && module[tree.Parent(stmt)].kind == ir::StmtKind::With) stmt = tree.Parent(stmt);
    const auto statements = module.statements(tree.BlockOf(stmt));
    return {tree.BlockOf(stmt), static_cast<size_t>(std::ranges::find(statements, stmt) - statements.begin())};
  }

  static std::string_view MessageOf(FileAct act) {
    if (act == FileAct::Remove) return "{} removes `{}`: on a shared file system the later ranks find it gone";
    if (act == FileAct::MoveFrom) return "{} moves `{}`: on a shared file system the later ranks find it gone";
    if (act == FileAct::WriteLog) return "{} appends the same to `{}`: on a shared file system it is there once for each of them";
    return "{} writes `{}`: on a shared file system they overwrite each other";
  }

  // The test that lets one rank of each node through, there or in a caller.
  std::optional<Site> GuardOf(const FileUse& use, traces::RankSet ranks) const {
    std::vector<Site> sites = use.way;
    const std::vector<Site> above = context_.index.WaysTo(use.way.front());
    sites.insert(sites.end(), above.begin(), above.end());
    for (const Site& site : sites) {
      for (const objects::Guard& guard : context_.guards.Of(site)) {
        if (LetsThrough(guard, ranks)) return Site{guard.function, guard.test};
      }
    }
    return std::nullopt;
  }

  // Who calls it, or with which path, is not seen.
  bool IsLeftOpen(const FileUse& use) const {
    const auto is_handed = [&](const objects::PathPiece& piece) { return piece.hole && IsHandedFromOutside(context_.file_uses.paths().Resolved(piece.hole, use.frame)); };
    return std::ranges::any_of(use.path.pieces, is_handed) || std::ranges::any_of(use.way, [&](const Site& site) { return IsInsideOfUnused(site.function); });
  }

  // `library.bind(save=save)`: the path is a parameter for which nothing here passes anything.
  bool IsHandedFromOutside(ValueId hole) const {
    return hole && context_.values[hole].kind == variation::ValueKind::Param && context_.index.CallersOf(context_.values[hole].function()).empty();
  }

  // A function that one makes which nothing here calls.
  bool IsInsideOfUnused(FuncId function) const {
    for (FuncId outer = context_.program.funcs[function].parent; outer; outer = context_.program.funcs[outer].parent) {
      const bool is_top = context_.program.funcs[outer].function == ir::kTopLevel;
      const bool is_run = !context_.index.CallersOf(outer).empty() || !context_.index.GivenTo(outer).empty();
      if (!is_top && !is_run) return true;
    }
    return false;
  }

  bool IsOfRank(ValueId value) const {
    const knowledge::Axes axes = context_.facts.values_store.axes(value);
    return axes.has(knowledge::Axis::Global) || axes.has(knowledge::Axis::Local);
  }

  bool LetsThrough(const objects::Guard& guard, traces::RankSet ranks) const {
    const ValueId test = context_.facts.value(context_.program.funcs[guard.function].module, guard.test);
    for (uint32_t rank = 0; test && rank < world_.size(); ++rank) {
      if (context_.values.TruthAsRankTest(test, world_, rank) != (ranks.has(rank) == guard.holds)) return false;
    }
    return static_cast<bool>(test);
  }

  // Those that write: of an open file, those that put something into it. What methods write into a field, the callers of these decide; a
  // heading that is the same from all of them is none.
  traces::RankSet RanksOf(const FileUse& use) const {
    const traces::RankSet ranks = context_.ranks.OnWay(use.way, world_);
    traces::RankSet writers;
    for (const Site& write : context_.file_uses.WritesInto(use)) {
      if (write.function != use.site().function) {
        if (!content_.IsOneText(write)) writers = writers | context_.ranks.At(write, world_);
        continue;
      }
      std::vector<Site> way = use.way;
      way.back() = write;
      writers = writers | context_.ranks.OnWay(way, world_);
    }
    writers = writers & ranks;
    return writers.empty() ? ranks : writers;
  }

  // `if tensor_rank == 0:` around it: one rank of each group of the model writes, and whether there are several is not known.
  bool IsLeftToOneOfGroup(const FileUse& use) const {
    std::vector<Site> sites = use.way;
    const std::vector<Site> writes = context_.file_uses.WritesInto(use);
    sites.insert(sites.end(), writes.begin(), writes.end());
    return std::ranges::any_of(sites, [&](const Site& site) {
      const auto claims = objects::ClaimsBefore(context_.program, context_.facts, context_.guards, site.function, context_.index.StatementOf(site));
      return std::ranges::any_of(claims, [&](const objects::Claim& claim) { return claim.equals && claim.holds && IsOfGroup(context_.values[claim.value]); });
    });
  }

  static bool IsOfGroup(const variation::Value& value) {
    return variation::IsCoordinate(value, knowledge::Coordinate::GroupRank) || variation::IsCoordinate(value, knowledge::Coordinate::AxisRank);
  }

  // Not where a program only could: most jobs have one node, or mean it so.
  bool IsOnSeveralNodes(const FileUse& use) const { return context_.facts.job.nodes > 1 || context_.launch.IsOnSeveralNodes(FileOf(use)); }

  findings::Assumptions AssumedOf(const FileUse& use, bool all, bool has_guard) const {
    findings::Assumptions assumed = modes_.AssumedAt(use.way);
    if (!all && (!has_guard || !IsOnSeveralNodes(use))) assumed.Add(findings::Assumption::SeveralNodes);
    if (paths_.HoldsItem(use)) assumed.Add(findings::Assumption::ItemsShared);
    const auto is_habit = [](const knowledge::LaunchSign& sign) { return sign.run_by == knowledge::RunBy::OneProcess && !sign.keyword; };
    const bool is_export = std::ranges::any_of(context_.knowledge.LaunchSigns(use.call->entry->name), is_habit);
    if (is_export || context_.launch.IsNeverOnRanks(FileOf(use))) assumed.Add(findings::Assumption::OwnJob);
    return assumed;
  }

  // `logger.setLevel(INFO if rank == 0 else WARN)` beside a log that all ranks open: the others write next to nothing into it.
  bool IsQuietElsewhere(const FileUse& use) const {
    if (!use.call->entry->Has(knowledge::Role::WriteLog)) return false;
    return std::ranges::any_of(context_.index.known_calls(), [&](const objects::KnownCall& other) {
      if (other.function != use.call->function || !context_.program.text(other.entry->name).ends_with(kSetLevel)) return false;
      const ValueId level = context_.index.Arg(other, "level");
      return level && IsOfRank(level);
    });
  }

  // Some text, or one setting of the program: what a function made of something may be another file on each rank.
  bool IsNameKnown(const FileUse& use) const {
    const objects::FilePath name = use.path.Name();
    return name.HasText() || std::ranges::none_of(name.pieces, [&](const objects::PathPiece& piece) {
      return piece.changes || !IsSetting(context_.file_uses.paths().Resolved(piece.hole, use.frame));
    });
  }

  // `args.output`, `config["output"]`.
  bool IsSetting(ValueId value) const {
    const variation::Value& node = context_.values[value];
    const base::NameId name = context_.facts.values_store.DerivedBy(node);
    const auto kids = context_.facts.values_store.Kids(value);
    if (!name) return node.kind == variation::ValueKind::Object || (node.kind == variation::ValueKind::Derived && kids.empty());
    const bool is_item = context_.program.text(name) == "[]" && kids.size() == 2 && context_.values[kids[1]].kind == variation::ValueKind::Str;
    return is_item || kids.size() == 1;
  }

  // The settings of the run, or a few lines that are the same from each rank, which no part of the program reads soon: whoever is last, nobody is
  // misled.
  bool IsRecordOfOne(const FileUse& use) {
    const std::vector<ValueId> written = content_.Of(use);
    const bool are_settings = !written.empty() && std::ranges::all_of(written, [&](ValueId value) { return settings_.AreAll(value, use.frame); });
    return use.act == FileAct::Write && (are_settings || WritesTheSameText(use)) && !IsReadSoon(use) && !CopiesWhatIsWritten(use);
  }

  bool WritesTheSameText(const FileUse& use) const {
    std::vector<ValueId> text;
    for (const knowledge::RoleOf& role : use.call->entry->roles) {
      if (role.role == knowledge::Role::WritesText) text.push_back(context_.index.Arg(*use.call, context_.program.text(role.param)));
    }
    if (use.call->entry->Has(knowledge::Role::OpenFile) && content_.IsText(use)) text = content_.Of(use);
    return !text.empty() && std::ranges::all_of(text, [&](ValueId value) { return settings_.AreAllOrConstant(value, use.frame); });
  }

  // Where all ranks read what is made where it is not found: one that comes later finds what another has only begun to write.
  const FileUse* ReadOfCache(const FileUse& use) {
    if (use.act != FileAct::Write || !IsLookedFor(use)) return nullptr;
    const auto& uses = context_.file_uses.uses();
    const auto read = std::ranges::find_if(uses, [&](const FileUse& other) {
      return IsReadOf(other, use) && context_.ranks.OnWay(other.way, world_) == traces::RankSet::All(world_.size());
    });
    return read == uses.end() ? nullptr : &*read;
  }

  // `if os.path.exists(path):` on the way, of this very file.
  bool IsLookedFor(const FileUse& use) const {
    return std::ranges::any_of(use.way, [&](const Site& site) {
      return std::ranges::any_of(context_.guards.Of(site), [&](const objects::Guard& guard) {
        return std::ranges::any_of(context_.index.KnownCallsIn(guard.function), [&](const objects::KnownCall& call) { return LooksFor(call, guard, use); });
      });
    });
  }

  bool LooksFor(const objects::KnownCall& look, const objects::Guard& guard, const FileUse& use) const {
    const ir::Module& module = context_.program.module_of(guard.function);
    const bool is_in_test = module[guard.test].begin <= module[look.expr].begin && module[look.expr].end <= module[guard.test].end;
    // `if os.path.exists(path):` before it says that it is made again.
    const bool is_itself = module[guard.test].begin == module[look.expr].begin && module[guard.test].end == module[look.expr].end;
    if (!is_in_test || (is_itself && guard.holds) || !look.entry->Has(knowledge::Role::LooksAtDisk)) return false;
    const ValueId asked = look.args.empty() || !look.args[0] ? look.receiver : look.args[0];
    const auto paths = asked ? context_.file_uses.paths().PathsOf(asked, use.frame) : std::vector<objects::FilePath>();
    return std::ranges::any_of(paths, [&](const objects::FilePath& path) { return objects::IsOneName(path, use.path); });
  }

  bool IsReadOf(const FileUse& read, const FileUse& written) const {
    return read.act == FileAct::Read && read.call != written.call && objects::IsOneName(written.path, read.path) && calls_.IsOneProgram(FileOf(written), FileOf(read));
  }

  // In the same function, or where it is found: before another rank is through with writing it.
  bool IsReadSoon(const FileUse& use) const {
    const bool is_cache = IsLookedFor(use);
    return std::ranges::any_of(context_.file_uses.uses(), [&](const FileUse& other) {
      const bool is_near = is_cache || other.way.front().function == use.way.front().function || other.site().function == use.site().function;
      return is_near && IsReadOf(other, use);
    });
  }

  // `shutil.copy("config.yaml", folder)` of a file that the ranks have just written.
  bool CopiesWhatIsWritten(const FileUse& use) {
    const auto& uses = context_.file_uses.uses();
    return std::ranges::any_of(uses, [&](const FileUse& source) {
      return source.act == FileAct::Read && source.call == use.call && std::ranges::any_of(uses, [&](const FileUse& other) {
        return other.act == FileAct::Write && other.call != use.call && objects::IsOneName(source.path, other.path) && calls_.IsOneProgram(FileOf(use), FileOf(other));
      });
    });
  }

  ir::ModuleId FileOf(const FileUse& use) const { return context_.program.funcs[use.way.front().function].module; }

  // `rmtree(path)` or `os.replace(path, other)` that does not expect the path to be gone.
  bool IsRemovalThatFails(const FileUse& use) const {
    if (use.act != FileAct::Remove && use.act != FileAct::MoveFrom) return false;
    const ir::ModuleId module_id = context_.program.funcs[use.site().function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::Expr& call = module[use.site().expr];
    const uint32_t arguments = use.act == FileAct::Remove ? 1 : 2;
    if (call.kind != ir::ExprKind::Call || ir::ArgCount(module, call) > arguments) return false;
    const bool takes_itself = context_.program.text(use.param) == "self";
    if (takes_itself && ir::ArgCount(module, call) >= arguments) return false;
    const ir::Tree& tree = context_.index.tree(module_id);
    for (ir::StmtId at = context_.index.StatementOf(use.site()); at; at = tree.Parent(at)) {
      if (module[at].kind == ir::StmtKind::Try && IsCaught(module, module[at], call.begin)) return false;
    }
    return true;
  }

  // What its handlers do is not caught by themselves.
  static bool IsCaught(const ir::Module& module, const ir::Stmt& stmt, uint32_t at) {
    const auto handlers = ir::HandlersOf(module, stmt);
    return !handlers.empty() && at < handlers.front().begin;
  }

  void AddFix(const Site& site, Finding& finding) const {
    const ir::ModuleId module_id = context_.program.funcs[site.function].module;
    const ir::Module& module = context_.program.modules[module_id];
    const ir::StmtId stmt = context_.index.StatementOf(site);
    const bool is_plain = stmt && module[stmt].kind == ir::StmtKind::Expr && ir::ValueOf(module[stmt]) == site.expr;
    const std::string_view text = TextOf(context_, module.span(stmt));
    if (!is_plain || text.find('\n') != std::string_view::npos || !BeginsLine(context_, module_id, stmt)) return;
    std::vector<findings::Edit> edits = {
        InsertBefore(context_, module_id, stmt, "if torch.distributed.get_rank() == 0:"),
        Replace({module.file, module[stmt].begin, module[stmt].begin}, "    ")};
    for (findings::Edit& edit : EnsureImport(context_, module_id, "torch", "import torch")) edits.push_back(std::move(edit));
    finding.fixes.push_back(MakeFix("write on rank 0 only", Applicability::Unsafe, std::move(edits)));
  }

  // Named after the rank in some group: where the job has no such group, the other alternatives are one file for all.
  bool IsNamedInGroup(const FileUse& use) const {
    return std::ranges::any_of(use.path.pieces, [&](const objects::PathPiece& piece) {
      return piece.hole && context_.values.AnyPart(context_.file_uses.paths().Resolved(piece.hole, use.frame), [&](ValueId part) {
        return IsOfGroup(context_.values[part]);
      });
    });
  }

  // A call and the calls on the way to it: its paths are alternatives of one file.
  using Key = std::vector<std::pair<uint32_t, uint32_t>>;
  static Key KeyOf(const FileUse& use) {
    Key key = {{use.call->function.index, use.call->expr.index}};
    for (const Site& site : use.way) key.emplace_back(site.function.index, site.expr.index);
    return key;
  }

  const Context& context_;
  FindingSink& sink_;
  const traces::World world_;
  objects::JobRuns runs_;
  SharedPaths paths_;
  WrittenContent content_;
  objects::OneProcessModes modes_;
  objects::Settings settings_;
  mutable ProgramCalls calls_;
  std::set<Key> held_apart_;                // where some alternative differs by rank: the program chooses by rank
  std::map<std::pair<uint32_t, uint32_t>, Found> found_;  // by file and place, the surest of each
};

void CheckEveryRankWrites(const Context& context, FindingSink& sink) { Writers(context, sink).Run(); }

}  // namespace

extern const Rule EveryRankWrites = {
    .code = kAR802,
    .name = "every-rank-writes",
    .severity = Severity::Warning,
    .on_by_default = false,
    .preview = "of 32 findings that were shown by default for a while, of caches that all ranks read and of checkpoints, on code that nobody had looked at, 21 were right",
    .languages = "Python",
    .summary = "file that all ranks, or one rank of each node, write under the same path",
    .explanation = R"md(
## What it finds

A file that every rank of a distributed program writes, moves away or removes under the same path, directly
or through helpers and files, or that one rank of each node does: "am I the writer" was asked of the local
rank. Who gets there is decided on two nodes of two ranks, as for collectives, and the path is asked on just
these ranks: it may hold the local rank and still be one.

Files are those of `torch.save`, `open(path, "w")`, `numpy.save`, `json.dump`, `yaml.dump`,
`to_csv`, `save_file`, `save_pretrained` and what else the knowledge base gives the role `write`
or `remove_file`. So is what all ranks append alike to one file (`open("results.txt", "a")`). Logs and
folders are left out: two ranks that make one folder with `exist_ok`, or write their own lines into one log,
harm nobody. What statements next to each other write alike is one finding.

## Why it hurts

On a shared file system all ranks write to one file at once. Mostly the last one wins; now and then the
bytes mix, and the checkpoint fails to load with `PytorchStreamReader failed` or `unexpected EOF` when
it is needed, days later. A cache that is made where it is not found is read too early: a rank that comes a
moment later finds the file, and gets what another has only begun to write. Even where it goes well, writing
the same gigabytes 64 times keeps the storage busy while all GPUs wait.

## Wrong

```python
if epoch % 10 == 0:
    torch.save(model.module.state_dict(), "last.pt")
```

## Right

```python
if epoch % 10 == 0 and dist.get_rank() == 0:
    torch.save(model.module.state_dict(), "last.pt")
```

## When it is silent

* A test of the rank, of any form, leaves one writer: also an early return, an `assert`, a caller's test, and
  a flag, parameter or field that was given such a test somewhere (`args.save_logs = is_master(args)`,
  `Saver(enabled=is_master(args))`) or is emptied on some ranks (`if rank != 0: args.folder = None`), or left
  out where the other ranks make the object (`Saver(path)` on rank 0, `Saver()` elsewhere).
* The path depends on the rank, the rank's own data, the clock, or is a temporary file or a buffer, or is
  named after the rank (`args.local_rank`, `"log-rank%d.txt"`, what is handed to `init_process_group` as
  `rank`). So too where only one of several names does: `suffix += f"-{rank}"` under `if rank > 0`.
* All open the file, and one rank puts something into it; also where a field keeps the open file and methods
  write into it, below a heading that is the same from all of them.
* What is appended differs from rank to rank, or is a text that holds no value.
* An argument says who writes: `save_pretrained(path, is_main_process=rank == 0)`.
* A variable is asked for (`if best is not None`) that one rank alone has set, or a parameter that no call
  passes.
* The function is a thread's, and one rank alone starts the thread.
* The place is part of a mode of the script that makes no job: the other arm of the branch that makes it,
  or a branch that exits before.
* A `with` around it holds a lock, or lets one rank go first, there or where it is called from; or it stands
  behind a branch of a barrier in which the others wait until one is done. A file that is opened to be locked
  is such a lock.
* It is written where it is not found, and one rank comes there alone somewhere in the program, or the process
  that starts the others (`mp.spawn`, `trainer.fit`) has been there by then.
* The library calls the method on one rank (`Trainer._save`, `prepare_data`), or a notebook runs it.
* The process that starts the ranks writes, before there are any.
* A removal expects that the file may be gone: `ignore_errors`, `missing_ok`, or a `try` around it.
* One rank of a node writes, and the configuration says `world.nodes = 1`, or the file lies in `/tmp` or
  `/dev/shm`.
* One process runs the script, as all lines of scripts and pages start it, or the job is one of one process:
  `world_size=1`, or the same number as rank wherever it comes from, as no two processes can be that rank.
* A switch that the program sets itself (`distributed = False`) keeps the job from being made.
* Nothing starts the file, and no other file imports it; or it stands under `if __name__ == "__main__":` of a
  file that others import and no line starts, and does nothing of ranks there: a test of its own.
* Nothing is seen to call the method, and all calls of one of that name, of whatever object, are left to one
  rank (`for callback in callbacks: callback.on_save(self)`).
* It is fetched into a file of another name, and moved into place (`torch.hub.download_url_to_file`).
* The function's callers are not seen: they may call it on one rank only. So may whoever calls a method of a
  `torch.nn.Module` that is not `forward`.

It is *possible*, and hidden by default, where one rank of each node writes and no line starts the program
on several nodes, as most jobs have one or mean it so; where all open a log whose level differs by rank;
where the name is that of an item, which may be of the rank's own share, or a function's result of which
nothing is known; where all write the same few lines, or settings of the run (what the command line or a
file says, also the configuration of a model or a tokenizer as it was read), that nothing in the program
reads at once, so that it matters to nobody who was last; where all only empty the file; where one rank of
each group of the model writes (`if tensor_rank == 0:`); where what is written is an export; where the
scripts and pages of the project start programs, but none of them ranks of this one, nor does it start them
itself; where those of them that lead to the place by their options start one process, or all that start
ranks leave out an option that it takes; and where a process group is made, but no file on the way wraps a
model, communicates, deals out data or asks for ranks.

## Fix

`--unsafe-fixes` puts the statement under `if torch.distributed.get_rank() == 0:`. It is not safe, as what is
written may have to be gathered on all ranks first (AR102).

## Proof

There is nothing to replay: which bytes win is decided by the file system.
)md",
    .check = CheckEveryRankWrites,
    .has_fix = true,
    .fix = Applicability::Unsafe};

}  // namespace allranks::rules
