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

std::string Line(const Json& verify) {
  // What happened in a job is more than what a replay shows.
  if (TextOf(verify, "evidence") == "job") return "seen in a job: " + TextOf(verify, "seen");
  std::string line = TextOf(verify, "says");
  if (const std::string reason = TextOf(verify, "reason"); !reason.empty()) line += ": " + reason;
  if (!verify.contains("world") || !verify["world"].is_number_unsigned()) return line;
  return line + " (" + std::to_string(verify["world"].get<unsigned>()) + " ranks)";
}

}  // namespace

base::Result<std::map<std::string, std::string>> ReadVerdicts(const std::string& path, const source::FileSystem& files) {
  const base::Result<std::string> text = files.Read(path);
  if (!text) return base::Fail(text.error().message + "; --verdicts takes what `allranks verify -o FILE` wrote");
  const Json report = Json::parse(*text, nullptr, false);
  std::map<std::string, std::string> verdicts;
  // Reports nest as deep as whoever wrote them likes.
  std::vector<const Json*> open = {&report};
  while (!open.empty()) {
    const Json* at = open.back();
    open.pop_back();
    if (!at->is_structured()) continue;
    // The second name is that of SARIF, where it stands among the properties of a result.
    for (const char* key : {"verify", "allranks/verify"}) {
      if (!at->is_object() || !at->contains(key) || !at->contains("witness") || !(*at)["witness"].is_object()) continue;
      verdicts[TextOf((*at)["witness"], "finding")] = Line((*at)[key]);
    }
    for (const Json& child : *at) open.push_back(&child);
  }
  if (verdicts.empty()) return base::Fail(path + ": no verdicts in it; --verdicts takes what `allranks verify -o FILE` wrote");
  return verdicts;
}

}  // namespace allranks::cli
