#include "driver/pipeline/cpp_reach.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <unordered_map>

namespace allranks::pipeline {
namespace {

// Of a function that so many files define none is meant.
constexpr size_t kMostNamesakes = 4;

class Finder {
 public:
  explicit Finder(const std::vector<ScannedFile>& files) : files_(files), visible_(files.size()) {}

  CppReach Run() {
    CppReach reach{.matters = std::vector<bool>(files_.size()), .calls = std::vector<std::vector<uint32_t>>(files_.size())};
    for (uint32_t file = 0; file < files_.size(); ++file) {
      if (!files_[file].is_cpp) continue;
      reach.matters[file] = files_[file].mentions;
      for (const cpp::NamedFunction& function : files_[file].functions) List(file, function);
    }
    while (!found_.empty()) {
      const uint32_t at = found_.back();
      found_.pop_back();
      reach.matters[functions_[at].file] = true;
      for (const uint32_t name : functions_[at].function->names) Add(name, functions_[at].file);
    }
    for (uint32_t file = 0; file < files_.size(); ++file) {
      if (reach.matters[file]) reach.calls[file] = CallsOf(file);
    }
    return reach;
  }

 private:
  struct Function {
    uint32_t file;
    const cpp::NamedFunction* function;
    bool is_found = false;  // leads to a mention
  };

  struct Name {
    uint32_t definitions = 0;
    uint32_t found = 0;           // of these: lead to a mention
    std::vector<uint32_t> homes;  // the files that define the latter
    size_t asked = 0;             // of the homes: those that the users were asked about
    std::vector<uint32_t> users;  // functions that use it, and are not found
    bool SaysIt() const { return 2 * found > definitions; }
  };

  void List(uint32_t file, const cpp::NamedFunction& function) {
    const auto index = static_cast<uint32_t>(functions_.size());
    functions_.push_back({file, &function});
    for (const uint32_t name : function.names) ++names_[name].definitions;
    for (const uint32_t name : function.uses) names_[name].users.push_back(index);
    if (function.mentions) Find(index);
  }

  void Find(uint32_t index) {
    functions_[index].is_found = true;
    found_.push_back(index);
  }

  // One more definition of that name leads to a mention: so do its users that see it.
  void Add(uint32_t name, uint32_t file) {
    Name& known = names_[name];
    ++known.found;
    if (std::ranges::find(known.homes, file) == known.homes.end()) known.homes.push_back(file);
    if (!known.SaysIt()) return;
    for (; known.asked < known.homes.size(); ++known.asked) {
      const uint32_t home = known.homes[known.asked];
      std::erase_if(known.users, [&](uint32_t user) {
        if (functions_[user].is_found) return true;
        if (!Sees(functions_[user].file, home)) return false;
        Find(user);
        return true;
      });
    }
  }

  std::vector<uint32_t> CallsOf(uint32_t file) {
    std::vector<uint32_t> calls;
    for (const cpp::NamedFunction& function : files_[file].functions) {
      for (const uint32_t name : function.uses) {
        const auto known = names_.find(name);
        if (known == names_.end() || !known->second.SaysIt()) continue;
        const std::vector<uint32_t>& homes = known->second.homes;
        if (std::ranges::any_of(homes, [&](uint32_t home) { return Sees(file, home); })) {
          std::ranges::copy_if(homes, std::back_inserter(calls), [&](uint32_t home) { return home != file && Sees(file, home); });
        } else if (homes.size() <= kMostNamesakes && Declares(file, name)) {
          std::ranges::copy_if(homes, std::back_inserter(calls), [&](uint32_t home) { return !files_[home].is_header; });
        }
      }
    }
    std::ranges::sort(calls);
    calls.erase(std::ranges::unique(calls).begin(), calls.end());
    return calls;
  }

  bool Sees(uint32_t file, uint32_t home) {
    if (file == home) return true;
    if (files_[file].is_header && !headers_are_seen_) SeeFromHeaders();
    if (visible_[file].empty()) visible_[file] = Included(file);
    return Has(visible_[file], home);
  }

  // Or a file that it sees.
  bool Declares(uint32_t file, uint32_t name) {
    if (visible_[file].empty()) visible_[file] = Included(file);
    const Files& seen = visible_[file];
    for (size_t word = 0; word < seen.size(); ++word) {
      for (uint64_t rest = seen[word]; rest != 0; rest &= rest - 1) {
        if (std::ranges::binary_search(files_[word * 64 + static_cast<size_t>(std::countr_zero(rest))].declared, name)) return true;
      }
    }
    return false;
  }

  // What a header uses need not be included by itself, but by a source that includes both.
  void SeeFromHeaders() {
    headers_are_seen_ = true;
    std::vector<uint32_t> headers;
    for (uint32_t file = 0; file < files_.size(); ++file) {
      if (files_[file].is_header) headers.push_back(file);
    }
    for (const uint32_t header : headers) visible_[header] = Included(header);
    for (uint32_t source = 0; source < files_.size(); ++source) {
      if (!files_[source].is_cpp || files_[source].is_header) continue;
      if (visible_[source].empty()) visible_[source] = Included(source);
      for (const uint32_t header : headers) {
        if (Has(visible_[source], header)) Merge(visible_[source], &visible_[header]);
      }
    }
  }

  using Files = std::vector<uint64_t>;  // a set: a bit a file
  static bool Has(const Files& files, uint32_t file) { return ((files[file / 64] >> (file % 64)) & 1) != 0; }
  static void Merge(const Files& from, Files* into) {
    for (size_t i = 0; i < from.size(); ++i) (*into)[i] |= from[i];
  }

  Files Included(uint32_t file) const {
    Files included(files_.size() / 64 + 1);
    std::vector<uint32_t> work = {file};
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      if (Has(included, at)) continue;
      included[at / 64] |= uint64_t{1} << (at % 64);
      work.insert(work.end(), files_[at].imports.begin(), files_[at].imports.end());
    }
    return included;
  }

  const std::vector<ScannedFile>& files_;
  std::vector<Files> visible_;  // by file, where it was asked
  bool headers_are_seen_ = false;
  std::vector<Function> functions_;
  std::vector<uint32_t> found_;  // whose users were not asked yet
  std::unordered_map<uint32_t, Name> names_;
};

}  // namespace

CppReach FindCppReach(const std::vector<ScannedFile>& files) { return Finder(files).Run(); }

}  // namespace allranks::pipeline
