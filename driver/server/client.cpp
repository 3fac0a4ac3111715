#include "driver/server/client.h"

namespace allranks::server {
namespace {

class SettingsReader {
 public:
  SettingsReader(const Json& json, std::vector<std::string>* problems) : json_(json), problems_(problems) {}

  void Text(const char* key, std::string* value) {
    const Json& given = At(json_, key);
    if (given.is_string()) *value = given.get<std::string>();
    else if (!given.is_null()) Complain(key, "a string");
  }
  void Flag(const char* key, bool* value) {
    const Json& given = At(json_, key);
    if (given.is_boolean()) *value = given.get<bool>();
    else if (!given.is_null()) Complain(key, "true or false");
  }
  std::optional<std::vector<std::string>> Texts(const char* key) {
    const Json& given = At(json_, key);
    if (given.is_null()) return std::nullopt;
    std::vector<std::string> texts;
    bool is_sound = given.is_array();
    for (const Json& each : given) {
      if (each.is_string()) texts.push_back(each.get<std::string>());
      else is_sound = false;
    }
    if (is_sound) return texts;
    Complain(key, "an array of strings");
    return std::nullopt;
  }

 private:
  void Complain(const char* key, const char* wanted) {
    problems_->push_back(std::string("the setting `allranks.") + key + "` is left out: it takes " + wanted);
  }
  const Json& json_;
  std::vector<std::string>* problems_;
};

}  // namespace

Client ReadClient(const Json& params) {
  const Json& all = At(params, "capabilities");
  const Json& workspace = At(all, "workspace");
  const Json& document = At(all, "textDocument");
  Client client;
  client.encoding = ChooseEncoding(At(all, "general", "positionEncodings"));
  client.pulls_diagnostics = At(document, "diagnostic").is_object();
  client.refreshes_diagnostics = IsTrue(At(workspace, "diagnostics", "refreshSupport"));
  client.refreshes_inlay_hints = IsTrue(At(workspace, "inlayHint", "refreshSupport"));
  client.refreshes_code_lenses = IsTrue(At(workspace, "codeLens", "refreshSupport"));
  client.shows_progress = IsTrue(At(all, "window", "workDoneProgress"));
  client.answers_configuration = IsTrue(At(workspace, "configuration"));
  client.registers_watchers = IsTrue(At(workspace, "didChangeWatchedFiles", "dynamicRegistration"));
  client.registers_configuration = IsTrue(At(workspace, "didChangeConfiguration", "dynamicRegistration"));
  client.has_related_information = IsTrue(At(document, "publishDiagnostics", "relatedInformation")) ||
                                   IsTrue(At(document, "diagnostic", "relatedInformation"));
  client.has_code_description = IsTrue(At(document, "publishDiagnostics", "codeDescriptionSupport")) ||
                                IsTrue(At(document, "diagnostic", "codeDescriptionSupport"));
  client.knows_tags = At(document, "publishDiagnostics", "tagSupport").is_object() || At(document, "diagnostic", "tagSupport").is_object();
  client.opens_pages = IsTrue(At(params, "initializationOptions", "opensPages"));
  for (const Json& format : At(document, "hover", "contentFormat")) {
    client.hovers_markdown = client.hovers_markdown || format == "markdown";
  }
  return client;
}

Settings ReadSettings(const Json& json, std::vector<std::string>* problems) {
  Settings settings;
  if (json.is_null()) return settings;
  SettingsReader reader(json, problems);
  settings.select = reader.Texts("select");
  if (const auto ignore = reader.Texts("ignore")) settings.ignore = *ignore;
  reader.Text("configuration", &settings.configuration);
  reader.Text("minConfidence", &settings.min_confidence);
  reader.Flag("inlayHints", &settings.inlay_hints);
  reader.Flag("codeLens", &settings.code_lens);
  return settings;
}

}  // namespace allranks::server
