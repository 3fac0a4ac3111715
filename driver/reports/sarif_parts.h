// The parts of a SARIF log, one file each; sarif.cpp puts them together.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "driver/reports/json_writer.h"
#include "driver/reports/report.h"

namespace allranks::reports::sarif {

// What GitHub code scanning takes of one run; more is cut, and the cut is told.
constexpr size_t kMostResults = 25000;
constexpr size_t kMostLocations = 1000;
constexpr size_t kMostSteps = 10000;

// SARIF texts are sentences: they begin with a capital and end with a full stop.
std::string Sentence(std::string text);
std::string_view LevelOf(findings::Severity severity);
void WriteText(JsonWriter& json, std::string_view key, std::string_view text);

// What GitHub and editors call the root of the repository. Where that is on this machine concerns no reader.
constexpr std::string_view kRoot = "%SRCROOT%";
// Whether the log says which commit the root is of.
bool HasProvenance(const RunInfo& run);

// `tool`: the driver with all rules, in the order of the registry.
void WriteTool(JsonWriter& json, std::string_view version);

enum class BaselineState : uint8_t { None, New, Unchanged };

class ResultWriter {
 public:
  ResultWriter(const Report& report, JsonWriter& json);

  // `by`: the comment that accepts the finding; nullptr: none does.
  void Write(const findings::Finding& finding, BaselineState state, const findings::Suppressed* by);
  // What was left out, one sentence each.
  const std::vector<std::string>& cuts() const { return cuts_; }

 private:
  struct Region {
    uint64_t line = 1, column = 1, end_line = 1, end_column = 1;
  };

  Region RegionOf(const source::Span& span) const;
  std::string UriOfFile(source::FileId file) const;
  std::string UriOfPath(std::string_view shown) const;
  std::string MessageOf(const findings::Finding& finding) const;
  void WriteContext(source::FileId file, const Region& region);
  // A file of the repository is named from its root, any other by its whole path.
  void WriteArtifact(std::string_view uri);
  void WriteRegion(std::string_view key, const Region& region);
  void WriteLocation(const source::Span& span, std::string_view uri, const Region& region, const std::string& message,
                     const std::string& function, uint64_t id, std::string_view role = {});
  void WritePrimary(const findings::Finding& finding);
  void WriteRelated(const findings::Finding& finding);
  void WriteFingerprints(const findings::Finding& finding);
  void WriteSuppression(const findings::Suppressed& by);
  void WriteFixes(const findings::Finding& finding);
  void WriteReplacement(const findings::Edit& edit);
  void WriteCodeFlow(const findings::Finding& finding);
  void WriteThreadFlow(const witness::Witness& w, size_t c);
  void WriteStep(const witness::Witness& w, size_t c, const witness::Op& op, const std::string& ranks);
  void WriteProperties(const findings::Finding& finding);
  void Cut(const std::string& what);

  const Report& report_;
  JsonWriter& json_;
  std::map<std::string_view, size_t> rule_index_;
  std::map<std::string_view, source::FileId> file_by_path_;
  std::map<source::FileId, std::vector<std::string>> line_hashes_;
  std::vector<std::string> cuts_;
};

}  // namespace allranks::reports::sarif
