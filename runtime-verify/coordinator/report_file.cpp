#include "runtime-verify/coordinator/report_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime-verify/coordinator/code_flow.h"
#include "runtime-verify/coordinator/shown_text.h"
#include "runtime-verify/coordinator/verdict_json.h"
#include "witness/json.h"

namespace allranks::verify {
namespace {

using Json = nlohmann::ordered_json;

// Some hundred thousand findings.
constexpr size_t kLargestReport = 256u << 20;
constexpr size_t kDeepest = 64;
// Keys keep their order, so each is compared with all before it.
constexpr size_t kMostKeys = 2048;
constexpr std::string_view kWitnessMark = "\"allranks.witness/";
constexpr std::string_view kVerifyProperty = "allranks/verify";

std::string MiB(size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

// All of a file that is not larger than it may be; reading stops where it is.
std::optional<std::string> ReadAll(int descriptor, std::string* error) {
  struct stat status {};
  if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    *error = "is a folder; name a report or a witness";
    return std::nullopt;
  }
  std::string text;
  if (S_ISREG(status.st_mode) && static_cast<size_t>(status.st_size) <= kLargestReport) {
    text.reserve(static_cast<size_t>(status.st_size));
  }
  const bool is_too_large = S_ISREG(status.st_mode) && static_cast<size_t>(status.st_size) > kLargestReport;
  char bytes[65536];
  while (!is_too_large && text.size() <= kLargestReport) {
    const ssize_t n = read(descriptor, bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      *error = std::strerror(errno);
      return std::nullopt;
    }
    if (n == 0) return text;
    text.append(bytes, static_cast<size_t>(n));
    // What says that it is a witness may be no larger than one.
    const size_t most = witness::Bounds().file_bytes;
    if (text.size() > most &&
        std::string_view(text).substr(0, 256).find(kWitnessMark) != std::string_view::npos) {
      *error = "larger than the " + MiB(most) + " that a witness may have";
      return std::nullopt;
    }
  }
  *error = "larger than the " + MiB(kLargestReport) + " that a report may have";
  return std::nullopt;
}

// What the parser would need too long or too deep a stack for; empty if it is fine.
std::string RefuseShape(std::string_view text) {
  struct Open {
    bool is_object = false;
    size_t commas = 0;
  };
  std::vector<Open> open;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') ++i;
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if (c == '{' || c == '[') open.push_back({.is_object = c == '{'});
    if (open.size() > kDeepest) return "nested deeper than " + std::to_string(kDeepest) + " levels";
    if ((c == '}' || c == ']') && !open.empty()) open.pop_back();
    if (c != ',' || open.empty() || !open.back().is_object) continue;
    if (++open.back().commas >= kMostKeys)
      return "an object has more than " + std::to_string(kMostKeys) + " keys";
  }
  return "";
}

// The member along a path of keys and indices; null if it is not there.
const Json& At(const Json& root, std::initializer_list<std::string_view> path) {
  static const Json kNone;
  const Json* at = &root;
  for (const std::string_view key : path) {
    if (at->is_array() && key == "0" && !at->empty()) {
      at = &at->front();
    } else if (at->is_object() && at->contains(std::string(key))) {
      at = &at->at(std::string(key));
    } else {
      return kNone;
    }
  }
  return *at;
}

std::string TextAt(const Json& root, std::initializer_list<std::string_view> path) {
  const Json& at = At(root, path);
  return at.is_string() ? at.get<std::string>() : "";
}

std::string PlaceText(const std::string& path, const Json& line) {
  if (path.empty() || !line.is_number_unsigned()) return path;
  return path + ":" + std::to_string(line.get<uint64_t>());
}

void TakeWitness(const Json& json, ReportFinding* finding) {
  if (!json.is_object()) return;
  witness::ReadResult read = witness::ReadJson(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  finding->witness = std::move(read.witness);
  finding->refused = std::move(read.error);
}

}  // namespace

ReportFile::ReportFile() : root_(std::make_unique<Json>()) {}
ReportFile::ReportFile(ReportFile&&) noexcept = default;
ReportFile::~ReportFile() = default;

std::optional<ReportFile> ReportFile::Read(const std::string& path, std::string* error) {
  const int descriptor = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    *error = std::strerror(errno);
    return std::nullopt;
  }
  const std::optional<std::string> text = ReadAll(descriptor, error);
  if (descriptor != STDIN_FILENO) close(descriptor);
  return text ? FromText(*text, error) : std::nullopt;
}

