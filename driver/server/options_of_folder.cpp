#include "driver/server/options_of_folder.h"

#include "driver/config/resolve.h"
#include "driver/pipeline/nested.h"

namespace allranks::server {
namespace {

constexpr std::string_view kOrigin = "the editor's settings";

config::Settings SettingsAbove(const Settings& settings) {
  config::Settings above;
  if (settings.select) config::Set(above, &config::Settings::select, "select", *settings.select, kOrigin);
  if (!settings.ignore.empty()) config::Set(above, &config::Settings::ignore, "ignore", settings.ignore, kOrigin);
  if (!settings.min_confidence.empty()) {
    config::Set(above, &config::Settings::min_confidence, "min-confidence", settings.min_confidence, kOrigin);
  }
  return above;
}

}  // namespace

base::Result<FolderOptions> OptionsOfFolder(const Checked& checked, const Settings& settings, const source::FileSystem& files) {
  config::Request request{.paths = {"."}, .working_directory = checked.folder, .config = {}, .isolated = false,
                          .above = SettingsAbove(settings)};
  if (!settings.configuration.empty()) request.config.push_back(settings.configuration);
  const base::Result<config::Resolved> resolved = config::Resolve(request, files);
  if (!resolved) return base::Fail(resolved.error().message);
  FolderOptions out{.options = pipeline::OptionsOf(*resolved, checked.folder), .baseline = {}};
  // What is open is checked in any case.
  if (!checked.is_whole) out.options.paths.clear();
  out.options.overlays = checked.open;
  const base::Result<bool> nested = pipeline::AddNested(request, *resolved, files, out.options);
  if (!nested) return base::Fail(nested.error().message);
  if (const std::string& file = resolved->settings.baseline; !file.empty()) {
    const base::Result<std::string> text = files.Read(file);
    if (!text) return base::Fail(text.error().message + "; `allranks check --update-baseline` writes a baseline");
    base::Result<baseline::Baseline> read = baseline::Parse(file, *text);
    if (!read) return base::Fail(read.error().message);
    out.baseline = std::move(*read);
  }
  // What is excluded stays so when it is opened.
  out.options.force_exclude = true;
  return out;
}

}  // namespace allranks::server
