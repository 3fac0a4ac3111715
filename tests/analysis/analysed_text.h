// Source text, analysed: what tests of binding, variation and traces start from.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "driver/pipeline/pipeline.h"

namespace allranks::testing {

class AnalysedText {
 public:
  // Files by path; all are analysed as one project.
  explicit AnalysedText(std::map<std::string, std::string> files);

  // What the argument of each `probe(...)` call is, in the order of the source, as `allranks trace` would print it.
  std::vector<std::string> Probes() const;
  // "AR101 train.py:4" for every finding, of any confidence, in order.
  std::vector<std::string> Findings() const;
  const pipeline::Analysed& analysed() const { return *analysed_; }
  const pipeline::Output& output() const { return output_; }

 private:
  std::unique_ptr<pipeline::Analysed> analysed_;
  pipeline::Output output_;
};

// The same for one file, `train.py`.
AnalysedText Analysed(std::string text);

}  // namespace allranks::testing
