#include "driver/reports/paint.h"

namespace allranks::reports {
namespace {

std::string_view Escape(Ink ink) {
  switch (ink) {
    case Ink::Plain: return "";
    case Ink::Bold: return "\x1b[1m";
    case Ink::Dim: return "\x1b[2m";
    case Ink::Error: return "\x1b[1;31m";
    case Ink::Warning: return "\x1b[1;33m";
    case Ink::Info: return "\x1b[1;36m";
    case Ink::Margin: return "\x1b[1;34m";
    case Ink::Condition: return "\x1b[1;34m";
    case Ink::Why: return "\x1b[36m";
    case Ink::Victim: return "\x1b[1;35m";
    case Ink::Good: return "\x1b[32m";
  }
  return "";
}

}  // namespace

std::string Paint(const TextStyle& style, Ink ink, std::string_view text) {
  if (!style.color || text.empty() || ink == Ink::Plain) return std::string(text);
  return std::string(Escape(ink)).append(text).append("\x1b[0m");
}

Ink InkOf(findings::Severity severity) {
  switch (severity) {
    case findings::Severity::Info: return Ink::Info;
    case findings::Severity::Warning: return Ink::Warning;
    case findings::Severity::Error: return Ink::Error;
  }
  return Ink::Error;
}

Ink InkOf(findings::LabelRole role, findings::Severity severity) {
  switch (role) {
    case findings::LabelRole::Primary: return InkOf(severity);
    case findings::LabelRole::Condition: return Ink::Condition;
    case findings::LabelRole::Why: return Ink::Why;
    case findings::LabelRole::Victim: return Ink::Victim;
    case findings::LabelRole::Call: return Ink::Why;
    case findings::LabelRole::Note: return Ink::Condition;
  }
  return Ink::Plain;
}

}  // namespace allranks::reports
