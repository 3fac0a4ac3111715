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

std::string Text(const CheckArguments& arguments, const OutputPlace& output, const reports::Report& report) {
  reports::TextStyle style = StyleFor(arguments.color, !output.file.empty());
  style.quiet = arguments.quiet;
  const bool for_people = output.format == "full" || output.format == "concise";
  if (!for_people || (!arguments.statistics && !arguments.coverage)) return reports::Render(output.format, report, style);
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

bool Deliver(const CheckArguments& arguments, const std::vector<OutputPlace>& outputs, const reports::Report& report) {
  bool delivered = true;
  for (const OutputPlace& output : outputs) {
    const std::string text = Text(arguments, output, report);
    delivered = (output.file.empty() ? WriteOut(text) : WriteFile(output.file, text)) && delivered;
  }
  return delivered;
}

}  // namespace allranks::cli
