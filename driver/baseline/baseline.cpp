#include "driver/baseline/baseline.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

namespace allranks::baseline {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr const char* kHint = "; write it anew with --update-baseline";

std::string TextOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

base::Result<Baseline> Parse(const std::string& shown, std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("findings") || !json["findings"].is_array()) {
    return base::Fail(shown + ": not a baseline" + kHint);
  }
  if (json.value("version", Json()) != kVersion) return base::Fail(shown + ": a baseline of another version of allranks" + kHint);
  Baseline baseline;
  for (const Json& item : json["findings"]) {
    if (!item.is_object() || TextOf(item, "fingerprint").empty()) return base::Fail(shown + ": an entry without a fingerprint" + kHint);
    baseline.entries.push_back({TextOf(item, "fingerprint"), TextOf(item, "code"), TextOf(item, "path"),
                                TextOf(item, "function"), TextOf(item, "message"), TextOf(item, "seen")});
  }
  return baseline;
}

std::string Write(Baseline baseline) {
  const auto key = [](const Entry& e) { return std::tie(e.path, e.code, e.function, e.fingerprint); };
  std::ranges::sort(baseline.entries, [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  std::string out = "{\n  \"version\": " + std::to_string(kVersion) + ",\n  \"findings\": [";
  bool first = true;
  for (const Entry& entry : baseline.entries) {
    Json line = {{"fingerprint", entry.fingerprint}, {"code", entry.code}, {"path", entry.path},
                 {"function", entry.function}, {"message", entry.message}};
    if (!entry.seen.empty()) line["seen"] = entry.seen;
    out += (first ? "\n    " : ",\n    ") + line.dump(-1, ' ', false, Json::error_handler_t::replace);
    first = false;
  }
  return out + (first ? "]\n}\n" : "\n  ]\n}\n");
}

std::vector<findings::Finding> TakeKnown(const Baseline& baseline, std::vector<findings::Finding>& findings) {
  std::set<std::string_view> fingerprints;
  for (const Entry& entry : baseline.entries) fingerprints.insert(entry.fingerprint);
  std::vector<findings::Finding> known, fresh;
  for (findings::Finding& finding : findings) {
    (fingerprints.contains(finding.fingerprint) ? known : fresh).push_back(std::move(finding));
  }
  findings = std::move(fresh);
  return known;
}

Baseline WithoutGone(const Baseline& baseline, const std::set<std::string>& found,
                     const std::function<bool(const Entry&)>& was_checked) {
  Baseline left = baseline;
  std::erase_if(left.entries, [&](const Entry& entry) { return !found.contains(entry.fingerprint) && was_checked(entry); });
  return left;
}

}  // namespace allranks::baseline
