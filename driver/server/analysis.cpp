// When what is analysed, and what the client is told of it.
#include <algorithm>
#include <set>

#include "driver/config/project.h"
#include "driver/pipeline/paths.h"
#include "driver/server/diagnostics.h"
#include "driver/server/uri.h"
#include "driver/server/worker.h"

namespace allranks::server {
namespace {

// Tells the client how far an analysis is, where that takes long enough to be of interest.
class ProgressReport {
 public:
  ProgressReport(Outbox& outbox, std::string token) : outbox_(outbox), token_(std::move(token)) {
    if (token_.empty()) return;
    outbox_.Ask("window/workDoneProgress/create", {{"token", token_}});
    Send({{"kind", "begin"}, {"title", "allranks"}, {"cancellable", true}});
  }
  ~ProgressReport() {
    if (!token_.empty()) Send({{"kind", "end"}});
  }
  ProgressReport(const ProgressReport&) = delete;
  ProgressReport& operator=(const ProgressReport&) = delete;

  void Phase(std::string_view phase, size_t total) {
    if (token_.empty()) return;
    const std::string files = total == 0 ? std::string() : ": " + std::to_string(total) + " files";
    Send({{"kind", "report"}, {"message", std::string(phase) + files}});
  }

 private:
  void Send(Json value) { outbox_.Notify("$/progress", {{"token", token_}, {"value", std::move(value)}}); }
  Outbox& outbox_;
  std::string token_;
};

}  // namespace

// False: stopped, because something changed meanwhile.
bool Worker::Analyse() {
  Changes changes;
  std::stop_token stop;
  {
    const std::lock_guard lock(desk_.mutex);
    if (desk_.is_over) return false;
    changes = std::exchange(desk_.changes, {});
    desk_.stop = {};
    desk_.is_paused = false;
    stop = desk_.stop.get_token();
    desk_.begun = Clock::now();
    client_ = desk_.client;
    settings_ = desk_.settings;
  }
  if (!changes.any()) return true;
  const Clock::time_point begin = Clock::now();
  FindWorkspaces();
  bool is_whole = true;
  for (const std::unique_ptr<Workspace>& workspace : workspaces_) {
    is_whole = is_whole && AnalyseOne(*workspace, changes, stop);
  }
  {
    const std::lock_guard lock(desk_.mutex);
    if (!is_whole) {
      desk_.changes.disk = desk_.changes.disk || changes.disk;
      desk_.changes.edited.insert(changes.edited.begin(), changes.edited.end());
      return false;
    }
    desk_.last_duration = Clock::now() - begin;
  }
  was_slow_ = Clock::now() - begin > std::chrono::seconds(1);
  Publish(changes);
  return true;
}

bool Worker::AnalyseOne(Workspace& workspace, const Changes& changes, std::stop_token stop) {
  const bool has_edit = std::ranges::any_of(changes.edited, [&](const std::string& path) { return WorkspaceOf(path) == &workspace; });
  if (!changes.disk && !has_edit && workspace.snapshot() != nullptr) return true;
  const bool shows_progress = client_.shows_progress && was_slow_;
  ProgressReport progress(outbox_, shows_progress ? "allranks/" + std::to_string(next_token_++) : std::string());
  const base::Result<bool> done = workspace.Analyse(
      settings_, OpenIn(workspace), !changes.disk, stop,
      [&](std::string_view phase, size_t, size_t total) { progress.Phase(phase, total); });
  if (!done && stop.stop_requested()) return false;
  const std::string problem = done ? std::string() : done.error().message;
  if (problem != last_problem_ && !problem.empty()) outbox_.Show(Outbox::Level::Error, "allranks: " + problem);
  last_problem_ = problem;
  return true;
}

// One for each folder of the workspace, and one for each project of which only files are open: of that one the rest is read
// where they import it, and not checked. A home directory may be one.
void Worker::FindWorkspaces() {
  std::vector<std::string> wanted;
  std::set<std::string> whole;
  {
    const std::lock_guard lock(desk_.mutex);
    wanted = desk_.folders;
    whole.insert(wanted.begin(), wanted.end());
    for (const auto& [path, text] : desk_.documents.Overlays()) {
      const bool is_inside = std::ranges::any_of(wanted, [&](const std::string& f) { return pipeline::IsInside(path, f); });
      if (!is_inside) wanted.push_back(config::FindRoot({path}, std::string(pipeline::DirectoryOf(path)), files_));
    }
  }
  std::ranges::sort(wanted);
  wanted.erase(std::ranges::unique(wanted).begin(), wanted.end());
  std::erase_if(workspaces_, [&](const auto& workspace) {
    return !std::ranges::binary_search(wanted, workspace->folder()) || workspace->is_whole() != whole.contains(workspace->folder());
  });
  for (const std::string& folder : wanted) {
    const bool is_there = std::ranges::any_of(workspaces_, [&](const auto& w) { return w->folder() == folder; });
    if (!is_there) workspaces_.push_back(std::make_unique<Workspace>(folder, files_, keeps_cache_, whole.contains(folder)));
  }
}

// The innermost folder around a file.
Workspace* Worker::WorkspaceOf(const std::string& path) const {
  Workspace* innermost = nullptr;
  for (const std::unique_ptr<Workspace>& workspace : workspaces_) {
    if (!pipeline::IsInside(path, workspace->folder())) continue;
    if (innermost == nullptr || workspace->folder().size() > innermost->folder().size()) innermost = workspace.get();
  }
  return innermost;
}

OpenFiles Worker::OpenIn(const Workspace& workspace) const {
  const std::lock_guard lock(desk_.mutex);
  OpenFiles open{.overlays = desk_.documents.Overlays(), .uris = {}, .cells = {}};
  std::erase_if(open.overlays, [&](const auto& item) { return WorkspaceOf(item.first) != &workspace; });
  const auto note_version = [&](const std::string& uri) {
    if (const Document* document = desk_.documents.Find(uri)) open.versions.emplace(uri, document->version);
  };
  for (const auto& [path, text] : open.overlays) {
    open.uris.emplace(path, desk_.documents.UriOf(path));
    note_version(desk_.documents.UriOf(path));
    for (uint32_t cell = 1;; ++cell) {
      const std::string uri = desk_.documents.CellUri(path, cell);
      if (uri.empty()) break;
      open.cells[path].push_back(uri);
      note_version(uri);
    }
  }
  return open;
}

// By URI, of all folders; a file in a folder within a folder belongs to the inner one.
std::map<std::string, Json> Worker::AllDiagnostics() {
  std::map<std::string, Json> all;
  versions_.clear();
  for (const std::unique_ptr<Workspace>& workspace : workspaces_) {
    if (workspace->snapshot() == nullptr) continue;
    versions_.insert(workspace->snapshot()->open.versions.begin(), workspace->snapshot()->open.versions.end());
    for (auto& [uri, items] : DiagnosticsOf(*workspace->snapshot(), client_)) {
      const std::string path = PathOfUri(uri);
      if (path.empty() || WorkspaceOf(path) == workspace.get()) all.insert_or_assign(uri, std::move(items));
    }
  }
  // What was found and is no more.
  for (const auto& [uri, published] : published_) all.try_emplace(uri, Json::array());
  return all;
}

void Worker::Publish(const Changes& changes) {
  bool has_others = false;
  for (auto& [uri, items] : AllDiagnostics()) {
    const auto [known, is_new] = published_.try_emplace(uri);
    if (!is_new && known->second.items == items) continue;
    const auto version = versions_.find(uri);
    has_others = has_others || version == versions_.end() || !changes.edited.contains(PathOfUri(uri));
    if (!client_.pulls_diagnostics && !(is_new && items.empty())) {
      Json params = {{"uri", uri}, {"diagnostics", items}};
      if (version != versions_.end()) params["version"] = version->second;
      outbox_.Notify("textDocument/publishDiagnostics", std::move(params));
    }
    known->second = {std::move(items), next_result_++};
  }
  RefreshViews(has_others, changes.disk);
}

void Worker::RefreshViews(bool diagnostics, bool others) {
  if (diagnostics && client_.pulls_diagnostics && client_.refreshes_diagnostics) {
    outbox_.Ask("workspace/diagnostic/refresh", nullptr);
  }
  if (others && client_.refreshes_inlay_hints) outbox_.Ask("workspace/inlayHint/refresh", nullptr);
  if (others && client_.refreshes_code_lenses) outbox_.Ask("workspace/codeLens/refresh", nullptr);
}

}  // namespace allranks::server
