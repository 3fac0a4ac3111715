#pragma once

#include "runtime-verify/coordinator/report_file.h"

namespace allranks::verify {

struct TextStyle {
  bool color = false;
  bool ascii = false;
};

// "AR101 train.py:9  hangs on Gloo (Gloo 0.5.0 over TCP, 2 ranks, 0.6 s)"
std::string VerdictLine(const ReportFinding& finding, const Verdict& verdict, const TextStyle& style);

// That line, and below it a lane for each class of ranks: what it did, and where in the source it is stuck.
std::string VerdictText(const ReportFinding& finding, const Verdict& verdict, const TextStyle& style);

}  // namespace allranks::verify
