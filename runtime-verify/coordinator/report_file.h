// The files that `verify` takes: one witness, or a JSON or SARIF report of `allranks check`. Nobody vouches
// for them.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime-verify/coordinator/verdict.h"

namespace allranks::verify {

struct ReportFinding {
  std::string code;   // "AR101"; of a witness alone, what its `finding` says
  std::string place;  // "train.py:9"; empty if not told
  std::string message;
  std::optional<witness::Witness> witness;
  std::string refused;  // why its witness cannot be taken
};

class ReportFile {
 public:
  enum class Kind { Witness, Json, Sarif };

  // `path` "-" is the standard input. On failure `error` is one line.
  static std::optional<ReportFile> Read(const std::string& path, std::string* error);
  static std::optional<ReportFile> FromText(const std::string& text, std::string* error);

  Kind kind() const { return kind_; }
  const std::vector<ReportFinding>& findings() const { return findings_; }
  // The report with a verdict at each finding that has one; nothing else is changed.
  std::string WithVerdicts(const std::vector<std::optional<Verdict>>& verdicts) const;

  ReportFile(ReportFile&&) noexcept;
  ~ReportFile();

 private:
  ReportFile();
  void ReadJson();
  void ReadSarif();

  Kind kind_ = Kind::Witness;
  std::unique_ptr<nlohmann::ordered_json> root_;
  std::vector<nlohmann::ordered_json*> places_;  // of the findings, in root_
  std::vector<ReportFinding> findings_;
  bool is_indented_ = false;
};

}  // namespace allranks::verify
