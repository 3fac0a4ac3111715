#include "driver/pipeline/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <xxhash.h>

namespace allranks::pipeline {
namespace {

using findings::Finding;

std::string WithoutSpace(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') out += c;
  }
  return out;
}

std::string KeyOf(const source::SourceFiles& files, const PathMap& paths, const Finding& finding) {
  const source::SourceFile& file = files[finding.span.file];
  const std::string_view code = std::string_view(file.text).substr(finding.span.begin, finding.span.end - finding.span.begin);
  return std::string(finding.code) + '\n' + paths.Relative(file.path) + '\n' + finding.function + '\n' + WithoutSpace(code);
}

}  // namespace

void NameFindings(const source::SourceFiles& files, const PathMap& paths, std::vector<Finding*> findings) {
  std::ranges::stable_sort(findings, {}, [&](const Finding* f) {
    return std::make_tuple(std::string_view(files[f->span.file].path), f->span.begin, f->span.end, f->code);
  });
  std::map<std::string, int> seen;
  for (Finding* finding : findings) {
    std::string key = KeyOf(files, paths, *finding);
    key += '\n' + std::to_string(seen[key]++);
    finding->fingerprint = fmt::format("{:016x}", XXH3_64bits(key.data(), key.size()));
  }
}

}  // namespace allranks::pipeline