std::optional<ReportFile> ReportFile::FromText(const std::string& text, std::string* error) {
  *error = RefuseShape(text);
  if (!error->empty()) return std::nullopt;
  ReportFile file;
  try {
    *file.root_ = Json::parse(text);
  } catch (const Json::exception& exception) {
    *error = "not valid JSON: " + witness::JsonProblem(exception.what());
    return std::nullopt;
  }
  const Json& root = *file.root_;
  file.is_indented_ = text.find("\n ") != std::string::npos;
  if (At(root, {"runs"}).is_array()) {
    file.kind_ = Kind::Sarif;
    file.ReadSarif();
  } else if (At(root, {"findings"}).is_array()) {
    file.kind_ = Kind::Json;
    file.ReadJson();
  } else if (root.is_object() && root.contains("schema")) {
    // From the text: the strict reader sees keys that stand twice.
    witness::ReadResult read = witness::ReadJson(text);
    if (!read.witness) {
      *error = read.error;
      return std::nullopt;
    }
    ReportFinding& finding = file.findings_.emplace_back();
    finding.code = read.witness->finding;
    finding.witness = std::move(read.witness);
    file.places_.push_back(file.root_.get());
  } else {
    *error = "neither a witness nor a JSON or SARIF report of `allranks check`";
    return std::nullopt;
  }
  return file;
}

void ReportFile::ReadJson() {
  for (Json& one : (*root_)["findings"]) {
    ReportFinding& finding = findings_.emplace_back();
    finding.code = TextAt(one, {"code"});
    finding.message = TextAt(one, {"message"});
    finding.place = PlaceText(TextAt(one, {"location", "path"}), At(one, {"location", "start", "line"}));
    TakeWitness(At(one, {"witness"}), &finding);
    places_.push_back(&one);
  }
}

void ReportFile::ReadSarif() {
  for (Json& run : (*root_)["runs"]) {
    if (!run.is_object() || !run.contains("results") || !run["results"].is_array()) continue;
    for (Json& result : run["results"]) {
      ReportFinding& finding = findings_.emplace_back();
      finding.code = TextAt(result, {"ruleId"});
      finding.message = TextAt(result, {"message", "text"});
      const Json& physical = At(result, {"locations", "0", "physicalLocation"});
      finding.place =
          PlaceText(TextAt(physical, {"artifactLocation", "uri"}), At(physical, {"region", "startLine"}));
      TakeWitness(At(result, {"properties", "witness"}), &finding);
      places_.push_back(&result);
    }
  }
}

std::string ReportFile::WithVerdicts(const std::vector<std::optional<Verdict>>& verdicts) const {
  // Written into the report itself: a second time it is replaced.
  Json notes = Json::array();
  for (size_t i = 0; i < places_.size() && i < verdicts.size(); ++i) {
    if (!verdicts[i] || !places_[i]->is_object()) continue;
    const Json verdict = Json::parse(VerdictJson(*verdicts[i]));
    if (kind_ != Kind::Sarif) {
      (*places_[i])["verify"] = verdict;
      continue;
    }
    Json& properties = (*places_[i])["properties"];
    if (!properties.is_object()) properties = Json::object();
    properties[std::string(kVerifyProperty)] = verdict;
    (*places_[i])["rank"] = PriorityOf(*verdicts[i]);
    if (findings_[i].witness) MarkCodeFlow(*findings_[i].witness, *verdicts[i], places_[i]);
    if (verdicts[i]->reason.empty()) continue;
    notes.push_back({{"level", "note"},
                     {"message",
                      {{"text", "`allranks verify` on " + findings_[i].code + " at " + findings_[i].place +
                                    ": " + verdicts[i]->reason + "."}}}});
  }
  if (kind_ == Kind::Sarif && !notes.empty() && !(*root_)["runs"].empty()) {
    Json& run = (*root_)["runs"][0];
    if (!run.contains("invocations") || !run["invocations"].is_array() || run["invocations"].empty()) {
      run["invocations"] = Json::array({{{"executionSuccessful", true}}});
    }
    Json& old = run["invocations"][0]["toolExecutionNotifications"];
    if (!old.is_array()) old = Json::array();
    for (Json& note : notes) old.push_back(std::move(note));
  }
  return ShownJson(root_->dump(is_indented_ ? 2 : -1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace allranks::verify
