#include "driver/server/server.h"

#include <algorithm>
#include <array>

#include "driver/server/uri.h"

namespace allranks::server {
namespace {

// Answered by the worker.
constexpr std::array<std::string_view, 7> kTasks = {
    "textDocument/codeAction", "textDocument/codeLens",   "textDocument/diagnostic",  "textDocument/hover",
    "textDocument/inlayHint",  "workspace/diagnostic",    "workspace/executeCommand"};

bool IsTask(std::string_view method) { return std::ranges::find(kTasks, method) != kTasks.end(); }

Json Capabilities(const Client& client) {
  const Json notebooks = {{"notebookSelector", Json::array({{{"notebook", {{"scheme", "file"}}},
                                                             {"cells", Json::array({{{"language", "python"}}})}}})},
                          {"save", true}};
  return {{"positionEncoding", EncodingName(client.encoding)},
          {"textDocumentSync", {{"openClose", true}, {"change", 2}, {"save", {{"includeText", false}}}}},
          {"notebookDocumentSync", notebooks},
          {"diagnosticProvider", {{"identifier", "allranks"}, {"interFileDependencies", true}, {"workspaceDiagnostics", true},
                                  {"workDoneProgress", false}}},
          {"codeActionProvider", {{"codeActionKinds", Json::array({"quickfix", "source.fixAll.allranks"})}}},
          {"codeLensProvider", {{"resolveProvider", false}}},
          {"hoverProvider", true},
          {"inlayHintProvider", true},
          {"executeCommandProvider", {{"commands", Json::array({"allranks.explain", "allranks.showTrace", "allranks.debugInformation"})}}},
          {"workspace", {{"workspaceFolders", {{"supported", true}, {"changeNotifications", true}}}}}};
}

std::vector<std::string> FoldersOf(const Json& params) {
  std::vector<std::string> folders;
  for (const Json& folder : At(params, "workspaceFolders")) {
    const Json& uri = At(folder, "uri");
    if (uri.is_string()) folders.push_back(PathOfUri(uri.get<std::string>()));
  }
  const Json& root = At(params, "rootUri");
  if (folders.empty() && root.is_string()) folders.push_back(PathOfUri(root.get<std::string>()));
  std::erase(folders, std::string());
  return folders;
}

// Of a window without a folder: one that is nowhere, so that nothing on disk is taken for its project.
std::string UntitledFolder(const std::vector<std::string>& folders) { return folders.empty() ? "/untitled" : folders.front(); }

}  // namespace

void Server::Receive(std::string_view text) {
  Message message = ParseMessage(text);
  switch (message.kind) {
    case MessageKind::Invalid: outbox_.Send(Failure(message.id, message.code, message.problem)); break;
    case MessageKind::Response: outbox_.TakeAnswer(message); break;
    case MessageKind::Request: ReceiveRequest(std::move(message)); break;
    case MessageKind::Notification: ReceiveNotification(message); break;
  }
}

void Server::ReceiveMalformed(const std::string& problem) { outbox_.Send(Failure(nullptr, ErrorCode::ParseError, problem)); }

void Server::ReceiveRequest(Message message) {
  const auto fail = [&](ErrorCode code, const std::string& text) { outbox_.Send(Failure(message.id, code, text)); };
  if (is_shut_down_) return fail(ErrorCode::InvalidRequest, "the server is shut down");
  if (message.method == "initialize") {
    if (is_initialized_) return fail(ErrorCode::InvalidRequest, "the server is initialized already");
    if (!message.params.is_object()) return fail(ErrorCode::InvalidParams, "`params` is no object");
    return outbox_.Send(Answer(message.id, Initialize(message.params)));
  }
  if (!is_initialized_) return fail(ErrorCode::ServerNotInitialized, "the first request must be `initialize`");
  if (message.method == "shutdown") return ShutDown(message.id);
  if (!IsTask(message.method)) return fail(ErrorCode::MethodNotFound, "no method `" + message.method + "`");
  outbox_.Expect(message.id);
  const std::lock_guard lock(desk_.mutex);
  desk_.tasks.push_back({std::move(message.id), std::move(message.method), std::move(message.params)});
  desk_.wake.notify_all();
}

// No request stays without an answer: `exit` may follow at once, and ends the process whatever is at work then.
void Server::ShutDown(const Json& id) {
  is_shut_down_ = true;
  desk_.End();
  outbox_.FailAll(ErrorCode::RequestCancelled, "the server shuts down");
  outbox_.Send(Answer(id, nullptr));
}

void Server::ReceiveNotification(const Message& message) {
  if (message.method == "exit") {
    has_exited_ = true;
    return;
  }
  if (!is_initialized_ || is_shut_down_) return;
  try {
    if (message.method == "initialized") return Initialized();
    if (message.method == "$/cancelRequest") return Cancel(At(message.params, "id"));
    if (message.method == "workspace/didChangeConfiguration") {
      if (desk_.client.answers_configuration) return AskForSettings();
      const Json& settings = At(message.params, "settings");
      return TakeSettings(At(settings, "allranks").is_null() ? settings : At(settings, "allranks"));
    }
    const std::lock_guard lock(desk_.mutex);
    if (message.method == "workspace/didChangeWorkspaceFolders") return ChangeFolders(At(message.params, "event"));
    if (message.method == "workspace/didChangeWatchedFiles") return desk_.NoteDisk();
    if (message.method == "window/workDoneProgress/cancel") {
      desk_.is_paused = true;
      desk_.stop.request_stop();
      return;
    }
    ChangeDocuments(message.method, message.params);
  } catch (const std::exception& error) {
    outbox_.Log(Outbox::Level::Error, message.method + " is left out: " + error.what());
  }
}

// False: a notification that we do not know; those are to be ignored.
bool Server::ChangeDocuments(const std::string& method, const Json& params) {
  Documents& documents = desk_.documents;
  const Json& text_document = At(params, "textDocument");
  if (method == "textDocument/didChange") {
    documents.Change(text_document, At(params, "contentChanges"));
    desk_.NoteEdit(documents.Find(At(text_document, "uri").get<std::string>())->path);
    return true;
  }
  if (method == "notebookDocument/didChange") {
    documents.ChangeNotebook(params);
    const Json& uri = At(params, "notebookDocument", "uri");
    desk_.NoteEdit(PathOfUri(uri.get<std::string>()));
    return true;
  }
  if (method == "textDocument/didOpen") documents.Open(text_document);
  else if (method == "textDocument/didClose") documents.Close(text_document);
  else if (method == "notebookDocument/didOpen") documents.OpenNotebook(params);
  else if (method == "notebookDocument/didClose") documents.CloseNotebook(params);
  else if (method != "textDocument/didSave" && method != "notebookDocument/didSave") return false;
  // What is open decides which files there are; and what was saved may be a configuration.
  desk_.NoteDisk();
  return true;
}

Json Server::Initialize(const Json& params) {
  std::vector<std::string> problems;
  {
    const std::lock_guard lock(desk_.mutex);
    desk_.client = ReadClient(params);
    desk_.documents.SetEncoding(desk_.client.encoding);
    desk_.folders = FoldersOf(params);
    desk_.documents.SetUntitledFolder(UntitledFolder(desk_.folders));
    const Json& options = At(params, "initializationOptions");
    desk_.settings = ReadSettings(At(options, "settings").is_null() ? options : At(options, "settings"), &problems);
  }
  is_initialized_ = true;
  for (const std::string& problem : problems) outbox_.Log(Outbox::Level::Warning, problem);
  return {{"capabilities", Capabilities(desk_.client)}, {"serverInfo", {{"name", "allranks"}, {"version", version_}}}};
}

void Server::Initialized() {
  Register();
  if (desk_.client.answers_configuration) AskForSettings();
  const std::lock_guard lock(desk_.mutex);
  desk_.NoteDisk();
}

void Server::Register() {
  Json wanted = Json::array();
  if (desk_.client.registers_watchers) {
    Json watchers = Json::array();
    // Code, launch files and settings, among them allranks.toml, pyproject.toml and compile_commands.json.
    for (const char* glob : {"**/*.{py,ipynb,c,cc,cpp,cxx,cu,cuh,h,hpp}", "**/*.{toml,json,yaml,yml}",
                             "**/*.{sh,bash,zsh,ksh,slurm,sbatch,job,slrm,qsub,pbs,lsf,mk,just,md,rst}", "**/{Makefile,makefile,GNUmakefile,justfile,tox.ini}",
                             "**/{Dockerfile,Containerfile}*"}) {
      watchers.push_back({{"globPattern", glob}});
    }
    wanted.push_back({{"id", "watch"}, {"method", "workspace/didChangeWatchedFiles"}, {"registerOptions", {{"watchers", watchers}}}});
  }
  if (desk_.client.registers_configuration) {
    wanted.push_back({{"id", "configuration"}, {"method", "workspace/didChangeConfiguration"},
                      {"registerOptions", {{"section", "allranks"}}}});
  }
  if (!wanted.empty()) outbox_.Ask("client/registerCapability", {{"registrations", wanted}});
}

void Server::AskForSettings() {
  outbox_.Ask("workspace/configuration", {{"items", Json::array({{{"section", "allranks"}}})}}, [this](const Json& answer) {
    if (answer.is_array() && !answer.empty() && answer[0].is_object()) TakeSettings(answer[0]);
  });
}

void Server::TakeSettings(const Json& json) {
  std::vector<std::string> problems;
  Settings settings = ReadSettings(json, &problems);
  for (const std::string& problem : problems) outbox_.Log(Outbox::Level::Warning, problem);
  const std::lock_guard lock(desk_.mutex);
  if (settings == desk_.settings) return;
  desk_.settings = std::move(settings);
  desk_.NoteDisk();
}

void Server::ChangeFolders(const Json& event) {
  for (const Json& folder : At(event, "removed")) {
    const Json& uri = At(folder, "uri");
    if (uri.is_string()) std::erase(desk_.folders, PathOfUri(uri.get<std::string>()));
  }
  for (const Json& folder : At(event, "added")) {
    const Json& uri = At(folder, "uri");
    const std::string path = uri.is_string() ? PathOfUri(uri.get<std::string>()) : std::string();
    if (!path.empty()) desk_.folders.push_back(path);
  }
  desk_.documents.SetUntitledFolder(UntitledFolder(desk_.folders));
  desk_.NoteDisk();
}

// Answered here: what is at work for it may not look up for a while. Of a request that is answered already nothing is noted.
void Server::Cancel(const Json& id) {
  // A careless client uses one id twice.
  size_t count = 0;
  {
    const std::lock_guard lock(desk_.mutex);
    count = std::erase_if(desk_.tasks, [&](const Task& task) { return task.id == id; });
    if (desk_.active == Dump(id) && !desk_.is_active_cancelled) {
      ++count;
      desk_.is_active_cancelled = true;
      // Nobody waits for the analysis any more that was begun for it.
      desk_.stop.request_stop();
    }
  }
  for (; count > 0; --count) outbox_.Reply(id, Failure(id, ErrorCode::RequestCancelled, "cancelled"));
}

}  // namespace allranks::server
