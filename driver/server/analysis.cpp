// When what is analysed, and what the client is told of it.
#include <algorithm>

#include "driver/config/project.h"
#include "driver/pipeline/paths.h"
#include "driver/server/diagnostics.h"
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
    changes = std::exchange(desk_.changes, {});
    desk_.stop = {};
    stop = desk_.stop.get_token();
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

// One for each folder of the workspace, and one for each project of which only a file is open.
void Worker::FindWorkspaces() {
  std::vector<std::string> wanted;
  {
    const std::lock_guard lock(desk_.mutex);
    wanted = desk_.folders;
    for (const auto& [path, text] : desk_.documents.Overlays()) {
      const bool is_inside = std::ranges::any_of(wanted, [&](const std::string& f) { return pipeline::IsInside(path, f); });
      if (!is_inside) wanted.push_back(config::FindRoot({path}, std::string(pipeline::DirectoryOf(path)), files_));
    }
  }
  std::ranges::sort(wanted);
  wanted.erase(std::ranges::unique(wanted).begin(), wanted.end());
  std::erase_if(workspaces_, [&](const auto& workspace) { return !std::ranges::binary_search(wanted, workspace->folder()); });
  for (const std::string& folder : wanted) {
    const bool is_there = std::ranges::any_of(workspaces_, [&](const auto& w) { return w->folder() == folder; });
    if (!is_there) workspaces_.push_back(std::make_unique<Workspace>(folder, files_));
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
  for (const auto& [path, text] : open.overlays) {
    open.uris.emplace(path, desk_.documents.UriOf(path));
    for (uint32_t cell = 1;; ++cell) {
      const std::string uri = desk_.documents.CellUri(path, cell);
      if (uri.empty()) break;
      open.cells[path].push_back(uri);
    }
  }
  return open;
}

void Worker::Publish(const Changes& changes) {
  std::map<std::string, Json> now;
  for (const std::unique_ptr<Workspace>& workspace : workspaces_) {
    if (workspace->snapshot() == nullptr) continue;
    for (auto& [uri, items] : DiagnosticsOf(*workspace->snapshot(), client_)) {
      Json& all = now.try_emplace(uri, Json::array()).first->second;
      all.insert(all.end(), items.begin(), items.end());
    }
  }
  for (const auto& [uri, published] : published_) now.try_emplace(uri, Json::array());
  bool has_others = false;
  for (auto& [uri, items] : now) {
    const auto [known, is_new] = published_.try_emplace(uri);
    if (!is_new && known->second.items == items) continue;
    Json params = {{"uri", uri}, {"diagnostics", items}};
    {
      const std::lock_guard lock(desk_.mutex);
      const Document* document = desk_.documents.Find(uri);
      if (document != nullptr) params["version"] = document->version;
      has_others = has_others || document == nullptr || !changes.edited.contains(document->path);
    }
    if (!client_.pulls_diagnostics && !(is_new && items.empty())) {
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
