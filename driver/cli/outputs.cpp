#include "driver/cli/outputs.h"

#include <algorithm>

#include "driver/cli/terminal.h"
#include "driver/config/option_table.h"
#include "driver/config/spelling.h"

namespace allranks::cli {
namespace {

base::Result<OutputPlace> Parse(const std::string& text) {
  const size_t equals = text.find('=');
  const OutputPlace output{.format = text.substr(0, equals), .file = equals == std::string::npos ? "" : text.substr(equals + 1)};
  const auto formats = config::FindOption("output-format")->choices;
  if (std::ranges::find(formats, output.format) == formats.end()) {
    return base::Fail("--output: no format `" + output.format + "`" + config::DidYouMean(output.format, formats) +
                      (config::DidYouMean(output.format, formats).empty() ? "; write FORMAT or FORMAT=FILE" : ""));
  }
  if (equals != std::string::npos && output.file.empty()) return base::Fail("--output: `" + text + "` names no file; write " + output.format + "=FILE");
  return output;
}

bool IsForPeople(const OutputPlace& output) { return output.format == "full" || output.format == "concise"; }

std::string Text(const CheckArguments& arguments, const OutputPlace& output, const reports::Report& report) {
  reports::TextStyle style = StyleFor(arguments.color, !output.file.empty());
  style.quiet = arguments.quiet;
  if (!IsForPeople(output) || (!arguments.statistics && !arguments.coverage)) return reports::Render(output.format, report, style);
  std::string out = arguments.statistics ? reports::RenderStatistics(report, style) : "";
  if (arguments.coverage) out += reports::RenderCoverage(report, style, arguments.verbose);
  return out;
}

}  // namespace

base::Result<std::vector<OutputPlace>> OutputsOf(const CheckArguments& arguments, const config::Settings& settings) {
  std::vector<OutputPlace> outputs;
  const bool asked = !arguments.output_format.empty() || !arguments.output_file.empty();
  if (asked || arguments.outputs.empty()) outputs.push_back({settings.output_format, arguments.output_file});
  for (const std::string& text : arguments.outputs) {
    base::Result<OutputPlace> output = Parse(text);
    if (!output) return base::Fail(output.error().message);
    const auto same = std::ranges::find(outputs, output->file, &OutputPlace::file);
    if (same != outputs.end()) {
      const std::string where = output->file.empty() ? "the standard output" : output->file;
      return base::Fail("two reports would go to " + where + "; name a file for one: --output " + output->format + "=FILE");
    }
    outputs.push_back(*output);
  }
  return outputs;
}

bool Deliver(const CheckArguments& arguments, const std::vector<OutputPlace>& outputs, const reports::Report& report, Screen screen,
             const std::string& project, const std::string& sarif) {
  bool delivered = true;
  // A path that is not there was an error already: "no findings in 0 files" would only confuse.
  const bool says_nothing = report.files_checked == 0 && !report.errors.empty();
  for (const OutputPlace& output : outputs) {
    if (says_nothing && IsForPeople(output)) continue;
    const std::string text = output.format == "sarif" && !sarif.empty() ? sarif : Text(arguments, output, report);
    if (!output.file.empty()) delivered = WriteFile(output.file, text, project) && delivered;
    else if (screen == Screen::Stdout) delivered = WriteOut(text) && delivered;
    else WriteErr(text);
  }
  return delivered;
}

}  // namespace allranks::cli
