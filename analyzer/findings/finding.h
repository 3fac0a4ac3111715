// What a rule says about a place. Only values: reports produce the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/findings/assumption.h"
#include "analyzer/source/span.h"
#include "witness/witness.h"

namespace allranks::findings {

enum class Severity : uint8_t { Info, Warning, Error };

std::string_view ToString(Severity severity);
std::string_view ToString(Confidence confidence);

// A sentence with `{}` holes. `format` is a literal of the program, `args` come from the analysed source.
// Lower case start, code in backticks, no full stop, one line.
struct Text {
  std::string_view format;
  std::vector<std::string> args;
};
std::string Render(const Text& text);

enum class LabelRole : uint8_t {
  Primary,    // the place of the finding
  Condition,  // the test that differs between ranks
  Why,        // a step in the chain of reasons why a value varies
  Victim,     // where the other ranks will wait
  Call,       // a call without which it does not happen: on the way to the operation, or a draw of random numbers
  Note,
};

struct Label {
  source::Span span;
  LabelRole role = LabelRole::Note;
  Text text;
};

enum class Applicability : uint8_t { DisplayOnly, Unsafe, Safe };

struct Edit {
  source::Span span;        // replaced
  std::string replacement;
};

struct Fix {
  std::string title;
  Applicability applicability = Applicability::DisplayOnly;
  std::vector<Edit> edits;  // sorted, disjoint
};

// The category under which PyTorch's Flight Recorder reports a defect at run time. None: nothing names it there.
enum class FlightRecord : uint8_t { None, TypeMismatch, MissingRanks, SizeMismatch, DtypeMismatch };

// As the recorder says it: "collective type mismatch". Empty for None.
std::string_view ToString(FlightRecord record);

struct Finding {
  std::string_view code;    // "AR101"
  Severity severity = Severity::Error;
  Confidence confidence = Confidence::Certain;
  Assumptions assumptions = {};  // what it depends on; `Assume` adds to it
  bool is_in_preview = false;    // of the part of its rule that is shown only where previews are
  source::Span span;
  Text message;
  std::vector<Label> labels;  // in reading order
  Text help;                  // how to fix it; empty format: none
  FlightRecord flight_record = FlightRecord::None;
  std::string function;       // the enclosing function, for people and fingerprints: "Trainer.save"
  uint64_t function_code = 0; // what that function does, by its IR: equal for copies of it; 0: not code
  std::string fingerprint;    // stays the same between runs and when lines move; 16 hexadecimal digits
  std::optional<witness::Witness> witness;
  std::vector<Fix> fixes;
};

// Adds assumptions, and lowers the confidence to what they allow.
void Assume(Finding& finding, Assumptions assumptions);

// The order in which findings are shown: by path (through `path_rank`, by FileId), then place, then code.
void SortAndDeduplicate(std::vector<Finding>& findings, const std::vector<uint32_t>& path_rank);

}  // namespace allranks::findings
