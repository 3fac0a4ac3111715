// The thread that analyses and answers: one thing at a time, so that nothing else looks at an analysis while it is made.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/source/file_system.h"
#include "driver/server/desk.h"
#include "driver/server/outbox.h"
#include "driver/server/target.h"
#include "driver/server/workspace.h"

namespace allranks::server {

class Worker {
 public:
  // `keeps_cache`: what was read is kept on disk beside the project, for the next server and the command line.
  Worker(Desk& desk, Outbox& outbox, const source::FileSystem& files, bool keeps_cache)
      : desk_(desk), outbox_(outbox), files_(files), keeps_cache_(keeps_cache) {}

  // Until the desk says that it is over.
  void Run();
  // Everything there is to do now, without waiting for more.
  void RunPending();

 private:
  enum class Outcome { Idle, Done };
  Outcome Step(bool wait);

  // analysis.cpp
  bool Analyse();
  bool AnalyseOne(Workspace& workspace, const Changes& changes, std::stop_token stop);
  void FindWorkspaces();
  Workspace* WorkspaceOf(const std::string& path) const;
  OpenFiles OpenIn(const Workspace& workspace) const;
  std::map<std::string, Json> AllDiagnostics();
  void Publish(const Changes& changes);
  void RefreshViews(bool diagnostics, bool others);

  // answers.cpp
  void AnswerTask(const Task& task);
  bool IsOver() const;
  Json AnswerTo(const Task& task);
  std::optional<Target> TargetOf(const Json& params);
  Json HoverOfConfiguration(const std::string& uri, source::LineColumn place) const;
  Json DocumentDiagnostic(const Json& params);
  Json WorkspaceDiagnostic(const Json& params);
  Json ExecuteCommand(const Json& params);
  Json Explain(const std::string& code);
  Json ShowTrace(const std::string& uri, const std::string& function);
  Json DebugInformation() const;
  Json Report(const std::string& uri, const std::string& previous) const;

  struct Published {
    Json items = Json::array();
    uint64_t result = 0;        // grows with every change
  };

  Desk& desk_;
  Outbox& outbox_;
  const source::FileSystem& files_;
  bool keeps_cache_;
  Client client_;               // copies of the desk's, as of the last analysis
  Settings settings_;
  std::vector<std::unique_ptr<Workspace>> workspaces_;
  std::map<std::string, Published> published_;  // by URI
  std::map<std::string, int64_t> versions_;     // by URI, of the texts that were analysed
  std::string last_problem_;    // said once
  uint64_t next_result_ = 1;
  uint64_t next_token_ = 1;
  bool was_slow_ = true;        // the next analysis deserves a progress bar
};

}  // namespace allranks::server
