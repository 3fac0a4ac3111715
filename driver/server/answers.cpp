// Requests that need the analysis, and the answers to them.
#include <algorithm>
#include <set>

#include "driver/server/requests.h"
#include "driver/server/uri.h"
#include "driver/server/worker.h"
#include "rules/rule.h"

namespace allranks::server {
namespace {

std::string ReadUri(const Json& params) {
  const Json& uri = At(params, "textDocument", "uri");
  if (!uri.is_string()) throw RequestError(ErrorCode::InvalidParams, "`textDocument.uri` is no string");
  return uri.get<std::string>();
}

std::string TextOr(const Json& value, const char* otherwise) {
  return value.is_string() ? value.get<std::string>() : otherwise;
}

}  // namespace

void Worker::AnswerTask(const Task& task) {
  const auto is_cancelled = [&] {
    const std::lock_guard lock(desk_.mutex);
    return desk_.is_active_cancelled;
  };
  Json answer;
  try {
    // An analysis that newer edits stopped is begun again: the answer is about what is on the screen.
    while (!is_cancelled() && !IsOver() && !Analyse()) {
    }
    answer = is_cancelled() ? Json() : Answer(task.id, AnswerTo(task));
  } catch (const RequestError& error) {
    answer = Failure(task.id, error.code(), error.what());
  } catch (const std::exception& error) {
    answer = Failure(task.id, ErrorCode::InternalError, error.what());
  }
  {
    const std::lock_guard lock(desk_.mutex);
    desk_.active.clear();
    if (desk_.is_active_cancelled) return;
  }
  outbox_.Reply(task.id, answer);
}

bool Worker::IsOver() const {
  const std::lock_guard lock(desk_.mutex);
  return desk_.is_over;
}

Json Worker::AnswerTo(const Task& task) {
  if (task.method == "workspace/diagnostic") return WorkspaceDiagnostic(task.params);
  if (task.method == "workspace/executeCommand") return ExecuteCommand(task.params);
  if (task.method == "textDocument/diagnostic") return DocumentDiagnostic(task.params);
  const bool wants_range = task.method == "textDocument/codeAction" || task.method == "textDocument/inlayHint";
  const Range range = wants_range ? ReadRange(At(task.params, "range")) : Range{};
  const bool wants_place = task.method == "textDocument/hover";
  const source::LineColumn place = wants_place ? ReadPosition(At(task.params, "position")) : source::LineColumn{};
  const std::optional<Target> target = TargetOf(task.params);
  if (!target && wants_place) return HoverOfConfiguration(ReadUri(task.params), place);
  if (!target) return nullptr;
  if (wants_place) return Hover(*target, place);
  if (task.method == "textDocument/codeAction") return CodeActions(*target, range, At(task.params, "context", "only"));
  if (task.method == "textDocument/inlayHint") return settings_.inlay_hints ? InlayHints(*target, range) : Json::array();
  return settings_.code_lens ? CodeLenses(*target) : Json::array();
}

Json Worker::HoverOfConfiguration(const std::string& uri, source::LineColumn place) const {
  const std::lock_guard lock(desk_.mutex);
  const Document* document = desk_.documents.Find(uri);
  const bool is_configuration = document != nullptr && IsConfigurationFile(document->path);
  return is_configuration ? ConfigHover(*document, place, client_) : Json(nullptr);
}

// None where the document is none of ours, or its project could not be analysed.
std::optional<Target> Worker::TargetOf(const Json& params) {
  const std::string uri = ReadUri(params);
  std::string path = PathOfUri(uri);
  uint32_t cell = 0;
  {
    const std::lock_guard lock(desk_.mutex);
    const Document* document = desk_.documents.Find(uri);
    if (const Notebook* notebook = desk_.documents.NotebookOf(uri, &cell)) path = notebook->path;
    else if (document != nullptr) path = document->path;
  }
  Workspace* workspace = path.empty() ? nullptr : WorkspaceOf(path);
  const Snapshot* snapshot = workspace == nullptr ? nullptr : workspace->snapshot();
  const source::FileId file = snapshot == nullptr ? source::FileId::None() : snapshot->FileAt(path);
  if (!file) return std::nullopt;
  return Target{*workspace, *snapshot, client_, uri, file, cell, snapshot->ModuleOf(file)};
}

Json Worker::Report(const std::string& uri, const std::string& previous) const {
  const auto known = published_.find(uri);
  const std::string result = std::to_string(known == published_.end() ? 0 : known->second.result);
  if (result == previous) return {{"kind", "unchanged"}, {"resultId", result}};
  return {{"kind", "full"}, {"resultId", result}, {"items", known == published_.end() ? Json::array() : known->second.items}};
}

Json Worker::DocumentDiagnostic(const Json& params) {
  return Report(ReadUri(params), TextOr(At(params, "previousResultId"), ""));
}

Json Worker::WorkspaceDiagnostic(const Json& params) {
  std::map<std::string, std::string> previous;
  for (const Json& each : At(params, "previousResultIds")) {
    previous.emplace(TextOr(At(each, "uri"), ""), TextOr(At(each, "value"), ""));
  }
  Json items = Json::array();
  for (const auto& [uri, published] : published_) {
    const auto known = previous.find(uri);
    if (published.items.empty() && known == previous.end()) continue;
    Json report = Report(uri, known == previous.end() ? std::string() : known->second);
    report["uri"] = uri;
    const auto version = versions_.find(uri);
    report["version"] = version == versions_.end() ? Json() : Json(version->second);
    items.push_back(std::move(report));
  }
  // What the client knows and is gone.
  for (const auto& [uri, value] : previous) {
    if (published_.contains(uri)) continue;
    items.push_back({{"uri", uri}, {"version", nullptr}, {"kind", "full"}, {"items", Json::array()}});
  }
  const Json& token = At(params, "partialResultToken");
  if (token.is_null()) return {{"items", std::move(items)}};
  outbox_.Notify("$/progress", {{"token", token}, {"value", {{"items", std::move(items)}}}});
  return {{"items", Json::array()}};
}

Json Worker::ExecuteCommand(const Json& params) {
  const std::string command = TextOr(At(params, "command"), "");
  const Json& given = At(params, "arguments");
  const auto argument = [&](size_t index) {
    if (!given.is_array() || given.size() <= index || !given[index].is_string()) {
      throw RequestError(ErrorCode::InvalidParams, "the command `" + command + "` lacks an argument");
    }
    return given[index].get<std::string>();
  };
  if (command == "allranks.explain") return Explain(argument(0));
  if (command == "allranks.showTrace") return ShowTrace(argument(0), argument(1));
  if (command == "allranks.debugInformation") return DebugInformation();
  throw RequestError(ErrorCode::InvalidParams, "no command `" + command + "`");
}

Json Worker::Explain(const std::string& code) {
  const rules::Rule* rule = rules::FindRule(code);
  if (rule == nullptr) throw RequestError(ErrorCode::InvalidParams, "no rule `" + code + "`");
  const std::string name = std::string(rule->code) + " " + std::string(rule->name);
  if (!client_.opens_pages) {
    outbox_.Show(Outbox::Level::Info, name + ": " + std::string(rule->summary) + "; `allranks rule " +
                                          std::string(rule->code) + "` prints its page");
  }
  return rules::RulePage(*rule);
}

Json Worker::ShowTrace(const std::string& uri, const std::string& function) {
  const std::optional<Target> target = TargetOf({{"textDocument", {{"uri", uri}}}});
  if (!target || !target->module) throw RequestError(ErrorCode::InvalidParams, "`" + uri + "` was not analysed");
  return target->workspace.Trace(target->module, function);
}

Json Worker::DebugInformation() const {
  Json folders = Json::array();
  for (const std::unique_ptr<Workspace>& workspace : workspaces_) {
    const Snapshot* snapshot = workspace->snapshot();
    if (snapshot == nullptr) continue;
    Json timings = Json::object();
    for (const pipeline::Timing& timing : snapshot->output.timings) timings[timing.phase] = timing.seconds;
    folders.push_back({{"folder", workspace->folder()}, {"seconds", std::move(timings)},
                       {"filesParsed", snapshot->output.files_parsed}, {"filesScanned", snapshot->output.files_scanned},
                       {"names", snapshot->analysed.names.size()}});
  }
  return folders;
}

}  // namespace allranks::server
