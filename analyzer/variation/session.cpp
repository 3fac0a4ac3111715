#include "analyzer/variation/session.h"

#include <algorithm>

#include "analyzer/ir/outline.h"
#include "analyzer/variation/recording.h"
#include "analyzer/variation/tables.h"

namespace allranks::variation {

Session::Session() = default;
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

void Session::Update(const binding::Program& program, const knowledge::Knowledge& knowledge,
                     const source::SourceFiles& files, Facts& facts) {
  std::vector<Version> now = VersionsOf(program, files);
  const bool is_same = tables_ != nullptr && &tables_->program == &program && &tables_->facts == &facts;
  ++update_;
  if (tables_ != nullptr) {
    tables_->watch = watch_;
    tables_->cut.clear();
  }
  if (is_same && CanFollow(now) && Follow(now, facts)) NoteChanges(program);
  else Begin(program, knowledge, facts);
  cut_ = tables_->cut;
  versions_ = std::move(now);
  values_ = facts.values.size();
}

void Session::NoteChanges(const binding::Program& program) {
  for (uint32_t f = 0; f < program.funcs.size(); ++f) {
    const binding::Func& func = program.funcs[FuncId{f}];
    const FuncId around = func.parent ? func.parent : program.func(func.module, ir::kTopLevel);
    const bool is_changed = recording_->WasEvaluated(FuncId{f}) || recording_->WasEvaluated(around);
    if (is_changed) changed_at_[f] = update_;
  }
}

std::vector<Session::Version> Session::VersionsOf(const binding::Program& program,
                                                  const source::SourceFiles& files) const {
  std::vector<Version> now;
  for (uint32_t i = 0; i < program.modules.size(); ++i) {
    const binding::ModuleInfo& info = program.infos[ir::ModuleId{i}];
    const ir::Module& module = program.modules[ir::ModuleId{i}];
    Version& version = now.emplace_back(Version{.path = info.path, .file = module.file, .content = info.content});
    const bool is_known = i < versions_.size() && versions_[i].path == info.path && versions_[i].content == info.content;
    version.outline = is_known                                  ? versions_[i].outline
                      : module.language != ir::Language::Python ? info.content
                                                                : ir::OutlineOf(module, files[module.file].text, *program.names);
  }
  return now;
}

bool Session::CanFollow(const std::vector<Version>& now) const {
  // Values that nobody holds any more stay in the store.
  if (tables_->store.size() > 2 * first_size_) return false;
  return std::ranges::equal(now, versions_, [](const Version& a, const Version& b) {
    return a.path == b.path && a.file == b.file && a.outline == b.outline;
  });
}

void Session::Begin(const binding::Program& program, const knowledge::Knowledge& knowledge, Facts& facts) {
  tables_.reset();
  facts = {};
  tables_ = std::make_unique<Tables>(program, knowledge, facts);
  tables_->watch = watch_;
  recording_ = std::make_unique<Recording>(program.funcs.size(), true);
  tables_->recording = recording_.get();
  Prepare(*tables_);
  RunRounds(*tables_);
  rounds_ = tables_->round;
  first_size_ = facts.values_store.size();
  begun_at_ = update_;
  changed_at_.assign(program.funcs.size(), update_);
}

// False if the rounds came to rest sooner or later than before: then facts of another round would remain.
bool Session::Follow(const std::vector<Version>& now, Facts& facts) {
  const binding::Program& program = tables_->program;
  std::vector<ir::ModuleId> edited;
  for (uint32_t i = 0; i < now.size(); ++i) {
    if (now[i].content != versions_[i].content) edited.push_back(ir::ModuleId{i});
  }
  facts.values.resize(values_);
  tables_->BeginAgain(edited);
  recording_->Begin(facts);
  for (const ir::ModuleId module : edited) {
    facts.exprs[module.index] = {};
    facts.exprs[module.index].resize(program.modules[module].exprs.size());
    for (uint32_t i = 0; i < program.modules[module].functions.size(); ++i) {
      const FuncId function = program.func(module, ir::FunctionId{i});
      facts.functions[function] = {};
      recording_->Forget(function);
    }
  }
  RunRounds(*tables_);
  return tables_->round == rounds_;
}

}  // namespace allranks::variation
