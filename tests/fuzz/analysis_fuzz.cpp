// Python from text to findings: plain files, notebooks (a text that begins with `{`) and programs that the bytes behind a first 0
// choose the parts of. Whatever is written, the analysis ends within its bounds, and what it says is sound. Built
// for libFuzzer with -DALLRANKS_FUZZ=ON and Clang; `analysis_fuzz_test.cpp` runs it on mutated programs in every build.
#include <cstdint>
#include <memory>
#include <string>

#include "driver/pipeline/pipeline.h"
#include "tests/fuzz/fault.h"
#include "tests/fuzz/program_maker.h"

namespace {

using namespace allranks;

// Steps that the analysis of one byte may take, and those of any text at all. Ten times what fixtures take.
constexpr uint64_t kStepsPerByte = 20'000;
constexpr uint64_t kFreeSteps = 8'000'000;

// What libraries mean is read once for many texts; names that were seen are let go now and then.
pipeline::Analysed& Stages() {
  constexpr int kMostTexts = 2000;
  static std::unique_ptr<pipeline::Analysed> stages;
  static int texts = 0;
  if (texts++ % kMostTexts == 0) stages = std::make_unique<pipeline::Analysed>();
  return *stages;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pipeline::Options options;
  options.jobs = 1;
  const bool is_made = size > 0 && data[0] == 0;
  const bool is_notebook = size > 0 && data[0] == '{';
  const std::string given(reinterpret_cast<const char*>(data), size);
  const std::string text = is_made ? tests::ProgramMaker({data + 1, size - 1}).Make() : is_notebook ? given : "import torch.distributed\n" + given;
  const source::MemoryFileSystem files(std::map<std::string, std::string>{{is_notebook ? "train.ipynb" : "train.py", text}});
  pipeline::Analysed& stages = Stages();
  const base::Result<pipeline::Output> out = pipeline::Run(options, files, stages);
  if (!out) tests::Fault(out.error().message.c_str());
  if (out->steps > kFreeSteps + kStepsPerByte * text.size()) tests::Fault("more steps than a text of this size may take");
  for (const findings::Finding& finding : out->findings) {
    const source::SourceFile& file = stages.files[finding.span.file];
    if (finding.span.begin > finding.span.end || finding.span.end > file.text.size()) tests::Fault("a finding outside of its file");
    if (findings::Render(finding.message).empty()) tests::Fault("a finding without words");
  }
  return 0;
}
