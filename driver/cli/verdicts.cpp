#include "driver/cli/verdicts.h"

#include <nlohmann/json.hpp>
#include <vector>

namespace allranks::cli {
namespace {

using Json = nlohmann::json;

std::string TextOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string LineOfVerdict(const Json& verify) {
  std::string line = TextOf(verify, "says");
  if (const std::string reason = TextOf(verify, "reason"); !reason.empty()) line += ": " + reason;
  if (!verify.contains("world") || !verify["world"].is_number_unsigned()) return line;
  return line + " (" + std::to_string(verify["world"].get<unsigned>()) + " ranks)";
}

// What happened in a job is more than what a replay shows.
reports::Verification VerificationOf(const Json& verify) {
  if (TextOf(verify, "evidence") == "job") return {TextOf(verify, "seen"), true};
  return {LineOfVerdict(verify)};
}

std::string FingerprintOf(const Json& finding) {
  const auto prints = finding.find("partialFingerprints");
  return prints != finding.end() && prints->is_object() ? TextOf(*prints, "allranks/v1") : TextOf(finding, "fingerprint");
}

void AddVerdict(const Json& finding, Verdicts& verdicts) {
  // In SARIF both stand among the properties of a result.
  const auto properties = finding.find("properties");
  const bool is_sarif = properties != finding.end() && properties->is_object();
  const Json& holder = is_sarif ? *properties : finding;
  const auto verify = holder.find(is_sarif ? "allranks/verify" : "verify");
  const auto witness = holder.find("witness");
  if (verify == holder.end() || witness == holder.end() || !witness->is_object()) return;
  verdicts[TextOf(*witness, "finding")] = VerificationOf(*verify);
  if (const std::string fingerprint = FingerprintOf(finding); !fingerprint.empty()) verdicts[fingerprint] = VerificationOf(*verify);
}

}  // namespace

base::Result<Verdicts> ReadVerdicts(const std::string& path, const source::FileSystem& files) {
  const base::Result<std::string> text = files.Read(path);
  if (!text) return base::Fail(text.error().message + "; --verdicts takes what `allranks verify -o FILE` wrote");
  const Json report = Json::parse(*text, nullptr, false);
  Verdicts verdicts;
  // Reports nest as deep as whoever wrote them likes.
  std::vector<const Json*> open = {&report};
  while (!open.empty()) {
    const Json* at = open.back();
    open.pop_back();
    if (!at->is_structured()) continue;
    if (at->is_object()) AddVerdict(*at, verdicts);
    for (const Json& child : *at) open.push_back(&child);
  }
  if (verdicts.empty()) return base::Fail(path + ": no verdicts in it; --verdicts takes what `allranks verify -o FILE` wrote");
  return verdicts;
}

}  // namespace allranks::cli
