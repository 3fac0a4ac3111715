#include "driver/pipeline/untyped_cpp.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <string_view>
#include <unordered_set>

#include "frontends/cpp/syntax/reading.h"

namespace allranks::pipeline {
namespace {

using cpp::syntax::LibraryNames;
using cpp::syntax::Reading;

bool BeginsName(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsOfName(char c) { return BeginsName(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Whether anything is called here that communicates, by the names alone: of other texts nothing is lost that matters.
bool MayCommunicate(std::string_view text, const LibraryNames& libraries) {
  for (size_t at = 0; at < text.size();) {
    if (!BeginsName(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && IsOfName(text[end])) ++end;
    if (end < text.size() && (text[end] == '(' || text[end] == '<') && libraries.communicates(text.substr(at, end - at))) return true;
    at = end;
  }
  return false;
}

LibraryNames NamesOf(const knowledge::Knowledge& knowledge, base::Interner& names) {
  const auto called = std::make_shared<std::unordered_set<std::string>>();
  for (const knowledge::Entry& entry : knowledge.entries()) {
    const std::string_view name = names.View(entry.name);
    if (entry.has_operation) called->emplace(name.substr(name.rfind('.') + 1));
  }
  return {.has = [&knowledge, &names](std::string_view name) {
            const base::NameId id = names.Intern(name);
            return knowledge.FindEntry(id) || knowledge.FindClass(id);
          },
          .communicates = [called](std::string_view name) { return called->contains(std::string(name)); }};
}

}  // namespace

std::vector<ir::Range> InBoth(const std::vector<ir::Range>& a, const std::vector<ir::Range>& b) {
  std::vector<ir::Range> both;
  for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    const ir::Range common{std::max(a[i].begin, b[k].begin), std::min(a[i].end, b[k].end)};
    if (common.begin < common.end) both.push_back(common);
    if (a[i].end < b[k].end) ++i;
    else ++k;
  }
  return both;
}

std::vector<ir::Module> FillFromText(const std::vector<CppFile>& files, const knowledge::Knowledge& knowledge, base::Interner& names) {
  const LibraryNames libraries = NamesOf(knowledge, names);
  struct Read {
    const CppFile* file;
    Reading reading;
  };
  std::vector<Read> lossy;
  for (const CppFile& file : files) {
    const bool may_lose = file.has_errors || !file.is_read || file.text->find("template") != std::string::npos;
    if (!may_lose || (file.is_read && !MayCommunicate(*file.text, libraries))) continue;
    Reading reading(*file.text, file.skipped, file.is_read);
    reading.FindLost({file.modules.data(), file.modules.size()}, file.has_errors, libraries);
    if (reading.HasLost() || !file.is_read) lossy.push_back({&file, std::move(reading)});
  }
  std::vector<ir::Module> made;
  if (lossy.empty()) return made;
  cpp::syntax::Definitions definitions;
  definitions.is_of_library = libraries.has;
  for (const CppFile& file : files) {
    for (const ir::Module* module : file.modules) cpp::syntax::AddDefinitions(*module, names, &definitions);
  }
  for (const Read& read : lossy) read.reading.Declare(names, &definitions);
  for (const Read& read : lossy) {
    if (read.file->modules.empty()) {
      made.push_back(read.reading.Begin(read.file->file, names));
      read.reading.Lower(&made.back(), true, definitions, names);
      continue;
    }
    for (ir::Module* module : read.file->modules) read.reading.Lower(module, module == read.file->modules[0], definitions, names);
  }
  return made;
}

}  // namespace allranks::pipeline
